"""Arrays of given numbers. They are NumPy arrays: functions and operators take them beside a tensor, graph.variable and
graph.constant as a value."""

import math
from numbers import Integral, Real

import numpy as np

from alloy._core import as_array, as_dtype
from alloy.engine.arrays import as_count, as_known_shape, cast_exactly, require_all
from alloy.engine.dtypes import is_integer, numpy_dtype
from alloy.messages.location import mistake
from alloy.messages.text import shape_text

__all__ = ["arange", "eye", "full", "linspace", "ones", "zeros"]


def zeros(shape, dtype="float32") -> np.ndarray:
    """Returns an array of zeros. shape: integers, or one integer for one axis.

    al.zeros_like gives a tensor, whose shape may be unknown."""
    return np.zeros(as_known_shape("zeros", shape), numpy_dtype(as_dtype(dtype, "zeros")))


def ones(shape, dtype="float32") -> np.ndarray:
    """Returns an array of ones. shape: integers, or one of them for one axis."""
    return np.ones(as_known_shape("ones", shape), numpy_dtype(as_dtype(dtype, "ones")))


def full(shape, value, dtype=None) -> np.ndarray:
    """Returns an array with the value, a number or an array that broadcasts, at each place.

    dtype: None is the value's, for a number float32, int32 or bool. ValueError: the value does not broadcast, or the
    dtype cannot hold it."""
    extents = as_known_shape("full", shape)
    # Of an integer as_array makes int32, which may be narrower than the dtype.
    array = as_array(np.array(value) if dtype is not None and isinstance(value, int) else value, "full")
    try:
        values = np.full(extents, array)
    except ValueError:
        expected = f"a value that broadcasts to {shape_text(extents)}"
        raise mistake("full", f"Expected {expected}, got one of shape {shape_text(array.shape)}") from None
    return _of_type("full", values, array.dtype if dtype is None else dtype)


def eye(n, m=None, k=0, dtype="float32") -> np.ndarray:
    """Returns an array of n rows and m columns (n of them by default), with ones on diagonal k and zeros elsewhere.

    Diagonal 0 is the main one, 1 the one above it."""
    rows, columns = as_known_shape("eye", (n, n if m is None else m))
    k = as_count("eye", "k", k, least=-(2**63))
    return np.eye(rows, columns, k, numpy_dtype(as_dtype(dtype, "eye")))


def arange(start, stop=None, step=1, dtype=None) -> np.ndarray:
    """Returns the numbers start, start + step, start + 2 * step, ... before stop; arange(n) is 0, ..., n - 1.

    dtype: None is int32 if all arguments are integers, else float32. ValueError: the step is 0, or the dtype cannot
    hold the numbers."""
    start, stop = (0, start) if stop is None else (start, stop)
    given = (start, stop, step)
    require_all("arange", "numbers", Real, given)
    if step == 0 or not all(-(2**63) <= number < 2**63 for number in given):
        raise mistake("arange", f"Expected numbers of 64 bits and a step that is not 0, got {start}, {stop} and {step}")
    (count,) = as_known_shape("arange", max(math.ceil(min((stop - start) / step, 2**63)), 0))
    default = "int32" if all(isinstance(number, Integral) for number in given) else "float32"
    return _of_type("arange", start + step * np.arange(count), default if dtype is None else dtype)


def linspace(start, stop, num=50, *, endpoint=True, dtype="float32") -> np.ndarray:
    """Returns num numbers at equal distances from start to stop, the last of which is stop unless endpoint is False.

    ValueError: the dtype cannot hold the numbers."""
    require_all("linspace", "numbers", Real, [start, stop])
    if not (math.isfinite(start) and math.isfinite(stop)):
        raise mistake("linspace", f"Expected finite numbers, got {start} and {stop}")
    (count,) = as_known_shape("linspace", as_count("linspace", "num", num, least=0))
    return _of_type("linspace", np.linspace(start, stop, count, bool(endpoint)), dtype)


def _of_type(op, values, dtype):
    name = as_dtype(dtype, op)
    return cast_exactly(op, "numbers", values, name) if is_integer(name) else values.astype(numpy_dtype(name))
