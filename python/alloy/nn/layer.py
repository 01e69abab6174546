"""What every layer is: a function of a tensor that makes its variables at its first call."""

import zlib

from alloy.graph import Graph, Tensor, Update, Variable
from alloy.graph.apply import require_all, require_tensor
from alloy.graph.dtypes import is_half
from alloy.graph.location import meant, mistake
from alloy.graph.scope import free_path, is_scoped, scope, scoped
from alloy.graph.text import describe
from alloy.ops import cast


class Layer:
    """A subclass gives forward(x, training), and build(x) where it has variables. The layers that it is made of are
    handed to Layer.__init__ or kept in attributes, as are variables: by themselves or in lists, tuples and dicts.

    seed: of the variables' initial values; None leaves it to the layer around this one, and is 0 without one. name:
    in the names of its ops and variables (alloy.graph.scope); None is the attribute that keeps it ("head", "blocks/0"),
    or else its kind and a number, and nothing for the outermost layer if that is made of layers only."""

    def __init__(self, *layers: "Layer", seed: int | None = None, name: str | None = None):
        require_all(self._kind(), "layers, one by one", Layer, layers)
        self.layers = list(layers)
        self.seed = seed
        self.name = name
        self.graph: Graph | None = None
        self._trainable = True
        self._variables: list[Variable] = []
        self._parameters: list[Variable] = []  # those of its variables that are trainable unless the layer is not
        self._updates: list[Update] = []

    def __getattr__(self, name):
        if "_updates" not in vars(self) and not name.startswith("__"):
            raise AttributeError(
                f"[{self._kind()}] {type(self).__name__}.__init__ must call super().__init__() before the layer is used"
            )
        return object.__getattribute__(self, name)  # for Python's own message

    def __setattr__(self, name, value):
        like = not name.startswith("_") and name != "trainable" and meant(name, ["trainable"], cutoff=0.88)
        if like or name == "requires_grad":
            raise AttributeError(f"[{self._kind()}] A layer has no attribute {name} to set: did you mean trainable?")
        object.__setattr__(self, name, value)

    def _kept(self) -> list[tuple[str, "Layer | Variable"]]:
        """The layers and variables in the attributes of a subclass, with their paths."""
        found, containers = [], []
        pending = [(name.lstrip("_"), value) for name, value in reversed(vars(self).items()) if name not in _OWN]
        while pending:
            path, value = pending.pop()
            if isinstance(value, (Layer, Variable)):
                found.append((path, value))
            elif isinstance(value, (list, tuple, dict)) and not any(value is seen for seen in containers):
                containers.append(value)
                items = value.items() if isinstance(value, dict) else enumerate(value)
                pending += reversed([(f"{path}/{key}", item) for key, item in items])
        return found

    def _inner(self) -> dict["Layer", str | None]:
        """The layers that it is made of, each with the path of its attribute, or None where it was handed over."""
        inner = dict.fromkeys(self.layers)
        for path, item in self._kept():
            if isinstance(item, Layer):
                inner.setdefault(item, path)
        return inner

    def _tree(self, around=()):
        """It and the layers in it, however deep."""
        if self in around:
            raise mistake(
                self._kind(),
                f"Expected layers that are not inside themselves, got a {type(self).__name__} "
                "that a layer in it keeps in an attribute; keep a weakref.ref there",
                act="used",
            )
        yield self
        for layer in self._inner():
            yield from layer._tree((*around, self))

    def _own(self) -> list[Variable]:
        kept = (item for _, item in self._kept() if isinstance(item, Variable))
        return list(dict.fromkeys([*self._variables, *kept]))

    @property
    def variables(self) -> list[Variable]:
        """Its own in the order of their creation, then those of its layers, each once; empty before the first
        call."""
        return list(dict.fromkeys(variable for layer in self._tree() for variable in layer._own()))

    @property
    def trainable(self) -> bool:
        """Whether optimizers update the layer's variables. Setting it sets the layers inside, before the
        first call or after it, for steps that are made from then on; moving averages are never trainable."""
        return self._trainable

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for layer in self._tree():
            layer._trainable = bool(trainable)
            layer._set_parameters()

    def _set_parameters(self):
        """Its parameters are trainable as it is."""
        self._parameters += [
            variable for variable in self._own() if variable.trainable and variable not in self._parameters
        ]
        for variable in self._parameters:
            variable.trainable = self._trainable

    @property
    def updates(self) -> list[Update]:
        """What the most recent training call has to change beside the trainable variables, moving averages
        for instance, in the layers' order. They belong into the executable of the training step."""
        return list(dict.fromkeys(update for layer in self._tree() for update in layer._updates))

    def __call__(self, x: Tensor, training: bool = False, **operands) -> Tensor:
        """The layer's value, as it is while training or after it. The first call makes the variables, in x's
        graph; further calls use the same. operands: what else its forward takes.

        ValueError: x belongs to another graph than that of the first call."""
        op = self._kind()
        require_tensor(op, x)
        graph = x.graph
        if self.graph is None:
            for layer, path in self._inner().items():
                if layer.seed is None:
                    layer.seed = self.seed
                if layer.name is None:
                    layer.name = path
            self._path = self._new_path(graph)
        elif self.graph is not graph:
            expected = "a tensor of the first call's graph"
            raise mistake(op, f"Expected {expected}, got {describe(x)} of another graph")
        with scope(graph, self._path):
            if self.graph is None:
                self.build(x)
                self.graph = graph
                self._set_parameters()
            return self.forward(x, training, **operands)

    def build(self, x: Tensor) -> None:
        """Makes the variables for inputs like x."""

    def forward(self, x: Tensor, training: bool) -> Tensor:
        raise NotImplementedError

    def add_variable(self, graph: Graph, part: str, initial, trainable: bool = True) -> Variable:
        """Makes a variable of that name in the layer, for instance "dense_0/weights", with the value
        initial(seed), seed a list of integers, and returns it."""
        # The name goes into the seed, so that layers of one shape do not start alike.
        value = initial([self.seed or 0, zlib.crc32(scoped(graph, part).encode())])
        self._variables.append(graph.variable(value, part, trainable and self.trainable))
        if trainable:
            self._parameters.append(self._variables[-1])
        return self._variables[-1]

    def in_type_of(self, x: Tensor, variables: list[Variable]) -> list[Tensor]:
        """The variables in x's type, if that is float16 or bfloat16: in it the layer computes, while an optimizer
        changes the variables in float32."""
        return [cast(variable, x.dtype) if is_half(x.dtype) else variable for variable in variables]

    def _new_path(self, graph: Graph) -> str:
        made_of_layers = self._inner() and type(self).build is Layer.build
        if not is_scoped(graph) and self.name is None and made_of_layers:
            return ""
        return free_path(graph, self.name, self._kind())

    def known_features(self, x: Tensor, rank: int | None = None) -> int:
        """The extent of x's last axis. ValueError where it is not known or x has another rank (None: below
        2)."""
        legal = x.shape is not None and (len(x.shape) == rank if rank else len(x.shape) >= 2)
        if not legal or x.shape[-1] is None:
            expected = f"rank {rank}" if rank else "rank 2 or more"
            raise mistake(
                self._kind(), f"Expected a tensor of {expected} with a known last dimension, got {describe(x)}"
            )
        return x.shape[-1]

    def _kind(self) -> str:
        return type(self).__name__.lower()


_OWN = frozenset(vars(Layer()))  # attributes that every layer has
