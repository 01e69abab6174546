"""Ops whose operands are positions in an axis."""

from alloy._core import Tensor
from alloy.engine.arrays import as_count, as_places, require_all
from alloy.ops.apply import apply

__all__ = ["gather", "gather_nd", "one_hot", "put_along_axis", "scatter", "scatter_nd", "take_along_axis"]


def gather(x: Tensor, indices, axis=0, *, batch_dims=0) -> Tensor:
    """Takes the elements of x at the indices along the axis; shape (*x.shape[:axis], *indices.shape[batch_dims:],
    *x.shape[axis + 1:]).

    indices: a tensor, an array or a list of int32 or int64. An index outside gives 0, and no gradient flows back from
    it; its result on Apple's framework is not known.
    batch_dims: the number of leading dimensions that x and the indices share; they lie before the axis.
    ValueError: the axis is outside x, or the batch dimensions differ. TypeError: the indices are of another type."""
    if isinstance(indices, (int, list, tuple)):
        indices = as_places("gather", indices)
    return apply(
        "gather", [x, indices], {"axis": axis, "batch_dims": as_count("gather", "batch_dims", batch_dims, least=0)}
    )


def gather_nd(x: Tensor, indices, *, batch_dims=0) -> Tensor:
    """Takes the part of x at each tuple of indices along the last axis of the indices; shape (*indices.shape[:-1],
    *x.shape[batch_dims + indices.shape[-1]:]).

    indices: a tensor or an array of an integer type. A tuple outside gives 0; its result on Apple's framework is not
    known.
    batch_dims: the number of leading dimensions that x and the indices share; the tuples index the dimensions behind
    them.
    ValueError: the tuples are too long, or the batch dimensions differ. TypeError: the indices are of another type."""
    return apply("gather_nd", [x, indices], {"batch_dims": as_count("gather_nd", "batch_dims", batch_dims, least=0)})


def take_along_axis(x: Tensor, indices, axis) -> Tensor:
    """Takes for each index the element of x at the index along the axis and at the index's own position elsewhere, as
    NumPy does. The result has the indices' shape, which is x's but along the axis.

    indices: a tensor or an array of an integer type. An index outside, also a negative one, gives 0.
    ValueError: the shapes differ in another axis. TypeError: the indices are of another type."""
    return apply("gather_along_axis", [x, indices], {"axis": axis}, typed="take_along_axis")


def scatter(data, indices, updates, axis=0, *, mode="set") -> Tensor:
    """Combines each slice of the updates along the axis, in order, with the data's slice at its index. indices: a
    vector.

    data: a tensor, or a shape. A shape is filled with 0; for "multiply" and "divide" with 1, for "minimum" with the
    greatest finite number of the updates' type, for "maximum" with the least.
    updates: of the data's shape with the indices' length along the axis.
    mode: "set", "add", "subtract", "multiply", "divide", "minimum" or "maximum". Indices outside are skipped. The
    gradient of "set" is right only if the indices differ.
    ValueError: the shapes do not fit. TypeError: the types differ, or the indices are no integers."""
    return apply("scatter", [_data("scatter", data, updates, mode), updates, indices], {"axis": axis, "mode": mode})


def scatter_nd(data, indices, updates, *, batch_dims=0, mode="set") -> Tensor:
    """Combines the updates, one after the other, with the parts of the data that gather_nd would take.

    updates: of the shape of gather_nd's result. data, mode: as in scatter."""
    attributes = {"batch_dims": as_count("scatter_nd", "batch_dims", batch_dims, least=0), "mode": mode}
    return apply(
        "scatter_nd_update",
        [_data("scatter_nd", data, updates, mode), updates, indices],
        attributes,
        typed="scatter_nd",
    )


def put_along_axis(data, indices, updates, axis, *, mode="set") -> Tensor:
    """Combines the updates, one after the other, with the elements of the data that take_along_axis would take.

    updates: of the indices' shape. data, mode: as in scatter."""
    operands = [_data("put_along_axis", data, updates, mode), updates, indices]
    return apply("scatter_along_axis", operands, {"axis": axis, "mode": mode}, typed="put_along_axis")


def _data(op, data, updates, mode):
    if not isinstance(data, (tuple, list)):
        return data
    require_all(op, "updates as a tensor", Tensor, [updates])
    return apply("scatter_start", [updates], {"shape": data, "mode": mode})


def one_hot(indices: Tensor, depth, axis=-1, *, dtype="float32") -> Tensor:
    """1 at the index along a new axis of `depth`, else 0; all 0 for an index outside.

    indices: a tensor of an integer type. axis: the new axis's place in the result, by default the last. TypeError: the
    indices are of another type. ValueError: the axis is outside the result."""
    depth = as_count("one_hot", "a depth", depth)
    return apply("one_hot", [indices], {"axis": axis, "depth": depth, "dtype": dtype})
