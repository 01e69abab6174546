"""Integers that are computed from shapes and constants: with NumPy, while the graph is built. Exporters compute the
shapes of reshapes, slices and expansions by such nodes. An extent that only a run knows is an Unknown, and so is
all that is computed from it."""

import math
from collections.abc import Callable

import numpy as np

_MOST = 2**16  # elements; larger arrays are computed by the graph


class Unknown:
    """An integer that only a run knows. name: of an open extent (alloy.onnx.extents); None: any other integer."""

    def __init__(self, name=None):
        self.name = name

    def _unknown(self, *others):
        return UNKNOWN

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _unknown
    __mod__ = __rmod__ = __neg__ = __abs__ = _unknown

    def __repr__(self):
        return "?"


UNKNOWN = Unknown()


def is_whole(array: np.ndarray) -> bool:
    return array.dtype != object or not any(isinstance(value, Unknown) for value in array.flat)


def plain(array: np.ndarray) -> np.ndarray:
    """Returns the array without Python's objects: int64."""
    return array.astype(np.int64) if array.dtype == object else array


def evaluated(work, inputs) -> np.ndarray | None:
    """Returns the node's first output, with an Unknown where only a run knows it; None if the graph must compute it."""
    if work.op in ("Shape", "Size"):
        return _shape(work, inputs[0])
    function = _FUNCTIONS.get(work.op)
    if function is None or not all(value is None or isinstance(value, np.ndarray) for value in inputs):
        return None
    if work.op in _OF_NUMBERS and any(value is not None and value.dtype == object for value in inputs):
        return None
    if any(value is not None and value.size > _MOST for value in inputs):
        return None
    with np.errstate(all="ignore"):
        made = function(work, *inputs)
    made = None if made is None else np.asarray(made)
    return made.astype(np.float32) if made is not None and made.dtype == np.float64 else made


def _shape(work, x):
    if x is None or x.shape is None:
        return None
    shape = list(x.shape)
    if work.op == "Size":
        return _objects([UNKNOWN if None in shape else math.prod(map(int, shape))]).reshape(())
    names = work.names(x) if None in shape else shape
    extents = [Unknown(name) if extent is None else int(extent) for name, extent in zip(names, shape)]
    start, end = work.attribute("start", 0), work.attribute("end", len(extents))
    return _objects(extents[start:end])


def _fits(*arrays) -> bool:
    return math.prod(np.broadcast_shapes(*(array.shape for array in arrays))) <= _MOST


def _objects(values) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _axes(work, rank, given) -> list[int]:
    axes = [int(axis) for axis in np.reshape(given, -1)]
    if any(not -rank <= axis < rank for axis in axes):
        raise work.wrong(f"Expected axes of {rank}, got {axes}")
    return sorted(axis % rank for axis in axes)


def _unsqueeze(work, x, axes):
    return np.expand_dims(x, tuple(_axes(work, x.ndim + axes.size, axes)))


def _squeeze(work, x, axes=None):
    if axes is None:
        return np.squeeze(x)
    return np.squeeze(x, tuple(_axes(work, x.ndim, axes)))


def _gather(work, x, indices):
    if indices.dtype == object or x.size * indices.size > _MOST:
        return None
    return np.take(x, indices, axis=work.attribute("axis", 0))


def _slice(work, x, starts, ends, axes=None, steps=None):
    if any(each is not None and each.dtype == object and not is_whole(each) for each in (starts, ends, axes, steps)):
        return None
    axes = np.arange(starts.size) if axes is None else axes
    steps = np.ones(starts.size, np.int64) if steps is None else steps
    key = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts.flat, ends.flat, axes.flat, steps.flat):
        start, end, axis, step = int(start), int(end), int(axis), int(step)
        if step < 0:  # as Python writes them
            extent = x.shape[axis]
            end = None if end < -extent else end
        key[axis] = slice(start, end, step)
    return x[tuple(key)]


def _reshape(work, x, shape):
    if not is_whole(shape):
        return None
    extents = [int(extent) for extent in shape.flat]
    if not work.attribute("allowzero", 0):
        extents = [x.shape[i] if extent == 0 else extent for i, extent in enumerate(extents)]
    return x.reshape(extents)


def _cast(work, x):
    from alloy.onnx.file import ELEMENTS

    dtype = ELEMENTS.get(work.attribute("to", int))
    if x.dtype == object and not is_whole(x):
        return x if dtype in ("int32", "int64") else None
    return None if dtype is None or dtype == "bfloat16" else plain(x).astype(dtype)


def _equal(work, a, b):
    """a == b; an extent of a tensor equals no negative number."""
    if not _fits(a, b):
        return None
    if a.dtype != object and b.dtype != object:
        return a == b
    made = [_are_equal(*pair) for pair in np.broadcast(a, b)]
    if any(isinstance(value, Unknown) for value in made):
        return None
    return np.reshape(np.array(made, bool), np.broadcast_shapes(a.shape, b.shape))


def _are_equal(a, b):
    if not isinstance(a, Unknown) and not isinstance(b, Unknown):
        return a == b
    extent, other = (a, b) if isinstance(a, Unknown) else (b, a)
    return False if extent.name is not None and not isinstance(other, Unknown) and other < 0 else UNKNOWN


def _where(work, condition, a, b):
    return np.where(condition, a, b) if _fits(condition, a, b) else None


def _divide(work, a, b):
    if not _fits(a, b):
        return None
    if a.dtype.kind == "f":
        return a / b
    if any(not isinstance(value, Unknown) and value == 0 for value in b.flat):
        return None
    if not (is_whole(a) and is_whole(b)):
        return a // b
    a, b = plain(a), plain(b)
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))  # towards 0


def _mod(work, a, b):
    if (
        work.attribute("fmod", 0)
        or not _fits(a, b)
        or any(not isinstance(value, Unknown) and value == 0 for value in b.flat)
    ):
        return None
    return a % b


def _constant_of_shape(work, shape):
    if not is_whole(shape) or math.prod(int(extent) for extent in shape.flat) > _MOST:
        return None
    value = work.attribute("value", np.zeros(1, np.float32))
    return np.full([int(extent) for extent in shape.flat], value.reshape(-1)[0])


def _expand(work, x, shape):
    if not is_whole(shape) or math.prod(int(extent) for extent in shape.flat) * x.size > _MOST:
        return None
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(int(extent) for extent in shape.flat)))


def _range(work, start, limit, delta):
    if not delta.reshape(()) or (float(limit) - float(start)) / float(delta) > _MOST:
        return None
    return np.arange(start.reshape(()), limit.reshape(()), delta.reshape(())).astype(start.dtype)


def _concat(work, *parts):
    return np.concatenate(parts, axis=work.attribute("axis", int))


def _reduced(function):
    def reduce(work, x, axes=None):
        given = work.attribute("axes", None)
        axes = axes if given is None else np.array(given)
        if axes is None and work.attribute("noop_with_empty_axes", 0):
            return x
        chosen = None if axes is None or axes.size == 0 else tuple(_axes(work, x.ndim, axes))
        return function(x, axis=chosen, keepdims=bool(work.attribute("keepdims", 1)))

    return reduce


def _binary(function):
    return lambda work, a, b: function(a, b) if _fits(a, b) else None


def _unary(function):
    return lambda work, x: function(x)


def _several(function):
    def combine(work, first, *others):
        if not _fits(first, *others):
            return None
        for other in others:
            first = function(first, other)
        return first

    return combine


_FUNCTIONS: dict[str, Callable] = {
    "Abs": _unary(np.abs),
    "Add": _binary(np.add),
    "And": _binary(np.logical_and),
    "Cast": _cast,
    "Ceil": _unary(np.ceil),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _divide,
    "Equal": _equal,
    "Expand": _expand,
    "Floor": _unary(np.floor),
    "Gather": _gather,
    "Greater": _binary(np.greater),
    "GreaterOrEqual": _binary(np.greater_equal),
    "Identity": _unary(np.asarray),
    "Less": _binary(np.less),
    "LessOrEqual": _binary(np.less_equal),
    "Max": _several(np.maximum),
    "Min": _several(np.minimum),
    "Mod": _mod,
    "Mul": _binary(np.multiply),
    "Neg": _unary(np.negative),
    "Not": _unary(np.logical_not),
    "Or": _binary(np.logical_or),
    "Range": _range,
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Reshape": _reshape,
    "Slice": _slice,
    "Sqrt": _unary(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _binary(np.subtract),
    "Transpose": lambda work, x: np.transpose(x, work.attribute("perm", None)),
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}
# Functions that need numbers in all places.
_OF_NUMBERS = {
    *("And", "Ceil", "Floor", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Not", "Or"),
    *("Range", "ReduceMax", "ReduceMin", "Sqrt"),
}
