"""Convolutions."""

from alloy._core import Tensor
from alloy.graph.apply import apply
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
    """The 2-D correlation of x with the weights, zero padded, without bias.

    x: (n, height, width, channels) and weights: (height, width, channels / groups, filters), both float32, or
    as the layouts say. strides, dilations: an integer, or one for the height and one for the width. padding:
    "valid" (none), "same" (the output's extent is the input's divided by the stride, rounded up; the odd
    element goes after), or ((top, bottom), (left, right)). ValueError: the channels differ or the window does
    not fit."""
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
    """The 3-D correlation of x with the weights, zero padded, without bias.

    x: (n, depth, height, width, channels) and weights: (depth, height, width, channels / groups, filters), or as
    the layouts say (NCDHW, OIDHW); the rest as in conv2d, with three numbers where that has two."""
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
    """conv2d of each channel by itself.

    weights: (height, width, channels, m), or as the layout says with m in place of O. The result has channels * m
    channels: c * m + k is channel c by its filter k. The rest as in conv2d."""
    op = "depthwise_conv2d"
    attributes = window_attributes(op, strides, dilations, padding) | _layouts(data_layout, weights_layout)
    return apply(op, [x, weights], attributes)


def depthwise_conv3d(
    x: Tensor, weights, *, strides: Extents = 1, padding: Padding = "valid", dilations: Extents = 1, axis=-1
) -> Tensor:
    """conv3d of each channel by itself, with one filter for each.

    x: (..., depth, height, width, channels) and weights: (depth, height, width, channels); or with the channels at
    another `axis` of the last four, -4 to -1, of both. The rest as in conv3d."""
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
    """The transposed 2-D convolution: what flows back through conv2d with these attributes, as an op of its own.

    x: (n, height, width, channels) and weights: (height, width, filters / groups, channels), or as the layouts say:
    O counts the channels of x. The result has so many filters. output_size: its height and width, of which conv2d
    makes those of x; None chooses as Keras does: with "same" x's by the strides, with "valid" the least that the
    windows cover, else what padding leaves of that. ValueError: no image of that size becomes x."""
    op = "conv2d_transpose"
    attributes = window_attributes(op, strides, dilations, padding) | _layouts(data_layout, weights_layout)
    size = [] if output_size is None else per_axis(op, "an output size", output_size)
    return apply(op, [x, weights], attributes | {"groups": groups, "size": size})


def im2col(
    x: Tensor, *, window, strides: Extents = 1, padding: Padding = "valid", dilations: Extents = 1, data_layout="NHWC"
) -> Tensor:
    """The elements of each window over an image as columns, zeros where it hangs over: PyTorch's unfold.

    x: (n, height, width, channels) gives (n, windows, window height * window width * channels); with the layout NCHW
    (n, channels, height, width) gives (n, channels * window height * window width, windows). window, strides,
    dilations: an integer, or one for the height and one for the width. padding: "valid" (none) or
    ((top, bottom), (left, right)). The height and width must be known."""
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
    """An image of the shape of `like` from columns as im2col gives them: elements of windows that overlap are added.
    It is im2col's adjoint, and PyTorch's fold."""
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
