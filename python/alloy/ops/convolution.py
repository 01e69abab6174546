"""Convolutions."""

from alloy._core import Tensor
from alloy.graph.apply import apply
from alloy.ops.windows import window_attributes

__all__ = ["conv2d"]


def conv2d(
    x: Tensor, weights, *, strides=1, padding="valid", dilations=1, groups=1, data_layout="NHWC", weights_layout="HWIO"
) -> Tensor:
    """The 2-D correlation of x with the weights, zero padded, without bias.

    x: (n, height, width, channels) and weights: (height, width, channels / groups, filters), both float32, or
    as the layouts say. strides, dilations: an integer, or one for the height and one for the width. padding:
    "valid" (none), "same" (the output's extent is the input's divided by the stride, rounded up; the odd
    element goes after), or ((top, bottom), (left, right)). ValueError: the channels differ or the window does
    not fit."""
    attributes = window_attributes("conv2d", strides, dilations, padding, data_layout)
    return apply("conv2d", [x, weights], attributes | {"groups": groups, "weights_layout": weights_layout})
