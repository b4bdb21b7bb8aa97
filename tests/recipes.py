#!/usr/bin/env python3
"""Follows the four recipes of CONTRIBUTING.md to the letter, in a copy of the repository.

Each copies a toy of `examples` and changes one list, as its `diff` says; then the program is built once and runs
every `mmgp` command of the recipes. A recipe fails that touches other than two files, whose lines are not where it
says, that does not compile, or whose commands do not end well or do not know the toy's name.

The copy stays in target/recipes, and with it what was compiled: a second time takes what has changed since.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "recipes"
COPY = HERE / "mmgp"
HEADING = "## A program, a policy, a model, a target of one's own"
CARGO = ["cargo", "build", "--quiet", "--offline", "--bin", "mmgp", "--target-dir", str(HERE / "target")]


def fail(message):
    sys.exit(f"tests/recipes.py: {message}")


def tracked():
    """The files of the repository: those that git knows, and new ones that it does not ignore."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in set(listed.split("\0")) if name and os.path.lexists(ROOT / name))


def copy(names):
    """Brings the copy up to date; files that have not changed keep their times, so that nothing is compiled again."""
    known = set(names)
    for path in sorted(COPY.rglob("*")) if COPY.exists() else []:
        if (path.is_symlink() or not path.is_dir()) and str(path.relative_to(COPY)) not in known:
            path.unlink()
    for name in names:
        source, place = ROOT / name, COPY / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            place.unlink(missing_ok=True)
            place.symlink_to(os.readlink(source))
        elif not place.exists() or place.read_bytes() != source.read_bytes():
            shutil.copyfile(source, place)


def state():
    files = (path for path in COPY.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(COPY)): hashlib.sha256(path.read_bytes()).digest() for path in files}


def recipes():
    """Each recipe: its title, and its steps as (kind, text)."""
    text = (COPY / "CONTRIBUTING.md").read_text()
    if HEADING not in text:
        fail(f"CONTRIBUTING.md has no {HEADING!r}")
    text = re.split(r"^## ", text.split(HEADING, 1)[1], maxsplit=1, flags=re.M)[0]
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        title, body = section.split("\n", 1)
        step = r"^In `(?P<file>[^`]+)`:$|^```(?P<kind>\w+)\n(?P<text>.*?)^```$"
        yield title, list(re.finditer(step, body, flags=re.M | re.S))


def change(file, diff):
    """Replaces the lines of each hunk without its `+` by those without its `-`."""
    path = COPY / file
    text = "\n" + path.read_text()
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        if text.count("\n" + before) != 1:
            fail(f"{file} has these lines {text.count(before)} times, expected once:\n{before}")
        text = text.replace("\n" + before, "\n" + after)
    path.write_text(text[1:])


def follow(steps):
    """Does what a recipe says; the commands of mmgp that it ends with."""
    commands, file = [], None
    for step in steps:
        if step["file"]:
            file = step["file"]
        elif step["kind"] == "diff":
            change(file, step["text"])
        else:
            for line in step["text"].splitlines():
                words = line.removeprefix("$ ").split()
                if words[0] == "cp":
                    shutil.copyfile(COPY / words[1], COPY / words[2])
                elif words[0] == "mmgp":
                    commands.append(words[1:])
                else:
                    fail(f"a command that is neither cp nor mmgp: {line}")
    return commands


def main():
    copy(tracked())
    followed = []
    for title, steps in recipes():
        before = state()
        commands = follow(steps)
        touched = sorted(name for name, digest in state().items() if before.get(name) != digest)
        if len(touched) != 2 or not commands:
            fail(f"{title}: expected two files and a command, found {touched} and {len(commands)} commands")
        followed.append((title, touched, commands))
    if len(followed) != 4:
        fail(f"expected four recipes, found {[title for title, *_ in followed]}")
    # Not optimised: a toy runs for no time.
    quick = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "0"}
    if subprocess.run(CARGO, cwd=COPY, env=os.environ | quick).returncode != 0:
        fail("the recipes do not compile")
    work = HERE / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for title, touched, commands in followed:
        for words in commands:
            run = subprocess.run([HERE / "target/debug/mmgp", *words], cwd=work, capture_output=True, text=True)
            if run.returncode != 0 or not run.stdout:
                fail(f"{title}: mmgp {' '.join(words)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
        print(f"{title}: {len(commands)} commands, files {' and '.join(touched)}")


if __name__ == "__main__":
    main()
