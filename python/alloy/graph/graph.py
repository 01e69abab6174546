"""Graphs: placeholders, constants, variables, compilation."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from alloy import _core
from alloy._core import Executable, Op, Tensor, Update, Variable
from alloy.engine.arrays import as_count, as_extents, require_all
from alloy.engine.classes import Uncopied, completes
from alloy.engine.dtypes import elements
from alloy.engine.scope import claim, scoped
from alloy.graph.left_out import warn_of_left_out
from alloy.measuring import inspection
from alloy.messages.location import meant, mistake, user_location
from alloy.messages.names import missing_attribute, no_attribute
from alloy.messages.text import type_text
from alloy.ops.apply import as_sequence, as_tensor, require_tensor

_KEPT_RUNS = 8  # executables of Graph.run
# The engine's own, without checks.
_begin = _core.Graph.__init__
_in_flight: Any = _core.Graph.most_in_flight


@completes
class Graph(Uncopied, _core.Graph):
    """A computation and its variables.

    storage: the place of variables between runs, "variable" (the framework's own) or "buffers" (two arrays for each: a
    run reads one and writes the other, so that a failed run changes nothing). device: the kind of one of al.devices(),
    its kind and number ("cuda:1") or its name; "" is the first. precision: of matrix products, convolutions, attention,
    recurrent cells and their gradients; with "tf32", a device that is faster so may round their operands to 10 bits of
    mantissa. "float32" is exact. Sums are float32 in either case, and the CPU computes the same for both.

    Threads: any number of them may run, submit and compile steps of one graph and read and assign its variables at the
    same time; steps of a graph run one after the other. Ops and layers are added to a graph by one thread at a time.
    Graphs, and their tensors, variables and executables, cannot be copied or pickled."""

    def __init__(self, *, storage: str = "variable", device: str = "", precision: str = "float32") -> None:
        require_all("graph", "the storage 'variable' or 'buffers'", str, [storage])
        require_all("graph", "the kind or the name of a device", str, [device])
        require_all("graph", "the precision 'float32' or 'tf32'", str, [precision])
        _begin(self, storage=storage, device=device, precision=precision)

    def __enter__(self):
        raise mistake("graph", "A graph is not entered by with; g.placeholder and g.variable name it", TypeError)

    def __exit__(self, *error):
        """Exists because `with` looks it up before it calls __enter__, which raises."""

    @property
    def most_in_flight(self) -> int:
        """The number of submitted steps (Executable.submit) in flight at which the next one waits: at first 2, or 4 if
        the device's memory is not unified. ValueError: less than 1."""
        return _in_flight.fget(self)

    @most_in_flight.setter
    def most_in_flight(self, count) -> None:
        _in_flight.fset(self, as_count("most_in_flight", "a number of steps", count))

    def placeholder(self, shape, dtype="float32", name: str = "") -> Tensor:
        """Makes a tensor that each run is fed. None in the shape is an extent that may differ from run to run; None as
        the shape is an unknown rank."""
        shape = None if shape is None else as_extents("placeholder", shape)
        require_all("placeholder", "a name as a text", str, [name])
        return self._placeholder(shape, dtype, scoped(self, name, "placeholder"), user_location())

    def constant(self, value, name: str = "") -> Tensor:
        """Makes a tensor of fixed numbers: an array, a number or nested lists of them. float64 arrays are cast to
        float32."""
        require_all("constant", "a name as a text", str, [name])
        return self._constant("constant", value, None, scoped(self, name, "constant"), user_location())

    def variable(self, value, name: str = "", trainable: bool = True) -> Variable:
        """Makes a variable, which lives on the device, with this first value (as in constant). Optimizers skip
        variables that are not trainable, unless minimize is given them."""
        require_all("variable", "a name as a text", str, [name])
        if isinstance(value, tuple) and trainable and value and all(isinstance(extent, int) for extent in value):
            raise mistake(
                "variable",
                f"Expected a value, got {value}, which looks like a shape; al.init.zeros({value}) is a value of that "
                "shape, a list of integers a value of these integers",
                TypeError,
            )
        made = self._variable(value, scoped(self, name, "variable"), user_location())
        made.trainable = trainable
        claim(self, made.name)
        return made

    def assign(self, variable: Variable, value) -> Update:
        """Makes an update for compile: each run writes the value (a tensor, number or array of the variable's shape and
        dtype) into the variable, after everything else in the run has read it."""
        require_all("assign", "a variable", Variable, [variable])
        tensor = as_tensor(self, "assign", value, variable.dtype)
        return self._assign(variable, tensor, user_location())

    def read_variables(self, variables) -> list[np.ndarray]:
        """Returns copies of the values of some variables, all of one moment between two runs, in one dispatch.
        DeviceError: the device failed."""
        return self._read_variables(_variables_of("read_variables", variables))

    def assign_variables(self, variables, values) -> None:
        """Sets some variables to values, one each, all at one moment between two runs, in one dispatch. ValueError or
        TypeError, before any is set: another shape or dtype."""
        given = as_sequence("assign_variables", "values", values)
        self._assign_variables(_variables_of("assign_variables", variables), given)

    def compile(self, feeds=(), fetches=(), updates=(), *, steps=None) -> Executable:
        """Makes a callable that takes the feeds' arrays in order, returns the fetched arrays and makes the updates.

        steps: the number of steps in one dispatch. Every array then has one more axis, the first, with an entry for
        each step; a step reads the variables that the step before updated. The results equal those of as many calls.

        Nothing is recompiled as long as the feeds keep their shapes. `bind` may give the array of a needed placeholder
        that is not among the feeds; else a call raises. A step that trains a model also needs model.updates, such as
        moving averages: a UserWarning names those that are left out. ValueError: a fetch, an update or a feed belongs
        to another graph, or two updates write one variable."""
        feeds, _, fetches, updates = _request("compile", feeds, fetches, updates)
        steps = None if steps is None else as_count("compile", "a number of steps", steps)
        warn_of_left_out(self, fetches, updates)
        return self._compile(feeds, fetches, updates, steps)

    def run(self, fetches, feeds=None) -> Any:
        """Computes the values of tensors once, and changes nothing. Returns an array for one tensor, a list of arrays
        for several.

        feeds: a dict of arrays by placeholder, or by the name of one. To run again and again, or to update variables,
        use compile; the graph keeps the executables of the last 8 different runs. ValueError or TypeError: a
        placeholder is missing, or an array does not fit."""
        given = {} if feeds is None else feeds
        require_all("run", "feeds as a dict of arrays", Mapping, [given])
        tensors = [fetches] if isinstance(fetches, Tensor) else as_sequence("run", "tensors to fetch", fetches)
        require_all("run", "tensors to fetch", Tensor, tensors)
        arrays = {_placeholder_of(self, key): array for key, array in given.items()}
        key = (tuple(tensors), tuple(arrays))
        kept: dict = vars(self).setdefault("_runs", {})
        step = kept.pop(key, None) or self._compile(list(arrays), tensors, [], None)
        results = step(*arrays.values())
        kept[key] = step
        for old in list(kept)[:-_KEPT_RUNS]:
            kept.pop(old, None)
        return results[0] if isinstance(fetches, Tensor) else results

    def verify(self, feeds=(), fetches=(), updates=()) -> None:
        """Raises a ValueError, with a line for each mistake, if a step of these feeds, fetches and updates cannot run:
        it needs a placeholder that is not among the feeds, shapes or dtypes do not fit each other, or a variable does
        not start with numbers (a trainable one: with finite ones).

        feeds: the placeholders to feed, or a dict that gives each its shape, with None for unknown extents: verify({x:
        (32, 8, 8, 1), y: None}, [loss]) checks batches of 32. Without fetches and updates it checks the whole graph."""
        mistakes = self._verify(*_request("verify", feeds, fetches, updates))
        if mistakes:
            raise ValueError("\n".join(mistakes))

    def inspect(self, feeds=(), fetches=(), updates=()) -> list[Op]:
        """Returns the ops that fetches and updates need (without them: all ops), in an order of execution.

        feeds: as in verify; a placeholder that is not fed keeps its shape. ValueError: a shape does not fit."""
        return self._inspect(*_request("inspect", feeds, fetches, updates))

    def stages(self, fetches=(), updates=()) -> list[list[Op]]:
        """Returns the ops that fetches and updates need (without them: all ops) in stages: each op in the first stage
        after those that compute its operands."""
        return [list(stage) for _, stage in groupby(self.inspect((), fetches, updates), lambda op: op.stage)]

    def describe(self, feeds=(), fetches=(), updates=()) -> str:
        """Returns the findings of inspect as text: placeholders, variables, parameters, the number of ops of each kind,
        and their cost."""
        return inspection.describe(self.inspect(feeds, fetches, updates))

    def __setattr__(self, name, value):
        settable = name.startswith("_") or getattr(getattr(Graph, name, None), "fset", None)
        if not settable:
            raise no_attribute(self, name, "A Graph", setting=True)
        object.__setattr__(self, name, value)

    __getattr__ = missing_attribute

    def __repr__(self):
        try:
            ops = self.inspect()
        except TypeError:
            return "<Graph whose __init__ was not called>"
        count = sum(op.kind == "placeholder" for op in ops)
        variables = self.variables
        parameters = elements([variable for variable in variables if variable.trainable])
        holds = f"{count} placeholders, {len(variables)} variables with {parameters:,} parameters"
        return f"<Graph of {len(ops)} ops: {holds}>"


def _variables_of(op, given):
    variables = as_sequence(op, "variables", given)
    require_all(op, "variables", Variable, variables)
    return variables


def _request(op, feeds, fetches, updates):
    """Returns (placeholders, the shape of each, fetches, updates)."""
    shapes = feeds if isinstance(feeds, Mapping) else {}
    feeds, fetches = as_sequence(op, "feeds", feeds), as_sequence(op, "fetches", fetches)
    if isinstance(updates, Update):
        raise mistake(op, f"Expected a list of updates, got {updates!r}; write [it]", TypeError)
    updates = as_sequence(op, "updates", updates)
    require_all(op, "tensors to feed and fetch", Tensor, feeds + fetches)
    require_all(op, "updates", Update, updates)
    given = [shapes.get(feed) for feed in feeds]
    return (feeds, [feed.shape if shape is None else shape for feed, shape in zip(feeds, given)], fetches, updates)


def _placeholder_of(graph, key) -> Tensor:
    """Returns the placeholder, given itself or by its name."""
    if isinstance(key, Tensor):
        return key
    found = [op.results[0] for op in graph.inspect() if op.kind == "placeholder"]
    named = [placeholder for placeholder in found if key and placeholder.name == key]
    if len(named) != 1:
        known = ", ".join(repr(one.name or type_text(one.dtype, one.shape)) for one in found) or "none"
        near = meant(key, [placeholder.name for placeholder in found]) if isinstance(key, str) else ""
        raise mistake("run", f"Expected a placeholder or the name of one among {known}, got {key!r}{near}")
    return named[0]


def gradients(loss: Tensor, tensors) -> list[Tensor]:
    """Returns the derivative of the loss (of the sum of its elements) with respect to each tensor of a list, in that
    tensor's shape. It is zero if the loss does not depend on the tensor. ValueError: an op on the way has no
    gradient."""
    require_tensor("gradients", loss)
    tensors = as_sequence("gradients", "tensors", tensors)
    require_all("gradients", "tensors", Tensor, tensors)
    return loss.graph.gradients(loss, tensors, user_location())
