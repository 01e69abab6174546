"""Ops that relate the elements along an axis to each other."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["log_softmax", "softmax"]


def softmax(x: Tensor, axis=-1) -> Tensor:
    """e^x divided by its sum along the axis, computed without overflow. x: float32."""
    return apply("softmax", [x], {"axis": axis})


def log_softmax(x: Tensor, axis=-1) -> Tensor:
    """The logarithm of softmax, computed without overflow. x: float32."""
    return apply("log_softmax", [x], {"axis": axis})
