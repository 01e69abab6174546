"""The user's side of a graph: placeholders, constants, variables, compilation. The graph itself is the
engine's; here every call gets its default values and the line of the user's code that made it."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

import numpy as np

from alloy import inspection
from alloy._core import Executable, Graph, Op, Submission, Tensor, Update, Variable, WeakVariable
from alloy.apply import as_tensor, require_all, require_tensor
from alloy.arrays import as_array, as_count, as_shape
from alloy.dtypes import dtype_name
from alloy.location import mistake, user_location
from alloy.profile import Kernel, Profile
from alloy.scope import scoped
from alloy.staging import Staging

__all__ = ["Executable", "Graph", "Op", "Submission", "Tensor", "Update", "Variable", "gradients"]


def _sealed(self, name, value):
    raise AttributeError(f"[{type(self).__name__.lower()}] There is no attribute {name} to set")


def _uncopied(self, *protocol):
    raise TypeError(f"cannot pickle or copy {type(self).__name__} objects: save values with al.save")


for _class in (Executable, Op, Submission, Update, WeakVariable):
    _class.__setattr__ = _sealed
for _class in (Executable, Graph, Op, Submission, Tensor, Update, WeakVariable):
    _class.__reduce__ = _class.__reduce_ex__ = _uncopied


def _method(function):
    setattr(Graph, function.__name__, function)


@_method
def placeholder(self, shape, dtype="float32", name: str = "") -> Tensor:
    """A tensor that each run is given. None in the shape is a dimension that may differ from run to run."""
    return self._placeholder(
        as_shape("placeholder", shape),
        dtype_name("placeholder", dtype),
        scoped(self, name, "placeholder"),
        user_location(),
    )


@_method
def constant(self, value, name: str = "") -> Tensor:
    """A tensor of fixed numbers: an array, a number or nested lists of them. float64 arrays are cast to
    float32."""
    return self._constant(as_array("constant", value), scoped(self, name, "constant"), user_location())


@_method
def variable(self, value, name: str = "", trainable: bool = True) -> Variable:
    """State that lives on the device, with the value (as of constant) that it has at first. Optimizers
    leave alone what is not trainable, unless it is among the variables that they are given."""
    made = self._variable(as_array("variable", value), scoped(self, name, "variable"), user_location())
    made.trainable = trainable
    return made


@_method
def assign(self, variable: Variable, value) -> Update:
    """An update for compile: each run writes the value (a tensor, number or array of the variable's shape and
    dtype) into the variable, after everything else in the run has read it."""
    require_all("assign", "a variable", Variable, [variable])
    tensor = as_tensor(self, "assign", value, variable.dtype)
    return self._assign(variable, tensor, user_location())


@_method
def compile(self, feeds=(), fetches=(), updates=()) -> Executable:
    """A callable of the feeds' arrays, in their order, that returns the fetched arrays and makes the updates.

    Nothing is recompiled as long as the feeds keep their shapes. ValueError where a fetch, an update or a feed
    belongs to another graph, or two updates write one variable."""
    feeds, _, fetches, updates = _request("compile", feeds, fetches, updates)
    return self._compile(feeds, fetches, updates)


@_method
def verify(self, feeds=(), fetches=(), updates=()) -> None:
    """ValueError, with a line for each mistake, where a step of these feeds, fetches and updates cannot run:
    it needs a placeholder that is not among the feeds, shapes or dtypes do not fit each other somewhere, or a
    variable does not start with numbers (a trainable one: with finite ones).

    feeds: the placeholders to feed, or a dict that gives each the shape that it is to be fed, with None for
    what is not known: verify({x: (32, 8, 8, 1), y: None}, [loss]) asks whether batches of 32 fit. Without
    fetches and updates the whole graph is looked at."""
    mistakes = self._verify(*_request("verify", feeds, fetches, updates))
    if mistakes:
        raise ValueError("\n".join(mistakes))


@_method
def inspect(self, feeds=(), fetches=(), updates=()) -> list[Op]:
    """The ops that fetches and updates need (the whole graph's without them), in an order of execution.

    feeds: as for verify; a placeholder that is not fed keeps its shape. ValueError: a shape does not fit."""
    return self._inspect(*_request("inspect", feeds, fetches, updates))


@_method
def stages(self, fetches=(), updates=()) -> list[list[Op]]:
    """The ops that fetches and updates need (the whole graph's without them), in stages: each op in the first
    one where everything it needs was computed in stages before."""
    return [list(stage) for _, stage in groupby(self.inspect((), fetches, updates), lambda op: op.stage)]


@_method
def describe(self, feeds=(), fetches=(), updates=()) -> str:
    """What inspect finds, as a text for people: placeholders, variables, parameters, how many ops of which
    kind, and what they cost."""
    return inspection.describe(self.inspect(feeds, fetches, updates))


def _request(op, feeds, fetches, updates):
    """(placeholders, the shape of each, fetches, updates)"""
    shapes = feeds if isinstance(feeds, Mapping) else {}
    feeds, fetches, updates = list(feeds), list(fetches), list(updates)
    require_all(op, "tensors to feed and fetch", Tensor, feeds + fetches)
    require_all(op, "updates", Update, updates)
    given = [shapes.get(feed) for feed in feeds]
    return (
        feeds,
        [feed.shape if shape is None else as_shape(op, shape) for feed, shape in zip(feeds, given)],
        fetches,
        updates,
    )


def submit(self, *arrays, **by_label) -> Submission:
    """Starts the step, as a call does, and returns before it is done: the sequence of its fetches, which waits for them
    when it is read.

    Meanwhile the next batch can be prepared. The arrays are copied first and may be changed at once (without that copy:
    staging). Steps of a graph run one after the other; where graph.most_in_flight of them (2 at first) are not done
    yet, the call waits for the oldest. A graph with storage="buffers" has one in flight.

    DeviceError: a step before failed on the device, and nobody has been told yet. When the fetches are read: this
    one failed, or one that was in flight before it."""
    return self._submit(False, *arrays, **by_label)


def staging(self, *shapes) -> Staging:
    """Memory that steps in flight read where it lies, in turns: see Staging.

    shapes: of the feeds, in order; none of them where the placeholders' shapes are known. ValueError: a shape is not
    known in full."""
    return Staging(self, shapes)


def memory_plan(self, *feeds) -> inspection.MemoryPlan | None:
    """The bytes that a run of these feeds takes; the step is compiled for them. None where the framework does
    not tell (Apple's does not).

    feeds: the arrays of a run or their shapes, in order; none of them where the placeholders' shapes are
    known. ValueError: a shape is not known in full, or does not fit."""
    shapes = [as_shape("memory_plan", getattr(feed, "shape", feed)) for feed in feeds or self.feeds]
    if len(shapes) != len(self.feeds) or any(shape is None or None in shape for shape in shapes):
        expected = f"the known shapes of {len(self.feeds)} feeds"
        raise mistake("memory_plan", f"Expected {expected}, got {shapes}", act="called")
    plan = self._memory_plan(shapes)
    if plan is None:
        return None
    at_peak = [inspection.Stored(*value) for value in plan.pop("at_peak")]
    at_peak.sort(key=lambda value: -value.bytes)
    return inspection.MemoryPlan(**plan, at_peak=tuple(at_peak))


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


Executable.submit = submit
Executable.staging = staging
Executable.memory_plan = memory_plan
Executable.profile = profile


def gradients(loss: Tensor, tensors) -> list[Tensor]:
    """The derivatives of the loss (of the sum of its elements) to each tensor, each of that tensor's shape.

    The gradient of a tensor that the loss does not depend on is zero. ValueError where an op on the way has
    none."""
    require_tensor("gradients", loss)
    tensors = list(tensors)
    require_all("gradients", "tensors", Tensor, tensors)
    return loss.graph.gradients(loss, tensors, user_location())
