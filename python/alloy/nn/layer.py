"""The base class of layers: a layer is a function of tensors that makes its variables at its first call."""

import copy
import inspect
import math
import zlib
from contextlib import suppress
from contextvars import ContextVar
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from alloy import random
from alloy.engine.arrays import as_count
from alloy.engine.dtypes import float32, is_half
from alloy.engine.scope import free_path, is_scoped, scope, scoped
from alloy.engine.structure import leaves
from alloy.graph import Graph, Tensor, Update, Variable
from alloy.graph.left_out import training_calls
from alloy.messages.location import layer_at_work, meant, mistake
from alloy.messages.names import missing_attribute, no_attribute, one_of
from alloy.messages.text import describe
from alloy.nn.arguments import remembered, written
from alloy.nn.operands import graph_of, require_tensors
from alloy.nn.padding import example_mask
from alloy.nn.stored import StoredVariable, replaced, stored
from alloy.nn.summary import inputs, summary
from alloy.ops import cast
from alloy.ops.apply import require_all, require_tensor

# The layers whose forward runs, each called by the one before: one list for a call of the outermost layer.
_AT_WORK: ContextVar[list["Layer"] | None] = ContextVar("layers at work", default=None)


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

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = remembered(cls.__init__)

    @remembered
    def __init__(self, *layers: "Layer", seed: int | None = None, name: str | None = None):
        _require_layers(self._kind(), layers)
        self.layers = list(layers)
        self.seed = None if seed is None else as_count(self._kind(), "a seed", seed, least=0, most=math.inf)
        self.name = name
        self._trainable = True
        self._training = False  # in the present call
        self._stored: dict | None = None  # a copy's attributes until its first call, with StoredVariables
        self._uncall()

    def _uncall(self):
        """Resets the attributes that belong to a graph."""
        self.graph: Graph | None = None
        self._path = ""
        self._variables: list[Variable] = []
        self._parameters: list[Variable] = []  # trainable while the layer is
        self._step: object = None  # identifies the outermost layer's most recent training call
        self._left: dict[Variable, Update] = {}  # that call's updates
        self._took: object = None  # the last call's x
        self._gave: list | None = None  # the last call's results
        self._taught: list = []  # the results of the last training call as the outermost layer
        self._random: Variable | None = None  # the random state, if the layer draws numbers
        self._drawn: tuple = (None, None)  # the last call outside training that drew numbers, and the state after it

    def __getattr__(self, name) -> Any:
        if "_left" not in vars(self) and not name.startswith("__"):
            raise AttributeError(
                f"[{self._kind()}] {type(self).__name__}.__init__ must call super().__init__() before the layer is used"
            )
        variable = None if name.startswith("_") else self._variable(name)
        if variable is None and name in _NAMES and self.graph is None:
            raise mistake(
                self._kind(), f"Expected a layer that has been called, got one without {name}", AttributeError
            )
        return missing_attribute(self, name) if variable is None else variable

    def _variable(self, part: str) -> Variable | None:
        """Returns the layer's own variable of that name."""
        within = f"{self._path}/" if self._path else ""
        return next((one for one in self._variables if one.name == within + part), None)

    def __setattr__(self, name, value):
        own = self._variable(name) if vars(self).get("_variables") and name not in vars(self) else None
        if own is not None and own is not value:
            raise mistake(
                self._kind(),
                f"Expected {name} to stay the layer's variable; layer.{name}.assign(array) sets its value",
                TypeError,
            )
        like = not name.startswith("_") and name != "trainable" and meant(name, ["trainable"], cutoff=0.88)
        if like or name == "requires_grad":
            raise no_attribute(self, name, one_of(type(self)), setting=True)
        if name == "training" and isinstance(value, bool):
            raise mistake(
                self._kind(),
                f"{one_of(type(self))} has no attribute training to set; a call says it: layer(x, training={value})",
                AttributeError,
            )
        object.__setattr__(self, name, value)

    def __getitem__(self, key):
        raise mistake(
            self._kind(), f"A layer has no items; the layers that it was given are model.layers[{key!r}]", TypeError
        )

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
        fresh = Layer.__new__(Layer)
        fresh._uncall()
        return state | vars(fresh) | {"_stored": kept}

    def copy(self) -> "Layer":
        """Returns copy.deepcopy(layer): a layer with variables of its own, which start with the present values."""
        return copy.deepcopy(self)

    __copy__ = copy

    def __repr__(self):
        return written(self)

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
                raise mistake(
                    self._kind(), f"Expected layers in a list, tuple or dict, got a set, which has no order, as {path}"
                )
        return found

    def _inner(self) -> dict["Layer", str | None]:
        """Returns the inner layers, each with its attribute's path, or None if it was given to __init__."""
        _require_layers(self._kind(), self.layers)
        inner = dict.fromkeys(self.layers)
        for path, item in self._kept():
            if isinstance(item, Layer):
                inner.setdefault(item, path)
        return inner

    def _tree(self, around=()):
        """Yields the layer and the layers in it, however deep."""
        if self in around:
            raise mistake(
                self._kind(),
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
        return self._trainable

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for layer in self._tree():
            layer._trainable = bool(trainable)
            layer._set_parameters()

    def _set_parameters(self):
        """Makes the layer's parameters trainable if the layer is."""
        self._parameters += [
            variable for variable in self._own() if variable.trainable and variable not in self._parameters
        ]
        for variable in self._parameters:
            variable.trainable = self._trainable

    @property
    def updates(self) -> list[Update]:
        """The most recent training call's updates of other variables than trainable ones, such as moving averages, in
        the layers' order. Compile them into the training step."""
        return list(dict.fromkeys(update for layer in self._tree() for update in layer._left.values()))

    def now(self, variable: Variable) -> Tensor:
        """Returns the variable's value within a training step, after the layer's earlier calls in the model."""
        return self._left[variable].value if variable in self._left else variable

    @property
    def example_mask(self) -> Tensor | None:
        """float32 (n,): 1 for each example of the batch, 0 for padding; None if there is no padding.

        A Trainer with last_batch="pad" sets it in training steps. A forward that mixes examples, as BatchNorm's does,
        leaves the padding out."""
        return example_mask()

    def leave(self, variable: Variable, value: Tensor) -> None:
        """Assigns the value to the variable at the end of a training step: one of the layer's updates."""
        self._left[variable] = variable.graph.assign(variable, value)

    def __call__(self, x, training: bool | None = None, **operands) -> Any:
        """Returns forward's result. The first call makes the variables in x's graph; later calls use them. operands:
        forward's other parameters.

        training: None takes it from the layer whose forward makes the call, as in Keras; outside of one it is False.

        ValueError: x belongs to another graph than in the first call. Errors from forward name the layer. A first call
        that fails leaves the layer uncalled."""
        around = _AT_WORK.get()
        if training is None:
            training = bool(around) and around[-1]._training
        self._require_call(training, operands)
        graph = graph_of(self._kind(), x, operands)
        if self.graph is not None and self.graph is not graph:
            expected = "a tensor of the first call's graph"
            raise mistake(self._kind(), f"Expected {expected}, got {describe(leaves(x)[0])} of another graph")
        unbuilt = {layer: layer._own() for layer in self._tree() if layer.graph is None}
        if self.graph is None:
            self._path = self._new_path(graph)
        if around is None:
            _AT_WORK.set(around := [])
        around.append(self)
        self._training = training
        try:
            with scope(graph, self._path), layer_at_work(self._path):
                self._begin(x, graph, training, around)
                y = self.forward(x, training, **operands)
                require_tensors(self._kind(), y, " from forward")
        except BaseException as error:
            _note_layer(error, self._path)
            for layer, before in unbuilt.items():
                layer._forget(before)
            raise
        finally:
            around.pop()
            if not around:
                _AT_WORK.set(None)
        self._took, self._gave = x, leaves(y)
        for layer in () if around else unbuilt:
            layer._stored = None if layer.graph is not None else layer._stored
        if training and not around:
            self._taught = self._gave
            training_calls(graph).add(self)
        return y

    def _require_call(self, training, operands):
        if not isinstance(training, (bool, int, np.bool_)):
            raise mistake(
                self._kind(),
                f"Expected training as True or False, got {type(training).__name__}; {self._operands()}",
                TypeError,
            )
        parameters = list(inspect.signature(self.forward).parameters.values())
        if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters):
            return
        missing = [p.name for p in parameters[2:] if p.default is p.empty and p.name not in operands]
        if len(parameters) < 2 or missing:
            given = ", ".join(["self", *(parameter.name for parameter in parameters)])
            hint = f"; give {missing[0]} by name in the call, or several inputs as one tuple" if missing else ""
            expected = f"a method forward(self, x, training) of {type(self).__name__}"
            raise mistake(self._kind(), f"Expected {expected}, got forward({given}){hint}", TypeError)
        known = ["x", "training", *(parameter.name for parameter in parameters[2:])]
        for name in (name for name in operands if name not in known):
            expected = f"Expected arguments among {', '.join(known)}"
            raise mistake(self._kind(), f"{expected}, got {name}{meant(name, known)}", TypeError)

    def _operands(self) -> str:
        """Returns a hint for messages: how to give a call several tensors."""
        names = list(inspect.signature(self.forward).parameters)[2:]
        if not names:
            return "several inputs are one tuple, list or dict"
        return f"the other operands have names: {', '.join(f'{name}=...' for name in names)}"

    def _instruct(self):
        """Gives the inner layers that have not been called their seeds and names."""
        for layer, path in self._inner().items():
            if layer.graph is None:
                layer.seed = self.seed if layer.seed is None else layer.seed
                layer.name = path if layer.name is None else layer.name

    def _begin(self, x, graph, training, around):
        if self.graph is None:
            if self._stored is None:
                before = set(self._tree())
                self.build(x)
                for made in () if self._trainable else set(self._tree()) - before:
                    made.trainable = False
                self._set_parameters()
            else:
                for name, value in self._stored.items():
                    if name:
                        vars(self)[name] = replaced(value, StoredVariable, lambda one: one.variable(graph))
            self.graph = graph
            known = len(around) == 1 or self in around[-2]._inner() or self in around[0]._tree()
            if not known and self._own():
                raise mistake(
                    self._kind(),
                    f"Expected a layer that {type(around[-2]).__name__} keeps in an attribute, made in its __init__, "
                    f"got a {type(self).__name__} that it does not know, with variables that would not be trained",
                )
        self._instruct()
        if training and self._step is not around:
            self._step, self._left = around, {}

    def _forget(self, before):
        """Resets the layer after a first call that failed. Its new variables stay in the graph, untrained. before: the
        variables that it had before the call."""
        for variable in self._own():
            if variable not in before:
                variable.trainable = False
        self._uncall()
        for one in (self._stored or {}).get("", ()):
            one.made = None

    def build(self, x) -> None:
        """Makes the variables, for inputs like x."""

    def forward(self, x, training: bool) -> Any:
        raise mistake(self._kind(), f"Expected a method forward(self, x, training) of {type(self).__name__}, got none")

    def add_variable(self, graph: Graph, part: str, initial, trainable: bool = True) -> Variable:
        """Makes and returns a variable of the layer, with the value initial(seed), seed a list of integers. part: the
        end of its name, "weights" for "dense_0/weights". Call it in build, which runs once."""
        require_all(self._kind(), "the graph of the variable, x.graph", Graph, [graph])
        if not callable(initial):
            expected = "a function of a seed that gives the initial value"
            raise mistake(self._kind(), f"Expected {expected}, got {type(initial).__name__}", TypeError)
        if self.graph is not None:
            raise mistake(
                self._kind(), f"Expected the variable {part} to be made in build, which is called once, got it later"
            )
        # The name goes into the seed, so that layers of one shape do not start alike.
        value = initial([self.seed or 0, zlib.crc32(scoped(graph, part).encode())])
        self._variables.append(graph.variable(value, part, trainable and self.trainable))
        if trainable:
            self._parameters.append(self._variables[-1])
        return self._variables[-1]

    def random(self, draw, *operands, **options) -> Tensor:
        """Draws random numbers in forward: self.random(al.random.normal, x) draws Gaussian ones of x's shape. draw: a
        function of al.random, which is called with a state, the operands and the options.

        The first draw makes the state, a variable of the layer. Every training step, and every place where the model
        calls the layer, draws other numbers; a resumed training goes on with them. Outside training every call draws
        the same numbers, which the next training step would draw, and the state stays."""
        around = _AT_WORK.get()
        if not around or self.graph is None or self not in around:
            raise mistake(self._kind(), "Expected random in a layer's forward, got it outside of one")
        state = self._random_state(self.graph) if self._random is None else self._random
        if self._training:
            numbers, following = draw(self.now(state), *operands, **options)
            self.leave(state, following)
        else:
            before = self._drawn[1] if self._drawn[0] is around else state
            numbers, following = draw(before, *operands, **options)
            self._drawn = around, following
        return numbers

    def _random_state(self, graph: Graph) -> Variable:
        """Makes the random state."""
        seed = np.random.SeedSequence([self.seed or 0, zlib.crc32(scoped(graph, "state").encode())])
        self._random = graph.variable(random.state(int(seed.generate_state(1)[0])), "state", trainable=False)
        self._variables.append(self._random)
        return self._random

    def in_type_of(self, x: Tensor, variables: list[Variable]) -> list[Tensor]:
        """Returns the variables cast to x's type if that is float16 or bfloat16, in which the layer then computes.
        Optimizers update the variables in float32."""
        return [cast(variable, x.dtype) if is_half(x.dtype) else variable for variable in variables]

    def summary(self, input_shape=None, dtype="float32") -> None:
        """Prints a table of the layers: the shapes of their last results, and their parameters.

        input_shape: an example's shape, without the batch, for a model that has not been called; for several inputs a
        list or dict of shapes. The model is called with placeholders of that shape and the dtype, in model.graph or a
        new graph. ValueError: the model has not been called, and no shape is given."""
        if input_shape is not None:
            self(inputs(self.graph or Graph(), input_shape, dtype))
        print(summary(self))

    def _new_path(self, graph: Graph) -> str:
        made_of_layers = self._inner() and type(self).build is Layer.build
        if not is_scoped(graph) and self.name is None and made_of_layers:
            return ""
        return free_path(graph, self.name, self._kind().lower())

    def known_features(self, x: Tensor, rank: int | None = None) -> int:
        """Returns the extent of x's last axis. ValueError: it is not known, or x has another rank (None: 2 or more)."""
        require_tensor(self._kind(), x)
        shape = list(x.shape or ())
        if not (len(shape) == rank if rank else len(shape) >= 2) or shape[-1] is None:
            expected = f"rank {rank}" if rank else "rank 2 or more"
            raise mistake(
                self._kind(), f"Expected a tensor of {expected} with a known last dimension, got {describe(x)}"
            )
        return shape[-1]

    def require_floats(self, x) -> None:
        """Raises TypeError if x is no tensor of floats."""
        require_tensor(self._kind(), x)
        if x.dtype != float32 and not is_half(x.dtype):
            raise mistake(
                self._kind(),
                f'Expected a tensor of floats, got {describe(x)}; al.cast(x, "float32") makes one',
                TypeError,
            )

    def _kind(self) -> str:
        return type(self).__name__


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


def _is_of_a_call(value) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, Variable)


# Names of layers' variables.
_NAMES = ("weights", "bias", "gamma", "beta", "moving_mean", "moving_variance", "recurrent_weights")
_MAY_HOLD = (Layer, Variable, list, tuple, dict, set, frozenset)
_COMPARED = (bool, int, float, str, NoneType, FunctionType)


def _require_layers(op, layers):
    wrong = [layer for layer in layers if not isinstance(layer, Layer)]
    hint = ""
    if wrong and callable(wrong[0]):
        hint = "; a function of tensors belongs into the forward of a layer of your own"
        if isinstance(wrong[0], type) and issubclass(wrong[0], Layer):
            raise mistake(
                op,
                f"Expected layers, one by one, got the class {wrong[0].__name__}; write {wrong[0].__name__}()",
                TypeError,
            )
    if wrong and isinstance(wrong[0], (list, tuple)):
        hint = "; write *layers for a list of them"
    if wrong:
        given = ", ".join(type(layer).__name__ for layer in wrong)
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
