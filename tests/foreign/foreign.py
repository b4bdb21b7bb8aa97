"""Measures the binary on tables of others: see run.sh and README.md."""

import argparse
import multiprocessing
import pickle
import sys
import tempfile
from pathlib import Path

import data
import report
import search
import splits
from mmgp import Mmgp

# Tables among the problems of the search, where DIR has them.
SEARCHED = ("cp2k_h2o64", "mandelbrot_feyenc")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=25, help="of each table")
    parser.add_argument("--seeds", type=int, default=60, help="of each search")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/hybrid"))
    parser.add_argument("--mmgp", type=Path, default=Path("target/release/mmgp"))
    parser.add_argument("--with-extrap", action="store_true", help="Extra-P, too")
    parser.add_argument("--next", action="store_true", help="the search instead of the tables")
    parser.add_argument("--only", default="", help="names of tables or problems, separated by commas")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--raw", type=Path, help="file for all outcomes (pickle)")
    return parser.parse_args()


# Of each worker.
binary = None
ways = None


def start(path, folder):
    global binary, ways
    binary = Mmgp(path, folder)
    ways = search.ways(binary)


def split(job):
    table, seed = job
    return table.name, splits.measure(table, seed, binary)


def searched(job):
    problem, truth, way, seed = job
    return problem, search.regrets(truth, seed, ways[way])


def each(function, jobs, given):
    """All outcomes in the order of the jobs, with a line of progress."""
    with (
        tempfile.TemporaryDirectory(prefix="mmgp-foreign-") as folder,
        multiprocessing.Pool(given.workers, start, [given.mmgp, folder]) as pool,
    ):
        for done, outcome in enumerate(pool.imap(function, jobs), 1):
            if sys.stderr.isatty() or done % 100 == 0:
                print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr, flush=True)
            yield outcome
    print(file=sys.stderr)


def kept(raw, found):
    if raw is not None:
        raw.write_bytes(pickle.dumps(found))


def compare_predictions(tables, given):
    jobs = [(table, seed) for table in tables for seed in range(given.splits)]
    found = {}
    for name, outcomes in each(split, jobs, given):
        of_ways = found.setdefault(name, {})
        for way, outcome in outcomes.items():
            of_ways.setdefault(way, []).append(outcome)
    kept(given.raw, found)
    print(f"Over {len(found)} tables, {given.splits} splits each:\n")
    print(report.over_all(found) + "\n")
    print(report.of_promises([it for of_ways in found.values() for it in of_ways["mmgp"]]))
    for table in tables:
        print(f"\n{table.name} ({len(table.mappings)} configurations):\n")
        print(report.of_table(found[table.name]))


def compare_searches(problems, given):
    jobs = [
        (problem, truth, way, seed)
        for problem, truth in problems.items()
        for seed in range(given.seeds)
        for way in search.ways(None)
    ]
    found = {}
    for problem, of_names in each(searched, jobs, given):
        for name, regrets in of_names.items():
            found.setdefault(problem, {}).setdefault(name, []).append(regrets)
    kept(given.raw, found)
    print(f"Share of {given.seeds} seeds within {100 * search.NEAR:.0f} % of the best after "
          f"{' / '.join(map(str, search.AT))} runs:\n")
    print(report.of_search(found))
    print("\nMean regret in %:\n")
    print(report.of_search_regrets(found))


def main():
    given = arguments()
    files = sorted(given.data.glob("*.csv"))
    if not files:
        print(f"{given.data}: no tables there; nothing to do (--data DIR)")
        return
    if not given.mmgp.is_file():
        sys.exit(f"{given.mmgp}: no such binary; give --mmgp PATH")
    wanted = set(filter(None, given.only.split(",")))
    tables = list(map(data.table, files))
    if given.next:
        problems = {name: data.synthetic(name) for name in data.TRUTHS}
        problems |= {table.name: table.truth() for table in tables if table.name in SEARCHED}
        compare_searches({n: it for n, it in problems.items() if not wanted or n in wanted}, given)
    else:
        compare_predictions([it for it in tables if not wanted or it.name in wanted], given)


if __name__ == "__main__":
    main()
