#!/usr/bin/env python3
"""Has every call that writes fail once, and looks at what a command leaves then.

    writes.py MMGP [--commands NAME,..] [--errors ENOSPC,EIO,short] [--every 1]

For each command every call on its files, the first, the second and so on, fails in a run of its own
(failing.c is preloaded). The command must then either end with exit code 2 and an error that names a
file, with every file as it was or whole, and none besides; or be right all the same. Undisturbed the same
command must make what it should. With short writes all must be right. At last files that grow beyond a
limit (ulimit -f), and a disk that is full (/dev/full). Prints what is amiss as it is found, to standard
error how far it is, at last what was done; the exit code is 1 if anything was amiss, 77 where there is no
compiler for C.
"""

import argparse
import collections
import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SMALL = ["--machine", "ps3", "--input", "sim12", "--generations", "1", "--quiet"]
COMMANDS = {
    "export": ["export", "--params", "pbpi-qs20", "--to", "json", "--out", "made.json"],
    "export to standard output": ["export", "--params", "pbpi-qs20", "--to", "json"],
    "predict": ["predict", "--params", "pbpi-qs20", "--out", "made.txt"],
    "report": ["report", "pbpi-qs20", "--out", "made.html"],
    "plot": ["plot", "--params", "pbpi-qs20", "--runs", "runs.csv", "--kind", "all", "--out", "made.svg"],
    "fit": ["fit", "--runs", "runs.csv", "--out", "made.toml", "--quiet"],
    "trace": ["emulate", "--input", "sim12", "--generations", "1", "--trace", "made.json", "--format", "json"],
    "bench": ["bench", "--machine", "ps3", "--out", "made", "--quiet"],
    "profile": ["profile", "--machine", "ps3", "--input", "sim12", "--generations", "1", "--out", "made.csv", "--quiet"],
    "schedulers": ["schedulers", "--app", "synthetic", "--machine", "ps3", "--schedulers", "edtlp,ynr",
                   "--workers", "1..2", "--out", "made", "--quiet"],
    "validate": ["validate", "--params", "pbpi-qs20", *SMALL, "--out", "made"],
    "study": ["study", *SMALL, "--out", "made"],
    "merge": ["merge", "a", "b", "--out", "made", "--quiet"],
    "measure": ["measure", "--m", "1", "--p", "1,2", "--repetitions", "2", "--out", "made", "--quiet", "--", "true"],
}
# Times of runs are measured: what they leave differs from run to run.
MEASURED = {"measure"}
RUNS = "m,p,time_s\n" + "".join(f"{m},{p},{10 / (m * p) + 0.1 * p + 0.3}\n" for m in (1, 2, 4) for p in (1, 2, 4))


def contents(folder):
    """All files beneath a folder, but those of what is not finished."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and "unfinished/" not in name:
            files[name] = path.read_bytes()
    return files


def is_remainder(file):
    return file.endswith("/.running") or re.search(r"\.mmgp-\d+-\d+\.part$", file) is not None


class Checks:
    def __init__(self, mmgp, library, work, every):
        self.mmgp, self.library, self.work, self.every = mmgp, library, work, every
        self.counts, self.amiss = collections.Counter(), []

    def fresh(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "runs.csv").write_text(RUNS)
        if name.startswith("merge"):
            for part, shard in (("a", "1/2"), ("b", "2/2")):
                subprocess.run(
                    [self.mmgp, "study", *SMALL, "--shard", shard, "--out", part], cwd=folder, check=True
                )
        return folder

    def run(self, words, folder, at=None, error=None):
        environ = dict(os.environ)
        log = self.work / "log"
        if error is not None:
            environ |= {
                "LD_PRELOAD": str(self.library),
                "FAIL_AT": str(at),
                "FAIL_WITH": str(error),
                "FAIL_UNDER": str(folder),
                "FAIL_LOG": str(log),
            }
        log.unlink(missing_ok=True)
        done = subprocess.run([self.mmgp, *words], cwd=folder, env=environ, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)
        calls, _, failed = log.read_text().strip().partition(" ") if log.exists() else ("0", "", "none")
        return done, int(calls), failed

    def tell(self, what):
        self.amiss.append(what)
        print(what, flush=True)

    def command(self, name, words, errors):
        folder = self.fresh(name.replace(" ", "-"))
        before = contents(folder)
        done, _, _ = self.run(words, folder)
        if done.returncode != 0:
            self.tell(f"{name}: undisturbed it ends with {done.returncode}: {done.stderr.decode()}")
            return
        expected, printed = contents(folder), done.stdout
        for text in errors:
            error = 0 if text == "short" else getattr(errno, text)
            at = 1
            while True:
                folder = self.again(name, folder, expected)
                done, calls, failed = self.run(words, folder, at, error)
                self.counts[f"{name}: {text}"] += 1
                self.look(f"{name}, {text} at call {at}, {failed}", done, folder, (before, expected, printed, name))
                if failed != "none":
                    self.counts[f"{text} by {failed.split()[0]}"] += 1
                    self.undisturbed(f"{name}, after {text} at call {at}, {failed}", words, folder, expected, name)
                if text == "short" or calls < at:
                    break
                if self.counts[f"{name}: {text}"] % 100 == 0:
                    print(f"{name}: {text} at call {at}, {len(self.amiss)} amiss", file=sys.stderr, flush=True)
                at += self.every
            print(f"{name}: {text} done, {self.counts[f'{name}: {text}']} runs", file=sys.stderr, flush=True)
        shutil.rmtree(folder)

    def again(self, name, folder, expected):
        """The folder as it was before the command."""
        for file in expected:
            if name != "merge" or file.startswith("made"):
                (folder / file).unlink(missing_ok=True)
        shutil.rmtree(folder / "made", ignore_errors=True)
        (folder / "runs.csv").write_text(RUNS)
        return folder

    def look(self, what, done, folder, against):
        before, expected, printed, name = against
        error = done.stderr.decode(errors="replace")
        if "panicked" in error:
            self.tell(f"{what}: {error}")
        found = contents(folder)
        if "unlink" in what:
            # What cannot be removed stays, and hinders nobody: the next command removes it.
            found = {file: content for file, content in found.items() if not is_remainder(file)}
        if done.returncode == 0:
            if name not in MEASURED and (found != expected or done.stdout != printed):
                self.tell(f"{what}: it ended with 0, and is not right")
            return
        if done.returncode != 2:
            self.tell(f"{what}: it ended with {done.returncode}: {error}")
        if not re.search(r"^error: (cannot write|cannot read) \S", error, re.M):
            self.tell(f"{what}: no error that names a file: {error}")
        for file, content in found.items():
            if name in MEASURED or content in (before.get(file), expected.get(file)):
                continue
            if file == "made/schedulers.csv" and expected[file].startswith(content.splitlines()[0]):
                if set(content.splitlines()) <= set(expected[file].splitlines()):
                    continue
            self.tell(f"{what}: {file} is neither as it was nor whole")

    def undisturbed(self, what, words, folder, expected, name):
        done, _, _ = self.run(words, folder)
        found = contents(folder)
        if done.returncode != 0:
            self.tell(f"{what}: it does not go on: {done.stderr.decode()}")
        elif name in MEASURED:
            if sorted(found) != sorted(expected):
                self.tell(f"{what}: other files at the end: {sorted(set(found) ^ set(expected))}")
        elif found != expected:
            differing = [file for file in set(found) | set(expected) if found.get(file) != expected.get(file)]
            self.tell(f"{what}: not what it should be at the end: {sorted(differing)}")

    def limits(self, words):
        """A limit of file size, and devices that are full."""
        folder = self.fresh("limits")
        command = f"ulimit -f 4; exec {self.mmgp} {' '.join(words)}"
        done = subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        error = done.stderr.decode()
        if done.returncode != 2 or "made.json: File too large" not in error or list(contents(folder)) != ["runs.csv"]:
            self.tell(f"ulimit -f: {done.returncode} {error} {list(contents(folder))}")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([self.mmgp, "export", "--params", "pbpi-qs20", "--to", "json"], stdout=full,
                                  stderr=subprocess.PIPE)
        if done.returncode != 2 or b"cannot write standard output: No space" not in done.stderr:
            self.tell(f"a full standard output: {done.returncode} {done.stderr.decode()}")
        done = subprocess.run([self.mmgp, "export", "--params", "pbpi-qs20", "--to", "json", "--out", "/dev/full"],
                              capture_output=True)
        if done.returncode != 2 or b"cannot write /dev/full: No space" not in done.stderr:
            self.tell(f"a full device: {done.returncode} {done.stderr.decode()}")
        self.counts["limits"] += 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mmgp")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="names of commands")
    parser.add_argument("--errors", default="ENOSPC,EIO,short")
    parser.add_argument("--every", type=int, default=1, help="of so many calls the first fails")
    arguments = parser.parse_args()
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        print("skipped: writes: no compiler for C, or not Linux")
        return 77
    with tempfile.TemporaryDirectory(prefix="mmgp-writes-") as work:
        work = pathlib.Path(work).resolve()
        library = work / "failing.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing.c", "-ldl"], check=True)
        checks = Checks(str(pathlib.Path(arguments.mmgp).resolve()), library, work, arguments.every)
        for name in arguments.commands.split(","):
            checks.command(name, COMMANDS[name], arguments.errors.split(","))
        checks.limits(COMMANDS["trace"])
    for name, count in sorted(checks.counts.items()):
        print(f"  {name}: {count}")
    print(f"runs: {sum(count for name, count in checks.counts.items() if ':' in name)}, amiss: {len(checks.amiss)}")
    return 1 if checks.amiss else 0


if __name__ == "__main__":
    sys.exit(main())
