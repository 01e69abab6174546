"""Losses of logits, whose targets are classes or probabilities."""

import math

from alloy._core import Tensor
from alloy.engine.arrays import as_number
from alloy.engine.dtypes import is_integer
from alloy.losses.examples import (
    are_distributions,
    class_count,
    classes_or_distributions,
    extents,
    index_or_none,
    mean_of_examples,
    of_same_shape,
    warn_of_probabilities,
    weights_of_classes,
)
from alloy.losses.reduction import weighed
from alloy.messages.location import mistake
from alloy.ops import cast, clamp, divide_no_nan, equal, expand_dims, gather, log, one_hot, softplus, squeeze, where
from alloy.ops import sum as sum_of
from alloy.ops.apply import apply


def softmax_cross_entropy(
    logits: Tensor, labels: Tensor, *, label_smoothing: float = 0.0, class_weights=None, ignore_index: int | None = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) over the last axis, computed without overflow, and exact where the logits are
    confident and right.

    logits: (..., classes). labels: the classes as integers (...), or distributions of the logits' shape. Result:
    float32 (...), NaN where a class is outside 0 to classes - 1, or a distribution does not add up to 1. ValueError:
    the shapes do not belong together. The values equal PyTorch's cross_entropy with reduction="none", and their
    al.losses.mean equals reduction="mean".

    label_smoothing: this share of each label, 0 to 1, is spread evenly over all classes (Szegedy et al., 2015).
    class_weights: (classes,) numbers of 0 or more. An integer label counts as much as its class. The weight of a class
    also multiplies the share that smoothing moves to it, and its part of a distribution.
    ignore_index: integer labels equal to this number do not count, and need not be classes.

    An example of a class of weight 0 does not count; PyTorch would still add the shares that smoothing moved to other
    classes."""
    op = "softmax_cross_entropy"
    smoothing, ignore_index = (
        as_number(op, "label_smoothing", label_smoothing, "from 0 to 1"),
        index_or_none(op, ignore_index),
    )
    warn_of_probabilities(op, logits, "softmax")
    logits, labels = classes_or_distributions(op, logits, labels)
    plain = smoothing == 0 and class_weights is None and not is_integer(labels.dtype)
    scales = weights_of_classes(op, "class_weights", class_weights, (None if plain else class_count(op, logits),))
    if not is_integer(labels.dtype):
        if ignore_index is not None:
            raise mistake(op, "Expected integers as labels beside ignore_index, got distributions")
        labels = where(are_distributions(labels), labels, math.nan)
        labels = labels if smoothing == 0 else labels * (1 - smoothing) + smoothing / class_count(op, logits)
        return squeeze(_of_distributions(logits, labels if scales is None else labels * scales), axis=-1)
    count = class_count(op, logits)
    own = None if scales is None else gather(_tensor(logits, scales), clamp(labels, 0, count - 1))
    distributions = one_hot(labels, count)
    if smoothing != 0:
        spread = smoothing / count
        if own is not None:
            spread = divide_no_nan(_tensor(logits, scales) * spread, expand_dims(own, axis=-1))
        distributions = distributions * (1 - smoothing) + spread
    # With the axis of classes, of length 1: devices compute that, and its gradient, together with the softmax.
    column = expand_dims(labels, axis=-1)
    sound = equal(clamp(column, 0, count - 1), column)
    values = squeeze(where(sound, _of_distributions(logits, distributions), math.nan), axis=-1)
    if own is None and ignore_index is None:
        return values
    weights = where(squeeze(sound, axis=-1), 1.0 if own is None else own, cast(equal(labels, labels), "float32"))
    return weighed(values, weights if ignore_index is None else where(equal(labels, ignore_index), 0.0, weights))


def binary_cross_entropy(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, class_weights=None, pos_weight=None
) -> Tensor:
    """-t log s(z) - (1 - t) log(1 - s(z)), s the logistic function, averaged over an example's elements.

    z, the logits, and t, the targets in [0, 1], have one shape (n, ...); other targets give NaN. Result: (n,), computed
    as t log(1 + e^-z) + (1 - t) log(1 + e^z): without overflow, and exact where the logits are confident and right.
    ValueError: the shapes differ. The mean of the result equals PyTorch's binary_cross_entropy_with_logits.

    label_smoothing: t moves by this share, 0 to 1, of its way to one half.
    class_weights: a factor of the loss: a number, or one for each element of the last axis.
    pos_weight: the same, for the part of the loss with log s(z) alone."""
    op = "binary_cross_entropy"
    smoothing = as_number(op, "label_smoothing", label_smoothing, "from 0 to 1")
    warn_of_probabilities(op, logits, "sigmoid")
    logits, targets = of_same_shape(op, logits, targets)
    targets = where(equal(clamp(targets, 0.0, 1.0), targets), targets, math.nan)
    last = extents(logits)[-1:]
    shapes = ((), last) if last else ((),)
    scales, positive = (
        weights_of_classes(op, name, given, *shapes)
        for name, given in (("class_weights", class_weights), ("pos_weight", pos_weight))
    )
    if smoothing != 0:
        targets = targets * (1 - smoothing) + smoothing / 2
    of_ones = targets * softplus(-logits)
    losses = (of_ones if positive is None else of_ones * positive) + (1.0 - targets) * softplus(logits)
    return mean_of_examples(losses if scales is None else losses * scales)


def kl_divergence(logits: Tensor, targets: Tensor) -> Tensor:
    """sum(t * (log t - log_softmax(logits))) over the last axis: the Kullback-Leibler divergence of the predicted
    distribution from the targets t, 0 where both are equal.

    logits, targets: (..., classes), the targets distributions, whose zeros add nothing. Result: (...). ValueError: the
    shapes differ."""
    op = "kl_divergence"
    logits, targets = of_same_shape(op, logits, targets)
    class_count(op, logits)
    certain = sum_of(targets * log(where(targets > 0.0, targets, 1.0)), axis=-1)
    return certain + squeeze(_of_distributions(logits, targets), axis=-1)


def _of_distributions(logits, labels):
    """Returns the losses, with the axis of classes, of length 1."""
    return apply("softmax_cross_entropy", [logits, labels], {"axis": -1, "reduction": "none"})


def _tensor(like, weights):
    return weights if isinstance(weights, Tensor) else like.graph.constant(weights)
