"""Finds the fault in data, or in a step whose loss is not finite."""

import math

import numpy as np

from alloy import losses
from alloy._core import DeviceError
from alloy.data.nodes import Batch
from alloy.engine.structure import leaves, paths
from alloy.losses.examples import SUM_TOLERANCE
from alloy.losses.lookup import unwrapped
from alloy.messages.location import mistake, warn_user
from alloy.messages.text import describe
from alloy.nn import BatchNorm, Embedding
from alloy.nn.recurrent import Recurrent
from alloy.ops import all as all_of
from alloy.ops import is_finite
from alloy.training.batches import parts_of

_NAMES = {"x": "examples", "y": "targets", "weights": "weights", "mask": "mask"}


def require_sound_arrays(op, data, given, programs, measures, finite) -> None:
    """Raises ValueError for targets that the loss refuses, lengths outside the steps, negative sample weights, and, if
    `finite`, numbers that are not finite.

    given: the tuple of arrays that data is made of."""
    for what, part in zip(_NAMES, given):
        for path, array in zip(paths(part, _NAMES[what]), map(np.asarray, leaves(part))):
            floats = finite and array.dtype.kind == "f" and array.size
            if floats and not (math.isfinite(array.min()) and math.isfinite(array.max())):
                place = np.argwhere(~np.isfinite(array))[0]
                raise mistake(op, f"Expected finite numbers as {path}, got {array[tuple(place)]} in row {place[0]}")
    parts = parts_of(op, data)
    found = (
        _negative_weight(given[2] if len(given) > 2 else None)
        or _wrong_target(measures, given[1], lambda: programs.outputs(parts))
        or _wrong_length(programs, parts, given[0])
    )
    if found is not None:
        raise mistake(op, f"{found[0]} in row {found[1]}")


def _wrong_length(programs, parts, examples):
    """Describes a length outside the steps of its recurrent layer, and gives its row; None if there is none."""
    if not any(isinstance(layer, Recurrent) for layer in programs.model._tree()):
        return None
    programs.outputs(parts)
    arrays = dict(zip(leaves(programs.examples(parts)), map(np.asarray, leaves(examples))))
    for layer in programs.model._tree():
        steps, lengths = _steps_of(layer), arrays.get(layer._last and layer._last.operands.get("lengths"))
        if steps is not None and lengths is not None and ((lengths < 0) | (lengths > steps)).any():
            row = np.argmax((lengths < 0) | (lengths > steps))
            return f"Expected lengths from 0 to {steps}, the steps, got {lengths[row]}", row
    return None


def _steps_of(layer) -> int | None:
    """Returns the steps of a recurrent layer's last call, if that had lengths."""
    call = layer._last if isinstance(layer, Recurrent) else None
    return call.x.shape[1] if call is not None and "lengths" in call.operands else None


def warn_of_lone_examples(model, data) -> None:
    """Warns if a batch has only one example and a BatchNorm has no other values of a feature."""
    node = data._node
    if not isinstance(node, Batch) or not (
        node.size == 1 or (node.last == "smaller" and (node.parent.count or 0) % node.size == 1)
    ):
        return
    for layer in model._tree():
        rank = len(getattr(layer._last and layer._last.x, "shape", None) or ())
        if isinstance(layer, BatchNorm) and layer.trainable and rank == 2:
            warn_user(
                f"[fit] A batch has one example, whose variance is 0: {layer._path} gives its beta for any example; "
                'another batch_size or last_batch="drop" avoids it.'
            )


def _negative_weight(weights):
    """Describes a sample weight below 0, and gives its row; None if there is none."""
    for array in () if weights is None else map(np.asarray, leaves(weights)):
        if array.size and array.min() < 0:
            place = tuple(np.argwhere(array < 0)[0])
            return f"Expected weights of 0 or more, got {array[place]}", place[0]
    return None


def _wrong_target(measures, targets, outputs):
    """Describes a target that its loss refuses, and gives its row; None if there is none. outputs: a function that
    returns the model's outputs."""
    if not any(unwrapped(loss) in _CHECKS for loss in measures.losses):
        return None
    for loss, output, given in measures.loss_of_each(outputs(), targets):
        check = _CHECKS.get(unwrapped(loss))
        if check is not None and not isinstance(given, (dict, list, tuple)):
            found = check(np.asarray(given), output, getattr(loss, "keywords", {}))
            if found is not None:
                return found
    return None


def _wrong_class(labels, predictions, options):
    classes = (getattr(predictions, "shape", None) or (None,))[-1]
    if labels.dtype.kind == "f":
        total = labels.sum(axis=-1, dtype=np.float64)
        wrong = (np.abs(total - 1) > SUM_TOLERANCE) | (labels < 0).any(axis=-1)
        if not wrong.any():
            return None
        place = tuple(np.argwhere(wrong)[0])
        return f"Expected probabilities of the classes that add up to 1, got {labels[place]}", place[0]
    if not classes or labels.dtype.kind not in "iu":
        return None
    wrong = (labels < 0) | (labels >= classes)
    if options.get("ignore_index") is not None:
        wrong &= labels != options["ignore_index"]
    if not wrong.any():
        return None
    place = np.argwhere(wrong)[0]
    return (
        f"Expected labels from 0 to {classes - 1}, of the model's {classes} classes, got {labels[tuple(place)]}",
        place[0],
    )


def _outside_0_to_1(targets, predictions, options):
    wrong = ~((targets >= 0) & (targets <= 1))
    if targets.dtype.kind == "b" or not wrong.any():
        return None
    place = tuple(np.argwhere(wrong)[0])
    return f"Expected targets from 0 to 1, got {targets[place]}", place[0]


_CHECKS = {losses.softmax_cross_entropy: _wrong_class, losses.binary_cross_entropy: _outside_0_to_1}


def not_finite(programs, measures, parts, batch, when: str) -> Exception:
    """Makes the error for a step whose loss is not finite. parts: Specs. batch: the arrays that the step read, or None
    if they cannot be read again."""
    if batch is None:
        return _error(f"The loss is not finite in {when}, which changed nothing; its batch cannot be read again")
    feeds, loss = programs.loss(parts)
    arrays = batch.arrays
    (value,) = programs.graph.compile(feeds, [loss])(*arrays)
    first = _of_batch(programs, measures, parts, batch) or _first_tensor(programs, feeds, loss, arrays)
    return _error(f"The loss is {value} in {when}, which changed nothing: {first}")


def _error(message):
    return mistake("fit", message, FloatingPointError)


def _of_batch(programs, measures, parts, batch):
    """Describes the fault in the batch itself."""
    for what, part in zip(_NAMES, batch):
        for path, array in zip(paths(part, _NAMES[what]), leaves(part)) if part is not None else ():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                place = np.argwhere(~np.isfinite(array))[0]
                return f"its {path} hold {array[tuple(place)]} in row {place[0]} of the batch"
    found = (
        _negative_weight(batch.weights)
        or _wrong_target(measures, batch.y, lambda: programs.outputs(parts))
        or _wrong_length(programs, parts, batch.x)
    )
    return None if found is None else f"{found[0].replace('Expected', 'expected')} in row {found[1]} of the batch"


def _hint(op, model):
    """Names a likely cause of the op's value."""
    if op.kind == "variable":
        return (
            "; an earlier step may have given it a gradient that is not finite, such as al.sqrt's at 0; an optimizer "
            "with skip_nonfinite=True skips such steps"
        )
    for layer in model._tree():
        if isinstance(layer, Embedding) and op.kind == "select" and op.name.rpartition("/")[0] == layer._path:
            return f"; ids outside 0 to {layer.input_dim - 1} give NaN there"
        steps = _steps_of(layer)
        if steps is not None and op.kind == "select" and op.name.rpartition("/")[0] == layer._path:
            return f"; lengths outside 0 to {steps} give NaN there"
    return ""


def _first_tensor(programs, feeds, loss, arrays):
    """Names the first tensor on the way to the loss that is not finite."""
    graph = programs.graph
    tensors = [
        (op, tensor)
        for op in graph.inspect(fetches=[loss])
        if op.kind != "constant"
        for tensor in op.results
        if tensor.dtype in ("float32", "float16", "bfloat16") and tensor.shape is not None
    ]
    try:
        faults = graph.compile(feeds, [all_of(is_finite(tensor)) for _, tensor in tensors])(*arrays)
    except DeviceError as error:
        return f"its cause cannot be found ({error})"
    for (op, tensor), fault in zip(tensors, faults):
        if not fault:
            (found,) = graph.compile(feeds, [tensor])(*arrays)
            name = f" {op.name!r}" if op.name else ""
            wrong = np.size(found) - np.count_nonzero(np.isfinite(np.asarray(found, np.float32)))
            return (
                f"the first tensor that is not finite, in {wrong} of {np.size(found)} elements, is "
                f"{describe(tensor)} of {op.kind}{name}, built at {op.location}{_hint(op, programs.model)}"
            )
    return "computed again, every tensor on the way to it is finite"
