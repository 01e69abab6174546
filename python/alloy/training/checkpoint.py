"""Variables to and from safetensors files, by name: those of a model, or of a whole training with what else it needs to
go on."""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import contextmanager, suppress
from glob import escape, glob

import numpy as np

from alloy._core import Variable
from alloy.graph.apply import require_all
from alloy.graph.arrays import as_path, empty
from alloy.graph.location import mistake
from alloy.graph.structure import convert
from alloy.training.stored import InMemory, Stored, require_file


def save(variables, path) -> None:
    """Writes the variables (a list of them, or a model) into a safetensors file.

    All values of a graph are of one moment between two runs. The file appears complete or not at all, also where the
    power fails, with the permissions of a new file or of the one that it replaces; behind a symbolic link it replaces
    what that points to. Several threads and processes may save to one path: the last one to finish holds.
    A directory that is missing is made. ValueError: two variables have one name, one has none or one that such a file
    cannot hold. OSError: the disk is full, ..."""
    from safetensors.numpy import save as to_bytes

    named = _by_name("save", variables)
    if "__metadata__" in named:
        raise mistake(
            "save", "Expected names for variables, got '__metadata__', which such a file keeps to itself", act="called"
        )
    arrays = _read(list(named.values()))
    replace_file(path, to_bytes(dict(zip(named, arrays))))


def state(variables) -> dict[str, np.ndarray]:
    """Copies of the values of the variables (a list of them, or a model that has been called), by name.

    All values of a graph are of one moment between two runs. load sets them again, in these variables or in others of
    the same names."""
    named = _by_name("state", variables)
    return dict(zip(named, _read(list(named.values()))))


def load(variables, path) -> None:
    """Assigns the values of a safetensors file, or of a state, to the variables (a list of them, or a model that has
    been called): to all of a graph at one moment between two runs, or, where anything fails, to none of them. Of the
    checkpoint of a training it takes what belongs to the model.

    ValueError: the file is not one, or has other names, shapes or dtypes than the variables. OSError: it cannot
    be read."""
    named = _by_name("load", variables)
    file = InMemory("load", path) if isinstance(path, Mapping) else Stored("load", path)
    names = set(file.names())
    if not names & set(named) and any(name.endswith((".weight", ".bias")) for name in names):
        raise mistake(
            "load",
            f"Expected a file that al.save wrote, got {file.path} with PyTorch's names; al.load_torch(model, path) "
            "loads it",
            act="called",
        )
    if file.metadata.get("format") == _FORMAT:
        names = {name for name in names if name in named or not _OF_TRAINING.match(name)}
    _require_same("missing from", set(named) - names, file.path)
    _require_same("unknown to the model but in", names - set(named), file.path)
    arrays = [_of_type(file, name, variable) for name, variable in named.items()]
    assign_all(named.values(), arrays)


def assign_all(variables, arrays) -> None:
    """Sets the variables, those of a graph at one moment between two runs."""
    for graph, chosen in _by_graph(variables).items():
        graph.assign_variables([variable for _, variable in chosen], [arrays[i] for i, _ in chosen])


_MOST_NAMES = 4  # in a message
_OTHER = "; the file is of another model or optimizer: remove it, or give another path, to begin anew"
_FORMAT = "alloy training 1"  # of the record in a file's metadata
# How names begin that are no model's.
_OF_TRAINING = re.compile(r"(optimizer|callbacks|(metrics|training)(_\d+)?)/")


def write_training(path, variables, record: dict) -> None:
    """Writes variables and a record, numbers, strings, arrays and lists and dicts of these, as save does."""
    from safetensors.numpy import save as to_bytes

    named, arrays = _by_name("save", variables), {}
    plain = convert(lambda leaf: _put(leaf, arrays), record)
    values = dict(zip(named, _read(list(named.values()))))
    text = json.dumps(plain, allow_nan=True)
    content = to_bytes(values | arrays, metadata={"format": _FORMAT, "record": text})
    replace_file(path, content)


def _put(leaf, arrays):
    """What stands for a value of the record in JSON; arrays are kept beside it."""
    if isinstance(leaf, np.ndarray):
        name = f"callbacks/{len(arrays)}"
        arrays[name] = np.ascontiguousarray(leaf)
        return {"array": name}
    return leaf.item() if isinstance(leaf, np.generic) else leaf


def read_training(path, variables, progress: dict, batches: dict, callbacks: int) -> dict:
    """Assigns the values of a file that write_training wrote, and gives the record. Changes nothing where anything
    fails, as load. progress: the names of the variables "epoch" and "steps". batches: what the place within an epoch
    counts. callbacks: how many states the record must hold."""
    named = _by_name("load", variables)
    file = Stored("load", path)
    if file.metadata.get("format") != _FORMAT:
        raise mistake(
            "load",
            f"Expected the checkpoint of a training, got {file.path}, which holds none; al.load reads a model from it",
            act="called",
        )
    names = [name for name in file.names() if not name.startswith("callbacks/")]
    _require_same("missing from", set(named) - set(names), file.path, _OTHER)
    _require_same("unknown to this training but in", set(names) - set(named), file.path, _OTHER)
    values = {name: _of_type(file, name, variable, _OTHER) for name, variable in named.items()}
    epoch, steps = (int(values[progress[part]]) for part in ("epoch", "steps"))
    record = _record(file, epoch, steps, callbacks)
    if steps and record["batches"] != batches:
        given, here = (", ".join(f"{key} {value}" for key, value in of.items()) for of in (record["batches"], batches))
        raise mistake(
            "load",
            f"Expected the batches with which {file.path} was saved in the midst of an epoch, {given}, got {here}",
            act="called",
        )
    assign_all(named.values(), list(values.values()))
    return record


def _record(file, epoch, steps, callbacks) -> dict:
    """ValueError where it is not what write_training writes."""
    record, whole = {}, False
    with suppress(KeyError, TypeError, AttributeError, ValueError, RecursionError):
        record = json.loads(file.metadata["record"], object_hook=lambda part: _taken(part, file))
        whole = (
            type(record["fit_from"]) is int
            and 0 <= record["fit_from"] <= epoch
            and steps >= 0
            and isinstance(record["stop_training"], bool)
            and isinstance(record["batches"], dict)
            and all(_are_numbers(values) for values in record["history"].values())
            and all(isinstance(state, dict) for state in record["callbacks"])
        )
    if not whole:
        raise mistake(
            "load", f"Expected the checkpoint of a training, got {file.path} with a damaged record", act="called"
        )
    if len(record["callbacks"]) != callbacks:
        raise mistake(
            "load",
            f"Expected the callbacks with which {file.path} was saved, {len(record['callbacks'])}, got {callbacks}",
            act="called",
        )
    return record


def _are_numbers(values) -> bool:
    return isinstance(values, list) and all(isinstance(value, (int, float, np.ndarray)) for value in values)


def _taken(part, file):
    name = part.get("array")
    return file.array(name).copy() if len(part) == 1 and str(name).startswith("callbacks/") else part


def _place(path, op: str = "save") -> str:
    """Where a file of that path lies. IsADirectoryError or ValueError where something else does."""
    place = os.path.realpath(as_path(op, path))
    require_file(op, place)
    return place


def require_place(path) -> None:
    """OSError where a file cannot be written at that path; a directory that is missing is made."""
    place = _place(path, "fit")
    with said_of(path):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with _open_new(_prefix(place)) as file:
            os.remove(file.name)


def _read(variables) -> list[np.ndarray]:
    arrays = {}
    for graph, chosen in _by_graph(variables).items():
        arrays |= zip((i for i, _ in chosen), graph.read_variables([variable for _, variable in chosen]))
    return [arrays[i] for i in range(len(variables))]


def _by_graph(variables) -> dict:
    """The variables of each graph, with their positions."""
    graphs = {}
    for i, variable in enumerate(variables):
        graphs.setdefault(variable.graph, []).append((i, variable))
    return graphs


@contextmanager
def said_of(path):
    """An error of the system in here names the file that the user named, also where the system names none (a full disk)
    or a file on the way."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
        raise


def replace_file(path, content: bytes) -> None:
    """Puts a file with this content in the place of whatever is there, in one step."""
    place = _place(path)
    directory, prefix = os.path.dirname(place), _prefix(place)
    _tidy(prefix)
    with said_of(path):
        os.makedirs(directory, exist_ok=True)
    with said_of(path), _open_new(prefix) as file:
        try:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, place)
        except BaseException:
            with suppress(OSError):
                file.close()  # here, where it may fail again to write
            with suppress(OSError):
                os.remove(file.name)
            raise
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # so that the directory keeps the new name, too
    finally:
        os.close(descriptor)


def _prefix(path: str) -> str:
    """What the names of files begin with that are to become that one."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.saving-")


def _open_new(prefix: str):
    """A new file, locked for as long as it is open."""
    while True:
        file = open(prefix + os.urandom(8).hex(), "xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(file.name):
            return file
        file.close()  # another process removed it before it was locked


def _tidy(prefix: str) -> None:
    """Removes the files that killed saves have left behind: those that no process has locked."""
    for left in glob(f"{escape(prefix)}*"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(left)


def _by_name(op: str, variables) -> dict:
    given, variables = variables, getattr(variables, "variables", variables)
    if isinstance(given, (str, os.PathLike)) or not isinstance(variables, Iterable):
        call = f"al.{op}(model)" if op == "state" else f"al.{op}(model, path)"
        what = f"{call}, got {type(given).__name__} as the model"
        raise mistake(op, f"Expected {what}", TypeError, "called")
    variables = list(variables)
    require_all(op, "variables, or a model", Variable, variables)
    named = {variable.name: variable for variable in variables}
    if not variables:
        raise mistake(op, "Expected variables, got none (a model has none before its first call)", act="called")
    if "" in named or len(named) < len(variables):
        raise mistake(op, f"Expected variables of different names, got {[v.name for v in variables]}", act="called")
    return named


def _require_same(what: str, names: set, path: str, hint: str = "") -> None:
    if names:
        shown = ", ".join(sorted(names)[:_MOST_NAMES])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise mistake("load", f"{shown}{more}: {what} {path}{hint}", act="called")


def _of_type(file: Stored | InMemory, name: str, variable, hint: str = "") -> np.ndarray:
    """The array of that name, which must be of the variable's type; in memory that the device reads where it
    lies."""
    given = file.spec(name)
    expected = variable.dtype, variable.shape
    if given != expected:
        given, expected = (f"{dtype} {shape}" for dtype, shape in (given, expected))
        raise mistake("load", f"Expected {name} of {expected}, got {given} in {file.path}{hint}", act="called")
    array = empty(variable.shape, variable.dtype)
    array[...] = file.array(name)
    return array
