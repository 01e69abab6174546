"""Quantization: floats to small integers, and back."""

from alloy._core import Tensor
from alloy.ops.apply import apply

__all__ = ["dequantize", "dequantize_lut", "quantize"]


def quantize(x: Tensor, scale, zero_point=0.0, *, dtype="int8", axis=-1) -> Tensor:
    """x / scale + zero_point, rounded with halves to even and limited to the range of the dtype. NaN becomes the least
    number.

    x: of a floating type. dtype: int8 or uint8. scale, zero_point: numbers, or tensors or arrays that are scalars or
    have an element for each place along the axis. ValueError: they have other shapes. TypeError: another dtype."""
    return apply("quantize", [x, scale, zero_point], {"dtype": dtype, "axis": axis}, scalar_dtype="float32")


def dequantize(x: Tensor, scale, zero_point=0.0, *, dtype="float32", axis=-1) -> Tensor:
    """scale * (x - zero_point), of the floating dtype.

    x: of an integer type. scale, zero_point: as in quantize, or tensors of x's rank with an element for each block of
    x; each extent divides x's."""
    return apply("dequantize", [x, scale, zero_point], {"dtype": dtype, "axis": axis}, scalar_dtype="float32")


def dequantize_lut(x: Tensor, table, *, axis=-1) -> Tensor:
    """Replaces each element of x, uint8, by the entry of that number in a table.

    table: of shape (*blocks, 256), where each extent of `blocks` divides x's and each block has its own table; or of
    shape (*blocks, 256, length): the entries are then vectors along the axis, and the result has length times as many
    elements as x there. ValueError: it has another shape. TypeError: x is of another type."""
    return apply("dequantize_lut", [x, table], {"axis": axis})
