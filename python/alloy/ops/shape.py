"""Ops that change the shape, the places or the type of elements, cut tensors, or join them."""

from operator import index

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import as_choice, as_count, as_extents, as_integers, as_known_shape
from alloy.messages.location import mistake, typed_as
from alloy.messages.text import describe, shape_text
from alloy.ops.apply import apply, apply_all, as_sequence, require_tensor
from alloy.ops.indexing import update_slice

__all__ = [
    "batch_to_space",
    "bitcast",
    "broadcast_to",
    "concat",
    "coordinates",
    "depth_to_space",
    "expand_dims",
    "flatten",
    "flip",
    "interleave",
    "pad",
    "repeat",
    "reshape",
    "roll",
    "slice_update",
    "space_to_batch",
    "space_to_depth",
    "split",
    "squeeze",
    "stack",
    "tile",
    "transpose",
]


PAD_MODES = ("constant", "reflect", "symmetric", "edge", "wrap", "antiperiodic")


def reshape(x: Tensor, shape) -> Tensor:
    """Gives the same elements, in row-major order, another shape. One dimension may be -1 or None: it takes the rest.
    An integer is the shape of one axis.

    ValueError: the elements do not fit."""
    extents = as_extents("reshape", shape)
    return apply("reshape", [x], {"shape": [None if extent == -1 else extent for extent in extents]})


def flatten(x: Tensor) -> Tensor:
    """x with all axes but the first made one: (n, ...) becomes (n, m)."""
    known_shape("flatten", x, at_least=1)
    return apply("flatten2d", [x], {"axis": 1}, typed="flatten")


def transpose(x: Tensor, permutation=None) -> Tensor:
    """Permutes the axes of x: axis i of the result is axis permutation[i] of x, counted from the end if negative. None
    reverses them."""
    if permutation is None:
        permutation = range(len(known_shape("transpose", x)))[::-1]
    return apply("transpose", [x], {"permutation": as_integers("transpose", "a permutation", permutation)})


def squeeze(x: Tensor, axis=None) -> Tensor:
    """Removes dimensions of size 1 at the axis, one or several; None means all that are known to have size 1.

    ValueError: a dimension there is not of size 1."""
    if axis is None:
        axis = [i for i, extent in enumerate(known_shape("squeeze", x)) if extent == 1]
    return apply("squeeze", [x], {"axes": as_integers("squeeze", "axes", axis)})


def expand_dims(x: Tensor, axis) -> Tensor:
    """Inserts a dimension of size 1, or several; axis: one position in the result or several."""
    return apply("expand_dims", [x], {"axes": as_integers("expand_dims", "axes", axis)})


def broadcast_to(x: Tensor, shape) -> Tensor:
    """Repeats x to the shape by NumPy's rule. ValueError: x does not broadcast to it."""
    return apply("broadcast_to", [x], {"shape": as_extents("broadcast_to", shape)})


def pad(x: Tensor, padding, *, mode="constant", value=0) -> Tensor:
    """Adds elements before and after x along its axes, as numpy.pad does.

    padding: a pair (before, after) for each axis, or one integer for all. A negative number removes elements, as in
    PyTorch's pad. mode: "constant" (the value), "reflect" (mirrored, without the last element), "symmetric" (mirrored,
    with it), "edge" (the last element), "wrap" (x again), or "antiperiodic" (x again, with the other sign every other
    time). ValueError: a mirrored part is longer than x, or nothing is left of x."""
    rank = len(known_shape("pad", x))
    as_choice("pad", "a mode", mode, PAD_MODES)
    if isinstance(padding, int):
        pairs = [padding] * (2 * rank)
    else:
        try:
            pairs = [count for before, after in padding for count in (before, after)]
        except (TypeError, ValueError):
            raise mistake("pad", f"Expected a pair (before, after) for each axis, got {padding!r}") from None
    pairs = as_integers("pad", "a padding", pairs)
    operands = [x, value] if mode == "constant" else [x]
    return apply("pad_edges", operands, {"padding": pairs, "pad_mode": mode}, typed="pad")


def concat(tensors, axis) -> Tensor:
    """Joins the tensors one after the other along the axis. ValueError: they differ in another axis. TypeError: in
    dtype."""
    return apply("concat", as_sequence("concat", "tensors", tensors), {"axis": axis})


def stack(tensors, axis=0) -> Tensor:
    """Joins tensors of one shape along a new axis. axis: its position in the result."""
    return apply("stack", as_sequence("stack", "tensors", tensors), {"axis": axis})


def interleave(tensors, axis) -> Tensor:
    """Joins tensors of one shape, taking one place along the axis from each in turn: [1, 2] and [3, 4] give [1, 3, 2,
    4]."""
    return apply("interleave", as_sequence("interleave", "tensors", tensors), {"axis": axis})


def split(x: Tensor, sizes, axis=0) -> list[Tensor]:
    """Cuts x along the axis, whose extent must be known.

    sizes: the size of each part, which add up to the extent; or the number of parts. Parts have one size, or if the
    extent is no multiple, the first ones are longer by 1: 5 in 2 parts is (3, 2). ValueError: another sum, or more
    parts than places."""
    try:
        parts = index(sizes)
    except TypeError:
        sizes = as_integers("split", "sizes", sizes)
        return apply_all("split", [x], {"axis": axis, "size": sizes})
    return apply_all("split_evenly", [x], {"axis": axis, "parts": parts}, typed="split")


def tile(x: Tensor, repeats) -> Tensor:
    """Repeats x along each axis as many times as `repeats` says: [1, 2] by 2 gives [1, 2, 1, 2]."""
    return apply("tile", [x], {"repeats": as_integers("tile", "repeats", repeats)})


def repeat(x: Tensor, repeats, axis=None) -> Tensor:
    """Repeats each element along the axis: [1, 2] by 2 becomes [1, 1, 2, 2]. axis: None repeats the elements of x as
    one row.

    repeats: a number of 1 or more, or a number for each element; then the extent must be known. ValueError: there are
    more or fewer numbers than elements."""
    require_tensor("repeat", x)
    if axis is None:
        return repeat(reshape(x, -1), repeats, 0)
    rank, axis = len(known_shape("repeat", x)), axis_of("repeat", x, axis)
    counts = as_integers("repeat", "repeats", repeats)
    if len(counts) == 1:
        count = as_count("repeat", "a number of repeats", counts[0])
        with typed_as("repeat"):
            copies = tile(expand_dims(x, axis + 1), [1] * (axis + 1) + [count] + [1] * (rank - axis - 1))
        return squeeze(batch_to_space(copies, count, axis=axis, batch_axis=axis + 1), axis + 1)
    extent = known_extent("repeat", x, axis)
    if len(counts) != extent or min(counts, default=0) < 0:
        raise mistake("repeat", f"Expected {extent} repeats of 0 or more for {describe(x)}, got {tuple(counts)}")
    as_known_shape("repeat", sum(counts))  # fits into memory
    return apply("gather", [x, np.repeat(np.arange(extent, dtype=np.int32), counts)], {"axis": axis, "batch_dims": 0})


def flip(x: Tensor, axis=None) -> Tensor:
    """x from the last place to the first along the axis, one or several; None means every axis."""
    if axis is None:
        axis = range(len(known_shape("flip", x)))
    return apply("reverse", [x], {"axes": as_integers("flip", "axes", axis)}, typed="flip")


def roll(x: Tensor, shift, axis=None) -> Tensor:
    """Moves elements along the axis by the shift, beyond the end to the front: [1, 2, 3] by 1 becomes [3, 1, 2]. axis:
    None moves the elements of x as one row.

    shift, axis: an integer or several; one shift counts for every axis. ValueError: the extent is not known."""
    shape = known_shape("roll", x)
    if axis is None:
        return reshape(roll(reshape(x, -1), shift, 0), shape)
    shifts, axes = as_integers("roll", "a shift", shift), as_integers("roll", "axes", axis)
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        raise mistake("roll", f"Expected a shift for each of {len(axes)} axes, got {tuple(shifts)}")
    for places, along in zip(shifts, axes):
        extent = known_extent("roll", x, along)
        if moved := places % max(extent, 1):
            x = concat(split(x, (extent - moved, moved), along)[::-1], along)
    return x


def slice_update(x: Tensor, key, update) -> Tensor:
    """Returns x with x[key] replaced by the update, as NumPy's x[key] = update does; x itself stays.

    key: an index as in x[key], for instance np.s_[1:, ::2]. update: a tensor, an array or a number, which broadcasts to
    x[key]. ValueError: it does not broadcast. TypeError: it has another dtype."""
    return update_slice(x, key, update)


def space_to_depth(x: Tensor, block, *, data_layout="NHWC", pixel_shuffle=False) -> Tensor:
    """Makes each block of block x block pixels one pixel with block * block times the channels.

    x: (n, h, w, c), result: (n, h / block, w / block, block * block * c); both with the channels before the height for
    the layout NCHW. Place (i, j) of a block has channel k at (i * block + j) * c + k, with pixel_shuffle at (k * block
    + i) * block + j. ValueError: h or w is no multiple of the block."""
    return _moved_blocks("space_to_batch", x, block, data_layout, pixel_shuffle)


def depth_to_space(x: Tensor, block, *, data_layout="NHWC", pixel_shuffle=False) -> Tensor:
    """Inverts space_to_depth: (n, h, w, block * block * c) becomes (n, h * block, w * block, c). With pixel_shuffle and
    the layout NCHW it is PyTorch's pixel_shuffle."""
    return _moved_blocks("batch_to_space", x, block, data_layout, pixel_shuffle)


def space_to_batch(x: Tensor, block, *, axis, batch_axis=0, pixel_shuffle=False) -> Tensor:
    """Moves each block of places along the axes into the batch axis.

    axis: one or several. block: the sizes of a block, one for each of the axes. The extents along the axes are divided
    by the sizes, the extent of the batch axis is multiplied by all of them. Place p of a block, counted row-major in
    the order of the axes, has entry i of a batch of n at p * n + i, with pixel_shuffle at i * (places of a block) + p.
    ValueError: an extent is no multiple of its size."""
    return _with_blocks("space_to_batch", x, block, axis, batch_axis, pixel_shuffle)


def batch_to_space(x: Tensor, block, *, axis, batch_axis=0, pixel_shuffle=False) -> Tensor:
    """Inverts space_to_batch."""
    return _with_blocks("batch_to_space", x, block, axis, batch_axis, pixel_shuffle)


def coordinates(x: Tensor, axis) -> Tensor:
    """Returns the place of each element of x along the axis, int32, in x's shape. The extent along the axis must be
    known."""
    return apply("coordinates", [x], {"axis": axis})


def bitcast(x: Tensor, dtype) -> Tensor:
    """Reads the bits of x as another dtype, which is not bool, as NumPy's x.view(dtype) does. A narrower dtype makes
    the last dimension longer, a wider one shorter; no gradient flows back."""
    return apply("bitcast", [x], {"dtype": dtype})


def _moved_blocks(op, x, block, data_layout, pixel_shuffle):
    layouts = {"NHWC": ((1, 2), 3), "NCHW": ((2, 3), 1)}
    axes, depth = layouts[as_choice(op, "a data_layout", data_layout, layouts)]
    size = as_count(op, "the size of a block", block)
    return _with_blocks(op, x, (size, size), axes, depth, pixel_shuffle)


def _with_blocks(op, x, block, axes, axis, pixel_shuffle):
    attributes = {"axes": as_integers(op, "axes", axes), "axis": axis, "pixel_shuffle": pixel_shuffle}
    return apply(op, [x], attributes | {"size": as_integers(op, "sizes of a block", block)})


def axis_of(op: str, x: Tensor, axis) -> int:
    """Returns the axis counted from the first. ValueError: x does not have it."""
    axis, rank = as_count(op, "an axis", axis, least=-(2**63)), len(known_shape(op, x))
    if not -rank <= axis < rank:
        raise mistake(op, f"Axis {axis} is outside a tensor of rank {rank}")
    return axis % rank


def known_extent(op: str, x: Tensor, axis) -> int:
    """Returns the extent along the axis. ValueError: it is not known, or x does not have the axis."""
    axis = axis_of(op, x, axis)
    extent = known_shape(op, x)[axis]
    if extent is None:
        expected = f"The extent along axis {axis} must be known when the op is added"
        raise mistake(op, f"{expected}, got shape {shape_text(x.shape)}")
    return extent


def known_shape(op, x, at_least=0):
    require_tensor(op, x)
    if x.shape is None or len(x.shape) < at_least:
        expected = f"known rank, {at_least} or more" if at_least else "known rank"
        raise mistake(op, f"Expected a tensor of {expected}, got {describe(x)}")
    return x.shape
