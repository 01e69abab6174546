"""Ops that give the elements of tensors other shapes, or put tensors together."""

import math

from alloy._core import Tensor
from alloy.graph.apply import apply, require_tensor
from alloy.graph.arrays import as_integers
from alloy.graph.location import mistake
from alloy.graph.text import describe

__all__ = ["broadcast_to", "concat", "expand_dims", "flatten", "pad", "reshape", "squeeze", "stack", "transpose"]


def reshape(x: Tensor, shape) -> Tensor:
    """The same elements in row-major order under another shape, in which one dimension may be -1 or None:
    what is left.

    ValueError: the elements do not fit."""
    return apply("reshape", [x], {"shape": [None if extent == -1 else extent for extent in shape]})


def flatten(x: Tensor) -> Tensor:
    """x with all axes but the first made one: (n, ...) becomes (n, m)."""
    batch, *rest = _known_shape("flatten", x, at_least=1)
    return reshape(x, (batch, None if None in rest else math.prod(rest)))


def transpose(x: Tensor, permutation=None) -> Tensor:
    """x with its axes permuted: axis i of the result is axis permutation[i] of x, counted from the end where
    negative. None reverses them."""
    if permutation is None:
        permutation = range(len(_known_shape("transpose", x)))[::-1]
    return apply("transpose", [x], {"permutation": as_integers("transpose", "a permutation", permutation)})


def squeeze(x: Tensor, *, axes=None) -> Tensor:
    """x without its dimensions of size 1 at the axes; None means all that are known to have size 1.

    ValueError: a dimension at the axes is not of size 1."""
    if axes is None:
        axes = [axis for axis, extent in enumerate(_known_shape("squeeze", x)) if extent == 1]
    return apply("squeeze", [x], {"axes": as_integers("squeeze", "axes", axes)})


def expand_dims(x: Tensor, *, axes) -> Tensor:
    """x with dimensions of size 1 inserted; the axes are positions in the result."""
    return apply("expand_dims", [x], {"axes": as_integers("expand_dims", "axes", axes)})


def broadcast_to(x: Tensor, shape) -> Tensor:
    """x repeated to the shape by NumPy's rule. ValueError: x does not broadcast to it."""
    return apply("broadcast_to", [x], {"shape": shape})


def pad(x: Tensor, padding, *, mode="constant", value=0) -> Tensor:
    """x with more elements before and after it along its axes, as numpy.pad.

    padding: a pair (before, after) for each axis, or one integer for all. mode: "constant" (the value), "reflect"
    (mirrored at the last element, which is not repeated), "symmetric" (which is), "edge" (the last element), "wrap"
    (x again), or "antiperiodic" (x again, with the other sign every other time). ValueError: a mirrored part is longer
    than x."""
    if x.shape is None:
        raise mistake("pad", "Expected a tensor of known rank")
    rank = len(x.shape)
    if isinstance(padding, int):
        pairs = [padding] * (2 * rank)
    else:
        try:
            pairs = [count for before, after in padding for count in (before, after)]
        except (TypeError, ValueError):
            raise mistake("pad", f"Expected a pair (before, after) for each axis, got {padding!r}") from None
    pairs = as_integers("pad", "a padding", pairs)
    if mode == "constant":
        return apply("pad", [x, value], {"padding": pairs})
    return apply("pad_edges", [x], {"padding": pairs, "pad_mode": mode})


def concat(tensors, *, axis) -> Tensor:
    """The tensors one after the other along the axis. ValueError: they differ in another axis. TypeError: in
    dtype."""
    return apply("concat", list(tensors), {"axis": axis})


def stack(tensors, *, axis=0) -> Tensor:
    """Tensors of one shape side by side along a new axis, which is a position in the result."""
    return concat([expand_dims(x, axes=axis) for x in tensors], axis=axis)


def _known_shape(op, x, at_least=0):
    require_tensor(op, x)
    if x.shape is None or len(x.shape) < at_least:
        expected = f"known rank, {at_least} or more" if at_least else "known rank"
        raise mistake(op, f"Expected a tensor of {expected}, got {describe(x)}")
    return x.shape
