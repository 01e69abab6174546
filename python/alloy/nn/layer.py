"""What every layer is: a function of a tensor that makes its variables at its first call."""
import zlib

import numpy as np

from alloy.apply import require_tensor
from alloy.graph import Graph, Tensor, Update, Variable
from alloy.location import mistake
from alloy.scope import free_path, scope, scoped
from alloy.tensor import describe


class Layer:
    """A subclass gives forward(x, training), and build(x) where it has variables, or hands over the layers
    that it is made of. seed: of the variables' initial values; None leaves it to the layer around this one,
    and is 0 without one. name: in the names of its ops and variables (alloy.scope); None is its kind and a
    number, and nothing for the outermost layer if that is made of layers only."""

    def __init__(self, *layers: "Layer", seed: int | None = None, name: str | None = None):
        self.layers = list(layers)
        self.seed = seed
        self.name = name
        self.graph: Graph | None = None
        self._trainable = True
        self._variables: list[Variable] = []
        self._parameters: list[Variable] = []  # those of them that are trainable unless the layer is not
        self._updates: list[Update] = []

    @property
    def variables(self) -> list[Variable]:
        """Its own in the order of their creation, then those of its layers, each once; empty before the first
        call."""
        inner = (variable for layer in self.layers for variable in layer.variables)
        return list(dict.fromkeys([*self._variables, *inner]))

    @property
    def trainable(self) -> bool:
        """Whether optimizers update the layer's variables. Setting it sets the layers inside, before the
        first call or after it, for steps that are made from then on; moving averages are never trainable."""
        return self._trainable

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        self._trainable = bool(trainable)
        for variable in self._parameters:
            variable.trainable = self._trainable
        for layer in self.layers:
            layer.trainable = trainable

    @property
    def updates(self) -> list[Update]:
        """What the most recent training call has to change beside the trainable variables, moving averages
        for instance, in the layers' order. They belong into the executable of the training step."""
        inner = (update for layer in self.layers for update in layer.updates)
        return list(dict.fromkeys([*self._updates, *inner]))

    def __call__(self, x: Tensor, training: bool = False) -> Tensor:
        """The layer's value, as it is while training or after it. The first call makes the variables, in x's
        graph; further calls use the same.

        ValueError: x belongs to another graph than that of the first call."""
        op = self._kind()
        require_tensor(op, x)
        graph = x.graph
        if self.graph is None:
            for layer in self.layers:
                if layer.seed is None:
                    layer.seed = self.seed
            self._path = self._new_path(graph)
        elif self.graph is not graph:
            expected = "a tensor of the first call's graph"
            raise mistake(op, f"Expected {expected}, got {describe(x)} of another graph")
        with scope(graph, self._path):
            if self.graph is None:
                self.build(x)
                self.graph = graph
            return self.forward(x, training)

    def build(self, x: Tensor) -> None:
        """Makes the variables for inputs like x."""

    def forward(self, x: Tensor, training: bool) -> Tensor:
        raise NotImplementedError

    def add_variable(self, graph: Graph, part: str, initial, trainable: bool = True) -> None:
        """Makes a variable of that name in the layer, for instance "dense_0/weights", with the value
        initial(seed), seed a list of integers."""
        # The name goes into the seed, so that layers of one shape do not start alike.
        value = initial([self.seed or 0, zlib.crc32(scoped(graph, part).encode())])
        self._variables.append(graph.variable(value, part, trainable and self.trainable))
        if trainable:
            self._parameters.append(self._variables[-1])

    def _new_path(self, graph: Graph) -> str:
        made_of_layers = self.layers and type(self).build is Layer.build
        if graph._scope is None and self.name is None and made_of_layers:
            return ""
        return free_path(graph, self.name, self._kind())

    def known_features(self, x: Tensor, rank: int | None = None) -> int:
        """The extent of x's last axis. ValueError where it is not known or x has another rank (None: below
        2)."""
        legal = x.shape is not None and (len(x.shape) == rank if rank else len(x.shape) >= 2)
        if not legal or x.shape[-1] is None:
            expected = f"rank {rank}" if rank else "rank 2 or more"
            raise mistake(self._kind(),
                          f"Expected a tensor of {expected} with a known last dimension, got {describe(x)}")
        return x.shape[-1]

    def _kind(self) -> str:
        return type(self).__name__.lower()
