"""Ops that change shapes, repeat and rearrange."""

import math
from collections import Counter
from typing import Any

import numpy as np

from alloy import ops
from alloy.onnx.node import of_shape, shape_vector, supports, volume
from alloy.onnx.static import Unknown
from alloy.ops.apply import apply


def _extents(node, i) -> list[Any]:
    """Returns the elements of input i, a shape: integers, and Unknowns where only a run knows them."""
    known = node.partly(i)
    if not isinstance(known, np.ndarray):
        raise node.wrong(f"Expected a shape that is computed from shapes as input {i}")
    return [extent if _is_open(extent) else int(extent) for extent in known.reshape(-1)]


def _computed(node, extents, i):
    """Returns the shape as a vector that a run computes, of input i where an extent has no name."""
    return ops.concat(_computed_parts(node, extents, i), 0)


def _computed_parts(node, extents, i) -> list:
    parts, more = [], len(extents) - len(node.partly(i).reshape(-1))  # extents of 1 before those of the input
    for place, extent in enumerate(extents):
        origin = node.origin(extent.name) if _is_open(extent) else None
        if origin is not None:
            tensor, axis = origin
            parts.append(shape_vector(tensor)[axis : axis + 1])
        elif _is_open(extent):
            parts.append(node.tensor(i)[place - more : place - more + 1])
        else:
            parts.append(node.graph.constant(np.array([extent], np.int64)))
    return parts


def _is_open(extent) -> bool:
    return isinstance(extent, Unknown)


@supports("Shape")
def shape(node):
    start, end = node.attribute("start", 0), node.attribute("end", 2**31)
    return shape_vector(node.tensor(0))[start:end]


@supports("Size")
def size(node):
    return ops.prod(shape_vector(node.tensor(0)))


@supports("Constant", limits="no texts and no sparse tensors")
def constant(node):
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in node.node.attributes:
            given = node.attribute(name, None)
            return np.asarray(given, None if name == "value" else np.float32 if "float" in name else np.int64)
    raise node.wrong("Expected numbers")


@supports("ConstantOfShape")
def constant_of_shape(node):
    value = node.attribute("value", np.zeros(1, np.float32)).reshape(-1)[0]
    return _filled(node, value, 0)


def _filled(node, value, i):
    extents = _extents(node, i)
    number = node.graph.constant(value)
    if not any(map(_is_open, extents)):
        return ops.broadcast_to(number, extents)
    return apply("broadcast_like", [number, of_shape(_computed(node, extents, i), number.dtype)])


@supports("Reshape")
def reshape(node):
    x, extents, zero = node.tensor(0), _extents(node, 1), node.flag("allowzero")
    kept = [] if zero else [i for i, extent in enumerate(extents) if not _is_open(extent) and extent == 0]
    for i in kept:
        if i >= len(x.shape):
            raise node.wrong(f"Expected an axis {i} to keep")
        extents[i] = Unknown(node.names(x)[i]) if x.shape[i] is None else x.shape[i]
    left = _rest(node, x, extents)
    if left is not None:
        extents = [left if not _is_open(extent) and extent == -1 else extent for extent in extents]
    if sum(_is_open(extent) or extent == -1 for extent in extents) <= 1:
        return ops.reshape(x, [-1 if _is_open(extent) else extent for extent in extents])
    return _reshaped_by_a_run(node, x, extents)


def _rest(node, x, extents) -> int | None:
    """Returns the extent for which the shape has -1, if all open extents are those of x."""
    names = [extent.name for extent in extents if _is_open(extent)]
    own = [name for name in node.names(x) if name is not None]
    known = volume(extent for extent in extents if not _is_open(extent) and extent != -1)
    if not names or None in names or Counter(names) != Counter(own) or not known:
        return None
    left, over = divmod(volume(extent for extent in x.shape if extent is not None), known)
    return left if not over else None


def _reshaped_by_a_run(node, x, extents):
    """Returns x in the shape that is computed in a run."""
    own, parts = shape_vector(x), _computed_parts(node, extents, 1)
    places = [i for i, extent in enumerate(extents) if not _is_open(extent) and extent == -1]
    if len(places) > 1:
        raise node.wrong("Expected one -1 in the shape")
    for place in places:
        others = [part for i, part in enumerate(parts) if i != place]
        rest = _product([own[i : i + 1] for i in range(len(x.shape))])
        parts[place] = ops.divide(rest, _product(others)) if others else rest
    return apply("reshape_like", [x, of_shape(ops.concat(parts, 0), x.dtype)])


def _product(numbers):
    made = numbers[0]
    for number in numbers[1:]:
        made = made * number
    return made


@supports("Flatten")
def flatten(node):
    x, axis = node.tensor(0), node.attribute("axis", 1)
    rank = len(x.shape)
    if not -rank <= axis <= rank:
        raise node.wrong(f"Expected an axis from {-rank} to {rank}, got {axis}")
    return apply("flatten2d", [x], {"axis": axis + rank if axis < 0 else axis})


@supports("Transpose")
def transpose(node):
    return ops.transpose(node.tensor(0), node.integers("perm"))


@supports("Squeeze")
def squeeze(node):
    x, axes = node.tensor(0), node.known(1)
    return ops.squeeze(x, axes) if axes is None or axes else ops.identity(x)


@supports("Unsqueeze")
def unsqueeze(node):
    axes = node.known(1)
    if axes is None:
        raise node.wrong("Expected axes")
    return ops.expand_dims(node.tensor(0), axes) if axes else ops.identity(node.tensor(0))


@supports("Concat")
def concat(node):
    axis = node.attribute("axis", int)
    if node.inputs and all(isinstance(x, np.ndarray) for x in node.inputs):
        return np.concatenate(node.inputs, axis)
    parts = [i for i, x in enumerate(node.inputs) if not (isinstance(x, np.ndarray) and x.size == 0)]
    return ops.concat([node.tensor(i) for i in parts], axis)


@supports("Split", limits="the sizes must be known")
def split(node):
    x, sizes, axis = node.tensor(0), node.known(1), node.attribute("axis", 0)
    count = node.attribute("num_outputs", len(node.node.outputs))
    if count != len(node.node.outputs):
        raise node.wrong(f"Expected {len(node.node.outputs)} as num_outputs, got {count}")
    axis = node.axis(x, axis)
    if sizes is None:
        extent = node.extent(x, axis)
        most = -(-extent // max(count, 1))
        sizes = [min(most, extent - i * most) for i in range(count)]
    return ops.split(x, sizes, axis)


@supports("Expand")
def expand(node):
    x, extents = node.tensor(0), _extents(node, 1)
    rank = max(len(extents), len(x.shape))
    extents = [*[1] * (rank - len(extents)), *extents]
    own = [1] * (rank - len(x.shape)) + list(x.shape)
    names = [None] * (rank - len(x.shape)) + node.names(x)
    if all(
        extent.name is not None and extent.name == name if _is_open(extent) else extent in (1, mine)
        for extent, mine, name in zip(extents, own, names)
    ):
        return ops.expand_dims(x, list(range(rank - len(x.shape)))) if rank > len(x.shape) else ops.identity(x)
    if not any(map(_is_open, extents)) and None not in own:
        return ops.broadcast_to(x, [mine if extent == 1 else extent for extent, mine in zip(extents, own)])
    target = _computed(node, extents, 1)
    there = apply("broadcast_like", [node.graph.constant(np.ones((), bool)), of_shape(target, "bool")])
    return ops.where(there, x, x)  # broadcasts in both directions


@supports("Tile", limits="the repeats must be known")
def tile(node):
    return ops.tile(node.tensor(0), node.known(1))


@supports("Range", limits="the bounds must be known, or the limit an extent")
def range_of(node):
    if all(isinstance(value, np.ndarray) for value in node.inputs):
        start, limit, step = (value.reshape(()).item() for value in node.inputs[:3])
        if not step:
            raise node.wrong("Expected a step other than 0")
        return (start + step * node.places(max(math.ceil((limit - start) / step), 0))).astype(node.inputs[0].dtype)
    start, step = node.number(0), node.number(2)
    if step != 1 or node.value(1).dtype not in ("int64", "int32"):
        raise node.wrong("Expected steps of 1")
    limit = ops.reshape(node.tensor(1), (1,))
    like = apply(
        "broadcast_like", [node.graph.constant(np.ones((), limit.dtype)), of_shape(limit - start, limit.dtype)]
    )
    return ops.cumsum(like, 0, exclusive=True) + start


@supports("Trilu", limits="k and the extents must be known")
def trilu(node):
    x, k, upper = node.tensor(0), int(node.number(1, 0)), node.flag("upper", True)
    return (ops.triu if upper else ops.tril)(x, k)


@supports("EyeLike", limits="the shape must be known")
def eye_like(node):
    from alloy.onnx.file import ELEMENTS

    x, k = node.tensor(0), node.attribute("k", 0)
    dtype = node.attribute("dtype", 0)
    if dtype and dtype not in ELEMENTS:
        raise node.wrong(f"Expected a type of numbers, got number {dtype}")
    rows, columns = node.extent(x, 0), node.extent(x, 1)
    row = ops.expand_dims(node.graph.constant(node.places(rows)), 1)
    places = ops.broadcast_to(row + k, (rows, columns))
    there = ops.equal(places, node.graph.constant(node.places(columns)))
    return ops.cast(there, ELEMENTS[dtype] if dtype else x.dtype)


@supports("DepthToSpace")
def depth_to_space(node):
    block, mode = node.attribute("blocksize", int), node.word("mode", "DCR", ("DCR", "CRD"))
    return ops.depth_to_space(node.tensor(0), block, data_layout="NCHW", pixel_shuffle=mode == "CRD")


@supports("SpaceToDepth")
def space_to_depth(node):
    return ops.space_to_depth(node.tensor(0), node.attribute("blocksize", int), data_layout="NCHW")


@supports("Pad", limits="the paddings must be known")
def pad(node):
    x, pads, mode = (
        node.tensor(0),
        node.known(1),
        node.word("mode", "constant", ("constant", "reflect", "edge", "wrap")),
    )
    rank = len(x.shape)
    axes = [node.axis(x, axis) for axis in node.known(3, list(range(rank)))]
    if len(pads) != 2 * len(axes):
        raise node.wrong(f"Expected {2 * len(axes)} paddings, got {len(pads)}")
    pairs = [(0, 0)] * rank
    for i, axis in enumerate(axes):
        pairs[axis] = (pads[i], pads[i + len(axes)])
    if mode != "constant":
        return ops.pad(x, pairs, mode=mode)
    value = ops.cast(ops.reshape(node.tensor(2), ()), x.dtype) if node.has(2) else False
    flat = [extent for pair in pairs for extent in pair]
    return apply("pad_edges", [x, value], {"padding": flat, "pad_mode": "constant"})


@supports("CenterCropPad", limits="the shape must be known")
def center_crop_pad(node):
    x: Any = node.tensor(0)
    target = node.known(1)
    axes = [node.axis(x, axis) for axis in node.integers("axes", default=list(range(len(x.shape))))]
    if len(axes) != len(target):
        raise node.wrong(f"Expected {len(axes)} extents, got {len(target)}")
    for axis, extent in zip(axes, target):
        have = node.extent(x, axis)
        if have > extent:
            start = (have - extent) // 2
            x = x[(slice(None),) * axis + (slice(start, start + extent),)]
        elif have < extent:
            before = (extent - have) // 2
            pairs = [(0, 0)] * len(x.shape)
            pairs[axis] = (before, extent - have - before)
            x = ops.pad(x, pairs, value=False)
    return ops.identity(x)


@supports("Col2Im", limits="two axes of places, of known extents")
def col2im(node):
    x, image, block = node.tensor(0), node.known(1), node.known(2)
    strides, dilations = node.integers("strides", 2, [1, 1]), node.integers("dilations", 2, [1, 1])
    pads = node.integers("pads", 4, [0] * 4)
    if len(image) != 2 or len(block) != 2:
        raise node.wrong(f"Expected images of two axes, got {len(image)}")
    channels = node.extent(x, 1) // volume(block)
    first = ops.reshape(x, (-1, volume(x.shape[1:])))[:, :1] if None not in x.shape[1:] else None
    if first is None:
        raise node.wrong("Expected known extents")
    like = ops.tile(ops.reshape(first, (-1, 1, 1, 1)), (1, channels, *image))
    return ops.col2im(
        x,
        like,
        window=block,
        strides=strides,
        dilations=dilations,
        padding=((pads[0], pads[2]), (pads[1], pads[3])),
        data_layout="NCHW",
    )


@supports("ReverseSequence")
def reverse_sequence(node):
    x, lengths = node.tensor(0), ops.cast(node.tensor(1), "int32")
    batch, time = node.attribute("batch_axis", 1), node.attribute("time_axis", 0)
    if {batch, time} != {0, 1}:
        raise node.wrong(f"Expected the axes 0 and 1, got {batch} and {time}")
    rows = ops.transpose(x, [batch, time, *range(2, len(x.shape))])
    steps = node.graph.constant(node.places(node.extent(x, time)).astype(np.int32))
    ends = ops.expand_dims(lengths, 1)
    places = ops.where(steps < ends, ends - 1 - steps, steps)
    turned = ops.gather(rows, places, 1, batch_dims=1)
    return ops.transpose(turned, [batch, time, *range(2, len(x.shape))])


_ROUNDINGS = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda places: np.ceil(places - 0.5),
    "round_prefer_ceil": lambda places: np.floor(places + 0.5),
}
_POSITIONS = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")


@supports(
    "Resize",
    limits="nearest and linear; half_pixel, pytorch_half_pixel, half_pixel_symmetric, asymmetric and align_corners; no "
    "antialias; known sizes",
)
def resize(node):
    x, mode = node.tensor(0), node.word("mode", "nearest", ("nearest", "linear"))
    position = node.word("coordinate_transformation_mode", "half_pixel", _POSITIONS)
    rounding = node.word("nearest_mode", "round_prefer_floor", _ROUNDINGS)
    policy = node.word("keep_aspect_ratio_policy", "stretch", ("stretch",))
    assert policy == "stretch"
    node.attribute("cubic_coeff_a", -0.75)
    node.attribute("extrapolation_value", 0.0)
    node.attribute("exclude_outside", 0)
    if node.flag("antialias"):
        raise node.wrong("Expected no antialias")
    rank = len(x.shape)
    axes = [node.axis(x, axis) for axis in node.integers("axes", default=list(range(rank)))]
    scales = [float(scale) for scale in node.array(2).reshape(-1)] if node.has(2) and node.array(2).size else None
    if node.has(3):
        known = dict(zip(axes, _extents(node, 3)))
        moved = [axis for axis in axes if not _is_open(known[axis]) and known[axis] != x.shape[axis]]
        sizes = {axis: known[axis] for axis in moved}
        by_axis = {axis: sizes[axis] / node.extent(x, axis) for axis in moved}
    elif scales is not None and len(scales) == len(axes):
        moved = [axis for axis, scale in zip(axes, scales) if scale != 1]
        by_axis = dict(zip(axes, scales))
        sizes = {axis: int(np.floor(node.extent(x, axis) * by_axis[axis])) for axis in moved}
    else:
        raise node.wrong(f"Expected sizes or scales for {len(axes)} axes")
    if not moved:
        return ops.identity(x)
    return _resized(node, x, moved, sizes, by_axis, mode, position, rounding)


def _resized(node, x: Any, axes, sizes, scales, mode, position, rounding):
    """Takes places of x along each axis. Place d of the result is place d s + t of x, from the scale that the file has,
    which may differ from the quotient of the extents."""
    for axis in axes:
        extent, size, scale = node.extent(x, axis), sizes[axis], scales[axis]
        d = node.places(size)
        if position == "align_corners":
            places = d * (extent - 1) / (size - 1) if size > 1 else d * 0.0
        elif position == "asymmetric":
            places = d / scale
        elif position == "half_pixel_symmetric":
            adjusted = size / (scale * extent)
            places = extent / 2 * (1 - adjusted) + (d + 0.5) / scale - 0.5
        elif position == "pytorch_half_pixel" and size == 1:
            places = d * 0.0
        else:
            places = (d + 0.5) / scale - 0.5
        if mode == "nearest":
            chosen = _ROUNDINGS[rounding](places)
            x = _taken(x, axis, chosen, extent)
            continue
        before = np.floor(places)
        weight = (places - before).astype(np.float32).reshape([-1] + [1] * (len(x.shape) - axis - 1))
        weight = ops.cast(node.graph.constant(weight), x.dtype)
        first, second = _taken(x, axis, before, extent), _taken(x, axis, before + 1, extent)
        x = first + (second - first) * weight
    return x


def _taken(x, axis, places, extent):
    return ops.gather(x, np.clip(places, 0, extent - 1).astype(np.int32), axis)
