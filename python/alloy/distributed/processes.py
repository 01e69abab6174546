"""The processes that were launched together, and operations on values of all of them."""

import atexit
import functools
import os
import pickle
import sys
import threading
import zlib
from typing import Any

import numpy as np

import alloy
from alloy import _core
from alloy._core import Tensor
from alloy.distributed.ring import Ring
from alloy.engine.arrays import as_count, require_all
from alloy.engine.dtypes import numpy_dtype
from alloy.engine.scope import scoped
from alloy.engine.structure import leaves, rebuild
from alloy.messages.location import mistake, user_location

# The variables with which launchers tell a process its number: Open MPI, PMIx (srun), MPICH.
_LAUNCHED = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_CONNECTING = threading.Lock()
_MOST_TEXTS, _MOST_LETTERS = 16, 200  # of require_equal
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
    Or so many tensors of a graph: then the result are tensors, and each run computes the sums. A loss counts as a part
    of the sum over all processes, so the gradient of a tensor is the sum of the gradients of its sum. Such a step
    cannot be exported, nor be one of several in a dispatch.

    ValueError, in all processes: they gave arrays of other shapes or types. TypeError: bools and strings have no sums.
    ImportError: see rank."""
    given = leaves(values)
    if any(isinstance(leaf, Tensor) for leaf in given):
        require_all("all_reduce", "tensors beside a tensor", Tensor, given)
        if size() == 1:
            return values
        graph = given[0].graph
        path = scoped(graph, "", "all_reduce")
        return rebuild(values, graph.apply("all_reduce", given, {}, path, user_location()))
    return _exchanged("all_reduce", values, _SUMMED, Ring.all_reduce)


def broadcast(values, root: int = 0) -> Any:
    """Returns the values of the process with rank `root`.

    values: as for all_reduce, bools, too; in the other processes, only their form, shapes and types count.

    ValueError: the processes gave arrays of other shapes or types; there is no such rank. ImportError: see rank."""
    root = as_count("broadcast", "a rank", root, 0)
    if root >= size():
        raise mistake("broadcast", f"Expected a rank below {size()}, got {root}")
    return _exchanged("broadcast", values, _SUMMED + "b", lambda ring, arrays: ring.broadcast(arrays, root))


def gathered(array: np.ndarray) -> np.ndarray:
    """Returns the arrays of all processes, of one shape and type, along a new first axis."""
    ring = _ring()
    return array[None] if ring is None else ring.gathered("distributed", array)


def shared(value) -> Any:
    """Returns the value of rank 0, which may be anything that pickle knows."""
    text = np.frombuffer(pickle.dumps(value), np.uint8)
    text = np.resize(text, broadcast(text.size))  # in the other processes, memory of the right size
    return pickle.loads(broadcast(text).tobytes())


def require_equal(op: str, texts: dict[str, str]) -> None:
    """Raises a ValueError in all processes unless all give the same texts under the same names."""
    ring = _ring()
    if ring is not None:
        _require_equal(ring, op, texts)


def _require_equal(ring: Ring, op: str, texts: dict[str, str]) -> None:
    own = np.zeros((_MOST_TEXTS, 2, _MOST_LETTERS), np.uint8)
    for row, pair in zip(own, texts.items()):
        for place, text in zip(row, pair):
            letters = text.encode()
            if len(letters) > _MOST_LETTERS:
                letters = letters[: _MOST_LETTERS - 12] + f"... {zlib.crc32(letters):08x}".encode()
            place[: len(letters)] = list(letters)
    found = ring.gathered(op, own)
    for number, others in enumerate(found[1:], 1):
        for first, other in zip(found[0], others):
            if np.array_equal(first, other):
                continue
            (name, expected), (_, given) = (
                [bytes(text).rstrip(b"\0").decode() for text in row] for row in (first, other)
            )
            raise mistake(
                op, f"Expected the same {name} in all processes, got {expected} in rank 0 and {given} in rank {number}"
            )


def _ring() -> Ring | None:
    """Connects with the other processes at the first call; None: nothing launched this one."""
    with _CONNECTING:
        ring = _connected()
        if ring is not None:
            _begin(ring)
        return ring


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
    _core.set_all_reduce(functools.partial(_sum_in_step, ring), ring.memory, ring.call_bytes)
    _end_with_all(ring, MPI.Finalize)
    return ring


@functools.cache
def _begin(ring: Ring) -> None:
    """Requires one version of Alloy, whose processes understand each other, and watches them from now on."""
    _require_equal(ring, "distributed", {"version of Alloy": alloy.__version__})
    ring.watch()


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
    """Returns the values after exchange(ring, arrays), which changes all arrays of a type in place.

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
    found = [np.array(array, order="C") for array in arrays]
    if ring is not None:
        for some in _by_type(found):
            exchange(ring, some)
    numbers = (bool, int, float, complex)
    return rebuild(values, [new.item() if isinstance(leaf, numbers) else new for leaf, new in zip(given, found)])


def _by_type(arrays) -> list[list[np.ndarray]]:
    """Returns the packed arrays with one axis, those of each type together."""
    types = dict.fromkeys(array.dtype for array in arrays)
    return [[array.reshape(-1) for array in arrays if array.dtype == dtype] for dtype in types]


def _sum_in_step(ring: Ring, operands, results, dtype, meanwhile) -> None:
    """Computes the op all_reduce: writes sums over all processes into the results. All are memory of this type.
    meanwhile: the device computes at the same time, and needs the cores."""
    arrays, sums = ([np.asarray(one).view(numpy_dtype(dtype)) for one in all] for all in (operands, results))
    ring.all_reduce(arrays, sums, 0 if meanwhile else _core.threads() or 1)


def Optimizer(optimizer, *, dtype: str = "float32"):
    """Returns the optimizer, which from now on moves parameters by the mean of all processes' gradients.

        updates = al.distributed.Optimizer(al.Adam(1e-3)).minimize(loss)

    Each process computes its own loss, from its share of a batch; the parameters stay the same in all of them if they
    are the same at first. Limits of gradients, skipped steps and loss scales are of the mean. dtype: "bfloat16": the
    gradients are rounded to it, and so are their sums, and half as many bytes travel.

    ValueError: the optimizer has made steps, or gradients cannot travel in that type. TypeError: it is none."""
    if not hasattr(optimizer, "minimize"):
        raise mistake("Optimizer", f"Expected an optimizer such as al.Adam(1e-3), got {optimizer!r}", TypeError)
    if dtype not in ("float32", "bfloat16"):
        raise mistake("Optimizer", f'Expected the dtype "float32" or "bfloat16", got {dtype!r}')
    optimizer.distributed = dtype
    return optimizer
