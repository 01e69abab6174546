"""Pooling: each window gives one element."""

from alloy._core import Tensor
from alloy.ops.apply import apply, apply_all
from alloy.ops.windows import Extents, Padding, per_axis, window_attributes

__all__ = [
    "avg_pool2d",
    "avg_pool4d",
    "l2_pool4d",
    "max_pool2d",
    "max_pool4d",
    "max_pool4d_with_indices",
    "max_unpool4d",
]


def max_pool2d(
    x: Tensor, *, window: Extents = 2, strides: Extents | None = None, padding: Padding = "valid", data_layout="NHWC"
) -> Tensor:
    """Returns the greatest element of each window, NaN if the window holds one; padding never wins. Strides are the
    window's extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest is as in conv2d."""
    return _pool2d("max_pool2d", x, window, strides, padding, data_layout)


def avg_pool2d(
    x: Tensor, *, window: Extents = 2, strides: Extents | None = None, padding: Padding = "valid", data_layout="NHWC"
) -> Tensor:
    """Averages each window, without its padding. Strides are the window's extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest is as in conv2d."""
    return _pool2d("avg_pool2d", x, window, strides, padding, data_layout)


def max_pool4d(
    x: Tensor,
    *,
    window: Extents,
    strides: Extents | None = None,
    padding: Padding = "valid",
    dilations=1,
    ceil_mode=False,
) -> Tensor:
    """Applies max_pool2d with windows over the last four axes of x.

    window, strides, dilations: four integers, 1 along axes that windows do not move over; strides are the window's
    extents unless given. padding: "valid", "same", or four pairs (before, after). ceil_mode: adds a window if the last
    element is not reached."""
    return apply("max_pool4d", [x], _pool4d("max_pool4d", window, strides, padding, dilations, ceil_mode))


def max_pool4d_with_indices(
    x: Tensor,
    *,
    window: Extents,
    strides: Extents | None = None,
    padding: Padding = "valid",
    dilations=1,
    ceil_mode=False,
    indices="global_4d",
) -> tuple[Tensor, Tensor]:
    """Returns max_pool4d, and int32 of the same shape with the place of each element: the first greatest of its window.

    indices: "global_4d" numbers the elements along the last four axes of x row-major, "global_3d" to "global_1d" along
    the last three, two or one; "local_4d" to "local_1d" number the window's elements."""
    op = "max_pool4d_with_indices"
    attributes = _pool4d(op, window, strides, padding, dilations, ceil_mode) | {"indices_mode": indices}
    values, places = apply_all(op, [x], attributes)
    return values, places


def max_unpool4d(
    y: Tensor,
    places: Tensor,
    like: Tensor,
    *,
    window: Extents,
    strides: Extents | None = None,
    padding: Padding = "valid",
    dilations=1,
    ceil_mode=False,
    indices="global_4d",
) -> Tensor:
    """Adds each element of y, in zeros of the shape of `like`, at the place that max_pool4d_with_indices found for its
    window. It is also the gradient of that op, for y the gradient of its result.

    The rest is as in max_pool4d_with_indices. ValueError: windows move along an axis that the indices do not cover."""
    op = "max_pool4d_gradient_with_indices"
    attributes = _pool4d(op, window, strides, padding, dilations, ceil_mode) | {"indices_mode": indices}
    return apply(op, [y, places, like], attributes, typed="max_unpool4d")


def avg_pool4d(
    x: Tensor,
    *,
    window: Extents,
    strides: Extents | None = None,
    padding: Padding = "valid",
    dilations=1,
    ceil_mode=False,
    include_padding=False,
) -> Tensor:
    """Averages each window over the last four axes of x; padding counts only with include_padding. The rest is as in
    max_pool4d."""
    attributes = _pool4d("avg_pool4d", window, strides, padding, dilations, ceil_mode)
    return apply("avg_pool4d", [x], attributes | {"include_padding": include_padding})


def l2_pool4d(
    x: Tensor,
    *,
    window: Extents,
    strides: Extents | None = None,
    padding: Padding = "valid",
    dilations=1,
    ceil_mode=False,
) -> Tensor:
    """sqrt(sum(x^2)) over each window of the last four axes of x; the gradient is 0 where the result is 0. The rest is
    as in max_pool4d."""
    return apply("l2_pool4d", [x], _pool4d("l2_pool4d", window, strides, padding, dilations, ceil_mode))


def _pool2d(op, x, window, strides, padding, data_layout):
    window = per_axis(op, "a window", window)
    attributes = window_attributes(op, window if strides is None else strides, 1, padding)
    return apply(op, [x], attributes | {"window": window, "data_layout": data_layout})


def _pool4d(op, window, strides, padding, dilations, ceil_mode) -> dict:
    window = per_axis(op, "a window", window, 4)
    attributes = window_attributes(op, window if strides is None else strides, dilations, padding, 4)
    return attributes | {"window": window, "ceil_mode": ceil_mode}
