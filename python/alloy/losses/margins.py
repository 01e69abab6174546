"""Losses of scores that should be right by a margin."""

from alloy._core import Tensor
from alloy.engine.dtypes import is_integer
from alloy.losses.examples import class_count, classes_or_distributions, mean_of_examples, of_same_shape
from alloy.ops import clamp, equal, max, one_hot, relu, square, where
from alloy.ops import sum as sum_of


def hinge(scores: Tensor, targets: Tensor) -> Tensor:
    """max(1 - t z, 0), averaged over an example's elements: z the scores, t 1 where the target is above 0, else -1. So
    targets may be 0 and 1, or -1 and 1.

    Both have one shape (n, ...). Result: (n,). ValueError: the shapes differ."""
    return mean_of_examples(_missing("hinge", scores, targets))


def squared_hinge(scores: Tensor, targets: Tensor) -> Tensor:
    """max(1 - t z, 0)^2, with targets and shapes as in hinge."""
    return mean_of_examples(square(_missing("squared_hinge", scores, targets)))


def categorical_hinge(scores: Tensor, labels: Tensor) -> Tensor:
    """max(1 + max((1 - t) z) - sum(t z), 0) over the last axis, z the scores and t the labels (Keras's formula): 0
    where the label's score is at least 1, and at least 1 above every other score.

    scores: (..., classes). labels: the classes as integers (...), or distributions of the scores' shape. Result: (...),
    NaN where a class is outside 0 to classes - 1. ValueError: the shapes do not belong together."""
    scores, labels = classes_or_distributions("categorical_hinge", scores, labels)
    if not is_integer(labels.dtype):
        return _behind(scores, labels)
    count = class_count("categorical_hinge", scores)
    losses = _behind(scores, one_hot(labels, count))
    return where(equal(clamp(labels, 0, count - 1), labels), losses, float("nan"))


def _behind(scores, labels):
    return relu(max((1.0 - labels) * scores, axis=-1) - sum_of(labels * scores, axis=-1) + 1.0)


def _missing(op, scores, targets):
    scores, targets = of_same_shape(op, scores, targets)
    return relu(1.0 - where(targets > 0.0, scores, -scores))
