"""Names of ops and variables: in a layer they begin with its path, the names of the layers around it and its
own joined by slashes, for instance "stage0/block1/conv2d_0/weights"."""

import itertools
from contextlib import contextmanager

from alloy._core import Graph

Graph._scope = None  # the path of the layer that is at work; None outside of all


def scoped(graph: Graph, name: str, kind: str = "") -> str:
    """The name, or in a layer without one the kind, as one of the layer's."""
    return f"{graph._scope}/{name or kind}" if graph._scope else name


@contextmanager
def scope(graph: Graph, path: str):
    """What is added to the graph meanwhile belongs to the path, which nothing else can claim any more."""
    around, graph._scope = graph._scope, path
    try:
        yield
        graph.__dict__.setdefault("_paths", set()).add(path)
    finally:
        graph._scope = around


def free_path(graph: Graph, name: str | None, kind: str) -> str:
    """The name, or the kind with a number, behind the present path; with another number where it is taken."""
    taken = graph.__dict__.get("_paths", set()) | {variable.name for variable in graph.variables}
    for i in itertools.count():
        path = scoped(graph, name if name and i == 0 else f"{name or kind}_{i}")
        if not any(other == path or other.startswith(f"{path}/") for other in taken):
            return path
