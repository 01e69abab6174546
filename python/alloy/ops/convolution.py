"""Convolutions."""

from alloy._core import Tensor
from alloy.ops.apply import apply
from alloy.ops.windows import Extents, Padding, explicit_padding, per_axis, window_attributes

__all__ = ["col2im", "conv2d", "conv2d_transpose", "conv3d", "depthwise_conv2d", "depthwise_conv3d", "im2col"]


def conv2d(
    x: Tensor,
    weights,
    *,
    strides: Extents = 1,
    padding: Padding = "valid",
    dilations: Extents = 1,
    groups=1,
    data_layout="NHWC",
    weights_layout="HWIO",
) -> Tensor:
    """Correlates x with the weights over height and width, zero padded, without bias.

    x: (n, height, width, channels), weights: (height, width, channels / groups, filters), both float32, or as the
    layouts say. strides, dilations: an integer, or one for the height and one for the width. padding: "valid" (none),
    "same" (the result's extent is the input's divided by the stride, rounded up; the odd element goes after), or ((top,
    bottom), (left, right)). ValueError: the channels differ or the window does not fit."""
    attributes = window_attributes("conv2d", strides, dilations, padding) | _layouts(data_layout, weights_layout)
    return apply("conv2d", [x, weights], attributes | {"groups": groups})


def conv3d(
    x: Tensor,
    weights,
    *,
    strides: Extents = 1,
    padding: Padding = "valid",
    dilations: Extents = 1,
    groups=1,
    data_layout="NDHWC",
    weights_layout="DHWIO",
) -> Tensor:
    """Correlates x with the weights over depth, height and width, zero padded, without bias.

    x: (n, depth, height, width, channels), weights: (depth, height, width, channels / groups, filters), or as the
    layouts say (NCDHW, OIDHW). The rest is as in conv2d, with three numbers instead of two."""
    attributes = window_attributes("conv3d", strides, dilations, padding, 3) | _layouts(data_layout, weights_layout)
    return apply("conv3d", [x, weights], attributes | {"groups": groups})


def depthwise_conv2d(
    x: Tensor,
    weights,
    *,
    strides: Extents = 1,
    padding: Padding = "valid",
    dilations: Extents = 1,
    data_layout="NHWC",
    weights_layout="HWIO",
) -> Tensor:
    """Applies conv2d to each channel by itself.

    weights: (height, width, channels, m), or as the layout says with m for O. The result has channels * m channels: c *
    m + k is channel c by its filter k. The rest is as in conv2d."""
    op = "depthwise_conv2d"
    attributes = window_attributes(op, strides, dilations, padding) | _layouts(data_layout, weights_layout)
    return apply(op, [x, weights], attributes)


def depthwise_conv3d(
    x: Tensor, weights, *, strides: Extents = 1, padding: Padding = "valid", dilations: Extents = 1, axis=-1
) -> Tensor:
    """Applies conv3d to each channel by itself, with one filter for each.

    x: (..., depth, height, width, channels), weights: (depth, height, width, channels); or both with the channels at
    another `axis` of the last four, -4 to -1. The rest is as in conv3d."""
    attributes = window_attributes("depthwise_conv3d", strides, dilations, padding, 3)
    return apply("depthwise_conv3d", [x, weights], attributes | {"axis": axis})


def conv2d_transpose(
    x: Tensor,
    weights,
    *,
    output_size=None,
    strides: Extents = 1,
    padding: Padding = "valid",
    dilations: Extents = 1,
    groups=1,
    data_layout="NHWC",
    weights_layout="HWIO",
) -> Tensor:
    """Transposes conv2d: computes the gradient that flows back through conv2d with these attributes.

    x: (n, height, width, channels), weights: (height, width, filters / groups, channels), or as the layouts say: O
    counts the channels of x. Result: (n, output height, output width, filters). output_size: a height and width that
    conv2d would turn into x's; None chooses as Keras does: with "same" x's extents times the strides, with "valid" the
    least that the windows cover, less any explicit padding. ValueError: no image of that size becomes x."""
    op = "conv2d_transpose"
    attributes = window_attributes(op, strides, dilations, padding) | _layouts(data_layout, weights_layout)
    size = [] if output_size is None else per_axis(op, "an output size", output_size)
    return apply(op, [x, weights], attributes | {"groups": groups, "size": size})


def im2col(
    x: Tensor, *, window, strides: Extents = 1, padding: Padding = "valid", dilations: Extents = 1, data_layout="NHWC"
) -> Tensor:
    """Copies each window of an image to a column, with zeros outside the image: PyTorch's unfold.

    x: (n, height, width, channels) gives (n, windows, window height * window width * channels); with the layout NCHW
    (n, channels, height, width) gives (n, channels * window height * window width, windows). window, strides,
    dilations: an integer, or one for the height and one for the width. padding: "valid" (none) or ((top, bottom),
    (left, right)). The height and width must be known."""
    return apply("im2col", [x], _columns("im2col", window, strides, padding, dilations, data_layout))


def col2im(
    columns: Tensor,
    like: Tensor,
    *,
    window,
    strides: Extents = 1,
    padding: Padding = "valid",
    dilations: Extents = 1,
    data_layout="NHWC",
):
    """Adds columns in the form of im2col's result to an image of the shape of `like`; elements of windows that overlap
    are added. It is im2col's adjoint, and PyTorch's fold."""
    return apply("col2im", [columns, like], _columns("col2im", window, strides, padding, dilations, data_layout))


def _layouts(data, weights) -> dict:
    return {"data_layout": data, "weights_layout": weights}


def _columns(op, window, strides, padding, dilations, data_layout) -> dict:
    return {
        "window": per_axis(op, "a window", window),
        "strides": per_axis(op, "strides", strides),
        "dilations": per_axis(op, "dilations", dilations),
        "padding": [0] * 4 if padding == "valid" else explicit_padding(op, padding, 2),
        "data_layout": data_layout,
    }
