"""Sums over processes that stand in a ring: each sends to the next one and receives from the one before, so all links
are busy at once. https://doi.org/10.1016/j.jpdc.2008.09.002 (Patarasuk and Yuan, 2009)"""

import functools
import sys
import threading
import time
import zlib
from typing import NoReturn

import numpy as np

from alloy.distributed import cores
from alloy.distributed.shared_memory import FEW, ROW, SharedMemory, cut
from alloy.distributed.watch import Watch, reason_of_silence
from alloy.messages.location import mistake

_BUCKET = 2**22  # bytes
_MESSAGE = 2**15  # bytes; MPI sends such ones at once, larger ones wait for an answer, which waits behind others
_MOST_BYTES = 2**30  # of a message to all; MPI counts with 32 bits
_QUICK = 200  # tries before a wait looks for other processes, and may sleep
_LEAST_RATE = 1e8  # bytes in a second, of a network on which a wait stays awake
_LONGEST_PAUSE = 1e-3  # seconds; Ctrl-C and other processes on the same cores wait no longer
_GRACE = 5.0  # seconds for the last messages of a process that has ended
_PATIENCE = 10.0  # seconds in which all processes say why they end
_MOST_TEXT = 1000  # bytes of a reason
_TAGS = 2**15  # of messages, which every MPI has


class Ring:
    """The processes of an MPI communicator. Threads take turns, and all processes must call in the same order."""

    def __init__(self, mpi, communicator):
        """Takes the module mpi4py.MPI, and a communicator that nobody else uses."""
        self._mpi, self._communicator, self._notices = mpi, communicator, communicator.Dup()
        self._turn = threading.Lock()
        self._abandoned = []  # requests whose memory MPI may still write, after an exception
        self._received = np.empty(0, np.uint8)  # memory of all_reduce, which keeps it
        here = communicator.Split_type(mpi.COMM_TYPE_SHARED)
        self._shared = None  # unless all processes are on one host
        if here.size == communicator.size > 1:
            self._shared = SharedMemory(communicator.rank, here.size, self._gather, self._meet, self._refuse)
        cores.divide(here)
        here.Free()
        self._watch: Watch | None = None
        self._left: dict[int, str] = {}  # the ranks that have ended, with the reasons of those that failed
        self._left_at = 0.0  # when the last one was seen
        self.rank: int = communicator.rank
        self.size: int = communicator.size
        self.sent = 0  # bytes, of all_reduce

    def watch(self) -> None:
        """Begins to notice processes that no longer answer; all processes call it."""
        if self.size > 1:
            self._watch = Watch(self.rank, self._gather)

    def leave(self, reason: str = "") -> None:
        """Tells the other processes that this one ends, and waits for them, because MPI ends all together.

        reason: why it failed. Then all end, with status 1, as soon as they know or after some seconds."""
        own = "" if self._failed() else reason  # all shall name the rank that failed first
        notice, began = [own.encode()[:_MOST_TEXT], self._mpi.BYTE], time.monotonic()
        others = [other for other in range(self.size) if other != self.rank]
        # Such a message has been received when it has been sent: after the second barrier, all know of all.
        notices = [self._notices.Issend(notice, other) for other in others]
        for sent in (notices, []):
            requests = [*sent, self._notices.Ibarrier()]
            while not self._mpi.Request.Testall(requests):
                self._read_notices()
                failed = self._failed()
                if failed and not reason:
                    reason, began = failed, time.monotonic()
                    print(f"[distributed] {reason.rstrip('.')}.", file=sys.stderr, flush=True)
                if reason and time.monotonic() - began > _PATIENCE:
                    self._mpi.COMM_WORLD.Abort(1)
                time.sleep(_LONGEST_PAUSE)
        if reason:
            self._mpi.COMM_WORLD.Abort(1)
        if self._watch is not None:
            self._watch.close()

    def _read_notices(self) -> None:
        status = self._mpi.Status()
        while self._notices.Iprobe(status=status):
            text = bytearray(status.count)
            self._notices.Recv([text, self._mpi.BYTE], status.source)
            self._left[status.source] = text.decode(errors="replace")
            self._left_at = time.monotonic()

    def _failed(self) -> str:
        """Returns why another process failed, or ""."""
        for rank in self._watch.silent() if self._watch is not None else ():
            return f"Rank {rank} failed: {reason_of_silence()}"
        return next((f"Rank {rank} failed: {reason}" for rank, reason in self._left.items() if reason), "")

    def barrier(self) -> None:
        with self._turn:
            self._meet("barrier")

    def gathered(self, op: str, own: np.ndarray) -> np.ndarray:
        """Returns the arrays of all processes, which have one shape and type, along a new first axis."""
        with self._turn:
            return self._gather(own, op)

    def _gather(self, own: np.ndarray, op: str = "all_reduce", look=lambda: None) -> np.ndarray:
        given = np.empty((self.size, *own.shape), own.dtype)
        self._wait(op, [self._communicator.Iallgather(own, given)], look)
        return given

    def _meet(self, op: str = "all_reduce") -> None:
        self._wait(op, [self._communicator.Ibarrier()])

    def require_same(self, op: str, arrays) -> None:
        """Raises a ValueError in all processes unless all call the same op with arrays of the same shapes and types."""
        text = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
        own = np.array(
            [zlib.crc32(f"{op} {text}".encode()), len(arrays), sum(array.size for array in arrays)], np.int64
        )
        given = self.gathered(op, own)
        others = [other for other in range(self.size) if tuple(given[other]) != tuple(own)]
        if others:
            here, there = (f"{given[rank][1]} arrays of {given[rank][2]} elements" for rank in (self.rank, others[0]))
            raise mistake(
                op,
                "Expected the same call with arrays of the same shapes and types in all processes, got "
                f"{here} in rank {self.rank} and {there}, or another call, in rank {others[0]}",
            )

    def all_reduce(self, arrays: list[np.ndarray], into: list[np.ndarray] | None = None, threads: int = 1) -> None:
        """Adds up the arrays of all processes, in each of them. The arrays have one type and one axis. into: arrays for
        the sums; None: the arrays themselves. threads: that add, where processes share memory; 0: it shall leave the
        cores to others.

        They are added as if they were joined and divided into `size` parts. Part i of the sum is made in the order of
        ranks from i on, cyclically: so each process sends it once, and the finished sum once, which are
        2 (size - 1) / size times the arrays' bytes. ValueError: the process before gave arrays of other sizes."""
        into = into or arrays
        total = sum(array.size for array in arrays)
        ends = [total * i // self.size for i in range(self.size + 1)]
        tag = zlib.crc32(f"{arrays[0].dtype} {[array.size for array in arrays]}".encode()) % _TAGS
        with self._turn:
            if total * arrays[0].itemsize <= FEW:
                return self._add_few(arrays, into, ends, tag)
            if self._shared is not None and self._shared.all_reduce(arrays, into, tag, threads):
                self.sent += 2 * (self.size - 1) * total * arrays[0].itemsize // self.size
                return
            self._shared = None
        given, sums = ([cut(all, *ends[i : i + 2]) for i in range(self.size)] for all in (arrays, into))
        with self._turn:
            most = -(-total // self.size) * arrays[0].itemsize
            if self._received.size < most:
                self._received = np.empty(most, np.uint8)
            sent = given[self.rank]
            for step in range(self.size - 1):
                part = (self.rank - step - 1) % self.size
                incoming, begin = [], 0
                for piece in given[part]:
                    incoming.append(self._received[begin : begin + piece.nbytes].view(piece.dtype))
                    begin += piece.nbytes
                self._pass_on(sent, incoming, tag, threads > 0)
                sent = sums[part]
                with np.errstate(all="ignore"):  # an infinite gradient is no fault of the sum
                    for before, own, total in zip(incoming, given[part], sent):
                        np.add(before, own, out=total)
            for step in range(self.size - 1):
                self._pass_on(
                    sums[(self.rank + 1 - step) % self.size], sums[(self.rank - step) % self.size], tag, threads > 0
                )

    def _add_few(self, arrays, into, ends, tag) -> None:
        """Adds up few bytes with one message to each process. The order of the sum is that of all_reduce."""
        own = np.zeros(ROW, np.int64)
        own[0] = tag
        few = np.concatenate(arrays)
        own[1:].view(np.uint8)[: few.nbytes] = few.view(np.uint8)
        before = (self.rank - 1) % self.size
        found = self._gather(own, look=lambda: self._require_tag(before, -1))
        others = np.flatnonzero(found[:, 0] != tag)
        if others.size:
            self._refuse(others[0])
        given = [row[1:].view(np.uint8)[: few.nbytes].view(few.dtype) for row in found]
        for i in range(self.size):
            part = slice(ends[i], ends[i + 1])
            with np.errstate(all="ignore"):  # an infinite gradient is no fault of the sum
                few[part] = functools.reduce(np.add, [given[(i + k) % self.size][part] for k in range(self.size)])
        begin = 0
        for array in into:
            array[...] = few[begin : begin + array.size]
            begin += array.size
        self.sent += few.nbytes * (self.size - 1)

    @property
    def call_bytes(self) -> int | None:
        """The bytes of a step's terms that begin to travel while it computes further terms; None: all travel when all
        are computed, since sums in shared memory need the cores."""
        return _BUCKET if self._shared is None else None

    def memory(self, sizes: list[int]):
        """Returns (owner, memory for arrays of these bytes, memory for their sums), with which all_reduce is fastest;
        None: any memory is as fast."""
        segment = None if self._shared is None else self._shared.segment(sizes)
        if segment is None:
            return None
        return segment, segment.arrays(segment.operands, sizes), segment.arrays(segment.results, sizes)

    def broadcast(self, arrays: list[np.ndarray], root: int) -> None:
        """Copies the arrays of rank `root` into those of all processes."""
        with self._turn:
            self._wait(
                "broadcast",
                [self._communicator.Ibcast(message, root) for message in self._messages(arrays, _MOST_BYTES)],
            )

    def _pass_on(self, sent: list[np.ndarray], received: list[np.ndarray], tag: int, awake: bool) -> None:
        """Sends to the next process, and receives from the one before. awake: asks MPI without pauses, as long as the
        messages take on a fast network."""
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        incoming = [self._communicator.Irecv(message, before, tag) for message in self._messages(received, _MESSAGE)]
        outgoing = [self._communicator.Isend(message, after, tag) for message in self._messages(sent, _MESSAGE)]
        self._wait(
            "all_reduce",
            incoming + outgoing,
            lambda: self._mpi.Request.Testall(incoming) or self._require_tag(before, tag),
            busy=sum(piece.nbytes for piece in sent) / _LEAST_RATE if awake else 0.0,
        )
        self.sent += sum(piece.nbytes for piece in sent)

    def _require_tag(self, before: int, tag: int) -> None:
        """Raises a ValueError if the process before sends arrays that this one does not expect."""
        status = self._mpi.Status()
        if self._communicator.Iprobe(before, status=status) and status.tag != tag:
            self._refuse(before)

    def _refuse(self, other: int) -> NoReturn:
        raise mistake(
            "all_reduce",
            "Expected the same call with arrays of the same sizes and types in all processes, got another in rank "
            f"{other} than in rank {self.rank}",
        )

    def _messages(self, arrays, most: int):
        """Divides the arrays' memory into messages of at most so many bytes, which need no type of MPI."""
        memories = [array.view(np.uint8) for array in arrays]
        return [[memory[i : i + most], self._mpi.BYTE] for memory in memories for i in range(0, memory.size, most)]

    def _wait(self, op: str, requests, look=lambda: None, busy: float = 0.0) -> None:
        """Waits for the requests. ConnectionError: another process has ended, so that they would never be met. look:
        called from time to time in a long wait. busy: seconds before it sleeps; MPI sends only while it is asked."""
        tries, began = 0, time.monotonic()
        try:
            while not self._mpi.Request.Testall(requests):
                tries += 1
                if tries % _QUICK:
                    continue
                waited = time.monotonic() - began
                self._require_all_here(op)
                if waited > _GRACE:
                    look()
                if waited >= busy:
                    tries = -1  # asks once after each pause
                    time.sleep(min(waited / 8, _LONGEST_PAUSE))
        except BaseException:
            self._abandoned += requests
            raise

    def _require_all_here(self, op: str) -> None:
        self._read_notices()
        if failed := self._failed():
            raise mistake(op, failed.rstrip("."), ConnectionError)
        if self._left and time.monotonic() - self._left_at > _GRACE:
            ended = next(iter(self._left))
            raise mistake(op, f"Rank {ended} has ended; rank {self.rank} waits for it", ConnectionError)
