"""The command ``mmgp`` as a process: found, checked, run, ended.

What runs programs, emulates or keeps a log goes through the command that comes in the same wheel: the log, the
words and the refusals are those of the command line.
"""

from __future__ import annotations

import codecs
import functools
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ._errors import CommandNotFoundError, Error, FileError, InputError, InUseError, MbypWarning, unclear
from ._words import answers, spelled

# The longest that the command may take to end by itself after an interrupt [s].
PATIENCE_S = 0.05
# Sequences by which a terminal is told of colours and of lines to be drawn anew.
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What the command says of its usage, which is another in Python.
USAGE = re.compile(r"\n+(Usage: |For more information, try ).*")
# One of several flags that is to be given, as usage has it: <--time <TIME>|--failed <REASON>>.
ALTERNATIVES = re.compile(r"<((?:--[a-z-]+ <[A-Z]+>\|?)+)>")
IN_USE = "is in use: another mmgp is running in that folder"


class Output(NamedTuple):
    """What a command printed."""

    text: str
    """Standard output."""
    said: str
    """Standard error, without warnings."""
    code: int
    """Exit code: 0, or 1 where the answer is no."""


def places() -> Iterator[Path]:
    """Where the command may be, the likeliest first."""
    name = "mmgp.exe" if os.name == "nt" else "mmgp"
    yield Path(sysconfig.get_path("scripts"), name)
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield Path(sysconfig.get_path("scripts", user), name)
    yield Path(sys.executable).parent / name
    import shutil

    found = shutil.which(name)
    if found:
        yield Path(found)


def found() -> str:
    """The path of the command: ``MBYP_MMGP``, or that which is installed beside this package.

    Raises:
        CommandNotFoundError: there is none, or one of another version.
    """
    named = os.environ.get("MBYP_MMGP")
    if named:
        path = Path(named)
    else:
        tried = list(places())
        there = [it for it in tried if it.is_file() and os.access(it, os.X_OK)]
        if not there:
            looked = ", ".join(sorted({str(it.parent) for it in tried}))
            raise CommandNotFoundError(
                f"there is no command mmgp in {looked} and on PATH: install the wheel of mbyp anew, which has it"
            )
        path = there[0]
    check_version(str(path))
    return str(path)


@functools.cache
def check_version(path: str) -> None:
    """Refuses a program that is another than this package's command, once for each path."""
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise CommandNotFoundError(f"{path}: {error.strerror}") from None
    name, _, version = run.stdout.partition(" ")
    version = version.split()[0] if version.split() else ""
    if run.returncode != 0 or name != "mmgp":
        raise CommandNotFoundError(f"{path} is another program, expected the command mmgp of the wheel of mbyp")
    expected = package_version()
    if expected is not None and version != expected:
        raise CommandNotFoundError(
            f"{path}: found version {version}, expected {expected}, that of the package mbyp: install both from "
            "one wheel, or unset MBYP_MMGP"
        )


def package_version() -> str | None:
    """The version of this package, where it is installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version("mbyp")
    except importlib.metadata.PackageNotFoundError:
        return None


def run(words: Sequence[str], progress: bool = False, silent: bool = False) -> Output:
    """Runs the command to its end.

    What it says on standard error goes on to ``sys.stderr`` line by line, unless it is ``silent``; with
    ``progress`` also what it shows while it works, on a terminal and in a notebook. Its warnings become Python's,
    of class `MbypWarning`. An interrupt (Ctrl-C) ends it within 0.1 s, with all that it started.

    Raises:
        InputError: it refuses what was given.
        InUseError: another process goes on in the folder.
        FileError: a file cannot be read or written.
        CommandNotFoundError: there is no such command.
        Error: it ended in another way.
    """
    code, text, notes = ended([found(), *words], Notes(progress, silent))
    said, doubts, refusal = sorted_notes(notes)
    for doubt in doubts:
        warnings.warn(spelled(doubt), MbypWarning, stacklevel=frames_of_package())
    if code in (0, 1) and not refusal:
        return Output(text, said, code)
    if code == 130:
        raise KeyboardInterrupt
    refuse(code, refusal or said, words)


def refuse(code: int, text: str, words: Sequence[str]) -> NoReturn:
    """Raises what the command says as the exception that it is."""
    if code != 2:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise Error(f"mmgp {words[0]} ended with {how}\n{text}".strip())
    text = ALTERNATIVES.sub(lambda match: match[1].replace("|", " or "), USAGE.sub("", text)).strip()
    if IN_USE in text:
        raise InUseError(spelled(text))
    if text.startswith(("cannot read ", "cannot write ")):
        raise FileError(text)
    head, type_, lines = text.partition("; type\n")
    given = answers(lines.splitlines(), words)
    if type_ and given:
        raise unclear(spelled(head), given)
    raise InputError(spelled(text))


def answered(words: Sequence[str], progress: bool = False) -> dict[str, Any]:
    """The object that a command prints as JSON. Raises as `run`."""
    return parsed(run(words, progress).text, words)


def parsed(text: str, words: Sequence[str]) -> dict[str, Any]:
    """An object of JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Error(f"mmgp {words[0]}: found {text[:60]!r}, expected its answer as JSON")
    return found


def ended(argv: Sequence[str], notes: Notes) -> tuple[int, str, str]:
    """Runs a program; its exit code, standard output and standard error."""
    terminal = notes.terminal()
    # One that came before the process is known would leave it behind.
    interrupts = HeldInterrupts()
    try:
        process = started(argv, None if terminal is None else terminal[1])
    except BaseException:
        if terminal is not None:
            os.close(terminal[0])
        interrupts.release()
        raise
    output, errors = process.stdout, process.stderr
    assert output is not None and (terminal is None) == (errors is not None)
    try:
        interrupts.release()
        watched = terminal[0] if terminal is not None else process.stderr.fileno()  # type: ignore[union-attr]
        text = read(output.fileno(), watched, notes)
        return process.wait(), text, notes.finished()
    except BaseException:
        end(process)
        raise
    finally:
        output.close()
        if errors is not None:
            errors.close()
        if terminal is not None:
            os.close(terminal[0])


def started(argv: Sequence[str], terminal: int | None) -> subprocess.Popen[bytes]:
    """A program in a group of processes of its own, so that all of it ends at once.

    Standard error goes to the end of a terminal, which is closed here, or to a pipe.
    """
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if terminal is None else terminal,
            start_new_session=True,
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"what was given is no text for a command: {error}") from None
    except OSError as error:
        raise Error(f"{argv[0]}: {error.strerror}") from None
    finally:
        if terminal is not None:
            os.close(terminal)


class HeldInterrupts:
    """Holds interrupts (Ctrl-C) back until they are released. Only the main thread gets any."""

    def __init__(self) -> None:
        self._came: list[Any] = []
        self._handler: Any = None
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            # What ignores them, or is not Python's own, stays.
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, lambda *given: self._came.append(given))

    def release(self) -> None:
        """Lets them come again, the first that was held back at once."""
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._came:
                self._handler(*self._came[0])


def read(output: int, errors: int, notes: Notes) -> str:
    """All of standard output, while standard error is passed on."""
    pieces: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ, pieces.append)
        selector.register(errors, selectors.EVENT_READ, notes.add)
        while selector.get_map():
            for key, _ in selector.select():
                try:
                    piece = os.read(key.fd, 65536)
                except OSError:
                    # A terminal whose other end is closed.
                    piece = b""
                if piece:
                    key.data(piece)
                else:
                    selector.unregister(key.fd)
    return b"".join(pieces).decode("utf-8", "replace")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program and all of its group: by an interrupt, and where that is not enough, at once."""
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(PATIENCE_S)
    except (subprocess.TimeoutExpired, ProcessLookupError):
        pass
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()


class Notes:
    """What a program says on standard error: kept, and shown as it comes but for warnings and errors."""

    def __init__(self, progress: bool, silent: bool = False) -> None:
        self._is_silent = silent
        self._is_terminal = is_terminal(sys.stderr)
        self._shows_bars = progress and (self._is_terminal or is_notebook(sys.stderr))
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._all: list[str] = []
        # The line that is not at its end yet, and how much of it was shown.
        self._line, self._shown = "", 0
        # Whether what comes is a part of an error or of a warning.
        self._held = ""

    def terminal(self) -> tuple[int, int] | None:
        """Both ends of a terminal for the program where it is to show bars: it shows them on no pipe."""
        if not self._shows_bars:
            return None
        import fcntl
        import pty
        import shutil
        import struct
        import termios

        ends = pty.openpty()
        size = shutil.get_terminal_size()
        fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", size.lines, size.columns, 0, 0))
        return ends

    def add(self, piece: bytes) -> None:
        """Takes what comes next."""
        text = self._decoder.decode(piece)
        self._all.append(text)
        for part in text.splitlines(keepends=True):
            self._line += part
            self._show(self._line.endswith("\n"))

    def _show(self, is_whole: bool) -> None:
        """Shows what is left of the line, unless it is, or may become, a warning or an error."""
        plain = last_drawn(self._line)
        if not self._shown:
            if plain.startswith("error:"):
                self._held = "error"
            elif plain.startswith("warning:"):
                self._held = "warning"
            elif self._held == "warning" and not plain.startswith("  ") and (is_whole or plain.strip()):
                self._held = ""
            may_become = any(it.startswith(plain) for it in ("error:", "warning:"))
            if not self._held and (is_whole or not may_become):
                self._pass_on()
        elif not self._held:
            self._pass_on()
        if is_whole:
            self._line, self._shown = "", 0

    def _pass_on(self) -> None:
        text = self._line[self._shown :]
        self._shown = len(self._line)
        if self._is_silent:
            return
        if not self._is_terminal:
            text = ESCAPES.sub("", text)
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):
            # Nobody may read it: work goes on.
            pass

    def finished(self) -> str:
        """All that was said, without colours and what was drawn over."""
        if self._line and not self._held and self._shown < len(self._line):
            self._pass_on()
        lines = "".join(self._all).split("\n")
        return "\n".join(last_drawn(line) for line in lines)


def last_drawn(line: str) -> str:
    """What is left to see of a line that was drawn over and over."""
    plain = ESCAPES.sub("", line).rstrip("\r\n")
    return plain.rsplit("\r", 1)[-1]


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def is_notebook(stream: Any) -> bool:
    """Whether a stream is that of a notebook's kernel, which draws lines anew as terminals do."""
    return type(stream).__module__.startswith("ipykernel")


def sorted_notes(notes: str) -> tuple[str, list[str], str]:
    """What was said, warnings, and the error, from standard error. Lines that are set in go on with a warning."""
    said: list[str] = []
    doubts: list[str] = []
    in_warning = False
    lines = notes.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("error: "):
            return "\n".join(said), doubts, "\n".join([line[len("error: ") :], *lines[number + 1 :]])
        if line.startswith("warning: "):
            doubts.append(line[len("warning: ") :])
            in_warning = True
        elif in_warning and line.startswith("  "):
            doubts[-1] += " " + line.strip()
        else:
            in_warning = False
            said.append(line)
    return "\n".join(said).strip(), doubts, ""


def frames_of_package() -> int:
    """How many frames above the caller of this function the first one is that is not of this package."""
    own, count = os.path.dirname(os.path.abspath(__file__)), 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == own:
        frame, count = frame.f_back, count + 1
    return count
