"""Data sets: where examples come from, and what is done to them before training; nothing is downloaded.

from_arrays, from_items and from_iterator make a Dataset; its methods shuffle, map, batch, repeat and take. npz, idx,
mnist, cifar10, csv, digits and image_folder read files. augment has random crops, flips and normalisation."""

from alloy.data import augment
from alloy.data.dataset import Dataset
from alloy.data.files import idx, mnist, npz
from alloy.data.images import image_folder
from alloy.data.sets import cifar10, digits
from alloy.data.sources import from_arrays, from_items, from_iterator
from alloy.data.spec import Spec
from alloy.data.splits import split
from alloy.data.tables import Table, csv
from alloy.graph.structure import leaves, rebuild

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
