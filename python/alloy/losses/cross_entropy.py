"""Losses of logits, whose targets are classes or probabilities."""

import math

from alloy._core import Tensor
from alloy.graph.apply import apply
from alloy.graph.dtypes import is_integer
from alloy.losses.examples import class_count, mean_of_examples, of_same_shape, require_shapes, widened
from alloy.ops import clamp, equal, one_hot, select, softplus, squeeze


def softmax_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-sum(labels * log_softmax(logits)) over the last axis, computed without overflow.

    logits: float32 (..., classes). labels: the classes as integers (...), or distributions of the logits'
    shape and dtype. Result: (...), NaN where a class is none from 0 to classes - 1. ValueError: the shapes do not
    belong together."""
    op = "softmax_cross_entropy"
    logits, labels = widened(op, logits, labels)
    if is_integer(labels.dtype):
        require_shapes(op, "labels", labels, logits, None if logits.shape is None else logits.shape[:-1])
        count = class_count(op, logits)
        loss = squeeze(apply(op, [logits, one_hot(labels, count)], {"axis": -1, "reduction": "none"}), axes=-1)
        return select(equal(clamp(labels, 0, count - 1), labels), loss, math.nan)
    require_shapes(op, "labels", labels, logits, logits.shape)
    return squeeze(apply(op, [logits, labels], {"axis": -1, "reduction": "none"}), axes=-1)


def binary_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of -t log s(z) - (1 - t) log(1 - s(z)), s the logistic function.

    z, the logits, and t, the targets in [0, 1], are of one shape (n, ...). Computed without overflow, as
    t log(1 + e^-z) + (1 - t) log(1 + e^z), and exact where the logits are confident and right."""
    logits, targets = of_same_shape("binary_cross_entropy", logits, targets)
    return mean_of_examples(targets * softplus(-logits) + (1.0 - targets) * softplus(logits))
