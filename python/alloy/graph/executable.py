"""The user's side of a compiled step: steps in flight, their memory, and how much memory and time a run takes. The
executable itself is the engine's."""

from dataclasses import replace

import numpy as np

from alloy._core import Executable, Submission, as_shape
from alloy.graph import inspection
from alloy.graph.arrays import as_count
from alloy.graph.engine import method_of
from alloy.graph.location import mistake
from alloy.graph.profile import Kernel, Profile
from alloy.graph.staging import Staging


@method_of(Executable)
def submit(self, *arrays, **by_label) -> Submission:
    """Starts the step, as a call does, and returns before it is done: the sequence of its fetches, which waits for them
    when it is read.

    Meanwhile the next batch can be prepared. The arrays are copied first and may be changed at once (without that copy:
    staging). Steps of a graph run one after the other; where graph.most_in_flight of them (2 at first) are not done
    yet, the call waits for the oldest. A graph with storage="buffers" has one in flight.

    DeviceError: an earlier step failed on the device, and no call has raised that yet. When the fetches are read: this
    one failed, or one that was in flight before it."""
    return self._submit(False, *arrays, **by_label)


@method_of(Executable)
def staging(self, *shapes) -> Staging:
    """Memory that steps in flight read where it lies, in turns: see Staging.

    shapes: of the feeds, in order; none of them where the placeholders' shapes are known. ValueError: a shape is not
    known in full."""
    return Staging(self, shapes)


@method_of(Executable)
def memory_plan(self, *feeds) -> inspection.MemoryPlan | None:
    """The bytes that a run of these feeds takes; the step is compiled for them. None where the framework does
    not tell (Apple's does not).

    feeds: the arrays of a run or their shapes, in order; none of them where the placeholders' shapes are
    known. ValueError: a shape is not known in full, or does not fit."""
    shapes = [as_shape(getattr(feed, "shape", feed), "memory_plan") for feed in feeds or self.feeds]
    if len(shapes) != len(self.feeds) or any(shape is None or None in shape for shape in shapes):
        expected = f"the known shapes of {len(self.feeds)} feeds"
        raise mistake("memory_plan", f"Expected {expected}, got {shapes}", act="called")
    plan = self._memory_plan(shapes)
    if plan is None:
        return None
    at_peak = [inspection.Stored(*value) for value in plan.pop("at_peak")]
    at_peak.sort(key=lambda value: -value.bytes)
    return inspection.MemoryPlan(**plan, at_peak=tuple(at_peak))


@method_of(Executable)
def profile(self, *feeds, runs: int = 10, **by_label) -> Profile | None:
    """Runs the step so many times, after one run that counts for nothing, and gives the time, the arithmetic
    and the traffic of every kernel. None where the framework does not tell (Apple's does not).

    feeds, by_label: as in a call. The runs are as good as any other: updates are made."""
    runs = as_count("profile", "a number of runs", runs, "called")
    self(*feeds, **by_label)
    times, total = [], 0.0
    for _ in range(runs):  # one by one: for the time of each, and so that an interrupt is answered between them
        measured = self._profile(1, *feeds, **by_label)
        if measured is None:
            return None
        kernels = [Kernel(*kernel) for kernel in measured]
        taken = np.array([kernel.total for kernel in kernels])
        times.append(float(taken.sum()))
        total = total + taken
    kernels = [replace(kernel, total=float(taken)) for kernel, taken in zip(kernels, total)]
    return Profile(tuple(kernels), tuple(times))
