"""The operands of a layer: tensors, or structures of them (alloy.engine.structure)."""

from alloy._core import Graph, Tensor
from alloy.engine.structure import leaves
from alloy.messages.location import mistake
from alloy.messages.text import describe


def require_tensors(op: object, value, source: str = "") -> None:
    """Refuses, with a TypeError, a value that is neither a tensor nor a structure of tensors. source: the giver of the
    value, for the message."""
    found = leaves(value)
    wrong = [leaf for leaf in found if not isinstance(leaf, Tensor)]
    if wrong or not found:
        given = type(wrong[0]).__name__ if wrong else f"an empty {type(value).__name__}"
        hint = ""
        if given == "ndarray":
            hint = "; feed arrays to a placeholder, graph.placeholder(shape), or hand them to al.Trainer"
        expected = "a tensor, or a tuple, list or dict of tensors"
        raise mistake(op, f"Expected {expected}{source}, got {given}{hint}", TypeError)


def graph_of(op: object, x, operands: dict) -> Graph:
    """Returns the graph that all tensors of x, and all tensors among the operands, belong to."""
    require_tensors(op, x)
    tensors = [leaf for leaf in leaves([x, operands]) if isinstance(leaf, Tensor)]
    graph = tensors[0].graph
    for tensor in tensors:
        if tensor.graph is not graph:
            raise mistake(
                op, f"Expected tensors of one graph, got {describe(tensors[0])} and {describe(tensor)} of another"
            )
    return graph
