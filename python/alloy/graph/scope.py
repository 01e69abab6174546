"""Names of ops and variables. In a layer they begin with its path: the names of the layers around it and its own,
joined by slashes, for instance "stage0/block1/conv2d_0/weights". Before that, names of ops that compute gradients have
"gradients", and names of an optimizer's ops and variables have "optimizer"."""

from contextlib import contextmanager

from alloy._core import GRADIENTS, OPTIMIZER, Graph


class _Paths:
    """Of a graph: the path of the layer that is at work, None outside of all, and those that are taken."""

    def __init__(self, graph: Graph):
        self.present: str | None = None
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}  # by path: below this number all are taken
        for variable in graph.variables:
            self.claim(variable.name)

    def claim(self, path: str) -> None:
        """With the paths around it."""
        while path and path not in self._taken:
            self._taken.add(path)
            path = path.rpartition("/")[0]

    def free(self, path: str, first: int | None) -> str:
        """The path where it is free and no number is asked, or the path with the first number from which it is."""
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
    """No layer gets that name, or one around it, any more."""
    _paths(graph).claim(name)


def scoped(graph: Graph, name: str, kind: str = "") -> str:
    """The name, or in a layer without one the kind, as one of the layer's."""
    present = _paths(graph).present
    return f"{present}/{name or kind}" if present else name


def is_scoped(graph: Graph) -> bool:
    """Whether a layer is at work."""
    return _paths(graph).present is not None


@contextmanager
def scope(graph: Graph, path: str):
    """What is added to the graph meanwhile belongs to the path, which nothing else can claim any more."""
    paths = _paths(graph)
    around, paths.present = paths.present, path
    try:
        yield
        paths.claim(path)
    finally:
        paths.present = around


def free_path(graph: Graph, name: str | None, kind: str) -> str:
    """The name, or the kind with a number, behind the present path; with another number where it is taken."""
    return _paths(graph).free(scoped(graph, name or kind), None if name else 0)


def phase_of(name: str) -> str:
    """Of a step, by the name of an op in it: "forward", "backward" or "update"."""
    return {GRADIENTS: "backward", OPTIMIZER: "update"}.get(name.partition("/")[0], "forward")


def layer_of(name: str) -> str:
    """The path of the layer that an op of that name belongs to, forward and backward; "" for none."""
    path = name.split("/")
    return "/".join(path[phase_of(name) != "forward" : -1])
