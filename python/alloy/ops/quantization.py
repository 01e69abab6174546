"""Floats as small integers, and back."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["dequantize", "dequantize_lut", "quantize"]


def quantize(x: Tensor, scale, zero_point=0.0, *, dtype="int8", axis=-1) -> Tensor:
    """x / scale + zero_point, rounded with halves to even and held to what the dtype has. NaN becomes the least number.

    x: of a floating type. dtype: int8 or uint8. scale, zero_point: numbers, or tensors or arrays that are scalars or
    have an element for each place along the axis. ValueError: they have other shapes. TypeError: another dtype."""
    return apply("quantize", [x, scale, zero_point], {"dtype": dtype, "axis": axis}, scalar_dtype="float32")


def dequantize(x: Tensor, scale, zero_point=0.0, *, dtype="float32", axis=-1) -> Tensor:
    """scale * (x - zero_point), of the floating dtype.

    x: of an integer type. scale, zero_point: as in quantize, or of the rank of x, where an element is that of a block
    of x: each of their extents divides that of x."""
    return apply("dequantize", [x, scale, zero_point], {"dtype": dtype, "axis": axis}, scalar_dtype="float32")


def dequantize_lut(x: Tensor, table, *, axis=-1) -> Tensor:
    """For each element of x, of uint8, the entry of that number in a table.

    table: of shape (*blocks, 256), where each extent of `blocks` divides that of x and each block has its own table;
    or of shape (*blocks, 256, length): then the entries are vectors, which lie along the axis, where the result has
    length times as many elements as x. ValueError: it has another shape. TypeError: x is of another type."""
    return apply("dequantize_lut", [x, table], {"axis": axis})
