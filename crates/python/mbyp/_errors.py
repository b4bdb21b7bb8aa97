"""What can go wrong, and what is said beside an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Error(Exception):
    """Why something could not be done, in the words of the command, with what the caller can do."""


class InputError(Error, ValueError):
    """What was given cannot be understood, or is out of range.

    ``answers`` has what would make it clear where there are several readings, the likeliest first:
    dictionaries with ``key`` (the keyword), ``value`` (what to give it) and ``meaning``.
    """

    answers: list[dict[str, Any]]

    def __init__(self, message: str = "", answers: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.answers = list(answers)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.answers)


class InUseError(Error):
    """Another process goes on with a folder. Wait for its end, or use another folder."""


class CommandNotFoundError(Error):
    """The command ``mmgp`` is not there, or is of another version than this package."""


class MbypWarning(UserWarning):
    """A doubt about an answer, which holds all the same."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


def unclear(text: str, answers: list[dict[str, Any]]) -> InputError:
    """The exception for what is not understood, with a line for each answer that would make it clear."""
    if not answers:
        return InputError(text)
    shown = [f"  {it['key']}={it['value']!r}" + (it["meaning"] and f"   # {it['meaning']}") for it in answers]
    return InputError("\n".join([text + "; say", *shown]), answers)


def of(kind: str, text: str, answers: Iterable[tuple[str, str, str]]) -> Error:
    """The exception for what the extension could not do: ``input``, ``system``, ``in use`` or ``failed``."""
    from ._words import keyword, spelled

    if kind == "input":
        given = [{"key": keyword(key), "value": value, "meaning": meaning} for key, value, meaning in answers]
        return unclear(spelled(text), given)
    of_kind = {"system": FileError, "in use": InUseError}
    return of_kind.get(kind, Error)(spelled(text))
