"""Stored values of variables by name: safetensors files, or memory. Files are read whole, not mapped: a mapped file
ends the process if another program truncates it meanwhile."""

from collections.abc import Mapping

import numpy as np

from alloy.engine.arrays import as_path, header_of, memory_for
from alloy.engine.dtypes import STORED, numpy_dtype
from alloy.messages.location import mistake
from alloy.training.files import require_file

_TYPES = {**STORED, "F64": "float64"}


class Stored:
    """Tensors by name: `specs` has element types, under the file's name if NumPy has none, and shapes; `arrays` has
    those whose type NumPy has."""

    def __init__(self, op: str, source):
        """Reads a safetensors file, or takes a dict of arrays. OSError: the file cannot be read. ValueError: it is no
        safetensors file. TypeError: the dict holds other things."""
        self.metadata: dict[str, str] = {}
        self.specs: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.arrays: dict[str, np.ndarray] = {}
        if isinstance(source, Mapping):
            self._take(op, source)
        else:
            self._read(op, as_path(op, source))

    def _take(self, op, arrays):
        self.path = "the state"
        for name, array in arrays.items():
            if not isinstance(name, str) or not isinstance(array, (np.ndarray, np.generic)):
                given = f"{type(name).__name__}: {type(array).__name__}"
                raise mistake(op, f"Expected a dict of names and NumPy arrays, got {given} in it", TypeError)
            self.specs[name], self.arrays[name] = (array.dtype.name, array.shape), np.asarray(array)

    def _read(self, op, path):
        from safetensors import SafetensorError, deserialize

        self.path = path
        require_file(op, path)
        with memory_for(op, path), open(path, "rb") as file:
            content = file.read()
        try:
            tensors = deserialize(content)
        except SafetensorError as error:
            raise mistake(op, f"Expected a safetensors file, got {path}: {error}") from None
        header = header_of(op, path, content[8 : 8 + int.from_bytes(content[:8], "little")])
        self.metadata = header.get("__metadata__") or {}
        for name, tensor in tensors:
            dtype, shape = _TYPES.get(tensor["dtype"]), tuple(tensor["shape"])
            self.specs[name] = dtype or tensor["dtype"], shape
            if dtype is not None:
                elements = np.frombuffer(tensor["data"], np.uint8)
                self.arrays[name] = (elements != 0 if dtype == "bool" else elements.view(numpy_dtype(dtype))).reshape(
                    shape
                )
