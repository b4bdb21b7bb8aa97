"""`Tuner`: which (m, p) to run next, and which is best, on the log of ``mmgp tune``."""

from __future__ import annotations

import functools
import inspect
import json
import os
import subprocess
import time as clock
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from . import _command
from ._command import frames_of_package
from ._errors import InputError, MbypWarning
from ._words import is_list, words

# The options that say what may be run, and those that say when to stop.
SPACE = frozenset({"m", "p", "where", "constant", "configurations", "param", "per_node", "tasks", "names", "as"})
GOALS = frozenset({"until_expected", "until_regret", "for"})
# What else a search is told: the other keys of tune.toml are of who starts its runs.
OTHERS = frozenset({"objective", "within", "baseline", "seed"})
# How long to wait at first, and at most, before asking again while others have all runs in hand [s].
FIRST_WAIT_S, LONGEST_WAIT_S = 0.05, 1.0
# After so long without a run a warning says what is waited for [s].
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Trial:
    """A run that is asked for. Its further factors are attributes, too, and ``m, p = trial`` takes it apart."""

    m: int
    """Processes."""
    p: int
    """Threads or accelerators of each."""
    id: int | None = None
    """Number by which it is told."""
    nodes: int = 1
    """Nodes that it takes, where ``per_node`` was given."""
    repetition: int = 1
    """Number among the runs of its configuration."""
    params: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further factors, values as texts."""

    def __iter__(self) -> Iterator[int]:
        return iter((self.m, self.p))

    def __getattr__(self, name: str) -> str:
        # Called for what is no field; while it is unpickled there are none yet.
        params: Mapping[str, str] = self.__dict__.get("params", {})
        if name in params:
            return params[name]
        raise AttributeError(f"a trial has no {name!r}" + (f"; its factors: {', '.join(params)}" if params else ""))


@dataclass(frozen=True)
class Best:
    """What is best of what ran, and how sure that is. ``m, p = best`` takes it apart; as text it is the sentence."""

    m: int
    """Processes."""
    p: int
    """Threads or accelerators of each."""
    time: float | None
    """The time that it takes [s], where times are measured."""
    value: float | None
    """What ``objective=`` is there, where that is not the time alone."""
    unit: str | None
    """The unit of the value."""
    expected_cost: float | None
    """By how much longer than the fastest it is expected to take, as a fraction; none where nothing is known yet."""
    costs_at_most: float | None
    """By how much longer than the fastest it takes at most (95 %), as a fraction."""
    measured: int
    """How often it ran well."""
    params: Mapping[str, str]
    """Further factors, values as texts."""
    sentence: str
    """All of it in words, those of ``mmgp tune``."""

    def __iter__(self) -> Iterator[int]:
        return iter((self.m, self.p))

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


class Tuner:
    """Says which (m, p) to run next, takes what came of it, and stops when the choice is good enough.

    All goes by the log in the folder ``out``: that of ``mmgp tune``, ``ask`` and ``tell``, which go on with it, as
    it goes on with theirs. Several processes may share it; each asks with a name, ``worker=``. Where nothing is
    said of what may be run, it is what was declared in the folder before, if anything was.

    >>> tuner = Tuner(m="1..64*2", p=[1, 2, 4, 8], where="m*p <= 64", out="tune")  # doctest: +SKIP
    >>> while trial := tuner.ask():                                                # doctest: +SKIP
    ...     tuner.tell(trial, time=my_program(ranks=trial.m, threads=trial.p))
    >>> print(tuner.best)                                                          # doctest: +SKIP

    Args:
        m: Values of m, processes: a number, a list, a ``range``, or a text (``"1..64*2"``).
        p: Values of p, threads or accelerators of each process, in the same way.
        until_expected: Stop once the choice is expected to take at most this longer than the fastest, as a
            fraction; 0.05 unless this, ``until_regret=`` or ``for_=`` is given.
        out: Folder of the log and of all that follows from it.
        worker: Name of this driver where several ask at once, unless one is given to `ask`. What is handed out is
            reserved for it until that is told.
        repair: Take damaged lines out of the log first; a copy of it stays.
        options: Further flags of ``mmgp ask``: ``where=``, ``constant=``, ``param={"scheme": ["static",
            "dynamic"]}``, ``configurations=``, ``per_node=``, ``tasks=``, ``names=``, ``as_=``, ``until_regret=``,
            ``for_=``, ``objective=``, ``within=``, ``baseline=(8, 1)``, ``seed=``.

    Raises:
        InputError: the command refuses it, as where no (m, p) meets ``where=``.
    """

    def __init__(
        self,
        m: Any = None,
        p: Any = None,
        until_expected: float | str | None = None,
        out: str | os.PathLike[str] = "tune",
        *,
        worker: str | None = None,
        repair: bool = False,
        **options: Any,
    ) -> None:
        for name in ("count", "worker", "id"):
            if name in options:
                raise InputError(f"{name}=: give it to ask")
        self.out = Path(out)
        self.worker = worker
        declared = {"m": m, "p": p, "until_expected": until_expected, **options}
        declared = {name.rstrip("_"): value for name, value in declared.items() if value is not None}
        if not SPACE & set(declared):
            declared = {**kept(self.out, declared), **declared}
        self._objective = declared.get("objective")
        self._declared = words({**declared, "out": self.out})
        # What cannot be is refused here and not in the midst of a job.
        answer = self._asked(words({"repair": repair}))
        # Or another quantity, which objective= names.
        self.measures_time = "time_s" in answer

    def __repr__(self) -> str:
        return f"Tuner({' '.join(self._declared)})"

    def _asked(self, further: list[str]) -> dict[str, Any]:
        return _command.answered(["ask", *self._declared, *further])

    @overload
    def ask(self, worker: str | None = None, n: None = None, wait: bool = True) -> Trial | None: ...
    @overload
    def ask(self, worker: str | None = None, *, n: int, wait: bool = True) -> list[Trial]: ...

    def ask(self, worker: str | None = None, n: int | None = None, wait: bool = True) -> Trial | list[Trial] | None:
        """What to run next; none where nothing is left to run.

        Asked again without being told anything, it says the same.

        Args:
            worker: Name of who asks, where several do at once: each gets runs that no other has, and those that it
                has already until they are told.
            n: So many runs at most, as a list, those that the worker has in hand among them.
            wait: Wait where all runs that are worth making are in the hands of other workers; else they are none.

        Raises:
            InputError: the command refuses it.
        """
        worker = self.worker if worker is None else worker
        further = words({"worker": worker, "count": n})
        pause, waited = FIRST_WAIT_S, 0.0
        while True:
            answer = self._asked(further)
            trials = [trial_of(run) for run in answer["runs"]]
            if trials or not wait or not answer.get("waiting"):
                break
            if waited < PATIENCE_S <= waited + pause:
                warnings.warn(
                    f"waiting for {answer['waiting']} runs that other workers have in hand; of workers that are gone, "
                    f"tell these as failed, or ask with their names ({self.out / 'asked.json'} has them)",
                    MbypWarning,
                    stacklevel=frames_of_package(),
                )
            clock.sleep(pause)
            waited, pause = waited + pause, min(2 * pause, LONGEST_WAIT_S)
        if n is not None:
            return trials
        return trials[0] if trials else None

    def tell(
        self,
        trial: Trial | tuple[int, int] | Mapping[str, Any],
        time: Any = None,
        *,
        failed: str | None = None,
        above: Any = None,
        value: float | None = None,
    ) -> None:
        """Writes down what came of a run, whether it was asked for or not: exactly one of the four.

        Args:
            trial: What `ask` gave, a pair (m, p), or a dictionary with m, p and further factors.
            time: It took this: seconds, a ``timedelta``, or a text as ``"90ms"``.
            failed: It failed, for this reason: it is not to be chosen.
            above: It was stopped after this: it takes longer.
            value: What it measured instead of a time, of what ``objective=`` names: a number above 0.

        Raises:
            InputError: what was told is out of range, was told before, or is of an (m, p) that was not declared.
            InUseError: ``mmgp tune`` is running in the folder.
        """
        trial = trial_of(trial)
        if value is not None and self.measures_time:
            raise InputError(f"value=: found {value!r}, expected time=, or a Tuner whose objective= names what it is")
        # The name of what is measured belongs to the value alone.
        objective = None if value is None else self._objective
        reason = None if failed is None else first_line(failed)
        said = {"id": trial.id, "m": trial.m, "p": trial.p, "param": trial.params or None, "time": time}
        said.update({"failed": reason, "above": above, "value": value, "objective": objective})
        _command.run(["tell", *words({"out": self.out, **said})])

    def tell_results(self, path: str | os.PathLike[str], **options: Any) -> str:
        """Takes what another engine wrote of runs that it was given, and says how many were new.

        Args:
            path: Tasks of HyperQueue as JSON, a job log of GNU parallel, or a table in any form that ``mmgp look``
                understands, with a column id where there are ids.
            options: What the table does not say itself: ``columns={"m": "ranks", "time": "elapsed_ms"}``,
                ``rate=``, ``filter=``, ``ignore=``, ``objective=``.

        Raises:
            InputError: it is not understood, or has what was not declared; nothing is told then. ``answers`` says
                what would make it clear.
        """
        options.setdefault("objective", self._objective)
        return _command.run(["tell", *words({"out": self.out, "results": Path(path), **options})]).said

    @property
    def best(self) -> Best | None:
        """What is best of all that was told so far; none where nothing ran well."""
        found = _command.answered(["show", os.fspath(self.out), "--format=json"])
        if found["best"] is None:
            return None
        m, p = found["best"]
        return Best(
            m=m,
            p=p,
            time=found.get("time_s"),
            value=next((found[key] for key in ("objective", "amount", "rate") if key in found), None),
            unit=found.get("unit"),
            expected_cost=found["expected_regret"],
            costs_at_most=found["regret_95"],
            measured=found["measured"],
            params=found.get("params", {}),
            sentence=found["sentence"],
        )

    @property
    def done(self) -> bool:
        """Whether nothing is left to run: the choice is good enough, or all ran."""
        return bool(self._asked([])["done"])

    @property
    def why(self) -> str | None:
        """Why nothing is left to run: settled, alike (what cannot be told apart), runs or exhausted; or none."""
        return self._asked([]).get("why")

    def configurations(self) -> list[tuple[int, int]]:
        """All (m, p) that may be run, by m, then p."""
        text = (self.out / "configurations.csv").read_text(encoding="utf-8")
        rows = (line.split(",") for line in text.split()[1:])
        return [(int(m), int(p)) for m, p in rows]

    def results(self) -> list[dict[str, Any]]:
        """All attempts in the log as rows, in their order: id, m, p, status, time_s and the other fields of log.jsonl.

        Further factors are columns as well, unless a field has their name.

        Raises:
            InputError: a line is damaged; ``Tuner(repair=True)`` takes it out.
        """
        path = self.out / "log.jsonl"
        rows = []
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
        # Behind the last end of a line another process may be writing.
        for number, line in enumerate(lines[:-1], start=1):
            try:
                row = json.loads(line)
                rows.append({**row.get("params", {}), **row})
            except (ValueError, AttributeError, TypeError):
                raise InputError(
                    f"{path}:{number}: found {line[:60]!r}, expected an attempt as JSON; repair=True takes damaged "
                    "lines out"
                ) from None
        return rows

    def run(
        self,
        function: Callable[..., Any],
        *,
        worker: str | None = None,
        most_failures: int = 3,
        runs: int | None = None,
        budget: float | None = None,
    ) -> Best | None:
        """Asks, calls the function, tells what came of it, until nothing is left to run; what is best then.

        The function is called with m, p and further factors by their names, or with the trial where it takes one
        argument (of another name than m). What it returns is the time [s], or the value of ``objective=``; where it
        returns nothing the call is timed. What it raises is told as failed, `subprocess.TimeoutExpired` as stopped
        after its timeout.

        Args:
            worker: Name of this driver, where several run at once.
            most_failures: After so many failed calls in a row, the last of their exceptions is raised.
            runs: Stop after so many calls.
            budget: Stop once the calls took so long together [s].

        Raises:
            InputError: the function takes other arguments, or returns what is neither a number nor nothing.
        """
        called, failures, begin = 0, 0, clock.monotonic()
        bound = binder_of(function)
        while runs is None or called < runs:
            if budget is not None and clock.monotonic() - begin >= budget:
                break
            trial = self.ask(worker)
            if trial is None:
                break
            called += 1
            call = bound(trial)
            started = clock.perf_counter()
            try:
                found = call()
                took = clock.perf_counter() - started
            except subprocess.TimeoutExpired as error:
                self.tell(trial, above=error.timeout)
                continue
            except Exception as error:
                self.tell(trial, failed=f"{type(error).__name__}: {error}")
                failures += 1
                if failures >= most_failures:
                    raise
                continue
            failures = 0
            self._tell_found(trial, found, took)
        return self.best

    def _tell_found(self, trial: Trial, found: Any, took: float) -> None:
        """Tells what a function returned, or how long the call took where it returned nothing."""
        if isinstance(found, (bool, str, bytes)) or (found is not None and not hasattr(found, "__float__")):
            raise InputError(f"the function returned {found!r}, expected its time in seconds, or None")
        if not self.measures_time:
            if found is None:
                raise InputError(f"the function returned nothing, expected the value of objective={self._objective!r}")
            self.tell(trial, value=float(found))
        else:
            self.tell(trial, took if found is None else float(found))


def kept(folder: Path, instead: Mapping[str, Any]) -> dict[str, Any]:
    """What was declared in a folder, as its tune.toml says, without goals where there is one ``instead``.

    The command writes a line for each flag, a value as JSON has it.
    """
    path = folder / "tune.toml"
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        flag, _, value = line.partition(" = ")
        name = flag.replace("-", "_")
        is_displaced = name in GOALS and GOALS & set(instead)
        if name in SPACE | GOALS | OTHERS and not is_displaced:
            try:
                found[name] = json.loads(value)
            except ValueError:
                raise InputError(f"{path}: found {line!r}, expected a flag as mmgp writes it") from None
    return found


def trial_of(given: Any) -> Trial:
    """A trial of what `Tuner.ask` gave, of an object with its fields, or of a pair."""
    if isinstance(given, Trial):
        return given
    if isinstance(given, Mapping):
        fields = {name: value for name, value in given.items() if name in ("m", "p", "id", "nodes", "repetition")}
        factors = {name: value for name, value in given.items() if name not in fields and name != "params"}
        factors.update(given.get("params") or {})
        if "m" in fields and "p" in fields:
            return Trial(**fields, params=factors)
    elif is_list(given):
        pair = tuple(given)
        if len(pair) == 2:
            return Trial(*pair)
    raise InputError(f"found {given!r}, expected what ask gave, a pair (m, p), or a dictionary with m and p")


def first_line(reason: Any) -> str:
    """The first line of a reason that has anything in it."""
    lines: Iterable[str] = (line.strip() for line in str(reason).splitlines())
    return next((line for line in lines if line), "no reason given")


def binder_of(function: Callable[..., Any]) -> Callable[[Trial], Callable[[], Any]]:
    """What makes a call of a function for a trial, by the arguments that it takes.

    Raises:
        InputError: it takes neither a trial nor m, p and the further factors.
    """
    if not callable(function):
        raise InputError(f"found {function!r}, expected a function of m and p, or of a trial")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Functions of C do not always say.
        return lambda trial: functools.partial(function, trial.m, trial.p, **trial.params)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [it for it in signature.parameters.values() if it.kind in positional and it.default is it.empty]
    if len(needed) == 1 and needed[0].name != "m":
        return lambda trial: functools.partial(function, trial)

    def bound(trial: Trial) -> Callable[[], Any]:
        try:
            signature.bind(trial.m, trial.p, **trial.params)
        except TypeError as error:
            names = ", ".join(["m", "p", *trial.params])
            raise InputError(f"{function!r} cannot be called with {names}, nor with a trial: {error}") from None
        return functools.partial(function, trial.m, trial.p, **trial.params)

    return bound
