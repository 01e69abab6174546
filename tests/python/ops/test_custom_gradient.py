"""Functions of tensors with gradients of their own, against formulas in NumPy: wherever ops stand, of several arguments
and results, and with what is refused."""

import re

import numpy as np
import pytest

import alloy as al
from cases import HAS_COMPLEX
from kinds import HALVES
from running import run

X = np.float32([[-2, 0.5, 3], [0.25, -1, 1.5]])


@al.custom_gradient
def held(x, *, limit=1.0):
    """x, whose gradient is held between -limit and limit."""
    return x, lambda g: al.clamp(g, -limit, limit)


@al.custom_gradient
def rounded(x):
    return al.rint(x), lambda g: g


@al.custom_gradient
def doubled_sine(x):
    """sin x with twice its slope."""
    kept = al.cos(x)  # which only the gradient uses
    return al.sin(x), lambda g: g * kept * 2.0


def slope(f):
    """f, and its derivative by way of al.gradients of a weighted sum."""
    weights = np.float32([[1, -2, 3], [0.5, 5, -0.1]])
    return lambda x: (f(x), *al.gradients(al.sum(f(x) * weights), [x])), weights


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (None, None)], ids=str)
def test_a_gradient_of_ones_own(shape):
    build, weights = slope(lambda x: held(al.square(x), limit=0.75))
    y, found = run(build, X, shapes=[shape])
    np.testing.assert_array_equal(y, X**2)
    np.testing.assert_allclose(found, np.clip(weights, -0.75, 0.75) * 2 * X, rtol=1e-6)


def test_an_unknown_rank():
    def build(x):
        y = al.reshape(held(al.square(x), limit=0.75), (2, 3)) * 3.0
        return al.gradients(al.sum(y), [x])

    np.testing.assert_allclose(run(build, X, shapes=[None])[0], 0.75 * 2 * X, rtol=1e-6)


def test_rounding_that_lets_gradients_pass():
    build, weights = slope(lambda x: rounded(x * 1.5))
    y, found = run(build, X)
    np.testing.assert_array_equal(y, np.rint(X * np.float32(1.5)))
    np.testing.assert_allclose(found, weights * 1.5, rtol=1e-6)


def test_several_arguments_and_results():
    """Integers have no gradient, neither as arguments nor as results; a result that nothing uses has a zero one."""
    seen = []

    @al.custom_gradient
    def picked(x, index, scale):
        def gradient(given):
            seen.append(given)
            of_rows, of_index, of_sum = given
            return [of_rows * 10.0, None, of_sum * 100.0]

        return (al.gather(x, index, axis=0) * scale, index + 1, al.sum(x) * scale), lambda *g: gradient(g)

    def build(x, index, scale):
        rows, following, total = picked(x, index, scale)
        assert following.dtype == "int32"
        both = al.sum(rows * np.float32([[1], [2]])) + 3.0 * total
        return rows, following, total, *al.gradients(both, [x, scale]), *al.gradients(al.sum(rows), [x, scale])

    index, scale = np.int32([1, 0]), np.float32(0.5)
    rows, following, total, of_x, of_scale, alone, of_unused = run(build, X, index, scale)
    np.testing.assert_array_equal(rows, X[index] * scale)
    np.testing.assert_array_equal(following, index + 1)
    np.testing.assert_allclose(total, X.sum() * scale, rtol=1e-6)
    np.testing.assert_array_equal(of_x, np.repeat(np.float32([[10], [20]]), 3, 1))
    np.testing.assert_array_equal([of_scale, of_unused], [300, 0])
    np.testing.assert_array_equal(alone, np.full((2, 3), 10))
    ((of_rows, of_index, of_sum),) = seen  # called once
    assert (of_rows.shape, of_sum.shape, of_index) == ((2, 3), (), None)


def test_results_in_a_dict_and_the_argument_as_a_result():
    @al.custom_gradient
    def f(x):
        return {"same": x, "twice": [x * 2.0]}, lambda a, b: a * 7.0 + b

    def build(x):
        made = f(x)
        return made["same"], made["twice"][0], *al.gradients(al.sum(made["same"] + made["twice"][0] * 2.0), [x])

    same, twice, found = run(build, X)
    np.testing.assert_array_equal(same, X)
    np.testing.assert_array_equal(twice, 2 * X)
    np.testing.assert_array_equal(found, np.full(X.shape, 9))


def test_gradients_of_gradients():
    def build(x):
        (first,) = al.gradients(al.sum(doubled_sine(x)), [x])
        return first, *al.gradients(al.sum(first), [x])

    first, second = run(build, X)
    np.testing.assert_allclose(first, 2 * np.cos(X.astype(float)), rtol=1e-6)
    np.testing.assert_allclose(second, -2 * np.sin(X.astype(float)), rtol=1e-5)


def test_one_in_another_and_in_the_others_gradient():
    @al.custom_gradient
    def outer(x):
        return doubled_sine(x) * 3.0, lambda g: held(doubled_sine(x) * g, limit=0.5)

    def build(x):
        (first,) = al.gradients(al.sum(outer(x)), [x])
        return outer(x), first, *al.gradients(al.sum(first * 2.0), [x])

    y, first, second = run(build, X)
    np.testing.assert_allclose(y, 3 * np.sin(X.astype(float)), rtol=1e-6)
    np.testing.assert_allclose(first, np.sin(X.astype(float)), rtol=1e-6)
    # 2 is held at 0.5, and sin has twice its slope there, too
    np.testing.assert_allclose(second, 0.5 * 2 * np.cos(X.astype(float)), rtol=1e-6)


# ---- in conditionals and loops ----


@pytest.mark.parametrize("flag", [True, False])
def test_in_a_conditional(flag):
    def build(x, flag):
        y = al.cond(flag, lambda: doubled_sine(al.square(x)), lambda: rounded(x) * 5.0)
        return y, *al.gradients(al.sum(y), [x])

    y, found = run(build, X, np.array(flag))
    x = X.astype(float)
    np.testing.assert_allclose(y, np.sin(x**2) if flag else 5 * np.rint(x), rtol=1e-5)
    np.testing.assert_allclose(found, 4 * x * np.cos(x**2) if flag else np.full(x.shape, 5), rtol=1e-5)


def test_in_loops():
    """The gradient takes a value of each iteration that nothing else uses."""

    def build(x, w):
        y = al.for_loop(0, 3, lambda i, x: doubled_sine(x * w), x)
        z, rows = al.scan(lambda z, w: (doubled_sine(z * w),) * 2, x[0], w)
        return y, *al.gradients(al.sum(y), [x, w]), rows, *al.gradients(al.sum(rows) + al.sum(z), [x, w])

    y, of_x, of_w, rows, of_first, of_ws = run(build, X, X[::-1] + np.float32(0.3))
    x, w = X.astype(float), X[::-1].astype(float) + np.float32(0.3)

    def chain(x, factors):
        """Of doubled_sine(... doubled_sine(x * factors[0]) ...) the values and the slopes of all to x and factors."""
        values = [x]
        for factor in factors:
            values.append(np.sin(values[-1] * factor))
        return values

    def backwards(values, factors, given):
        g, of_factors = 0, []
        for value, factor, more in zip(values[-2::-1], factors[::-1], given[::-1]):
            g = (g + more) * 2 * np.cos(value * factor)
            of_factors.insert(0, g * value)
            g = g * factor
        return g, of_factors

    values = chain(x, [w] * 3)
    first, factors = backwards(values, [w] * 3, [0, 0, 1])
    np.testing.assert_allclose(y, values[-1], rtol=1e-5)
    np.testing.assert_allclose(of_x, first, rtol=1e-4)
    np.testing.assert_allclose(of_w, sum(factors), rtol=1e-4)
    values = chain(x[0], list(w))
    first, factors = backwards(values, list(w), [1, 2])
    np.testing.assert_allclose(rows, values[1:], rtol=1e-5)
    np.testing.assert_allclose(of_first, np.stack([first, 0 * first]), rtol=1e-4)
    np.testing.assert_allclose(of_ws, factors, rtol=1e-4)


def test_around_loops():
    """A function that loops, and a gradient that loops."""

    @al.custom_gradient
    def powered(x):
        y = al.for_loop(0, 2, lambda i, y: y * x, x)  # the third power
        return y, lambda g: al.for_loop(0, 4, lambda i, g: g * x, g)

    y, found = run(lambda x: (powered(x), *al.gradients(al.sum(powered(x)), [x])), X)
    np.testing.assert_allclose(y, X**3, rtol=1e-6)
    np.testing.assert_allclose(found, X**4, rtol=1e-6)


def test_a_loop_that_ends_by_a_predicate_has_none_still():
    graph = al.Graph()
    x = graph.placeholder(())
    y = al.while_loop(lambda x: x < 10.0, lambda x: held(x * 2.0), x)
    assert graph.compile([x], [y])(np.float32(3))[0] == 12
    with pytest.raises(ValueError, match="A loop that ends by a predicate has no gradient"):
        al.gradients(y, [x])


# ---- in training ----


class Quantized(al.nn.Layer):
    """x times weights that are whole multiples of 1/8; gradients pass the rounding."""

    def build(self, x):
        self.weights = self.add_variable(x.graph, "weights", lambda seed: np.full((3, 1), 0.3, np.float32))

    def forward(self, x, training):
        return x @ (rounded(self.weights * 8.0) / 8.0)


def test_in_a_layer_that_is_trained(rng):
    x = rng.normal(size=(64, 3)).astype(np.float32)
    y = x @ np.float32([[1.0], [-0.75], [0.125]])
    trainer = al.Trainer(Quantized(), "mean_squared_error", al.SGD(0.2))
    trainer.fit((x, y), epochs=20, batch_size=64, progress=False)
    assert trainer.evaluate((x, y))["loss"] < 1e-10
    (weights,) = trainer.model.variables
    np.testing.assert_array_equal(np.rint(weights.numpy() * 8) / 8, [[1], [-0.75], [0.125]])


@pytest.mark.parametrize("steps", [None, 3])
def test_in_a_step(storage, steps):
    """Against the same steps in NumPy; several of them in one dispatch are the same."""
    graph = al.Graph(storage=storage)
    x = graph.placeholder((2, 3))
    w = graph.variable(np.float32([1, -1, 2]), name="w")
    loss = al.sum(held(x * w, limit=0.5) * 3.0)
    step = graph.compile([x], [loss], al.SGD(0.1).minimize(loss), steps=steps)
    given = np.stack([X, X * 2, X - 1])
    losses = step(given)[0] if steps else np.array([step(x)[0] for x in given])
    expected, now = [], np.float64([1, -1, 2])
    for x in given:
        expected.append((x * now).sum() * 3)
        now = now - 0.1 * (0.5 * x).sum(0)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(w.numpy(), now, rtol=1e-5)


def test_steps_in_flight():
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    step = graph.compile([x], [held(x), *al.gradients(al.sum(held(x) * 3.0), [x])])
    for flight in [step.submit(X + i) for i in range(5)]:
        np.testing.assert_array_equal(flight[1], np.ones((2, 3)))


@pytest.mark.parametrize("dtype", HALVES)
def test_halves(dtype):
    def build(x):
        x = al.cast(x, dtype)
        y = doubled_sine(x)
        (found,) = al.gradients(al.sum(y), [x])
        assert y.dtype == found.dtype == dtype
        return al.cast(y, "float32"), al.cast(found, "float32")

    y, found = run(build, X)
    np.testing.assert_allclose(y, np.sin(X), rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(found, 2 * np.cos(X), rtol=2e-2, atol=2e-2)


@pytest.mark.skipif(not HAS_COMPLEX, reason="that system has no complex numbers")
def test_complex_numbers():
    @al.custom_gradient
    def turned(x):
        return x * np.complex64(1j), lambda g: g * 2.0

    def build(x):
        z = al.complex(x, x * 0.0)
        return al.gradients(al.sum(al.real(turned(z))), [x])

    np.testing.assert_array_equal(run(build, X)[0], np.full(X.shape, 2))


def test_no_gradient_flows_where_it_is_none():
    @al.custom_gradient
    def f(x, y):
        return x * y, lambda g: (None, g)

    of_x, of_y = run(lambda x, y: al.gradients(al.sum(f(x, y) * 2.0), [x, y]), X, X)
    np.testing.assert_array_equal(of_x, np.zeros(X.shape))
    np.testing.assert_array_equal(of_y, np.full(X.shape, 2))
    graph = al.Graph()
    w = graph.variable(np.float32([1, 2]), name="w")
    with pytest.raises(ValueError, match="The loss does not depend on the variable 'w'"):
        al.SGD(0.1).minimize(al.sum(f(w, graph.constant([1.0, 2.0]))))


def test_what_can_be_asked_of_it():
    graph = al.Graph()
    x = graph.placeholder((None, 3), name="x")
    y = held(x * 2.0)
    assert y.name == "" and re.match(r".*test_custom_gradient.py:\d+", y.location)
    graph.verify({x: (4, 3)}, [y])
    kinds = [op.kind for op in graph.inspect({x: (4, 3)}, [y])]
    assert kinds.count("custom_gradient") == 1 and "clamp" not in kinds
    assert held.__name__ == "held" and held.__doc__.startswith("x, whose")
    assert graph.run(held(x), {x: X}).tolist() == X.tolist()  # of a placeholder itself
    assert "region" in str(graph)


def test_in_the_scope_of_a_layer():
    model = al.nn.Sequential(Quantized())
    graph = al.Graph()
    y = model(graph.placeholder((None, 3)))
    names = [op.name for op in graph.inspect([], [y]) if op.kind == "custom_gradient"]
    assert names == ["quantized_0/rounded"]


# ---- what is refused ----

GRAPH = al.Graph()
A, N = GRAPH.placeholder((None, 3), name="a"), GRAPH.placeholder((3,), al.int32, name="n")
W = GRAPH.variable(np.ones(3, np.float32), name="w")


def f(function):
    """The decorated function, called f."""

    def f(*tensors, **options):
        return function(*tensors, **options)

    return al.custom_gradient(f)


def same(result=A, **options):
    return lambda *given: (result, lambda *g: options["gradient"])


# fmt: off
WRONG = [
    (lambda: al.custom_gradient(3), TypeError, r"[custom_gradient] Expected a function of tensors, got int"),
    (lambda: f(lambda: None)(), TypeError, r"[f] Expected a tensor by position, got none"),
    (lambda: f(lambda x, y: None)(A, 2.0), TypeError,
     r"[f] Expected tensors by position (all else is given by name), got float"),
    (lambda: f(lambda x: x)(A), TypeError,
     r"[f] Expected a pair of results and the function that is their gradient, got float32(?, 3)"),
    (lambda: f(lambda x: (x, 3))(A), TypeError, r"[f] Expected a pair of results and the function"),
    (lambda: f(lambda x: (2.0, lambda g: g))(A), TypeError, r"[f] Expected tensors as results, got float"),
    (lambda: f(lambda x: ((), lambda: None))(A), TypeError, r"[f] Expected a tensor as a result, got none"),
    (lambda: f(same(gradient=2.0))(A), TypeError, r"[f] Expected tensors or None as gradients, got float"),
    (lambda: f(same(gradient=(A, A)))(A), ValueError,
     r"[f] Expected 1 gradients, one for each argument, got 2"),
    (lambda: f(same(gradient=A))(A, W), ValueError, r"[f] Expected 2 gradients, one for each argument, got 1"),
    (lambda: f(same(gradient=(A, N)))(A, N), ValueError,
     r"[f] Expected None as the gradient of argument 1, int32(3,), got int32(3,)"),
    (lambda: f(same(gradient=(None, A)))(A, W), ValueError,
     r"[f] Expected float32(3,) as the gradient of argument 1, got float32(?, 3)"),
    (lambda: f(same(gradient=al.cast(A, "float16")))(A), TypeError,
     r"[f] Expected float32(?, 3) as the gradient of argument 0, got float16(?, 3)"),
    (lambda: f(lambda x: (x * W, lambda g: g))(A), ValueError,
     r"[f] Expected results of the arguments alone, got one of float32(3,) 'w', built at "),
    (lambda: f(lambda x: (x + al.sum(W * 2.0), lambda g: g))(A), ValueError,
     r"whose gradient would be lost; pass it as an argument, or use al.stop_gradient of it"),
]
# fmt: on


@pytest.mark.parametrize("call, kind, said", WRONG, ids=[said for *_, said in WRONG])
def test_what_is_refused(call, kind, said):
    with pytest.raises(kind) as error:
        call()
    assert said in str(error.value)
    assert re.search(r"; (built )?at .*test_custom_gradient.py:\d+\.$", str(error.value))
    assert GRAPH.compile([A], [held(A)])(X)[0].tolist() == X.tolist()  # the graph is as it was


def test_what_may_be_used_without_a_gradient():
    """Constants, integers, what is stopped, and shapes."""
    y = f(lambda x: (x * al.stop_gradient(W) + al.zeros_like(A) + al.cast(N, "float32"), lambda g: g))(A)
    (found,) = al.gradients(y, [A])
    made = GRAPH.compile([A, N], [found])(X, np.int32([1, 2, 3]))
    np.testing.assert_array_equal(made[0], np.ones(X.shape))


def test_an_exception_in_the_gradient():
    def gradient(g):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(lambda x: (x, gradient))(A)
    assert GRAPH.compile([A], [held(A)])(X)[0].tolist() == X.tolist()


def test_what_the_gradient_computes_stays_in_it():
    leaked = []

    def gradient(g):
        leaked.append(g * 2.0)
        return g

    f(lambda x: (x, gradient))(A)
    with pytest.raises(ValueError, match="called, and can be used only there"):
        leaked[0] + 1.0


def test_a_variable_is_not_assigned_in_the_gradient():
    def gradient(g):
        GRAPH.assign(W, al.sum(g, axis=0))
        return g

    with pytest.raises(ValueError, match="assign"):
        f(lambda x: (x, gradient))(A)


def test_shapes_that_only_a_run_knows():
    """Whether a gradient fits may be open until the step is compiled."""
    graph = al.Graph()
    x, y = graph.placeholder((None,)), graph.placeholder((None,), name="other")
    z = f(lambda x: (x, lambda g: y))(x)
    step = graph.compile([x, y], al.gradients(al.sum(z * z), [x]))
    np.testing.assert_array_equal(step(np.float32([1, 1]), np.float32([3, 4]))[0], [3, 4])
