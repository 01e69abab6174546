"""Gradients where frameworks are usually wrong: ties, kinks, poles, overflow, broadcasting, sharing, and
where no gradient flows."""

import itertools

import numpy as np
import pytest

import alloy as al
import reference as ref
from alloy.engine.dtypes import numpy_dtype
from kinds import HALVES


def gradients(build, *arrays, weights=None):
    """Of sum(build(...) * weights) to every array."""
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape) for array in map(np.float32, arrays)]
    y = build(*feeds)
    found = al.gradients(al.sum(y if weights is None else y * np.float32(weights)), feeds)
    return graph.compile(feeds, found)(*map(np.float32, arrays))


def test_ties_in_max_pooling_go_to_the_first(rng):
    """Overlapping windows of few distinct values, against a loop over the windows."""
    x = rng.integers(0, 3, (2, 7, 6, 3)).astype(np.float32)
    g = rng.normal(size=(2, 3, 4, 3)).astype(np.float32)
    (found,) = gradients(lambda x: al.max_pool2d(x, window=3, strides=(2, 1)), x, weights=g)
    expected = np.zeros(x.shape)
    for n, i, j, c in np.ndindex(g.shape):
        window = x[n, 2 * i : 2 * i + 3, j : j + 3, c]
        row, column = np.unravel_index(np.argmax(window), window.shape)
        expected[n, 2 * i + row, j + column, c] += g[n, i, j, c]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def nan_among(values, *shape):
    """Every combination of the values, of which one is NaN, as arrays of that shape."""
    return [np.float32(column) for column in np.array(list(itertools.product([np.nan, *values], repeat=shape[0]))).T]


@pytest.mark.parametrize("op, value", [(al.maximum, np.fmax), (al.minimum, np.fmin)], ids=["maximum", "minimum"])
def test_a_gradient_follows_the_value_of_an_extreme(op, value):
    """PyTorch's for numbers, halves at ties; of a NaN and a number the number gets it."""
    a, b = nan_among([-np.inf, -1, 0, 1, np.inf], 2)
    of_a, of_b = gradients(op, a, b, weights=np.full(a.shape, 8))
    taken = value(a, b)
    for x, other, found in (a, b, of_a), (b, a, of_b):
        expected = np.where(x == other, 4, np.where(x == taken, 8, 0))
        known = ~(np.isnan(x) & np.isnan(other))
        np.testing.assert_array_equal(found[known], expected[known])


def origin_of_clamped(x, low, high):
    """Which operand min(max(x, low), high) is; x at a bound."""
    held = np.fmax(x, low)
    if not np.isnan(high) and not held <= high:
        return 2
    return 0 if held == x else 1


def test_a_gradient_follows_the_value_of_clamp():
    """Bounds cross here, and bounds and x are NaN."""
    given = nan_among([-2, -1, 0, 1, 2], 3)
    g = np.arange(1, given[0].size + 1, dtype=np.float32)
    found = np.array(gradients(al.clamp, *given, weights=g))
    origins = np.array([origin_of_clamped(*numbers) for numbers in zip(*given)])
    known = ~np.all(np.isnan(given), 0)
    expected = np.where(np.arange(3)[:, None] == origins, g, 0)
    np.testing.assert_array_equal(found[:, known], expected[:, known])
    # PyTorch's formulas, which give nothing to a low bound that is the high one.
    x, low, high = given
    numbers = ~np.any(np.isnan(given), 0) & ~((x < low) & (low == high))
    torch = (x >= low) & (x <= high), (x < low) & (low < high), (x > high) | (high < low)
    np.testing.assert_array_equal(found[:, numbers], (torch * g)[:, numbers])


def test_a_nan_is_seen_behind_relu_and_pooling():
    x = np.float32([np.nan, -1, 0, 2]).reshape(1, 2, 2, 1)
    graph = al.Graph()
    feed = graph.placeholder(x.shape)
    relu, pooled = al.relu(feed), al.max_pool2d(feed)
    slopes = [*al.gradients(al.sum(relu * 3.0), [feed]), *al.gradients(al.sum(pooled * 5.0), [feed])]
    run = graph.compile([feed], [relu, al.mean(relu), pooled, *slopes])
    value, mean, pooled, of_relu, of_pooling = run(x)
    np.testing.assert_array_equal(value.ravel(), [np.nan, 0, 0, 2])
    np.testing.assert_array_equal([mean, pooled.item()], [np.nan, np.nan])
    np.testing.assert_array_equal(of_relu.ravel(), [3, 0, 0, 3])  # PyTorch: 0 where x <= 0
    np.testing.assert_array_equal(of_pooling.ravel(), [5, 0, 0, 0])


def test_the_first_nan_of_a_window_takes_the_gradient():
    x = np.float32([[1, np.nan, np.nan, 7], [-np.inf, -np.inf, -np.inf, -np.inf]])[:, None, :, None]
    (found,) = gradients(lambda x: al.max_pool2d(x, window=(1, 4)), x)
    np.testing.assert_array_equal(found[:, 0, :, 0], [[0, 1, 0, 0], [1, 0, 0, 0]])


# ---- derivatives of derivatives ----


def second(build, x, weights=1.0):
    """The gradient of the sum of the squared gradient of sum(build(x) * weights), and that gradient."""
    x = np.float32(x)
    graph = al.Graph()
    feed = graph.placeholder((None, *x.shape[1:]))
    (first,) = al.gradients(al.sum(build(feed) * weights), [feed])
    return graph.compile([feed], [first, *al.gradients(al.sum(al.square(first)) * 0.5, [feed])])(x)


# fmt: off
TWICE = [
    (lambda x: al.relu(x) ** 3.0, lambda x: 3 * np.maximum(x, 0) ** 2, lambda x: 6 * np.maximum(x, 0)),
    (lambda x: al.relu(al.square(x) - 1.0), lambda x: 2 * x * (x * x > 1), lambda x: 2 * (x * x > 1)),
    (al.sigmoid, lambda x: np.exp(x) / (1 + np.exp(x)) ** 2,
     lambda x: np.exp(x) * (1 - np.exp(x)) / (1 + np.exp(x)) ** 3),
    (lambda x: al.maximum(x, 0.5 * x) ** 2.0, lambda x: np.where(x > 0, 2 * x, x / 2),
     lambda x: np.where(x > 0, 2, 0.5)),
]
# fmt: on


@pytest.mark.parametrize("build, first, slope", TWICE, ids=["relu", "relu of a square", "sigmoid", "maximum"])
def test_second_derivatives(build, first, slope):
    x = np.float32([-4, -1.5, -0.3, -1e-3, 1e-3, 0.7, 2, 5])
    found, of_found = second(build, x)
    np.testing.assert_allclose(found, first(x.astype(float)), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(of_found, first(x.astype(float)) * slope(x.astype(float)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": 3, "strides": (2, 1)},
        {"window": (3, 2), "padding": "same"},
        {"window": 3, "strides": 2, "padding": ((1, 1), (1, 1))},
        {"window": 2, "data_layout": "NCHW"},
    ],
    ids=str,
)
def test_second_derivatives_through_pooling(options, rng):
    """Of sum(pool(x^2) g): the gradient is 2 x G with G = sum of g over the windows that x^2 won, so that of half
    its square is 4 x G^2. Values of few kinds: ties."""
    x = rng.integers(1, 4, (2, 6, 6, 4)).astype(np.float32)
    graph = al.Graph()
    g = rng.normal(size=al.max_pool2d(graph.placeholder(x.shape), **options).shape).astype(np.float32)
    (won,) = gradients(lambda x: al.max_pool2d(x, **options), x, weights=g)
    found, of_found = second(lambda x: al.max_pool2d(al.square(x), **options), x, g)
    np.testing.assert_allclose(found, 2 * x * won, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_found, 4 * x * won**2, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("x", [[2, -3, 5, 7], [0, -3, 5, 7], [0, -3, 0, 7], [0, 0, 0, 7]], ids=str)
def test_second_derivatives_of_a_product(x):
    """d2 / dx_i dx_j is the product of all others, whatever is 0."""
    graph = al.Graph()
    feed, w = graph.placeholder((4,)), np.float32([1, 10, 100, 1000])
    (first,) = al.gradients(al.prod(feed), [feed])
    (found,) = graph.compile([feed], al.gradients(al.sum(first * w), [feed]))(np.float32(x))
    hessian = [[0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(found, hessian @ w, rtol=1e-6)


def test_second_derivatives_of_a_network(rng):
    """The Hessian times a direction, against the difference of two gradients."""
    graph = al.Graph()
    x = graph.constant(rng.normal(size=(8, 6, 6, 1)).astype("f"))
    y = graph.constant(np.eye(3, dtype="f")[rng.integers(0, 3, 8)])
    variables = [graph.variable(rng.normal(size=shape).astype("f") * 0.5) for shape in [(3, 3, 1, 4), (16, 3), (3,)]]
    kernel, weights, bias = variables
    hidden = al.max_pool2d(al.relu(al.conv2d(x, kernel)))
    logits = al.flatten(al.sigmoid(hidden) * al.tanh(hidden)) @ weights + bias
    loss = al.mean(al.losses.softmax_cross_entropy(logits, y)) + al.mean(al.losses.binary_cross_entropy(logits, y))
    first = al.gradients(loss, variables)
    directions = [rng.normal(size=v.shape).astype("f") for v in variables]
    along = [al.sum(g * d) for g, d in zip(first, directions)]
    second = graph.compile([], al.gradients(along[0] + along[1] + along[2], variables))()
    run, start, h = graph.compile([], first), [v.numpy() for v in variables], np.float32(2e-3)

    def moved(step):
        for v, value, direction in zip(variables, start, directions):
            v.assign(value + step * direction)
        return run()

    for found, above, below in zip(second, moved(h), moved(-h)):
        # Roundings of the gradients, 1e-7 of them, divided by h.
        expected = (above - below) / (2 * h)
        np.testing.assert_allclose(found, expected, rtol=5e-3, atol=2e-3 * np.max(np.abs(expected)))


def test_what_pooling_took_is_taken_where_there_are_nans():
    """The adjoint of max_pool2d's gradient takes from the place that the gradient goes to."""
    graph = al.Graph()
    x, g, taken = graph.placeholder((1, 1, 4, 1)), graph.placeholder((1, 1, 2, 1)), graph.placeholder((1, 1, 4, 1))
    (placed,) = al.gradients(al.sum(al.max_pool2d(x, window=(1, 3), strides=1) * g), [x])
    (found,) = al.gradients(al.sum(placed * taken), [g])
    run = graph.compile([x, g, taken], [found])
    for values, expected in [
        ([1, np.nan, 2, 3], [20, 20]),
        ([np.nan, np.nan, 5, 1], [10, 20]),
        ([-np.inf, -np.inf, -np.inf, -np.inf], [10, 20]),
        ([4, 4, 1, 4], [10, 20]),
    ]:
        (value,) = run(
            np.float32(values).reshape(x.shape), np.zeros(g.shape, "f"), np.float32([10, 20, 30, 40]).reshape(x.shape)
        )
        np.testing.assert_array_equal(value.ravel(), expected)


def test_a_step_of_an_optimizer_has_no_gradient():
    graph = al.Graph()
    rate, values, slope = (graph.placeholder((1,)) for _ in range(3))
    moved = graph.apply("sgd", [rate, values, slope], {}, "", "here.py:1")[0]
    with pytest.raises(ValueError, match=r"^\[sgd\] An optimizer's step has no gradient; built at here\.py:1\.$"):
        al.gradients(moved, [values])


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_remainders_flow_back_by_the_whole_quotient(dtype):
    """Also where a / b would be rounded up to a whole number."""
    b = np.repeat(np.float32([0.3, 0.7, 1.1, 3, 7, 13]), 40).astype(numpy_dtype(dtype))
    a = np.nextafter((b * np.tile(np.arange(1, 41), 6)).astype(b.dtype), b.dtype.type(0))
    a = np.concatenate([a, -a])
    b = np.concatenate([b, b])
    graph = al.Graph()
    x, y = graph.placeholder(a.shape, dtype), graph.placeholder(b.shape, dtype)
    found = [al.gradients(al.sum(op(x, y)), [y])[0] for op in (al.fmod, al.mod)]
    exact = a.astype(np.float64) / b.astype(np.float64)
    for value, rounded in zip(graph.compile([x, y], found)(a, b), (np.trunc, np.floor)):
        np.testing.assert_array_equal(value.astype(np.float64), -rounded(exact))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "function, at, slope",
    [
        (al.atan, [300, 200, -3, 0.5], lambda x: 1 / (1 + x * x)),
        (al.asinh, [300, -1000, 3, 0.5], lambda x: 1 / np.sqrt(x * x + 1)),
        (al.acosh, [300, 1000, 3, 1.0625], lambda x: 1 / np.sqrt(x * x - 1)),
        (al.asin, [0.9921875, -0.96875, 0.5], lambda x: 1 / np.sqrt(1 - x * x)),
        (al.acos, [0.9921875, -0.96875, 0.5], lambda x: -1 / np.sqrt(1 - x * x)),
        (al.atanh, [0.9921875, -0.96875, 0.5], lambda x: 1 / (1 - x * x)),
        (al.erf, [2.125, -1.625, 0.5], lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
        (lambda x: al.atan2(x, x * 0 + 2), [300, -1000, 3], lambda x: 2 / (x * x + 4)),
        (lambda x: al.atan2(x * 0 + 2, x), [300, -1000, 3], lambda x: -2 / (x * x + 4)),
    ],
)
def test_gradients_of_halves_are_rounded_once(function, at, slope, dtype):
    x = np.array(at).astype(numpy_dtype(dtype))
    graph = al.Graph()
    feed = graph.placeholder(x.shape, dtype)
    (found,) = graph.compile([feed], al.gradients(al.sum(function(feed)), [feed]))(x)
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    np.testing.assert_allclose(found.astype(np.float64), slope(x.astype(np.float64)), rtol=rounding * 1.01, atol=2**-25)


@pytest.mark.parametrize("function", [al.norm, al.std, lambda x: al.logsumexp(x - np.float32(np.inf))])
def test_gradients_of_nothing_are_zeros(function):
    np.testing.assert_array_equal(gradients(function, [0, 0, 0])[0], [0, 0, 0])


def test_logsumexp_of_any_size():
    graph = al.Graph()
    x = graph.placeholder((5, 2))
    (value,) = graph.compile([x], [al.logsumexp(x, axis=1)])(
        np.float32([[1e4, 1e4], [-1e4, -1e4], [-np.inf, 3], [np.inf, 1], [-np.inf, -np.inf]])
    )
    np.testing.assert_allclose(value, [1e4 + np.log(2), -1e4 + np.log(2), 3, np.inf, -np.inf], rtol=1e-6)


def test_padding_never_takes_a_gradient():
    (found,) = gradients(lambda x: al.max_pool2d(x, window=3, strides=1, padding="same"), -np.ones((1, 2, 2, 1)))
    np.testing.assert_array_equal(found[0, ..., 0], [[4, 0], [0, 0]])


@pytest.mark.parametrize(
    "function, at, expected",
    [
        (al.relu, [0, -0.0, 1e-30, -1e-30], [0, 0, 1, 0]),
        (al.abs, [0, -0.0, 2, -2], [0, 0, 1, -1]),
        (al.sqrt, [0, 0.25], [np.inf, 1]),
        (al.log, [0, 0.5], [np.inf, 2]),
        (lambda x: x**0, [0, -2, 3], [0, 0, 0]),
        (lambda x: x**1, [0, -2, 3], [1, 1, 1]),
        (lambda x: x**2, [0, -2, 3], [0, -4, 6]),
        (lambda x: x**-1, [-2, 4], [-0.25, -0.0625]),
        (lambda x: x**0.5, [0, 4], [np.inf, 0.25]),
        (lambda x: 0.0**x, [2, 1], [0, 0]),
        (lambda x: al.power(x, x * 0 + np.float32([0, 1, 2, 0])), [0, 0, 0, 2], [0, 1, 0, 0]),
        (lambda x: al.power(np.float32([0, 0, 1]), x), [1, 2, 5], [0, 0, 0]),
        (lambda x: al.divide_no_nan(x, np.float32([0, 2])), [3, 3], [0, 0.5]),
        (lambda x: al.divide_no_nan(3, x), [0, 2], [0, -0.75]),
        (lambda x: al.max(x), [3, 1, 3, 2], [0.5, 0, 0.5, 0]),
        (lambda x: al.min(x), [1, 1, 2], [0.5, 0.5, 0]),
        (lambda x: al.prod(x), [0, 2, 3], [6, 0, 0]),
        (lambda x: al.prod(x), [0, 2, 0], [0, 0, 0]),
        (lambda x: al.variance(x), [5, 5, 5], [0, 0, 0]),
        (al.norm, [0, 0], [0, 0]),
        (al.norm, [3, 4], [0.6, 0.8]),
        (al.std, [5, 5], [0, 0]),
        (al.logsumexp, [np.inf, 1, np.inf], [0.5, 0, 0.5]),
        (al.logsumexp, [-np.inf, 3], [0, 1]),
        (al.median, [3, 1, 2], [0, 0, 1]),
        (al.median, [4, 1, 2, 3], [0, 0, 0.5, 0.5]),
        (al.median, [1, 1, 1], [0, 1, 0]),
        (al.median, [np.inf, 1, -np.inf], [0, 1, 0]),
        (al.median, [np.nan, 1, 2], [0, 0, 0]),
        (lambda x: al.masked_fill(al.log(x), np.array([True, False]), 3), [-1, 2], [0, 0.5]),
        (lambda x: al.masked_fill(x, np.array([True, False]), 3), [np.nan, 2], [0, 1]),
        (lambda x: al.tril(x[None] * np.float32([[1], [1]])), [np.nan, np.inf], [2, 1]),
    ],
)
def test_kinks_and_poles(function, at, expected):
    np.testing.assert_allclose(gradients(function, at)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("function, reference", [(al.log_softmax, ref.log_softmax), (al.softmax, ref.softmax)])
def test_softmax_of_large_logits(function, reference, rng):
    """Both derivatives from the definition of softmax p: g - p sum(g), and p (g - sum(g p))."""
    x = np.float32([[1e4, 9999, -1e4], [-3e38, 0, 1], [88.8, 89, 700], [1e30, 1e30, 1e30]])
    g = rng.normal(size=x.shape).astype(np.float32)
    p = ref.softmax(x.astype(float))
    expected = {al.log_softmax: g - p * g.sum(-1, keepdims=True), al.softmax: p * (g - (g * p).sum(-1, keepdims=True))}[
        function
    ]
    graph = al.Graph()
    feed = graph.placeholder(x.shape)
    (value,) = graph.compile([feed], [function(feed)])(x)
    np.testing.assert_allclose(value, reference(x.astype(float)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradients(function, x, weights=g)[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (1, 1, 1, 4), (3, 1, 1, 1), (6, 1, 4), (1,), ()], ids=str)
@pytest.mark.parametrize("op", [np.add, np.subtract, np.multiply, np.divide], ids=lambda op: op.__name__)
def test_broadcast_against_images(op, shape, rng):
    """The gradient of what is broadcast is the sum over its copies."""
    x, b = rng.uniform(0.5, 2, (3, 6, 5, 4)), rng.uniform(0.5, 2, shape)
    g = rng.normal(size=x.shape)
    of_x, of_b = {"add": (g, g), "subtract": (g, -g), "multiply": (g * b, g * x), "divide": (g / b, -g * x / b**2)}[
        op.__name__
    ]
    padded = (1,) * (4 - len(shape)) + shape
    axes = tuple(axis for axis in range(4) if padded[axis] == 1)
    found = gradients(lambda x, b: getattr(al, op.__name__)(x, b), x, b, weights=g)
    np.testing.assert_allclose(found[0], of_x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], of_b.sum(axes).reshape(shape), rtol=1e-5, atol=1e-5)
    found = gradients(lambda x, b: getattr(al, op.__name__)(b, x), x, b, weights=g)
    of_x = -g * b / x**2 if op is np.divide else -g if op is np.subtract else of_x
    np.testing.assert_allclose(found[0], of_x, rtol=1e-5, atol=1e-6)


def test_a_variable_used_twice(rng):
    """As weights of two products, and in the loss itself: the gradients add up, and it is updated once."""
    w, x = rng.normal(size=(4, 4)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
    graph = al.Graph()
    variable, feed = graph.variable(w), graph.placeholder(x.shape)
    loss = al.sum((feed @ variable) @ variable) + al.sum(variable * variable)
    updates = al.SGD(0.1).minimize(loss)
    assert [update.variable for update in updates].count(variable) == 1
    graph.compile([feed], [], updates)(x)
    ones, wide = np.ones((3, 4)), w.astype(float)
    expected = (x @ wide).T @ ones + x.T @ (ones @ wide.T) + 2 * wide
    np.testing.assert_allclose(variable.numpy(), wide - 0.1 * expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradients(lambda a: a * a + a, [3.0])[0], [7])


def test_a_tensor_that_does_not_reach_the_loss():
    graph = al.Graph()
    x, apart, w = graph.placeholder((2, 3)), graph.placeholder((4, 1)), graph.variable(np.float32([1, 2]))
    beside = x * 2  # on the way from x, but not to the loss
    run = graph.compile([x, apart], al.gradients(al.sum(x * x), [apart, w, beside]))
    found = run(np.ones((2, 3), "f"), np.ones((4, 1), "f"))
    for value, shape in zip(found, [(4, 1), (2,), (2, 3)], strict=True):
        np.testing.assert_array_equal(value, np.zeros(shape))
    with pytest.raises(ValueError, match="does not depend on the variable"):
        al.SGD(0.1).minimize(al.sum(x * x))


# ---- stop_gradient ----


def test_no_gradient_passes_a_stop(rng):
    x = rng.normal(size=5)
    (found,) = gradients(lambda x: x * al.stop_gradient(al.exp(x)), x)
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-5)
    np.testing.assert_array_equal(gradients(al.stop_gradient, x)[0], np.zeros(5))


def test_what_stands_behind_a_stop_needs_no_gradient():
    """An op without one is no obstacle there, and a variable there is not moved."""
    graph = al.Graph()
    x, frozen, w = graph.placeholder((3,)), graph.variable(np.float32([1])), graph.variable(np.float32([1]))
    target = al.stop_gradient(al.relu_gradient(x, x * frozen))
    loss = al.mean(al.square(x * w - target))
    with pytest.raises(ValueError, match="does not depend on the variable"):
        al.SGD(0.5).minimize(loss, [frozen])
    values = np.float32([1, 2, -3])
    graph.compile([x], [], al.SGD(0.5).minimize(loss, [w]))(values)
    slope = np.mean(2 * (values - values * (values > 0)) * values)
    np.testing.assert_allclose(w.numpy(), [1 - 0.5 * slope], rtol=1e-6)
    assert frozen.numpy() == [1]


# ---- which variables an optimizer moves ----


@pytest.mark.parametrize("optimizer", [al.SGD, al.Adam])
def test_trainable_flags(optimizer):
    graph = al.Graph()
    names = ["moves", "made frozen", "frozen later", "thawed"]
    variables = [graph.variable(np.ones(2, "f"), name, trainable=name in names[::2]) for name in names]
    variables[2].trainable, variables[3].trainable = False, True
    assert [v.trainable for v in graph.variables] == [True, False, False, True]
    loss = al.sum(sum((v * v for v in variables[1:]), variables[0] * variables[0]))
    graph.compile([], [], optimizer(0.1).minimize(loss))()
    assert [bool(np.all(v.numpy() == 1)) for v in variables] == [False, True, True, False]
    graph.compile([], [], optimizer(0.1).minimize(loss, [variables[1]]))()
    assert not np.any(variables[1].numpy() == 1), "what minimize is given is moved, trainable or not"
