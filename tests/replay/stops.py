#!/usr/bin/env python3
"""Where searches stop: runs until then and what the choice costs, as a Markdown table.

usage: stops.py [--seeds 3] [--data DIR] [--replay target/release/examples/replay]
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

import numpy as np

from ways import WAYS

WRONG = 0.05
PROMISES = {"--until-expected 5%": ["--expected", 0.05], "--until-regret 5%": ["--regret", 0.05]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/hybrid"))
    parser.add_argument("--replay", type=Path, default=Path("target/release/examples/replay"))
    return parser.parse_args()


def searches(given, *more):
    """What the example prints of the tables, by table and seed."""
    names = ",".join(sorted(path.stem for path in given.data.glob("*.csv")))
    command = [given.replay, "--data", given.data, "--seeds", given.seeds, "--only", names, "--stops", *more]
    lines = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return {(each["problem"], each["seed"]): each for each in map(json.loads, lines.splitlines())}


class Told:
    """Times of runs of a script, one after the other."""

    def __init__(self, script):
        self.configurations = script["configurations"]
        self.told = {}

    def run(self, place):
        times = self.told.setdefault(place, [])
        times.append(self.configurations[place]["times_s"][len(times)])
        return times[-1]

    def runs(self):
        return sum(map(len, self.told.values()))

    def ranked(self, places):
        return sorted(places, key=lambda place: np.mean(np.log(self.told[place])))

    def regret(self):
        truth = [each["true_s"] for each in self.configurations]
        return truth[self.ranked(self.told)[0]] / min(truth) - 1.0


def all_once(told):
    for place in range(len(told.configurations)):
        told.run(place)


def and_three_twice(told):
    all_once(told)
    for place in told.ranked(told.told)[:3] * 2:
        told.run(place)


def halving(told):
    """All once, the better half once more, and so on until one is left."""
    places = list(range(len(told.configurations)))
    while len(places) > 1:
        for place in places:
            told.run(place)
        places = told.ranked(places)[: len(places) // 2]


def by_way(name, script, first, runs):
    """Another way to search, ended after so many runs."""
    told, configurations = Told(script), script["configurations"]
    places = {(each["m"], each["p"]): place for place, each in enumerate(configurations)}
    logs = np.log([[each["m"], each["p"]] for each in configurations])
    way = WAYS[name](logs, script["seed"], [places[run["m"], run["p"]] for run in first])
    for _ in range(runs):
        place = int(way.next())
        way.tell(place, told.run(place))
    return told


def row(name, found):
    """Of a table's name, its number of configurations, the runs and the regret of each search."""
    runs = np.mean([runs / count for _, count, runs, _ in found])
    regrets = [regret for *_, regret in found]
    wrong = [table for table, *_, regret in found if regret > WRONG + 1e-9]
    where = ", ".join(sorted(set(wrong)))
    share = 100.0 * len(wrong) / len(found)
    print(f"| {name} | {runs:.2f} | {100.0 * np.mean(regrets):.2f} | {share:.1f} %{': ' * bool(where)}{where} |")


def main():
    given = arguments()
    scripts = searches(given, "--scripts")
    print("| way | runs/N | regret % | wrong |\n| --- | ---: | ---: | --- |")
    mmgp = {}
    for name, flags in PROMISES.items():
        mmgp[name] = searches(given, *flags)
        ended = [(key[0], len(scripts[key]["configurations"]), each["runs"]) for key, each in mmgp[name].items()]
        row(f"`{name}`", [(table, count, len(runs), runs[-1]["regret"]) for table, count, runs in ended])
    for way in (all_once, and_three_twice, halving):
        found = []
        for (table, _), script in scripts.items():
            told = Told(script)
            way(told)
            found.append((table, len(script["configurations"]), told.runs(), told.regret()))
        row(way.__name__.replace("_", " "), found)
    like = mmgp["--until-expected 5%"]
    for name in ("TPE", "GP + EI", "GP + EI, corners first"):
        found = []
        for key, script in scripts.items():
            runs = like[key]["runs"]
            told = by_way(name, script, runs[:4], len(runs))
            found.append((key[0], len(script["configurations"]), told.runs(), told.regret()))
        row(f"{name}, as many runs as `--until-expected 5%`", found)


if __name__ == "__main__":
    main()
