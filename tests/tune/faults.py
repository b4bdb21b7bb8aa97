#!/usr/bin/env python3
"""Tunes a program that goes wrong in many ways, kills the tune at random moments, goes on, and holds
what comes out to a tune that nobody disturbed.

    faults.py MMGP [--count 1000] [--jobs 8] [--seed 1] [--keep]

Every tune is of `program.sh`, whose faults and reported times follow from a seed and the run, so that
both tunes must leave the same runs.csv, byte for byte. Beyond that: no attempt is counted twice, the
log is whole, and no process that descends from a tune is left when it has ended. Prints what was
done and found; the exit code is 1 if anything was amiss.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# A tune that takes longer than this hangs [s].
LONGEST = 180
# Disturbances of a tune at most; then it may end.
MOST = 6
MARK = "FAULTS_MARK"


def processes_with(mark):
    """Processes, zombies apart, that have this mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            environ = pathlib.Path("/proc", entry, "environ").read_bytes()
            if wanted in environ.split(b"\0"):
                words = pathlib.Path("/proc", entry, "cmdline").read_bytes()
                found.append((int(entry), words.replace(b"\0", b" ").decode(errors="replace")))
        except OSError:
            continue
    return found


def supervisor_of(pid):
    """The process that runs commands for a tune, if it is there."""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()
            for child in children:
                if b"supervise" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
    except OSError:
        pass
    return None


def send(pid, number):
    """Whether a process was there to get a signal."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def disturb(process, mark, how):
    """Disturbs a tune; false where it was over before."""
    if process.poll() is not None:
        return False
    supervisor = supervisor_of(process.pid)
    if how == "tune":
        return send(process.pid, signal.SIGKILL)
    if how == "group":
        os.killpg(process.pid, signal.SIGKILL)
        return True
    if how == "supervisor":
        return supervisor is not None and send(supervisor, signal.SIGKILL)
    if how == "both":
        killed = send(process.pid, signal.SIGKILL)
        if supervisor is not None:
            send(supervisor, signal.SIGKILL)
        return killed
    if how == "interrupt":
        return send(process.pid, signal.SIGINT)
    # As a batch system does: everyone is told, the program first.
    for pid, _ in processes_with(mark):
        if pid not in (process.pid, supervisor):
            send(pid, signal.SIGTERM)
    if supervisor is not None:
        send(supervisor, signal.SIGTERM)
    return send(process.pid, signal.SIGTERM)


WAYS = ["tune"] * 5 + ["group", "supervisor", "both", "interrupt", "terminate"]


class Case:
    """A tune of its own seed, disturbed and undisturbed."""

    def __init__(self, mmgp, seed, folder):
        self.mmgp, self.seed, self.folder = mmgp, seed, folder
        self.random = random.Random(seed)
        self.wrong = []
        self.counts = collections.Counter()
        ms, ps = self.random.choice([("1..6", "1,2,3"), ("1,2,4,8", "1,2,4"), ("1..3", "1..2")])
        self.arguments = ["tune", "--m", ms, "--p", ps, "--runs", str(self.random.randint(6, 14)),
                          "--until-regret", "0.01%", "--timeout", "2s", "--seed", str(seed),
                          "--time-from", r"time: (\S+) (ms)"]
        if self.random.random() < 0.3:
            self.arguments += ["--warmup", "1"]
        if self.random.random() < 0.2:
            self.arguments += ["--param", "scheme=a,b"]
        if self.random.random() < 0.2:
            self.arguments += ["--keep-output"]
        # Without one there is nowhere to write to but here.
        self.arguments += ["--fresh-dir"]

    def start(self, name):
        out = self.folder / name
        mark = f"{os.getpid()}-{self.seed}-{name}"
        env = dict(os.environ, FAULTS_SEED=str(self.seed), **{MARK: mark})
        stderr = open(self.folder / f"{name}.err", "ab")
        command = [self.mmgp, *self.arguments, "--out", str(out), "--", str(HERE / "program.sh")]
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stderr=stderr,
                                   stdout=subprocess.DEVNULL, start_new_session=True)
        stderr.close()
        return process, mark

    def ends(self, process, what, codes):
        """Waits for the end of a tune, which must be one of these."""
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{what}: it hangs")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return
        if code not in codes:
            said = [(it, it.read_text(errors="replace").splitlines()[-3:]) for it in self.folder.glob("*.err")]
            self.wrong.append(f"{what}: exit code {code}; said {dict((it.stem, lines) for it, lines in said)}")

    def no_orphans(self, mark, what, within=1.0):
        """Looks for processes that are left, after so long at most [s]: a supervisor that was about to
        begin when its tune was interrupted sees that only then, and ends after it."""
        until = time.monotonic() + within
        while (left := processes_with(mark)) and time.monotonic() < until:
            time.sleep(0.05)
        for pid, command in left:
            self.counts["orphans"] += 1
            self.wrong.append(f"{what}: process {pid} is left: {command}")
            send(pid, signal.SIGKILL)

    def disturbed(self):
        was_killed = False
        for _ in range(MOST):
            process, mark = self.start("disturbed")
            self.counts["starts"] += 1
            # Most are early: where a run begins is where most happens.
            time.sleep(min(self.random.expovariate(1 / 0.6), 5.0))
            how = self.random.choice(WAYS)
            if not disturb(process, mark, how):
                self.ends(process, "disturbed", [0, 1])
                self.no_orphans(mark, "disturbed")
                return
            self.counts[how] += 1
            # It may have been about to end, or to begin, or its supervisor about to begin.
            codes = {"supervisor": [0, 1, 2], "interrupt": [130, -signal.SIGINT, 0, 1],
                     "terminate": [143, -signal.SIGTERM, 0, 1, 2]}
            self.ends(process, how, codes.get(how, [-signal.SIGKILL, 0, 1]))
            # What a tune leaves that was killed may still be about to end when the next one does; and where
            # the next one's supervisor is killed while it ends that, the one after it has to.
            was_killed |= how not in codes
            if how in codes and not (how == "supervisor" and was_killed):
                self.no_orphans(mark, how, 12.0 if was_killed else 1.0)
                was_killed = False
        process, mark = self.start("disturbed")
        self.ends(process, "disturbed", [0, 1])
        self.no_orphans(mark, "disturbed")

    def undisturbed(self):
        process, mark = self.start("undisturbed")
        self.ends(process, "undisturbed", [0, 1])
        self.no_orphans(mark, "undisturbed")

    def log(self, name):
        """The attempts of a log, which must be whole and count nothing twice."""
        text = (self.folder / name / "log.jsonl").read_text()
        attempts = [json.loads(line) for line in text.splitlines()]
        if not text.endswith("\n"):
            self.wrong.append(f"{name}: the log's last line has no end")
        if [it["order"] for it in attempts] != list(range(1, len(attempts) + 1)):
            self.wrong.append(f"{name}: the log's order has holes")
        ids = collections.Counter(it["id"] for it in attempts)
        counted = collections.Counter(
            (it["m"], it["p"], json.dumps(it.get("params")), it["repetition"])
            for it in attempts if it["status"] != "interrupted")
        for what, count in [*ids.items(), *counted.items()]:
            if count > 1:
                self.counts["counted twice"] += 1
                self.wrong.append(f"{name}: {what} is there {count} times")
        if any((it["status"] == "ok") != (it["time_s"] is not None) for it in attempts):
            self.wrong.append(f"{name}: what is not ok has a time, or the other way round")
        self.counts[f"attempts, {name}"] += len(attempts)
        for attempt in attempts:
            self.counts[f"status {attempt['status']}"] += 1
        return [(it["m"], it["p"], it["status"], it["time_s"]) for it in attempts
                if it["status"] != "interrupted"]

    def compare(self):
        logs = [self.log(name) for name in ("disturbed", "undisturbed")]
        if logs[0] != logs[1]:
            self.wrong.append(f"other attempts: {logs[0]} for {logs[1]}")
        tables = [{path.name: path.read_bytes() for path in (self.folder / name).glob("runs*.csv")}
                  for name in ("disturbed", "undisturbed")]
        self.counts["equal runs.csv" if tables[0] == tables[1] else "other runs.csv"] += 1
        if tables[0] != tables[1]:
            self.wrong.append(f"other runs.csv: {tables}")
        summaries = [json.loads((self.folder / name / "summary.json").read_text())
                     for name in ("disturbed", "undisturbed")]
        if summaries[0] != summaries[1]:
            self.wrong.append(f"other summaries: {summaries}")
        for name in ("disturbed", "undisturbed"):
            if "panicked" in (self.folder / f"{name}.err").read_text(errors="replace"):
                self.wrong.append(f"{name}: it panicked")
            for left in (self.folder / name).rglob("*.part"):
                self.wrong.append(f"{name}: {left.name} is left")

    def run(self):
        self.folder.mkdir()
        self.disturbed()
        self.undisturbed()
        try:
            self.compare()
        except (OSError, ValueError) as error:
            self.wrong.append(str(error))
        return self


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mmgp")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1, help="of the first tune")
    parser.add_argument("--keep", action="store_true", help="keep the folders of what went wrong")
    arguments = parser.parse_args()
    mmgp = str(pathlib.Path(arguments.mmgp).resolve())
    work = pathlib.Path(tempfile.mkdtemp(prefix="mmgp-faults-"))
    counts, wrong, begun = collections.Counter(), 0, time.monotonic()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        cases = [pool.submit(Case(mmgp, seed, work / str(seed)).run) for seed in seeds]
        for done, future in enumerate(concurrent.futures.as_completed(cases), 1):
            case = future.result()
            counts.update(case.counts)
            wrong += bool(case.wrong)
            for line in case.wrong:
                print(f"seed {case.seed}: {line[:2000]}", flush=True)
            if not (arguments.keep and case.wrong):
                shutil.rmtree(case.folder)
            if done % 100 == 0:
                print(f"{done} of {arguments.count}, {time.monotonic() - begun:.0f} s", flush=True)
    kills = sum(counts[how] for how in set(WAYS))
    print(f"{arguments.count} tunes, {kills} disturbances, {wrong} amiss")
    for name in sorted({*counts, "orphans", "counted twice", "other runs.csv"}):
        print(f"  {name}: {counts[name]}")
    if arguments.keep and wrong:
        print(f"what went wrong is in {work}")
    else:
        shutil.rmtree(work)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
