"""Metrics, computed in the graph: one number for a batch."""

from alloy._core import Tensor
from alloy.graph.apply import require_tensor
from alloy.graph.dtypes import is_integer
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.losses import require_shapes
from alloy.ops import argmax, cast, equal, expand_dims, greater, mean

__all__ = ["accuracy", "binary_accuracy"]


def accuracy(logits: Tensor, labels: Tensor) -> Tensor:
    """The fraction of examples whose greatest logit is the label's class.

    logits: (..., classes). labels: the classes as integers (...), or distributions of the logits' shape. One
    logit, (..., 1), stands for two classes, as in binary_accuracy. ValueError: logits without an axis of
    classes."""
    require_tensor("accuracy", logits)
    require_tensor("accuracy", labels)
    if logits.shape is not None and len(logits.shape) < 2:
        raise mistake(
            "accuracy",
            f"Expected logits of shape (n, classes), got {describe(logits)}; of one logit for "
            "each example al.metrics.binary_accuracy is the accuracy",
        )
    if logits.shape is not None and logits.shape[-1] == 1:
        if labels.shape is not None and len(labels.shape) == len(logits.shape) - 1:
            labels = expand_dims(labels, axis=-1)
        return binary_accuracy(logits, labels)
    classes = cast(labels, "int32") if is_integer(labels.dtype) else argmax(labels, axis=-1)
    return mean(cast(equal(argmax(logits, axis=-1), classes), "float32"))


def binary_accuracy(logits: Tensor, targets: Tensor) -> Tensor:
    """The fraction of elements whose logit is above 0, where its probability is above one half, as their target is
    above 0.5: the accuracy beside binary_cross_entropy.

    targets: numbers of the logits' shape. ValueError: of another shape."""
    require_tensor("binary_accuracy", logits)
    require_tensor("binary_accuracy", targets)
    require_shapes("binary_accuracy", "targets", targets, logits, logits.shape)
    return mean(cast(equal(greater(logits, 0.0), greater(cast(targets, "float32"), 0.5)), "float32"))
