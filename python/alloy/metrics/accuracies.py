"""Accuracies: one value for each example."""

from alloy._core import Tensor
from alloy.engine.arrays import as_count
from alloy.losses.examples import class_count, index_or_none, mean_of_examples, require_shapes
from alloy.losses.reduction import weighed
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.metrics.decisions import beside, classes_of, legal, unless
from alloy.ops import (
    argmax,
    cast,
    clamp,
    coordinates,
    equal,
    expand_dims,
    greater,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    squeeze,
    take_along_axis,
)
from alloy.ops import sum as sum_of
from alloy.ops.apply import require_tensor


def accuracy(logits: Tensor, labels: Tensor, *, ignore_index: int | None = None) -> Tensor:
    """1 where the greatest logit is the label's class, else 0: (n,), or (n, steps) for sequences.

    logits: (..., classes). labels: the classes as integers (...), or distributions of the logits' shape. One logit,
    (..., 1), stands for two classes, as in binary_accuracy. ignore_index: integer labels equal to this number do not
    count. ValueError: the logits have no axis of classes, or the shapes do not belong together."""
    require_tensor("accuracy", logits)
    require_tensor("accuracy", labels)
    ignore_index = index_or_none("accuracy", ignore_index)
    if logits.shape is not None and len(logits.shape) < 2:
        raise mistake(
            "accuracy",
            f"Expected logits of shape (n, classes), got {describe(logits)}; "
            "for one logit for each example use al.metrics.binary_accuracy",
        )
    if logits.shape is not None and logits.shape[-1] == 1:
        targets = beside(logits, labels)
        return _counted(
            squeeze(_decided("accuracy", logits, targets), axis=-1), squeeze(targets, axis=-1), ignore_index
        )
    classes = classes_of("accuracy", logits, labels)
    right = equal(cast(argmax(logits, axis=-1), classes.dtype), classes)
    return _counted(cast(right, "float32"), classes, ignore_index)


def binary_accuracy(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns the share of an example's elements on the right side, (n,): logit above 0 (probability above one half)
    where the target is above 0.5.

    logits, targets: numbers of one shape (n, ...). ValueError: the shapes differ."""
    return mean_of_examples(_decided("binary_accuracy", logits, targets))


def top_k_accuracy(logits: Tensor, labels: Tensor, *, k: int = 5, ignore_index: int | None = None) -> Tensor:
    """1 where the label's class is among the k greatest logits, else 0: (n,), or (n, steps) for sequences. Among equal
    logits the first counts as greater.

    logits, labels, ignore_index: as in accuracy. ValueError: there are fewer than k classes."""
    op = "top_k_accuracy"
    require_tensor(op, labels)
    ignore_index = index_or_none(op, ignore_index)
    k = as_count(op, "k", k)
    count = class_count(op, logits)
    if k > count:
        raise mistake(op, f"Expected logits of {k} classes or more, got {describe(logits)}")
    classes = classes_of(op, logits, labels)
    at = cast(expand_dims(clamp(classes, 0, count - 1), axis=-1), "int32")
    own = take_along_axis(logits, at, -1)
    # A NaN is not less: it stands before every label, and a label whose own logit is NaN is never right.
    before = logical_or(
        logical_not(less_equal(logits, own)), logical_and(equal(logits, own), less(coordinates(logits, axis=-1), at))
    )
    rank = sum_of(cast(before, "int32"), axis=-1)
    right = cast(less(rank, k), "float32") * legal(classes, count, None)
    return _counted(right, classes, ignore_index)


def _counted(values, labels, ignore_index):
    weights = unless(labels, ignore_index)
    return values if weights is None else weighed(values, weights)


def _decided(op, logits, targets):
    """Returns 1 where logit and target are on the same side, else 0, in the logits' shape."""
    require_tensor(op, logits)
    require_tensor(op, targets)
    require_shapes(op, "targets", targets, logits, logits.shape)
    return cast(equal(greater(logits, 0.0), greater(cast(targets, "float32"), 0.5)), "float32")
