"""What is believed of a program: estimated from tables, asked for times, rankings and choices."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple

from . import _command, _frames, _mbyp
from ._answers import Answer
from ._errors import InputError, MbypWarning
from ._words import spelled, words

# What is said of how runs are read, which pictures of them need too.
READING = ("rate", "filter", "ignore", "keep_warm_up")

# The tables of `fit`, by keyword; each may be a file or a frame.
TABLES = ("runs", "alpha", "offload", "context_switch", "collective", "profile", "terms", "memory")


def fit(
    runs: Any = None,
    *,
    alpha: Any = None,
    offload: Any = None,
    context_switch: Any = None,
    collective: Any = None,
    profile: Any = None,
    terms: Any = None,
    memory: Any = None,
    columns: str | Mapping[str, str] | None = None,
    by: str | None = None,
    objective: str | None = None,
    **options: Any,
) -> Any:
    """What these tables tell of the times of a program: a `Belief`.

    Each table is a path, a frame of pandas, polars or pyarrow, a dict of columns, or a list of records (dicts).
    ``runs`` has a row for each timed run: m, p and a time, by any usual names. What is not understood is refused
    with what to say (``InputError.answers``). With ``by``, a dict with a belief for each value of that column.

    Args:
        runs: timed runs.
        alpha: concurrent matrix products: matrix_size, processes, repetition, time_s.
        offload: ping-pongs with an accelerator: bytes, repetition, round_trips, time_s.
        context_switch: processes that take turns: processes, repetition, switches, time_s.
        collective: collectives: operation, ranks, bytes, repetition, calls, time_s.
        profile: a sequential profile.
        terms: traced runs, as ``mmgp probe`` writes them.
        memory: accelerators that stream from one memory.
        columns: names that the runs have for m, p and time: ``"m=ranks,p=threads"`` or a dict.
        by: a column of which each value is a program or an input of its own.
        objective: what is measured where that is no time, as ``"joules"``.
        **options: every other flag of ``mmgp fit``: ``rate``, ``filter``, ``ignore``, ``keep_warm_up``, ``apus``,
            ``prior`` (a path, a published set or a `Belief`), ``require``, ``name`` ...

    Raises:
        InputError: a table that cannot be understood, or that cannot answer.

    >>> runs = {"m": [1, 2, 4, 1, 2, 1], "p": [1, 1, 1, 2, 2, 4], "time_s": [8.1, 4.3, 2.4, 4.2, 2.3, 2.2]}
    >>> belief = fit(runs)
    >>> belief.choose().m * belief.choose().p
    4
    """
    given = dict(zip(TABLES, (runs, alpha, offload, context_switch, collective, profile, terms, memory)))
    typed: dict[str, Any] = {}
    frames: list[tuple[str, Any]] = []
    kind = None
    for name, table in given.items():
        if table is None:
            continue
        if _frames.is_path(table):
            typed[name] = os.fspath(table)
            continue
        kind = kind or _frames.kind_of(table)
        typed[name] = "the frame"
        frames.append((name.replace("_", "-"), _frames.columns_of(table)))
    options.update(columns=columns, by=by, objective=objective)
    with _as_file(options.pop("prior", None)) as prior:
        found = _mbyp.fit(words({**typed, **options, "prior": prior}), frames)
    said = {name: options[name] for name in READING if options.get(name) is not None}
    seen = None if runs is None else Seen(runs, {**said, **({"columns": columns} if columns else {})})
    beliefs = [(value, Belief(core, kind, seen if by is None else None)) for value, core in found]
    for _, belief in beliefs:
        for text in belief.warnings:
            warnings.warn(text, MbypWarning, stacklevel=2)
    if by is not None:
        return dict(beliefs)
    return beliefs[0][1]


@contextlib.contextmanager
def _as_file(prior: Any) -> Iterator[Any]:
    """The file of a belief that stands for parameters, as long as it is needed; what else is given as it is."""
    if not isinstance(prior, Belief):
        yield prior
        return
    with _saved(prior) as path:
        yield path


def load(name: str | os.PathLike[str]) -> Belief:
    """The belief that a parameter file holds, or a published set (``"pbpi-qs20"``, ``"raxml-qs20"``).

    Raises:
        InputError: no parameter file.
        OSError: a file that cannot be read.

    >>> load("pbpi-qs20").choose()
    Run (4, 4): it takes about 32.07 s (19.83 s .. 51.85 s); it is expected to cost 16 %, at most 58 % (95 %).
    """
    text = os.fspath(name)
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    is_file = not isinstance(name, str) or any(it in text for it in "/\\.") or os.path.exists(text)
    return Belief(_mbyp.load(text, is_file), None)


class Prediction(NamedTuple):
    """A time with both ends of its 95 % interval: in seconds, or in the unit of what was measured."""

    time_s: Any
    low_s: Any
    high_s: Any


class Choice(Answer):
    """The configuration to run, and what it may cost.

    ``m``, ``p``; ``time_s``, ``low_s``, ``high_s`` [s]; ``expected_cost`` and ``costs_at_most`` (95 %) against
    knowing the best, as fractions; ``confirm``, the runs to make before relying on it.
    """

    def __str__(self) -> str:
        return str(self["sentence"])


class WhatIf(Answer):
    """The choice as things are, beside the choice as they would be: ``as_given``, ``changed``,
    ``as_given_after_change``; and the new ``choice``."""

    def __str__(self) -> str:
        said = str(self["choice"])
        before, changed, stayed = (self.get(it) or {} for it in ("as_given", "changed", "as_given_after_change"))
        is_other = (before.get("m"), before.get("p")) != (changed.get("m"), changed.get("p"))
        if is_other and "time_s" in stayed:
            more = 100 * (stayed["time_s"] / changed["time_s"] - 1)
            said += f" Staying with ({before['m']}, {before['p']}), the best as things are, takes {more:.1f} % more."
        return said


class Seen(NamedTuple):
    """The runs that a belief has seen: a path or a frame, and what was said of them."""

    table: Any
    said: dict[str, Any]


class Report:
    """What a fit found: as lines, as HTML in a notebook, as ``json``."""

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text, self.json = text, values

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(_shown(row.get(key)))}</td>" for key in ("term", "m", "value", "std_error", "source")
            )
            + "</tr>"
            for row in self.json.get("terms", ())
        )
        head = "<tr><th>term</th><th>m</th><th>value</th><th>standard error</th><th>from</th></tr>"
        return (
            f"<pre>{html.escape(self.text)}</pre><details><summary>terms</summary><table>{head}{rows}</table></details>"
        )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


class Picture:
    """A picture as SVG: shown in a notebook, written by `save` (.svg or .png)."""

    def __init__(self, svg: str, drawn: Any) -> None:
        self.svg, self._drawn = svg, drawn

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture of {len(self.svg)} bytes of SVG: save(path) writes it"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as SVG or PNG, by how the name ends."""
        self._drawn(path)


class Belief:
    """What is believed of the times of a program over (m, p). Made by `fit` or `load`."""

    def __init__(self, core: _mbyp.Belief, kind: str | None, seen: Seen | None = None) -> None:
        self._core, self._kind, self._seen = core, kind, seen

    @property
    def report(self) -> Report:
        """What the fit found; of loaded parameters, their terms."""
        core = self._core
        if core.report is None:
            return Report(core.formula, {"terms": self._explained()["terms"]})
        return Report(core.text or "", json.loads(core.report))

    @property
    def formula(self) -> str:
        """Equation 11 with its numbers; empty where the runs do not tell its terms."""
        return str(self._core.formula)

    @property
    def warnings(self) -> list[str]:
        """Doubts about the tables, each of which was a `MbypWarning` when they were fitted."""
        return [spelled(text) for is_note, text in self._core.warnings if not is_note]

    @property
    def notes(self) -> list[str]:
        """How the tables were understood."""
        return [spelled(text) for is_note, text in self._core.warnings if is_note]

    @property
    def terms(self) -> Any:
        """The terms of equation 11 as a frame: term, value, std_error and where each comes from."""
        rows = [dict(row) for row in self.report.json["terms"]]
        for row in rows:
            row.pop("combined_with", None)
        return _frames.of_rows(rows, self._frame(None))

    @property
    def apus(self) -> int:
        """How many accelerators, or hardware threads, there are."""
        return int(self._core.apus)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameter file, which `load` and ``mmgp predict --params`` read."""
        self._core.save(os.fspath(path))

    def rank(self, where: str | None = None, *, frame: str | None = None, **options: Any) -> Any:
        """Every configuration, the best first, as a frame of the kind that `fit` was given.

        Args:
            where: a condition, as ``"m*p <= cores and p <= 8"``.
            frame: the kind of frame: pandas, polars, pyarrow, dict, records.
            **options: every other flag of ``mmgp predict``: ``objective``, ``within``, ``top``, ``apus``,
                ``min_m`` ...

        >>> load("pbpi-qs20").rank("m <= 2", top=2, frame="records")[0]["p"]
        8
        """
        answer = self._ask(where=where, **options)
        rows = answer["configurations"]
        return _frames.of_rows(rows, self._frame(frame))

    def predict(self, m: Any, p: Any) -> Prediction:
        """The time of (m, p), or of many: of two arrays, series or lists, each in the kind that was given.

        Raises:
            InputError: something that is no configuration, or one with more APUs than there are.

        >>> load("pbpi-qs20").predict(4, 4).time_s
        32.06900206999975
        >>> load("pbpi-qs20").predict([1, 4], [1, 4]).time_s
        [373.82000206999777, 32.06900206999975]
        """
        if _is_single(m) and _is_single(p):
            ms, ps = _frames.counts("m", [m]), _frames.counts("p", [p])
            return Prediction(*(it[0] for it in _numbers(self._core.times(ms, ps))))
        if _is_single(m):
            m = [m] * len(p)
        elif _is_single(p):
            p = [p] * len(m)
        ms, ps = _frames.counts("m", m), _frames.counts("p", p)
        if len(ms) != len(ps):
            raise InputError(f"p=: found {len(ps) // 4} values, expected as many as of m, {len(ms) // 4}")
        times = self._core.times(ms, ps)
        given = next((it for it in (m, p) if _frames.is_array(it)), None)
        if given is None:
            return Prediction(*(it.tolist() for it in _numbers(times)))
        return Prediction(*(_like(given, it) for it in times))

    def choose(self, where: str | None = None, **options: Any) -> Choice:
        """The configuration to run: prints as the sentence of ``mmgp predict``. Options as of `rank`."""
        return Choice(self._ask(where=where, top=1, **options)["choice"])

    def explain(self, m: int | None = None, p: int | None = None, **options: Any) -> Answer:
        """Where the time of a configuration goes, the chosen one where none is named: ``breakdown``, and of each
        of the ``terms`` its value, its effect, and its share of the variance."""
        return Answer(self._explained(m=m, p=p, **options))

    def next(self, n: int = 5, *, noise: float | None = None, frame: str | None = None, **options: Any) -> Any:
        """The measurements that lower the expected regret of the choice most, as a frame: runs at (m, p), and
        micro-benchmarks of terms."""
        answer = self._ask(next=True, noise=noise, top=n, **options)
        return _frames.of_rows(answer["measurements"], self._frame(frame))

    def what_if(
        self, *, apus: int | None = None, machine: str | None = None, scale: Any = None, **options: Any
    ) -> WhatIf:
        """The choice if there were ``apus``, or if terms were so many times as large: ``scale={"t_apu_s": 4}``.

        >>> load("pbpi-qs20").what_if(apus=32).changed["p"]
        5
        """
        answer = self._ask(apus=apus, machine=machine, scale=scale, top=1, **options)
        changed = answer.get("what_if") or {}
        return WhatIf({**changed, "choice": Choice(answer["choice"])})

    def plot(self, kind: str = "heat-map", **options: Any) -> Picture:
        """A picture of ``mmgp plot``: heat-map, all, m, p, combined, parity, residuals, breakdown, pareto ...
        Options are the flags of that command."""
        kind = kind.replace("_", "-")

        def drawn(path: str | os.PathLike[str]) -> None:
            with _saved(self) as params:
                timed = {}
                if not {"runs", "predictions", "validation", "study"} & set(options):
                    timed = self._runs(params.parent) or self._predictions(params.parent)
                given = {"params": params, "kind": kind, **timed, **options, "out": path}
                _command.run(["plot", *words(given)], silent=True)

        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "picture.svg")
            drawn(path)
            return Picture(path.read_text(encoding="utf-8"), drawn)

    def page(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the page of ``mmgp report``: one HTML file with answer, pictures, tables and what-if."""
        with _saved(self) as params:
            timed = {} if "runs" in options else self._runs(params.parent)
            given = {**timed, **options, "out": path}
            _command.run(["report", str(params), *words(given)], silent=True)

    def __repr__(self) -> str:
        return f"Belief over {self.apus} APUs: {self.formula or 'the runs do not tell the terms of equation 11'}"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def _runs(self, folder: Path) -> dict[str, Any]:
        """The file of the runs that it has seen, and what was said of them; nothing where there were none."""
        if self._seen is None:
            return {}
        if _frames.is_path(self._seen.table):
            path = Path(os.fspath(self._seen.table))
        else:
            path = folder / "runs.csv"
            _frames.write_csv(self._seen.table, path)
        return {"runs": path, **self._seen.said}

    def _predictions(self, folder: Path) -> dict[str, Any]:
        """A file of what is predicted."""
        path = folder / "predictions.csv"
        _frames.write_csv(self.rank(frame="records"), path)
        return {"predictions": path}

    def _frame(self, kind: str | None) -> str:
        return kind or self._kind or _frames.usual_kind()

    def _explained(self, **options: Any) -> dict[str, Any]:
        return self._ask(explain=True, **options)

    def _ask(self, **options: Any) -> dict[str, Any]:
        text, told = self._core.ask(words(options))
        for is_note, warning in told:
            if not is_note:
                warnings.warn(spelled(warning), MbypWarning, stacklevel=_command.frames_of_package())
        found: dict[str, Any] = json.loads(text)
        return found


# The name of the file.
PARAMETERS = "params.toml"


@contextlib.contextmanager
def _saved(belief: Belief) -> Iterator[Path]:
    """A parameter file of a belief, as long as something reads it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, PARAMETERS)
        belief.save(path)
        yield path


def _is_single(value: Any) -> bool:
    """Whether a value is one number rather than several."""
    return not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0


def _numbers(times: Any) -> list[Any]:
    import array

    return [array.array("d", it) for it in times]


def _like(given: Any, times: bytes) -> Any:
    """Times as what was given: an array, or a series of pandas or polars."""
    import numpy

    plain = numpy.frombuffer(times, dtype="=f8")
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return type(given)(plain, index=given.index) if hasattr(given, "index") else type(given)(plain)
    if library == "polars":
        return type(given)(plain)
    return plain
