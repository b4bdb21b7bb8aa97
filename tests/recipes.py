#!/usr/bin/env python3
"""Follows the four recipes of CONTRIBUTING.md to the letter, in a copy of the repository.

Each copies a toy of `examples` and changes one list, as its `diff` says; then the program is built once and runs
every `mmgp` command of the recipes. A recipe fails that touches other than two files, whose lines are not where it
says, that does not compile, or whose commands do not end well or print nothing.

The copy stays in target/recipes, and with it what was compiled: a second time takes what has changed since.
"""
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
    """The files of the repository, those that git does not ignore: the text of each, or where a link leads."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = {name: ROOT / name for name in listed.split("\0") if name and os.path.lexists(ROOT / name)}
    return {name: Path(os.readlink(it)) if it.is_symlink() else it.read_bytes() for name, it in paths.items()}


def write(files):
    """Brings the copy up to date; files that have not changed keep their times, so that nothing is compiled again."""
    for path in sorted(COPY.rglob("*")) if COPY.exists() else []:
        if (path.is_symlink() or not path.is_dir()) and str(path.relative_to(COPY)) not in files:
            path.unlink()
    for name, content in files.items():
        place = COPY / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            place.unlink(missing_ok=True)
            place.symlink_to(content)
        elif not place.exists() or place.read_bytes() != content:
            place.write_bytes(content)


def recipes(text):
    """Each recipe: its title, and its steps as (kind, text)."""
    if HEADING not in text:
        fail(f"CONTRIBUTING.md has no {HEADING!r}")
    text = re.split(r"^## ", text.split(HEADING, 1)[1], maxsplit=1, flags=re.M)[0]
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        title, body = section.split("\n", 1)
        step = r"^In `(?P<file>[^`]+)`:$|^```(?P<kind>\w+)\n(?P<text>.*?)^```$"
        yield title, list(re.finditer(step, body, flags=re.M | re.S))


def changed(file, text, diff):
    """The text with the lines of each hunk without its `+` replaced by those without its `-`."""
    text = "\n" + text
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        if text.count("\n" + before) != 1:
            fail(f"{file} has these lines {text.count(before)} times, expected once:\n{before}")
        text = text.replace("\n" + before, "\n" + after)
    return text[1:]


def follow(files, steps):
    """Does to the files what a recipe says; the commands of mmgp that it ends with."""
    commands, file = [], None
    for step in steps:
        if step["file"]:
            file = step["file"]
        elif step["kind"] == "diff":
            files[file] = changed(file, files[file].decode(), step["text"]).encode()
        else:
            for line in step["text"].splitlines():
                words = line.removeprefix("$ ").split()
                if words[0] == "cp":
                    folder = os.path.dirname(words[2])
                    if not any(os.path.dirname(name) == folder for name in files):
                        fail(f"there is no folder {folder}: {line}")
                    files[words[2]] = files[words[1]]
                elif words[0] == "mmgp":
                    commands.append(words[1:])
                else:
                    fail(f"a command that is neither cp nor mmgp: {line}")
    return commands


def main():
    files = tracked()
    followed = []
    for title, steps in recipes(files["CONTRIBUTING.md"].decode()):
        before = dict(files)
        commands = follow(files, steps)
        touched = sorted(name for name, content in files.items() if before.get(name) != content)
        if len(touched) != 2 or not commands:
            fail(f"{title}: expected two files and a command, found {touched} and {len(commands)} commands")
        followed.append((title, touched, commands))
    if len(followed) != 4:
        fail(f"expected four recipes, found {[title for title, *_ in followed]}")
    write(files)
    # Not optimised, for a toy takes no time, and with assertions, which find flags that clash.
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
