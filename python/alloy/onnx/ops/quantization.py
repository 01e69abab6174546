"""Quantized numbers, which are computed as floats or as int32."""

import numpy as np

from alloy import ops
from alloy.onnx.node import supports
from alloy.onnx.ops.matrices import product

_LIMITS = "integers of 8, 16 or 32 bits; one scale, or one for each place along the axis"


def _along(node, x, values, axis):
    """Returns scales in a shape that broadcasts to x."""
    if node.attribute("block_size", 0):
        raise node.wrong("Expected no block_size")
    if len(values.shape) == 0 or values.shape == (1,):
        return ops.reshape(values, ())
    if len(values.shape) != 1:
        raise node.wrong("Expected one scale for each place along the axis")
    return ops.expand_dims(values, list(range(1, len(x.shape) - node.axis(x, axis))))


def _rounded(node, x, dtype, zero):
    """Returns integers of the type: x rounded to even, plus the zero point, within the type's range."""
    info = np.iinfo(dtype)
    return ops.cast(ops.clamp(ops.rint(x) + zero, float(info.min), float(info.max)), dtype)


@supports("QuantizeLinear", limits=_LIMITS)
def quantize_linear(node):
    x, axis = node.floats(0), node.attribute("axis", 1)
    node.attribute("saturate", 1)
    node.attribute("precision", 0)
    if node.attribute("output_dtype", 0) and not node.has(2):
        raise node.wrong("Expected a zero point")
    dtype = node.tensor(2).dtype if node.has(2) else "uint8"
    if dtype not in ("int8", "uint8", "int16", "uint16"):
        raise node.wrong(f"Expected integers of 8 or 16 bits, got {dtype}")
    scale = _along(node, x, node.floats(1), axis)
    zero = _along(node, x, ops.cast(node.tensor(2), "float32"), axis) if node.has(2) else 0.0
    return _rounded(node, x / scale, dtype, zero)


@supports("DequantizeLinear", limits=_LIMITS)
def dequantize_linear(node):
    x, scale, axis = node.tensor(0), node.floats(1), node.attribute("axis", 1)
    node.attribute("output_dtype", 0)
    found = ops.cast(x, scale.dtype)
    if node.has(2):
        found = found - _along(node, x, ops.cast(node.tensor(2), scale.dtype), axis)
    return found * _along(node, x, scale, axis)


@supports("DynamicQuantizeLinear")
def dynamic_quantize_linear(node):
    x = node.floats(0)
    low, high = ops.minimum(ops.min(x), 0.0), ops.maximum(ops.max(x), 0.0)
    scale = (high - low) / 255.0
    zero = ops.clamp(ops.rint(-low / scale), 0.0, 255.0)
    return [_rounded(node, x / scale, "uint8", zero), scale, ops.cast(zero, "uint8")]


def _product(a, b):
    """Returns the product of matrices of int32."""
    return product(a, b, lambda a, b: ops.einsum("...ij,...jk->...ik", a, b))


def _centred(node, i, zero, rows: bool):
    """Returns input i less its zero point, as int32: one number, or one for each row or column."""
    x = ops.cast(node.tensor(i), "int32")
    if not node.has(zero):
        return x
    point = ops.cast(node.tensor(zero), "int32")
    return x - (ops.expand_dims(point, -1) if rows and point.ndim == 1 and point.shape != (1,) else point)


@supports("MatMulInteger")
def matmul_integer(node):
    return _product(_centred(node, 0, 2, True), _centred(node, 1, 3, False))


@supports("QLinearMatMul", limits="one scale for each operand")
def q_linear_matmul(node):
    found = _product(_centred(node, 0, 2, True), _centred(node, 3, 5, False))
    scales = [ops.cast(node.floats(i), "float32") for i in (1, 4, 6)]
    if any(scale.shape not in ((), (1,)) for scale in scales):
        raise node.wrong("Expected one scale for each operand")
    factor = scales[0] * scales[1] / scales[2]
    zero = ops.cast(node.tensor(7), "float32")
    return _rounded(node, ops.cast(found, "float32") * factor, node.tensor(7).dtype, zero)
