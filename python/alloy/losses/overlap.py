"""Losses that compare the predicted region with the right one."""

from alloy._core import Tensor
from alloy.engine.arrays import as_number
from alloy.losses.examples import extents, of_same_shape
from alloy.ops import sigmoid
from alloy.ops import sum as sum_of


def dice(logits: Tensor, targets: Tensor, *, smooth: float = 1.0) -> Tensor:
    """1 - (2 sum(p t) + smooth) / (sum(p) + sum(t) + smooth) over all elements of an example, p the logistic function
    of the logits (Sudre et al., 2017, after Dice, 1945): 0 where the regions are the same.

    logits, targets: (n, ...) of one shape, the targets 0 to 1. Result: (n,). smooth: a number above 0, which gives an
    empty region a gradient. ValueError: the shapes differ, or smooth is not above 0."""
    smooth = as_number("dice", "smooth", smooth, "above 0")
    logits, targets = of_same_shape("dice", logits, targets)
    axes = range(1, len(extents(logits)))
    p = sigmoid(logits)
    both, each = (sum_of(x, axis=axes) if axes else x for x in (p * targets, p + targets))
    return 1.0 - (both * 2.0 + smooth) / (each + smooth)
