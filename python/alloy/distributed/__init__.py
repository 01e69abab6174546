"""Processes that compute together, by MPI: `alloy launch -n 4 script.py` starts four of the same script.

    rank, size = al.distributed.rank(), al.distributed.size()
    share = al.data.from_arrays(images, labels).shuffle(seed=0).shard(rank, size)
    total = al.distributed.all_reduce({"correct": correct, "count": count})

rank                    this process's number, from 0 on
size                    the number of processes
all_reduce, broadcast   sums over all processes, and the values of one of them
Optimizer               an optimizer that moves parameters by the mean of all processes' gradients
barrier                 waits until all processes are here

mpirun starts the processes, too. pip install "alloy-mpsgraph[mpi]" brings MPI; a process that is
started alone needs none: it has rank 0 of size 1. All processes must call these functions in the same order."""

from alloy.distributed.processes import Optimizer, all_reduce, barrier, broadcast, rank, size
from alloy.messages.names import of_module

__all__ = ["Optimizer", "all_reduce", "barrier", "broadcast", "rank", "size"]

__getattr__, __dir__ = of_module(__name__)
