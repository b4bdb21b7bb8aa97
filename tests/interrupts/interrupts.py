#!/usr/bin/env python3
"""Interrupts commands at random moments and holds what they leave to what they leave undisturbed.

    interrupts.py MMGP [--count 10000] [--minutes M] [--jobs 2] [--seed 1]

Every trial takes a folder in some state (none, results of the same command, results of another, what an
earlier trial left), starts a command, in a tenth of the trials two at once, and sends SIGINT, SIGTERM,
SIGHUP or SIGKILL after a random time. Then

* no file at a final name may be anything but one that an undisturbed command leaves, whole;
* `report` refuses the folder, or makes the page of one undisturbed study;
* after the same command again, undisturbed, the folder has what it should, to the byte, and no remains.

Prints what was done and found; the exit code is 1 if anything was amiss.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
# A command that takes longer than this hangs [s].
LONGEST = 120
SMALL = ["--machine", "ps3", "--input", "sim12"]
SYNTHETIC = ["schedulers", "--app", "synthetic", "--machine", "ps3", "--workers", "1..4", "--rows-only"]


class Sort:
    """A sort of command: two variants, of which each would leave other files."""

    def __init__(self, name, variants, folder=True, report=False, force=False):
        self.name, self.variants, self.folder, self.report = name, variants, folder, report
        # Whether the results of the one variant give way to those of the other unasked.
        self.force = force


SORTS = [
    Sort(
        "study",
        [["study", *SMALL, "--generations", n, "--force"] for n in ["1", "2"]],
        report=True,
    ),
    Sort(
        "validate",
        [["validate", "--params", name, *SMALL, "--generations", "1", "--force"] for name in ["pbpi-qs20", "{params}"]],
    ),
    Sort("schedulers", [[*SYNTHETIC, "--schedulers", names, "--force"] for names in ["edtlp", "ynr,edtlp"]]),
    Sort("report", [["report", "{study}"], ["report", "pbpi-qs20"]], folder=False),
    Sort("export", [["export", "--params", name, "--to", "json"] for name in ["pbpi-qs20", "raxml-qs20"]], folder=False),
]
WEIGHTS = [3, 2, 3, 4, 4]


def contents(folder):
    """All files by their paths in a folder, but those of what is not finished."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith("unfinished/"):
            files[name] = path.read_bytes()
    return files


def is_remainder(name):
    last = name.rsplit("/", 1)[-1]
    return last == ".running" or (last.startswith(".mmgp-") and last.endswith(".part"))


class Bench:
    """What undisturbed commands leave, and how long they take."""

    def __init__(self, mmgp, work):
        self.mmgp, self.work = mmgp, work
        study = work / "reference-study"
        self.run(["study", *SMALL, "--generations", "1", "--quiet", "--out", str(study)])
        self.names = {"{study}": str(study), "{params}": str(study / "params.toml")}
        self.expected, self.takes = {}, {}
        for sort in SORTS:
            for index in range(2):
                out = work / f"expected-{sort.name}-{index}"
                takes = []
                for _ in range(3):
                    begun = time.monotonic()
                    self.run(self.command(sort, index, out))
                    takes.append(time.monotonic() - begun)
                self.takes[sort.name, index] = min(takes)
                self.expected[sort.name, index] = contents(out) if sort.folder else out.read_bytes()
        self.pages = [self.page(work / f"expected-study-{index}")[1] for index in range(2)]

    def words(self, words):
        return [self.names.get(word, word) for word in words]

    def command(self, sort, index, out):
        quiet = ["--quiet"] if sort.folder else []
        return self.words(sort.variants[index]) + [*quiet, "--out", str(out)]

    def start(self, words):
        return subprocess.Popen(
            [self.mmgp, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def run(self, words):
        process = self.start(words)
        error = process.communicate(timeout=LONGEST)[1].decode(errors="replace")
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {process.returncode}: {error}")

    def page(self, folder):
        done = subprocess.run(
            [self.mmgp, "report", str(folder)], stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST
        )
        return done.returncode, done.stdout


class Trial:
    def __init__(self, bench, number, seed, counts):
        self.bench, self.counts = bench, counts
        self.random = random.Random(f"{seed}-{number}")
        self.out = bench.work / f"trial-{number}"
        self.amiss = []

    def run(self):
        choose = self.random
        [sort] = choose.choices(SORTS, WEIGHTS)
        index = choose.randrange(2)
        words = self.bench.command(sort, index, self.out)
        self.before(sort)
        disturbances = choose.choice([1, 1, 1, 2, 3])
        for _ in range(disturbances):
            together = 2 if choose.random() < 0.1 else 1
            self.disturb(sort, index, words, together)
            self.check_files(sort)
        # Undisturbed: the same command, or now and then the other one.
        if choose.random() < 0.2:
            index = 1 - index
            words = self.bench.command(sort, index, self.out)
        try:
            self.bench.run(words)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            self.amiss.append(f"the same command does not go on: {error}")
        self.check_end(sort, index)
        if self.amiss:
            return [f"{' '.join(words)}: {it}" for it in self.amiss]
        shutil.rmtree(self.out) if sort.folder else self.out.unlink()
        return []

    def before(self, sort):
        """Some state that the folder may be in."""
        if self.random.random() < 0.5:
            return
        earlier = self.random.randrange(2)
        made = self.bench.work / f"expected-{sort.name}-{earlier}"
        shutil.copytree(made, self.out) if sort.folder else shutil.copy(made, self.out)

    def disturb(self, sort, index, words, together):
        takes = self.bench.takes[sort.name, index]
        processes = []
        for number in range(together):
            # Two at once on one folder: the same command, or the other.
            other = number > 0 and self.random.random() < 0.5
            own = self.bench.command(sort, 1 - index, self.out) if other else words
            processes.append(self.bench.start(own))
        # More often near the beginning and the end, where files are written.
        part = self.random.choice([self.random.random(), self.random.betavariate(0.5, 0.5)])
        time.sleep(part * takes * 1.1)
        for process in processes:
            number = self.random.choice(SIGNALS)
            was_over = process.poll() is not None
            if not was_over:
                process.send_signal(number)
            self.counts["too late" if was_over else number.name] += 1
        self.counts["two at once"] += together - 1
        for process in processes:
            try:
                error = process.communicate(timeout=LONGEST)[1].decode(errors="replace")
            except subprocess.TimeoutExpired:
                process.kill()
                self.amiss.append("did not end after a signal")
                continue
            code = process.returncode
            self.counts[f"{sort.name}: {code}"] += 1
            if code not in (0, 2, 129, 130, 143, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP):
                self.amiss.append(f"exit code {code}: {error}")
            if "panicked" in error:
                self.amiss.append(error)
            if code == 2 and not (together == 2 and "is in use" in error):
                self.amiss.append(f"exit code 2: {error}")

    def check_files(self, sort):
        both = [self.bench.expected[sort.name, index] for index in range(2)]
        if not sort.folder:
            if self.out.exists() and self.out.read_bytes() not in both:
                self.amiss.append("its file is neither the one nor the other")
            return
        for name, content in contents(self.out).items() if self.out.exists() else []:
            if is_remainder(name) or sort.name == "schedulers":
                continue
            if content not in [expected.get(name) for expected in both]:
                self.amiss.append(f"{name} is not whole")
        if sort.name == "schedulers" and (self.out / "schedulers.csv").exists():
            rows = (self.out / "schedulers.csv").read_text().splitlines()
            known = {line for files in both for line in files["schedulers.csv"].decode().splitlines()}
            for row in rows:
                if row not in known:
                    self.amiss.append(f"a row that is not whole: {row}")
        if sort.report and self.out.exists():
            code, page = self.bench.page(self.out)
            self.counts[f"report after it: {code}"] += 1
            if code == 0 and page not in self.bench.pages:
                self.amiss.append("a mixture was accepted")
            elif code not in (0, 2):
                self.amiss.append(f"report ended with {code}")

    def check_end(self, sort, index):
        expected = self.bench.expected[sort.name, index]
        if not sort.folder:
            if self.out.read_bytes() != expected:
                self.amiss.append("the file is not what it should be at the end")
            return
        if (self.out / "unfinished").exists():
            self.amiss.append("remains: unfinished")
        found = contents(self.out)
        if sorted(found) != sorted(expected):
            both = sorted(set(found) ^ set(expected))
            self.amiss.append(f"at the end there are other files: {both}")
        for name in sorted(set(found) & set(expected)):
            if found[name] != expected[name]:
                self.amiss.append(f"{name} is not what it should be at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mmgp")
    parser.add_argument("--count", type=int, default=10000, help="interrupts at least")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="at most, after undisturbed runs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts = collections.Counter()
    amiss = []
    lock = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="mmgp-interrupts-") as work:
        bench = Bench(str(pathlib.Path(arguments.mmgp).resolve()), pathlib.Path(work))
        takes = {f"{name} {index}": f"{took:.2f} s" for (name, index), took in bench.takes.items()}
        print(f"undisturbed: {takes}", flush=True)
        begun = time.monotonic()
        numbers = iter(range(10**9))

        def interrupts():
            return sum(counts[it.name] for it in SIGNALS)

        def work_on():
            while True:
                with lock:
                    is_late = time.monotonic() - begun > 60 * arguments.minutes
                    if interrupts() >= arguments.count or len(amiss) > 20 or is_late:
                        return
                    number = next(numbers)
                own = collections.Counter()
                found = Trial(bench, number, arguments.seed, own).run()
                with lock:
                    counts.update(own)
                    counts["trials"] += 1
                    for it in found:
                        amiss.append(f"trial {number}: {it}")
                        print(amiss[-1], flush=True)
                    if counts["trials"] % 500 == 0:
                        print(f"{interrupts()} interrupts in {time.monotonic() - begun:.0f} s", flush=True)

        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for done in [pool.submit(work_on) for _ in range(arguments.jobs)]:
                done.result()
    minutes = (time.monotonic() - begun) / 60
    print(f"{interrupts()} interrupts in {minutes:.1f} min, seed {arguments.seed}")
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count}")
    print(f"amiss: {len(amiss)}")
    if interrupts() == 0:
        print("nothing was interrupted, so nothing is known")
    return 1 if amiss or interrupts() == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
