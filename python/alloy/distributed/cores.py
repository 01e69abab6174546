"""The cores of each of several processes of a host."""

import os

from alloy import _core

_CORES = "/sys/devices/system/cpu"


def divide(communicator) -> None:
    """Gives each process cores of its own, if all were given the same ones and each has as many as threads.

    Without it, Linux lets two processes that wait for each other share one core for seconds, while another one is idle.
    communicator: MPI's, of the processes of one host."""
    if not hasattr(os, "sched_setaffinity"):  # macOS
        return
    rank, size = communicator.rank, communicator.size
    own = sorted(os.sched_getaffinity(0))
    lists = communicator.allgather(own)
    cores = whole(own)
    first, last = (len(cores) * i // size for i in (rank, rank + 1))
    enough = last - first >= (_core.threads() or 1) and all(other == own for other in lists)
    if size == 1 or not all(communicator.allgather(enough)):
        return
    mine = [processor for core in cores[first:last] for processor in core]
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), mine)
        except ProcessLookupError:
            pass  # it has ended


def whole(processors: list[int]) -> list[list[int]]:
    """Returns these processors by core: hyperthreads of one core stand together."""
    cores: dict[str, list[int]] = {}
    for processor in processors:
        try:
            with open(f"{_CORES}/cpu{processor}/topology/thread_siblings_list") as file:
                siblings = file.read()
        except OSError:
            siblings = str(processor)
        cores.setdefault(siblings, []).append(processor)
    return [*cores.values()]
