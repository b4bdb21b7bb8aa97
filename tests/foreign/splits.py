"""One split of a table: what each way says from a third of it, and what that costs."""

import math
from dataclasses import dataclass, field

import numpy as np

from data import measured_in
from others import WAYS

FASTEST_MEASURED = "the fastest measured"
QUANTILE = 1.959964


@dataclass
class Outcome:
    """Of one way on one split, all in per cent; what a way does not say stays empty."""

    error: float = math.nan
    # Of the choice as predicted, and of the best measured after one and after two further runs.
    regrets: list = field(default_factory=list)
    # Whether each interval holds the true time: of left-out and of measured configurations.
    left_out: list = field(default_factory=list)
    measured: list = field(default_factory=list)
    # The logarithm of upper over lower end, of left-out ones.
    widths: list = field(default_factory=list)
    # What the choice is said to cost: in the mean, and at most with 95 %.
    said: tuple = ()


class Split:
    def __init__(self, table, seed):
        self.table = table
        self.mappings = table.mappings
        self.truth = table.truth()
        self.measured = measured_in(table, seed)
        self.least = min(self.truth.values())

    def regret(self, mapping):
        return 100.0 * (self.truth[mapping] / self.least - 1.0)

    def best_of(self, measured):
        return min(measured, key=self.truth.get)

    def runs(self, measured, steady):
        """What ran: as the file has it, or without its warm-up."""
        every = self.table.steady if steady else self.table.runs
        return [run for run in every if run.mapping in measured]

    def error(self, time):
        """The mean over left-out configurations; `time` gives the predicted one [s]."""
        left_out = [at for at in self.mappings if at not in self.measured]
        return 100.0 * np.mean([abs(time[at] / self.truth[at] - 1.0) for at in left_out])

    def cover(self, outcome, intervals):
        """`intervals` gives the logarithms of both ends."""
        for at, (low, high) in intervals.items():
            holds = low <= math.log(self.truth[at]) <= high
            if at in self.measured:
                outcome.measured.append(holds)
            else:
                outcome.left_out.append(holds)
                outcome.widths.append(high - low)


def of_mmgp(split, mmgp):
    """What the binary says, and what it asks to be run before relying on it."""
    outcome = Outcome()
    measured = set(split.measured)
    answer = mmgp.predicted(split.runs(measured, steady=False), split.mappings)
    rows = {(row["m"], row["p"]): row for row in answer["configurations"]}
    outcome.error = split.error({at: row["time_s"] for at, row in rows.items()})
    split.cover(outcome, intervals_of_means(rows, answer["basis"]["noise"], split))
    choice = answer["choice"]
    outcome.regrets.append(split.regret(mapping_of(choice)))
    # Where a dimension was never varied, the choice promises nothing.
    if choice["costs_at_most"] is not None:
        outcome.said = 100.0 * choice["expected_cost"], 100.0 * choice["costs_at_most"]
    for further in (1, 2):
        measured.add(further_run(answer, measured))
        outcome.regrets.append(split.regret(split.best_of(measured)))
        if further == 1:
            answer = mmgp.predicted(split.runs(measured, steady=False), split.mappings)
    return outcome


def mapping_of(row):
    return row["m"], row["p"]


def further_run(answer, measured):
    """The first that is to be run before relying on the choice; else the fastest that did not run."""
    asked = [mapping_of(row) for row in answer["choice"]["confirm"]]
    asked = [at for at in asked if at not in measured]
    if asked:
        return asked[0]
    left = [row for row in answer["configurations"] if mapping_of(row) not in measured]
    return mapping_of(min(left, key=lambda row: row["time_s"]))


def intervals_of_means(rows, noise, split):
    """The intervals are of the long-run time, the true one is a mean of few runs: with its noise added
    to either side."""
    repetitions = split.table.repetitions()
    intervals = {}
    for at, row in rows.items():
        own = QUANTILE * noise / math.sqrt(repetitions[at])
        centre = math.log(row["time_s"])
        below = math.hypot(centre - math.log(row["low_s"]), own)
        above = math.hypot(math.log(row["high_s"]) - centre, own)
        intervals[at] = centre - below, centre + above
    return intervals


def of_another(split, way):
    """The choice is the least predicted time, and a further run the least of those that did not run."""
    outcome = Outcome()
    measured = set(split.measured)
    log_times, deviations = way(split.runs(measured, steady=True), split.mappings)
    outcome.error = split.error(dict(zip(split.mappings, np.exp(log_times))))
    if deviations is not None:
        ends = np.array([log_times - QUANTILE * deviations, log_times + QUANTILE * deviations])
        split.cover(outcome, dict(zip(split.mappings, ends.T)))
    outcome.regrets.append(split.regret(split.mappings[int(np.argmin(log_times))]))
    for further in (1, 2):
        left = [place for place, at in enumerate(split.mappings) if at not in measured]
        measured.add(split.mappings[min(left, key=lambda place: log_times[place])])
        outcome.regrets.append(split.regret(split.best_of(measured)))
        if further == 1:
            log_times, _ = way(split.runs(measured, steady=True), split.mappings)
    return outcome


def of_measured(split):
    """No model: what ran fastest. Without one, nothing says what to run next."""
    return Outcome(regrets=[split.regret(split.best_of(split.measured))])


def measure(table, seed, mmgp):
    """All ways on one split."""
    split = Split(table, seed)
    outcomes = {"mmgp": of_mmgp(split, mmgp)}
    for name, way in WAYS.items():
        outcomes[name] = of_another(split, way)
    outcomes[FASTEST_MEASURED] = of_measured(split)
    return outcomes
