"""Memory that processes of one host share, in which they add up arrays without messages."""

import mmap
import os
from typing import Any

import numpy as np

_BLOCK = 2**16  # elements that are added at a time, so that the sums stay in the cache
_WORTH_THREADS = 2**24  # bytes


class SharedMemory:
    """Two segments of memory in each process, in turn: while processes read the sums of one exchange, the next exchange
    writes to the other segment. The kernel frees the memory with the last process, however it ends."""

    def __init__(self, rank: int, size: int, gathered, barrier, refuse):
        """gathered(array): the arrays of all processes. barrier(): waits for all. refuse(rank): raises the error that
        this process gave other arrays than the process of that rank."""
        self._rank, self._size, self._gathered, self._barrier, self._refuse = rank, size, gathered, barrier, refuse
        self._segments: list[list[mmap.mmap]] = [[], []]  # by turn and rank
        self._turn = 0
        self._threads: Any = None

    def reserve(self, count: int) -> bool:
        """Makes the next segments hold so many bytes. Returns False, in all processes, if they cannot see each other's
        memory."""
        known = self._segments[self._turn]
        if known and len(known[0]) >= count:
            return True
        count = 1 << max(count - 1, 7).bit_length()
        secret = int.from_bytes(os.urandom(7), "little")  # in the memory, by which another process knows it
        try:
            own = os.memfd_create("alloy")
            os.ftruncate(own, count)
            os.pwrite(own, secret.to_bytes(8, "little"), 0)
        except (AttributeError, OSError):  # not Linux; no memory
            own = -1
        made = []
        try:
            for process, number, expected in self._same(lambda found: found[:, 0] < 0, -os.getpid(), own, secret):
                file = os.open(f"/proc/{-process}/fd/{number}", os.O_RDWR)
                try:
                    if os.pread(file, 8, 0) != int(expected).to_bytes(8, "little"):
                        raise OSError("another process of that number, in another container")
                    made.append(mmap.mmap(file, count))
                finally:
                    os.close(file)
        except OSError:
            made = []
        sees = self._gathered(np.array([len(made) == self._size]))  # behind it, all have opened the files
        if own >= 0:
            os.close(own)
        if not np.all(sees):
            return False
        self._segments[self._turn] = made
        return True

    def _same(self, what, *own) -> np.ndarray:
        """Returns the rows of integers of all processes; what(rows) is the same in all."""
        found = self._gathered(np.array(own, np.int64))
        others = np.flatnonzero(np.any(np.reshape(what(found) != what(found)[self._rank], (self._size, -1)), axis=1))
        if others.size:
            self._refuse(others[0])
        return found

    def all_reduce(self, arrays: list[np.ndarray], into: list[np.ndarray], tag: int, threads: int) -> None:
        """Writes the sums of the arrays of all processes into `into`. Part i of the sum is made by rank i, in the order
        of ranks from i on, cyclically. reserve() has been called with the arrays' bytes. tag: of the arrays' sizes and
        type, 0 or more."""
        total, dtype, size = sum(array.size for array in arrays), arrays[0].dtype, self._size
        segments = [np.frombuffer(memory, dtype, total) for memory in self._segments[self._turn]]
        self._turn = 1 - self._turn
        own, ends = segments[self._rank], [total * i // size for i in range(size + 1)]
        others = [segments[(self._rank + i) % size] for i in range(1, size)]

        def write(begin, end):
            for piece in cut(arrays, begin, end):
                own[begin : begin + piece.size] = piece
                begin += piece.size

        def add(begin, end):
            with np.errstate(all="ignore"):  # an infinite gradient is no fault of the sum
                for first in range(begin, end, _BLOCK):
                    block = slice(first, min(first + _BLOCK, end))
                    for other in others:
                        np.add(own[block], other[block], out=own[block])

        def read(begin, end):
            for i, segment in enumerate(segments):
                first, last = max(begin, ends[i]), min(end, ends[i + 1])
                for piece in cut(into, first, last) if first < last else ():
                    piece[...] = segment[first : first + piece.size]
                    first += piece.size

        threads = threads if total * dtype.itemsize >= _WORTH_THREADS else 1
        self._divided(write, 0, total, threads)
        self._same(lambda found: found, tag, total, 0)  # when it returns, all have written
        self._divided(add, ends[self._rank], ends[self._rank + 1], threads)
        self._barrier()
        self._divided(read, 0, total, threads)

    def _divided(self, work, begin, end, threads):
        """Calls work(first, last) for the parts of a range, in so many threads."""
        if threads == 1:
            return work(begin, end)
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # only here: it takes milliseconds to import

            self._threads = ThreadPoolExecutor(threads, "alloy sums")
        ends = [begin + (end - begin) * i // threads for i in range(threads + 1)]
        list(self._threads.map(work, ends[:-1], ends[1:]))
        return None


def cut(arrays, begin: int, end: int) -> list[np.ndarray]:
    """Returns the pieces of the arrays that are the elements from `begin` to `end` of all."""
    pieces = []
    for array in arrays:
        if begin < array.size and end > 0:
            pieces.append(array[max(begin, 0) : end])
        begin, end = begin - array.size, end - array.size
    return [piece for piece in pieces if piece.size]
