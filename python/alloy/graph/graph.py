"""The user's side of a graph: placeholders, constants, variables, compilation. The graph itself is the
engine's; here every call gets its default values and the line of the user's code that made it."""

from collections.abc import Mapping
from itertools import groupby

from alloy._core import Executable, Graph, Op, Tensor, Update, Variable
from alloy.graph import inspection
from alloy.graph.apply import as_tensor, require_all, require_tensor
from alloy.graph.arrays import as_count
from alloy.graph.engine import method_of
from alloy.graph.location import user_location
from alloy.graph.scope import scoped


@method_of(Graph)
def placeholder(self, shape, dtype="float32", name: str = "") -> Tensor:
    """A tensor that each run is given. None in the shape is a dimension that may differ from run to run."""
    return self._placeholder(shape, dtype, scoped(self, name, "placeholder"), user_location())


@method_of(Graph)
def constant(self, value, name: str = "") -> Tensor:
    """A tensor of fixed numbers: an array, a number or nested lists of them. float64 arrays are cast to
    float32."""
    return self._constant("constant", value, None, scoped(self, name, "constant"), user_location())


@method_of(Graph)
def variable(self, value, name: str = "", trainable: bool = True) -> Variable:
    """State that lives on the device, with the value (as of constant) that it has at first. Optimizers
    leave alone what is not trainable, unless it is among the variables that they are given."""
    made = self._variable(value, scoped(self, name, "variable"), user_location())
    made.trainable = trainable
    return made


@method_of(Graph)
def assign(self, variable: Variable, value) -> Update:
    """An update for compile: each run writes the value (a tensor, number or array of the variable's shape and
    dtype) into the variable, after everything else in the run has read it."""
    require_all("assign", "a variable", Variable, [variable])
    tensor = as_tensor(self, "assign", value, variable.dtype)
    return self._assign(variable, tensor, user_location())


@method_of(Graph)
def compile(self, feeds=(), fetches=(), updates=(), *, steps=None) -> Executable:
    """A callable of the feeds' arrays, in their order, that returns the fetched arrays and makes the updates.

    steps: of so many steps in one dispatch. Then every array has one more axis, the first, with an entry for each step;
    a step reads what the step before has updated. The results are those of as many calls.

    Nothing is recompiled as long as the feeds keep their shapes. ValueError where a fetch, an update or a feed
    belongs to another graph, or two updates write one variable."""
    feeds, _, fetches, updates = _request("compile", feeds, fetches, updates)
    steps = None if steps is None else as_count("compile", "a number of steps", steps)
    return self._compile(feeds, fetches, updates, steps)


@method_of(Graph)
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


@method_of(Graph)
def inspect(self, feeds=(), fetches=(), updates=()) -> list[Op]:
    """The ops that fetches and updates need (the whole graph's without them), in an order of execution.

    feeds: as for verify; a placeholder that is not fed keeps its shape. ValueError: a shape does not fit."""
    return self._inspect(*_request("inspect", feeds, fetches, updates))


@method_of(Graph)
def stages(self, fetches=(), updates=()) -> list[list[Op]]:
    """The ops that fetches and updates need (the whole graph's without them), in stages: each op in the first
    one where everything it needs was computed in stages before."""
    return [list(stage) for _, stage in groupby(self.inspect((), fetches, updates), lambda op: op.stage)]


@method_of(Graph)
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
    return (feeds, [feed.shape if shape is None else shape for feed, shape in zip(feeds, given)], fetches, updates)


def gradients(loss: Tensor, tensors) -> list[Tensor]:
    """The derivatives of the loss (of the sum of its elements) to each tensor, each of that tensor's shape.

    The gradient of a tensor that the loss does not depend on is zero. ValueError where an op on the way has
    none."""
    require_tensor("gradients", loss)
    tensors = list(tensors)
    require_all("gradients", "tensors", Tensor, tensors)
    return loss.graph.gradients(loss, tensors, user_location())
