"""What losses and metrics expect of predictions and targets, and what they make of the elements of an example."""

from alloy.graph.apply import require_tensor
from alloy.graph.dtypes import is_half
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.ops import cast, mean


def widened(op, *tensors):
    """The tensors, those of halves as float32."""
    for tensor in tensors:
        require_tensor(op, tensor)
    return [cast(tensor, "float32") if is_half(tensor.dtype) else tensor for tensor in tensors]


def of_same_shape(op, predictions, targets):
    """Both in float32; targets may be bools or integers. ValueError: their shapes differ."""
    predictions, targets = widened(op, predictions, targets)
    if predictions.shape is None:
        raise mistake(op, f"Expected predictions of known rank, got {describe(predictions)}")
    require_shapes(op, "targets", targets, predictions, predictions.shape)
    return predictions, cast(targets, predictions.dtype)


def require_shapes(op, role, given, like, expected):
    """Against broadcasting, which would make (n, n) of (n, 1) and (n,)."""
    if given.shape is None or expected is None:
        return
    pairs = zip(given.shape, expected)
    if len(given.shape) != len(expected) or any(a != b and None not in (a, b) for a, b in pairs):
        wanted = ", ".join("?" if extent is None else str(extent) for extent in expected)
        raise mistake(op, f"Expected {role} of shape ({wanted}) for {describe(like)}, got {describe(given)}")


def class_count(op, logits):
    """How many logits an example has: the extent of the last axis."""
    require_tensor(op, logits)
    if not logits.shape or logits.shape[-1] is None:
        raise mistake(op, f"Expected logits of a known number of classes, got {describe(logits)}")
    return logits.shape[-1]


def mean_of_examples(x):
    """(n,) of (n, ...)."""
    return x if len(x.shape) < 2 else mean(x, axes=range(1, len(x.shape)))
