"""The batches of a data set: divides them into x, y and weights, and loads them into memory that the device reads,
while the step before computes."""

import queue
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from alloy.data import Dataset, from_items
from alloy.data.sources import Arrays
from alloy.data.spec import Spec
from alloy.data.tables import Table
from alloy.engine.arrays import as_count, empty
from alloy.engine.structure import leaves
from alloy.graph import Executable
from alloy.messages.location import mistake
from alloy.training.interrupts import uninterrupted


class Parts(NamedTuple):
    """The parts of an element by their use: structures of Specs or of arrays, in the order of the feeds."""

    x: Any
    y: Any = None
    weights: Any = None
    mask: Any = None

    @property
    def arrays(self) -> list:
        return [leaf for part in self if part is not None for leaf in leaves(part)]

    def __hash__(self):
        return hash(tuple(str(part) for part in self))


def parts_of(op: str, data: Dataset, element=None) -> Parts:
    """Returns the parts of an element, or by default the Specs of the data set's parts."""
    element, mask = data.spec if element is None else element, None
    given = list(element) if _is_tuple(element) else [element]
    if data.padded:
        if isinstance(element, dict):
            given = [{key: part for key, part in element.items() if key != "mask"}]
            mask = element["mask"]
        else:
            *given, mask = given
    if op == "predict":
        return Parts(given[0], mask=mask)
    if not 2 <= len(given) <= 3:
        what = f"a tuple of {len(given)}" if _is_tuple(element) else "one array" if len(given) == 1 else "a dict"
        raise mistake(op, f"Expected examples of two parts, (x, y), or three, (x, y, weight), got {what}", TypeError)
    x, y, *weights = given
    return Parts(x, y, weights[0] if weights else None, mask)


def _is_tuple(element) -> bool:
    return isinstance(element, tuple) and not isinstance(element, Spec)


def as_dataset(op: str, data, batch_size: int | None, *, seed: int | None = None, last: str = "smaller") -> Dataset:
    """Returns batches of the user's data: a tuple of arrays, an al.data.Dataset, or an object with __len__ and
    __getitem__. batch_size: None is 32. seed: shuffles data other than a Dataset; None keeps the order."""
    if hasattr(batch_size, "__array__"):
        raise mistake(op, "Expected examples and targets as one tuple, (x, y), got two arguments", TypeError)
    if batch_size is not None:
        as_count(op, "a batch size", batch_size)
        if isinstance(data, Dataset) and data.batched:
            raise mistake(op, f"Expected no batch_size beside data that has batches, got {batch_size}")
    batch_size = 32 if batch_size is None else batch_size
    if isinstance(data, Dataset):
        return data if data.batched else data.batch(batch_size, last=last)
    if op == "predict" and not _is_items(data):
        data = Dataset(Arrays(((data,),), op))  # one part, also where the examples are a tuple of arrays
    elif isinstance(data, (tuple, list)):
        if not 2 <= len(data) <= 3:
            given = f"a tuple of {len(data)}"
            if isinstance(data, Table):
                given = "a table of al.data.csv; make a tuple of its arrays: (table.x, table.y)"
            raise mistake(op, f"Expected a tuple (x, y) of arrays, or (x, y, weight), got {given}", TypeError)
        data = Dataset(Arrays(data, op))
    elif _is_items(data):
        data = from_items(data)
    else:
        hint = ""
        if isinstance(data, np.ndarray):
            hint = "; put the examples and their targets into one tuple: (x, y)"
        elif isinstance(data, Mapping):
            hint = '; make a tuple of its arrays: (data["x"], data["y"])'
        elif isinstance(data, Iterator):
            hint = "; al.data.from_iterator(function, batched=True) makes one, where function() gives it anew"
        elif hasattr(data, "__iter__"):
            hint = "; al.data.from_iterator(data, batched=True) makes one of it"
        raise mistake(
            op, f"Expected a tuple (x, y) of arrays, or an al.data.Dataset, got {type(data).__name__}{hint}", TypeError
        )
    return (data if seed is None else data.shuffle(seed)).batch(batch_size, last=last)


def _is_items(data) -> bool:
    """Returns whether the data are an object like PyTorch's data sets, and no array."""
    has = all(hasattr(data, name) for name in ("__len__", "__getitem__"))
    return has and not isinstance(data, (tuple, list, dict, str)) and not hasattr(data, "__array__")


class Feed:
    """Runs an executable over the batches of an epoch, one dispatch a turn.

    The batches take turns in a few sets of memory: one is filled while the device reads another. If loading may wait,
    or calls a user's function, a thread fills them."""

    def __init__(
        self, data: Dataset, step: Executable, ahead: int, several: tuple[int, Executable] | None = None, check=None
    ):
        """Makes the memory. ahead: the number of later steps in flight while the feed waits for a step. several:
        (count, executable), a dispatch of `count` steps, used while there are enough full batches. check: called with
        the arrays before each dispatch."""
        self._data, self._step, self._ahead, self._check = data, step, ahead, check
        self._together, self._several = several or (1, step)
        self._sets = [self._new_memory() for _ in range(ahead + (1 if data.in_memory else 2))]
        self.waited = 0.0  # seconds for input, so far

    def turns(self, epoch: int, start: int = 0) -> Iterator[tuple[int, Any, Any]]:
        """Starts the dispatches from the epoch's batch `start` on, and yields for each: its number of steps; its last
        element, in memory that is used again after the next turn; and its fetches, a list or a Submission. All steps
        are done at the end."""
        self._memory = queue.SimpleQueue()  # memory that no step reads
        for memory in self._sets:
            self._memory.put(memory)
        filled = self._filled(self._data.loads(epoch, start))
        if not self._data.in_memory:
            filled = _in_thread(filled, wake=lambda: self._memory.put(None))
        in_flight = []
        try:
            while True:
                before = time.perf_counter()
                memory, dispatches = next(filled, (None, None))
                self.waited += time.perf_counter() - before
                if dispatches is None:
                    break
                begun = []
                for steps, element, arrays in dispatches:
                    step = self._step if steps == 1 else self._several
                    if self._check is not None:
                        self._check(arrays)
                    if self._ahead:
                        begun.append(step._submit(memory is not None, None, *arrays))
                    yield steps, element, begun[-1] if self._ahead else step(*arrays)
                in_flight.append((memory, begun))
                while len(in_flight) > self._ahead:
                    self._settle(*in_flight.pop(0))
            while in_flight:
                self._settle(*in_flight.pop(0))
        finally:
            filled.close()

    def _settle(self, memory, begun):
        for submission in begun:
            submission.wait()
        self._memory.put(memory)

    def _new_memory(self):
        """Makes arrays for the largest batch; None: its size is not known."""
        rows = self._data.rows
        if rows is None:
            return None
        front = () if self._together == 1 else (self._together,)
        return [empty((*front, rows, *spec.shape[1:]), spec.dtype) for spec in leaves(self._data.spec)]

    def _filled(self, loads):
        """Yields each memory with the dispatches that read it: (steps, element, arrays)."""
        while True:
            group = list(islice(loads, self._together))
            if not group:
                return
            memory = self._memory.get()
            yield memory, self._load(group, memory)

    def _fed(self, element):
        """Returns the arrays of an element that are fed: the first ones, in a prediction x's."""
        return leaves(element)[: len(self._step.feeds)]

    def _load(self, group, memory):
        if self._together == 1:
            element = group[0](memory)
            return [(1, element, self._fed(element))]
        places = [memory and [array[i] for array in memory] for i in range(len(group))]
        elements = [load(place) for load, place in zip(group, places)]
        arrays = [self._fed(element) for element in elements]
        shapes = {tuple(array.shape for array in found) for found in arrays}
        full = len(group) == self._together and len(shapes) == 1
        if memory is not None:
            memory = memory[: len(arrays[0])]
            full = full and shapes == {tuple(array.shape[1:] for array in memory)}
        if not full:
            return [(1, element, found) for element, found in zip(elements, arrays)]
        return [(self._together, elements[-1], memory or [np.stack(found) for found in zip(*arrays)])]


def _in_thread(items, wake):
    """Yields the items; a thread makes up to two ahead. It ends with the generator, which waits a second for it. wake:
    wakes the thread if it waits for memory."""
    ready, ended = queue.Queue(maxsize=2), threading.Event()

    def give(*pair):
        while not ended.is_set():
            try:
                return ready.put(pair, timeout=0.1)
            except queue.Full:
                continue

    def make():
        try:
            for item in items:
                give(item, None)
                if ended.is_set():
                    return
            give(None, None)
        except BaseException as error:
            give(None, error)

    thread = threading.Thread(target=make, daemon=True, name="alloy input")
    try:
        thread.start()
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        with uninterrupted():  # else it might wait for ever
            ended.set()
            wake()
            with suppress(queue.Empty):
                while True:
                    ready.get_nowait()
            if thread.ident is not None:
                thread.join(1.0)
