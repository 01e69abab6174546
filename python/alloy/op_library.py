"""Ops of libraries: functions of tensors that a shared library of the user's computes on the host."""

import inspect
import os
from typing import Any

import numpy as np

from alloy import _core
from alloy._core import Tensor
from alloy.engine.arrays import as_file_name
from alloy.messages.location import meant, mistake
from alloy.ops.apply import apply_all

__all__ = ["OpLibrary", "load_op_library"]


class OpLibrary:
    """The ops of a library, made by al.load_op_library. Each is a function of tensors: ops.blur(x).

    name, path: the library's name and file; include: the folder of alloy/op_library.h, the header of all libraries."""

    include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")

    def __init__(self, name: str, path: str, functions):
        self._functions = {full.rpartition(".")[2]: _function(full, *rest) for full, *rest in functions}
        vars(self).update(self._functions)
        self.name, self.path = name, path

    def __getattr__(self, name) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'OpLibrary' object has no attribute {name!r}")
        functions = self._functions
        known = ", ".join(functions)
        raise mistake(
            "op_library",
            f"The library {self.name} of {self.path} has no op {name}{meant(name, functions)}; it has {known}",
            AttributeError,
        )

    def __repr__(self):
        return f"<OpLibrary {self.name} of {', '.join(self._functions)}>"


def load_op_library(path) -> OpLibrary:
    """Loads the ops of a shared library: ops = al.load_op_library("blur.so"), then y = ops.blur(x). The library exports
    them by the C interface of alloy/op_library.h, which is in the folder al.OpLibrary.include.

    A step is cut at such an op: the device computes everything before it, the op runs on the host, then the device
    continues. So each costs one more dispatch, and a wait; other steps do not change. submit returns when the last such
    op has been computed. An op cannot stand in a loop or a conditional, nor in several steps of one dispatch. If an op
    fails, the step raises a DeviceError with the library's message, and no variable changes.

    A library stays loaded, and loading it again gives the same ops. FileNotFoundError: there is no such file.
    ValueError: it is no library of ops, or of another version, has the name of a loaded one, or has been compiled anew
    since it was loaded."""
    file = as_file_name("load_op_library", path)
    if not os.path.isfile(file):
        raise mistake("load_op_library", f"There is no file {os.fsdecode(path)}", FileNotFoundError)
    try:
        return OpLibrary(*_core.load_op_library(file))
    except ValueError as error:
        raise mistake("load_op_library", f"Expected {error}") from None


def _function(full, operands, text):
    def function(*tensors):
        tensors = [np.asarray(x) if isinstance(x, np.generic) else x for x in tensors]  # arrays keep their dtypes
        made = apply_all("native", tensors, {"function": full}, typed=full)
        return made[0] if len(made) == 1 else tuple(made)

    function.__name__ = function.__qualname__ = full.rpartition(".")[2]
    names = [f"x{i}" for i in range(operands)] if operands > 1 else ["x"]
    kind = inspect.Parameter.POSITIONAL_ONLY
    parameters = [inspect.Parameter(name, kind, annotation=Tensor) for name in names]
    function.__signature__ = inspect.Signature(parameters)
    function.__doc__ = text or f"The op {full}."
    return function
