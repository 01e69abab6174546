"""Elementwise ops with operands or attributes of their own, and composites."""

from numbers import Real

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import require_all
from alloy.engine.dtypes import is_half, is_integer
from alloy.messages.location import mistake, typed_as
from alloy.messages.text import describe
from alloy.ops.apply import apply, as_tensor, common_dtype, require_tensor

__all__ = [
    "cast",
    "clamp",
    "expm1",
    "floor_divide",
    "full_like",
    "isclose",
    "masked_fill",
    "log1p",
    "ones_like",
    "stop_gradient",
    "where",
    "zeros_like",
]


def where(condition, a, b) -> Tensor:
    """Chooses a where the condition is true (not zero), else b.

    The three broadcast by NumPy's rule; a and b have one dtype, and so has the result. Each may be a number or an
    array, but not all of them. ValueError: the shapes do not broadcast. TypeError: the dtypes of a and b differ."""
    return apply("select", [condition, a, b], scalar_dtype=common_dtype("where", [a, b]), typed="where")


def masked_fill(x: Tensor, mask, value) -> Tensor:
    """x with the value where the mask is true (not zero), where no gradient flows back to x.

    mask: a tensor or an array that broadcasts to x. value: a number, or a tensor of x's dtype that broadcasts to x.
    ValueError: one of them does not broadcast to x."""
    require_tensor("masked_fill", x)
    with typed_as("masked_fill"):
        return where(apply("broadcast_like", [mask, x]), full_like(x, value), x)


def isclose(a, b, *, rtol=1e-5, atol=1e-8, equal_nan=False) -> Tensor:
    """Tells whether the elements of a and b, which broadcast, are equal or |a - b| <= atol + rtol * |b|, in float32.

    a, b: of any dtype but complex64; one of them may be a number or an array. equal_nan: whether NaN is close to NaN.
    ValueError: the shapes do not broadcast."""
    require_all("isclose", "numbers as rtol and atol", Real, [rtol, atol])
    given = next((x for x in (a, b) if isinstance(x, Tensor)), a)
    require_tensor("isclose", given)
    with typed_as("isclose"):
        a, b = (cast(as_tensor(given.graph, "isclose", x, "float32"), "float32") for x in (a, b))
        is_equal = apply("equal", [a, b])
    distance = abs(a - b)  # never finite if a or b is infinite
    is_close = is_equal | ((distance <= atol + rtol * abs(b)) & (distance < float("inf")))
    return is_close | (apply("is_nan", [a]) & apply("is_nan", [b])) if equal_nan else is_close


def clamp(x: Tensor, low, high) -> Tensor:
    """min(max(x, low), high).

    low and high broadcast to x. If low is above high, the result is high. A number wins over NaN. The gradient goes to
    the operand that is the result; to x if x equals a bound. The three have one dtype, of numbers; one or two may be
    numbers or arrays."""
    return apply("clamp", [x, low, high])


def cast(x: Tensor, dtype) -> Tensor:
    """Converts x to the dtype; float to integer truncates toward zero. Returns x itself if it has the dtype."""
    require_tensor("cast", x)
    if dtype is None:
        raise mistake("cast", "Expected an element type such as float32, got None", TypeError)
    return x if isinstance(dtype, str) and dtype == x.dtype else apply("cast", [x], {"dtype": dtype})


def widened(x: Tensor) -> Tensor:
    """Returns x in float32 if it is float16 or bfloat16, else as it is."""
    return cast(x, "float32") if is_half(x.dtype) else x


def stop_gradient(x: Tensor) -> Tensor:
    """Returns x, and lets no gradient flow back through it."""
    return apply("stop_gradient", [x])


def floor_divide(a, b) -> Tensor:
    """floor(a / b), Python's a // b; a % b is the remainder.

    The operands and the result have one dtype, of numbers; the shapes broadcast. One operand may be a number or an
    array. Division by 0 gives the result of al.divide. No gradient flows back. ValueError: the shapes do not broadcast.
    TypeError: the dtypes differ, or are not of numbers."""
    quotient = apply("divide", [a, b], typed="floor_divide")
    if is_half(quotient.dtype):
        a, b = (cast(one, "float32") if isinstance(one, Tensor) else one for one in (a, b))
        return cast(floor_divide(a, b), quotient.dtype)
    b = apply("broadcast_like", [b, quotient])
    if is_integer(quotient.dtype):
        left = a - quotient * b
        whole = quotient - cast(_signs_differ(left, b), quotient.dtype)
    else:  # fmod's remainder is exact even if the quotient was rounded up to a whole number
        left = apply("fmod", [a, b])
        whole = apply("rint", [(a - left) / b - cast(_signs_differ(left, b), left.dtype)])
    return stop_gradient(where(apply("equal", [b, 0]), quotient, whole))


def _signs_differ(left, b):
    return apply("not_equal", [left, 0]) & ((left < 0) ^ (b < 0))


def rounded_once(op, f, x, *others):
    """f(x, *others) for a floating x, computed in float32 if x is a half. Messages name op, which the user called."""
    require_tensor(op, x)
    with typed_as(op):
        if x.dtype == "float32":
            return f(x, *others)
        if not is_half(x.dtype):
            raise mistake(op, f"Expected a floating type, got {describe(x)}", TypeError)
        wide = [
            cast(as_tensor(x.graph, op, y, x.dtype), "float32") if isinstance(y, (Tensor, np.ndarray)) else y
            for y in others
        ]
        return cast(f(cast(x, "float32"), *wide), x.dtype)


def log1p(x: Tensor) -> Tensor:
    """log(1 + x), which loses no digits of a small x. x: of a floating type; halves are computed in float32."""
    return rounded_once("log1p", _log1p, x)


def _log1p(x):
    is_small = apply("less", [apply("abs", [x]), 0.5])
    # log(1 + x) = 2 atanh(x / (2 + x)). Each formula gets a harmless number where the other is used, so that its
    # gradient there is finite, too.
    small, large = where(is_small, x, 0.0), where(is_small, 1.0, x)
    return where(is_small, apply("atanh", [small / (small + 2.0)]) * 2.0, apply("log", [large + 1.0]))


def expm1(x: Tensor) -> Tensor:
    """e^x - 1, which loses no digits of a small x. x: of a floating type; halves are computed in float32."""
    return rounded_once("expm1", _expm1, x)


def _expm1(x):
    is_small = apply("less", [apply("abs", [x]), 1.0])
    # e^x - 1 = tanh(x / 2) (e^x + 1); log1p explains the harmless numbers.
    small, large = where(is_small, x, 0.0), where(is_small, 1.0, x)
    exact = apply("tanh", [small * 0.5]) * (apply("exp", [small]) + 1.0)
    return where(is_small, exact, apply("exp", [large]) - 1.0)


def zeros_like(x: Tensor) -> Tensor:
    """Returns zeros of the shape and dtype of x, known or not."""
    require_tensor("zeros_like", x)
    return full_like(x, False)  # a zero of any type


def ones_like(x: Tensor) -> Tensor:
    """Returns ones of the shape and dtype of x, known or not."""
    require_tensor("ones_like", x)
    return full_like(x, True)


def full_like(x: Tensor, value) -> Tensor:
    """Repeats the value, a number or a tensor of x's dtype that broadcasts to x, to the shape and dtype of x."""
    require_tensor("full_like", x)
    return apply("broadcast_like", [as_tensor(x.graph, "full_like", value, x.dtype), x])
