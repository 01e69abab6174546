"""Ops whose operands are positions in an axis."""

import numpy as np

from alloy._core import Tensor
from alloy.graph.apply import apply, require_tensor
from alloy.graph.arrays import as_count
from alloy.graph.dtypes import is_integer
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.ops.elementwise import cast
from alloy.ops.shape import expand_dims

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


def one_hot(indices: Tensor, depth) -> Tensor:
    """float32 of shape (*indices.shape, depth): 1 at the index along the last axis, else 0; all 0 for an
    index outside.

    indices: a tensor of an integer type."""
    require_tensor("one_hot", indices)
    if not is_integer(indices.dtype):
        raise mistake("one_hot", f"Expected indices of an integer type, got {describe(indices)}", TypeError)
    positions = np.arange(as_count("one_hot", "a depth", depth), dtype=indices.dtype)
    return cast(apply("equal", [expand_dims(indices, axes=-1), positions]), "float32")
