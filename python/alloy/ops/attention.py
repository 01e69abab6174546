"""Attention: softmax over the products of queries and keys gives the weights of values."""

from numbers import Real

from alloy._core import Tensor
from alloy.engine.dtypes import is_half
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops.apply import as_tensor, require_all
from alloy.ops.elementwise import cast, where
from alloy.ops.linear_algebra import matmul
from alloy.ops.normalization import softmax
from alloy.ops.shape import transpose

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
    if key.shape is None or len(key.shape) < 2 or not query.shape or query.shape[-1] is None:
        raise mistake(
            op, f"Expected a query and a key (..., steps, features), got {describe(query)} and {describe(key)}"
        )
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, Real)):
        raise mistake(op, f"Expected a number as scale, got {scale!r}", TypeError)
    rank, width, dtype = len(key.shape), query.shape[-1], query.dtype
    if is_half(dtype) and key.dtype == value.dtype == dtype:
        query, key, value = (cast(x, "float32") for x in (query, key, value))
    turned = transpose(key, (*range(rank - 2), rank - 1, rank - 2))
    scores = matmul(query * float(width**-0.5 if scale is None else scale), turned)
    if attn_mask is not None and not isinstance(attn_mask, Tensor):
        attn_mask = as_tensor(query.graph, op, attn_mask, "float32")
    return cast(matmul(attention_weights(scores, attn_mask), value), dtype)


def attention_weights(scores: Tensor, mask: Tensor | None, always_some: bool = False) -> Tensor:
    """Computes softmax over the last axis of the scores where the mask is true, 0 elsewhere, in at least float32.
    always_some: every row of a bool mask has a true element."""
    scores = cast(scores, "float32") if is_half(scores.dtype) else scores
    if mask is None:
        return softmax(scores)
    if mask.dtype != "bool":
        return softmax(scores + cast(mask, scores.dtype))
    weights = softmax(where(mask, scores, _NEVER))
    return weights if always_some else where(mask, weights, 0.0)
