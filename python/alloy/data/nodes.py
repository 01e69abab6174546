"""The links of a data set's chain. Each is immutable, but for caches, and any threads may read it at once.

A link of a known length (count) gives any element at any time: read(epoch, position). Its random numbers come from a
generator made of seed, epoch and position, never from one that goes on. A stream (count is None) can only be read in
order: stream(epoch) iterates callables, which can be called in any order."""

from functools import partial
from itertools import islice

import numpy as np

from alloy.data.elements import Reader
from alloy.data.files import what
from alloy.data.spec import Spec, leaves_like, spec_of, text
from alloy.data.workers import in_threads
from alloy.engine.structure import convert, leaves, rebuild
from alloy.messages.location import mistake, user_location


class Node:
    """A source of elements. place: the user's line that made it."""

    op = "dataset"  # its name in messages
    count: int | None = None  # elements of an epoch; None: a stream
    gathers = False  # True: gather(epoch, rows, out) stacks many elements at the cost of one copy
    distinct = True  # True: each element has one place, the same in all epochs
    batched = 0  # number of leading axes that count examples
    masked = False  # True: the last part of an element is the mask of batch(..., last="pad")
    seeds = 0  # number of links with a random generator, up to this one

    def __init__(self):
        self.place = user_location()
        self._spec = None

    @property
    def spec(self):
        """The structure of the elements, with Specs as leaves."""
        if self._spec is None:
            self._spec = self.find_spec()
        return self._spec

    def find_spec(self):
        """Returns the spec of the sample, with unknown numbers of examples."""
        spec, axes = spec_of(self.sample()), self.batched
        return convert(lambda leaf: Spec((*[None] * axes, *leaf.shape[axes:])[: len(leaf.shape)], leaf.dtype), spec)

    def sample(self):
        """Returns an element, or a batch of one, as a sample of the structure."""
        raise NotImplementedError

    def read(self, epoch, position, out=None):
        """Returns the element at a position of an epoch. out: arrays for its leaves, or None."""
        raise NotImplementedError

    def gather(self, epoch, rows, out=None):
        """Returns the elements at these positions, an array or a slice, stacked. out: arrays to write them into."""
        raise NotImplementedError

    def stream(self, epoch):
        """Iterates functions load(out=None) of the elements of an epoch."""
        raise NotImplementedError

    def name(self, epoch, position) -> str:
        """Returns an element's name in messages: its index in the source if there is one."""
        return f"{'batch' if self.batched else 'example'} {position} of epoch {epoch}"

    @property
    def source(self):
        """The node that the chain begins with."""
        return self

    def checked(self, element, epoch, position, out=None, by="of"):
        """Returns an element that was made, written into the arrays of out if they are given. by: the message's words
        before "the first example". ValueError: a batch differs from the first one."""
        if out is None and not self.batched:
            return element  # examples may differ until they are batched
        found = leaves_like(self.spec, element)
        if found is None:
            name = self.name(epoch, position)
            raise self.fault(f"Expected {text(self.spec)} as {by} the first example, got {text(element)} of {name}")
        return element if out is None else rebuild(self.spec, [_placed(leaf, array) for leaf, array in zip(found, out)])

    @property
    def known_count(self) -> int:
        """Returns count. TypeError: a stream has none."""
        if self.count is None:
            raise self.fault("Expected a data set with indices, got a stream", TypeError)
        return self.count

    def fault(self, message, kind: type[Exception] = ValueError) -> Exception:
        return kind(f"[{self.op}] {message}; built at {self.place}.")


class Link(Node):
    """A node that reads from the node before it, parent."""

    def __init__(self, parent: Node):
        super().__init__()
        self.parent = parent
        self.count, self.gathers, self.distinct = parent.count, parent.gathers, parent.distinct
        self.batched, self.masked, self.seeds = parent.batched, parent.masked, parent.seeds

    @property
    def source(self):
        return self.parent.source

    def find_spec(self):
        return self.parent.spec

    def sample(self):
        return self.parent.sample()

    def in_parent(self, epoch, rows):
        """Returns (epoch, rows) in the parent of a row, or of several, an array or a slice."""
        return epoch, rows

    def read(self, epoch, position, out=None):
        return self.parent.read(*self.in_parent(epoch, position), out)

    def gather(self, epoch, rows, out=None):
        return self.parent.gather(*self.in_parent(epoch, rows), out)

    def name(self, epoch, position):
        return self.parent.name(*self.in_parent(epoch, position))


def _chosen(places, rows):
    return int(places[rows]) if isinstance(rows, int) else places[rows]


class Shuffle(Link):
    """Permutes each epoch by np.random.default_rng([seed, epoch]).permutation."""

    op = "shuffle"

    def __init__(self, parent, seed):
        super().__init__(parent)
        self.seed = seed
        self.distinct = False
        self._orders = {}  # the last epochs' orders
        self._kept = 2  # number of orders: a step may still read one while the next begins
        turns, node = 1, parent
        while isinstance(node, Link):  # links before are read in this order, which may jump between their epochs
            if isinstance(node, Repeat):
                turns *= node.times
            elif isinstance(node, Shuffle):
                node._kept = max(node._kept, 2 * turns)
            node = node.parent

    def __str__(self):
        return f"{self.parent}.shuffle(seed={self.seed})"

    def in_parent(self, epoch, rows):
        order = self._orders.get(epoch)
        if order is None:
            order = np.random.default_rng([self.seed, epoch]).permutation(self.known_count)
            self._orders = {**dict(list(self._orders.items())[1 - self._kept :]), epoch: order}
        return epoch, _chosen(order, rows)


class Select(Link):
    """The elements at some places."""

    op = "split"

    def __init__(self, parent, places):
        super().__init__(parent)
        self.count = len(places)
        self._places = places

    def __str__(self):
        return f"{self.parent}.split({self.count} of {self.parent.count})"

    def in_parent(self, epoch, rows):
        return epoch, _chosen(self._places, rows)


class Take(Link):
    """The first elements of each epoch."""

    op = "take"

    def __init__(self, parent, most):
        super().__init__(parent)
        self.most = most
        self.count = None if parent.count is None else min(most, parent.count)

    def __str__(self):
        return f"{self.parent}.take({self.most})"

    def stream(self, epoch):
        for position, load in enumerate(self.parent.stream(epoch), 1):
            yield load
            if position == self.most:
                return  # without reading one more


class Shard(Link):
    """Every ranks-th element, beginning with element number `rank`."""

    op = "shard"

    def __init__(self, parent, rank, ranks):
        super().__init__(parent)
        self.rank = rank
        self.ranks = ranks
        self.count = None if parent.count is None else len(range(rank, parent.count, ranks))

    def __str__(self):
        return f"{self.parent}.shard({self.rank}, {self.ranks})"

    def in_parent(self, epoch, rows):
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        return epoch, self.rank + self.ranks * rows

    def stream(self, epoch):
        return islice(self.parent.stream(epoch), self.rank, None, self.ranks)


class Repeat(Link):
    """Joins several epochs of the parent to one: epoch e here is the epochs times * e to times * (e + 1) - 1 there."""

    op = "repeat"

    def __init__(self, parent, times):
        super().__init__(parent)
        self.times = times
        self.distinct = False
        self.count = None if parent.count is None else times * parent.count

    def __str__(self):
        return f"{self.parent}.repeat({self.times})"

    def in_parent(self, epoch, rows):
        turn, row = divmod(rows, self.parent.known_count)
        return epoch * self.times + turn, row

    def name(self, epoch, position):
        return Node.name(self, epoch, position) if self.parent.count is None else super().name(epoch, position)

    def gather(self, epoch, rows, out=None):
        if isinstance(rows, slice):
            (turn, first), count = self.in_parent(epoch, rows.start), rows.stop - rows.start
            if first + count <= self.parent.known_count:
                return self.parent.gather(turn, slice(first, first + count), out)
            rows = np.arange(rows.start, rows.stop)
        turns, rows = self.in_parent(epoch, rows)
        out = fresh(self.spec, len(rows)) if out is None else [array[: len(rows)] for array in out]
        for turn in np.unique(turns).tolist():
            part = self.parent.gather(turn, rows[turns == turn])
            for array, leaf in zip(out, leaves(part)):
                array[turns == turn] = leaf
        return rebuild(self.spec, out)

    def stream(self, epoch):
        for turn in range(self.times):
            yield from self.parent.stream(epoch * self.times + turn)


class Map(Link):
    """Replaces each element by the result of a function."""

    op = "map"

    def __init__(self, parent, function, seed):
        super().__init__(parent)
        self.function = function
        self.seed = seed
        self.gathers = False
        self.seeds = parent.seeds + (seed is not None)
        self._reader = Reader(self.op)

    def __str__(self):
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{self.parent}.map({name}{'' if self.seed is None else f', seed={self.seed}'})"

    def find_spec(self):
        spec = Node.find_spec(self)
        parts = spec if isinstance(spec, (tuple, dict)) and not isinstance(spec, Spec) else ()
        last = (parts.get("mask") if isinstance(parts, dict) else parts[-1]) if len(parts) > 1 else None
        if self.masked and last != Spec((None,), np.dtype(np.float32)):
            raise self.fault(
                f'Expected the mask of last="pad" as the last part of the result for a batch, got {text(spec)}'
            )
        return spec

    def sample(self):
        first = self.source.name(0, 0)
        return self._call(self.parent.sample(), 0, 0, f"a batch of {first}" if self.batched else first)

    def _call(self, element, epoch, position, name=None):
        random = {}
        if self.seed is not None:
            random["rng"] = np.random.default_rng([self.seed, epoch, position, self.seeds])
        try:
            given = self.function(*element if isinstance(element, tuple) else (element,), **random)
        except Exception as error:
            name = name or self.name(epoch, position)
            raise self.fault(f"The function failed on {name}, {text(element)}, with {what(error)}") from error
        try:
            return self._reader.element(given)
        except TypeError as error:
            said = f"Expected arrays of numbers from the function, got {error} for {name or self.name(epoch, position)}"
            raise self.fault(said, TypeError) from error

    def read(self, epoch, position, out=None):
        return self._load(partial(self.parent.read, epoch, position), epoch, position, out)

    def stream(self, epoch):
        for position, load in enumerate(self.parent.stream(epoch)):
            yield partial(self._load, load, epoch, position)

    def _load(self, load, epoch, position, out=None):
        return self.checked(self._call(load(), epoch, position), epoch, position, out, "the function made of")


class Batch(Link):
    """Stacks several elements, as one; of these, the rows that belong to one of several processes: every ranks-th one,
    beginning with number `rank`."""

    op = "batch"

    def __init__(self, parent, size, last, workers, rank=0, ranks=1):
        super().__init__(parent)
        self.size = size
        self.last = last
        self.workers = workers
        self.rank = rank
        self.ranks = ranks
        left = 0 if parent.count is None or last == "drop" else parent.count % size
        self._require_shares(min(size, left or size))
        self.batched = parent.batched + 1
        self.gathers = False
        self.masked = last == "pad"
        if parent.count is not None:
            self.count = parent.count // size if last == "drop" else -(-parent.count // size)

    def __str__(self):
        workers = f", workers={self.workers}" if self.workers > 1 else ""
        return f'{self.parent}.batch({self.size}, last="{self.last}"{workers})'

    def find_spec(self):
        spec = convert(lambda leaf: Spec((None, *leaf.shape), leaf.dtype), self.parent.spec)
        return self._with_mask(spec, Spec((None,), np.dtype(np.float32))) if self.last == "pad" else spec

    def _with_mask(self, element, mask):
        if isinstance(element, dict):
            if "mask" in element:
                raise self.fault('Expected examples without a part "mask", which last="pad" adds')
            return {**element, "mask": mask}
        return (*element, mask) if isinstance(element, tuple) and not isinstance(element, Spec) else (element, mask)

    def sample(self):
        element = convert(lambda leaf: np.array(leaf)[None], self.parent.sample())
        return self._with_mask(element, np.ones(1, np.float32)) if self.last == "pad" else element

    name = Node.name

    @property
    def rows(self) -> int:
        """The most rows of a batch, of this process's."""
        return len(self._own(0, self.size))

    def _own(self, first, stop) -> range:
        """Returns this process's rows of those from first to stop."""
        return range(first + self.rank, stop, self.ranks)

    def _require_shares(self, size):
        if size < self.ranks:
            raise self.fault(
                f"Expected batches of {self.ranks} or more examples for {self.ranks} processes, got {size} in one; "
                'last="drop" (last_batch="drop" of fit) leaves a smaller last one out'
            )

    def read(self, epoch, position, out=None):
        first = position * self.size
        stop = min(first + self.size, self.parent.known_count)
        own = self._own(first, stop)
        if not self.parent.gathers:
            loads = [partial(self.parent.read, epoch, row) for row in own]
            return self._stack(loads, lambda row: self.parent.name(epoch, own[row]), out)
        if self.last != "pad":
            rows = slice(first, stop) if self.ranks == 1 else np.array(own)
            return self.parent.gather(epoch, rows, out)
        rows = np.minimum(self._own(first, first + self.size), stop - 1)
        return self._masked(self.parent.gather(epoch, rows, out), len(own), out)

    def _masked(self, element, count, out):
        mask = np.empty(self.rows, np.float32) if out is None else out[-1][: self.rows]
        mask[:count], mask[count:] = 1, 0
        return self._with_mask(element, mask)

    def _stack(self, loads, name, out):
        """Returns a batch of the loads' elements. name(i): the name of the element of row i in messages."""
        spec, count = self.parent.spec, len(loads)
        rows = self.rows if self.last == "pad" else count
        if self.batched > 1:  # batches of one extent; only the first batch tells it
            first = loads[0]()
            loads, spec = [lambda: first, *loads[1:]], spec_of(first)
        expected = leaves(spec)
        arrays = fresh(spec, rows) if out is None else [array[:rows] for array, _ in zip(out, expected)]

        def read(row):
            element = loads[row]()
            found = leaves_like(spec, element)
            if found is None:
                hint = "; size= makes all images one size" if self.source.op == "image_folder" else ""
                raise self.fault(
                    f"Expected {text(spec)} as of the first example, got {text(element)} of {name(row)}{hint}"
                )
            return found

        def write(row, found):
            for array, leaf in zip(arrays, found):
                array[row] = leaf

        in_threads(read, write, count, self.workers)
        for array in arrays:
            array[count:] = array[count - 1]
        element = rebuild(spec, arrays)
        return self._masked(element, count, out) if self.last == "pad" else element

    def stream(self, epoch):
        loads, first = [], 0
        for load in self.parent.stream(epoch):
            loads.append(load)
            if len(loads) == self.size:
                yield self._batch(loads, epoch, first)
                loads, first = [], first + self.size
        if loads and self.last != "drop":
            yield self._batch(loads, epoch, first)
        if first == 0 and self.last == "drop":
            raise self.fault(
                f"Expected {self.size} or more examples for a whole batch, got {len(loads)} in epoch {epoch}"
            )

    def _batch(self, loads, epoch, first):
        self._require_shares(len(loads))
        own = self._own(0, len(loads))
        load = partial(self._stack, [loads[row] for row in own], lambda row: self.parent.name(epoch, first + own[row]))
        return lambda out=None: load(out)


def fresh(spec, rows):
    """Makes arrays for `rows` elements."""
    return [np.empty((rows, *leaf.shape), leaf.dtype) for leaf in leaves(spec)]


def _placed(leaf, array):
    """Writes the leaf into the first rows of the array, and returns these."""
    target = array[: len(leaf)] if leaf.ndim else array[...]
    if target.shape != leaf.shape:
        raise mistake("load", f"Expected an array for {text(leaf)}, got {text(array)}")
    target[...] = leaf
    return target
