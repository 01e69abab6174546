"""Sums over processes that stand in a ring: each sends to the next one and receives from the one before, so all links
are busy at once. https://doi.org/10.1016/j.jpdc.2008.09.002 (Patarasuk and Yuan, 2009)"""

import sys
import threading
import time
import zlib

import numpy as np

from alloy.messages.location import mistake

_MOST_BYTES = 2**30  # of a message; MPI counts with 32 bits
_QUICK = 200  # tries before a wait sleeps
_LONGEST_PAUSE = 1e-3  # seconds; Ctrl-C and other processes on the same cores wait no longer
_GRACE = 5.0  # seconds for the last messages of a process that has ended
_PATIENCE = 10.0  # seconds in which all processes say why they end
_MOST_TEXT = 1000  # bytes of a reason


class Ring:
    """The processes of an MPI communicator. Threads take turns, and all processes must call in the same order."""

    def __init__(self, mpi, communicator):
        """Takes the module mpi4py.MPI, and a communicator that nobody else uses."""
        self._mpi, self._communicator, self._notices = mpi, communicator, communicator.Dup()
        self._turn = threading.Lock()
        self._abandoned = []  # requests whose memory MPI may still write, after an exception
        self._left: dict[int, str] = {}  # the ranks that have ended, with the reasons of those that failed
        self.rank: int = communicator.rank
        self.size: int = communicator.size
        self.sent = 0  # bytes, of all_reduce

    def leave(self, reason: str = "") -> None:
        """Tells the other processes that this one ends, and waits for them, because MPI ends all together.

        reason: why it failed. Then all end, with status 1, as soon as they know or after some seconds."""
        notice, began = [reason.encode()[:_MOST_TEXT], self._mpi.BYTE], time.monotonic()
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

    def _read_notices(self) -> None:
        status = self._mpi.Status()
        while self._notices.Iprobe(status=status):
            text = bytearray(status.count)
            self._notices.Recv([text, self._mpi.BYTE], status.source)
            self._left[status.source] = text.decode(errors="replace")

    def _failed(self) -> str:
        """Returns why another process failed, or ""."""
        return next((f"Rank {rank} failed: {reason}" for rank, reason in self._left.items() if reason), "")

    def barrier(self) -> None:
        with self._turn:
            self._wait("barrier", [self._communicator.Ibarrier()])

    def require_same(self, op: str, arrays) -> None:
        """Raises a ValueError in all processes unless all call the same op with arrays of the same shapes and types."""
        text = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
        own = np.array(
            [zlib.crc32(f"{op} {text}".encode()), len(arrays), sum(array.size for array in arrays)], np.int64
        )
        given = np.empty((self.size, own.size), np.int64)
        with self._turn:
            self._wait(op, [self._communicator.Iallgather(own, given)])
        others = [other for other in range(self.size) if tuple(given[other]) != tuple(own)]
        if others:
            here, there = (f"{given[rank][1]} arrays of {given[rank][2]} elements" for rank in (self.rank, others[0]))
            raise mistake(
                op,
                "Expected the same call with arrays of the same shapes and types in all processes, got "
                f"{here} in rank {self.rank} and {there}, or another call, in rank {others[0]}",
            )

    def all_reduce(self, flat: np.ndarray) -> None:
        """Adds up the arrays of all processes, in each of them.

        Part i of the sum is made in the order of ranks from i on, cyclically: so each process sends it once, and the
        finished sum once, which are 2 (size - 1) / size times the array's bytes."""
        ends = [flat.size * i // self.size for i in range(self.size + 1)]
        parts = [flat[ends[i] : ends[i + 1]] for i in range(self.size)]
        received = np.empty(max(part.size for part in parts), flat.dtype)
        with self._turn:
            for step in range(self.size - 1):
                sent, part = parts[(self.rank - step) % self.size], parts[(self.rank - step - 1) % self.size]
                incoming = received[: part.size]
                self._pass_on(sent, incoming)
                np.add(incoming, part, out=part)
            for step in range(self.size - 1):
                self._pass_on(parts[(self.rank + 1 - step) % self.size], parts[(self.rank - step) % self.size])

    def broadcast(self, flat: np.ndarray, root: int) -> None:
        """Copies the array of rank `root` into those of all processes."""
        with self._turn:
            self._wait("broadcast", [self._communicator.Ibcast(message, root) for message in self._messages(flat)])

    def _pass_on(self, sent: np.ndarray, received: np.ndarray) -> None:
        """Sends to the next process, and receives from the one before."""
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        self._wait(
            "all_reduce",
            [self._communicator.Irecv(message, before) for message in self._messages(received)]
            + [self._communicator.Isend(message, after) for message in self._messages(sent)],
        )
        self.sent += sent.nbytes

    def _messages(self, flat):
        """Divides the array's memory into messages of bytes, which need no type of MPI."""
        memory = flat.view(np.uint8)
        return [[memory[i : i + _MOST_BYTES], self._mpi.BYTE] for i in range(0, memory.size, _MOST_BYTES)]

    def _wait(self, op: str, requests) -> None:
        """Waits for the requests. ConnectionError: another process has ended, so that they would never be met."""
        tries, pause, began = 0, 1e-5, time.monotonic()
        try:
            while not self._mpi.Request.Testall(requests):
                tries += 1
                if tries > _QUICK:
                    self._require_all_here(op, time.monotonic() - began)
                    time.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        except BaseException:
            self._abandoned += requests
            raise

    def _require_all_here(self, op: str, waited: float) -> None:
        self._read_notices()
        if failed := self._failed():
            raise mistake(op, failed.rstrip("."), ConnectionError)
        if self._left and waited > _GRACE:
            ended = next(iter(self._left))
            raise mistake(op, f"Rank {ended} has ended; rank {self.rank} waits for it", ConnectionError)
