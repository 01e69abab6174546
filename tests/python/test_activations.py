"""Activations that are made of other ops, and the leaky rectifier, against their formulas in float64."""

import math

import numpy as np
import pytest

import alloy as al

X = np.float32([-200, -90, -20, -3.5, -1, -1e-4, -1e-12, 0.3, 1e-3, 2, 2.9, 3.5, 17, 90, 200])
_erf = np.vectorize(math.erf)


def _sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


# Each op, its value and its derivative.
CASES = {
    "gelu": (
        al.gelu,
        lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
        lambda x: (1 + _erf(x / math.sqrt(2))) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    ),
    "silu": (al.silu, lambda x: x * _sigmoid(x), lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x))),
    "elu": (al.elu, lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.where(x > 0, 1, np.exp(x))),
    "elu 2": (
        lambda x: al.elu(x, alpha=2.0),
        lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0))),
        lambda x: np.where(x > 0, 1, 2 * np.exp(x)),
    ),
    "softplus": (al.softplus, lambda x: np.logaddexp(0, x), _sigmoid),
    "hard_sigmoid": (
        al.hard_sigmoid,
        lambda x: np.clip(x / 6 + 0.5, 0, 1),
        lambda x: np.where(np.abs(x) < 3, 1 / 6, 0),
    ),
    "leaky_relu": (al.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x), lambda x: np.where(x > 0, 1, 0.01)),
    "leaky_relu 3": (lambda x: al.leaky_relu(x, 3), lambda x: np.maximum(x, 3 * x), lambda x: np.where(x > 0, 3, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    """To a few roundings of the result; of gelu, to x times the 4 roundings that an erf of 1 may be wrong by."""
    build, value, derivative = CASES[name]
    graph = al.Graph()
    x = graph.placeholder(X.shape)
    y = build(x)
    found, gradient = graph.compile([x], [y, *al.gradients(al.sum(y), [x])])(X)
    wide = X.astype(np.float64)
    with np.errstate(over="ignore"):
        least = np.abs(wide) * 2.0**-23 if name == "gelu" else 1e-37
        assert np.all(np.abs(found - value(wide)) <= 2e-6 * np.abs(value(wide)) + least)
        np.testing.assert_allclose(gradient, derivative(wide), rtol=3e-6, atol=2e-6)


def test_at_zero_the_leaky_gradient_is_alpha():
    graph = al.Graph()
    x = graph.placeholder((2,))
    (gradient,) = graph.compile([x], al.gradients(al.sum(al.leaky_relu(x, 0.25)), [x]))(np.float32([0, -0.0]))
    np.testing.assert_array_equal(gradient, [0.25, 0.25])


@pytest.mark.parametrize("given, alpha", [((), 0.3), ((0.125,), 0.125)])
def test_a_layer_of_leaky_rectifiers(given, alpha):
    layer, graph = al.nn.LeakyReLU(*given), al.Graph()
    x = graph.placeholder((2, 2))
    given = np.float32([[-8, 4], [-2, 0]])
    (y,) = graph.compile([x], [layer(x)])(given)
    np.testing.assert_allclose(y, np.where(given > 0, given, alpha * given), rtol=1e-6)
