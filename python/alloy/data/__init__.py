"""Data sets: sources of examples, and their transformations before training; nothing is downloaded.

from_arrays, from_items and from_iterator make a Dataset; its methods shuffle, map, batch, repeat and take. npz, idx,
mnist, cifar10, csv, digits and image_folder read files. augment has random crops, flips and normalisation."""

from typing import TYPE_CHECKING

from alloy.data import augment
from alloy.data.dataset import Dataset
from alloy.data.files import idx, mnist, npz
from alloy.data.images import image_folder
from alloy.data.sets import cifar10, digits
from alloy.data.sources import from_arrays, from_items, from_iterator
from alloy.data.spec import Spec
from alloy.data.splits import split
from alloy.data.tables import Table, csv
from alloy.engine.structure import leaves, rebuild
from alloy.messages.names import of_module

__all__ = [
    "Dataset",
    "Spec",
    "Table",
    "augment",
    "cifar10",
    "csv",
    "digits",
    "from_arrays",
    "from_items",
    "from_iterator",
    "idx",
    "image_folder",
    "leaves",
    "mnist",
    "npz",
    "rebuild",
    "split",
]


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
