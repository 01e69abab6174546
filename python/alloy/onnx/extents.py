"""Names of the extents that only a run knows, so that equal ones are known to be equal: a batch that a node takes from
the shape of one tensor is the batch of another.

A name belongs to an open axis of an input, or of a tensor at which a new one begins. An op that keeps extents passes
the one name of its operands on; others are looked at below."""

from collections.abc import Callable

import numpy as np

from alloy._core import Tensor
from alloy.onnx.static import Unknown

# Ops that may change extents along the axes after the first.
_KEEP_THE_FIRST = (
    *("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "MaxUnpool", "Resize", "DepthToSpace"),
    *("SpaceToDepth", "Col2Im"),
)
# Ops that may change the extent along one axis, and keep the others.
_CHANGE_ONE = {"Concat": None, "Split": 0, "TopK": -1}
# Ops whose result has the shape of an operand's elements.
_OF_A_SHAPE = {"Reshape": 1, "Expand": 1, "ConstantOfShape": 0}
_NEW = (
    *("Tile", "Pad", "CenterCropPad", "Range", "Gather", "GatherElements", "GatherND", "Einsum", "Flatten", "EyeLike"),
    *("RandomNormal", "RandomUniform", "OneHot", "AffineGrid"),
)


def names_of(work, made: Tensor, names: Callable[[Tensor], list]) -> list:
    """Returns a name for each axis of what a node made, None for an extent that is known."""
    if made.shape is None or None not in made.shape:
        return []
    operands = [value for value in work.inputs if isinstance(value, Tensor) and value.shape is not None]
    open_axes = [i for i, extent in enumerate(made.shape) if extent is None]
    before = names(operands[0]) if operands else []
    found = {i: object() for i in open_axes}
    if work.op in _OF_A_SHAPE:
        found |= _of_shape(work, made, before, open_axes)
    elif work.op in _KEEP_THE_FIRST or work.op in _CHANGE_ONE or work.op == "Slice":
        changed = _changed(work, len(made.shape))
        found |= {i: before[i] for i in open_axes if i < len(before) and i not in changed and before[i] is not None}
    elif work.op not in _NEW:
        known = {name for operand in operands for name in names(operand) if name is not None}
        if len(known) == 1:
            found = dict.fromkeys(open_axes, *known)
    return [found.get(i) for i in range(len(made.shape))]


def _of_shape(work, made, before, open_axes) -> dict:
    target = work.partly(_OF_A_SHAPE[work.op])
    if target is None:
        return {}
    rank, entries = len(made.shape), list(np.reshape(target, -1))
    entries = [1] * (rank - len(entries)) + entries
    found = {i: entries[i].name for i in open_axes if isinstance(entries[i], Unknown) and entries[i].name is not None}
    if work.op == "Reshape" and len(open_axes) == 1:
        x = work.inputs[0].shape
        others = [extent for extent in x if extent is not None]
        names = [name for name in before if name is not None]
        kept = [extent for extent in made.shape if extent is not None]
        if len(names) == 1 and np.prod(others) == np.prod(kept):
            found[open_axes[0]] = names[0]
    return found


def _changed(work, rank) -> set[int]:
    if work.op in _CHANGE_ONE:
        axis = work.node.attributes.get("axis", _CHANGE_ONE[work.op])
        return {axis % rank}
    if work.op == "Slice":
        return {axis % rank for axis in work.known(3, list(range(len(work.known(1)))))}
    return set(range(1, rank))
