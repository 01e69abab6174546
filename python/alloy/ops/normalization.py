"""Softmax, norms and deviations: ops that relate the elements along an axis to each other."""

from alloy._core import Tensor
from alloy.messages.location import typed_as
from alloy.ops.apply import apply, require_tensor
from alloy.ops.elementwise import cast, rounded_once, stop_gradient, where
from alloy.ops.shape import squeeze
from alloy.ops.table import equal, exp, is_finite, log, max_propagate_nan, not_equal, sqrt, square, sum, variance

__all__ = ["count_nonzero", "log_softmax", "logsumexp", "norm", "softmax", "std"]


def softmax(x: Tensor, axis=-1) -> Tensor:
    """e^x / sum(e^x) along the axis, computed without overflow. x: float32."""
    return apply("softmax", [x], {"axis": axis})


def log_softmax(x: Tensor, axis=-1) -> Tensor:
    """log(softmax(x)), computed without overflow. x: float32."""
    return apply("log_softmax", [x], {"axis": axis})


def logsumexp(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """log(sum(e^x)) over the axes, computed without overflow. If all x are -inf, it is -inf, with gradient 0; if one is
    inf, it is inf, with the gradient of max.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
    keepdims. ValueError: x does not have the axis."""
    return rounded_once("logsumexp", lambda x: _logsumexp(x, axis, keepdims), x)


def _logsumexp(x, axis, keepdims):
    most = max_propagate_nan(x, axis, keepdims=True)
    is_number = is_finite(most)
    shift = stop_gradient(where(is_number, most, 0.0))
    total = sum(exp(where(is_number, x, 0.0) - shift), axis, keepdims=True)
    y = where(is_number, log(total) + shift, where(equal(most, float("-inf")), float("-inf"), most))
    return y if keepdims else squeeze(y, range(len(y.shape or ())) if axis is None else axis)


def count_nonzero(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """Counts the elements that are not 0 along the axes, as int32; NaN is not 0.

    axis: an axis or several; None means all. The reduced axes vanish, or stay with size 1 where keepdims. ValueError: x
    does not have the axis."""
    require_tensor("count_nonzero", x)
    with typed_as("count_nonzero"):
        return sum(cast(not_equal(x, False), "int32"), axis, keepdims=keepdims)


def norm(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """sqrt(sum(x^2)) along the axes, the length of vectors; the gradient is 0 if all x are 0.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
    keepdims. ValueError: x does not have the axis."""
    return rounded_once("norm", lambda x: _root(sum(square(x), axis, keepdims=keepdims)), x)


def std(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """sqrt(variance(x)) over the axes, the standard deviation of the population as in NumPy; the gradient is 0 if all x
    are equal.

    x: of a floating type. axis: an axis or several; None means all. The reduced axes vanish, or keep size 1 with
    keepdims. ValueError: x does not have the axis."""
    return rounded_once("std", lambda x: _root(variance(x, axis, keepdims=keepdims)), x)


def _root(x):
    """sqrt(x), with the gradient 0 instead of infinity at 0."""
    is_zero = equal(x, 0.0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, x)))
