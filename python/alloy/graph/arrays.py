"""What Python values become when a graph or a trainer takes them: NumPy arrays of a type that tensors have,
and shapes. And arrays that a run takes as they are."""

import math
import mmap
from operator import index

import numpy as np

from alloy.graph.dtypes import dtype_name, float32, is_integer
from alloy.graph.location import mistake, warn_user

SCALARS = (bool, int, float, np.generic)


def empty(shape, dtype=float32) -> np.ndarray:
    """A NumPy array with undefined contents whose memory begins at a page, so that feeding it copies nothing.

    The device reads such an array, or a packed slice of one that begins at a page again, where it lies: during
    the call, in which nobody may change it. Other arrays, and those of less than 32 KiB, are copied by each
    call; so it pays to fill one array with batch after batch: np.take(images, rows, axis=0, out=batch,
    mode="clip").

    shape: integers. dtype: as a placeholder's. TypeError: NumPy has no such element type. MemoryError: there is
    not that much."""
    dims, name = as_shape("empty", shape), dtype_name("empty", dtype)
    if dims is None or None in dims:
        raise mistake("empty", f"Expected a shape of integers, got {shape}", act="called")
    try:
        element = np.dtype(name)
    except TypeError:
        raise mistake("empty", f"Expected an element type of NumPy, got {name}", TypeError, "called") from None
    count = math.prod(dims)
    try:
        memory = mmap.mmap(-1, max(count * element.itemsize, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        raise mistake(
            "empty",
            f"There is no memory for {count * element.itemsize:,} bytes, {name} of shape {dims}",
            MemoryError,
            "called",
        ) from None
    return np.frombuffer(memory, element, count).reshape(dims)


def as_array(op: str, value) -> np.ndarray:
    """The value as an array. A float64 array is cast to float32 with a warning; Python's own numbers, and
    lists of them, become float32, int32 or bool. TypeError where it is not numbers."""
    if isinstance(value, (bool, int, float, list, tuple)):
        array = np.asarray(value)
        dtype = {"f": "float32", "i": "int32"}.get(array.dtype.kind, array.dtype.name)
        return as_exact_array(op, value, dtype)
    speaks_dlpack = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    array = np.from_dlpack(value) if speaks_dlpack else np.asarray(value)
    _require_numbers(op, array, value)
    if array.dtype == np.float64:
        warn_user("float64 values are cast to float32")
        return as_exact_array(op, array, "float32")
    return array


def as_exact_array(op: str, numbers, dtype: str) -> np.ndarray:
    """Python's numbers as an array of the dtype; TypeError where it cannot hold them: 0.5 as int32, 1 as
    bool, 1e300."""
    given = np.asarray(numbers)
    _require_numbers(op, given, numbers)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = given.astype(dtype)
    if dtype == "bool":
        lost = np.full(given.shape, given.dtype != bool)
    elif is_integer(dtype):
        lost = converted != given
    else:
        lost = np.isfinite(converted) != np.isfinite(given)
    if lost.any():
        raise mistake(op, f"Expected a number that {dtype} can hold, got {given[lost].flat[0]}", TypeError)
    return converted


def _require_numbers(op: str, array: np.ndarray, value) -> None:
    if array.dtype.kind not in "fiub":
        raise mistake(op, f"Expected numbers, got {type(value).__name__} of {array.dtype}", TypeError)


def as_shape(op: str, shape) -> tuple[int | None, ...] | None:
    """Dimensions as integers, None for one that is not known; None for an unknown rank."""
    if shape is None:
        return None
    try:
        dims = tuple(None if extent is None else index(extent) for extent in shape)
    except TypeError:
        raise mistake(op, f"Expected a shape of integers and None, got {shape!r}", TypeError) from None
    if any(extent is not None and not 0 <= extent < 2**63 for extent in dims):
        raise mistake(op, f"Expected dimensions of 0 or more and below 2^63, or None, got {shape}")
    return dims


def as_integers(op: str, what: str, value) -> list[int]:
    """One integer or several as a list; TypeError where they are something else."""
    try:
        return [index(value)]
    except TypeError:
        pass
    try:
        return [index(item) for item in value]
    except TypeError:
        raise mistake(op, f"Expected {what} of integers, got {value!r}", TypeError) from None


def as_count(op: str, what: str, value, act: str = "built", least: int = 1) -> int:
    """A number of things: TypeError where it is no integer, ValueError where it is less than the least."""
    try:
        count = index(value)
    except TypeError:
        raise mistake(op, f"Expected {what} as an integer, got {value!r}", TypeError, act) from None
    if count < least:
        raise mistake(op, f"Expected {what} of {least} or more, got {count}", act=act)
    return count
