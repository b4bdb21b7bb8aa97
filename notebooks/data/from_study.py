"""Makes the files that the first and the third notebook read of what a study left.

usage: mmgp study --out STUDY && python3 notebooks/data/from_study.py STUDY [FOLDER]

The study runs PBPI on the emulated Cell blade. Nothing on an emulated machine is random, while a real
computer is busy with other things: each time of the profile and of the runs is multiplied by exp(x),
with x drawn from a normal distribution of standard deviation NOISE. Left as it is: every_run.csv, which
holds the time of every configuration and is opened last. The micro-benchmarks of the study are those of
data/examples/estimate, where the notebooks read them.
"""

import csv
import math
import random
import sys
from pathlib import Path

NOISE = 0.03
SEED = 2008
# What somebody would time first, on up to half of the machine; five values of m and five of p, which
# Extra-P asks for.
TIMED = [
    (1, 1), (1, 2), (1, 3), (1, 4), (1, 8), (2, 1), (2, 2), (2, 4), (3, 1), (4, 1), (4, 2), (8, 1),
]
REPETITIONS = 3


def main(study, folder=Path(__file__).parent):
    noise = random.Random(SEED)
    profile = rows(study / "profile.csv")
    for row in profile:
        for column in row:
            if column.endswith("_time_s"):
                row[column] = noisy(row[column], noise)
    write(folder / "profile.csv", profile)
    true = {
        (int(row["m"]), int(row["p"])): row["measured_s"] for row in rows(study / "validation.csv")
    }
    write(folder / "every_run.csv", [run(m, p, 1, true[m, p]) for m, p in true])
    repetitions = range(1, REPETITIONS + 1)
    runs = [run(m, p, r, noisy(true[m, p], noise)) for m, p in TIMED for r in repetitions]
    write(folder / "runs.csv", runs)


def run(m, p, repetition, time):
    return {"m": m, "p": p, "repetition": repetition, "time_s": time}


def noisy(time, noise):
    return f"{float(time) * math.exp(noise.gauss(0.0, NOISE)):.6g}"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
