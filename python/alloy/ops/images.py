"""Resizes images."""

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import as_integers
from alloy.messages.location import mistake
from alloy.ops.apply import apply

__all__ = ["resize"]


def resize(
    x: Tensor,
    size,
    *,
    mode="bilinear",
    axis=(1, 2),
    center=True,
    align_corners=False,
    rounding="round_prefer_ceil",
    scale=None,
    offset=None,
) -> Tensor:
    """Resizes x to the extents `size` along the axis, one or several: by default the height and width of (n, height,
    width, channels).

    Place d of the result is place (d + 0.5) in / out - 0.5 of x, as in PyTorch and TensorFlow 2; without center d in /
    out; with align_corners d (in - 1) / (out - 1). With scale and offset, an array with a number for each axis, place p
    of x goes to place p scale + offset. Places outside x take its edge.
    mode: "bilinear" (linear along each axis between two elements) or "nearest". rounding, for "nearest": halves go
    "round_prefer_ceil", "round_prefer_floor", "round_to_even" or "round_to_odd"; or everything goes "floor" or "ceil".
    The extents of x along the axes must be known."""
    numbers = [] if scale is None and offset is None else [np.asarray(v, "float32") for v in (scale, offset)]
    if any(v.dtype != np.float32 or np.isnan(v).any() for v in numbers):
        raise mistake("resize", "Expected a scale and an offset, got one of them")
    attributes = {
        "axes": as_integers("resize", "axes", axis),
        "size": as_integers("resize", "a size", size),
        "resize_mode": mode,
        "rounding": rounding,
        "center": center,
        "align_corners": align_corners,
    }
    return apply("resize", [x, *numbers], attributes)
