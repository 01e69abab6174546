"""x[key]: slices as in NumPy, and places given by arrays and tensors."""

from functools import reduce
from operator import add, index

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import cast_exactly
from alloy.engine.dtypes import is_integer
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops.apply import apply, as_tensor, require_tensor

_TO_END = 2**63 - 1  # the end past the last element, going forward
_TO_BEGIN = -(2**63)  # the end before the first element, going backward


def part(tensor, key):
    """Takes a part, as in NumPy: integers, slices of any stride, None, Ellipsis, and arrays of places, which may be
    tensors.

    Arrays take their places in one axis, or in neighbouring axes together: x[rows], x[:, rows], x[rows, columns].
    Negative places count from the end. A place outside the axis is a ValueError if it is known, and gives 0 if only a
    run knows it. A mask must be an array: only a run knows how many elements a tensor's mask selects."""
    entries = _full_key(key, tensor)
    places = [i for i, entry in enumerate(entries) if isinstance(entry, (np.ndarray, Tensor))]
    if not places:
        return _sliced(tensor, entries)
    places = [i for i, entry in enumerate(entries) if not (entry is None or isinstance(entry, slice))]
    if places != list(range(places[0], places[-1] + 1)):
        raise mistake("slice", f"Expected arrays of places for neighbouring axes, got {_shown(key)}; transpose first")
    rest = _sliced(tensor, [slice(None) if i in places else entry for i, entry in enumerate(entries)])
    return _taken(rest, places, [entries[i] for i in places])


def update_slice(tensor, key, update):
    """Returns the tensor with tensor[key] replaced by the update, which broadcasts to it."""
    require_tensor("slice_update", tensor)
    entries = _full_key(key, tensor)
    if any(isinstance(entry, (np.ndarray, Tensor)) for entry in entries):
        raise mistake("slice_update", f"Expected integers and slices, got {_shown(key)}; al.scatter takes indices")
    bounds, dropped, added = _slice_of(entries, tensor)
    part = as_tensor(tensor.graph, "slice_update", update, tensor.dtype)
    part = apply("broadcast_like", [part, tensor[key]])
    if added:
        part = apply("squeeze", [part], {"axes": added})
    if dropped:
        part = apply("expand_dims", [part], {"axes": dropped})
    return apply("slice_update", [tensor, part], bounds)


def _sliced(tensor, entries):
    bounds, dropped, added = _slice_of(entries, tensor)
    result = tensor
    if any(bound != (0, _TO_END, 1) for bound in zip(*bounds.values())):
        result = apply("slice", [result], bounds)
    if dropped:
        result = apply("squeeze", [result], {"axes": dropped})
    if added:
        result = apply("expand_dims", [result], {"axes": added})
    return result


def _slice_of(entries, tensor) -> tuple[dict, list[int], list[int]]:
    """Returns the bounds of a slice by their attributes, the axes that it drops, and the axes that are then added."""
    starts, ends, strides, dropped, added = [], [], [], [], []
    for entry in entries:
        if entry is None:
            added.append(len(starts) - len(dropped) + len(added))
            continue
        axis = len(starts)
        if isinstance(entry, slice):
            start, end, stride = _bounds(entry)
        else:
            start, end, stride = _position(entry, tensor.shape[axis], axis, tensor)
            dropped.append(axis)
        starts.append(start)
        ends.append(end)
        strides.append(stride)
    return {"starts": starts, "ends": ends, "strides": strides}, dropped, added


def _full_key(key, tensor) -> list:
    """Returns the key as a list with one entry for each axis, plus the Nones: integers, slices, arrays and tensors of
    integers."""
    rank = len(_known_rank(tensor))
    entries = [part for entry in (key if isinstance(key, tuple) else [key]) for part in _entries(entry)]
    missing = rank - sum(entry is not None and entry is not Ellipsis for entry in entries)
    ellipses = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if missing < 0 or len(ellipses) > 1:
        raise mistake("slice", f"Expected at most {rank} indices and one ..., got {_shown(key)} for {describe(tensor)}")
    at = ellipses[0] if ellipses else len(entries)
    entries[at : at + 1] = [slice(None)] * missing
    return entries


def _entries(entry) -> list:
    """Returns the entry of a key as a list; a mask becomes an array for each of its axes."""
    if isinstance(entry, list):
        try:
            array = np.array(entry)
        except (TypeError, ValueError):
            array = None
        if array is None or array.dtype == object:
            raise mistake("slice", f"Expected integers in a list of places, got {_shown(entry)}", TypeError)
        entry = array
    if isinstance(entry, Tensor) and entry.dtype == "bool":
        raise mistake(
            "slice",
            f"Expected integers, got the mask {describe(entry)}; only a run knows how much it selects; "
            "al.where(mask, x, 0) keeps the shape",
            TypeError,
        )
    if isinstance(entry, np.ndarray) and entry.dtype == bool and entry.ndim:
        return list(np.nonzero(entry))
    if isinstance(entry, (Tensor, np.ndarray)):
        if not is_integer(str(entry.dtype)):
            kind = describe(entry) if isinstance(entry, Tensor) else f"an array of {entry.dtype}"
            raise mistake("slice", f"Expected integers as places, got {kind}", TypeError)
    elif isinstance(entry, (bool, np.bool_)) or not (
        entry is None or entry is Ellipsis or isinstance(entry, slice) or hasattr(type(entry), "__index__")
    ):
        raise mistake(
            "slice", f"Expected integers, slices, None, ... or arrays of places, got {type(entry).__name__}", TypeError
        )
    return [entry]


def _taken(tensor, axes, places):
    """Takes the elements at the places in the neighbouring axes."""
    wide = any(isinstance(entry, Tensor) and entry.dtype in ("int64", "uint32", "uint64") for entry in places)
    dtype = "int64" if wide else "int32"
    indices = [_indices(tensor, axis, entry, dtype) for axis, entry in zip(axes, places)]
    if len(indices) == 1:
        return apply("gather", [tensor, indices[0]], {"axis": axes[0], "batch_dims": 0})
    arrays = [entry for entry in indices if not isinstance(entry, Tensor)]
    if len(arrays) == len(indices):
        together = tensor.graph.constant(np.stack(np.broadcast_arrays(*arrays), axis=-1))
    else:
        zeros = reduce(add, [entry * 0 for entry in indices])  # have the shape that all broadcast to
        together = apply("stack", [entry + zeros for entry in indices], {"axis": -1})
    first, count, rank = axes[0], len(axes), len(tensor.shape)
    if first:
        order = [*axes, *(axis for axis in range(rank) if axis not in axes)]
        tensor = apply("transpose", [tensor], {"permutation": order})
    found = apply("gather_nd", [tensor, together], {"batch_dims": 0})
    new = len(_known_rank(together)) - 1
    if not first:
        return found
    order = [*range(new, new + first), *range(new), *range(new + first, new + rank - count)]
    return apply("transpose", [found], {"permutation": order})


def _indices(tensor, axis, places, dtype):
    """Returns the places counted from the first, of the dtype."""
    extent = tensor.shape[axis]
    if isinstance(places, Tensor):
        _known_rank(places)
        unsigned = places.dtype.startswith("u")
        if places.dtype != dtype:
            places = apply("cast", [places], {"dtype": dtype})
        return places if unsigned else _from_the_first(tensor, axis, places)
    places = np.asarray(places)
    if places.size == 0:
        raise mistake("slice", "Expected at least one place, got none: there are no empty tensors")
    if extent is not None and (places.min() < -extent or places.max() >= extent):
        wrong = places[(places < -extent) | (places >= extent)].flat[0]
        raise mistake("slice", f"Index {wrong} is outside axis {axis} of {describe(tensor)}")
    if extent is None and places.min() < 0:
        return _from_the_first(tensor, axis, tensor.graph.constant(cast_exactly("slice", "indices", places, dtype)))
    return cast_exactly("slice", "indices", np.where(places < 0, places + (extent or 0), places), dtype)


def _from_the_first(tensor, axis, places):
    extent = tensor.shape[axis]
    if extent is None:
        extent = apply("cast", [apply("shape_of", [tensor])[axis]], {"dtype": places.dtype})
    return apply("select", [places < 0, places + extent, places])


def _bounds(entry: slice) -> tuple[int, int, int]:
    try:
        stride = 1 if entry.step is None else index(entry.step)
        first, last = (0, _TO_END) if stride > 0 else (_TO_END, _TO_BEGIN)
        return (
            first if entry.start is None else index(entry.start),
            last if entry.stop is None else index(entry.stop),
            stride,
        )
    except TypeError:
        by_tensor = any(isinstance(bound, Tensor) for bound in (entry.start, entry.stop, entry.step))
        said = "; slices by tensors are not available, x[places] takes a tensor of places" if by_tensor else ""
        raise mistake("slice", f"Expected integers as bounds, got {_shown(entry)}{said}", TypeError) from None


def _position(entry, extent: int | None, axis: int, tensor) -> tuple[int, int, int]:
    i = index(entry)
    if extent is not None and not -extent <= i < extent:
        raise mistake("slice", f"Index {i} is outside axis {axis} of {describe(tensor)}")
    return i, _TO_END if i == -1 else i + 1, 1


def _known_rank(tensor) -> tuple:
    if tensor.shape is None:
        raise mistake("slice", f"Expected a tensor of known rank, got {describe(tensor)}")
    return tensor.shape


def _shown(key) -> str:
    text = " ".join(repr(key).split())
    return text if len(text) < 80 else text[:77] + "..."
