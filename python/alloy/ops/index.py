"""Ops whose operands are positions in an axis."""

from alloy._core import Tensor
from alloy.graph.apply import apply
from alloy.graph.arrays import as_count

__all__ = ["gather", "one_hot"]


def gather(x: Tensor, indices, *, axis=0, batch_dims=0) -> Tensor:
    """The elements of x along the axis at the indices: of shape
    (*x.shape[:axis], *indices.shape[batch_dims:], *x.shape[axis + 1:]).

    indices: a tensor or an array of int32 or int64. An index outside gives 0, and no gradient flows back
    from it; what it gives on Apple's framework is not known.
    batch_dims: so many leading dimensions x and the indices share; they lie before the axis.
    ValueError: the axis is outside x, or the batch dimensions differ. TypeError: the indices are of another type."""
    return apply(
        "gather", [x, indices], {"axis": axis, "batch_dims": as_count("gather", "batch_dims", batch_dims, least=0)}
    )


def one_hot(indices: Tensor, depth, *, axis=-1, dtype="float32") -> Tensor:
    """1 at the index along a new axis of `depth`, else 0; all 0 for an index outside.

    indices: a tensor of an integer type. axis: the new axis's place in the result, by default the last.
    TypeError: the indices are of another type. ValueError: the axis is outside the result."""
    depth = as_count("one_hot", "a depth", depth)
    return apply("one_hot", [indices], {"axis": axis, "depth": depth, "dtype": dtype})
