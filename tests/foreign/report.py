"""Markdown of outcomes."""

import numpy as np

from search import AT, NEAR


def mean_and_error(values_of_tables):
    """The mean over tables of the means over splits, and its standard error over splits."""
    means = [np.mean(values) for values in values_of_tables]
    squares = [
        np.var(values, ddof=1) / len(values) if len(values) > 1 else np.nan
        for values in values_of_tables
    ]
    return np.mean(means), np.sqrt(np.sum(squares)) / len(means)


def regret(values_of_tables):
    if not all(len(values) for values in values_of_tables):
        return "-"
    mean, error = mean_and_error(values_of_tables)
    return f"{mean:.1f} ± {error:.1f}"


def share(flags):
    return f"{100.0 * np.mean(flags):.0f}" if flags else "-"


def shares(of_tables):
    """Over all intervals of a table, and over all tables, with the least of a table."""
    if not any(of_tables):
        return "-"
    every = [flag for flags in of_tables for flag in flags]
    least = min(100.0 * np.mean(flags) for flags in of_tables if flags)
    return f"{100.0 * np.mean(every):.1f} ({least:.0f})"


def number(value, digits=1):
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def markdown(columns, rows):
    align = ["---", *["---:"] * (len(columns) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [columns, align, *rows])


COLUMNS = ["regret %", "after one run", "after two"]


def regrets(outcomes_of_tables):
    """The three regrets; a way that says nothing of further runs has the first alone."""
    most = min(len(it.regrets) for outcomes in outcomes_of_tables for it in outcomes)
    for place in range(len(COLUMNS)):
        if place < most:
            yield regret([[it.regrets[place] for it in outcomes] for outcomes in outcomes_of_tables])
        else:
            yield "-"


def collected(flags_of, outcomes):
    return [flag for outcome in outcomes for flag in flags_of(outcome)]


def over_all(found):
    """`found[table][way]` are the outcomes of all splits."""
    columns = ["", "error %", "covered, left out (least)", "covered, measured (least)", "high/low"]
    rows = []
    for way in next(iter(found.values())):
        tables = [of_way[way] for of_way in found.values()]
        errors = [np.median([it.error for it in outcomes]) for outcomes in tables]
        widths = [it.widths for outcomes in tables for it in outcomes]
        widths = [width for each in widths for width in each]
        rows.append([
            way,
            number(np.exp(np.mean(np.log(errors)))),
            shares([collected(lambda it: it.left_out, outcomes) for outcomes in tables]),
            shares([collected(lambda it: it.measured, outcomes) for outcomes in tables]),
            number(np.exp(np.median(widths)) if widths else np.nan),
            *regrets(tables),
        ])
    return markdown(columns + COLUMNS, rows)


def of_promises(outcomes):
    """What choices are said to cost against what they do."""
    promised = [(it.regrets[0], *it.said) for it in outcomes if it.said]
    regrets, expected, at_most = np.array(promised).T
    kept = 100.0 * np.mean(regrets <= at_most + 1e-9)
    return (
        f"{len(promised)} of {len(outcomes)} choices say what they cost: {expected.mean():.1f} % in the "
        f"mean, and they cost {regrets.mean():.1f} %; \"at most\" holds for {kept:.1f} % of them, and is "
        f"{np.median(at_most):.0f} % in the median."
    )


def of_table(ways):
    columns = ["", "error %", "covered, left out", "covered, measured"]
    rows = []
    for way, outcomes in ways.items():
        rows.append([
            way,
            number(np.median([it.error for it in outcomes])),
            share(collected(lambda it: it.left_out, outcomes)),
            share(collected(lambda it: it.measured, outcomes)),
            *regrets([outcomes]),
        ])
    return markdown(columns + COLUMNS, rows)


def after_runs(found, cell):
    """`found[problem][way]` are, of each seed, the regrets after each number of runs; ways are rows."""
    rows = []
    for way in next(iter(found.values())):
        cells = [" / ".join(cell([it[count] for it in of_ways[way]]) for count in AT)
                 for of_ways in found.values()]
        rows.append([way, *cells])
    return markdown(["", *found], rows)


def of_search(found):
    return after_runs(found, lambda regrets: f"{100.0 * np.mean(np.array(regrets) <= NEAR):.0f}")


def of_search_regrets(found):
    return after_runs(found, lambda regrets: f"{100.0 * np.mean(regrets):.1f}")
