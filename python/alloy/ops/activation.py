"""Activations made of the op table's rows. float16 and bfloat16 are computed in float32 and rounded once. At a kink the
gradient is a one-sided derivative, PyTorch's."""

import math

from alloy._core import Tensor
from alloy.engine.arrays import as_choice
from alloy.ops.apply import apply
from alloy.ops.elementwise import clamp, expm1, rounded_once, where
from alloy.ops.table import abs, atanh, erf, exp, maximum, sigmoid, tanh

__all__ = ["elu", "gelu", "hard_sigmoid", "hard_swish", "leaky_relu", "silu", "softplus"]


def leaky_relu(x: Tensor, alpha=0.01) -> Tensor:
    """max(x, alpha * x): with alpha below 1, x if positive, else alpha * x. At 0 the gradient is alpha.

    alpha: a number, or a tensor or array that broadcasts to x."""
    return rounded_once("leaky_relu", lambda x, alpha: apply("leaky_relu", [x, alpha]), x, alpha)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """x (1 + erf(x / sqrt(2))) / 2: x times the probability that a normal number is below x (Hendrycks and Gimpel,
    2016).

    approximate: "none", or "tanh": x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, of the same paper. ValueError:
    another."""
    as_choice("gelu", "approximate", approximate, ("none", "tanh"))
    return rounded_once("gelu", _gelu_by_tanh if approximate == "tanh" else _gelu, x)


def _gelu(x):
    return x * 0.5 * (erf(x * 0.5**0.5) + 1.0)


def _gelu_by_tanh(x):
    inner = x * (2 / math.pi) ** 0.5 * (x * x * 0.044715 + 1.0)
    # Beyond 10 the tanh is 1 to the last digit; the clamp gives an infinite x a gradient, too.
    return x * 0.5 * (tanh(clamp(inner, -10.0, 10.0)) + 1.0)


def silu(x: Tensor) -> Tensor:
    """x / (1 + e^-x), also known as swish."""
    return rounded_once("silu", lambda x: x * sigmoid(x), x)


def elu(x: Tensor, alpha=1.0) -> Tensor:
    """x if positive, else alpha (e^x - 1) (Clevert et al., 2015). At 0 the gradient is alpha.

    alpha: a number, or a tensor or array that broadcasts to x."""
    return rounded_once("elu", _elu, x, alpha)


def _elu(x, alpha):
    is_above = x > 0.0
    return where(is_above, x, expm1(where(is_above, 0.0, x)) * alpha)


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), computed without overflow."""
    return rounded_once("softplus", _softplus, x)


def _softplus(x):
    e = exp(-abs(x))
    # log(1 + e) = 2 atanh(e / (2 + e)), which loses no digits of a small e.
    return maximum(x, 0.0) + atanh(e / (e + 2.0)) * 2.0


def hard_sigmoid(x: Tensor) -> Tensor:
    """min(max(x / 6 + 1/2, 0), 1)."""
    return rounded_once("hard_sigmoid", _hard_sigmoid, x)


def _hard_sigmoid(x):
    line = x * (1 / 6) + 0.5
    return where(line < 0.0, 0.0, where(line > 1.0, 1.0, line))  # unlike clamp, it keeps a NaN


def hard_swish(x: Tensor) -> Tensor:
    """x * hard_sigmoid(x) (Howard et al., 2019)."""
    return rounded_once("hard_swish", lambda x: x * _hard_sigmoid(x), x)
