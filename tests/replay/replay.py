#!/usr/bin/env python3
"""Searches on scripted times, and Markdown of what they found."""

import argparse
import json
import math
import multiprocessing
import subprocess
import sys
from pathlib import Path

import numpy as np

from ways import FIRST, WAYS

# Mean regrets are told after so many runs, and shares near the best after so many.
AT = (6, 8, 10)
SHARES_AT = (10, 15, 20)
# So near the best is a success, and good enough to stop.
NEAR = 0.02


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=40, help="of each search of mmgp")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/hybrid"))
    parser.add_argument("--replay", type=Path, default=Path("target/release/examples/replay"))
    parser.add_argument("--only", default="", help="names of problems, separated by commas")
    parser.add_argument("--ways", default=";".join(WAYS), help="names, separated by semicolons")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def third(count):
    """At most a third of the configurations, at least 6."""
    return max(6, count // 3)


def lines(given, *more):
    """What the example prints, a search at a time."""
    command = [given.replay, "--data", given.data, "--seeds", given.seeds, "--runs", given.runs]
    command += ["--workers", given.workers, "--regret", NEAR, *more]
    if given.only:
        command += ["--only", given.only]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        sys.exit(f"{given.replay}: ended with {process.returncode}")


def searched(job):
    """The regret after each run of one search by another way."""
    script, first, name, runs = job
    configurations = script["configurations"]
    places = {(each["m"], each["p"]): place for place, each in enumerate(configurations)}
    logs = np.log([[each["m"], each["p"]] for each in configurations])
    truth = [each["true_s"] for each in configurations]
    way = WAYS[name](logs, script["seed"], [places[run["m"], run["p"]] for run in first])
    told, regrets = {}, []
    for _ in range(runs):
        place = int(way.next())
        times = told.setdefault(place, [])
        times.append(configurations[place]["times_s"][len(times)])
        way.tell(place, times[-1])
        best = min(sorted(told), key=lambda it: np.mean(np.log(told[it])))
        regrets.append(truth[best] / min(truth) - 1.0)
    return script["problem"], name, regrets


def progress(text):
    if sys.stderr.isatty():
        print(f"{text:60}", end="\r", file=sys.stderr)


def mean_and_error(regrets):
    """In per cent, with the standard error over seeds."""
    percent = 100.0 * np.array(regrets)
    error = np.std(percent, ddof=1) / math.sqrt(len(percent)) if len(percent) > 1 else 0.0
    return f"{np.mean(percent):.1f} ± {error:.1f}"


def at(regrets, runs):
    """Of each search what it had found after so many runs."""
    return [each[min(runs, len(each)) - 1] for each in regrets]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def stops(searches):
    """Share of searches that stopped, after how many runs, and how many of them were wrong."""
    first = [next((k for k, run in enumerate(each) if run["settled"]), None) for each in searches]
    stopped = [(each, k) for each, k in zip(searches, first) if k is not None]
    wrong = sum(each[k]["regret"] > NEAR + 1e-9 for each, k in stopped)
    claims = [run for each in searches for run in each if run["regret_95"] is not None]
    kept = np.mean([run["regret"] <= run["regret_95"] + 1e-9 for run in claims]) if claims else 1.0
    mean = f"{np.mean([k + 1 for _, k in stopped]):.1f}" if stopped else "-"
    share = f"{100.0 * len(stopped) / len(searches):.0f}"
    return [share, mean, f"{wrong} of {len(stopped)}", f"{100.0 * kept:.1f}"]


def report(problems, mmgp, others, names):
    tables = [name for name in problems if problems[name][1]]
    every = {"mmgp": {name: [[run["regret"] for run in each] for each in mmgp[name]] for name in mmgp}}
    every |= {name: others[name] for name in names}
    for runs in [*AT, None]:
        count = lambda name: runs or third(problems[name][0])
        after = f"{runs} runs" if runs else "a third of the configurations"
        print(f"Mean regret in % after {after}:\n")
        rows = [
            [name, *(mean_and_error(at(way[name], count(name))) for way in every.values())]
            for name in problems
        ]
        if tables:
            over = lambda way: np.mean([100.0 * np.mean(at(way[it], count(it))) for it in tables])
            rows.append(["all tables", *(f"{over(way):.1f}" for way in every.values())])
        table(["", *every], rows)
    print(f"Share of seeds in % within {100.0 * NEAR:.0f} % of the best after "
          f"{' / '.join(map(str, SHARES_AT))} runs:\n")
    near = lambda regrets, runs: 100.0 * np.mean(np.array(at(regrets, runs)) <= NEAR + 1e-9)
    shares = lambda regrets: " / ".join(f"{near(regrets, runs):.0f}" for runs in SHARES_AT)
    table(["", *every], [[name, *(shares(way[name]) for way in every.values())] for name in problems])
    print(f"The stop of mmgp at {100.0 * NEAR:.0f} %:\n")
    head = ["", "stops, % of seeds", "after runs", "wrong", "regrets that held, %"]
    table(head, [[name, *stops(mmgp[name])] for name in problems])


def main():
    given = arguments()
    if not list(given.data.glob("*.csv")):
        print(f"{given.data}: no tables there (--data DIR); truths alone", file=sys.stderr)
    names = [name for name in given.ways.split(";") if name]
    problems, mmgp, scripts, firsts = {}, {}, [], []
    for script in lines(given, "--scripts"):
        problems[script["problem"]] = (len(script["configurations"]), script["table"])
        scripts.append(script)
    for search in lines(given):
        mmgp.setdefault(search["problem"], []).append(search["runs"])
        firsts.append(search["runs"][:FIRST])
        progress(f"mmgp: {search['problem']} {search['seed']}")
    # Others are compared after no more runs than these.
    runs = min(given.runs, max(SHARES_AT))
    jobs = [(*search, name, runs) for name in names for search in zip(scripts, firsts)]
    others = {name: {} for name in names}
    with multiprocessing.Pool(given.workers) as pool:
        for problem, name, regrets in pool.imap(searched, jobs, 4):
            others[name].setdefault(problem, []).append(regrets)
            progress(f"{name}: {problem}")
    progress("")
    report(problems, mmgp, others, names)


if __name__ == "__main__":
    main()
