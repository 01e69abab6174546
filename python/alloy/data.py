"""Data sets that come with packages already on the machine; nothing is downloaded."""
import gzip
import importlib.util
from pathlib import Path

import numpy as np


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits (Alpaydin and Kaynak, 1998): images (1797, 8, 8, 1), float32 in [0, 1], and
    classes (1797,), int32.

    Read from the file that scikit-learn carries, without importing it. ModuleNotFoundError: it is not
    installed."""
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError(
            "[digits] The digits are part of scikit-learn, which is missing: pip install scikit-learn")
    path = Path(package.submodule_search_locations[0], "datasets", "data", "digits.csv.gz")
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return rows[:, :-1].reshape(-1, 8, 8, 1) / np.float32(16), rows[:, -1].astype(np.int32)


def split(x, y, fraction: float = 0.2, seed: int = 0):
    """((x, y) without, (x, y) of) a share of the examples, drawn at random and always alike for a seed."""
    order = np.random.default_rng(seed).permutation(len(x))
    held_out = round(len(x) * fraction)
    test, train = order[:held_out], order[held_out:]
    return (x[train], y[train]), (x[test], y[test])
