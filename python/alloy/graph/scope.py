"""Names of ops and variables. In a layer they begin with its path: the names of the layers around it and its own,
joined by slashes, for instance "stage0/block1/conv2d_0/weights". Before that, names of ops that compute gradients have
"gradients", and names of an optimizer's ops and variables have "optimizer"."""

import itertools
from contextlib import contextmanager

from alloy._core import GRADIENTS, OPTIMIZER, Graph


class _Paths:
    """Of a graph: the path of the layer that is at work, None outside of all, and those that are taken."""

    def __init__(self):
        self.present: str | None = None
        self.taken: set[str] = set()


def _paths(graph: Graph) -> _Paths:
    return vars(graph).setdefault("_paths", _Paths())


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
        paths.taken.add(path)
    finally:
        paths.present = around


def free_path(graph: Graph, name: str | None, kind: str) -> str:
    """The name, or the kind with a number, behind the present path; with another number where it is taken."""
    taken = _paths(graph).taken | {variable.name for variable in graph.variables}
    numbered = (f"{name or kind}_{i}" for i in itertools.count(1 if name else 0))
    paths = (scoped(graph, given) for given in itertools.chain([name] if name else [], numbered))
    return next(path for path in paths if not any(f"{other}/".startswith(f"{path}/") for other in taken))


def phase_of(name: str) -> str:
    """Of a step, by the name of an op in it: "forward", "backward" or "update"."""
    return {GRADIENTS: "backward", OPTIMIZER: "update"}.get(name.partition("/")[0], "forward")


def layer_of(name: str) -> str:
    """The path of the layer that an op of that name belongs to, forward and backward; "" for none."""
    path = name.split("/")
    return "/".join(path[phase_of(name) != "forward" : -1])
