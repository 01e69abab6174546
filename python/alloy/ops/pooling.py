"""Pooling: one element for each window."""

from alloy._core import Tensor
from alloy.graph.apply import apply, apply_all
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
    """The greatest element of each window, NaN where it holds one; padding never wins. Strides are the window's
    extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest as in conv2d."""
    return _pool2d("max_pool2d", x, window, strides, padding, data_layout)


def avg_pool2d(
    x: Tensor, *, window: Extents = 2, strides: Extents | None = None, padding: Padding = "valid", data_layout="NHWC"
) -> Tensor:
    """The mean of each window, its padding left out. Strides are the window's extents unless given.

    x: (n, height, width, channels), float32, or as the layout says; the rest as in conv2d."""
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
    """max_pool2d with windows over the last four axes of x.

    window, strides, dilations: four integers, 1 along axes that windows do not move over; strides are the window's
    extents unless given. padding: "valid", "same", or four pairs (before, after). ceil_mode: one window more where the
    last element is not reached."""
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
    """max_pool4d, and int32 of the same shape that tell where each element was: the first greatest of its window.

    indices: "global_4d" numbers the elements of the last four axes of x row-major, "global_3d" to "global_1d" those of
    the last three, two or one; "local_4d" to "local_1d" those of the window."""
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
    """The elements of y in zeros of the shape of `like`, each where max_pool4d_with_indices found that of its window;
    those of one place are added. It is also the gradient of that, for y what flows in.

    The rest as in max_pool4d_with_indices. ValueError: windows move along an axis that the indices do not tell."""
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
    """The mean of each window over the last four axes of x; its padding counts only with include_padding. The rest as
    in max_pool4d."""
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
    """The root of the sum of the squares of each window over the last four axes of x; its gradient is 0 where that
    is 0. The rest as in max_pool4d."""
    return apply("l2_pool4d", [x], _pool4d("l2_pool4d", window, strides, padding, dilations, ceil_mode))


def _pool2d(op, x, window, strides, padding, data_layout):
    window = per_axis(op, "a window", window)
    attributes = window_attributes(op, window if strides is None else strides, 1, padding)
    return apply(op, [x], attributes | {"window": window, "data_layout": data_layout})


def _pool4d(op, window, strides, padding, dilations, ceil_mode) -> dict:
    window = per_axis(op, "a window", window, 4)
    attributes = window_attributes(op, window if strides is None else strides, dilations, padding, 4)
    return attributes | {"window": window, "ceil_mode": ceil_mode}
