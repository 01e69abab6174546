"""Draws anything that has a graph, in a file."""

import os

from alloy.engine.structure import leaves
from alloy.graph import Executable, Graph, Tensor
from alloy.messages.location import mistake
from alloy.messages.notebook import Picture, in_notebook
from alloy.nn import Layer
from alloy.training.files import said_of

__all__ = ["draw"]


def draw(what, path=None):
    """Draws the ops from inputs to results, each layer a box around its ops: `al.draw(model, "model.html")`.

    what: a layer that has been called (its last call), a Trainer after its first fit, a tensor or a list, tuple or dict
    of tensors, a Graph (all of its ops), or an Executable (with its updates). path: the file, in an existing directory:
    ".svg" is an image, in which layers are folded if there are many ops; ".html" is a page that has a picture of each
    folded layer, too. Without a path it gives the image to a notebook: `al.draw(model)` at the end of a cell.

    ValueError: another suffix, no path outside of a notebook, a layer that has not been called, a Trainer before its
    first fit. TypeError: anything else is to be drawn. OSError: the file cannot be written."""
    from alloy.tools import drawing  # seldom needed

    formats = {".html": drawing.html, ".svg": drawing.svg}
    if path is None and in_notebook():
        return Picture("image/svg+xml", drawing.svg(_ops(what), _title(what)))
    path = None if path is None else os.fspath(path)
    suffix = os.path.splitext(path or "")[1].lower()
    if path is None or suffix not in formats:
        raise mistake("draw", f"Expected a path that ends with .html or .svg, got {path!r}")
    text = formats[suffix](_ops(what), _title(what))
    with said_of(path), open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return None


def _ops(what):
    from alloy.training.trainer import Trainer

    if isinstance(what, Graph):
        return what.inspect()
    if isinstance(what, Executable):
        graph = (what.fetches or [update.variable for update in what.updates])[0].graph
        return graph.inspect(fetches=what.fetches, updates=what.updates)
    drawn = what.model if isinstance(what, Trainer) else what
    if isinstance(drawn, Layer):
        if drawn._last is None:
            called = "a layer that has been called, for instance model(graph.placeholder((None, 28, 28, 1)))"
            raise mistake("draw", f"Expected {called if drawn is what else 'a trainer after its first fit'}")
        drawn = drawn._last.results
    tensors = leaves(drawn)
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        given = type(what).__name__ if tensors else "nothing"
        says = f"Expected a layer, a trainer, tensors, a graph or an executable, got {given}"
        raise mistake("draw", says, TypeError)
    return tensors[0].graph.inspect(fetches=tensors)


def _title(what):
    model = getattr(what, "model", what)
    return f"{model.name} {type(model).__name__}".strip() if isinstance(model, Tensor) else type(model).__name__
