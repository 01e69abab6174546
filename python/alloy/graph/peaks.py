"""The rates that a device reaches: what a profile compares kernels with."""

import functools
import time

import numpy as np

from alloy import _core
from alloy.graph.graph import Graph
from alloy.measuring.profile import Kernel, Peaks
from alloy.ops.elementwise import cast

_HALVES = ("bfloat16", "float16")
_RUNS = 4
_LONG = 4e-3  # seconds of a run, after which nothing larger is tried
_ELEMENTS = [2**n for n in range(10, 27, 3)]  # of copied arrays: 8 KB to 256 MB read and written
_LENGTHS = [128, 512, 1024, 2048, 4096]  # of the matrices


def peaks_of(graph, kernels) -> Peaks:
    """Returns what the graph's device reaches in the types and the precision of these kernels. The first call for each
    of them measures it, in some tenths of a second."""
    dtypes = {kernel.dtype if kernel.dtype in _HALVES else "float32" for kernel in kernels if kernel.flops}
    place = graph._device, _core.threads()  # threads: other numbers of them reach other rates
    flops = {dtype: _product_rate(*place, graph.precision, dtype) for dtype in sorted(dtypes)}
    return Peaks(flops, _copies(*place))


@functools.cache
def _copies(device, threads):
    """Returns pairs (bytes, seconds), in order."""
    return tuple((kernel.bytes, kernel.total) for kernel in _measured(device, "float32", _ELEMENTS, _negated))


@functools.cache
def _product_rate(device, threads, precision, dtype):
    """Returns the flops of a second."""
    products = _measured(device, precision, _LENGTHS, lambda graph, n: _squared(graph, n, dtype))
    return max((kernel.flops / kernel.total for kernel in products), default=0.0)


def _negated(graph, n):
    x = graph.variable(np.ones(n, np.float32))
    return graph.assign(x, -x)


def _squared(graph, n, dtype):
    # Random numbers: processors are slower with them than with zeros.
    x = graph.variable(np.random.default_rng(0).random((n, n), np.float32))
    factor = cast(x, dtype)
    return graph.assign(graph.variable(np.zeros((n, n), np.float32)), cast(factor @ factor, "float32"))


def _measured(device, precision, sizes, update):
    """Returns the main kernel of an update of each size, in the shortest of several runs."""
    kernels = []
    for size in sizes:
        try:
            graph = Graph(device=device, precision=precision)
            step = graph.compile(updates=[update(graph, size)])
            step()
            began = time.perf_counter()
            runs = [[Kernel(*kernel) for kernel in step._profile(1) or ()] for _ in range(_RUNS)]
            taken = (time.perf_counter() - began) / _RUNS
        except MemoryError:
            break
        mains = [max(run, key=lambda kernel: (kernel.flops, kernel.bytes)) for run in runs]
        fastest = min(mains, key=lambda kernel: kernel.total)
        if fastest.total > 0:
            kernels.append(fastest)
        if taken > _LONG:
            break
    return kernels
