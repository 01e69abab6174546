"""The element types of tensors, by their names. float32, int32, int64 and bool_ compute; the others only
name what is stored."""

import numpy as np

from alloy.graph.location import mistake

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

_NAMES = {float32, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_}


def dtype_name(op: str, dtype) -> str:
    """The name of a dtype given as a name, a NumPy dtype or a NumPy or Python type."""
    try:
        name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in _NAMES:
        raise mistake(op, f"Expected an element type such as float32, got {name}", TypeError)
    return name


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def item_size(dtype: str) -> int:
    """Bytes of an element."""
    return 1 if dtype == bool_ else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8
