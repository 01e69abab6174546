"""The element types of tensors, by their names. float32, int32, int64 and bool_ compute; the others can
only be stored."""

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


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def item_size(dtype: str) -> int:
    """Bytes of an element."""
    return 1 if dtype == bool_ else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8
