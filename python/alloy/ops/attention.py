"""Attention: softmax over the products of queries and keys gives the weights of values."""

from numbers import Real

from alloy._core import Tensor
from alloy.engine.arrays import require_all
from alloy.messages.location import mistake, typed_as
from alloy.messages.text import describe
from alloy.ops.apply import apply, as_tensor
from alloy.ops.elementwise import cast, where, widened
from alloy.ops.linear_algebra import matmul
from alloy.ops.normalization import softmax
from alloy.ops.shape import transpose
from alloy.ops.table import any

__all__ = ["scaled_dot_product_attention"]

_NEVER = -1e30  # softmax gives 0 for this score; finite, so that a row of nothing else gives no NaN


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, *, attn_mask=None, scale: float | None = None
) -> Tensor:
    """softmax(scale * query key^T) value over the last two axes: Vaswani et al., 2017, with PyTorch's names.

    query: (..., steps, features), key: (..., others, features), value: (..., others, any features), floats of one type;
    leading axes broadcast. Result: (..., steps, features of the value); float16 and bfloat16 are computed in float32
    and rounded once. attn_mask: a tensor or array that broadcasts to the scores, (..., steps, others): bools, true
    where a query may see a key, or floats, which are added to the scores. A query that may see nothing gets zeros.
    scale: by default 1 / sqrt(features). ValueError: the shapes do not fit."""
    op = "scaled_dot_product_attention"
    require_all(op, "tensors", Tensor, [query, key, value])
    if scale is None:
        features = query.shape[-1] if query.shape else None
        if features is None:
            raise mistake(op, f"Expected a query (..., steps, features) of known features, got {describe(query)}")
        scale = features**-0.5
    if isinstance(scale, bool) or not isinstance(scale, Real):
        raise mistake(op, f"Expected a number as scale, got {scale!r}", TypeError)
    operands = [query, key, value]
    attributes = {"scale": float(scale)}
    if attn_mask is None:
        return apply(op, operands, attributes)
    mask = as_tensor(query.graph, op, attn_mask, "float32")
    with typed_as(op):
        return zeros_where_blind(apply(op, [*operands, added(mask)], attributes), mask)


def added(mask: Tensor) -> Tensor:
    """Returns what is added to scores for a mask of bools, or the mask itself, in float32."""
    return where(mask, 0.0, _NEVER) if mask.dtype == "bool" else cast(mask, "float32")


def zeros_where_blind(x: Tensor, mask: Tensor) -> Tensor:
    """Returns x, (..., steps, any), with zeros for each step that may see nothing, by a mask of bools."""
    if mask.dtype != "bool":
        return x
    return where(any(mask, axis=-1, keepdims=True) if mask.shape != () else mask, x, 0.0)


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the weights of values, (..., steps, others), in at least float32, of a query that is scaled."""
    rank = key.ndim
    scores = matmul(widened(query), transpose(widened(key), (*range(rank - 2), rank - 1, rank - 2)))
    return softmax(scores) if mask is None else zeros_where_blind(softmax(scores + added(mask)), mask)
