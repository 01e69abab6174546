"""The element types of tensors, by their names. float32, int32, int64 and bool_ compute; the others are stored and cast."""
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


def dtype_name(dtype) -> str:
    """The name of a dtype given as a name, a NumPy dtype or a NumPy or Python type."""
    return dtype if isinstance(dtype, str) else np.dtype(dtype).name


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))
