"""The element types of tensors, by their names.

Arithmetic with float16 and bfloat16 is done in float32, and each result is rounded to the type; integers of all widths
wrap around. A complex64 is two float32. Arrays of bfloat16 are those of the package ml_dtypes."""

import numpy as np

float32 = "float32"
float16 = "float16"
bfloat16 = "bfloat16"
int8 = "int8"
int16 = "int16"
int32 = "int32"
int64 = "int64"
uint8 = "uint8"
uint16 = "uint16"
uint32 = "uint32"
uint64 = "uint64"
bool_ = "bool"
complex64 = "complex64"


def numpy_dtype(dtype: str) -> np.dtype:
    """The dtype of arrays of these elements."""
    if dtype == bfloat16:
        import ml_dtypes  # only here: it takes longer to import than all of this package

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def is_half(dtype: str) -> bool:
    """Whether it is a float of two bytes."""
    return dtype in (float16, bfloat16)


def is_float(dtype: str) -> bool:
    return dtype == float32 or is_half(dtype)


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def item_size(dtype: str) -> int:
    """Bytes of an element."""
    return 1 if dtype == bool_ else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8


# What safetensors files call the element types that variables have.
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
