"""Writes variables to safetensors files, and reads them, by name: a model's, or a whole training's with its record."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain

import numpy as np

from alloy._core import Variable
from alloy.engine.arrays import empty, require_all
from alloy.engine.structure import convert
from alloy.messages.location import mistake
from alloy.training.files import replace_file
from alloy.training.stored import Stored


def save(variables, path) -> None:
    """Writes the variables (a list of them, or a model) into a safetensors file.

    All values of a graph are of one moment between two runs. The file appears complete or not at all, even if the power
    fails, with the permissions of a new file or of the replaced one. It replaces a symbolic link's target. If several
    threads or processes save to one path, the last one to finish wins.

    A missing directory is made. ValueError: two variables have one name, or a variable has none or one that such a file
    cannot hold. OSError: the disk is full, ..."""
    from safetensors.numpy import save as to_bytes

    named = _by_name("save", variables)
    if "__metadata__" in named:
        raise mistake("save", "Expected names for variables, got '__metadata__', which such a file keeps to itself")
    arrays = read_all(list(named.values()))
    replace_file(path, to_bytes(dict(zip(named, arrays))))


def state(variables) -> dict[str, np.ndarray]:
    """Copies the values of the variables (a list of them, or a model that has been called) into a dict by name.

    All values of a graph are of one moment between two runs. load sets them again, in these variables or in others of
    the same names."""
    named = _by_name("state", variables)
    return dict(zip(named, read_all(list(named.values()))))


def load(variables, path) -> None:
    """Assigns the values of a safetensors file, or of a state, to the variables (a list of them, or a model that has
    been called): to all of a graph at one moment between two runs, or, if anything fails, to none. From a training's
    checkpoint it takes the model's values.

    ValueError: the file is no safetensors file, or has other names, shapes or dtypes than the variables. OSError: it
    cannot be read."""
    named = _by_name("load", variables)
    file = Stored("load", path)
    names = set(file.specs)
    if not names & set(named) and any(name.endswith((".weight", ".bias")) for name in names):
        raise mistake(
            "load",
            f"Expected a file that al.save wrote, got {file.path} with PyTorch's names; al.load_torch(model, path) "
            "loads it",
        )
    if file.metadata.get("format") == _FORMAT:
        names = {name for name in names if name in named or not _OF_TRAINING.match(name)}
    _require_same("missing from", set(named) - names, file.path)
    _require_same("unknown to the model but in", names - set(named), file.path)
    arrays = [_of_type(file, name, variable) for name, variable in named.items()]
    assign_all(named.values(), arrays)


def assign_all(variables, arrays) -> None:
    """Sets the variables, all of a graph at one moment between two runs."""
    for graph, chosen in _by_graph(variables).items():
        graph.assign_variables([variable for _, variable in chosen], [arrays[i] for i, _ in chosen])


_MOST_NAMES = 4  # in a message
_OTHER = "; the file is of another model or optimizer: remove it, or give another path, to begin anew"
_FORMAT = "alloy training 1"  # the record's format, in a file's metadata
# The beginnings of names that do not belong to a model.
_OF_TRAINING = re.compile(r"(optimizer|callbacks|(metrics|training)(_\d+)?)/")


def write_training(path, variables, record: dict) -> None:
    """Writes variables and a record of numbers, strings, arrays and lists and dicts of these, as save does."""
    from safetensors.numpy import save as to_bytes

    named, arrays = _by_name("save", variables), {}
    plain = convert(lambda leaf: _put(leaf, arrays), record)
    values = dict(zip(named, read_all(list(named.values()))))
    text = json.dumps(plain, allow_nan=True)
    content = to_bytes(values | arrays, metadata={"format": _FORMAT, "record": text})
    replace_file(path, content)


def _put(leaf, arrays):
    """Returns a value of the record for JSON; an array goes into arrays, and its name into JSON."""
    if isinstance(leaf, np.ndarray):
        name = f"callbacks/{len(arrays)}"
        arrays[name] = np.ascontiguousarray(leaf)
        return {"array": name}
    return leaf.item() if isinstance(leaf, np.generic) else leaf


def read_training(path, variables, progress: dict, batches: dict, callbacks: int) -> dict:
    """Assigns the values of a file that write_training wrote, and returns the record. If anything fails it changes
    nothing, as load.

    progress: the names of the variables "epoch" and "steps". batches: the units of the place within an epoch.
    callbacks: the number of states in the record."""
    named = _by_name("load", variables)
    file = Stored("load", path)
    if file.metadata.get("format") != _FORMAT:
        raise mistake(
            "load",
            f"Expected the checkpoint of a training, got {file.path}, which holds none; al.load reads a model from it",
        )
    names = [name for name in file.specs if not name.startswith("callbacks/")]
    _require_same("missing from", set(named) - set(names), file.path, _OTHER)
    _require_same("unknown to this training but in", set(names) - set(named), file.path, _OTHER)
    values = {name: _of_type(file, name, variable, _OTHER) for name, variable in named.items()}
    epoch, steps = (int(values[progress[part]]) for part in ("epoch", "steps"))
    record = _record(file, epoch, steps, callbacks)
    if steps and record["batches"] != batches:
        given, here = (", ".join(f"{key} {value}" for key, value in of.items()) for of in (record["batches"], batches))
        raise mistake(
            "load", f"Expected the batches with which {file.path} was saved within an epoch, {given}, got {here}"
        )
    assign_all(named.values(), list(values.values()))
    return record


def _record(file, epoch, steps, callbacks) -> dict:
    """Returns the record. ValueError: write_training cannot have written it."""
    record, whole = {}, False
    with suppress(KeyError, TypeError, AttributeError, ValueError, RecursionError):
        record = json.loads(file.metadata["record"], object_hook=lambda part: _taken(part, file))
        whole = (
            type(record["fit_from"]) is int
            and 0 <= record["fit_from"] <= epoch
            and steps >= 0
            and isinstance(record["stop_training"], bool)
            and isinstance(record["batches"], dict)
            and all(isinstance(values, list) for values in record["history"].values())
            and all(isinstance(value, (int, float, np.ndarray)) for value in chain(*record["history"].values()))
            and all(isinstance(state, dict) for state in record["callbacks"])
        )
    if not whole:
        raise mistake("load", f"Expected the checkpoint of a training, got {file.path} with a damaged record")
    if len(record["callbacks"]) != callbacks:
        raise mistake(
            "load",
            f"Expected the callbacks with which {file.path} was saved, {len(record['callbacks'])}, got {callbacks}",
        )
    return record


def _taken(part, file):
    name = part.get("array")
    return file.arrays[name].copy() if len(part) == 1 and str(name).startswith("callbacks/") else part


def read_all(variables) -> list[np.ndarray]:
    arrays = {}
    for graph, chosen in _by_graph(variables).items():
        arrays |= zip((i for i, _ in chosen), graph.read_variables([variable for _, variable in chosen]))
    return [arrays[i] for i in range(len(variables))]


def _by_graph(variables) -> dict:
    """Groups the variables by graph, with their positions."""
    graphs = {}
    for i, variable in enumerate(variables):
        graphs.setdefault(variable.graph, []).append((i, variable))
    return graphs


def _by_name(op: str, variables) -> dict:
    given, variables = variables, getattr(variables, "variables", variables)
    if isinstance(given, (str, os.PathLike)) or not isinstance(variables, Iterable):
        call = f"al.{op}(model)" if op == "state" else f"al.{op}(model, path)"
        what = f"{call}, got {type(given).__name__} as the model"
        raise mistake(op, f"Expected {what}", TypeError)
    variables = list(variables)
    require_all(op, "variables, or a model", Variable, variables)
    named = {variable.name: variable for variable in variables}
    if not variables:
        raise mistake(op, "Expected variables, got none (a model has none before its first call)")
    if "" in named or len(named) < len(variables):
        raise mistake(op, f"Expected variables of different names, got {[v.name for v in variables]}")
    return named


def _require_same(what: str, names: set, path: str, hint: str = "") -> None:
    if names:
        shown = ", ".join(sorted(names)[:_MOST_NAMES])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise mistake("load", f"{shown}{more}: {what} {path}{hint}")


def _of_type(file: Stored, name: str, variable, hint: str = "") -> np.ndarray:
    """Returns the array of that name, which must have the variable's type, in memory that the device reads in place."""
    given = file.specs[name]
    expected = variable.dtype, variable.shape
    if given != expected:
        given, expected = (f"{dtype} {shape}" for dtype, shape in (given, expected))
        raise mistake("load", f"Expected {name} of {expected}, got {given} in {file.path}{hint}")
    array = empty(variable.shape, variable.dtype)
    array[...] = file.arrays[name]
    return array
