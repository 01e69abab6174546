"""Products and parts of matrices."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["band_part", "matmul"]


def matmul(a, b) -> Tensor:
    """The matrix product over the last two axes; leading axes broadcast.

    a: (..., n, k), b: (..., k, m), the result: (..., n, m), all float32. ValueError: the inner dimensions
    differ."""
    return apply("matmul", [a, b])


def band_part(x: Tensor, lower, upper) -> Tensor:
    """The matrices along the last two axes, whose extents must be known, with zeros outside a band.

    lower, upper: how many diagonals stay below and above the main one; all where negative. So (-1, 0) keeps the lower
    triangle."""
    return apply("band_part", [x], {"lower": lower, "upper": upper})
