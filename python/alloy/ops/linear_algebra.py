"""Products, inverses and parts of matrices, and distances between their rows."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["band_part", "hamming_distance", "inverse", "matmul"]


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


def inverse(x: Tensor) -> Tensor:
    """The inverse of the square matrices over the last two axes, by elimination with partial pivoting in float64. Of a
    singular matrix it has infinities and NaN, or what rounding makes of it. ValueError: they are not square."""
    return apply("inverse", [x])


def hamming_distance(a, b, *, dtype="uint32") -> Tensor:
    """How many bits differ between row i of a and row j of b, over all elements of the rows.

    a: (..., m, k), b: (..., n, k), of one integer type; leading axes broadcast. The result: (..., m, n), of dtype
    uint16 or uint32. ValueError: the rows differ in length. TypeError: the dtypes differ or are others."""
    return apply("hamming_distance", [a, b], {"dtype": dtype})
