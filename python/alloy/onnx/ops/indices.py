"""Ops whose operands are positions: gathers, scatters, one-hot."""

import numpy as np

from alloy import ops
from alloy._core import Tensor
from alloy.onnx.node import shape_vector, supports
from alloy.ops.apply import apply


def _from_the_first(node, x, axis, i):
    """Returns the positions of input i along the axis, counted from the first."""
    places = node.value(i)
    extent = x.shape[axis]
    if isinstance(places, np.ndarray) and (extent is not None or (places >= 0).all()):
        if extent is not None and places.size and (places.min() < -extent or places.max() >= extent):
            raise node.wrong(f"Expected positions in {extent} elements, got {places.min()} to {places.max()}")
        return node.graph.constant(np.where(places < 0, places + (extent or 0), places))
    places = node.tensor(i)
    if extent is None:
        extent = ops.cast(apply("shape_of", [x])[axis], places.dtype)
    return ops.where(places < 0, places + extent, places)


@supports("Gather", limits="a position outside gives 0")
def gather(node):
    x = node.tensor(0)
    axis = node.axis(x, node.attribute("axis", 0))
    places = node.value(1)
    if (
        isinstance(places, np.ndarray)
        and places.size == 1
        and places.ndim < 2
        and not isinstance(node.inputs[0], np.ndarray)
    ):
        start = int(places.reshape(()))  # a slice, of which Alloy knows the elements of shapes
        extent = x.shape[axis]
        if extent is None or -extent <= start < extent:
            part = x[(slice(None),) * axis + (slice(start, None if start == -1 else start + 1),)]
            return ops.squeeze(part, axis) if places.ndim == 0 else part
    return ops.gather(x, _from_the_first(node, x, axis, 1), axis)


@supports("GatherElements", limits="the positions have the extents of the data along the other axes")
def gather_elements(node):
    x = node.tensor(0)
    axis = node.axis(x, node.attribute("axis", 0))
    return ops.take_along_axis(x, _from_the_first(node, x, axis, 1), axis)


def _tuples(node, x, i, batch):
    """Returns tuples of positions, counted from the first."""
    places = node.tensor(i)
    length = node.extent(places, -1)
    extents = list(x.shape[batch : batch + length])
    if None not in extents:
        return ops.where(places < 0, places + node.graph.constant(np.array(extents, places.dtype)), places)
    return ops.where(places < 0, places + ops.cast(shape_vector(x)[batch : batch + length], places.dtype), places)


@supports("GatherND", limits="a position outside gives 0")
def gather_nd(node):
    x, batch = node.tensor(0), node.attribute("batch_dims", 0)
    return ops.gather_nd(x, _tuples(node, x, 1, batch), batch_dims=batch)


_MODES = {"none": "set", "add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}


def _mode(node):
    return _MODES[node.word("reduction", "none", _MODES)]


@supports("ScatterElements", limits="the positions have the extents of the data along the other axes")
def scatter_elements(node):
    x, mode = node.tensor(0), _mode(node)
    axis = node.axis(x, node.attribute("axis", 0))
    return ops.put_along_axis(x, _from_the_first(node, x, axis, 1), node.tensor(2), axis, mode=mode)


@supports("ScatterND")
def scatter_nd(node):
    x, mode = node.tensor(0), _mode(node)
    return ops.scatter_nd(x, _tuples(node, x, 1, 0), node.tensor(2), mode=mode)


@supports("OneHot", limits="the depth must be known")
def one_hot(node):
    places, depth, values = node.tensor(0), int(node.number(1)), node.tensor(2)
    axis = node.attribute("axis", -1)
    if places.dtype not in ("int32", "int64"):
        places = ops.cast(places, "int64")
    there = ops.one_hot(ops.where(places < 0, places + depth, places), depth, axis, dtype="bool")
    return ops.where(there, values[1], values[0])


@supports("Slice", limits="bounds must be known")
def slice_of(node):
    x = node.tensor(0)
    starts, ends, steps = node.known(1), node.known(2), node.known(4)
    axes = node.known(3, list(range(len(starts))))
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.wrong(f"Expected as many bounds as axes, got {len(starts)} and {len(axes)}")
    key = [slice(None)] * len(x.shape)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        axis, extent = node.axis(x, axis), x.shape[node.axis(x, axis)]
        if step < 0 and (end < -(2**31) or (extent is not None and end < -extent)):
            end = None  # past the first element
        key[axis] = slice(start, end, step)
    made = x[tuple(key)]
    if made.shape is not None and 0 in made.shape:
        raise node.wrong("Expected elements in the part")
    return ops.identity(made) if _is_same(made, x) else made


def _is_same(made, x) -> bool:
    return isinstance(made, Tensor) and made == x
