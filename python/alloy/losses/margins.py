"""Losses of scores that are to be right by a margin."""

from alloy._core import Tensor
from alloy.graph.dtypes import is_integer
from alloy.losses.examples import class_count, classes_or_distributions, mean_of_examples, of_same_shape
from alloy.ops import clamp, equal, max, one_hot, relu, square, where
from alloy.ops import sum as sum_of


def hinge(scores: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of max(1 - t z, 0), z the scores and t 1 where the target is above 0, else
    -1: targets may be 0 and 1, or -1 and 1.

    Both of one shape (n, ...). Result: (n,). ValueError: the shapes differ."""
    return mean_of_examples(_missing("hinge", scores, targets))


def squared_hinge(scores: Tensor, targets: Tensor) -> Tensor:
    """As hinge, of max(1 - t z, 0)^2."""
    return mean_of_examples(square(_missing("squared_hinge", scores, targets)))


def categorical_hinge(scores: Tensor, labels: Tensor) -> Tensor:
    """max(1 + max((1 - t) z) - sum(t z), 0) over the last axis, z the scores and t the labels: by how much the label's
    score is not 1 above the greatest other one, or above 0 where all others are negative (Keras's formula).

    scores: (..., classes). labels: the classes as integers (...), or distributions of the scores' shape. Result: (...),
    NaN where a class is none from 0 to classes - 1. ValueError: the shapes do not belong together."""
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
