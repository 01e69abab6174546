"""Threads that read the examples of one batch. They live as long as that takes: nothing is left when a training ends,
in a forked child, or when the interpreter exits."""

import threading


def in_threads(read, write, count, workers):
    """write(i, read(i)) for each i below count, in that many threads, of which the caller's is one.
    Writes take turns.

    What is raised is what the first i raised, as if there were one thread. All threads have ended when this returns or
    raises that. Only where the caller is interrupted do they end later, each with what it reads, and write nothing
    more."""
    if workers == 1:
        for i in range(count):
            write(i, read(i))
    else:
        _Turns(read, write, count).take(min(workers, count))


class _Turns:
    def __init__(self, read, write, count):
        self._read = read
        self._write = write
        self._count = count
        self._next = 0
        self._faults = {}
        self._lock = threading.Lock()

    def take(self, workers):
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers - 1)]
        try:
            for thread in threads:
                thread.start()
            self._work(KeyboardInterrupt)
            for thread in threads:
                thread.join()
        except BaseException:
            with self._lock:
                self._next = None
            raise
        if self._faults:
            raise self._faults[min(self._faults)]

    def _work(self, interrupt=()):
        """Reads and writes until there is no turn left. interrupt: what is raised at once."""
        while True:
            with self._lock:
                if self._next is None or self._next == self._count or self._faults:
                    return
                i = self._next
                self._next += 1
            try:
                given = self._read(i)
                with self._lock:
                    if self._next is None:
                        return
                    self._write(i, given)
            except interrupt:
                raise
            except BaseException as error:
                self._faults[i] = error
