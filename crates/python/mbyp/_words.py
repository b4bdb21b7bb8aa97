"""Keyword options as words of the command line, and what the command says with flags as keywords."""

from __future__ import annotations

import numbers
import operator
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import InputError

# Options whose number is a share: 0.05 is 5 %.
SHARES = frozenset({"until_expected", "until_regret", "within", "fail_above"})
# Options that may be given several times, once for each value; of others a list is one text with commas.
REPEATED = frozenset({"capture", "constant", "env", "ignore", "param", "rate_from", "scale", "time_from"})
# Options that would print something else than the answer.
OF_THE_COMMAND = frozenset({"help", "help_all", "version", "format"})

# A flag as the command spells it in a message, with the name of its value where that follows in < >.
FLAG = re.compile(
    r"(?<![\w-])(?:'--([a-z][a-z0-9-]*)(?:[ =]<[^>]*>)?(?:\.\.\.)?'|--([a-z][a-z0-9-]*)(?: <[A-Z]+>| [A-Z]{2,})?)(?![\w-])=?"
)


def keyword(flag: str) -> str:
    """The keyword of a flag without its hyphens: ``as`` and ``for`` are Python's own, and end with ``_``."""
    name = flag.replace("-", "_")
    return name + "_" if name in ("as", "for") else name


def spelled(text: str) -> str:
    """A message with its flags spelled as keywords: ``--where`` as ``where=``."""
    return FLAG.sub(lambda match: keyword(match[1] or match[2]) + "=", text)


def words(options: Mapping[str, Any]) -> list[str]:
    """Options as words: ``until_expected=0.05`` is ``--until-expected=5%``.

    ``True`` is the flag alone, ``None`` and ``False`` are nothing. A list is one text with commas, or the flag
    several times where it may be given so; a ``range`` is ``1..64+4``; a dictionary is ``name=value``, the flag
    once for each, of ``columns`` one text. A number of a share (``until_expected``, ``until_regret``, ``within``,
    ``fail_above``) is a fraction below 1. A ``timedelta`` is its seconds.

    Raises:
        InputError: a value that no flag can have.
    """
    found = []
    for name, value in options.items():
        plain = name.removesuffix("_")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", plain) or plain in OF_THE_COMMAND:
            raise InputError(f"{name}=: there is no such option")
        flag = "--" + plain.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
            continue
        found.extend(f"{flag}={text}" for text in texts(plain, value))
    return found


def texts(name: str, value: Any) -> list[str]:
    """The texts of the values of an option, one for each time that its flag is given."""
    if isinstance(value, Mapping):
        pairs = [f"{key}={joined(name, it)}" for key, it in value.items()]
        return [",".join(pairs)] if name == "columns" else pairs
    if name in REPEATED and is_list(value):
        return [joined(name, it) for it in value]
    return [joined(name, value)]


def is_list(value: Any) -> bool:
    """Whether a value is several: no text, no path, and none of numpy's arrays without a dimension."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return False
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def joined(name: str, value: Any) -> str:
    """A value, or several with commas between them."""
    if isinstance(value, range):
        return ranged(name, value)
    if not is_list(value):
        return one(name, value)
    found = [ranged(name, it) if isinstance(it, range) else one(name, it) for it in value]
    if not found:
        raise InputError(f"{name}=: found an empty list, expected a value")
    return ",".join(found)


def ranged(name: str, value: range) -> str:
    """A range as the command writes it, with its last value and its step: ``1..61+4``."""
    value = value if value.step > 0 else value[::-1]
    if not value:
        raise InputError(f"{name}=: found {value}, which is empty")
    if len(value) == 1:
        return str(value[0])
    return f"{value[0]}..{value[-1]}" + (f"+{value.step}" if value.step > 1 else "")


def one(name: str, value: Any) -> str:
    """A single value."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    if isinstance(value, bool) or value is None:
        raise InputError(f"{name}=: found {value!r} in a list, expected numbers or texts")
    if name in SHARES:
        return share(name, value)
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    if isinstance(value, numbers.Real) or hasattr(value, "__float__"):
        try:
            return repr(float(value))
        except (TypeError, ValueError, OverflowError):
            pass
    raise InputError(f"{name}=: found a {type(value).__name__}, expected a number, a text or a list of these")


def share(name: str, value: Any) -> str:
    """A fraction in per cent. What would be 100 % and more is rather per cent already, and refused."""
    expected = "expected a fraction below 1, as 0.05, or a text, as '5%'"
    try:
        fraction = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}=: found a {type(value).__name__}, {expected}") from None
    if not 0 <= fraction < 1:
        raise InputError(f"{name}=: found {fraction!r}, {expected}")
    return f"{100 * fraction:.12g}%"


def answers(lines: Iterable[str], known: Iterable[str]) -> list[dict[str, Any]]:
    """The answers in the commands that a refusal lists: what each has beyond the words that were given."""
    known, found = set(known), []
    for line in lines:
        command, _, meaning = line.partition("   # ")
        try:
            parts = shlex.split(command)
        except ValueError:
            continue
        for flag, value in zip(parts[1:], parts[2:]):
            if flag.startswith("--") and "=" not in flag and flag not in known:
                found.append({"key": keyword(flag[2:]), "value": value, "meaning": meaning.strip()})
    return found
