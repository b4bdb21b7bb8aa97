"""Frames: what a table may be when it comes in, and of which kind it goes out.

What comes in becomes columns that the extension reads without a loop over rows in Python: by the Arrow
interface where a frame has one, else column by column.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ._errors import InputError

# The kinds of frames that an answer may be, in the order in which a caller who has shown none is given them.
KINDS = ("pandas", "polars", "pyarrow", "dict", "records")

# A column as the extension reads it: its name, how its values come, these, and the texts of categories.
Column = tuple[str, str, Any, Optional[list[Optional[str]]]]


def is_path(table: Any) -> bool:
    """Whether a table is the name of a file."""
    return isinstance(table, (str, os.PathLike))


def kind_of(table: Any) -> str | None:
    """The kind of a frame; nothing for a file."""
    library = type(table).__module__.partition(".")[0]
    if library in KINDS:
        return library
    if isinstance(table, Mapping):
        return "dict"
    if isinstance(table, Sequence) and not is_path(table):
        return "records"
    return None


def usual_kind() -> str:
    """The kind for who has shown none: what the caller's program has imported, else records."""
    return next((kind for kind in KINDS[:3] if kind in sys.modules), "records")


def columns_of(table: Any) -> Any:
    """A table as the extension reads it: an object with the Arrow interface, or a list of columns.

    Raises:
        InputError: it is no table.
    """
    kind = kind_of(table)
    if kind == "pandas":
        if has_pyarrow():
            return table
        return [column(str(name), table[name]) for name in unique(table.columns)]
    if hasattr(table, "__arrow_c_stream__"):
        return table
    if kind == "dict":
        return [column(str(name), values) for name, values in table.items()]
    if kind == "records":
        return of_records(table)
    raise InputError(
        f"found a {type(table).__name__}, expected a path, a frame (pandas, polars, pyarrow), a dict of columns "
        "or a list of records"
    )


def has_pyarrow() -> bool:
    """Whether pandas can offer the Arrow interface."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def unique(names: Iterable[Any]) -> list[Any]:
    """Names of columns, each of which must be there once."""
    names = [*names]
    double = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if double is not None:
        raise InputError(f"the frame has several columns with the name {double!r}, expected one")
    return names


def of_records(records: Sequence[Any]) -> list[Column]:
    """Columns of a list of records: what one lacks is missing."""
    names: dict[str, None] = {}
    for place, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputError(f"record {place} is a {type(record).__name__}, expected a dict")
        names.update(dict.fromkeys(record))
    return [(str(name), "list", [record.get(name) for record in records], None) for name in names]


def column(name: str, values: Any) -> Column:
    """A column: the array of its numbers where it has a type for all, else a list of its values."""
    categories = getattr(getattr(values, "cat", None), "categories", None)
    if categories is not None:
        codes = values.cat.codes.to_numpy().astype("<i4", copy=False)
        return (name, "codes", codes, [None if it is None else str(it) for it in categories])
    dtype = getattr(values, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is not None and getattr(values, "ndim", 1) != 1:
        raise InputError(f"column {name!r} has {values.ndim} dimensions, expected one")
    if kind in ("i", "u", "b") and has_plain(values):
        return (name, "i8", as_array(values).astype("<i8", copy=False), None)
    if kind == "f" and has_plain(values):
        return (name, "f8", as_array(values).astype("<f8", copy=False), None)
    if kind == "m":
        seconds = as_array(values).astype("timedelta64[ns]").astype("<f8") / 1e9
        seconds[as_array(values) != as_array(values)] = float("nan")
        return (f"{name} [s]", "f8", seconds, None)
    if hasattr(values, "to_list"):
        values = values.to_list()
    elif hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputError(f"column {name!r} is a {type(values).__name__}, expected a list or an array")
    return (name, "list", list(values), None)


def has_plain(values: Any) -> bool:
    """Whether values lie as plain numbers, without a mask beside them."""
    return type(getattr(values, "dtype", None)).__module__.partition(".")[0] == "numpy"


def as_array(values: Any) -> Any:
    """The array of a column."""
    return values.to_numpy() if hasattr(values, "to_numpy") else values


def write_csv(table: Any, path: Any) -> None:
    """Writes a table as a CSV file, for a command that reads it: no fast way, for pictures."""
    import csv

    kind = kind_of(table)
    if kind == "pandas":
        table.to_csv(path, index=False)
        return
    if kind == "polars":
        table.write_csv(path)
        return
    if kind == "pyarrow":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path)
        return
    columns = table
    if kind == "records":
        columns = {name: values for name, _, values, _ in of_records(table)}
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def frame(columns: dict[str, list[Any]], kind: str) -> Any:
    """A frame of a kind with these columns.

    Raises:
        InputError: there is no such kind, or its library is not installed.
    """
    if kind not in KINDS:
        raise InputError(f"frame=: found {kind!r}, expected one of {', '.join(KINDS)}")
    try:
        if kind == "pandas":
            import pandas

            return pandas.DataFrame({name: with_nan(values) for name, values in columns.items()})
        if kind == "polars":
            import polars

            return polars.DataFrame(columns)
        if kind == "pyarrow":
            import pyarrow

            return pyarrow.table(columns)
    except ImportError:
        raise InputError(f"frame=: {kind} is not installed") from None
    if kind == "dict":
        return columns
    names = list(columns)
    return [dict(zip(names, row)) for row in zip(*columns.values())]


def of_rows(rows: Sequence[Mapping[str, Any]], kind: str) -> Any:
    """A frame of rows by their keys; what one lacks is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    return frame({name: [row.get(name) for row in rows] for name in names}, kind)


def with_nan(values: list[Any]) -> list[Any]:
    """A column of numbers whose missing ones are NaN, as pandas has them; texts as they are."""
    if all(it is None or isinstance(it, (int, float)) for it in values):
        return [float("nan") if it is None else it for it in values]
    return values


def is_array(values: Any) -> bool:
    """Whether values are an array of numpy, or a column that gives one."""
    return hasattr(values, "dtype") and hasattr(values, "__array__")


def counts(name: str, values: Any) -> bytes:
    """Whole numbers of at least 1 as bytes of four each.

    Raises:
        InputError: something else is among them.
    """
    import array

    expected = "expected whole numbers from 1 to 4294967295"
    if is_array(values):
        import numpy

        plain = numpy.asarray(values)
        if plain.dtype.kind not in "iuf" or plain.ndim > 1:
            raise InputError(f"{name}=: found an array of {plain.dtype} with {plain.ndim} dimensions, {expected}")
        wrong = ~((plain >= 1) & (plain <= 0xFFFFFFFF) & (plain == numpy.floor(plain)))
        if wrong.any():
            raise InputError(f"{name}=: found {plain[wrong].flat[0]}, {expected}")
        return plain.astype("=u4").tobytes()
    try:
        return array.array("I", values).tobytes()
    except (TypeError, OverflowError, ValueError):
        raise InputError(f"{name}=: found {shown(values)}, {expected}") from None


def shown(value: Any) -> str:
    """A value, cut where it is long."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
