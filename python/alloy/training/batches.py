"""The examples of a data set in batches, each gathered while the step before computes."""

import numpy as np

from alloy._core import as_array
from alloy.graph.arrays import as_count, empty
from alloy.graph.location import mistake


def examples(op, data, batch_size) -> list[np.ndarray]:
    """The arrays of data, a tuple, with one row for each example in all of them."""
    if not isinstance(data, (tuple, list)) or len(data) != (1 if op == "predict" else 2):
        size = f" of {len(data)}" if isinstance(data, (tuple, list)) else ""
        raise mistake(op, f"Expected a tuple (x, y) of arrays, got {type(data).__name__}{size}", TypeError, "called")
    arrays = [as_array(array, op, "called") for array in data]
    counts = [array.shape[0] if array.ndim else 0 for array in arrays]
    if min(counts) < 1 or min(counts) != max(counts):
        raise mistake(
            op,
            f"Expected arrays of one or more examples each, as many in all, got shapes "
            f"{', '.join(str(array.shape) for array in arrays)}",
            act="called",
        )
    as_count(op, "a batch size", batch_size, "called")
    return arrays


def run_batches(step, arrays, batch_size, rows, ahead, together=None):
    """(arrays of the batch, what the step fetches) for each batch of these rows, in their order; None: of all of them,
    in place. ahead: how many further steps are in flight by then, so that the next batch is gathered meanwhile. A batch
    of chosen rows lasts until the next one. together: the step makes so many steps, of an equal part of the batch each,
    which the arrays and what is fetched have as their first axis."""
    count, waiting = len(arrays[0] if rows is None else rows), []
    start = step.submit if ahead else step
    if rows is not None:
        shapes = [(min(batch_size, count), *array.shape[1:]) for array in arrays]
        if ahead:
            staging = step.staging(*shapes)
            start, memory = staging.submit, staging.arrays
        else:
            kept = [empty(shape, array.dtype) for shape, array in zip(shapes, arrays)]

            def memory():
                return kept

    for first in range(0, count, batch_size):
        if rows is None:
            batch = [array[first : first + batch_size] for array in arrays]
        else:
            chosen = rows[first : first + batch_size]
            batch = [take(array, chosen, place[: len(chosen)]) for array, place in zip(arrays, memory())]
        if together is not None:
            batch = [array.reshape(together, -1, *array.shape[1:]) for array in batch]
        waiting.append((batch, start(*batch)))
        if len(waiting) > ahead:
            yield waiting.pop(0)
    yield from waiting


def take(array, rows, out):
    """The rows of the array, written into out."""
    if array.flags.c_contiguous:
        return np.take(array, rows, axis=0, out=out, mode="clip")  # by default it would fill a copy of out first
    out[...] = array[rows]  # np.take would pack the whole array first
    return out
