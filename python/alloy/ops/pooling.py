"""Pooling: one element for each window."""

from alloy._core import Tensor
from alloy.graph.apply import apply
from alloy.ops.windows import pair, window_attributes

__all__ = ["avg_pool2d", "max_pool2d"]


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
    attributes = window_attributes(op, window if strides is None else strides, 1, padding, data_layout)
    return apply(op, [x], attributes | {"window": window})
