"""Threads that read the examples of one batch. They end with the batch: none is left when a training ends, in a forked
child, or when the interpreter exits."""

import threading


def in_threads(read, write, count, workers):
    """Calls write(i, read(i)) for each i below count, in `workers` threads, including the caller's. Writes take turns.

    It raises the exception of the least i that raised, as one thread would. All threads have ended when it returns or
    raises. Only after Ctrl-C they end later, each after its present read, and write nothing more."""
    turns, faults, lock, is_left = iter(range(count)), {}, threading.Lock(), threading.Event()

    def work(interrupt=()):
        while not faults and not is_left.is_set():
            with lock:
                i = next(turns, None)
            if i is None:
                return
            try:
                given = read(i)
                with lock:
                    if is_left.is_set():
                        return
                    write(i, given)
            except interrupt:
                raise
            except BaseException as error:
                faults[i] = error

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, count) - 1)]
    try:
        for thread in threads:
            thread.start()
        work(KeyboardInterrupt)
        for thread in threads:
            thread.join()
    except BaseException:
        with lock:
            is_left.set()
        raise
    if faults:
        raise faults[min(faults)]
