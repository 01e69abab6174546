"""Ops that relate the elements along an axis to each other."""

from alloy._core import Tensor
from alloy.graph.apply import apply, spoken_of
from alloy.ops.elementwise import rounded_once, stop_gradient, where
from alloy.ops.shape import squeeze
from alloy.ops.table import equal, exp, is_finite, log, max, sqrt, square, sum, variance

__all__ = ["log_softmax", "logsumexp", "norm", "softmax", "std"]


def softmax(x: Tensor, axis=-1) -> Tensor:
    """e^x divided by its sum along the axis, computed without overflow. x: float32."""
    return apply("softmax", [x], {"axis": axis})


def log_softmax(x: Tensor, axis=-1) -> Tensor:
    """The logarithm of softmax, computed without overflow. x: float32."""
    return apply("log_softmax", [x], {"axis": axis})


def logsumexp(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """log(sum(e^x)) over the axes, computed without overflow; -inf, with a gradient of 0, where all x are -inf.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or stay with size 1 where
    keepdims. ValueError: x does not have the axis."""
    return rounded_once("logsumexp", lambda x: _logsumexp(x, axis, keepdims), x)


def _logsumexp(x, axis, keepdims):
    with spoken_of("max", "logsumexp"):
        most = stop_gradient(max(x, axis, keepdims=True))
    most = where(is_finite(most), most, 0.0)
    total = sum(exp(x - most), axis, keepdims=True)
    is_zero = equal(total, 0.0)
    y = where(is_zero, float("-inf"), log(where(is_zero, 1.0, total)) + most)
    return y if keepdims else squeeze(y, range(len(y.shape or ())) if axis is None else axis)


def norm(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """The length sqrt(sum(x^2)) of vectors along the axes, whose gradient is 0 where all x are 0.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or stay with size 1 where
    keepdims. ValueError: x does not have the axis."""
    with spoken_of("sum", "norm"):
        return rounded_once("norm", lambda x: _root(sum(square(x), axis, keepdims=keepdims)), x)


def std(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """The standard deviation sqrt(variance(x)) over the axes, of the population as NumPy's; its gradient is 0 where
    all x are equal.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or stay with size 1 where
    keepdims. ValueError: x does not have the axis."""
    with spoken_of("variance", "std"):
        return rounded_once("std", lambda x: _root(variance(x, axis, keepdims=keepdims)), x)


def _root(x):
    """The root, whose slope at 0 is infinite."""
    is_zero = equal(x, 0.0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, x)))
