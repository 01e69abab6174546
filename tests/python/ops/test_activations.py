"""Activations that are made of other ops, and the leaky rectifier, against their formulas in float64."""

import math

import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from alloy.nn.activation import ACTIVATIONS
from alloy.ops import activation
from cases import FLOATS, ROUNDING

X = np.float32([-200, -90, -20, -3.5, -1, -1e-4, -1e-12, 0.3, 1e-3, 2, 2.9, 3.5, 17, 90, 200])
_erf = np.vectorize(math.erf)


def _sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def _bent(x):
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


# Each op, its value and its derivative.
# fmt: off
CASES = {
    "gelu": (al.gelu, lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
     lambda x: (1 + _erf(x / math.sqrt(2))) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)),
    "gelu tanh": (
        lambda x: al.gelu(x, approximate="tanh"),
        lambda x: x * (1 + np.tanh(_bent(x))) / 2,
        lambda x: (
            (1 + np.tanh(_bent(x))) / 2
            + x / 2 * (1 - np.tanh(_bent(x)) ** 2) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        ),
    ),
    "silu": (al.silu, lambda x: x * _sigmoid(x), lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x))),
    "elu": (al.elu, lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.where(x > 0, 1, np.exp(x))),
    "elu 2": (lambda x: al.elu(x, alpha=2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0))),
     lambda x: np.where(x > 0, 1, 2 * np.exp(x))),
    "softplus": (al.softplus, lambda x: np.logaddexp(0, x), _sigmoid),
    "hard_sigmoid": (al.hard_sigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1),
     lambda x: np.where(np.abs(x) < 3, 1 / 6, 0)),
    "hard_swish": (al.hard_swish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
     lambda x: np.where(np.abs(x) < 3, x / 3 + 0.5, x > 0)),
    "leaky_relu": (al.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x), lambda x: np.where(x > 0, 1, 0.01)),
    "leaky_relu 3": (lambda x: al.leaky_relu(x, 3), lambda x: np.maximum(x, 3 * x), lambda x: np.where(x > 0, 3, 1)),
}
# fmt: on


def test_every_activation_has_a_case():
    of_rows = {row["name"] for row in al.op_table()} - {"leaky_relu"}
    assert {*activation.__all__, *ACTIVATIONS} - of_rows == {name.split()[0] for name in CASES}


def _found(build, x):
    graph = al.Graph()
    feed = graph.placeholder(x.shape, x.dtype)
    y = build(feed)
    found = graph.compile([feed], [y, *al.gradients(al.sum(y), [feed])])(x)
    return [value.astype(np.float64) for value in found]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name, dtype):
    """To a few roundings of a float32, and of gelu to x times the 4 roundings that an erf of 1 may be wrong by; then to
    one rounding of the result."""
    build, value, derivative = CASES[name]
    x = X.astype(numpy_dtype(dtype))
    x = x[x != 0]  # where kinks are, and -1e-12 is 0 in float16
    found, gradient = _found(build, x)
    wide, rounding = x.astype(np.float64), ROUNDING[dtype] if dtype != "float32" else 0
    smallest = 2.0**-25 if dtype == "float16" else 1e-37
    with np.errstate(over="ignore"):
        least = smallest + (np.abs(wide) * 2.0**-23 if name.startswith("gelu") else 0)
        assert np.all(np.abs(found - value(wide)) <= (2e-6 + rounding) * np.abs(value(wide)) + least)
        np.testing.assert_allclose(gradient, derivative(wide), rtol=3e-6 + rounding, atol=2e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_gradients_at_kinks_are_one_sided_derivatives(name, dtype):
    build, _, derivative = CASES[name]
    kinks = np.float64([0, -0.0, 3, -3])
    _, found = _found(build, kinks.astype(numpy_dtype(dtype)))
    sides = [derivative(np.nextafter(kinks, to)) for to in (-np.inf, np.inf)]
    assert np.all(np.any(np.isclose(found, sides, rtol=3e-6 + ROUNDING[dtype], atol=2e-6), axis=0)), found


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_any_size(name):
    build, value, _ = CASES[name]
    x = np.float32([-1e18, -50, 50, 1e18])
    found, gradient = _found(build, x)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found, value(x.astype(np.float64)), rtol=2e-6, atol=1e-6)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", CASES)
def test_a_nan_stays_one(name):
    found, _ = _found(CASES[name][0], np.float32([np.nan, 1]))
    assert np.isnan(found[0]) and np.isfinite(found[1])


def test_at_zero_the_leaky_gradient_is_alpha():
    graph = al.Graph()
    x = graph.placeholder((2,))
    (gradient,) = graph.compile([x], al.gradients(al.sum(al.leaky_relu(x, 0.25)), [x]))(np.float32([0, -0.0]))
    np.testing.assert_array_equal(gradient, [0.25, 0.25])
