"""Softmax, norms and deviations: ops that relate the elements along an axis to each other."""

from alloy._core import Tensor
from alloy.graph.apply import apply, spoken_of
from alloy.ops.elementwise import rounded_once, stop_gradient, where
from alloy.ops.shape import squeeze
from alloy.ops.table import equal, exp, is_finite, log, max, sqrt, square, sum, variance

__all__ = ["log_softmax", "logsumexp", "norm", "softmax", "std"]


def softmax(x: Tensor, axis=-1) -> Tensor:
    """e^x / sum(e^x) along the axis, computed without overflow. x: float32."""
    return apply("softmax", [x], {"axis": axis})


def log_softmax(x: Tensor, axis=-1) -> Tensor:
    """log(softmax(x)), computed without overflow. x: float32."""
    return apply("log_softmax", [x], {"axis": axis})


def logsumexp(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """log(sum(e^x)) over the axes, computed without overflow; -inf, with a gradient of 0, if all x are -inf.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
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
    """sqrt(sum(x^2)) along the axes, the length of vectors; the gradient is 0 if all x are 0.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
    keepdims. ValueError: x does not have the axis."""
    with spoken_of("sum", "norm"):
        return rounded_once("norm", lambda x: _root(sum(square(x), axis, keepdims=keepdims)), x)


def std(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """sqrt(variance(x)) over the axes, the standard deviation of the population as in NumPy; the gradient is 0 if all x
    are equal.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
    keepdims. ValueError: x does not have the axis."""
    with spoken_of("variance", "std"):
        return rounded_once("std", lambda x: _root(variance(x, axis, keepdims=keepdims)), x)


def _root(x):
    """sqrt(x), with the gradient 0 instead of infinity at 0."""
    is_zero = equal(x, 0.0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, x)))
