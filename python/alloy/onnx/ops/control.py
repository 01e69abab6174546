"""Graphs in nodes."""

from alloy.onnx.node import supports


@supports("If", limits="the condition must be known: only its branch is built")
def if_else(node):
    branches = [node.attribute(name, None) for name in ("else_branch", "then_branch")]
    chosen = branches[bool(node.number(0))]
    if chosen is None:
        raise node.wrong("Expected two branches")
    return node.within(chosen)
