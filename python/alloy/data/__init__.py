"""Data sets: where examples come from, and what is done to them before training; nothing is downloaded."""

from alloy.data.dataset import Dataset
from alloy.data.sets import cifar10, digits
from alloy.data.sources import from_arrays, from_items, from_iterator
from alloy.data.splits import split
from alloy.data.structure import Spec, leaves, rebuild

__all__ = [
    "Dataset",
    "Spec",
    "cifar10",
    "digits",
    "from_arrays",
    "from_items",
    "from_iterator",
    "leaves",
    "rebuild",
    "split",
]
