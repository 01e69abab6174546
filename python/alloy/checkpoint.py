"""Variables to and from safetensors files, by name."""
import os

import numpy as np

from alloy.location import mistake


def save(variables, path) -> None:
    """Writes the variables (a list of them, or a model) into a safetensors file, which appears complete or
    not at all.

    ValueError: two variables have one name, or one has none."""
    from safetensors.numpy import save_file

    arrays = {name: variable.numpy() for name, variable in _by_name("save", variables).items()}
    temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        save_file(arrays, temporary)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def load(variables, path) -> None:
    """Assigns the values of a safetensors file to the variables (a list of them, or a model that has been
    called).

    ValueError, before anything is assigned: the file is not one, or has other names, shapes or dtypes than
    the variables."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    named = _by_name("load", variables)
    try:
        arrays = load_file(path)
    except SafetensorError as error:
        raise mistake("load", f"Expected a safetensors file, got {path}: {error}", act="called") from None
    _require_same("missing from", set(named) - set(arrays), path)
    _require_same("unknown to the model but in", set(arrays) - set(named), path)
    for name, variable in named.items():
        given, expected = _type_of(arrays[name]), (variable.dtype, variable.shape)
        if given != expected:
            given, expected = (f"{dtype} {shape}" for dtype, shape in (given, expected))
            raise mistake("load", f"Expected {name} of {expected}, got {given} in {path}", act="called")
    for name, variable in named.items():
        variable.assign(arrays[name])


def _by_name(op: str, variables) -> dict:
    variables = list(getattr(variables, "variables", variables))
    named = {variable.name: variable for variable in variables}
    if not variables:
        raise mistake(op, "Expected variables, got none (a model has none before its first call)",
                      act="called")
    if "" in named or len(named) < len(variables):
        raise mistake(op, f"Expected variables of different names, got {[v.name for v in variables]}",
                      act="called")
    return named


def _require_same(what: str, names: set, path) -> None:
    if names:
        raise mistake("load", f"{', '.join(sorted(names))}: {what} {path}", act="called")


def _type_of(array: np.ndarray) -> tuple:
    return array.dtype.name, array.shape
