"""Sources of a data set's examples: arrays, objects with indices, iterators."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from alloy.data.dataset import Dataset
from alloy.data.elements import Reader, take
from alloy.data.files import what
from alloy.data.nodes import Node
from alloy.data.spec import Spec, text
from alloy.engine.structure import convert, leaves, rebuild

__all__ = ["from_arrays", "from_items", "from_iterator"]


def from_arrays(*arrays) -> Dataset:
    """Makes a data set of the rows of arrays: from_arrays(x, y), or (x, y, weight), has tuples of one row of each as
    its examples, from_arrays(x) the rows themselves. Each may also be a tuple or a dictionary of arrays.

    Arrays are not copied, and must not change while the data set is used; views of them are read-only. But float64
    becomes float32, with a warning, and int64 becomes int32 if all values fit. ValueError: arrays of different lengths,
    or without rows. TypeError: something is no array of numbers."""
    return Dataset(Arrays(arrays))


def from_items(items, *, batched: bool = False) -> Dataset:
    """Makes a data set of items[0] to items[len(items) - 1]: items is a list of examples, a Dataset of PyTorch, or any
    object with __len__ and __getitem__.

    An example is an array, or a tuple or dictionary of arrays. Tensors of PyTorch, images of Pillow and numbers become
    arrays; float64 becomes float32, with one warning, and int64 becomes int32 if all values fit. A list of numbers is
    an array, a list of arrays a tuple.

    Items are read when needed; batch(..., workers=4) reads several at a time. They should be the same in each epoch,
    unless they are random on purpose. batched: each item is a batch of examples. TypeError: the object has no length or
    no indices. ValueError: it is empty."""
    return Dataset(Items(items, batched))


def from_iterator(function: Callable[[], Iterable] | Iterable, *, batched: bool = False) -> Dataset:
    """Makes a data set of an iterator's values, in its order: a stream. function() returns a fresh iterator for each
    epoch. An object that can be iterated many times, such as a DataLoader of PyTorch, will do too. An iterator, or a
    generator, has only one epoch: ValueError when a second one begins.

    Examples are as in from_items. A stream has no len(), no index and no shuffle; to resume, it reads everything before
    again. batched: each value is a batch of examples; the last may be smaller."""
    return Dataset(Stream(function, batched))


class Arrays(Node):
    gathers = True

    def __init__(self, given, op="from_arrays"):
        """Checks the arrays. op: the caller's name in messages."""
        super().__init__()
        self.op = op
        reader = Reader(op, lists=False)
        try:
            structure = reader.element(given[0] if len(given) == 1 else given)
        except TypeError as error:
            raise self.fault(f"Expected arrays of numbers, got {error}", TypeError) from error
        found = leaves(structure)
        lengths = [array.shape[0] if array.ndim else 0 for array in found]
        if not lengths or min(lengths) < 1 or min(lengths) != max(lengths):
            raise self.fault(f"Expected arrays of one or more examples each, as many in all, got {text(structure)}")
        self.count = lengths[0]
        self._arrays = [np.asarray(array).view() for array in found]
        for array in self._arrays:
            array.flags.writeable = False
        self._spec = convert(lambda array: Spec(array.shape[1:], array.dtype), structure)

    def __str__(self):
        return f"from_arrays({self.count} of {text(self.spec)})"

    def sample(self):
        return self.read(0, 0)

    def read(self, epoch, position, out=None):
        element = rebuild(self._spec, [array[position] for array in self._arrays])
        return self.checked(element, epoch, position, out)

    def gather(self, epoch, rows, out=None):
        if out is None:
            return rebuild(self._spec, [take(array, rows) for array in self._arrays])
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        return rebuild(self._spec, [take(array, rows, place[:count]) for array, place in zip(self._arrays, out)])

    def name(self, epoch, position):
        return f"example {position}"


class _Given(Node):
    """The base of sources whose examples come from the user's code one at a time."""

    def __init__(self, op, batched):
        super().__init__()
        self.op = op
        self.batched = int(bool(batched))
        self._reader = Reader(self.op)

    def _element(self, given, epoch, position):
        try:
            return self._reader.element(given)
        except TypeError as error:
            name = self.name(epoch, position)
            raise self.fault(f"Expected arrays of numbers, got {name} with {error}", TypeError) from error


class Items(_Given):
    def __init__(self, items, batched=False, op="from_items"):
        super().__init__(op, batched)
        if isinstance(items, (str, bytes, dict)) or not hasattr(items, "__getitem__") or not hasattr(items, "__len__"):
            instead = "; from_arrays takes a dictionary of arrays" if isinstance(items, dict) else ""
            instead = "; from_iterator takes it" if not instead and hasattr(items, "__iter__") else instead
            raise self.fault(
                f"Expected an object with __len__ and __getitem__, got {type(items).__name__}{instead}", TypeError
            )
        try:
            self.count = len(items)
        except Exception as error:
            raise self.fault(f"Expected an object with a length, got {what(error)}", TypeError) from error
        if self.count < 1:
            raise self.fault(f"Expected one or more examples, got {type(items).__name__} without any")
        self._items = items

    def __str__(self):
        return f"{self.op}({self.count} of {type(self._items).__name__.lstrip('_')})"

    def sample(self):
        return self._item(0)

    def read(self, epoch, position, out=None):
        return self.checked(self._item(position), epoch, position, out)

    def _item(self, position):
        try:
            given = self._items[position]
        except Exception as error:
            name = self.name(0, position).capitalize()
            raise self.fault(f"{name} could not be read: {what(error)}") from error
        return self._element(given, 0, position)

    def name(self, epoch, position):
        return f"{'batch' if self.batched else 'example'} {position}"


class Stream(_Given):
    def __init__(self, function, batched):
        super().__init__("from_iterator", batched)
        self._once = hasattr(function, "__next__")
        if not callable(function) and not hasattr(function, "__iter__"):
            raise self.fault(
                f"Expected a function that returns an iterator, or something to iterate, got {type(function).__name__}",
                TypeError,
            )
        self._function = function
        self._open: Callable[[], Any] = function if callable(function) and not self._once else lambda: function
        self._lock = threading.Lock()
        self._begun = False  # True: an iterator that can be read once has begun
        self._kept = None  # the first epoch's examples, of which the first was read to know the structure
        self._first = None

    def __str__(self):
        name = getattr(self._function, "__name__", type(self._function).__name__)
        return f"from_iterator({name})"

    def sample(self):
        with self._lock:
            if self._first is None:
                examples = self._read(0)
                try:
                    self._first = next(examples)
                except StopIteration:
                    raise self.fault("Expected one or more examples, got an iterator without any") from None
                self._kept = chain([self._first], examples)
            return self._first

    def stream(self, epoch):
        with self._lock:
            examples, self._kept = self._kept or self._read(epoch), None
        position = None
        for position, element in enumerate(examples):
            if self._first is None:
                self._first = element
            yield partial(self.checked, element, epoch, position)
        if position is None:
            raise self.fault(
                f"Expected a function that returns a fresh iterator for each epoch, got one without examples in epoch "
                f"{epoch}"
            )

    def _read(self, epoch):
        """Returns the elements of a fresh iterator."""
        if self._once:
            if self._begun:
                raise self.fault(
                    "Expected a function that returns a fresh iterator for each epoch, got an iterator, which has been "
                    "read once"
                )
            self._begun = True
        try:
            iterator = iter(self._open())
        except Exception as error:
            raise self.fault(f"The iterator of epoch {epoch} could not be made: {what(error)}") from error
        return self._elements(iterator, epoch)

    def _elements(self, iterator, epoch):
        position = 0
        while True:
            try:
                given = next(iterator)
            except StopIteration:
                return
            except Exception as error:
                name = self.name(epoch, position)
                raise self.fault(f"The iterator failed at {name}: {what(error)}") from error
            element = self._element(given, epoch, position)
            yield convert(lambda leaf: leaf.copy(), element)  # the iterator may overwrite its arrays
            position += 1
