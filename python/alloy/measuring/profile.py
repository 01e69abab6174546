"""The time that the kernels of a step take."""

import json
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from alloy.engine.arrays import as_choice
from alloy.measuring.phases import layer_of, phase_of
from alloy.messages.text import amount, shape_text, table

GROUPS = ("layer", "phase", "kind", "kernel")  # the choices of Profile.table


@dataclass(frozen=True)
class Kernel:
    """One kernel of a step: its op, the least work it needs, and the time it took."""

    name: str  # the op's, after its layers' names ("gradients/dense_0/matmul"); may be empty
    kind: str  # the op's
    shape: tuple[int, ...]  # its value's
    dtype: str  # of the narrowest floats that it reads; may be empty
    flops: int
    bytes: int  # read and written
    total: float  # seconds in all runs
    begin: float  # seconds from the start of the last run
    end: float

    @property
    def layer(self) -> str:
        """The layer it belongs to, in the forward and backward pass and in the update of the layer's variables."""
        path = layer_of(self.name)
        return (path.rpartition("/")[0] if self.phase == "update" else path) or "(outside layers)"

    @property
    def label(self) -> str:
        """The kind; if several ops are one kernel, with the last of them: "fused relu"."""
        return f"{self.kind} {self.name.rpartition('/')[2]}" if self.kind == "fused" and self.name else self.kind

    @property
    def phase(self) -> str:
        """ "forward", "backward" or "update"."""
        return phase_of(self.name)


@dataclass(frozen=True)
class Peaks:
    """Rates that a device has reached, in products of large matrices and in copies of arrays."""

    flops: dict[str, float]  # of a second, by the type of the matrices
    copies: tuple[tuple[int, float], ...]  # bytes read and written, and seconds; the smallest first

    def seconds(self, kernel: Kernel) -> float:
        """Returns the time of a product of as many flops, or of a copy of as many bytes, whichever is longer."""
        rate = self.flops.get(kernel.dtype) or self.flops.get("float32")
        arithmetic = kernel.flops / rate if rate else 0.0
        if not self.copies:
            return arithmetic
        sizes, times = zip(*self.copies)
        beyond = max(kernel.bytes / sizes[-1], 1)
        return max(arithmetic, beyond * float(np.interp(kernel.bytes, sizes, times)))

    def __str__(self) -> str:
        lines = [f"peak of {dtype} products: {rate / 1e9:.1f} GFLOP/s" for dtype, rate in self.flops.items()]
        if self.copies:
            fastest, largest = max(size / time for size, time in self.copies), self.copies[-1][0] / self.copies[-1][1]
            size = amount(self.copies[-1][0], "B")
            lines.append(f"peak of copies: {fastest / 1e9:.1f} GB/s; of {size}: {largest / 1e9:.1f} GB/s")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Profile:
    """The kernels of a step in the order in which they ran."""

    kernels: tuple[Kernel, ...]
    times: tuple[float, ...]  # seconds in kernels, for each run
    peaks: Peaks

    @property
    def runs(self) -> int:
        return len(self.times)

    @property
    def seconds(self) -> float:
        """The mean seconds of a run in kernels."""
        return sum(self.times) / self.runs

    def table(self, by: str = "layer", most: int = 30) -> str:
        """Returns a table of the kernels that took the most time of a run, on average, grouped by "layer", "phase",
        "kind" or "kernel" (the op and its shape). The rates count only the arithmetic and traffic that the ops need at
        least. "% of peak" compares the time with that of a product of as many flops, or of a copy of as many bytes,
        measured on the same device (Peaks). Below stand the median of the runs, the quartiles, and the peaks.

        ValueError: by is something else."""
        as_choice("profile", "a group", by, GROUPS)
        groups = defaultdict(list)
        for kernel in self.kernels:
            key = kernel.label if by in ("kernel", "kind") else getattr(kernel, by)
            key = f"{key} {shape_text(kernel.shape)}" if by == "kernel" else key
            groups[key].append(kernel)
        rows: list[tuple[str, ...]] = [(by, "calls", "ms", "% of run", "GFLOP/s", "GB/s", "% of peak")]
        ordered = sorted(groups.items(), key=lambda group: -sum(kernel.total for kernel in group[1]))
        for key, kernels in ordered[:most]:
            rows.append((key, *self._row(kernels)))
        if len(ordered) > most:
            rows.append((f"({len(ordered) - most} more)", *self._row(sum((k for _, k in ordered[most:]), []))))
        rows.append(("all", *self._row(self.kernels)))
        low, median, high = (1e3 * float(time) for time in np.quantile(self.times, [0.25, 0.5, 0.75]))
        spread = f"a run: median {median:.3f} ms, quartiles {low:.3f} and {high:.3f} ms, of {self.runs}"
        return "\n".join([*table(rows, numbers=range(1, 7), indent=0), spread, str(self.peaks)])

    def _row(self, kernels):
        seconds = sum(kernel.total for kernel in kernels) / self.runs
        if seconds == 0:
            return str(len(kernels)), "0.000", "", "", "", ""
        least = sum(map(self.peaks.seconds, kernels))
        flops, moved = (sum(getattr(kernel, what) for kernel in kernels) / seconds for what in ("flops", "bytes"))
        return (
            str(len(kernels)),
            f"{seconds * 1e3:.3f}",
            f"{100 * seconds / self.seconds:.1f}",
            f"{flops / 1e9:.1f}",
            f"{moved / 1e9:.1f}",
            f"{100 * least / seconds:.0f}",
        )

    def __repr__(self) -> str:
        return self.table()

    def save_trace(self, path) -> None:
        """Writes the last run as a trace for Perfetto and chrome://tracing."""
        events = [
            {
                "name": kernel.name or kernel.kind,
                "cat": kernel.phase,
                "ph": "X",
                "pid": 0,
                "tid": 0,
                "ts": kernel.begin * 1e6,
                "dur": (kernel.end - kernel.begin) * 1e6,
                "args": {
                    "kind": kernel.kind,
                    "shape": list(kernel.shape),
                    "flops": kernel.flops,
                    "bytes": kernel.bytes,
                    "% of peak": 100 * self.peaks.seconds(kernel) / (kernel.end - kernel.begin),
                },
            }
            for kernel in self.kernels
            if kernel.end > kernel.begin
        ]
        with open(path, "w") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)
