"""The processes that were launched together, and operations on values of all of them."""

import atexit
import functools
import os
import sys
import threading
from typing import Any

import numpy as np

from alloy.distributed.ring import Ring
from alloy.engine.arrays import as_count
from alloy.engine.structure import leaves, rebuild
from alloy.messages.location import mistake

# The variables with which launchers tell a process its number: Open MPI, PMIx (srun), MPICH.
_LAUNCHED = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_CONNECTING = threading.Lock()
_SUMMED = "iufcV"  # kinds of NumPy's types; V: bfloat16


def rank() -> int:
    """Returns this process's number, from 0 to size() - 1.

    ImportError: a launcher started this process, but MPI is not installed."""
    ring = _ring()
    return 0 if ring is None else ring.rank


def size() -> int:
    """Returns the number of processes. ImportError: see rank."""
    ring = _ring()
    return 1 if ring is None else ring.size


def barrier() -> None:
    """Waits until all processes have called it. ImportError: see rank."""
    ring = _ring()
    if ring is not None:
        ring.barrier()


def all_reduce(values) -> Any:
    """Returns the sums of the values over all processes, the same bits in each process.

    values: numbers, arrays, or tuples, lists and dicts of them, of the same form in all processes; shapes and types
    stay. The order of the sums is fixed by the number of processes, and is another one for each part of the arrays.

    ValueError, in all processes: they gave arrays of other shapes or types. TypeError: bools and strings have no sums.
    ImportError: see rank."""
    return _exchanged("all_reduce", values, _SUMMED, Ring.all_reduce)


def broadcast(values, root: int = 0) -> Any:
    """Returns the values of the process with rank `root`.

    values: as for all_reduce, bools, too; in the other processes, only their form, shapes and types count.

    ValueError: the processes gave arrays of other shapes or types; there is no such rank. ImportError: see rank."""
    root = as_count("broadcast", "a rank", root, 0)
    if root >= size():
        raise mistake("broadcast", f"Expected a rank below {size()}, got {root}")
    return _exchanged("broadcast", values, _SUMMED + "b", lambda ring, flat: ring.broadcast(flat, root))


def _ring() -> Ring | None:
    """Connects with the other processes at the first call; None: nothing launched this one."""
    with _CONNECTING:
        return _connected()


@functools.cache
def _connected() -> Ring | None:
    if not any(name in os.environ for name in _LAUNCHED):
        return None
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # _end_with_all does it; mpi4py would do it in a forked process, too
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # RuntimeError: there is no MPI library
        reason = str(error).splitlines()[0].rstrip(".")
        raise mistake(
            "distributed",
            f'Expected MPI, for a launcher started this process, got "{reason}"; pip install "alloy-mpsgraph[mpi]"',
            ImportError,
        ) from None
    told = next((int(os.environ[name]) for name in _SIZES if name in os.environ), MPI.COMM_WORLD.size)
    if told != MPI.COMM_WORLD.size:
        library = MPI.Get_library_version().split(",")[0]
        raise mistake(
            "distributed",
            f"Expected the launcher of {library}, which mpi4py uses, got another MPI's, which started {told} processes "
            "that do not know each other; alloy launch finds the right one",
        )
    ring = Ring(MPI, MPI.COMM_WORLD.Dup())
    _end_with_all(ring, MPI.Finalize)
    return ring


def _end_with_all(ring: Ring, finalize) -> None:
    """Lets an exception that ends this process end the others, which would wait for ever."""
    show, process = sys.excepthook, os.getpid()

    def leave(reason=""):
        if os.getpid() == process:  # a forked one is none of the launched ones
            ring.leave(reason)
            finalize()

    def hook(kind, error, trace):
        show(kind, error, trace)
        sys.stderr.flush()
        leave(f"{kind.__name__}: {error}" if str(error) else kind.__name__)

    sys.excepthook = hook
    atexit.register(leave)


def _exchanged(op, values, kinds, exchange):
    """Returns the values after exchange(ring, flat array), which changes all values of a type in place.

    kinds: those of NumPy's types that `op` takes."""
    given = leaves(values)
    arrays = [np.asarray(leaf) for leaf in given]
    for leaf, array in zip(given, arrays):
        if array.dtype.kind not in kinds or array.dtype.type is np.void:
            what = array.dtype if isinstance(leaf, np.ndarray) else type(leaf).__name__
            raise mistake(op, f"Expected numbers and arrays of them, got {what}", TypeError)
    ring = _ring()
    if ring is not None:
        ring.require_same(op, arrays)
    found = _by_type(arrays, (lambda flat: None) if ring is None else (lambda flat: exchange(ring, flat)))
    numbers = (bool, int, float, complex)
    return rebuild(values, [new.item() if isinstance(leaf, numbers) else new for leaf, new in zip(given, found)])


def _by_type(arrays, change) -> list[np.ndarray]:
    """Returns copies of the arrays that `change` has changed: it gets those of a type as one array."""
    found: list[Any] = [None] * len(arrays)
    for dtype in dict.fromkeys(array.dtype for array in arrays):
        places = [i for i, array in enumerate(arrays) if array.dtype == dtype]
        flat = np.concatenate([arrays[i].reshape(-1) for i in places])
        change(flat)
        ends = np.cumsum([arrays[i].size for i in places])
        for i, part in zip(places, np.split(flat, ends[:-1])):
            found[i] = part.reshape(arrays[i].shape)
    return found
