"""Data sets: chains of links from a source of examples to the batches for training."""

import copy
from collections.abc import Callable
from functools import partial
from itertools import islice
from operator import index

from alloy.data.nodes import Batch, Link, Map, Node, Repeat, Select, Shard, Shuffle, Take
from alloy.engine.arrays import as_choice, as_count, require_all
from alloy.messages.location import mistake

__all__ = ["Dataset"]


class Dataset:
    """Elements for training: examples, or batches of them. al.data.from_arrays, from_items and from_iterator make one,
    and each method that transforms it returns a new one:

        train = al.data.from_arrays(images, labels).shuffle(seed=0).map(augment, seed=1).batch(128)

    An element is an array or a number of NumPy, or a tuple or dictionary of them, as (x, y) or (x, y, weight).

    The element at a place is a function of epoch and position alone: it is the same whenever, and by whichever thread,
    it is read. So training can be resumed anywhere, and a run can be repeated.

    len(data) is the number of elements of an epoch, and data[i] the element i of epoch 0; a stream (from_iterator) has
    neither: TypeError. Iterating gives the elements from `cursor` to the end of that epoch, and the next time the next
    epoch."""

    def __init__(self, node):
        if not isinstance(node, Node):
            raise mistake(
                "dataset",
                f"Expected al.data.from_arrays(x, y), from_items(object) or from_iterator(function), got Dataset of "
                f"{type(node).__name__}",
                TypeError,
            )
        self._node = node
        self._cursor = (0, 0)

    def shuffle(self, seed: int = 0) -> "Dataset":
        """Permutes all elements, differently in each epoch: by np.random.default_rng([seed, epoch]). ValueError: a
        stream cannot be permuted."""
        self._require_indices("shuffle", "a permutation needs all examples at hand; shuffle the iterator's source")
        return Dataset(Shuffle(self._node, as_count("shuffle", "a seed", seed, 0)))

    def map(self, function, *, seed: int | None = None) -> "Dataset":
        """Replaces each element by function(*element) if it is a tuple, else by function(element). Before batch the
        function gets single examples, after batch whole batches, which costs less.

        seed: also passes rng=, a generator of NumPy that depends only on the seed, the epoch, the position of the
        element and the number of such maps before this one, so that random augmentation repeats.

        The result is read like an example of from_items. Behind batch(..., last="pad") the function gets the mask as
        the last part, and must return it as the last part. If the function raises, a ValueError with the index of the
        example is raised from its exception."""
        require_all("map", "a function", Callable, [function])
        seed = None if seed is None else as_count("map", "a seed", seed, 0)
        return Dataset(Map(self._node, function, seed))

    def batch(self, size: int, *, last: str = "smaller", workers: int = 1) -> "Dataset":
        """Stacks `size` elements along a new first axis, as one element.

        last: the last batch of an epoch if too few examples are left. "smaller" keeps it (a shuffle or repeat after
        this may put it between others); "drop" leaves it out; "pad" repeats its last example up to `size`. With
        "pad" every batch gets a mask as the last part of its tuple, float32 (size,), 1 for each example and 0 for each
        repetition: (x, y) becomes (x, y, mask), and a dictionary gets a part "mask".
        workers: the number of threads that read the examples of a batch, which helps if reading waits for a disk or a
        network. The results are the same. The threads end with the batch.
        ValueError: an example has another structure, shape or dtype than the first; "drop" would leave no batch."""
        size = as_count("batch", "a size", size)
        workers = as_count("batch", "a number of workers", workers)
        as_choice("batch", "last", last, ("smaller", "drop", "pad"))
        if last == "drop" and self._node.count is not None and self._node.count < size:
            raise mistake("batch", f"Expected {size} or more examples for a whole batch, got {self._node.count}")
        return Dataset(Batch(self._node, size, last, workers))

    def repeat(self, count: int) -> "Dataset":
        """Joins `count` epochs, each with its own order and its own random numbers, to one epoch."""
        return Dataset(Repeat(self._node, as_count("repeat", "a count", count)))

    def take(self, count: int) -> "Dataset":
        """Takes the first `count` elements of each epoch, or all if there are fewer."""
        return Dataset(Take(self._node, as_count("take", "a count", count)))

    def shard(self, rank: int, ranks: int) -> "Dataset":
        """Takes the share of one of several processes that train together: elements rank, rank + ranks,
        rank + 2 * ranks and so on of each epoch. The shares of all ranks hold each element once, and differ in length
        by at most one.

        Shard behind shuffle, with the same seed for all ranks, so that an epoch's order is that of one process; behind
        maps with a seed, whose random numbers follow the position; and before batch.

        rank: from 0 to ranks - 1. ValueError: it is another; a share would be empty."""
        ranks = as_count("shard", "a number of ranks", ranks)
        rank = as_count("shard", "a rank", rank, 0)
        if rank >= ranks:
            raise mistake("shard", f"Expected a rank below {ranks}, got {rank}")
        if self._node.count is not None and self._node.count < ranks:
            raise mistake("shard", f"Expected {ranks} or more elements for {ranks} ranks, got {self._node.count}")
        return self._every(rank, ranks)

    def _every(self, rank: int, ranks: int) -> "Dataset":
        """Takes elements as shard; a share may be empty."""
        return Dataset(Shard(self._node, rank, ranks))

    def _shares(self, rank: int, ranks: int) -> "Dataset":
        """Takes the rows of each batch that belong to one of several processes: they see together what one process
        would see. ValueError: al.data made no batches, or a batch has too few rows."""
        links, node = [], self._node
        while isinstance(node, Link) and not isinstance(node, Batch):
            links.append(node)
            node = node.parent
        if not isinstance(node, Batch) or node.batched > 1:
            raise mistake(
                "shard",
                f"Expected batches that batch(size) makes of examples, to divide them among processes, got {self}",
            )
        made = Batch(node.parent, node.size, node.last, node.workers, rank, ranks)
        for link in reversed(links):
            parent, made = made, copy.copy(link)
            made.parent = parent
        return Dataset(made)

    @property
    def spec(self):
        """The structure of the elements with al.data.Spec(shape, dtype) for each array; the shape begins with None in a
        batched data set. Reads one example, once; a stream keeps it for its first epoch."""
        return self._node.spec

    @property
    def length(self) -> int | None:
        """len(data), or None for a stream."""
        return self._node.count

    @property
    def batched(self) -> bool:
        """True if elements are batches."""
        return self._node.batched > 0

    @property
    def padded(self) -> bool:
        """True if the last part of each element is the mask of batch(..., last="pad")."""
        return self._node.masked

    @property
    def in_memory(self) -> bool:
        """True if a batch is gathered from arrays, without any function of the user's and without waiting."""
        batch = self._last_batch()
        return batch is not None and batch.parent.gathers

    def _last_batch(self):
        """Returns the node that makes the batches, if all nodes after it only choose among batches."""
        node = self._node
        while isinstance(node, (Shuffle, Select, Take, Shard, Repeat)):
            node = node.parent
        return node if isinstance(node, Batch) else None

    @property
    def rows(self) -> int | None:
        """Returns the number of rows that arrays need to load any element into; None if only the elements tell."""
        batch = self._last_batch()
        return None if batch is None or batch.batched > 1 else batch.rows

    @property
    def cursor(self) -> tuple[int, int]:
        """(epoch, index) of the first element of the next iteration. Set it to the value it had when a run was
        interrupted, and iteration continues there."""
        return self._cursor

    @cursor.setter
    def cursor(self, place):
        try:
            epoch, position = (index(number) for number in place)
        except (TypeError, ValueError):
            raise mistake("cursor", f"Expected a pair (epoch, index) of integers, got {place!r}", TypeError) from None
        self._cursor = self._place("cursor", epoch, position)

    def epoch(self, number: int, start: int = 0):
        """Iterates the elements of an epoch from `start` on. Epochs count from 0; the cursor stays where it is. A
        stream reads the elements before `start`, and skips them."""
        return (load() for load in self.loads(number, start))

    def loads(self, epoch: int, start: int = 0):
        """Iterates functions load(out=None), one for each element of the epoch from `start` on, in order; load returns
        the element. They can be called in any order, by any threads, at the same time; elements that a stream reads in
        order are read when the iterator advances.

        out: arrays for the leaves of the element in the order of al.data.leaves, of at least as many rows; the leaves
        are written into their first rows, and the element has views of these. That saves a copy if a batch is gathered
        from arrays."""
        epoch, start = self._place("loads", epoch, start)
        return self._loads(epoch, start)

    def _loads(self, epoch, start):
        node = self._node
        if node.count is None:
            return islice(node.stream(epoch), start, None)
        return (partial(node.read, epoch, position) for position in range(start, node.count))

    def __iter__(self):
        epoch, position = self._cursor
        for load in self._loads(epoch, position):
            element = load()
            position += 1
            self._cursor = (epoch + 1, 0) if position == self._node.count else (epoch, position)
            yield element
        self._cursor = (epoch + 1, 0)

    def __len__(self) -> int:
        return self._require_indices("len", "how many examples it has shows only when it has been read", TypeError)

    def __bool__(self):
        return True

    def __getitem__(self, place):
        count = self._require_indices("index", "its examples come in order; iterate it", TypeError)
        try:
            position = index(place)
        except TypeError:
            raise mistake(
                "index", f"Expected an integer, got {place!r}; take(count) gives the first ones", TypeError
            ) from None
        if not -count <= position < count:
            raise mistake("index", f"Expected an index below {count}, got {position}", IndexError)
        return self._node.read(0, position % count)

    def __repr__(self):
        return f"<Dataset {self._node}>"

    def _require_indices(self, op, reason, kind: type[Exception] = ValueError) -> int:
        """Returns the number of elements. ValueError, or the exception `kind`: a stream has no length."""
        if self._node.count is None:
            raise mistake(op, f"Expected a data set with indices, got a stream: {reason}", kind)
        return self._node.count

    def _place(self, op, epoch, position):
        """Returns (epoch, position) in range; for a cursor the end of an epoch is the beginning of the next one."""
        epoch = as_count(op, "an epoch", epoch, 0)
        position = as_count(op, "an index", position, 0)
        count = self._node.count
        if count is not None and position > count:
            raise mistake(op, f"Expected an index up to {count}, got {position}")
        return (epoch + 1, 0) if op == "cursor" and position == count else (epoch, position)
