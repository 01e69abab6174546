"""Initial values for variables, as float32 NumPy arrays. The same seed gives the same values. al.random.initialize
draws values on the device instead.

A seed is an integer, a list of integers or a numpy.random.Generator. fan_in and fan_out count the values that an output
and an input are connected to: of a dense layer's weights (in, out), of a convolution's (height, width, in, out)."""

import math
import os
from typing import TYPE_CHECKING

import numpy as np

from alloy._core import FileValues
from alloy.engine.arrays import as_known_shape, header_of
from alloy.engine.dtypes import STORED
from alloy.messages.location import meant, mistake
from alloy.messages.names import of_module
from alloy.ops.creation import ones, zeros

__all__ = ["from_file", "glorot_uniform", "he_normal", "normal", "ones", "orthogonal", "uniform", "zeros"]


def uniform(shape, low=-0.05, high=0.05, *, seed) -> np.ndarray:
    """Draws uniform numbers from low to below high."""
    values = np.random.default_rng(seed).random(as_known_shape("uniform", shape), np.float32)
    values *= high - low  # in place: a large network has tens of millions of weights
    values += low
    return values


def normal(shape, mean=0.0, stddev=0.05, *, seed) -> np.ndarray:
    """Draws Gaussian numbers of that mean and standard deviation."""
    return np.random.default_rng(seed).normal(mean, stddev, as_known_shape("normal", shape)).astype(np.float32)


def glorot_uniform(shape, *, seed) -> np.ndarray:
    """Draws uniform numbers within +-sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, 2010, eq. 16."""
    limit = math.sqrt(6 / max(sum(_fans(shape)), 1))
    return uniform(shape, -limit, limit, seed=seed)


def he_normal(shape, *, seed) -> np.ndarray:
    """Draws Gaussian numbers of standard deviation sqrt(2 / fan_in), for layers before a relu: He et al., 2015, eq.
    10."""
    return normal(shape, 0.0, math.sqrt(2 / max(_fans(shape)[0], 1)), seed=seed)


def orthogonal(shape, *, seed) -> np.ndarray:
    """Draws a random matrix (n, m) with orthonormal columns, or rows if n < m: Saxe et al., 2013."""
    if isinstance(shape, int) or len(shape) != 2:
        raise mistake("orthogonal", f"Expected a shape (rows, columns), got {shape}")
    rows, columns = shape
    as_known_shape("orthogonal", shape)
    gaussian = np.random.default_rng(seed).standard_normal((max(shape), min(shape)))
    q, r = np.linalg.qr(gaussian)
    q *= np.sign(np.diag(r))  # else the decomposition's choice of signs would make some matrices more likely
    return (q if rows >= columns else q.T).astype(np.float32)


def _fans(shape) -> tuple[int, int]:
    if isinstance(shape, int) or len(shape) < 2:
        expected = "a shape of weights, (in, out) or (height, width, in, out)"
        raise mistake("init", f"Expected {expected}, got {shape}")
    *window, fan_in, fan_out = shape
    return math.prod(window) * fan_in, math.prod(window) * fan_out


def from_file(path, name: str | None = None) -> FileValues:
    """Refers to the values in a file, for graph.variable(al.init.from_file("model.safetensors", "dense_0/weights")).
    They are read when the variable is first needed, straight into the device's memory; the host keeps no copy.

    path: a safetensors file, with the name of a tensor in it, or a .npy file of NumPy. The file must not change until
    then. ValueError: it is neither, has no such tensor, has changed, or has elements of a type that variables cannot
    have, such as float64. OSError: it cannot be read."""
    path = os.path.abspath(os.fsdecode(path))
    with open(path, "rb") as file:
        is_npy = file.read(6) == b"\x93NUMPY"
    shape, dtype, offset = _npy(path) if is_npy else _safetensor(path, name)
    if dtype is None or dtype not in STORED.values():
        raise _refused(f"elements of a type that variables have, got {dtype} in {path}")
    return FileValues(path, offset, shape, dtype)


def _npy(path):
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise _refused(f"a .npy file of numbers, got {path}: {error}") from None
    if not array.flags.c_contiguous or not array.dtype.isnative:
        raise _refused(f"rows one after the other in {path}, of this machine's numbers")
    return array.shape, array.dtype.name, array.offset


def _safetensor(path, name):
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            names = list(file.keys())
    except SafetensorError as error:
        raise _refused(f"a safetensors or .npy file, got {path}: {error}") from None
    if name not in names:
        raise _refused(f"the name of a tensor in {path}, got {name!r}{meant(str(name), names)}")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        entry = header_of("from_file", path, file.read(size))[name]
    return tuple(entry["shape"]), STORED.get(entry["dtype"], entry["dtype"]), 8 + size + entry["data_offsets"][0]


def _refused(expected):
    return mistake("from_file", f"Expected {expected}")


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
