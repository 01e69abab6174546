"""Names of ops and variables. In a layer they begin with its path: the names of the layers around it and its own,
joined by slashes, for instance "stage0/block1/conv2d_0/weights". Before the path, ops that compute gradients have
"gradients", and an optimizer's ops and variables have "optimizer"."""

from contextlib import contextmanager

from alloy._core import Graph
from alloy.messages.location import SCOPE, Scope, scopes


class _Paths:
    """The taken layer paths of a graph."""

    def __init__(self, graph: Graph):
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}  # path: all numbers below this one are taken
        for variable in graph.variables:
            self.claim(variable.name)

    def claim(self, path: str) -> None:
        """Marks the path, and the paths that it begins with, as taken."""
        while path and path not in self._taken:
            self._taken.add(path)
            path = path.rpartition("/")[0]

    def free(self, path: str, first: int | None) -> str:
        """Returns the path if it is free and first is None, else the path with the first free number from `first`
        on."""
        if first is None:
            if path not in self._taken:
                return path
            first = 1
        number = self._numbers.get(path, first)
        while f"{path}_{number}" in self._taken:
            number += 1
        self._numbers[path] = number
        return f"{path}_{number}"


def _paths(graph: Graph) -> _Paths:
    kept = vars(graph)
    if "_paths" not in kept:
        kept["_paths"] = _Paths(graph)
    return kept["_paths"]


def claim(graph: Graph, name: str) -> None:
    """Reserves a name, and its beginnings that end before a slash: no layer can get them any more."""
    _paths(graph).claim(name)


def scoped(graph: Graph, name: str, kind: str = "") -> str:
    """Returns PATH/NAME with the present layer's path, or PATH/KIND without a name; outside of layers, the name."""
    present = _present(graph)
    return f"{present}/{name or kind}" if present else name


def _present(graph: Graph) -> str | None:
    """Returns the path of the graph's innermost scope, or None."""
    return next((scope.path for scope in scopes() if scope.graph is graph), None)


def is_scoped(graph: Graph) -> bool:
    """Tells whether the names that are made in the graph get a path."""
    return _present(graph) is not None


@contextmanager
def scope(graph: Graph, path: str, call=None):
    """Gives the names of everything added meanwhile this path, and reserves it. call: of the layer of that path."""
    token = SCOPE.set(Scope(graph, path, call, SCOPE.get()))
    try:
        yield
        claim(graph, path)
    finally:
        SCOPE.reset(token)


def free_path(graph: Graph, name: str | None, kind: str) -> str:
    """Returns a free path below the present one: the name, with a number if it is taken, or the kind with a number."""
    return _paths(graph).free(scoped(graph, name or kind), None if name else 0)
