#!/usr/bin/env python3
"""Holds the micro-benchmarks of this computer to those of others.

    tests/probe/figures.py MMGP DIR [MPIRUN [REPETITIONS]]

Ours and theirs run in turn, and medians of all repetitions and of their ratios are printed. Theirs are lmbench (bw_mem
and lat_ctx, on the PATH, in /usr/lib/lmbench or where LMBENCH says), stress-ng, perf bench, and of MPI NetPIPE and HPCC
of Debian; what is not here is said. Debian has no benchmark of collectives: beside them stands a loop of plain calls,
timed by MPI_Wtime. Ends with 1 where what is the same by both is off by more than 15 %, with 77 where no tool is here.
"""

import collections
import csv
import glob
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

LIMIT = 0.15

LOOP = r"""
#include <mpi.h>
#include <stdio.h>
static double of_one(int which, int calls) {
    static double from[128], to[128];
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime(), own, most;
    for (int i = 0; i < calls; i++) {
        if (which == 0) MPI_Barrier(MPI_COMM_WORLD);
        else if (which == 1) MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else if (which == 2) MPI_Allreduce(from, to, 128, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else MPI_Bcast(from, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    own = (MPI_Wtime() - began) / calls;
    MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}
int main(int count, char **words) {
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int which = 0; which < 4; which++) {
        of_one(which, 1000);
        for (int i = 0; i < 40; i++) {
            double time = of_one(which, 1000);
            if (rank == 0) printf("%d %.3e\n", which, time);
        }
    }
    return MPI_Finalize();
}
"""


def run(words):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done.stdout + done.stderr


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else None


def lmbench(name):
    folders = [os.environ.get("LMBENCH", ""), *glob.glob("/usr/lib/lmbench/bin/*")]
    return shutil.which(name) or shutil.which(name, path=":".join(folders))


def median_of(file, of, **chosen):
    """The median of the rows of a file of ours that have these values."""
    lines = [line for line in pathlib.Path(file).read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if all(row[name] == str(value) for name, value in chosen.items())]
    numbers = lambda row: {name: float(text) for name, text in row.items() if re.match(r"^[-+0-9.e]+$", text)}
    values = [of(numbers(row)) for row in rows]
    return statistics.median(values) if values else None


def ours(folder):
    """Our figures: seconds, and bytes a second."""
    time = lambda count: lambda row: row["time_s"] / row[count]
    alone = lambda m: median_of(f"{folder}/alpha.csv", lambda row: row["time_s"], matrix_size=300, processes=m)
    figures = {
        "copy": median_of(f"{folder}/memory.csv", lambda row: row["bytes"] / row["time_s"], accelerators=1),
        "alpha": alone(2) / alone(1),
    }
    for threads in (2, 4):
        for mode in ("yield", "futex"):
            chosen = {"processes": threads, "mode": mode}
            figures[mode, threads] = median_of(f"{folder}/context_switch.csv", time("switches"), **chosen)
    for operation, size in (("barrier", 0), ("allreduce", 8), ("allreduce", 1024), ("bcast", 8)):
        chosen = {"operation": operation, "ranks": 2, "bytes": size}
        figures[operation, size] = median_of(f"{folder}/collective.csv", time("calls"), **chosen)
    return figures


def of_memory_and_switches():
    """What others say: in words, the name of ours, the figure, and whether both are the same."""
    pinned, times = ["taskset", "-c", "0"], lambda found, factor: found and factor * found
    if lmbench("bw_mem"):
        # It counts what is copied once.
        found = number(r"268\.44 ([0-9.]+)", run([lmbench("bw_mem"), "-N", "3", "256m", "bcopy"]))
        yield "copy, one thread (bw_mem bcopy)", "copy", times(found, 2e6), True
    if lmbench("lat_ctx"):
        found = number(r"\n2 ([0-9.]+)", run([*pinned, lmbench("lat_ctx"), "-s", "0", "2"]))
        what = "switch by futex, 2 threads (lat_ctx: processes and pipes, which are taken off)"
        yield what, ("futex", 2), times(found, 1e-6), True
    if shutil.which("perf"):
        text = run(["perf", "bench", "mem", "memcpy", "-s", "256MB", "-l", "5", "-f", "default"])
        found = number(r"([0-9.]+) GB/sec", text)
        yield "copy, one thread (perf bench mem memcpy)", "copy", times(found, 2 * 2**30), True
        found = number(r"([0-9.]+) usecs/op", run([*pinned, "perf", "bench", "sched", "pipe", "-l", "200000"]))
        what = "switch by futex, 2 threads (perf bench sched pipe: with the pipes)"
        yield what, ("futex", 2), times(found, 0.5e-6), False
    if shutil.which("stress-ng"):
        # Of two workers for each processor all are on one.
        found = of_stress("yield", "1", "--taskset", "0")
        yield "switch by yield, 4 threads (stress-ng --yield: processes)", ("yield", 4), found and 1 / found, True
        one, two = (of_stress("matrix", m, "--matrix-method", "prod", "--matrix-size", "256") for m in ("1", "2"))
        what = "alpha of 2, products of matrices (stress-ng --matrix)"
        yield what, "alpha", one and two and one / two, True


def of_stress(name, workers, *flags):
    """What stress-ng does in a second of CPU time, which is its own whatever else runs."""
    text = run(["stress-ng", f"--{name}", workers, *flags, "-t", "2", "--metrics"])
    return number(rf"\] {name} +[0-9]+" + 4 * r" +[0-9.]+" + r" +([0-9.]+)", text)


def of_mpi(mpirun, loop):
    yield from of_messages(mpirun)
    text = run([mpirun, "-n", "2", loop])
    for which, name in enumerate((("barrier", 0), ("allreduce", 8), ("allreduce", 1024), ("bcast", 8))):
        found = [float(time) for time in re.findall(rf"(?m)^{which} (.+)", text)]
        # Others' work makes them longer: ours are left out where it did.
        found = statistics.quantiles(found)[0] if len(found) > 1 else None
        yield f"{name[0]} of {name[1]} B, 2 ranks (a plain loop)", name, found, True


def of_messages(mpirun):
    is_open = any(name in run([mpirun, "--version"]) for name in ("Open MPI", "OpenRTE"))
    if is_open and shutil.which("NPopenmpi"):
        text = run([mpirun, "-n", "2", "NPopenmpi", "-l", "8", "-u", "8", "-n", "20000"])
        found = number(r"in +([0-9.]+) usec", text)
        yield "barrier, 2 ranks (NetPIPE: half a round trip)", ("barrier", 0), found and 1e-6 * found, False
    if is_open and shutil.which("hpcc"):
        example = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
        small = re.sub(r"(?m)^1000( +Ns)", r"100\1", example)
        pathlib.Path("hpccinf.txt").write_text(re.sub(r"(?m)^2( +Ps)", r"1\1", small))
        pathlib.Path("hpccoutf.txt").unlink(missing_ok=True)
        run([mpirun, "-n", "2", "hpcc"])
        out = pathlib.Path("hpccoutf.txt")
        text = out.read_text() if out.exists() else ""
        found = number(r"NaturallyOrderedRingLatency_usec=([0-9.]+)", text)
        yield "barrier, 2 ranks (HPCC: natural ring)", ("barrier", 0), found and 1e-6 * found, False


def told(name, value):
    if name == "copy":
        return f"{value / 1e9:.1f} GB/s"
    return f"{value:.3f}" if name == "alpha" else f"{1e6 * value:.3f} us"


def main():
    mmgp, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    mpirun = sys.argv[3] if len(sys.argv) > 3 else "mpirun"
    repetitions = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    missing = [name for name in ("bw_mem", "lat_ctx") if not lmbench(name)]
    missing += [name for name in ("perf", "stress-ng", "NPopenmpi", "hpcc", mpirun) if not shutil.which(name)]
    for name in missing:
        print(f"not here: {name}")
    mpicc = mpirun.replace("mpirun", "mpicc")
    pathlib.Path("loop.c").write_text(LOOP)
    if shutil.which(mpicc):
        run([mpicc, "-O2", "loop.c", "-o", "loop"])
    loop = "./loop" if shutil.which(mpirun) and os.path.exists("loop") else None
    pairs, same = collections.defaultdict(list), {}
    loads = [os.getloadavg()[0]]
    for repetition in range(repetitions):
        # Next to one another in time: of a virtual machine, processors are siblings now and far apart in a minute.
        theirs = [*(of_mpi(mpirun, loop) if loop else ())]
        run([mmgp, "bench", "--machine", "host", "--budget", "6s", "--seed", str(repetition + 1), "--mpirun",
             mpirun if loop else "none", "--out", "measured"])
        figures = ours("measured")
        for what, name, value, is_same in [*theirs, *of_memory_and_switches()]:
            pairs[what].extend([(figures[name], value)] if figures[name] and value else [])
            same[what] = (name, is_same)
        loads.append(os.getloadavg()[0])
    print(f"load {min(loads):.2f} to {max(loads):.2f}, {os.cpu_count()} processors, {repetitions} repetitions; medians")
    print("| figure (theirs) | ours | theirs | ours / theirs, and from least to most |")
    print("|---|--:|--:|--:|")
    beyond = 0
    for what, both in pairs.items():
        name, is_same = same[what]
        if not both:
            print(f"| {what} | | not told | |")
            continue
        ratios = [own / their for own, their in both]
        ratio = statistics.median(ratios)
        beyond += is_same and abs(ratio - 1) > LIMIT
        own, their = (told(name, statistics.median(column)) for column in zip(*both))
        print(f"| {what} | {own} | {their} | {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
              f"{'' if is_same else ', not the same'} |")
    if not pairs:
        return 77
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main())
