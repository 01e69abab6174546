"""Splits examples into training and test examples."""

from numbers import Real

import numpy as np

from alloy.data.dataset import Dataset
from alloy.data.nodes import Select
from alloy.engine.arrays import require_all
from alloy.messages.location import mistake


def split(x, y=None, fraction=0.2, seed: int = 0):
    """Returns (train, test): (x, y) without and with only a share of the examples, drawn at random, always alike for a
    seed. split(data, fraction=0.2) splits a data set into two. Arrays are copied; split(al.data.from_arrays(x, y))
    copies nothing, and leaves the rows of a memory map in their file.

    fraction: the test share, above 0 and below 1, or a number of examples. ValueError: it is neither, or leaves one of
    the two without examples; x and y have different lengths; the data set is a stream, or shuffled or repeated, so that
    an example would be in both."""
    if isinstance(x, Dataset):
        node = x._node
        if y is not None:
            raise mistake("split", f"Expected split(data, fraction=...) of a data set, got y = {y!r}", TypeError)
        if node.count is None or not node.distinct:
            raise mistake(
                "split",
                "Expected a data set with examples that keep their places; split it before shuffle and repeat, "
                f"got {node}",
            )
        train, test = _rows(node.count, fraction, seed)
        return Dataset(Select(node, train)), Dataset(Select(node, test))
    if y is None:
        hint = "; write split(*data) for a tuple of them" if isinstance(x, tuple) else ""
        raise mistake("split", f"Expected arrays x and y, or a data set, got no y{hint}", TypeError)
    if len(x) != len(y):
        raise mistake("split", f"Expected as many labels as examples, got {len(y)} for {len(x)}")
    train, test = _rows(len(x), fraction, seed)
    return (x[train], y[train]), (x[test], y[test])


def _rows(count, fraction, seed):
    require_all("split", "a number as the fraction", Real, [fraction])
    whole = isinstance(fraction, (int, np.integer)) and not isinstance(fraction, bool)
    held_out = int(fraction) if whole else round(count * fraction) if 0 < fraction < 1 else 0
    if not 0 < held_out < count:
        raise mistake(
            "split",
            f"Expected a fraction between 0 and 1 or a number of examples that leaves examples on both sides, got "
            f"{fraction} of {count}",
        )
    order = np.random.default_rng(seed).permutation(count)
    return order[held_out:], order[:held_out]
