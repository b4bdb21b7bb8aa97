"""`emulate` and `study`: programs on the emulated machine, run by the command in a process of its own."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from . import _command
from ._answers import Answer
from ._errors import Error, InputError
from ._words import words

# The end of what a study says.
WHERE = re.compile(r"^(?:Everything|Share \S+ of .*) is in (.+)(?:; open .*|\. `mmgp merge .*)$", re.MULTILINE)


class EmulatedRun(Answer):
    """What a run on the emulated machine was: a dictionary whose entries are attributes, too.

    ``time_s``, ``hpu_busy_s`` and ``apu_busy_s`` are seconds, ``offload_mean_us`` and ``hpu_gap_mean_us``
    microseconds; ``functions`` has what was off-loaded, a dictionary for each; the rest is the program's own. As
    text it is a table.
    """

    _called = "run"


def emulate(
    app: str,
    machine: str | os.PathLike[str] = "qs20",
    m: int = 1,
    p: int = 1,
    *,
    progress: bool = True,
    **options: Any,
) -> EmulatedRun:
    """Runs a program once on the emulated machine.

    An interrupt (Ctrl-C) ends it within 0.1 s. Other threads of Python go on meanwhile.

    >>> run = emulate("pbpi", m=2, p=4, input="sim12", generations=5)  # doctest: +SKIP
    >>> run.time_s, run.functions[0]["name"]                           # doctest: +SKIP

    Args:
        app: pbpi, raxml, list-ranking, sweep3d, sgemm or synthetic.
        machine: A machine that is built in (qs20, qs20-cell, qs22, ps3, roadrunner), or a TOML file.
        m: Host processes.
        p: SPEs of each.
        progress: Show how far it is, on a terminal and in a notebook, where it takes longer than a second.
        options: Flags of ``mmgp emulate APP``: ``scheduler=``, ``input=``, ``generations=``, ``seed=``,
            ``trace="run.json"``, ``check_hazards=True`` and the others of the program.

    Raises:
        InputError: the command refuses it, as more SPEs than there are.
        Error: the run failed.
    """
    progress = progress and not options.pop("quiet", False)
    if str(options.get("trace")) == "-":
        raise InputError("trace=: found '-', expected a file: standard output has the answer")
    typed = ["emulate", app_name(app), *words({"machine": machine, "m": m, "p": p, **options}), "--format=json"]
    text = _command.run(typed, progress).text
    out = options.get("out")
    if not text and out is not None:
        text = Path(out).read_text(encoding="utf-8")
    return EmulatedRun(_command.parsed(text, typed))


class StudyResult:
    """What a study found, and the folder with all of its files. As text it is what the command prints."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        """The folder: runs, parameters, predictions, pictures and the page."""
        self.text = text
        """The answer in words."""

    @property
    def summary(self) -> dict[str, Any] | None:
        """summary.json: how far off each model was, what it chose; none where the study is a share (``shard=``)."""
        path = self.path / "summary.json"
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    @property
    def page(self) -> Path:
        """The page of the study."""
        return self.path / "report.html"

    def __repr__(self) -> str:
        return self.text.strip() or f"a study in {self.path}"


def study(
    app: str = "pbpi",
    machine: str | os.PathLike[str] = "qs20",
    out: str | os.PathLike[str] | None = None,
    *,
    progress: bool = True,
    **options: Any,
) -> StudyResult:
    """Does everything once: measures, fits, predicts, emulates every (m, p), compares, draws.

    The same call goes on where it was interrupted (Ctrl-C, within 0.1 s), and gives what is there where all is.

    Args:
        app: pbpi, raxml, list-ranking, sweep3d, sgemm or synthetic.
        machine: A machine that is built in (qs20, qs20-cell, qs22, ps3, roadrunner), or a TOML file.
        out: Folder for the files; mmgp-study unless it is given, or mmgp-study-2 and so on where that has a study
            of something else. What is in a folder that is given, of something else, is replaced, with a warning.
        progress: Show how far it is, on a terminal and in a notebook.
        options: Flags of ``mmgp study APP``: ``scheduler=``, ``input=``, ``generations=``, ``threads=``,
            ``shard="1/4"``, ``force=True`` and the others of the program.

    Raises:
        InputError: the command refuses it.
        InUseError: another process goes on in the folder.
    """
    progress = progress and not options.pop("quiet", False)
    typed = ["study", app_name(app), *words({"machine": machine, "out": out, **options})]
    text = _command.run(typed, progress).text
    where = WHERE.search(text)
    if where is None:
        raise Error(f"mmgp study: found {text[-60:]!r}, expected the folder at the end of its answer")
    return StudyResult(Path(where[1]), text)


def app_name(app: str) -> str:
    """The name of a program, refused where it would be a flag."""
    if not isinstance(app, str) or not app or app.startswith("-"):
        raise InputError(f"found {app!r}, expected the name of a program, as 'pbpi'")
    return app
