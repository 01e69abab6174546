"""Elementwise ops with operands or attributes of their own."""

from alloy._core import Tensor
from alloy.graph.apply import apply, common_dtype, require_tensor

__all__ = ["cast", "clamp", "stop_gradient", "where"]


def where(condition, a, b) -> Tensor:
    """a where the condition is true (not zero), else b.

    The three broadcast by NumPy's rule; a and b have one dtype, which the result has. Each may be a number or
    an array, but not all of them. ValueError: the shapes do not broadcast. TypeError: the dtypes of a and b
    differ."""
    return apply("select", [condition, a, b], scalar_dtype=common_dtype("where", [a, b]))


def clamp(x: Tensor, low, high) -> Tensor:
    """x held between low and high, which broadcast to it: min(max(x, low), high).

    Where the bounds cross it is high; a NaN gives way to a number. The gradient goes to whichever of the three
    was taken, at a bound to x. The three have one dtype, of numbers; each may be a number or an array, but not
    all of them."""
    return apply("clamp", [x, low, high])


def cast(x: Tensor, dtype) -> Tensor:
    """x converted to the dtype, x itself where it has it; float to integer truncates toward zero."""
    require_tensor("cast", x)
    return x if dtype == x.dtype else apply("cast", [x], {"dtype": dtype})


def stop_gradient(x: Tensor) -> Tensor:
    """x, through which no gradient flows: a loss does not depend on what stands behind it."""
    return apply("stop_gradient", [x])
