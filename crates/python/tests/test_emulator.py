"""`emulate` and `study`: the answers of the command, and their end at an interrupt."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import mbyp
from mbyp import _command

SMALL = {"input": "sim12", "generations": 3}


def command(*words):
    """What the command prints."""
    return subprocess.run([_command.found(), *words], check=True, capture_output=True, text=True).stdout


def test_a_run_has_the_numbers_of_the_command():
    run = mbyp.emulate("pbpi", m=2, p=3, **SMALL)
    words = ["--m=2", "--p=3", "--input=sim12", "--generations=3"]
    assert dict(run) == json.loads(command("emulate", "pbpi", *words, "--format=json"))
    assert (run.time_s, run.functions[0]["name"]) == (run["time_s"], "node")
    with pytest.raises(AttributeError, match="this run has no 'tim_s'; it has app, machine, m, p"):
        run.tim_s  # noqa: B018


def test_a_run_is_shown_as_the_table_of_the_command():
    run = mbyp.emulate("pbpi", m=2, p=3, **SMALL)
    words = ["--m=2", "--p=3", "--input=sim12", "--generations=3"]
    above = command("emulate", "pbpi", *words).split("\n\n")[0]
    assert repr(run) == str(run) and str(run).split("\n\n")[0].splitlines() == above.splitlines()
    assert [line.split()[:2] for line in str(run).split("\n\n")[1].splitlines()][:3] == [
        ["functions:"],
        ["name", "calls"],
        ["node", str(run.functions[0]["calls"])],
    ]


def test_machines_and_files_are_options(folder):
    slow = mbyp.emulate("synthetic", machine="ps3", p=2)
    assert (slow.machine, slow.p) == ("ps3", 2)
    kept = mbyp.emulate("pbpi", out="run.json", trace=folder / "trace.json", check_hazards=True, quiet=True, **SMALL)
    assert kept == json.loads(Path("run.json").read_text()) and Path("trace.json").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"app": "pbip"}, 'there is no application "pbip"; did you mean "pbpi"?'),
        ({"app": "pbpi", "m": 99}, "m = 99, p = 1 needs 99 APUs, but there are 16"),
        ({"app": "pbpi", "machine": "ps4"}, 'there is no machine "ps4"; did you mean "ps3"?'),
        ({"app": "pbpi", "m": float("nan")}, "invalid value 'nan' for m="),
        ({"app": "pbpi", "trace": "-"}, "trace=: found '-', expected a file"),
        ({"app": "--help"}, "found '--help', expected the name of a program"),
        ({"app": None}, "found None, expected the name of a program"),
        ({"app": "pbpi", "format": "csv"}, "format=: there is no such option"),
    ],
)
def test_what_cannot_be_emulated_is_refused(words, text):
    with pytest.raises(mbyp.InputError) as refusal:
        mbyp.emulate(**words)
    assert text in str(refusal.value)


def test_a_study_leaves_its_folder_and_says_what_it_found():
    study = mbyp.study(machine="ps3", threads=1, **SMALL)
    assert (study.path, study.page) == (Path("mmgp-study"), Path("mmgp-study/report.html")) and study.page.exists()
    assert study.summary == json.loads(Path("mmgp-study/summary.json").read_text())
    assert study.summary["models"][0]["model"] == "mmgp" and repr(study) == study.text.strip()
    assert study.text.startswith("pbpi on PlayStation 3")
    share = mbyp.study(machine="ps3", shard="1/20", quiet=True, input="sim12", generations=1)
    assert (share.path, share.summary) == (Path("mmgp-study-shard-1-of-20"), None)


def test_other_threads_go_on_meanwhile():
    turns, is_done = [], threading.Event()

    def turn():
        while not is_done.is_set():
            turns.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=turn)
    thread.start()
    start = time.monotonic()
    mbyp.emulate("pbpi", input="sim12", generations=2000)
    end = time.monotonic()
    is_done.set()
    thread.join()
    longest = max(later - earlier for earlier, later in zip([start, *turns], [*turns, end]))
    assert longest < (end - start) / 2


LONG = {
    "emulate": 'emulate("pbpi", input="sim107", generations=10**6, m=4, p=4)',
    "study": 'study(input="sim107", generations=10**6, out="long")',
    "run": 'Tuner(m=[1, 2], p=1).run(lambda m, p: _command.run(["emulate", "pbpi", "--generations=1000000"]))',
}
INTERRUPTED = """
import time
from mbyp import *
from mbyp import _command
try:
    {}
except KeyboardInterrupt:
    print(time.monotonic())
"""


def children(process):
    """Processes that a process started, and lives with."""
    return [int(it) for it in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def is_working(process):
    """Whether a process emulates."""
    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    return b"emulate" in words or b"study" in words


def time_to_end(script):
    """How long an interrupt takes to reach the caller, where nothing is left behind [s]."""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    started = []
    try:
        while not any(map(is_working, started)):
            time.sleep(0.01)
            started = children(process)
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        caught = float(process.communicate(timeout=10)[0])
        assert not any(os.path.exists(f"/proc/{it}") for it in started)
        return caught - sent
    finally:
        # Where it did not end by itself.
        process.kill()
        for it in filter(is_alive, started):
            os.kill(it, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc, which tells of processes")
@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_an_interrupt_ends_all_within_a_tenth_of_a_second(call):
    # On a computer that is busy with something else one may take longer.
    assert any(time_to_end(INTERRUPTED.format(call)) < 0.1 for _ in range(3))


def interrupted(folder, monkeypatch, script):
    """How long an interrupt takes where a script stands for the command [s]: when it writes the file `begun`."""
    path = folder / "mmgp"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo mmgp 0.1.0; exit; }}\n{script}')
    path.chmod(0o755)
    monkeypatch.setenv("MBYP_MMGP", str(path))
    begun, sent = folder / "begun", []
    begun.unlink(missing_ok=True)

    def interrupt():
        while not (begun.exists() and begun.read_text().strip()):
            time.sleep(0.01)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        mbyp.emulate("pbpi")
    return time.monotonic() - sent[0]


STUBBORN = """
trap '' INT
sleep 20 &
echo $! > begun
for turn in $(seq 1000); do sleep 0.01; done
"""


def test_what_does_not_obey_is_ended_with_what_it_started(folder, monkeypatch):
    def time_to_end():
        took = interrupted(folder, monkeypatch, STUBBORN)
        child, deadline = int((folder / "begun").read_text()), time.monotonic() + 5
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not is_alive(child)
        return took

    assert any(time_to_end() < 0.1 for _ in range(3))


def test_what_obeys_ends_by_itself(folder, monkeypatch):
    script = "trap 'echo > orderly; exit 130' INT; echo 1 > begun; for turn in $(seq 1000); do sleep 0.005; done"
    for _ in range(3):
        interrupted(folder, monkeypatch, script)
        if (folder / "orderly").exists():
            return
    pytest.fail("it was killed three times")


def test_an_interrupt_while_the_command_starts_leaves_nothing_behind(monkeypatch):
    seen, started = [], _command.started

    def interrupted(*given):
        process = started(*given)
        seen.append(process)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(_command, "started", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            mbyp.emulate("pbpi", input="sim107", generations=10**6)
        assert len(seen) == 1 and seen[0].returncode is not None
    finally:
        for process in seen:
            process.kill()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def is_alive(pid):
    """Whether a process is there and has not ended."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
