#!/usr/bin/env python3
"""Tunes real programs, measures every configuration of each, and holds the choices to that.

    real.py MMGP [--tunes 3] [--repetitions 3] [--only lammps,xz] [--keep DIR]

The programs are Debian's: LAMMPS by mpirun, xz under a limit of memory that makes some configurations fail,
sysbench writing files, which is noisy, and OpenSSL, which prints a rate. What is not on the PATH is
skipped by name; where none is, the exit code is 77. Prints a row for each program; the exit code is 1, and
what mmgp said is on stderr, where a tune ended as it should not, or chose what fails or surely takes over
`WORST` times as long as the best.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# A choice whose shortest run takes so many times as long as the best's longest is wrong on any machine.
WORST = 2.0
# A tune or a measurement that takes longer than this hangs [s].
LONGEST = 1800

MELT = """units lj
processors ${m} ${p} *
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 100
"""


@dataclasses.dataclass
class Program:
    """A program, and how it is told to mmgp."""

    name: str
    needs: list  # commands on the PATH
    space: list  # flags that declare the configurations
    flags: list
    command: list
    # Writes what the program reads into a folder.
    input: callable = lambda folder: None
    # Of times, less; of rates, more.
    better: callable = min


def melt(folder):
    (folder / "in.melt").write_text(MELT)


def texts(folder):
    """Eight files of words, which compress as prose does."""
    drawn = random.Random(1)
    words = ["".join(drawn.choices("etaoinshrdlu", k=drawn.randint(2, 9))) for _ in range(3000)]
    for number in range(8):
        (folder / f"text{number}").write_text(" ".join(drawn.choices(words, k=30_000)))


FILES = ["sysbench", "fileio", "--file-total-size=16M", "--file-num={files}"]
PROGRAMS = [
    Program("lammps", ["mpirun", "lmp"], ["--m", "1..4", "--p", "1,2"], ["--shell"],
            ["mpirun --oversubscribe -n $(({m}*{p})) lmp -log none -var m {m} -var p {p} -in in.melt"],
            melt),
    # Each thread wants some 100 MB, so four are too many.
    Program("xz", ["xz", "xargs"], ["--m", "1,2,4", "--p", "1,2,4"], ["--shell"],
            ["ulimit -v 400000; ls text? | xargs -P {m} -n 1 xz -T{p} -6 --block-size=32KiB -k -f"],
            texts),
    Program("sysbench", ["sysbench"], ["--m", "1,4,16", "--p", "1,2,4", "--names", "files,threads"],
            ["--fresh-dir", "--prepare", " ".join([*FILES, "prepare"]),
             "--time-from", r"total time: +([0-9.]+)s"],
            [*FILES, "--file-test-mode=rndwr", "--threads={threads}", "--events=5000", "--time=0", "run"]),
    Program("openssl", ["openssl"], ["--m", "1..6", "--p", "1"], ["--rate-from", r"^sha256 +([0-9.]+)k"],
            ["openssl", "speed", "-elapsed", "-seconds", "1", "-multi", "{m}", "-bytes", "16384",
             "-evp", "sha256"], better=max),
]


class Case:
    """A program that is tuned and measured in a folder."""

    def __init__(self, mmgp, program, folder):
        self.mmgp, self.program, self.folder = mmgp, program, folder
        self.wrong, self.said = [], ""
        # So that mpirun starts where tests run as root, as in containers.
        self.env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def mmgp_runs(self, verb, out, flags):
        """The time that a command of mmgp takes [s]."""
        command = [self.mmgp, verb, *self.program.space, *self.program.flags, *flags, "--out", out, "--",
                   *self.program.command]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=LONGEST)
        took = time.monotonic() - begun
        said = f"== {self.program.name}: {out} (exit code {done.returncode}, {took:.1f} s)\n" + \
            done.stderr + done.stdout
        (self.folder / f"{out}.txt").write_text(said)
        self.said += said
        if done.returncode not in (0, 1) or "panicked" in done.stderr:
            self.wrong.append(f"{out}: exit code {done.returncode}")
        return took

    def log(self, out):
        """The attempts of a folder."""
        return [json.loads(line) for line in (self.folder / out / "log.jsonl").read_text().splitlines()]

    def measured(self, out, repetitions):
        """The time that every configuration once takes [s]."""
        flags = ["--repetitions", str(repetitions), "--seed", "1" if out == "before" else "2"]
        return self.mmgp_runs("measure", out, flags) / repetitions

    def truth(self, outs):
        """Times or rates of all that ran well each time, and what failed."""
        times, failed = {}, set()
        for attempt in [it for out in outs for it in self.log(out)]:
            where = (attempt["m"], attempt["p"])
            if attempt["status"] == "ok":
                times.setdefault(where, []).append(value(attempt))
            else:
                failed.add(where)
        return {it: times[it] for it in times if it not in failed}, failed

    def regret(self, out, times, best):
        """What the choice of a tune costs; `None` where it made none that runs."""
        choice = json.loads((self.folder / out / "summary.json").read_text())["best"]
        if choice is None or tuple(choice) not in times:
            self.wrong.append(f"{out}: {choice} was chosen")
            return None
        chosen = times[tuple(choice)]
        more, less = sorted([chosen, times[best]], key=statistics.median)[::-1]
        if min(more) > WORST * max(less):
            self.wrong.append(f"{out}: {choice} was chosen: {chosen}, {best} is {times[best]}")
        return statistics.median(more) / statistics.median(less) - 1

    def row(self, tunes, repetitions):
        self.folder.mkdir()
        self.program.input(self.folder)
        # Before and after, as what else the computer does changes.
        once = self.measured("before", repetitions)
        outs = [f"tune{seed}" for seed in range(1, tunes + 1)]
        took = [self.mmgp_runs("tune", out, ["--seed", out[4:]]) for out in outs]
        once = (once + self.measured("after", repetitions)) / 2
        times, failed = self.truth(["before", "after"])
        if not times:
            self.wrong.append("nothing ran well")
            return None
        best = self.program.better(times, key=lambda it: statistics.median(times[it]))
        regrets = [self.regret(out, times, best) for out in outs]
        if None in regrets:
            return None
        said = [json.loads((self.folder / out / "summary.json").read_text()) for out in outs]
        scatter = statistics.median((max(it) - min(it)) / statistics.median(it) for it in times.values())
        configurations = len(times) + len(failed)
        return [self.program.name, f"{configurations}, {len(failed)} fail", f"{100 * scatter:.0f} %",
                f"{spread(len(self.log(out)) for out in outs)} / {configurations}",
                f"{spread(took)} / {once:.3g} s", distinct(str(tuple(it["best"])) for it in said), str(best),
                f"{spread(100 * it for it in regrets)} %",
                f"{spread(percent(it['expected_regret']) for it in said)} %",
                f"{spread(percent(it['regret_95']) for it in said)} %",
                distinct(it["stopped"] for it in said)]


def value(attempt):
    """The time or the rate of a run."""
    return attempt["rate"] if attempt.get("rate") is not None else attempt["time_s"]


def percent(share):
    """Infinite where nothing was said."""
    return math.inf if share is None else 100 * share


def spread(values):
    """The median, and from where to where where that is more than one number."""
    ordered = sorted(values)
    low, middle, high = (f"{it:.3g}" for it in (ordered[0], statistics.median(ordered), ordered[-1]))
    return middle if low == high else f"{middle} ({low} to {high})"


def distinct(texts):
    """All texts that differ, in their order."""
    return "; ".join(dict.fromkeys(texts))


HEAD = ["program", "configurations", "scatter", "runs of tune / all once", "time of tune / all once",
        "choice", "best", "true regret", "expected", "at most", "stopped"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mmgp")
    parser.add_argument("--tunes", type=int, default=3, help="of each program, with seeds of their own")
    parser.add_argument("--repetitions", type=int, default=3, help="of everything, before tunes and after")
    parser.add_argument("--only", default="", help="names of programs, with commas")
    parser.add_argument("--keep", help="a new folder that keeps logs, pages and what was said")
    arguments = parser.parse_args()
    mmgp = str(pathlib.Path(arguments.mmgp).resolve())
    wanted = [it for it in PROGRAMS if not arguments.only or it.name in arguments.only.split(",")]
    here = [it for it in wanted if all(shutil.which(command) for command in it.needs)]
    for program in wanted:
        if program not in here:
            lacking = ", ".join(it for it in program.needs if not shutil.which(it))
            line = f"skipped: real programs: {program.name}: there is no {lacking} here"
            print(line, flush=True)
            with open(os.environ.get("MMGP_SKIPPED", os.devnull), "a") as skipped:
                print(line, file=skipped)
    if not here:
        return 77
    work = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="mmgp-real-"))
    work.mkdir(exist_ok=True)
    load = os.getloadavg()[0]
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|", flush=True)
    wrong = []
    for program in here:
        case = Case(mmgp, program, work / program.name)
        row = case.row(arguments.tunes, arguments.repetitions)
        if row:
            print("| " + " | ".join(row) + " |", flush=True)
        if case.wrong:
            wrong += [f"{program.name}: {line}" for line in case.wrong]
            print(case.said, file=sys.stderr, flush=True)
    print(f"\n{os.cpu_count()} cores, {platform.system()} {platform.release()}, load {load:.1f} before and "
          f"{os.getloadavg()[0]:.1f} after; {arguments.tunes} tunes, {arguments.repetitions} repetitions")
    print("\n".join(wrong))
    if not arguments.keep:
        shutil.rmtree(work)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
