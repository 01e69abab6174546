"""The ops of a graph as inspect tells of them, and the updates of variables."""

from alloy import _core
from alloy.engine.classes import Part, completes
from alloy.messages.text import shape_text


@completes
class Op(Part, _core.Op):
    """An op of a graph, with its operands, results and cost."""

    def __repr__(self):
        name = f" {self.name!r}" if self.name else ""
        types = ", ".join(f"{result.dtype}{shape_text(shape)}" for result, shape in zip(self.results, self.shapes))
        return f"<Op {self.kind}{name} {types}>"


@completes
class Update(Part, _core.Update):
    """An assignment that an executable carries out."""

    def __repr__(self):
        return f"<Update of {self.variable!r} to {self.value!r}>"
