"""Stored values of variables by name: safetensors files, or memory. Files are read whole, not mapped: a mapped file
ends the process if another program truncates it meanwhile."""

import errno
import os
import stat
from collections.abc import Mapping

import numpy as np

from alloy.engine.arrays import as_path, header_of, memory_for
from alloy.engine.dtypes import STORED, numpy_dtype
from alloy.messages.location import mistake

_TYPES = {**STORED, "F64": "float64"}


class Stored:
    """The tensors of a file by name, and its metadata."""

    def __init__(self, op: str, path):
        """Reads the file. OSError: it cannot be read. ValueError: it is no safetensors file."""
        from safetensors import SafetensorError, deserialize

        self.path = as_path(op, path)
        require_file(op, self.path)
        with memory_for(op, self.path), open(self.path, "rb") as file:
            content = file.read()
        try:
            self._tensors = dict(deserialize(content))
        except SafetensorError as error:
            raise mistake(op, f"Expected a safetensors file, got {self.path}: {error}") from None
        header = header_of(op, self.path, content[8 : 8 + int.from_bytes(content[:8], "little")])
        self.metadata: dict[str, str] = header.get("__metadata__") or {}

    def names(self) -> list[str]:
        return list(self._tensors)

    def spec(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Returns the element type, under the file's name if NumPy has none, and the shape."""
        dtype = self._tensors[name]["dtype"]
        return _TYPES.get(str(dtype), str(dtype)), tuple(self._tensors[name]["shape"])

    def array(self, name: str) -> np.ndarray:
        """Returns the tensor, whose element type NumPy has."""
        dtype, shape = self.spec(name)
        elements = np.frombuffer(self._tensors[name]["data"], np.uint8)
        return (elements != 0 if dtype == "bool" else elements.view(numpy_dtype(dtype))).reshape(shape)


class InMemory:
    """Arrays by name, with the interface of Stored."""

    path = "the state"
    metadata: dict[str, str] = {}

    def __init__(self, op: str, arrays: Mapping):
        self._arrays = {}
        for name, array in arrays.items():
            if not isinstance(name, str) or not isinstance(array, (np.ndarray, np.generic)):
                given = f"{type(name).__name__}: {type(array).__name__}"
                raise mistake(op, f"Expected a dict of names and NumPy arrays, got {given} in it", TypeError)
            self._arrays[name] = np.asarray(array)

    def names(self) -> list[str]:
        return list(self._arrays)

    def spec(self, name: str) -> tuple[str, tuple[int, ...]]:
        return self._arrays[name].dtype.name, self._arrays[name].shape

    def array(self, name: str) -> np.ndarray:
        return self._arrays[name]


def require_file(op: str, path: str) -> None:
    """Raises IsADirectoryError or ValueError if something other than a file is at that path."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise mistake(op, f"Expected the path of a file, got {path}, which is another thing")
