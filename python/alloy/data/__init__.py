"""Data sets that are on the machine already, and what is done to them before training; nothing is downloaded."""

from alloy.data.sets import cifar10, digits
from alloy.data.splits import split

__all__ = ["cifar10", "digits", "split"]
