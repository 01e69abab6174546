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
from alloy.training.batches import Parts, parts_of


def require_sound_arrays(op, data, given, programs, finite) -> None:
    """Raises ValueError for targets that the loss refuses, lengths outside the steps, negative sample weights, and, if
    `finite`, numbers that are not finite.

    given: the tuple of arrays that data is made of."""
    found = _fault(programs, parts_of(op, data), Parts(*given), finite)
    if found:
        raise mistake(op, f"Expected {found}")


def _fault(programs, specs: Parts, parts: Parts, finite: bool = True) -> str:
    """Returns "EXPECTED, got NUMBER in row ROW" for the first number that the step cannot use, or "". specs: the parts'
    Specs."""
    return (
        (finite and _infinite(parts))
        or _negative_weight(parts.weights)
        or _wrong_target(programs, specs, parts.y)
        or _wrong_length(programs, specs, parts.x)
    )


def _first(expected: str, array, wrong) -> str:
    """Returns the sentence for the first place where `wrong` is true, or ""."""
    if not wrong.any():
        return ""
    place = tuple(np.argwhere(wrong)[0])
    return f"{expected}, got {array[place]} in row {place[0]}"


def _infinite(parts):
    for what, part in zip(("examples", "targets", "weights", "mask"), parts):
        for path, array in zip(paths(part, what), map(np.asarray, leaves(part))) if part is not None else ():
            floats = array.dtype.kind == "f" and array.size
            if floats and not (math.isfinite(array.min()) and math.isfinite(array.max())):
                return _first(f"finite numbers as {path}", array, ~np.isfinite(array))
    return ""


def _negative_weight(weights):
    found = (
        _first("weights of 0 or more", array, array < 0)
        for array in map(np.asarray, () if weights is None else leaves(weights))
    )
    return next(filter(None, found), "")


def _wrong_target(programs, specs, targets):
    if not any(unwrapped(loss) in _CHECKS for loss in programs.measures.losses):
        return ""
    for loss, output, given in programs.measures.loss_of_each(programs.outputs(specs), targets):
        check = _CHECKS.get(unwrapped(loss))
        if check is not None and not isinstance(given, (dict, list, tuple)):
            found = check(np.asarray(given), output, getattr(loss, "keywords", {}))
            if found:
                return found
    return ""


def _wrong_class(labels, predictions, options):
    classes = (getattr(predictions, "shape", None) or (None,))[-1]
    if labels.dtype.kind == "f":
        total = labels.sum(axis=-1, dtype=np.float64)
        wrong = (np.abs(total - 1) > SUM_TOLERANCE) | (labels < 0).any(axis=-1)
        return _first("probabilities of the classes that add up to 1", labels, wrong)
    if not classes or labels.dtype.kind not in "iu":
        return ""
    wrong = (labels < 0) | (labels >= classes)
    if options.get("ignore_index") is not None:
        wrong &= labels != options["ignore_index"]
    return _first(f"labels from 0 to {classes - 1}, of the model's {classes} classes", labels, wrong)


def _outside_0_to_1(targets, predictions, options):
    return (
        "" if targets.dtype.kind == "b" else _first("targets from 0 to 1", targets, ~((targets >= 0) & (targets <= 1)))
    )


_CHECKS = {losses.softmax_cross_entropy: _wrong_class, losses.binary_cross_entropy: _outside_0_to_1}


def _wrong_length(programs, specs, examples):
    layers = [layer for layer in programs.model._tree() if isinstance(layer, Recurrent)]
    if not layers:
        return ""
    programs.outputs(specs)
    arrays = dict(zip(leaves(programs.examples(specs)), map(np.asarray, leaves(examples))))
    for layer in layers:
        steps, lengths = _steps_of(layer), arrays.get(layer._last and layer._last.operands.get("lengths"))
        if steps is not None and lengths is not None and (wrong := (lengths < 0) | (lengths > steps)).any():
            return _first(f"lengths from 0 to {steps}, the steps", lengths, wrong)
    return ""


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


def not_finite(programs, specs, batch, when: str) -> Exception:
    """Makes the error for a step whose loss is not finite. batch: the arrays that the step read, or None if they cannot
    be read again."""
    if batch is None:
        said = f"The loss is not finite in {when}, which changed nothing; its batch cannot be read again"
        return mistake("fit", said, FloatingPointError)
    feeds, loss = programs.loss(specs)
    (value,) = programs.graph.compile(feeds, [loss])(*batch.arrays)
    if programs.ranks > 1 and np.isfinite(value):
        said = f"The loss of another process's examples is not finite in {when}, which changed nothing"
        return mistake("fit", said, FloatingPointError)
    fault = _fault(programs, specs, batch)
    said = f"expected {fault} of the batch" if fault else _first_tensor(programs, feeds, loss, batch.arrays)
    return mistake("fit", f"The loss is {value} in {when}, which changed nothing: {said}", FloatingPointError)


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
