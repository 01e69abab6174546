"""Tables of numbers and names in CSV files.

The reader is Python's csv. NumPy's genfromtxt knows no quotes and makes nan of texts; its loadtxt knows no missing
fields, accepts an open quote, and takes 90 times as long for columns of names."""

import csv as reader
from numbers import Real
from typing import NamedTuple

import numpy as np

from alloy.data.files import existing, sentence
from alloy.engine.arrays import first_repeated, memory_for, require_all
from alloy.messages.location import meant

__all__ = ["Table", "csv"]

_FLOAT32 = float(np.finfo(np.float32).max)


class Table(NamedTuple):
    """The content of a CSV file: x (rows, columns), float32; y (rows,), the target's float32 values or int32 classes,
    or None; the names of x's columns; the names of the classes in order, or None."""

    x: np.ndarray
    y: np.ndarray | None
    columns: list
    classes: list | None


def csv(path, target=None, *, columns=None, categories=(), delimiter=",", header=True, missing=None) -> Table:
    """Reads a CSV file whose columns hold numbers, or names (`categories`).

    target: the column for y. columns: the columns for x; the default is all others. With a header, the first row,
    columns have names; without one they are 0, 1, 2, ...

    categories: the columns of names: a list, or a dictionary with the names that each may hold, in order. The default
    order is alphabetical, or numerical if all names are numbers. A target of names becomes classes 0, 1, ...; in x a
    column of names becomes a column "color=red" for each name, 1 in the rows with that name and 0 in others.

    missing: replaces empty fields and nan. None: such a field is a ValueError.

    ValueError: the file is missing or no text, a row has too few or too many fields, a field is no number or an unknown
    name; the message gives the line."""
    path = existing("csv", path)
    if missing is not None:
        require_all("csv", "a number as missing", Real, [missing])
    names, lines, rows = _rows(path, delimiter, header)
    categories = dict(categories) if isinstance(categories, dict) else dict.fromkeys(_listed(categories))
    wanted = [name for name in names if name != target] if columns is None else _listed(columns)
    known = set(names)
    for name in [*wanted, *categories, *([] if target is None else [target])]:
        if name not in known:
            near = meant(name, [str(each) for each in names]) if isinstance(name, str) else ""
            raise ValueError(f"[csv] Expected a column {name!r} in {path}, got {_shown(names)}{near}.")
    table = _Columns(path, lines, dict(zip(names, zip(*rows))), missing)
    parts, titles = [], []
    for name in wanted:
        if name in categories:
            chosen, known = table.classes(name, categories[name])
            parts.append(np.eye(len(known), dtype=np.float32)[chosen])
            titles += [f"{name}={each}" for each in known]
        else:
            parts.append(table.numbers(name)[:, None])
            titles.append(name)
    x = np.concatenate(parts, axis=1) if parts else np.empty((len(rows), 0), np.float32)
    if target is None:
        return Table(x, None, titles, None)
    y, classes = table.classes(target, categories[target]) if target in categories else (table.numbers(target), None)
    return Table(x, y, titles, classes)


def _listed(given):
    return [given] if isinstance(given, (str, int)) else list(given)


def _shown(names):
    return ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")


def _rows(path, delimiter, header):
    """Returns the columns' names, and each row's line number and fields."""
    try:
        with memory_for("csv", path), open(path, newline="", encoding="utf-8-sig") as file:
            found = reader.reader(file, delimiter=delimiter, strict=True)
            rows = [(found.line_num, [field.strip() for field in row]) for row in found if row]
    except (OSError, TypeError, UnicodeDecodeError, reader.Error) as error:
        raise ValueError(f"[csv] Expected a CSV file, got {path}: {sentence(error)}.") from error
    names: list = rows.pop(0)[1] if header and rows else list(range(len(rows[0][1]) if rows else 0))
    if not rows:
        raise ValueError(f"[csv] Expected one or more rows{' below the header' if names else ''} in {path}, got none.")
    if (twice := first_repeated(names)) is not None:
        raise ValueError(f"[csv] Expected a name of its own for each column of {path}, got {twice!r} twice.")
    for line, row in rows:
        if len(row) != len(names):
            raise ValueError(f"[csv] Expected {len(names)} fields in line {line} of {path}, got {len(row)}.")
    return names, [line for line, _ in rows], [row for _, row in rows]


class _Columns:
    """The fields of a file by their column."""

    def __init__(self, path, lines, fields, missing):
        self._path = path
        self._lines = lines
        self._fields = fields
        self._missing = missing

    def numbers(self, name):
        """Returns a column as float32."""
        numbers = []
        try:
            for field in self._fields[name]:
                numbers.append(float(field or "nan"))
        except ValueError:
            raise self._mistake(name, len(numbers), "a number", f"; categories=[{name!r}] would read names") from None
        found = np.array(numbers)
        for row in np.flatnonzero(~(np.abs(found) <= _FLOAT32)):  # also nan, which no comparison holds for
            if np.isnan(found[row]):
                if self._missing is None:
                    raise self._mistake(name, row, "a number", "; missing=0.0 would stand for it")
                found[row] = self._missing
            if abs(found[row]) > _FLOAT32:
                raise self._mistake(name, row, "a number that float32 can hold")
        return found.astype(np.float32)

    def classes(self, name, known):
        """Returns the position of each row's name among the known names, and these names."""
        fields = self._fields[name]
        known = _ordered({*fields} - {""}) if known is None else [str(each) for each in known]
        positions = {each: i for i, each in enumerate(known) if each}
        for row, field in enumerate(fields):
            if not field:
                raise self._mistake(name, row, "a name")
            if field not in positions:
                raise self._mistake(name, row, f"one of {_shown(known)}", meant(field, known))
        return np.array([positions[field] for field in fields], np.int32), known

    def _mistake(self, name, row, expected, hint=""):
        place = f"in column {name!r}, line {self._lines[row]} of {self._path}"
        return ValueError(f"[csv] Expected {place}, {expected}, got {self._fields[name][row]!r}{hint}.")


def _ordered(names):
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)
