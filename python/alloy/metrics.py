"""Metrics, computed in the graph: one number for a batch."""
from alloy._core import Tensor
from alloy.apply import require_tensor
from alloy.dtypes import is_integer
from alloy.ops import cast
from alloy.table_ops import argmax, equal, mean


def accuracy(logits: Tensor, labels: Tensor) -> Tensor:
    """The fraction of examples whose greatest logit is the label's class.

    logits: (..., classes). labels: the classes as integers (...), or distributions of the logits' shape."""
    require_tensor("accuracy", logits)
    require_tensor("accuracy", labels)
    classes = cast(labels, "int32") if is_integer(labels.dtype) else argmax(labels, axis=-1)
    return mean(cast(equal(argmax(logits, axis=-1), classes), "float32"))
