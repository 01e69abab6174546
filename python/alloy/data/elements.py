"""What users' arrays, examples and functions give, as the arrays that elements are made of."""

import numpy as np

from alloy._core import as_array
from alloy.data.structure import convert
from alloy.graph.location import warn_user

_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)


class Reader:
    """Makes elements of what one source or function gives. Numbers in float64 become float32, with one warning of this
    reader, and int64 becomes int32 where all of the values fit. op: as messages name the giver."""

    def __init__(self, op: str):
        self._op = op
        self._warned = False

    def element(self, given):
        """The element: tuples and dictionaries stay, lists and everything else become arrays and NumPy's numbers.
        TypeError, to be part of a message: something is not numbers."""
        return convert(self.leaf, given)

    def leaf(self, value):
        """An array or a number of NumPy."""
        kind = type(value)
        if kind is bool:
            return np.bool_(value)
        if kind is int and _INT64.min <= value <= _INT64.max:
            return (np.int32 if _INT32.min <= value <= _INT32.max else np.int64)(value)
        if kind is float:
            return np.float32(value)
        if not isinstance(value, (np.ndarray, np.generic)):
            value = _array(value)
        if value.dtype.char in "dD":  # float64, complex128
            single = np.dtype(np.float32 if value.dtype.kind == "f" else np.complex64)
            if not self._warned:
                self._warned = True
                warn_user(f"[{self._op}] The value is {value.dtype} and was cast to {single}.")
            return value.astype(single)
        if value.dtype.char in "lq" and value.dtype.itemsize == 8:
            return _narrow(value)
        if value.dtype.kind not in "fiubc" or value.dtype.itemsize > 8:
            value = _checked(value)
        return value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))


def _array(value):
    """Whatever can be an array: a list, a tensor of PyTorch, an image of Pillow."""
    plain = isinstance(value, list)
    try:
        if plain or hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            value = np.asarray(value)
        elif not hasattr(value, "__dlpack__") and callable(getattr(value, "numpy", None)):
            value = np.asarray(value.numpy())
    except Exception as error:
        raise TypeError(f"{type(value).__name__}, which gives no array ({error})") from error
    return value.astype(np.float32) if plain and value.dtype == np.float64 else _checked(value)


def _checked(value):
    """An array of a type that tensors have, or of float64."""
    try:
        return as_array(value, "data") if not isinstance(value, np.ndarray) or value.dtype.char not in "dD" else value
    except Exception as error:
        given = f"an array of {value.dtype}" if isinstance(value, (np.ndarray, np.generic)) else type(value).__name__
        raise TypeError(f"{given}, which is no array of numbers") from error


def _narrow(value):
    """int64 as int32 where all values fit."""
    if value.size and not (_INT32.min <= value.min() and value.max() <= _INT32.max):
        return value if value.dtype.isnative else value.astype(np.int64)
    return value.astype(np.int32)


def take(array, rows, out=None):
    """The rows (indices, or a slice) of the array, written into out if that is given. A slice without out is a view."""
    if isinstance(rows, slice):
        if out is None:
            return array[rows]
        out[...] = array[rows]
        return out
    if array.flags.c_contiguous:
        return np.take(array, rows, axis=0, out=out, mode="clip")  # by default it would fill a copy of out first
    if out is None:
        return array[rows]
    out[...] = array[rows]  # np.take would pack the whole array first
    return out
