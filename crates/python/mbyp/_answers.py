"""Answers of the command: dictionaries whose entries are attributes, too, and that print as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Answer(dict[str, Any]):
    """What a question was answered, by key and by attribute, in the words of the command's JSON."""

    _called = "answer"

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"this {self._called} has no {name!r}; it has {', '.join(self)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __str__(self) -> str:
        return "\n\n".join(block for block in blocks(self) if block)

    def __repr__(self) -> str:
        return str(self)


def blocks(found: Mapping[str, Any]) -> list[str]:
    """The numbers and names one below the other, then each list of rows as a table."""
    plain = {key: value for key, value in found.items() if not isinstance(value, (list, dict))}
    tables = {key: value for key, value in found.items() if isinstance(value, list)}
    width = max(map(len, plain), default=0)
    above = "\n".join(f"{key:{width}}  {value}" for key, value in plain.items())
    return [above, *(table(key, rows) for key, rows in tables.items())]


def table(name: str, rows: list[Any]) -> str:
    """Rows below the names of their columns; what is no row stands in one line."""
    if not rows:
        return ""
    if not all(isinstance(row, dict) for row in rows):
        return f"{name}  {', '.join(map(str, rows))}"
    columns = list(dict.fromkeys(key for row in rows for key in row))
    shown = [columns, *([cell(row.get(key, "")) for key in columns] for row in rows)]
    widths = [max(len(line[index]) for line in shown) for index in range(len(columns))]
    lines = ("  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in shown)
    return "\n".join([f"{name}:", *lines])


def cell(value: Any) -> str:
    """A value of a table."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
