"""Losses: one value for each example, (n,) for a batch of n. al.mean makes one number of them. Of predictions and
targets of float16 or bfloat16 they are computed in float32, and are float32."""

import math

from alloy._core import Tensor
from alloy.graph.apply import apply, require_tensor
from alloy.graph.dtypes import is_half, is_integer
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.ops import (
    abs,
    cast,
    clamp,
    equal,
    exp,
    log,
    maximum,
    mean,
    negative,
    one_hot,
    square,
    squeeze,
    stop_gradient,
    where,
)

__all__ = ["binary_cross_entropy", "mean_squared_error", "softmax_cross_entropy"]


def softmax_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-sum(labels * log_softmax(logits)) over the last axis, computed without overflow.

    logits: float32 (..., classes). labels: the classes as integers (...), or distributions of the logits'
    shape and dtype. Result: (...), NaN where a class is none from 0 to classes - 1. ValueError: the shapes do not
    belong together."""
    op = "softmax_cross_entropy"
    logits, labels = _widened(op, logits, labels)
    if is_integer(labels.dtype):
        require_shapes(op, "labels", labels, logits, None if logits.shape is None else logits.shape[:-1])
        count = _class_count(op, logits)
        loss = squeeze(apply(op, [logits, one_hot(labels, count)], {"axis": -1, "reduction": "none"}), axis=-1)
        return where(equal(clamp(labels, 0, count - 1), labels), loss, math.nan)
    require_shapes(op, "labels", labels, logits, logits.shape)
    return squeeze(apply(op, [logits, labels], {"axis": -1, "reduction": "none"}), axis=-1)


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of (predictions - targets)^2.

    Both float32 of one shape (n, ...)."""
    predictions, targets = _of_same_shape("mean_squared_error", predictions, targets)
    return _mean_of_examples(square(predictions - targets))


def binary_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of -t log s(z) - (1 - t) log(1 - s(z)), s the logistic function.

    z, the logits, and t, the targets in [0, 1], are float32 of one shape (n, ...). Computed without overflow,
    as max(z, 0) - z t + log(1 + e^-|z|), and exact where the logits are confident and right."""
    logits, targets = _of_same_shape("binary_cross_entropy", logits, targets)
    # maximum and not relu: it shares the gradient at 0, where the derivative is 1/2 - t.
    return _mean_of_examples(maximum(logits, 0.0) - logits * targets + _log1p(exp(negative(abs(logits)))))


def _log1p(x):
    """log(1 + x) for x of 0 or more, also where 1 + x rounds: log(u) * x / (u - 1), u being the rounded sum
    (Kahan). Its gradient is that of log(u)."""
    u = 1.0 + x
    plain = log(u)
    exact = where(equal(u, 1.0), x, plain * (x / (u - 1.0)))
    return plain + stop_gradient(exact - plain)


def _mean_of_examples(x):
    return x if len(x.shape) < 2 else mean(x, axis=range(1, len(x.shape)))


def _widened(op, *tensors):
    for tensor in tensors:
        require_tensor(op, tensor)
    return [cast(tensor, "float32") if is_half(tensor.dtype) else tensor for tensor in tensors]


def _of_same_shape(op, predictions, targets):
    predictions, targets = _widened(op, predictions, targets)
    if predictions.shape is None:
        raise mistake(op, f"Expected predictions of known rank, got {describe(predictions)}")
    require_shapes(op, "targets", targets, predictions, predictions.shape)
    return predictions, targets


def require_shapes(op, role, given, like, expected):
    """Against broadcasting, which would make (n, n) of (n, 1) and (n,)."""
    if given.shape is None or expected is None:
        return
    pairs = zip(given.shape, expected)
    if len(given.shape) != len(expected) or any(a != b and None not in (a, b) for a, b in pairs):
        wanted = ", ".join("?" if extent is None else str(extent) for extent in expected)
        raise mistake(op, f"Expected {role} of shape ({wanted}) for {describe(like)}, got {describe(given)}")


def _class_count(op, logits):
    if not logits.shape or logits.shape[-1] is None:
        raise mistake(op, f"Expected logits of a known number of classes, got {describe(logits)}")
    return logits.shape[-1]
