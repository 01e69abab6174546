"""What Python values become when a graph or a trainer takes them: NumPy arrays of a type that tensors have, and shapes."""
from operator import index

import numpy as np

from alloy.dtypes import is_integer
from alloy.location import mistake, warn_user

SCALARS = (bool, int, float, np.generic)


def as_array(op: str, value) -> np.ndarray:
    """The value as an array. A float64 array is cast to float32 with a warning; Python's own numbers become float32,
    int32 or bool. TypeError where it is not numbers."""
    from_numpy = hasattr(value, "dtype")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise mistake(op, f"Expected numbers, got {type(value).__name__} of {array.dtype}", TypeError)
    if array.dtype == np.float64:
        if from_numpy:
            warn_user("float64 values are cast to float32")
        return array.astype(np.float32)
    if array.dtype == np.int64 and not from_numpy:
        return as_scalar_type(op, array, "int32")
    return array


def as_scalar_type(op: str, numbers, dtype: str) -> np.ndarray:
    """Python's numbers as an array of the dtype; TypeError where it would change them: 0.5 as int32, 1 as bool."""
    given = np.asarray(numbers)
    with np.errstate(invalid="ignore"):
        converted = given.astype(dtype)
    keeps = given.dtype == bool if dtype == "bool" else not is_integer(dtype) or np.array_equal(converted, given)
    if not keeps:
        raise mistake(op, f"Expected a number that {dtype} can hold, got {numbers}", TypeError)
    return converted


def as_shape(op: str, shape) -> tuple[int | None, ...] | None:
    """Dimensions as integers, None for one that is not known; None for an unknown rank."""
    try:
        return None if shape is None else tuple(None if extent is None else index(extent) for extent in shape)
    except TypeError:
        raise mistake(op, f"Expected a shape of integers and None, got {shape!r}", TypeError) from None
