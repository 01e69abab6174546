"""Memory that processes of one host share, in which they add up arrays without messages."""

import functools
import mmap
import os
import weakref
from typing import Any

import numpy as np

from alloy import _core

FEW = 1024  # bytes of arrays that processes send to each other in the first message of a sum
ROW = 1 + FEW // 8  # 64-bit integers of that message, in any sum
_WORTH_THREADS = 2**20  # bytes


class Segment:
    """Shared memory of this process for arrays of these bytes and for their sums, each in pages of its own. The kernel
    frees it with the last process that maps it, however it ends."""

    def __init__(self, sizes: list[int]):
        """Makes it. OSError: there is no memory. AttributeError: the system is not Linux."""
        self.operands, self.results, self.size = _places(sizes)
        self.number = os.memfd_create("alloy")
        weakref.finalize(self, _end, self.number, self.size, os.getpid())
        os.ftruncate(self.number, self.size)
        self.memory = mmap.mmap(self.number, self.size)
        self.secret = int.from_bytes(os.urandom(7), "little") | 1  # by which another process knows the file
        os.pwrite(self.number, self.secret.to_bytes(8, "little"), self.size - 8)

    def arrays(self, begins, sizes) -> list[memoryview]:
        view = memoryview(self.memory)
        return [view[begin : begin + size] for begin, size in zip(begins, sizes)]


def _end(number: int, size: int, process: int) -> None:
    if os.getpid() == process:  # a forked one has no segments
        os.pwrite(number, bytes(8), size - 8)  # tells the processes that map it
    os.close(number)


def _places(sizes) -> tuple[list[int], list[int], int]:
    """Returns where the arrays begin, where the sums begin, and the bytes of all, with a page for the secret."""
    places, end = [], 0
    for size in [*sizes, *sizes]:
        places.append(end)
        end += -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    return places[: len(sizes)], places[len(sizes) :], end + mmap.PAGESIZE


class SharedMemory:
    """The segments of all processes. Each process adds up its part of the arrays, out of the segments of all, and
    writes the sums into all."""

    def __init__(self, rank: int, size: int, gathered, barrier, refuse):
        """gathered(array): the arrays of all processes. barrier(): waits for all. refuse(rank): raises the error that
        this process gave other arrays than the process of that rank."""
        self._rank, self._size, self._gathered, self._barrier, self._refuse = rank, size, gathered, barrier, refuse
        self._own: weakref.WeakValueDictionary[int, Segment] = weakref.WeakValueDictionary()  # by address
        self._known: dict[tuple, mmap.mmap] = {}  # of all processes, by rank, file and secret
        self._staging: Segment | None = None  # for arrays that are elsewhere
        self._threads: Any = None

    def segment(self, sizes: list[int]) -> Segment | None:
        """Returns memory for arrays of these bytes, whose sums then need no copies; None: there is none."""
        try:
            made = Segment(sizes)
        except (AttributeError, OSError):
            return None
        self._own[_address(np.frombuffer(made.memory, np.uint8))] = made
        return made

    def all_reduce(self, arrays: list[np.ndarray], into: list[np.ndarray], tag: int, threads: int) -> bool:
        """Writes the sums of the arrays of all processes into `into`. Part i of the sum is made by rank i, in the order
        of ranks from i on, cyclically. tag: of the arrays' sizes and type, 0 or more. Returns False, in all processes,
        if they cannot see each other's memory."""
        sizes, dtype, size = [array.nbytes for array in arrays], arrays[0].dtype, self._size
        threads = threads if sum(sizes) >= _WORTH_THREADS else 1
        first = _address(arrays[0])
        own = self._own.get(first)
        operands, results, needed = _places(sizes)
        expected = [first + begin for begin in (*operands, *results)]
        is_staged = own is None or [*map(_address, arrays), *map(_address, into)] != expected
        if is_staged:
            own = self._staged(needed)
            if own is not None:
                for piece, array in zip(_arrays(own.memory, operands, sizes, dtype), arrays):
                    piece[...] = array
        row = np.zeros(ROW, np.int64)
        row[:2] = tag, -os.getpid()
        row[2:5] = (-1, 0, 0) if own is None else (own.number, own.secret, own.size)
        found = self._gathered(row)[:, :5]  # when it returns, all have written
        others = np.flatnonzero(found[:, 0] != tag)
        if others.size:
            self._refuse(others[0])
        memories = self._mapped(found)
        if own is None or memories is None:
            return False
        total = sum(array.size for array in arrays)
        first, last = (total * i // size for i in (self._rank, self._rank + 1))
        given, sums = ([_arrays(memory, begins, sizes, dtype) for memory in memories] for begins in (operands, results))
        order = [(self._rank + i) % size for i in range(size)]

        def add(begin, end):
            pieces = [cut(given[i], begin, end) for i in order]
            outputs = [cut(sums[i], begin, end) for i in order]
            for terms, targets in zip(zip(*pieces), zip(*outputs)):
                _add_up(terms, targets)

        self._divided(add, first, last, threads)
        self._barrier()
        if is_staged:
            for target, piece in zip(into, sums[self._rank]):
                target[...] = piece
        return True

    def _staged(self, needed: int) -> Segment | None:
        if self._staging is None or self._staging.size < needed:
            self._staging = None
            self._staging = self.segment([1 << max(needed - 1, 7).bit_length()])
        return self._staging

    def _mapped(self, found) -> list[mmap.mmap] | None:
        """Returns the segments of all processes; None, in all of them: one does not see all."""
        keys = [(rank, *map(int, row[1:])) for rank, row in enumerate(found)]
        if any(key not in self._known for key in keys):  # in all processes, since all have seen the same
            try:
                opened = {key: self._known.get(key) or _opened(*key[1:]) for key in keys}
            except OSError:
                opened = {}
            if not np.all(self._gathered(np.array([bool(opened)]))):
                return None
            live = {key: memory for key, memory in self._known.items() if any(memory[-8:])}
            self._known = live | opened
        return [self._known[key] for key in keys]

    def _divided(self, work, begin, end, threads):
        """Calls work(first, last) for the parts of a range, in so many threads."""
        if threads <= 1:
            return work(begin, end)
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # only here: it takes milliseconds to import

            self._threads = ThreadPoolExecutor(threads, "alloy sums")
        ends = [begin + (end - begin) * i // threads for i in range(threads + 1)]
        list(self._threads.map(work, ends[:-1], ends[1:]))
        return None


def _opened(process: int, number: int, secret: int, size: int) -> mmap.mmap:
    """Maps a segment of a process. OSError: it is out of sight."""
    if number < 0:
        raise OSError("the process has no memory")
    file = os.open(f"/proc/{-process}/fd/{number}", os.O_RDWR)
    try:
        if os.fstat(file).st_size != size or os.pread(file, 8, size - 8) != secret.to_bytes(8, "little"):
            raise OSError("another process of that number, in another container")
        return mmap.mmap(file, size)
    finally:
        os.close(file)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]  # faster than array.ctypes.data


def _add_up(terms, sums) -> None:
    """Writes the sum of arrays, added in their order, into all of `sums`."""
    if terms[0].dtype == np.float32:
        _core.add_up([*map(_address, terms)], [*map(_address, sums)], terms[0].size)
        return
    with np.errstate(all="ignore"):  # an infinite number is no fault of the sum
        sums[0][...] = functools.reduce(np.add, terms)
    for other in sums[1:]:
        other[...] = sums[0]


def _arrays(memory, begins, sizes, dtype) -> list[np.ndarray]:
    return [np.frombuffer(memory, dtype, size // dtype.itemsize, begin) for begin, size in zip(begins, sizes)]


def cut(arrays, begin: int, end: int) -> list[np.ndarray]:
    """Returns the pieces of the arrays that are the elements from `begin` to `end` of all."""
    pieces = []
    for array in arrays:
        if begin < array.size and end > 0:
            pieces.append(array[max(begin, 0) : end])
        begin, end = begin - array.size, end - array.size
    return [piece for piece in pieces if piece.size]
