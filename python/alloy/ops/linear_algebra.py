"""Products of matrices."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["matmul"]


def matmul(a, b) -> Tensor:
    """The matrix product over the last two axes; leading axes broadcast.

    a: (..., n, k), b: (..., k, m), the result: (..., n, m), all float32. ValueError: the inner dimensions
    differ."""
    return apply("matmul", [a, b])
