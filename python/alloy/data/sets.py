"""Data sets that are on the machine already; nothing is downloaded."""

import gzip
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from alloy.data.files import scaled
from alloy.engine.arrays import as_count, as_path

_CIFAR10_RECORD = 1 + 3 * 32 * 32  # the class, then a plane of bytes for each of red, green and blue


def digits(size: int = 8, channels: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Reads 1,797 handwritten digits (Alpaydin and Kaynak, 1998): images (1797, size, size, channels), float32 in [0,
    1], and classes (1797,), int32.

    The images have 8x8 pixels; another size is interpolated bilinearly, and all channels are equal. They come from the
    file in scikit-learn, which is not imported. ModuleNotFoundError: it is not installed. ValueError: size or channels
    is below 1."""
    size, channels = as_count("digits", "a size", size), as_count("digits", "channels", channels)
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError(
            "[digits] The digits are part of scikit-learn, which is missing: pip install scikit-learn"
        )
    path = Path(package.submodule_search_locations[0], "datasets", "data", "digits.csv.gz")
    with gzip.open(path, "rt") as file:  # np.loadtxt itself needs a working directory to open it
        rows = np.loadtxt(file, delimiter=",", dtype=np.float32)  # 64 pixels from 0 to 16 and a class
    images = rows[:, :-1].reshape(-1, 8, 8) / np.float32(16)
    if size != 8:
        weights = _bilinear(8, size)
        images = (weights @ images @ weights.T).astype(np.float32)
    return np.repeat(images[..., None], channels, axis=-1), rows[:, -1].astype(np.int32)


def cifar10(path, dtype: DTypeLike = np.float32):
    """Reads ((images, classes) for training, (images, classes) for tests) of CIFAR-10 (Krizhevsky, 2009): images (n,
    32, 32, 3) and classes (n,), int32.

    path: the directory with the files of the binary version, data_batch_1.bin to data_batch_5.bin and test_batch.bin.
    dtype: float32, for values in [0, 1], or uint8, for the bytes as they are, in a quarter of the memory. ValueError: a
    file is missing, or is not a sequence of records of 3,073 bytes whose first is a class from 0 to 9."""
    scale, path = scaled("cifar10", dtype), as_path("cifar10", path)

    def images_and_classes(*names):
        records = np.concatenate([_cifar10_records(Path(path, name)) for name in names])
        pixels = np.ascontiguousarray(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        return scale(pixels), records[:, 0].astype(np.int32)

    return (images_and_classes(*(f"data_batch_{i}.bin" for i in range(1, 6))), images_and_classes("test_batch.bin"))


def _cifar10_records(path):
    if not path.is_file():
        raise ValueError(f"[cifar10] Expected the file {path}, which is not there.")
    data = np.fromfile(path, np.uint8)
    if data.size == 0 or data.size % _CIFAR10_RECORD:
        raise ValueError(f"[cifar10] Expected records of {_CIFAR10_RECORD} bytes in {path}, got {data.size} bytes.")
    records = data.reshape(-1, _CIFAR10_RECORD)
    foreign = np.flatnonzero(records[:, 0] > 9)
    if foreign.size:
        raise ValueError(
            f"[cifar10] Expected classes from 0 to 9 in {path}, got {records[foreign[0], 0]} in record {foreign[0]}."
        )
    return records


def _bilinear(given: int, wanted: int) -> np.ndarray:
    """Returns the weights (wanted, given) of linear interpolation between pixel centers; beyond the outer ones the
    value stays."""
    centers = np.clip((np.arange(wanted) + 0.5) * given / wanted - 0.5, 0, given - 1)
    return np.maximum(1 - np.abs(centers[:, None] - np.arange(given)), 0)
