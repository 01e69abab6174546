"""Variables that training steps read and change, under short names: an optimizer's slots of a parameter, a metric's
totals."""

import numpy as np

from alloy._core import Graph, Tensor, Update, Variable
from alloy.engine.scope import scope
from alloy.messages.location import meant, mistake
from alloy.ops.apply import apply, as_tensor


class State:
    """Tensors that are kept from step to step. While a step is built, state[name] is the present value, and state[name]
    = value sets the value after the step. state.setdefault(name, value) is state[name], starting with value, a number
    or an array, before the first step."""

    def __init__(self, owner: Graph | Variable, path: str):
        """Begins without variables. path: the beginning of their names.

        owner: the graph, or a variable, which the state does not keep alive: then missing names start with zeros of its
        shape."""
        self._graph = owner if isinstance(owner, Graph) else None
        self._like = None if isinstance(owner, Graph) else owner.weak()
        self.path = path
        self._made = {}  # weak variables by name
        self._starts: dict[str, np.ndarray] = {}
        self._next: dict[str, Tensor] = {}

    @property
    def owner(self) -> Graph | Variable | None:
        """The graph or the variable; None: the variable is gone."""
        return self._graph if self._like is None else self._like()

    @property
    def graph(self) -> Graph:
        return self._graph or self._variable().graph

    def _variable(self) -> Variable:
        """Returns the variable `owner`, which the state's user keeps alive."""
        assert isinstance(self.owner, Variable)
        return self.owner

    @property
    def variables(self) -> dict[str, Variable]:
        return {name: weak() for name, weak in self._made.items()}

    def setdefault(self, name: str, value) -> Tensor:
        if name not in self._made:
            self._starts[name] = np.asarray(value, {float: np.float32, int: np.int32}.get(type(value)))
            with scope(self.graph, self.path):
                self._made[name] = self.graph.variable(self._starts[name], name, trainable=False).weak()
        return self[name]

    def __getitem__(self, name: str) -> Tensor:
        if name in self._next:
            return self._next[name]
        if name not in self._made:
            if self._like is None:
                near = meant(name, self._made)
                raise mistake("state", f"Expected one of {list(self._made)}, got {name!r}{near}", KeyError)
            return self.setdefault(name, np.zeros(self._variable().shape, np.float32))
        return self._made[name]()

    def __contains__(self, name: str) -> bool:
        return name in self._made

    def __setitem__(self, name: str, value) -> None:
        before = self[name]
        self._next[name] = as_tensor(self.graph, "state", value, before.dtype)

    def updates(self, taken: Tensor | None = None) -> list[Update]:
        """Returns updates for all values set since the last call. taken: a bool tensor of one element; where it is
        false, nothing changes."""
        following, self._next = self._next, {}
        return self._assigned(following, taken)

    def forget(self) -> None:
        """Discards all values set since the last updates(): the step could not be built."""
        self._next = {}

    def restarts(self) -> list[Update]:
        """Returns updates that set everything to its value before the first step."""
        return self._assigned(self._starts)

    def _assigned(self, values, taken=None):
        made = []
        with scope(self.graph, self.path):
            for name, value in values.items():
                variable = self._made[name]()
                value = value if taken is None else apply("select", [taken, value, variable])
                made.append(self.graph.assign(variable, value))
        return made
