"""Turns a batch's logits and labels into flat lists of decisions, right answers and weights."""

from alloy._core import Tensor
from alloy.engine.arrays import require_all
from alloy.engine.dtypes import is_integer
from alloy.losses.examples import classes_or_distributions, require_shapes
from alloy.losses.reduction import along, times
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops import argmax, cast, clamp, equal, expand_dims, logical_and, not_equal, reshape


def logits_of(op, logits, labels):
    """Returns the logits as float32 (..., k); (n,) becomes (n, 1)."""
    require_all(op, "a tensor", Tensor, [logits, labels])
    if not logits.shape or (len(logits.shape) > 1 and logits.shape[-1] is None):
        raise mistake(op, f"Expected logits (n, classes) of a known number of classes, or (n,), got {describe(logits)}")
    rank, logits = len(logits.shape), cast(logits, "float32")
    return expand_dims(logits, axis=-1) if rank == 1 else logits


def targets_of(op, logits, labels):
    """Returns the labels of k independent decisions, in the shape of logits (..., k); for k = 1 they may lack the last
    axis."""
    labels = beside(logits, labels) if logits.shape[-1] == 1 else labels
    require_shapes(op, "targets", labels, logits, logits.shape)
    return labels


def classes_of(op, logits, labels):
    """Returns the classes (...) for logits (..., classes): integer labels as they are, else the greatest number's
    place."""
    _, labels = classes_or_distributions(op, logits, labels)
    return labels if is_integer(labels.dtype) else argmax(labels, axis=-1)


def beside(logits, labels):
    """Gives labels (...) of single logits (..., 1) the logits' shape."""
    fewer = labels.shape is not None and len(labels.shape) == len(logits.shape) - 1
    return expand_dims(labels, axis=-1) if fewer else labels


def legal(classes, count, ignore_index):
    """1 where the class is between 0 and count - 1 and not ignore_index, else 0: (...) float32."""
    inside = equal(clamp(classes, 0, count - 1), classes)
    if ignore_index is not None:
        inside = logical_and(inside, not_equal(classes, ignore_index))
    return cast(inside, "float32")


def unless(labels, ignore_index):
    """0 where the label is ignore_index, else 1, float32; None without an ignore_index."""
    return None if ignore_index is None else cast(not_equal(labels, ignore_index), "float32")


def weights_at(values, weights, own=None):
    """Returns the weights (n,) of examples at each of the values (n, ...), times `own` weights of these places; None
    counts as 1. The result has the values' shape."""
    given = [along(w, values) for w in (own, weights) if w is not None]
    return times(*given) if len(given) == 2 else given[0] if given else cast(equal(values, values), "float32")


def column(x):
    """Flattens to one axis."""
    return reshape(x, (-1,))
