"""The phase of a step and the layer that an op belongs to, as its name tells (alloy.engine.scope)."""

from alloy._core import GRADIENTS, OPTIMIZER


def phase_of(name: str) -> str:
    """Returns the phase of a step that an op of that name belongs to: "forward", "backward" or "update"."""
    return {GRADIENTS: "backward", OPTIMIZER: "update"}.get(name.partition("/")[0], "forward")


def layer_of(name: str) -> str:
    """Returns the path of the layer that an op of that name belongs to, forward and backward, or ""."""
    path = name.split("/")
    return "/".join(path[phase_of(name) != "forward" : -1])
