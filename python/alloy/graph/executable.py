"""Compiled steps: calls, submissions, staging memory, memory plans and profiles."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from alloy import _core
from alloy._core import DeviceError, Queue, Submission, Tensor, as_shape
from alloy.asynchronous.queues import as_queue, moments
from alloy.asynchronous.staging import Staging, known_shapes
from alloy.asynchronous.submission import in_coroutine
from alloy.engine.arrays import as_count, as_file_name
from alloy.engine.classes import Part, completes
from alloy.measuring import inspection
from alloy.measuring.profile import Kernel, Profile
from alloy.measuring.replay import Replay
from alloy.messages.location import meant, mistake
from alloy.messages.text import describe

_MOST = 8  # tensors shown of an executable


class Fetches(list):
    """A list of the fetched arrays, which refuses arithmetic."""

    __slots__ = ()

    def __format__(self, form):
        return str(self) if form == "" else _one_of(self)

    def __radd__(self, other):
        return other + list(self) if isinstance(other, list) else _one_of(self)

    def __reduce__(self):
        return list, (list(self),)


def _one_of(self, *others):
    """Raises TypeError where the list is used as an array."""
    raise mistake(
        "executable",
        f"Expected one array, got the list of what the step fetches, {len(self)} in all; (loss,) = step(...) takes out "
        "one",
        TypeError,
    )


for _name in "float int round neg abs sub rsub mul rmul truediv rtruediv pow rpow".split():
    setattr(Fetches, f"__{_name}__", _one_of)


@completes
class Executable(Part, _core.Executable):
    """A compiled step: takes arrays, returns arrays, and carries out updates."""

    def __call__(self, /, *arrays, **by_label) -> list[np.ndarray]:
        """Runs the step and returns its fetches. Give the feeds in order, by name, in a dict by placeholder or name, or
        bound to the graph (Graph.bind). Integers are converted to the placeholder's integer type, if it holds them.

        The call waits until the step is over, and a GPU then waits for the next call. In a loop use submit."""
        arrays, by_label = as_feeds(self, arrays, by_label)
        return Fetches(self._call(*arrays, **by_label))

    def submit(self, /, *arrays, queue: Queue | None = None, wait_for=(), signal=(), **by_label) -> Submission:
        """Starts the step and returns before it is done. The result is a sequence of the fetches; reading it waits for
        them. Coroutines await it: fetches = await step.submit(x).

        Meanwhile the next batch can be prepared. The arrays are copied first and may be changed at once (staging saves
        the copy). Feed a fetch of another submission, computed or not, without a copy: submission.pending(0).

        Steps of a graph run one after the other, in the order in which they were submitted or called, on any queue, so
        that each finds the variables as the one before left them. If graph.most_in_flight steps are not done yet, the
        call waits for the oldest; in a coroutine it never waits. A graph with storage="buffers" has one step in flight,
        and the call waits for it.

        queue: runs the step in the order of that queue of the graph's device, instead of the graph's own. wait_for: a
        pair (event, value), or several: the step starts when each event has reached its value. signal: such pairs, too;
        each event is set to its value when the step is over, even if it failed. Pending results that are fed need no
        event. Feed a placeholder that has one of these names by position or in a dict.

        ValueError: the queue or a pending result is on another device. DeviceError: an earlier step failed on the
        device, and no call has raised that yet. Reading the fetches raises it if this step failed, one that was in
        flight before it, or one whose result it was fed."""
        takes_turns = not in_coroutine()
        order = None
        if queue is not None or wait_for or signal or not takes_turns:
            order = (as_queue(queue), moments("wait_for", wait_for), moments("signal", signal), takes_turns)
        arrays, by_label = as_feeds(self, arrays, by_label)
        return self._submit(False, order, *arrays, **by_label)

    def staging(self, *shapes) -> Staging:
        """Makes memory that steps in flight read without a copy: see Staging.

        shapes: the feeds' shapes, in order; not needed if the placeholders' shapes are known. ValueError: a shape is
        not known in full."""
        return Staging(self, shapes)

    def memory_plan(self, *feeds) -> inspection.MemoryPlan | None:
        """Returns the bytes that a run takes, and compiles the step for these feeds. Apple's framework gives None.

        feeds: arrays or their shapes, in order; not needed if the placeholders' shapes are known. ValueError: a shape
        is not known in full, or does not fit."""
        plan = self._memory_plan(known_shapes("memory_plan", self, feeds))
        if plan is None:
            return None
        at_peak = [inspection.Stored(*value) for value in plan.pop("at_peak")]
        at_peak.sort(key=lambda value: -value.bytes)
        return inspection.MemoryPlan(**plan, at_peak=tuple(at_peak))

    def profile(self, /, *feeds, runs: int = 10, **by_label) -> Profile | None:
        """Runs the step `runs` times, after one that does not count, and returns the time, the arithmetic and the
        traffic of every kernel. Apple's framework gives None.

        feeds, by_label: as in a call. Every run makes the updates."""
        from alloy.graph.peaks import peaks_of  # it makes graphs, and graphs make executables

        runs = as_count("profile", "a number of runs", runs)
        self(*feeds, **by_label)
        arrays, by_label = as_feeds(self, feeds, by_label)
        times, kernels, total = [], [], np.zeros(1)
        for _ in range(runs):  # one by one: each has its time, and Ctrl-C ends the loop
            measured = self._profile(1, *arrays, **by_label)
            if measured is None:
                return None
            kernels = [Kernel(*kernel) for kernel in measured]
            taken = np.array([kernel.total for kernel in kernels])
            times.append(float(taken.sum()))
            total = total + taken
        kernels = [replace(kernel, total=float(taken)) for kernel, taken in zip(kernels, total)]
        return Profile(tuple(kernels), tuple(times), peaks_of(self.graph, kernels))

    def replay(self, /, *feeds, **by_label) -> None:
        """Computes a run's values on the device, and by the reference in double precision, and compares them op by op.
        Nothing is updated.

        feeds, by_label: as in a call, of one step if a run makes several. The reference takes seconds for a hundred
        million multiplications. Random numbers, ops with regions and what has more than 16 million elements do not
        count. DeviceError: an op differs by more than a thousandth (float32) of its result's size; the message names
        the first such op, and its line.

            step.replay(images, labels)"""
        Replay(self)(*as_feeds(self, feeds, by_label))

    def export(self, path, *feeds) -> None:
        """Writes the step into a file for al.load_executable, `alloy run` and MPSGraph programs: the graph that it
        needs, and its variables' values of one moment between two runs.

        feeds: arrays of a run or their shapes, in order, with None for extents that may vary; without feeds: the
        placeholders' shapes. Feeds and fetches are named like the tensors. The file appears complete or not at all; on
        a Mac it is a folder, for macOS 14 or newer.

        ValueError: an op cannot be exported for open shapes. OSError: the disk is full, the directory is missing,
        ..."""
        path = as_file_name("export", path)
        shapes = [as_shape(getattr(feed, "shape", feed), "export") for feed in feeds]
        told_of_file(OSError, path, lambda: self._write(path, shapes))

    def __repr__(self):
        changed = [update.variable for update in self.updates]
        updates = f", updates {_listed(changed)}" if changed else ""
        return f"<Executable of {_listed(self.feeds)}; gives {_listed(self.fetches)}{updates}>"


def _listed(tensors):
    shown = [f"{tensor.name or '(no name)'} {describe(tensor)}" for tensor in tensors[:_MOST]]
    more = f" and {len(tensors) - _MOST} more" if len(tensors) > _MOST else ""
    return (", ".join(shown) or "nothing") + more


def as_feeds(self, arrays, by_label):
    """Returns the arrays in order and those by name, of which a dict may be given."""
    # Arrays first: a step may take microseconds, and so does asking for a Mapping.
    if len(arrays) == 1 and not isinstance(arrays[0], np.ndarray) and isinstance(arrays[0], Mapping):
        return _from_dict(self, arrays[0], by_label)
    return arrays, by_label


def _from_dict(self, given, by_label):
    """Splits a dict into the arrays of the first placeholders, in order, and a dict of the other arrays by name."""
    feeds, arrays = self.feeds, dict(by_label)
    for key, array in given.items():
        names = [feed.name for feed in feeds]
        if key not in (feeds if isinstance(key, Tensor) else names):
            known = ", ".join(repr(feed.name or describe(feed)) for feed in feeds)
            near = meant(key, names) if isinstance(key, str) else ""
            raise mistake("executable", f"Expected feeds among {known} or their names, got {key!r}{near}")
        arrays[key] = array
    first = []
    for feed in feeds:
        keys = [key for key in (feed, feed.name) if key in arrays]
        if not keys:
            break
        first.append(arrays.pop(keys[0]))
    return first, {key.name if isinstance(key, Tensor) else key: array for key, array in arrays.items()}


def told_of_file(error, path, work):
    """Calls work(), and raises the framework's complaints about the file as that error."""
    try:
        return work()
    except DeviceError as failure:
        if not str(failure).startswith(f"[package] {path} "):
            raise
        raise error(str(failure)) from None
