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

__all__ = ["one_hot"]


def one_hot(indices: Tensor, depth) -> Tensor:
    """float32 of shape (*indices.shape, depth): 1 at the index along the last axis, else 0; all 0 for an
    index outside.

    indices: a tensor of an integer type."""
    require_tensor("one_hot", indices)
    if not is_integer(indices.dtype):
        raise mistake("one_hot", f"Expected indices of an integer type, got {describe(indices)}", TypeError)
    positions = np.arange(as_count("one_hot", "a depth", depth), dtype=indices.dtype)
    return cast(apply("equal", [expand_dims(indices, axes=-1), positions]), "float32")
