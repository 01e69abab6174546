"""What was predicted and what is right, of logits and labels, as lists of all places in a batch."""

from alloy._core import Tensor
from alloy.graph.apply import require_all
from alloy.graph.dtypes import is_integer
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.losses.examples import classes_or_distributions, require_shapes
from alloy.losses.reduction import along, times
from alloy.ops import argmax, cast, clamp, equal, expand_dims, logical_and, not_equal, reshape


def logits_of(op, logits, labels):
    """The logits as float32 (..., k); (n,) as (n, 1)."""
    require_all(op, "a tensor", Tensor, [logits, labels])
    if not logits.shape or (len(logits.shape) > 1 and logits.shape[-1] is None):
        raise mistake(op, f"Expected logits (n, classes) of a known number of classes, or (n,), got {describe(logits)}")
    rank, logits = len(logits.shape), cast(logits, "float32")
    return expand_dims(logits, axis=-1) if rank == 1 else logits


def targets_of(op, logits, labels):
    """Labels of logits (..., k) that are decisions of their own, in their shape; of k = 1 they may lack the axis."""
    labels = beside(logits, labels) if logits.shape[-1] == 1 else labels
    require_shapes(op, "targets", labels, logits, logits.shape)
    return labels


def classes_of(op, logits, labels):
    """The classes (...) that labels of logits (..., classes) name: integers as they are, else where they are
    greatest."""
    _, labels = classes_or_distributions(op, logits, labels)
    return labels if is_integer(labels.dtype) else argmax(labels, axis=-1)


def beside(logits, labels):
    """Labels (...) of single logits (..., 1), in their shape."""
    fewer = labels.shape is not None and len(labels.shape) == len(logits.shape) - 1
    return expand_dims(labels, axis=-1) if fewer else labels


def legal(classes, count, ignore_index):
    """1 where the class is one of the count and not ignore_index, else 0: (...) float32."""
    inside = equal(clamp(classes, 0, count - 1), classes)
    if ignore_index is not None:
        inside = logical_and(inside, not_equal(classes, ignore_index))
    return cast(inside, "float32")


def unless(labels, ignore_index):
    """0 where the label is ignore_index, else 1, float32; None for None."""
    return None if ignore_index is None else cast(not_equal(labels, ignore_index), "float32")


def weights_at(values, weights, own=None):
    """The weights (n,) of examples at each of the values (n, ...), times weights of their own, of more of the values'
    axes; None: 1. A tensor of the values' shape."""
    given = [along(w, values) for w in (own, weights) if w is not None]
    return times(*given) if len(given) == 2 else given[0] if given else cast(equal(values, values), "float32")


def column(x):
    """All elements behind each other."""
    return reshape(x, (-1,))
