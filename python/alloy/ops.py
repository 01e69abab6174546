"""The ops with attributes or operands of their own, and those composed of others. Shapes are checked by the
engine."""

import math

import numpy as np

from alloy._core import Tensor
from alloy.apply import apply, common_dtype, require_tensor
from alloy.arrays import as_count, as_integers, as_shape
from alloy.dtypes import dtype_name, is_integer
from alloy.location import mistake
from alloy.tensor import describe

# ---- elementwise ----


def select(predicate, a, b) -> Tensor:
    """a where the predicate is true (not zero), else b.

    The three broadcast by NumPy's rule; a and b have one dtype, which the result has. Each may be a number or
    an array, but not all of them. ValueError: the shapes do not broadcast. TypeError: the dtypes of a and b
    differ."""
    return apply("select", [predicate, a, b], scalar_dtype=common_dtype("select", [a, b]))


def clamp(x: Tensor, low, high) -> Tensor:
    """x held between low and high, which broadcast to it: min(max(x, low), high).

    Where the bounds cross it is high; a NaN gives way to a number. The gradient goes to whichever of the three
    was taken, at a bound to x. The three have one dtype, of numbers; each may be a number or an array, but not
    all of them."""
    return apply("clamp", [x, low, high])


def cast(x: Tensor, dtype) -> Tensor:
    """x converted to the dtype; float to integer truncates toward zero."""
    return apply("cast", [x], {"dtype": dtype_name("cast", dtype)})


def stop_gradient(x: Tensor) -> Tensor:
    """x, through which no gradient flows: a loss does not depend on what stands behind it."""
    return apply("stop_gradient", [x])


# ---- shape ----


def reshape(x: Tensor, shape) -> Tensor:
    """The same elements in row-major order under another shape, in which one dimension may be -1 or None:
    what is left.

    ValueError: the elements do not fit."""
    return apply("reshape", [x], {"shape": as_shape("reshape", [None if extent == -1 else extent for extent in shape])})


def flatten(x: Tensor) -> Tensor:
    """x with all axes but the first made one: (n, ...) becomes (n, m)."""
    batch, *rest = _known_shape("flatten", x, at_least=1)
    return reshape(x, (batch, None if None in rest else math.prod(rest)))


def transpose(x: Tensor, permutation=None) -> Tensor:
    """x with its axes permuted: axis i of the result is axis permutation[i] of x, counted from the end where
    negative. None reverses them."""
    if permutation is None:
        permutation = range(len(_known_shape("transpose", x)))[::-1]
    return apply("transpose", [x], {"permutation": as_integers("transpose", "a permutation", permutation)})


def squeeze(x: Tensor, *, axes=None) -> Tensor:
    """x without its dimensions of size 1 at the axes; None means all that are known to have size 1.

    ValueError: a dimension at the axes is not of size 1."""
    if axes is None:
        axes = [axis for axis, extent in enumerate(_known_shape("squeeze", x)) if extent == 1]
    return apply("squeeze", [x], {"axes": as_integers("squeeze", "axes", axes)})


def expand_dims(x: Tensor, *, axes) -> Tensor:
    """x with dimensions of size 1 inserted; the axes are positions in the result."""
    return apply("expand_dims", [x], {"axes": as_integers("expand_dims", "axes", axes)})


def broadcast_to(x: Tensor, shape) -> Tensor:
    """x repeated to the shape by NumPy's rule. ValueError: x does not broadcast to it."""
    return apply("broadcast_to", [x], {"shape": as_shape("broadcast_to", shape)})


def concat(tensors, *, axis) -> Tensor:
    """The tensors one after the other along the axis. ValueError: they differ in another axis. TypeError: in
    dtype."""
    return apply("concat", list(tensors), {"axis": axis})


def stack(tensors, *, axis=0) -> Tensor:
    """Tensors of one shape side by side along a new axis, which is a position in the result."""
    return concat([expand_dims(x, axes=axis) for x in tensors], axis=axis)


def one_hot(indices: Tensor, depth) -> Tensor:
    """float32 of shape (*indices.shape, depth): 1 at the index along the last axis, else 0; all 0 for an
    index outside.

    indices: a tensor of an integer type."""
    require_tensor("one_hot", indices)
    if not is_integer(indices.dtype):
        raise mistake("one_hot", f"Expected indices of an integer type, got {describe(indices)}", TypeError)
    positions = np.arange(as_count("one_hot", "a depth", depth), dtype=indices.dtype)
    return cast(apply("equal", [expand_dims(indices, axes=-1), positions]), "float32")


# ---- linear algebra and neural networks ----


def matmul(a, b) -> Tensor:
    """The matrix product over the last two axes; leading axes broadcast.

    a: (..., n, k), b: (..., k, m), the result: (..., n, m), all float32. ValueError: the inner dimensions
    differ."""
    return apply("matmul", [a, b])


def softmax(x: Tensor, *, axis=-1) -> Tensor:
    """e^x divided by its sum along the axis, computed without overflow. x: float32."""
    return apply("softmax", [x], {"axis": axis})


def log_softmax(x: Tensor, *, axis=-1) -> Tensor:
    """The logarithm of softmax, computed without overflow. x: float32."""
    return apply("log_softmax", [x], {"axis": axis})


def conv2d(
    x: Tensor, weights, *, strides=1, padding="valid", dilations=1, groups=1, data_layout="NHWC", weights_layout="HWIO"
) -> Tensor:
    """The 2-D correlation of x with the weights, zero padded, without bias.

    x: (n, height, width, channels) and weights: (height, width, channels / groups, filters), both float32, or
    as the layouts say. strides, dilations: an integer, or one for the height and one for the width. padding:
    "valid" (none), "same" (the output's extent is the input's divided by the stride, rounded up; the odd
    element goes after), or ((top, bottom), (left, right)). ValueError: the channels differ or the window does
    not fit."""
    attributes = _window_attributes("conv2d", strides, dilations, padding, data_layout)
    return apply("conv2d", [x, weights], attributes | {"groups": groups, "weights_layout": weights_layout})


def max_pool2d(x: Tensor, *, window=2, strides=None, padding="valid", data_layout="NHWC") -> Tensor:
    """The greatest element of each window, NaN where it holds one; padding never wins. Strides are the window's
    extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest as in conv2d."""
    return _pool2d("max_pool2d", x, window, strides, padding, data_layout)


def avg_pool2d(x: Tensor, *, window=2, strides=None, padding="valid", data_layout="NHWC") -> Tensor:
    """The mean of each window, its padding left out. Strides are the window's extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest as in conv2d."""
    return _pool2d("avg_pool2d", x, window, strides, padding, data_layout)


def _pool2d(op, x, window, strides, padding, data_layout):
    window = pair(op, "a window", window)
    attributes = _window_attributes(op, window if strides is None else strides, 1, padding, data_layout)
    return apply(op, [x], attributes | {"window": window})


def _window_attributes(op, strides, dilations, padding, data_layout):
    attributes = {
        "strides": pair(op, "strides", strides),
        "dilations": pair(op, "dilations", dilations),
        "data_layout": data_layout,
    }
    if padding in ("valid", "same"):
        return attributes | {"padding_style": padding, "padding": [0, 0, 0, 0]}
    try:
        (top, bottom), (left, right) = padding
    except (TypeError, ValueError):
        expected = '"valid", "same" or ((top, bottom), (left, right))'
        raise mistake(op, f"Expected the padding {expected}, got {padding!r}") from None
    explicit = as_integers(op, "a padding", [top, bottom, left, right])
    return attributes | {"padding_style": "explicit", "padding": explicit}


def pair(op, what, extents) -> list[int]:
    """An integer for the height and one for the width, of which a single one stands for both."""
    integers = as_integers(op, what, extents)
    return integers * 2 if len(integers) == 1 else integers


def _known_shape(op, x, at_least=0):
    require_tensor(op, x)
    if x.shape is None or len(x.shape) < at_least:
        expected = f"known rank, {at_least} or more" if at_least else "known rank"
        raise mistake(op, f"Expected a tensor of {expected}, got {describe(x)}")
    return x.shape
