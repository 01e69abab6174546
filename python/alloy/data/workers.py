"""Threads that read the examples of one batch. They end with the batch: none is left when a training ends, in a forked
child, or when the interpreter exits."""

import threading


def in_threads(read, write, count, workers):
    """Calls write(i, read(i)) for each i below count, in `workers` threads, including the caller's. Writes take turns.

    It raises the exception of the least i that raised, as one thread would. All threads have ended when it returns or
    raises. Only after Ctrl-C they end later, each after its present read, and write nothing more."""
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
        """Reads and writes until there is no turn left. interrupt: exceptions to raise at once."""
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
