"""Turns users' arrays, examples and functions' results into the arrays of elements."""

import numpy as np

from alloy._core import as_array
from alloy.engine.structure import convert
from alloy.messages.location import warn_user

_INT32, _INT64 = 2**31, 2**63  # the first numbers that do not fit
_NUMBERS = (bool, int, float, complex, np.generic)


class Reader:
    """Makes elements of the values of one source or function. float64 becomes float32, with one warning of this reader,
    and int64 becomes int32 if all values fit. op: the giver's name in messages. lists: a list of arrays becomes a tuple
    of them, as from PyTorch's DataLoader, instead of one array."""

    def __init__(self, op: str, lists: bool = True):
        self._op = op
        self._lists = lists
        self._warned = False

    def element(self, given):
        """Returns the element: tuples and dictionaries stay, everything else becomes arrays and NumPy's numbers.

        TypeError, to be part of a message: something is not numbers."""
        return convert(self.leaf, given, (tuple, dict))

    def leaf(self, value):
        """Returns an array or a number of NumPy."""
        kind = type(value)
        if kind is bool:
            return np.bool_(value)
        if kind is int and -_INT64 <= value < _INT64:
            return (np.int32 if -_INT32 <= value < _INT32 else np.int64)(value)
        if kind is float:
            return np.float32(value)
        if kind is list and self._lists and not _of_numbers(value):
            return self.element(tuple(value))
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


def _of_numbers(value: list) -> bool:
    return all(isinstance(part, _NUMBERS) or (isinstance(part, list) and _of_numbers(part)) for part in value)


def _array(value):
    """Makes an array of a list, a tensor of PyTorch, an image of Pillow and the like."""
    plain = isinstance(value, list)
    try:
        if plain or hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            value = np.asarray(value)
        elif not hasattr(value, "__dlpack__") and callable(getattr(value, "numpy", None)):
            value = np.asarray(value.numpy())
    except Exception as error:
        raise TypeError(f"{type(value).__name__}, which gives no array ({' '.join(str(error).split())})") from error
    return value.astype(np.float32) if plain and value.dtype == np.float64 else _checked(value)


def _checked(value):
    """Returns an array of float64, or of a type that tensors have."""
    try:
        return as_array(value, "data") if not isinstance(value, np.ndarray) or value.dtype.char not in "dD" else value
    except Exception as error:
        given = f"an array of {value.dtype}" if isinstance(value, (np.ndarray, np.generic)) else type(value).__name__
        raise TypeError(f"{given}, which is no array of numbers") from error


def _narrow(value):
    """Casts int64 to int32 if all values fit."""
    if value.size and not (-_INT32 <= value.min() and value.max() < _INT32):
        return value if value.dtype.isnative else value.astype(np.int64)
    return value.astype(np.int32)


def take(array, rows, out=None):
    """Takes the rows (indices, or a slice) of the array, into out if it is given. A slice without out is a view."""
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
