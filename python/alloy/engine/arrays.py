"""Checks of arguments in Python, and arrays that a run reads in place. The engine's bindings check
and cast everything else that Python passes: csrc/bindings/arrays.h."""

import json
import math
import mmap
import os
from contextlib import contextmanager
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from alloy._core import as_dtype, as_shape
from alloy.engine.dtypes import float32, numpy_dtype
from alloy.messages.location import meant, mistake

SCALARS = (bool, int, float, complex, np.generic)


def empty(shape, dtype: str = float32) -> np.ndarray:
    """Makes a NumPy array with undefined contents in page-aligned memory, so that feeding it copies nothing.

    The device reads such an array, or a packed slice of one that is page-aligned too, in place: during the call, while
    no other thread may change it. Each call copies other arrays, and arrays of less than 32 KiB. So fill one array with
    batch after batch: np.take(images, rows, axis=0, out=batch, mode="clip").

    shape: integers, or one of them for one axis. dtype: as in placeholder. MemoryError: there is not enough memory."""
    extents: Any = (shape,) if isinstance(shape, (int, np.integer)) else shape
    given, name = as_shape(extents, "empty"), as_dtype(dtype, "empty")
    if given is None or None in given:
        raise mistake("empty", f"Expected a shape of integers, got {shape}")
    dims = [extent for extent in given if extent is not None]
    element = numpy_dtype(name)
    count = math.prod(dims)
    try:
        memory = mmap.mmap(-1, max(count * element.itemsize, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        raise mistake(
            "empty", f"There is no memory for {count * element.itemsize:,} bytes, {name} of shape {given}", MemoryError
        ) from None
    return np.frombuffer(memory, element, count).reshape(dims)


def first_repeated(values):
    """Returns the first value that occurs for the second time, or None."""
    seen = set()
    return next((value for value in values if value in seen or seen.add(value)), None)


@contextmanager
def memory_for(op: str, path):
    """Adds the name of the file to a MemoryError of Python, which has no message."""
    try:
        yield
    except MemoryError as error:
        raise mistake(op, f"There is no memory for the contents of {path}", MemoryError) from error


def header_of(op: str, path, text: bytes) -> dict:
    """Reads the header of a safetensors file. ValueError: a name occurs twice."""

    def once(pairs):
        names = [name for name, _ in pairs]
        if (twice := first_repeated(names)) is not None:
            raise mistake(op, f"Expected each name once in {path}, got {twice!r} twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


def as_integers(op: object, what: str, value) -> list[int]:
    """Returns one integer or several as a list. TypeError: they are something else."""
    try:
        return [index(value)]
    except TypeError:
        pass
    try:
        return [index(item) for item in value]
    except TypeError:
        raise mistake(op, f"Expected {what} of integers, got {value!r}", TypeError) from None


def as_places(op: str, value) -> np.ndarray:
    """Returns an integer or a list of integers as an array. TypeError: they are something else."""
    try:
        places = np.array(value)
    except (TypeError, ValueError):
        places = np.array(None)
    if places.dtype.kind not in "iu":
        raise mistake(op, f"Expected integers as indices, got {value!r}", TypeError)
    return cast_exactly(op, "indices", places, "int32")


def cast_exactly(op: str, what: str, values: np.ndarray, dtype: str) -> np.ndarray:
    """Casts the values to an integer type. ValueError: it cannot hold one."""
    with np.errstate(invalid="ignore"):
        cast = values.astype(dtype)
    if (wrong := values[cast != values]).size:
        raise mistake(op, f"Expected {what} that {dtype} can hold, got {wrong[0]}")
    return cast


def as_known_shape(op: str, shape) -> list[int]:
    """Returns a shape of integers as a list. MemoryError: no memory holds so many numbers."""
    extents = as_integers(op, "a shape", shape)
    if min(extents, default=0) < 0:
        raise mistake(op, f"Expected extents of 0 or more, got {shape}")
    if math.prod(filter(None, extents)) >= 2**46:  # in bytes the engine's limit
        raise mistake(op, f"Values of shape {shape} are larger than any memory", MemoryError)
    return extents


def may_be_equal(a, b) -> bool:
    """Tells whether two shapes agree as far as they are known."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b))


def as_extents(op: str, shape) -> list:
    """Returns a shape as a list; an integer is a shape of one axis. TypeError: it is something else."""
    if isinstance(shape, int):
        return [shape]
    try:
        return list(shape)
    except TypeError:
        raise mistake(op, f"Expected a shape of integers and None, got {shape!r}", TypeError) from None


def as_path(op: str, path) -> str:
    """Returns a path as text. TypeError: it is no path. ValueError: it holds a null character."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise mistake(op, f"Expected a path, got {type(path).__name__}", TypeError)
    path = os.fsdecode(path)
    if "\0" in path:
        raise mistake(op, f"Expected a path, got {path!r}")
    return path


def as_file_name(op: str, path) -> str:
    """Returns a path as the engine takes it, absolute and in UTF-8. ValueError: it is empty or not in UTF-8."""
    text = as_path(op, path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise mistake(op, f"Expected a path of UTF-8, got {os.fsencode(text)!r}") from None
    if not text:
        raise mistake(op, "Expected a path, got ''")
    return os.path.abspath(text)


def as_count(op: object, what: str, value, least: int = 1, most: float = 2**63 - 1) -> int:
    """Returns a number of things. TypeError: it is no integer. ValueError: it is below the least or above the most that
    the engine's integers hold."""
    try:
        count = index(value)
    except TypeError:
        raise mistake(op, f"Expected {what} as an integer, got {value!r}", TypeError) from None
    if count < least:
        raise mistake(op, f"Expected {what} of {least} or more, got {count}")
    if count > most:
        raise mistake(op, f"Expected {what} of at most {most}, got {count}")
    return count


_FLOAT32 = float(np.finfo(np.float32).max)
_BOUNDS = {
    "of 0 or more": lambda number: number >= 0,
    "of 0 or more and below 1": lambda number: 0 <= number < 1,
    "of 0 or more that float32 can hold": lambda number: 0 <= number <= _FLOAT32,
    "above 0": lambda number: 0 < number < math.inf,
    "above 0 that float32 can hold": lambda number: 0 < number <= _FLOAT32,
    "from 0 to 1": lambda number: 0 <= number <= 1,
    "between 0 and 1": lambda number: 0 < number < 1,
}


def as_pair(op: object, what: str, value, least: int = 1) -> tuple[int, int]:
    """Returns two counts, for rows and columns; a single one stands for both."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise mistake(op, f"Expected {what} for the rows and one for the columns, got {value!r}")
    return as_count(op, what, pair[0], least), as_count(op, what, pair[1], least)


def as_number(op: object, what: str, value, bounds: str) -> float:
    """Returns a number. TypeError: it is none. ValueError: it is outside the bounds, a key of _BOUNDS."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not _BOUNDS[bounds](value):
        raise mistake(op, f"Expected {what} {bounds}, got {value!r}", ValueError if is_number else TypeError)
    return float(value)


def as_choice(op: object, what: str, value, known):
    """Returns the value. ValueError: it is not among the known ones."""
    if not any(isinstance(value, type(one)) and value == one for one in known):
        near = meant(value, [one for one in known if isinstance(one, str)]) if isinstance(value, str) else ""
        raise mistake(op, f"Expected {what} among {', '.join(map(repr, known))}, got {value!r}{near}")
    return value


def require_all(op: object, expected: str, kind: Any, values) -> None:
    """Raises TypeError if one of the values is no instance of the kind, a class or a tuple of classes."""
    wrong = [value for value in values if not isinstance(value, kind)]
    if wrong:
        raise mistake(op, f"Expected {expected}, got {types_of(wrong)}", TypeError)


def types_of(values) -> str:
    return ", ".join(type(value).__name__ for value in values) or "none"
