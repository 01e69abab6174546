"""Safetensors files, which are read and not mapped: a mapped file ends the process where another program cuts it off
meanwhile. The format: https://github.com/huggingface/safetensors#format"""

import errno
import json
import math
import os
import stat
from contextlib import contextmanager

import numpy as np

from alloy.graph.arrays import as_path
from alloy.graph.dtypes import STORED, item_size, numpy_dtype
from alloy.graph.location import mistake

_TYPES = {**STORED, "F64": "float64", "C64": "complex64"}
_LONGEST = 100_000_000  # bytes of a header, as the package safetensors has it


class Damaged(ValueError):
    """A file is none of the format, or no longer."""


class Stored:
    """The tensors of an open file by their names. Damaged: it is no such file."""

    def __init__(self, file):
        start, whole = file.read(8), os.fstat(file.fileno()).st_size
        size = int.from_bytes(start, "little")
        if len(start) < 8 or size > min(whole - 8, _LONGEST):
            raise Damaged(f"it ends within its header, after {whole:,} bytes")
        try:
            entries = json.loads(file.read(size))
        except (ValueError, RecursionError):
            entries = None
        if not isinstance(entries, dict):
            raise Damaged("its header is no JSON object")
        self._file, self._start = file, 8 + size
        self.metadata = entries.pop("__metadata__", {})
        if not isinstance(self.metadata, dict) or not all(isinstance(text, str) for text in self.metadata.values()):
            raise Damaged("its metadata are no strings")
        self._entries = {name: _entry(name, entry) for name, entry in entries.items()}
        stop = 0
        for name, (_, _, begin, end) in sorted(self._entries.items(), key=lambda item: item[1][2:]):
            if begin != stop:
                raise Damaged(f"{name!r} begins at byte {begin:,}, not {stop:,}")
            stop = end
        if stop != whole - self._start:
            raise Damaged(f"its tensors take {stop:,} bytes, and it has {whole - self._start:,}")

    def names(self) -> list[str]:
        return list(self._entries)

    def spec(self, name: str) -> tuple[str, tuple[int, ...]]:
        """The element type, as the file calls it where no variable has it, and the shape."""
        dtype, shape, *_ = self._entries[name]
        return STORED.get(dtype, "float64" if dtype == "F64" else dtype), shape

    def array(self, name: str, out: np.ndarray | None = None) -> np.ndarray:
        """The tensor, in `out` where that is given, packed and of its type. Damaged: no array of NumPy has its element
        type, or the file has become shorter."""
        dtype, shape, begin, end = self._entries[name]
        if dtype not in _TYPES:
            raise Damaged(f"{name!r} is of {dtype}")
        found = np.empty(shape, numpy_dtype(_TYPES[dtype])) if out is None else out
        content = found.reshape(-1).view(np.uint8)
        self._file.seek(self._start + begin)
        if self._file.readinto(content) != end - begin:
            raise Damaged(f"{name!r} was cut off while it was read")
        if dtype == "BOOL":
            content[...] = content != 0
        return found


def _entry(name, entry) -> tuple[str, tuple[int, ...], int, int]:
    """The element type, the shape, and where it begins and ends behind the header."""
    entry = entry if isinstance(entry, dict) else {}
    dtype, shape, offsets = entry.get("dtype"), _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2:
        raise Damaged(f"{name!r} lacks an element type, a shape or its place")
    begin, end = offsets
    taken = math.prod(shape) * item_size(_TYPES[dtype]) if dtype in _TYPES else end - begin
    if end - begin != taken or taken < 0:
        raise Damaged(f"{name!r} takes {taken:,} bytes, and it has {end - begin:,}")
    return dtype, shape, begin, end


def _counts(values) -> tuple[int, ...] | None:
    """Integers from 0 on; None where they are something else."""
    sound = isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)
    return tuple(values) if sound else None


@contextmanager
def opened(path, op: str = "load"):
    """The file, and its path as text. OSError: it cannot be read. ValueError: it is no safetensors file."""
    path = as_path(op, path)
    require_file(op, path)
    with open(path, "rb") as file:
        try:
            yield Stored(file), path
        except Damaged as error:
            raise mistake(op, f"Expected a safetensors file, got {path}: {error}", act="called") from None


def require_file(op: str, path: str) -> None:
    """IsADirectoryError or ValueError where there is something else at that path."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise mistake(op, f"Expected the path of a file, got {path}, which is another thing", act="called")
