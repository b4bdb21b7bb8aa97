#!/usr/bin/env python3
"""Traces programs with known parts at (1, 1) and (4, 4), and holds predictions of all others to their times.

    tests/probe/known.py MMGP DIR [PROGRAM ...]

Each configuration of up to sixteen threads runs three times and the shortest time counts; (1, 1) and (4, 4) are traced
three times each. Beside it stand predictions by the whole times of the same two alone. Needs mpicc and mpirun of Open
MPI; without them the exit code is 77. Ends with 1 where the mean error of a program is beyond 15 %, or its regret
beyond 15 %: three times what is expected of all together, as this computer may be busy.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAMS = ["stencil", "search", "simulation", "uneven", "halo", "amdahl"]
TRACED = [(1, 1), (4, 4)]
GRID = [(m, p) for m in (1, 2, 4, 8, 16) for p in (1, 2, 4, 8, 16) if m * p <= 16]
STEPS = "20"


def run(words, threads=1):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout


def started(name, m):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "-n", str(m), "./known",
            name, STEPS]


def judged(mmgp, fit, times, *flags):
    """Mean error of what was not traced, regret, and how many of the intervals hold [%, %, text]."""
    run([mmgp, "fit", "--apus", "16", "--quiet", "--out", "params.toml", *fit])
    rows = json.loads(run([mmgp, "predict", "--params", "params.toml", "--format", "json", *flags]))["configurations"]
    rows = {(row["m"], row["p"]): row for row in rows if (row["m"], row["p"]) in times}
    unseen = [it for it in rows if it not in TRACED]
    errors = [abs(rows[it]["time_s"] / times[it] - 1) for it in unseen]
    held = sum(rows[it]["low_s"] <= times[it] <= rows[it]["high_s"] for it in unseen)
    regret = times[next(iter(rows))] / min(times.values()) - 1
    return 100 * sum(errors) / len(errors), 100 * regret, f"{held} of {len(unseen)}"


def main():
    mmgp, folder, names = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or PROGRAMS
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun"):
        print("skipped: no Open MPI")
        return 77
    source = pathlib.Path(__file__).with_name("known.c").resolve()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    run(["mpicc.openmpi", "-O1", "-fopenmp", str(source), "-o", "known"])
    print("| program | mean error of 13 others | regret | intervals that hold | by two totals: mean error, regret |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name in names:
        times = {(m, p): min(float(run(started(name, m), p).split()[1]) for _ in range(3)) for m, p in GRID}
        shutil.rmtree(name, ignore_errors=True)
        for m, p in 3 * TRACED:
            run([mmgp, "probe", "--quiet", "--out", name, "--", *started(name, m)], p)
        lines = [f"{m},{p},1,{times[m, p]}\n" for m, p in TRACED]
        pathlib.Path("runs.csv").write_text("m,p,repetition,time_s\n" + "".join(lines))
        error, regret, held = judged(mmgp, ["--terms", f"{name}/terms.csv"], times)
        by_totals = judged(mmgp, ["--runs", "runs.csv"], times, "--every")
        print(f"| {name} | {error:.1f} % | {regret:.1f} % | {held} | {by_totals[0]:.1f} % of those in between, "
              f"{by_totals[1]:.1f} % |", flush=True)
        worst = max(worst, error, regret)
    return int(worst > 15)


if __name__ == "__main__":
    sys.exit(main())
