"""What the kernels of a step cost in time, beside what the machine could do."""
import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from alloy.tensor import shape_text


@dataclass(frozen=True)
class Kernel:
    """One kernel of a step: what it computes, what that takes at least, and what it took."""
    name: str                # of the op, behind its layers' ("gradients/dense_0/matmul"); may be empty
    kind: str                # of the op
    shape: tuple[int, ...]   # of its value
    flops: int
    bytes: int               # read and written
    total: float             # seconds in all runs
    begin: float             # seconds from the start of the last run
    end: float

    @property
    def layer(self) -> str:
        """The layer it belongs to, forward and backward."""
        path = self.name.split("/")
        if path[0] in ("gradients", "optimizer"):
            path = path[1:]
        return "/".join(path[:-1]) or "(none)"

    @property
    def phase(self) -> str:
        """"forward", "backward" or "update"."""
        return {"gradients": "backward", "optimizer": "update"}.get(self.name.partition("/")[0], "forward")


@dataclass(frozen=True)
class Peaks:
    """What the machine reaches with these threads, measured: FLOP/s in a large matrix product, bytes/s in the sum
    of two large tensors."""
    flops: float
    bytes: float


@dataclass(frozen=True)
class Profile:
    """The kernels of a step in the order in which they ran."""
    kernels: tuple[Kernel, ...]
    runs: int
    peaks: Peaks = field(default_factory=lambda: _peaks(_threads()))

    @property
    def seconds(self) -> float:
        """Of a run, in kernels."""
        return sum(kernel.total for kernel in self.kernels) / self.runs

    def table(self, by: str = "layer", most: int = 30) -> str:
        """The groups of kernels that took most of a run: by "layer", "phase", "kind" or "kernel" (the op and its
        shape). Share: the greater of the parts of the peaks, in FLOP/s and bytes/s, that the group reached."""
        groups = defaultdict(list)
        for kernel in self.kernels:
            key = f"{kernel.kind} {shape_text(kernel.shape)}" if by == "kernel" else getattr(kernel, by)
            groups[key].append(kernel)
        rows = [(by, "calls", "ms", "% of run", "GFLOP/s", "GB/s", "% of peak")]
        ordered = sorted(groups.items(), key=lambda group: -sum(kernel.total for kernel in group[1]))
        for key, kernels in ordered[:most]:
            rows.append((key, *self._row(kernels)))
        if len(ordered) > most:
            rows.append((f"({len(ordered) - most} more)", *self._row(sum((k for _, k in ordered[most:]), []))))
        rows.append(("all", *self._row(self.kernels)))
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
                 for row in rows]
        return "\n".join([*lines, f"peaks: {self.peaks.flops / 1e9:.0f} GFLOP/s, {self.peaks.bytes / 1e9:.1f} GB/s"])

    def _row(self, kernels):
        seconds = sum(kernel.total for kernel in kernels) / self.runs
        if seconds == 0:
            return str(len(kernels)), "0.000", "", "", "", ""
        flops, moved = (sum(getattr(kernel, what) for kernel in kernels) / seconds for what in ("flops", "bytes"))
        share = max(flops / self.peaks.flops, moved / self.peaks.bytes)
        return (str(len(kernels)), f"{seconds * 1e3:.3f}", f"{100 * seconds / self.seconds:.1f}", f"{flops / 1e9:.1f}",
                f"{moved / 1e9:.1f}", f"{100 * share:.0f}")

    def __str__(self) -> str:
        return self.table()

    def save_trace(self, path) -> None:
        """Writes the last run as a trace that Perfetto and chrome://tracing show."""
        events = [{"name": kernel.name or kernel.kind, "cat": kernel.phase, "ph": "X", "pid": 0, "tid": 0,
                   "ts": kernel.begin * 1e6, "dur": (kernel.end - kernel.begin) * 1e6,
                   "args": {"kind": kernel.kind, "shape": list(kernel.shape), "flops": kernel.flops,
                            "bytes": kernel.bytes}}
                  for kernel in self.kernels if kernel.end > kernel.begin]
        with open(path, "w") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def _threads():
    from alloy.device import threads
    return threads()


@cache
def _peaks(threads) -> Peaks:
    from alloy.graph import Graph
    best = []
    for shape, ops in ((1024, 1024), lambda x: x @ x), ((1 << 24,), lambda x: x + 1.0):
        graph = Graph()
        x = graph.placeholder(shape)
        step = graph.compile([x], [ops(x)])
        data = np.ones(shape, np.float32)
        step(data)
        kernels = [max((Kernel(*kernel) for kernel in step._profile(1, data)), key=lambda kernel: kernel.total)
                   for _ in range(10)]
        best.append(min(kernels, key=lambda kernel: kernel.total))
    return Peaks(best[0].flops / best[0].total, best[1].bytes / best[1].total)
