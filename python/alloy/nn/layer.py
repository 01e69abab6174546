"""The base class of layers.

A layer is a function of tensors, `layer(x)`, that makes its variables at its first call:

1. `__new__` keeps the constructor's arguments, for repr, and sets what every layer has.
2. `__call__` opens a scope (alloy.engine.scope) with the layer's path and a `Call`. The scope gives ops and variables
   their names, messages the path of the layer, and the layers inside the seed, the path and `training`.
3. In the first call `build` makes the variables, in x's graph; a copy makes them of its stored values. If that call
   fails, every layer that it reached is as before.
4. `forward` computes the result. In a training step it may `leave` a variable a value; `updates` are these.
5. The Call stays as `_last`, and of a training step as `_trained`: summaries and the Trainer ask them.

A layer keeps its own variables in `_variables` (those of add_variable) and in attributes, and other layers in `layers`
and in attributes. `_tree` walks over all of them at each use, so that a model may be changed after it was called.
`__getattr__` finds a variable by the end of its name, and `__setattr__` keeps it from being hidden."""

import copy
import inspect
import math
import zlib
from collections.abc import Callable
from contextlib import contextmanager, suppress
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from alloy import random
from alloy.engine.arrays import as_count, require_all
from alloy.engine.dtypes import float32, is_half, is_integer
from alloy.engine.scope import free_path, is_scoped, scope, scoped
from alloy.engine.structure import leaves
from alloy.graph import Graph, Tensor, Update, Variable
from alloy.graph.left_out import training_calls
from alloy.messages.location import layer_at_work, meant, mistake
from alloy.messages.names import missing_attribute, no_attribute, one_of
from alloy.messages.text import describe
from alloy.nn.arguments import written
from alloy.nn.operands import graph_of, require_tensors
from alloy.nn.settings import settings
from alloy.nn.stored import StoredVariable, replaced, stored
from alloy.nn.summary import inputs, summary
from alloy.ops import cast
from alloy.ops.apply import require_tensor


class Call:
    """One call of a layer."""

    def __init__(self, layer: "Layer", x, training: bool, operands: dict, around: "Call | None"):
        self.layer, self.x, self.training, self.operands = layer, x, training, operands
        self.around = around  # the call whose forward makes this one, while that runs
        self.step = around.step if around else object()  # the same for all calls within one of the outermost layer
        self.results: list = []  # the leaves of forward's result
        before = layer._trained if training else layer._last
        here = before is not None and before.step is self.step
        self.updates: dict[Variable, Update] = before.updates if here else {}  # of the layer in this step
        self.drawn: Tensor | None = before.drawn if here else None  # the random state after a draw outside of training


def _running() -> Call | None:
    """Returns the innermost call that runs."""
    found = layer_at_work()
    return found.call if found else None


def _is_known(call: Call) -> bool:
    """Tells whether the layer is outermost, or inside the one that calls it or inside the outermost one."""
    outer = call
    while outer.around is not None:
        outer = outer.around
    return call.around is None or call.layer in call.around.layer._inner() or call.layer in outer.layer._tree()


class Layer:
    """A subclass defines forward(x, training), and build(x) if it makes variables. Give inner layers to Layer.__init__,
    or keep them in attributes, in lists, tuples and dicts too, as you may keep variables.

    x and forward's result are tensors, or tuples, lists or dicts of tensors, however deep. Give a call forward's other
    operands by name.

    After the first call, the layer's own variables are attributes by the last part of their names: dense.weights,
    dense.bias. A copy (copy, copy.deepcopy, pickle) has the layers and the values; its first call, in any graph, makes
    its variables.

    seed: of the initial values; None is the seed of the layer around this one, else 0. name: part of the names of its
    ops and variables (alloy.engine.scope); None is the attribute that keeps the layer ("head", "blocks/0"), else its
    class and a number; an outermost layer made only of layers has no name."""

    def __new__(cls, *arguments, **options):
        self = super().__new__(cls)
        vars(self).update(layers=[], seed=None, name=None, **_uncalled())
        vars(self)["_given"] = arguments, options
        vars(self)["_frozen"] = None  # or, if not trainable, the variables to train when it is again
        vars(self)["_stored"] = None  # a copy's attributes until its first call, with StoredVariables
        return self

    def __init__(self, *layers: "Layer", seed: int | None = None, name: str | None = None):
        _require_layers(self, layers)
        self.layers = list(layers)
        self.seed = None if seed is None else as_count(self, "a seed", seed, least=0, most=math.inf)
        self.name = name

    def __getattr__(self, name) -> Any:
        variable = None if name.startswith("_") else self._variable(name)
        if variable is not None:
            return variable
        if name.startswith("_") or self.graph is not None:
            missing_attribute(self, name)
        raise no_attribute(self, name, f"{one_of(type(self))} that has not been called")

    def _variable(self, part: str) -> Variable | None:
        """Returns the layer's own variable of that name."""
        within = f"{self._path}/" if self._path else ""
        return next((one for one in self._variables if one.name == within + part), None)

    def __setattr__(self, name, value):
        own = self._variable(name) if name not in vars(self) else None
        if own is not None and own is not value:
            expected = f"Expected {name} to stay the layer's variable; layer.{name}.assign(array) sets its value"
            raise mistake(self, expected, TypeError)
        like = not name.startswith("_") and name != "trainable" and meant(name, ["trainable"], cutoff=0.88)
        if like or name == "requires_grad":
            raise no_attribute(self, name, one_of(type(self)), setting=True)
        if name == "training" and isinstance(value, bool):
            hint = f"{one_of(type(self))} has no attribute training to set; a call says it: layer(x, training={value})"
            raise mistake(self, hint, AttributeError)
        object.__setattr__(self, name, value)

    def __getstate__(self):
        if self.graph is None:
            return vars(self).copy()
        found = stored(self._tree())
        kept: dict[str, Any] = {"": list(found.values())}  # alive until the layers in it have asked for theirs
        state = {name: value for name, value in vars(self).items() if not _is_of_a_call(value)}
        for name, value in list(state.items()):
            if (without := replaced(value, Variable, found.__getitem__)) is not value:
                kept[name] = without
                del state[name]
        return state | _uncalled() | {"_stored": kept, "_frozen": None if self.trainable else []}

    def copy(self) -> "Layer":
        """Returns copy.deepcopy(layer): a layer with variables of its own, which start with the present values."""
        return copy.deepcopy(self)

    __copy__ = copy

    def __repr__(self):
        return written(self)

    # ---- layers and variables inside ----

    def _kept(self) -> list[tuple[str, "Layer | Variable"]]:
        """Returns the layers and variables in a subclass's attributes, with their paths."""
        found, seen = [], set()
        pending = [(name.lstrip("_"), value) for name, value in reversed(vars(self).items()) if name not in _OWN]
        while pending:
            path, value = pending.pop()
            if isinstance(value, (Layer, Variable)):
                found.append((path, value))
            elif isinstance(value, (list, tuple, dict)) and id(value) not in seen:
                seen.add(id(value))
                items = value.items() if isinstance(value, dict) else enumerate(value)
                pending += reversed([(f"{path}/{key}", item) for key, item in items if isinstance(item, _MAY_HOLD)])
            elif isinstance(value, (set, frozenset)) and any(isinstance(item, (Layer, Variable)) for item in value):
                expected = "Expected layers in a list, tuple or dict, got a set, which has no order"
                raise mistake(self, f"{expected}, as {path}")
        return found

    def _inner(self) -> dict["Layer", str | None]:
        """Returns the inner layers, each with its attribute's path, or None if it was given to __init__."""
        _require_layers(self, self.layers)
        inner = dict.fromkeys(self.layers)
        for path, item in self._kept():
            if isinstance(item, Layer):
                inner.setdefault(item, path)
        return inner

    def _tree(self, around=()):
        """Yields the layer and the layers in it, however deep."""
        if self in around:
            raise mistake(
                self,
                f"Expected layers that are not inside themselves, got a {type(self).__name__} "
                "that a layer in it keeps in an attribute; keep a weakref.ref there",
            )
        yield self
        for layer in self._inner():
            yield from layer._tree((*around, self))

    def _own(self) -> list[Variable]:
        kept = (item for _, item in self._kept() if isinstance(item, Variable))
        return list(dict.fromkeys([*self._variables, *kept]))

    @property
    def variables(self) -> list[Variable]:
        """The layer's own variables in the order of creation, then its layers' variables, each once; empty before the
        first call."""
        return list(dict.fromkeys(variable for layer in self._tree() for variable in layer._own()))

    @property
    def trainable(self) -> bool:
        """True if optimizers update the layer's variables. Setting it sets the layers inside as well, before or after
        the first call, for steps that are made later. Moving averages are never trainable. A layer that is added later
        keeps its own setting."""
        return self._frozen is None

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for layer in self._tree():
            layer._freeze(not trainable)

    def _freeze(self, frozen):
        """Makes the layer's own variables untrainable, or those of them that were trainable trainable again."""
        before = self._frozen or []
        if frozen:
            before = [*before, *(variable for variable in self._own() if variable.trainable)]
        for variable in before:
            variable.trainable = not frozen
        self._frozen = before if frozen else None

    # ---- calls ----

    def __call__(self, x, training: bool | None = None, **operands) -> Any:
        """Returns forward's result. The first call makes the variables in x's graph; later calls use them. operands:
        forward's other parameters.

        training: None takes it from the layer whose forward makes the call, as in Keras; outside of one it is False.

        ValueError: x belongs to another graph than in the first call. Errors from forward name the layer. A first call
        that fails leaves the layer uncalled."""
        around = _running()
        if training is None:
            training = around is not None and around.training
        self._require_call(x, training, operands)
        graph = graph_of(self, x, operands)
        if self.graph is not None and self.graph is not graph:
            expected = "a tensor of the first call's graph"
            raise mistake(self, f"Expected {expected}, got {describe(leaves(x)[0])} of another graph")
        call = Call(self, x, bool(training), operands, around)
        with self._whole():
            if self.graph is None:
                self._path = self._new_path(graph)
            with scope(graph, self._path, call):
                if self.graph is None:
                    self._begin(x, graph, call)
                for layer, path in self._inner().items():
                    if layer.graph is None:
                        layer.seed = self.seed if layer.seed is None else layer.seed
                        layer.name = path if layer.name is None else layer.name
                if training:
                    self._trained = call
                y = self.forward(x, training, **operands)
                require_tensors(self, y, " from forward")
        call.around, call.results, self._last = None, leaves(y), call
        if around is None:
            for layer in self._tree():
                layer._stored = layer._stored if layer.graph is None else None
            if training:
                training_calls(graph).add(self)
        return y

    def _require_call(self, x, training, operands):
        parameters = inspect.signature(self.forward)
        if not isinstance(training, (bool, int, np.bool_)):
            others = [f"{name}=..." for name in list(parameters.parameters)[2:]]
            hint = (
                f"the other operands have names: {', '.join(others)}"
                if others
                else "several inputs are one tuple, list or dict"
            )
            expected = f"Expected training as True or False, got {type(training).__name__}"
            raise mistake(self, f"{expected}; {hint}", TypeError)
        try:
            parameters.bind(x, training, **operands)
        except TypeError as error:
            given = ", ".join(["x", "training", *(f"{name}=..." for name in operands)])
            said = f"The call ({given}) does not fit forward{parameters}: {error}"
            raise mistake(self, said, TypeError) from None

    @contextmanager
    def _whole(self):
        """Resets the layers that have not been called if their first call fails, and adds the layer's path to the
        error. New variables stay in the graph, untrained."""
        uncalled = {layer: layer._own() for layer in self._tree() if layer.graph is None}
        try:
            yield
        except BaseException as error:
            _note_layer(error, self._path)
            for layer, before in uncalled.items():
                layer._forget(before)
            raise

    def _forget(self, before):
        """Resets the layer to its state before the first call, when it had the variables `before`."""
        for variable in self._own():
            if variable not in before:
                variable.trainable = False
        if self._frozen is not None:
            self._frozen = [variable for variable in self._frozen if variable in before]
        vars(self).update(_uncalled())
        for one in (self._stored or {}).get("", ()):
            one.made = None

    def _begin(self, x, graph, call):
        """Makes the variables."""
        frozen = not self.trainable
        if self._stored is None:
            before = set(self._tree())
            self.build(x)
            for made in set(self._tree()) - before if frozen else ():
                made.trainable = False
        else:
            for name, value in self._stored.items():
                if name:
                    vars(self)[name] = replaced(value, StoredVariable, lambda one: one.variable(graph))
        self._freeze(frozen)
        self.graph = graph
        if self._own() and not _is_known(call):
            around, kind = type(call.around.layer).__name__, type(self).__name__
            expected = f"Expected a layer that {around} keeps in an attribute, made in its __init__"
            given = f"a {kind} that it does not know, with variables that would not be trained"
            raise mistake(kind, f"{expected}, got {given}")

    def _new_path(self, graph: Graph) -> str:
        made_of_layers = self._inner() and type(self).build is Layer.build
        if not is_scoped(graph) and self.name is None and made_of_layers:
            return ""
        return free_path(graph, self.name, type(self).__name__.lower())

    def build(self, x) -> None:
        """Makes the variables, for inputs like x."""

    def forward(self, x, training: bool) -> Any:
        raise mistake(self, f"Expected a method forward(self, x, training) of {type(self).__name__}, got none")

    def summary(self, input_shape=None, dtype="float32") -> None:
        """Prints a table of the layers: the shapes of their last results, and their parameters.

        input_shape: an example's shape, without the batch, for a model that has not been called; for several inputs a
        list or dict of shapes. The model is called with placeholders of that shape and the dtype, in model.graph or a
        new graph. ValueError: the model has not been called, and no shape is given."""
        if input_shape is not None:
            self(inputs(self.graph or Graph(), input_shape, dtype))
        print(summary(self))

    # ---- for build and forward ----

    def add_variable(self, graph: Graph, part: str, initial, trainable: bool = True) -> Variable:
        """Makes and returns a variable of the layer, with the value initial(seed), seed a list of integers. part: the
        end of its name, "weights" for "dense_0/weights". Call it in build, which runs once."""
        require_all(self, "the graph of the variable, x.graph", Graph, [graph])
        require_all(self, "a function of a seed that gives the initial value", Callable, [initial])
        if self.graph is not None:
            expected = f"the variable {part} to be made in build, which is called once"
            raise mistake(self, f"Expected {expected}, got it later")
        self._variables.append(graph.variable(initial(self._seed_of(graph, part)), part, trainable))
        return self._variables[-1]

    def _seed_of(self, graph: Graph, part: str) -> list[int]:
        """Returns a seed that depends on the name, so that layers of one shape do not start alike."""
        return [self.seed or 0, zlib.crc32(scoped(graph, part).encode())]

    @property
    def updates(self) -> list[Update]:
        """The most recent training call's updates of other variables than trainable ones, such as moving averages, in
        the layers' order. Compile them into the training step."""
        trained = [layer._trained for layer in self._tree() if layer._trained is not None]
        return list(dict.fromkeys(update for call in trained for update in call.updates.values()))

    def now(self, variable: Variable) -> Tensor:
        """Returns the variable's value within a training step, after the layer's earlier calls in the model."""
        updates = self._running("now").updates
        return updates[variable].value if variable in updates else variable

    def leave(self, variable: Variable, value: Tensor) -> None:
        """Assigns the value to the variable at the end of a training step: one of the layer's updates."""
        self._running("leave").updates[variable] = variable.graph.assign(variable, value)

    def random(self, draw, *operands, **options) -> Tensor:
        """Draws random numbers in forward: self.random(al.random.normal, x) draws Gaussian ones of x's shape. draw: a
        function of al.random, which is called with a state, the operands and the options.

        The first draw makes the state, a variable of the layer. Every training step, and every place where the model
        calls the layer, draws other numbers; a resumed training goes on with them. Outside training every call draws
        the same numbers, which the next training step would draw, and the state stays."""
        call, state = self._running("random"), self._random_state(self.graph)
        before = self.now(state) if call.training else state if call.drawn is None else call.drawn
        if (rank := settings().rank) is None:
            numbers, following = draw(before, *operands, **options)
        else:  # with a key of this process, and to a state of all, although they may draw different counts of numbers
            key, step = np.zeros((2, *state.shape), np.int32)
            key[-1], step[3] = rank, 1  # step: of the counter's upper half
            numbers, _ = draw(before + key, *operands, **options)
            following = before + step
        if call.training:
            self.leave(state, following)
        else:
            call.drawn = following
        return numbers

    def _random_state(self, graph: Graph) -> Variable:
        """Returns the layer's random state, made when first asked for."""
        state = self._variable("state")
        if state is None or not is_integer(state.dtype):
            seed = np.random.SeedSequence(self._seed_of(graph, "state"))
            state = graph.variable(random.state(int(seed.generate_state(1)[0])), "state", trainable=False)
            self._variables.append(state)
        return state

    def _running(self, what: str) -> Call:
        """Returns the layer's call whose forward runs."""
        call = _running()
        while call is not None and call.layer is not self:
            call = call.around
        if call is None or self.graph is None:
            raise mistake(self, f"Expected {what} in a layer's forward, got it outside of one")
        return call

    @property
    def example_mask(self) -> Tensor | None:
        """float32 (n,): 1 for each example of the batch, 0 for padding; None if there is no padding.

        A Trainer with last_batch="pad" sets it in training steps. A forward that mixes examples, as BatchNorm's does,
        leaves the padding out."""
        return settings().mask

    def in_type_of(self, x: Tensor, variables: list[Variable]) -> list[Tensor]:
        """Returns the variables cast to x's type if that is float16 or bfloat16, in which the layer then computes.
        Optimizers update the variables in float32."""
        return [cast(variable, x.dtype) if is_half(x.dtype) else variable for variable in variables]

    def known_features(self, x: Tensor, rank: int | None = None) -> int:
        """Returns the extent of x's last axis. ValueError: it is not known, or x has another rank (None: 2 or more)."""
        require_tensor(self, x)
        shape = list(x.shape or ())
        if not (len(shape) == rank if rank else len(shape) >= 2) or shape[-1] is None:
            expected = f"rank {rank}" if rank else "rank 2 or more"
            raise mistake(self, f"Expected a tensor of {expected} with a known last dimension, got {describe(x)}")
        return shape[-1]

    def require_floats(self, x) -> None:
        """Raises TypeError if x is no tensor of floats."""
        require_tensor(self, x)
        if x.dtype != float32 and not is_half(x.dtype):
            expected = f'a tensor of floats, got {describe(x)}; al.cast(x, "float32") makes one'
            raise mistake(self, f"Expected {expected}", TypeError)


def form_of(layer: Layer) -> tuple:
    """Returns a key that changes when layers are added or removed, or options of this package's layers change. Programs
    compiled for another key are out of date."""
    return tuple((inner, *_options_of(inner)) for inner in layer._tree())


def _options_of(layer):
    if not type(layer).__module__.startswith("alloy."):
        return ()  # a user's forward may set any attributes
    return tuple(
        (name, value) for name, value in vars(layer).items() if name not in _OWN and isinstance(value, _COMPARED)
    )


def _uncalled() -> dict[str, Any]:
    """Returns the attributes of a layer that has not been called."""
    return {"graph": None, "_path": "", "_variables": [], "_last": None, "_trained": None}


def _is_of_a_call(value) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, Variable)


_MAY_HOLD = (Layer, Variable, list, tuple, dict, set, frozenset)
_COMPARED = (bool, int, float, str, NoneType, FunctionType)


def _require_layers(op, layers):
    wrong = [layer for layer in layers if not isinstance(layer, Layer)]
    if not wrong:
        return
    given, hint = ", ".join(type(layer).__name__ for layer in wrong), ""
    if isinstance(wrong[0], type) and issubclass(wrong[0], Layer):
        given, hint = f"the class {wrong[0].__name__}", f"; write {wrong[0].__name__}()"
    elif callable(wrong[0]):
        hint = "; a function of tensors belongs into the forward of a layer of your own"
    elif isinstance(wrong[0], (list, tuple)):
        hint = "; write *layers for a list of them"
    raise mistake(op, f"Expected layers, one by one, got {given}{hint}", TypeError)


def _note_layer(error, path):
    """Adds the path of the innermost layer at work to a message of another library."""
    if not path or hasattr(error, "layer"):
        return
    with suppress(AttributeError):
        error.layer = path
    if isinstance(error, TypeError) and "NoneType" in str(error) and not str(error).startswith("["):
        error.args = (f"{error}; x.shape has None for what only a run knows, and x.reshape takes -1",)
    if hasattr(error, "add_note") and f"; in {path}" not in str(error):  # since Python 3.11
        error.add_note(f"in the layer {path}")


_OWN = frozenset(vars(Layer()))  # attributes that every layer has
