"""Arrays in files: NumPy's .npz and the IDX files of MNIST. A damaged, cut off or foreign file is refused with a
sentence that names it."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from alloy.engine.arrays import as_path

__all__ = ["idx", "mnist", "npz"]

# Element types by the third byte of an IDX file.
_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MOST_AXES = 32  # the limit of older versions of NumPy


def npz(path) -> dict[str, np.ndarray]:
    """Reads the arrays of an .npz file, {name: array}, as np.savez(path, x=x, y=y) or np.savez_compressed writes it.
    ValueError: the file is missing, damaged or no .npz file, or holds Python objects instead of numbers."""
    path = existing("npz", path)
    with open(path, "rb") as whole:
        start = whole.read(6)
        if start == b"\x93NUMPY":
            raise ValueError(
                f"[npz] Expected an .npz file of arrays, got {path}, a single array: np.load(path) reads it."
            )
        if start[:2] != b"PK":
            raise ValueError(f"[npz] Expected an .npz file of arrays, got {path}, which begins with other bytes.")
        whole.seek(0)
        try:
            with np.load(whole, allow_pickle=False) as file:
                return {name: _array(file, name) for name in file.files}
        except Exception as error:  # zip files, their compression and NumPy's headers raise many kinds
            raise ValueError(f"[npz] Expected an .npz file of arrays, got {path}: {sentence(error)}.") from error


def _array(file, name):
    if f"{name}.npy" not in file.zip.namelist():
        raise ValueError(f"{name!r} in it is no array")
    try:
        return file[name]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise ValueError(f"{name!r} in it holds Python objects, which could run any code when they are read") from None


def idx(path) -> np.ndarray:
    """Reads the array of an IDX file, the format of MNIST (LeCun, Cortes and Burges): bytes, integers of 16 or 32 bits,
    or floats of 32 or 64 bits. It may be compressed with gzip, under any name. ValueError: the file is missing, cut
    off, longer than it says, or no such file."""
    path = existing("idx", path)
    try:
        with open(path, "rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if compressed else open(path, "rb") as file:
            return _idx(file)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"[idx] Expected an IDX file, got {path}: {sentence(error)}.") from error


def _idx(file):
    """Reads the array of an open file. ValueError: a sentence about the fault."""
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _IDX_TYPES or not 1 <= magic[3] <= _MOST_AXES:
        raise ValueError(f"it begins with {magic.hex(' ') or 'nothing'}, not with 00 00, a type and a number of axes")
    extents = file.read(4 * magic[3])
    if len(extents) < 4 * magic[3]:
        raise ValueError(f"it ends within the extents of its {magic[3]} axes")
    shape = tuple(np.frombuffer(extents, ">u4").tolist())
    dtype = np.dtype(_IDX_TYPES[magic[2]])
    expected, data = math.prod(shape) * dtype.itemsize, bytearray()
    while len(data) <= expected:  # in parts, since the head may be wrong
        part = file.read(min(expected + 1 - len(data), 1 << 24))
        if not part:
            break
        data += part
    if len(data) != expected:
        given = "more" if len(data) > expected else f"{len(data):,}"
        raise ValueError(f"{dtype.newbyteorder('=')}{shape} takes {expected:,} bytes, and it has {given}")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=dtype.itemsize > 1)


def mnist(directory, dtype: DTypeLike = np.float32):
    """Reads ((images, classes) for training, (images, classes) for tests) of MNIST (LeCun, Cortes and Burges), or of a
    data set in the same files, such as Fashion-MNIST: images (n, 28, 28, 1) and classes (n,), int32.

    directory: holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
    t10k-labels-idx1-ubyte, or these names with .gz. dtype: float32, for values in [0, 1], or uint8, for the bytes as
    they are. ValueError: a file is missing, damaged, or holds something else."""
    scale, directory = scaled("mnist", dtype), as_path("mnist", directory)

    def images_and_classes(name):
        images_path, classes_path = (
            _mnist_path(directory, f"{name}-{kind}") for kind in ("images-idx3", "labels-idx1")
        )
        images, classes = idx(images_path), idx(classes_path)
        if images.dtype != np.uint8 or images.ndim != 3 or images.shape[1:] != (28, 28) or not len(images):
            raise ValueError(
                f"[mnist] Expected bytes of shape (n, 28, 28) in {images_path}, got {images.dtype}{images.shape}."
            )
        if classes.dtype != np.uint8 or classes.shape != images.shape[:1]:
            raise ValueError(
                f"[mnist] Expected a byte for each of {len(images)} images in {classes_path}, got "
                f"{classes.dtype}{classes.shape}."
            )
        if classes.max() > 9:
            first = np.flatnonzero(classes > 9)[0]
            raise ValueError(
                f"[mnist] Expected classes from 0 to 9 in {classes_path}, got {classes[first]} as number {first}."
            )
        return scale(images[..., None]), classes.astype(np.int32)

    return images_and_classes("train"), images_and_classes("t10k")


def _mnist_path(directory, name):
    names = [name.replace("-idx", joint) + f"-ubyte{end}" for end in ("", ".gz") for joint in ("-idx", ".idx")]
    for path in (Path(directory, each) for each in names):
        if path.is_file():
            return path
    raise ValueError(f"[mnist] Expected the file {names[0]} or {names[2]} in {directory}, which has neither.")


def scaled(op, dtype):
    """Returns a function that converts images from bytes: to values in [0, 1] for float32, not at all for uint8."""
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"[{op}] Expected float32 or uint8 as the dtype of images, got {dtype!r}.") from None
    if dtype == np.uint8:
        return lambda image: image
    if dtype == np.float32:
        return lambda image: image / np.float32(255)
    raise ValueError(f"[{op}] Expected float32 or uint8 as the dtype of images, got {dtype}.")


def existing(op, path) -> Path:
    path = Path(as_path(op, path))
    if not path.is_file():
        raise ValueError(f"[{op}] Expected the file {path}, which is {'no file' if path.exists() else 'not there'}.")
    return path


def sentence(error) -> str:
    """Returns the message of an exception as part of a sentence."""
    return " ".join(str(error).split()).removesuffix(".") or type(error).__name__


def what(error) -> str:
    """Returns the class and the message of an exception as part of a sentence."""
    return f"{type(error).__name__}: {sentence(error)}" if str(error) else type(error).__name__
