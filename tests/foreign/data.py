"""Tables of timed runs, how they are split, and truths whose best configuration is known."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Run:
    m: int
    p: int
    repetition: int
    time_s: float

    @property
    def mapping(self):
        return self.m, self.p


def read(path):
    with open(path, newline="") as file:
        return [
            Run(int(row["m"]), int(row["p"]), int(row["repetition"]), float(row["time_s"]))
            for row in csv.DictReader(file)
        ]


def write_runs(path, runs):
    lines = [f"{run.m},{run.p},{run.repetition},{run.time_s!r}" for run in runs]
    Path(path).write_text("\n".join(["m,p,repetition,time_s", *lines]) + "\n")


def write_mappings(path, mappings):
    Path(path).write_text("\n".join(["m,p", *(f"{m},{p}" for m, p in mappings)]) + "\n")


def times(runs):
    """Of each configuration, in order, all its times."""
    found = {}
    for run in runs:
        found.setdefault(run.mapping, []).append(run.time_s)
    return dict(sorted(found.items()))


def medians(runs):
    """Of each configuration, in order, the median time (of logarithms, which for an even number differs)."""
    return {at: math.exp(np.median(np.log(each))) for at, each in times(runs).items()}


# Tables whose first repetition is a warm-up, as their source has it.
WARM_UP = ("cp2k_h2o64",)


@dataclass(frozen=True)
class Table:
    name: str
    # As the file has them; this is what the binary is given, which is to find a warm-up by itself.
    runs: list
    # Without a warm-up.
    steady: list

    @property
    def mappings(self):
        return list(times(self.steady))

    def truth(self):
        return medians(self.steady)

    def repetitions(self):
        return {at: len(each) for at, each in times(self.steady).items()}


def table(path):
    name, runs = Path(path).stem, read(path)
    return Table(name, runs, [run for run in runs if run.repetition > (name in WARM_UP)])


def measured_in(table, seed):
    """The configurations of a split: a third, at least 5, the first in order always among them."""
    mappings = table.mappings
    count = min(max(5, math.ceil(len(mappings) / 3)), len(mappings))
    others = np.random.default_rng(seed).permutation(len(mappings) - 1)[: count - 1] + 1
    return {mappings[0], *(mappings[index] for index in others)}


# Truths [s] on 16 APUs: the terms of equation 11, and what some machines and programs do to them.


def equation_11(m, p):
    return 6.0 * (1 + 0.35 * (m - 1)) + 360.0 / (m * p) + 11.1 + 4.2 * p


def numa(m, p):
    """Steps of the host time beyond 4 and 8 threads, of the shared part beyond 4 APUs."""
    steps = 1.5 * (m > 4) + 2.5 * (m > 8)
    shared = 360.0 / (m * p) * (1.3 if p > 4 else 1.0)
    return 6.0 * (1 + 0.1 * (m - 1) + steps) + shared + 11.1 + 2.0 * p


def indivisible(m, p):
    """20 equal tasks."""
    return 6.0 * (1 + 0.15 * (m - 1)) + 18.0 * math.ceil(20 / (m * p)) + 5.0 + 2.0 * p


def bandwidth(m, p):
    """Memory feeds 7 APUs."""
    return 6.0 * (1 + 0.35 * (m - 1)) + 360.0 / min(m * p, 7.0) + 11.1 + 4.2 * p


TRUTHS = {
    "equation 11": equation_11,
    "NUMA": numa,
    "20 indivisible tasks": indivisible,
    "bandwidth": bandwidth,
}


def synthetic(name):
    """Of each configuration on 16 APUs the true time."""
    mappings = [(m, p) for m in range(1, 17) for p in range(1, 16 // m + 1)]
    return {at: TRUTHS[name](*at) for at in mappings}
