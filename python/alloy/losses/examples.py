"""Checks of predictions and targets, and sums over the elements of an example, for losses and metrics."""

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import as_count, may_be_equal
from alloy.engine.dtypes import is_integer
from alloy.messages.location import mistake, warn_user
from alloy.messages.text import describe, shape_text
from alloy.ops import abs, cast, logical_and, mean, min
from alloy.ops import sum as sum_of
from alloy.ops.apply import require_tensor
from alloy.ops.elementwise import widened


def wide_pair(op, predictions, targets):
    """Returns both, float16 and bfloat16 as float32. TypeError: the predictions are integers or bools, as labels
    are."""
    require_tensor(op, predictions)
    require_tensor(op, targets)
    if is_integer(predictions.dtype) or predictions.dtype == "bool":
        raise mistake(op, f"Expected float predictions before the targets, got {describe(predictions)}", TypeError)
    return widened(predictions), widened(targets)


def warn_of_probabilities(op, logits, made_by: str) -> None:
    """Warns the user if the logits are probabilities already, which op would take for logits."""
    ops = logits.graph.inspect(fetches=[logits]) if isinstance(logits, Tensor) else []
    kinds = [each.kind for each in ops if each.kind != "cast"]
    if kinds[-1:] == [made_by]:
        warn_user(f"[{op}] Expected logits, got the result of {made_by}; leave it out, the loss computes it itself")


def extents(x: Tensor) -> tuple[int | None, ...]:
    """Returns the shape of a tensor. ValueError: its rank is not known."""
    if x.shape is None:
        raise mistake("mean", f"Expected values of known rank, got {describe(x)}")
    return x.shape


def of_same_shape(op, predictions, targets):
    """Returns both in float32; targets may be bools or integers. ValueError: their shapes differ."""
    predictions, targets = wide_pair(op, predictions, targets)
    if predictions.shape is None:
        raise mistake(op, f"Expected predictions of known rank, got {describe(predictions)}")
    require_shapes(op, "targets", targets, predictions, predictions.shape)
    return predictions, cast(targets, predictions.dtype)


def require_shapes(op, role, given, like, expected):
    """Refuses shapes that broadcasting would join: (n, 1) and (n,) would give (n, n)."""
    if not may_be_equal(given.shape, expected):
        hint = ""
        if tuple(expected[-1:]) == (1,) and len(given.shape) == len(expected) - 1:
            hint = f"; {role}[..., None] of an array has that shape"
        elif given.shape[-1:] == (1,) and len(expected) == len(given.shape) - 1:
            hint = f"; {role}[..., 0] of an array has that shape"
        raise mistake(
            op, f"Expected {role} of shape {shape_text(expected)} for {describe(like)}, got {describe(given)}{hint}"
        )


def class_count(op, logits) -> int:
    """Returns the number of logits of an example: the extent of the last axis."""
    require_tensor(op, logits)
    if not logits.shape or logits.shape[-1] is None:
        raise mistake(op, f"Expected logits of a known number of classes, got {describe(logits)}")
    return logits.shape[-1]


def mean_of_examples(x):
    """Averages (n, ...) to (n,)."""
    rank = len(extents(x))
    return x if rank < 2 else mean(x, axis=range(1, rank))


def classes_or_distributions(op, logits, labels):
    """Returns the logits (..., classes), widened, and their labels: classes (...) as int32 or int64, or distributions
    of the logits' dtype and shape. ValueError: the shapes do not belong together, or classes are given and their number
    is not known."""
    logits, labels = wide_pair(op, logits, labels)
    integers = is_integer(labels.dtype)
    if logits.shape is None and not integers:
        return logits, cast(labels, logits.dtype)
    count = class_count(op, logits) if integers else None
    given, shape = labels.shape, extents(logits)
    if integers and count != 1 and given and len(given) == len(shape) and given[-1] == count:
        raise mistake(
            op,
            f"Expected integer labels of one axis less than {describe(logits)}, got {describe(labels)}; "
            "cast distributions to float32",
        )
    if not integers and given is not None and len(given) == len(shape) - 1:
        raise mistake(
            op,
            f"Expected classes as integers, or labels of shape {shape_text(shape)} for {describe(logits)}, "
            f"got {describe(labels)}",
        )
    require_shapes(op, "labels", labels, logits, shape[:-1] if integers else shape)
    dtype = logits.dtype if not integers else "int64" if labels.dtype in ("int64", "uint64") else "int32"
    return logits, cast(labels, dtype)


def are_distributions(labels):
    """Tells, (..., 1), whether the numbers of the last axis are 0 or more and add up to 1, to the rounding of
    halves."""
    off = abs(sum_of(labels, axis=-1, keepdims=True) - 1.0)
    return logical_and(off <= SUM_TOLERANCE, min(labels, axis=-1, keepdims=True) >= 0.0)


SUM_TOLERANCE = 0.01  # allows for distributions in float16 and bfloat16


def index_or_none(op, value):
    """Returns the value of ignore_index. ValueError or TypeError: it is neither None nor an int32."""
    return None if value is None else as_count(op, "ignore_index", value, least=-(2**31))


def weights_of_classes(op, name, weights, *shapes):
    """Returns the weights: a tensor or None unchanged, anything else as a float32 array. ValueError: they have none of
    the shapes, or a number below 0."""
    if weights is None or isinstance(weights, Tensor):
        given, what = (weights.shape, describe(weights)) if weights is not None else (None, "")
    else:
        try:
            weights = np.asarray(weights, np.float32)
        except (TypeError, ValueError):
            raise mistake(op, f"Expected {name} as numbers, got {weights!r}", TypeError) from None
        given, what = weights.shape, f"shape {shape_text(weights.shape)}"
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise mistake(op, f"Expected {name} of 0 or more, got {weights.min():g}")
    if not any(may_be_equal(given, shape) for shape in shapes):
        wanted = " or ".join(shape_text(shape) for shape in shapes)
        raise mistake(op, f"Expected {name} of shape {wanted}, got {what}")
    return weights
