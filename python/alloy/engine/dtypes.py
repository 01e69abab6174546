"""The element types of tensors, by their names.

Arithmetic with float16 and bfloat16 is done in float32, and each result is rounded to the type; integers of all widths
wrap around. A complex64 is two float32. Arrays of bfloat16 use the package ml_dtypes."""

import math

import numpy as np

__all__ = [  # of al; other functions are the package's own
    "bfloat16",
    "bool_",
    "complex64",
    "float16",
    "float32",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType(str):
    """The name of an element type. It equals the dtypes and types of NumPy, and dtypes of other libraries, that have
    the same name."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        if not isinstance(other, str):
            other = _name_of(other)
        return str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other


def _name_of(dtype) -> str | None:
    """Returns the name of an element type of NumPy or another library, or None."""
    if isinstance(dtype, (np.dtype, type)):
        try:
            return np.dtype(dtype).name
        except TypeError:
            return None
    return str(dtype).rpartition(".")[2] if type(dtype).__name__.lower() == "dtype" else None


float32 = DType("float32")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
bool_ = DType("bool")
complex64 = DType("complex64")


def numpy_dtype(dtype: str) -> np.dtype:
    """Returns the dtype of arrays of these elements."""
    if dtype == bfloat16:
        import ml_dtypes  # only here: it takes longer to import than all of this package

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def is_half(dtype: str) -> bool:
    """Tells whether the type is a float of two bytes."""
    return dtype in (float16, bfloat16)


def is_float(dtype: str) -> bool:
    return dtype == float32 or is_half(dtype)


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def item_size(dtype: str) -> int:
    """Returns the bytes of an element."""
    return 1 if dtype == bool_ else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8


def elements(variables) -> int:
    """Returns the number of elements of all variables."""
    return sum(math.prod(variable.shape) for variable in variables)


def bytes_of(variables) -> int:
    """Returns the size of all variables' values in bytes."""
    return sum(elements([variable]) * item_size(variable.dtype) for variable in variables)


# The names of variables' element types in safetensors files.
STORED = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BOOL": "bool",
}
