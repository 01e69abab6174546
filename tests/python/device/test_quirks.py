"""Programs that Apple's framework cannot bear as they are: what Alloy makes of them is right on every system, real or
imitated."""

from statistics import NormalDist

import numpy as np
import pytest

import alloy as al
from quirks import QUIRKS, has, version
from running import run

CASES = {}
FIVE = np.random.default_rng(0).normal(size=(2, 3, 4, 5, 6)).astype(np.float32)


def case(*quirks):
    def keep(test):
        for quirk in quirks:
            CASES.setdefault(quirk, []).append(test)
        return test

    return keep


def system():
    """The version of macOS that computes or is imitated, or None."""
    name = al.device().system
    return version(name.removeprefix("macOS ")) if name else None


def check(build, arrays, *expected):
    for value, wanted in zip(run(build, *arrays), expected, strict=True):
        wanted = np.asarray(wanted)
        assert value.shape == wanted.shape
        np.testing.assert_array_equal(value, wanted)


def integers(shape, dtype=np.float32, low=-4, high=5):
    """Small integers, whose sums float32 holds exactly."""
    return np.random.default_rng(0).integers(low, high, shape).astype(dtype)


def with_gradient(build, *arrays):
    """Weights, and the gradients of the sum of what a graph computes times these."""
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    y = build(*feeds)
    weights = np.cos(np.arange(np.prod(y.shape))).reshape(y.shape).astype(np.float32)
    return weights, graph.compile(feeds, al.gradients(al.sum(y * weights), feeds))(*arrays)


def close(given, expected, scale=1e-6):
    """To a part of the largest number: sums of a few dozen float32."""
    expected = np.asarray(expected)
    assert given.shape == expected.shape
    np.testing.assert_allclose(given, expected, rtol=0, atol=scale * max(1, np.abs(expected).max()))


@case("reduction_beyond_rank4")
def test_reductions_of_six_axes():
    x = integers((2, 3, 2, 1, 4, 3))
    for axes in (0,), (5,), (1, 2), (0, 4), (1, 3, 5), tuple(range(6)):
        check(
            lambda x: [al.sum(x, axis=axes), al.max(x, axis=axes), al.min(x, axis=axes)],
            [x],
            x.sum(axes),
            x.max(axes),
            x.min(axes),
        )
        mean, variance = run(lambda x: [al.mean(x, axis=axes), al.variance(x, axis=axes)], x)
        np.testing.assert_allclose(mean, x.astype(np.float64).mean(axes), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(variance, x.astype(np.float64).var(axes), rtol=1e-5, atol=1e-6)
    y = np.random.default_rng(1).permutation(x.size).reshape(x.shape).astype(np.float32)
    for axis in range(6):
        check(lambda y: [al.argmax(y, axis=axis), al.argmin(y, axis=axis)], [y], y.argmax(axis), y.argmin(axis))


@case("reduction_of_no_axes")
def test_reductions_of_nothing():
    x, scalar = integers((2, 3)), np.float32(3)
    check(
        lambda x, s: [
            al.sum(x, axis=()),
            al.max(x, axis=()),
            al.mean(x, axis=()),
            al.variance(x, axis=()),
            al.sum(s),
            al.mean(s),
            al.max(s),
        ],
        [x, scalar],
        x,
        x,
        x,
        0 * x,
        3,
        3,
        3,
    )


@case("select_by_number")
def test_choices_by_numbers():
    for dtype in np.float32, np.int32, np.int64:
        x = np.array([0, 2, -1], dtype)
        check(lambda x: al.where(x, 1.0, 2.0), [x], np.float32([2, 1, 1]))


@case("executable_of_no_targets")
def test_a_step_without_results():
    graph = al.Graph()
    v = graph.variable(1.0)
    step = graph.compile([], [], [graph.assign(v, v + 1.0)])
    for _ in range(2):
        assert step() == []
    assert v.numpy() == 3


@case("bfloat16")
def test_bfloat16_is_refused():
    def rounded(x):
        return al.cast(al.cast(x, al.bfloat16), al.float32)

    x = np.float32([1 + 2**-9, -3])
    if has(system(), "bfloat16"):
        with pytest.raises(TypeError, match="bfloat16 aborts on macOS"):
            run(rounded, x)
    else:
        np.testing.assert_array_equal(run(rounded, x)[0], [1, -3])


@case("long_inner_product", "large_matrix")
@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 32767), (32767, 2)),
        ((2, 32768), (32768, 3)),
        ((2, 70001), (70001, 2)),
        ((3, 2, 40000), (3, 40000, 2)),
        ((32768, 2), (2, 3)),
        ((2, 2), (2, 40000)),
        ((2, 33000, 2), (2, 2)),
    ],
)
def test_large_products(a, b):
    x, y = integers(a), integers(b)
    check(lambda x, y: x @ y, [x, y], x.astype(np.int64) @ y.astype(np.int64))


@case("long_inner_product")
def test_the_gradient_of_a_dense_layer_of_many_rows():
    x, w = integers((40000, 3)), integers((3, 2))
    check(
        lambda x, w: al.gradients(al.sum(x @ w), [w]), [x, w], np.repeat(x.astype(np.int64).sum(0)[:, None], 2, axis=1)
    )


@case("convolution_of_many_images")
@pytest.mark.parametrize("images", [65535, 65536, 131073])
def test_gradients_of_convolutions_of_many_images(images):
    x, w, g = integers((images, 1, 2, 1)), integers((1, 2, 1, 2)), integers((images, 1, 1, 2), low=-1, high=2)
    check(
        lambda x, w, g: al.gradients(al.sum(al.conv2d(x, w) * g), [x, w]),
        [x, w, g],
        np.einsum("nijo,khco->nkhc", g.astype(np.int64), w.astype(np.int64)),
        np.einsum("nkhc,nijo->khco", x.astype(np.int64), g.astype(np.int64)),
    )


@case("convolution_to_many_channels")
def test_a_convolution_to_many_channels():
    x, w = integers((1, 1, 1, 2)), integers((1, 1, 2, 65537))
    if has(system(), "convolution_to_many_channels"):
        with pytest.raises(
            TypeError, match=r"^\[conv2d\] A convolution to more than 65,536 channels is wrong on macOS"
        ):
            run(al.conv2d, x, w)
    else:
        check(al.conv2d, [x, w], np.einsum("nhwc,ijco->nhwo", x, w))


@case("strided_slice_gradient")
@pytest.mark.parametrize("at", [np.s_[::2], np.s_[1::3], np.s_[::-1], np.s_[5:0:-2], np.s_[1:6], np.s_[2:3]])
def test_gradients_of_slices(at):
    x = integers((7, 3))
    g = integers(x[at].shape, low=1)
    expected = np.zeros_like(x)
    expected[at] = g
    check(lambda x, g: al.gradients(al.sum(x[at] * g), [x]), [x, g], expected)


@case("integer_quotient")
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_quotients_of_integers_truncate(dtype, rng):
    most = np.iinfo(dtype).max
    a = np.concatenate(
        [[-616, 616, 7, -7, 6, 0, most, most, -most], rng.integers(-most, most, 500), rng.integers(-1000, 1000, 500)]
    ).astype(dtype)
    b = np.concatenate(
        [[28, -28, -2, 2, 3, 5, 1, 3, 7], rng.integers(1, 1000, 500), rng.integers(1, most, 500)]
    ).astype(dtype)
    expected = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)]
    check(al.divide, [a, b], np.array(expected, dtype))


@case("power_of_negative")
def test_powers_of_negative_bases():
    inf = np.inf
    base = np.float32([-2, -2, -2, -0.5, -1, 2, -3, 0, -inf, -inf, -inf, inf])
    exponent = np.float32([3, 2, -1, 2, 5, 0.5, 0.5, 2, 2.5, -0.5, 3, -2.5])
    with np.errstate(invalid="ignore"):
        expected = np.power(base.astype(np.float64), exponent)
    np.testing.assert_allclose(run(al.power, base, exponent)[0], expected, rtol=1e-6)
    (gradient,) = run(lambda x: al.gradients(al.sum(x**3.0), [x]), np.float32([-2, -1, 2]))
    np.testing.assert_allclose(gradient, [12, 3, 12], rtol=1e-6)


@case("sign_of_int64", "sign_of_negative_zero")
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_signs(dtype):
    x = np.array([-3, 0, 7, 1], dtype)
    check(al.sign, [x], np.sign(x))
    zeros = np.float32([-0.0, 0.0, np.nan])
    (value,) = run(al.sign, zeros)
    assert np.signbit(value[:2]).tolist() == [True, False] and value.tolist() == [0, 0, 0]


@case("least_normal")
def test_the_least_normal_number():
    """The second number of this seed is that below which a normal number is with probability 2^-24."""
    least = 4 + 0.5 * NormalDist().inv_cdf(2**-24)
    (values,) = run(lambda state: al.random.normal(state, (2,), 4, 0.5)[0], al.random.state(1124399))
    assert values[1] == pytest.approx(least, rel=1e-6)
    assert least < values[0] < 8


@case("product_of_softmax")
def test_an_attention():
    q, k, v = integers((3, 20, 8)), integers((3, 20, 8)), integers((3, 20, 8))
    scores = q.astype(np.float64) @ k.swapaxes(1, 2)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    (value,) = run(lambda q, k, v: al.softmax(q @ al.transpose(k, (0, 2, 1)), axis=-1) @ v, q, k, v)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)


@case("true_is_255")
def test_truth_is_one():
    x = np.array([True, False])
    yes = np.ones(2, bool)
    check(
        lambda x: [
            al.cast(al.where(x, True, False), al.float32),
            al.equal(x, yes),
            al.not_equal(x, True),
            al.where(True, x, x),
        ],
        [x],
        np.float32([1, 0]),
        x,
        ~x,
        x,
    )
    check(
        lambda x: [al.cast(al.where(al.greater(x, 0.0), yes, ~yes), al.int32)], [np.float32([1, -1])], np.int32([1, 0])
    )


@case("optimizer_of_scalar")
@pytest.mark.parametrize("optimizer", [al.SGD(0.25), al.Adam(0.25)], ids=["sgd", "adam"])
def test_a_scalar_stays_one(optimizer, storage):
    graph = al.Graph(storage=storage)
    v = graph.variable(3.0)
    loss = al.square(v)
    step = graph.compile([], [loss, v], optimizer.minimize(loss))
    first, before = step()
    second, after = step()
    assert first == 9 and before == 3 and after.shape == v.numpy().shape == () and second == after**2 < 9
    assert after == (
        pytest.approx(2.75, abs=1e-5) if isinstance(optimizer, al.Adam) else 1.5
    )  # 3 - 0.25 sign(6), 3 - 0.25 * 6


@case("read_after_assign")
def test_a_step_sees_the_values_before_it(storage):
    graph = al.Graph(storage=storage)
    a, b = graph.variable(1.0), graph.variable(2.0)
    updates = [graph.assign(a, b), graph.assign(b, a)]
    both = a + b * 10.0
    step = graph.compile([], [a, both, b, a * 3.0], updates)
    for x, y in (1, 2), (2, 1), (1, 2):
        assert step() == [x, x + 10 * y, y, 3 * x]
    assert [a.numpy(), b.numpy()] == [2, 1]


@case("reduction_beyond_rank4")
@pytest.mark.parametrize("axes", [0, 2, -1, (0, 1, 2, 3, 4), (0, 2, 4), (1, 3), (0, 1), (3, 4), (4, 0)], ids=str)
@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "prod", "variance"])
def test_reductions_of_five_axes(op, axes):
    reference = {"variance": "var"}.get(op, op)
    x = FIVE
    expected = getattr(np, reference)(x.astype(np.float64), axis=axes, keepdims=True)
    close(*run(lambda t: getattr(al, op)(t, axis=axes, keepdims=True), x), expected, 4e-6)


@case("reduction_beyond_rank4")
@pytest.mark.parametrize("axes", [(0, 2, 4), (0, 1, 2, 3, 4)], ids=str)
def test_integer_moments_of_five_axes(axes):
    x = integers((2, 3, 4, 5, 6), np.int32, -50, 51)
    mean = np.trunc(x.sum(axes, keepdims=True) / np.prod([x.shape[axis] for axis in axes]))
    check(lambda t: al.mean(t, axis=axes, keepdims=True), [x], mean)


@case("reduction_beyond_rank4")
@pytest.mark.parametrize("axis", range(5))
def test_along_one_of_five_axes(axis):
    x = FIVE
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    close(*run(lambda t: al.softmax(t, axis=axis), x), e / e.sum(axis, keepdims=True))
    close(*run(lambda t: al.log_softmax(t, axis=axis), x), np.log(e / e.sum(axis, keepdims=True)), 4e-6)
    check(lambda t: al.argmax(t, axis=axis), [x], x.argmax(axis))
    check(lambda t: al.argmin(t, axis=axis), [x], x.argmin(axis))
    weights, (gradient,) = with_gradient(lambda t: al.softmax(t, axis=axis), x)
    y = e / e.sum(axis, keepdims=True)
    close(gradient, y * (weights - (weights * y).sum(axis, keepdims=True)), 2e-6)


@case("reduction_beyond_rank4")
@pytest.mark.parametrize("axes", [(), 0, (1, 4)], ids=str)
def test_broadcasting_five_axes_and_back(axes):
    """The gradient of an operand that was broadcast is summed along those axes."""
    x = FIVE
    small = np.asarray(x.mean(axes, keepdims=True) if axes != () else x[0, 0, 0, 0, 0], np.float32)
    weights, (_, gradient) = with_gradient(lambda a, b: a * b, x, small)
    expected = (x.astype(np.float64) * weights).sum(axes if axes != () else None, keepdims=axes != ())
    close(gradient, expected, 4e-6)


@case("product_beyond_rank4")
@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 3, 4, 5, 6), (2, 3, 4, 6, 7)),
        ((2, 3, 4, 5, 6), (6, 7)),
        ((5, 6), (2, 3, 4, 6, 7)),
        ((2, 1, 4, 5, 6), (1, 3, 1, 6, 2)),
        ((2, 2, 1, 3, 4, 5), (3, 5, 2)),
        ((1, 1, 1, 5, 6), (1, 1, 1, 6, 7)),
    ],
    ids=str,
)
def test_products_of_five_axes_and_their_gradients(a, b):
    x, y = (
        np.cos(np.arange(np.prod(a))).reshape(a).astype(np.float32),
        np.sin(np.arange(np.prod(b))).reshape(b).astype(np.float32),
    )
    close(*run(al.matmul, x, y), x.astype(np.float64) @ y, 2e-6)
    weights, (gx, gy) = with_gradient(al.matmul, x, y)
    wide = weights.astype(np.float64)

    def down(full, shape):
        extra = full.ndim - len(shape)
        full = full.sum(tuple(range(extra)))
        return full.sum(tuple(i for i, extent in enumerate(shape) if extent == 1 != full.shape[i]), keepdims=True)

    close(gx, down(wide @ np.swapaxes(y, -1, -2), a), 4e-6)
    close(gy, down(np.swapaxes(x, -1, -2) @ wide, b), 4e-6)


@case("true_is_255")
def test_constants_are_exact():
    graph = al.Graph()
    large = np.full((3,), 2**53 + 1, np.int64)
    flags = np.full((2, 3), True)
    fetches = [
        graph.constant(large),
        graph.constant(flags),
        al.cast(graph.constant(flags), "float32"),
        al.equal(graph.constant(flags), graph.constant([[True, False, True], [False, True, True]])),
        al.cast(graph.constant(True), "int32"),
        graph.constant(np.int64(-(2**62) - 1)),
    ]
    a, b, c, d, e, f = graph.compile([], fetches)()
    np.testing.assert_array_equal(a, large)
    np.testing.assert_array_equal(b, flags)
    assert b.view(np.uint8).max() == 1
    np.testing.assert_array_equal(c, np.ones((2, 3)))
    np.testing.assert_array_equal(d, [[True, False, True], [False, True, True]])
    assert e == 1 and f == -(2**62) - 1


@case("complex")
def test_complex_numbers_are_computed_or_refused():
    z = np.complex64([1 + 2j, 3 - 4j])
    if has(system(), "complex"):
        with pytest.raises(TypeError, match="complex numbers aborts on macOS"):
            run(lambda x: x * x, z)
        with pytest.raises(TypeError, match="complex numbers aborts on macOS"):
            run(lambda x: al.real(al.fft(x)), np.float32([1, 2]))
    else:
        check(lambda x: x * x, [z], z * z)


@case("handler_on_the_stack")
def test_steps_and_submissions_are_told_of_their_end():
    graph = al.Graph()
    v = graph.variable(1.0)
    step = graph.compile([], [v], [graph.assign(v, v * 2.0)])
    assert [float(step()[0]), float(step.submit()[0]), float(v.numpy())] == [1, 2, 4]


@case("half_convolution_gradient")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_convolutions_of_halves(dtype):
    if dtype == "bfloat16" and has(system(), "bfloat16"):
        pytest.skip("The system has no bfloat16.")
    x, w = integers((2, 5, 4, 3)), integers((3, 2, 3, 4))
    g = integers((2, 3, 3, 4), low=-1, high=2)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2))
    expected = np.einsum("nijcab,nijo->abco", windows, g)  # integers below 256, which both types hold
    assert np.abs(expected).max() < 256

    def gradient(x, w, g):
        x, w, g = (al.cast(t, dtype) for t in (x, w, g))
        return al.cast(al.gradients(al.sum(al.conv2d(x, w) * g), [w])[0], "float32")

    check(gradient, [x, w, g], expected)
    volume = x.reshape(2, 5, 4, 3, 1), np.ones((2, 1, 1, 1, 1), np.float32)
    expected = sum(volume[0][:, i : 4 + i].sum(axis=0).sum() for i in (0,)), volume[0][:, 1:].sum()

    def of_volume(x, w):
        x, w = al.cast(x, dtype), al.cast(w, dtype)
        return al.cast(al.gradients(al.sum(al.conv3d(x, w)), [w])[0], "float32")

    check(of_volume, volume, np.reshape(expected, (2, 1, 1, 1, 1)))


@case("order_beyond_axis4")
@pytest.mark.parametrize("axis", range(6))
def test_orders_and_running_totals_of_six_axes(axis):
    x = np.random.default_rng(1).permutation(720).reshape(2, 3, 2, 5, 4, 3).astype(np.float32)
    count = x.shape[axis] - 1
    order = np.argsort(-x, axis=axis)
    first = order.take(range(count), axis)
    check(
        lambda x: [al.sort(x, axis=axis), al.argsort(x, axis=axis, descending=True), *al.top_k(x, count, axis=axis)],
        [x],
        np.sort(x, axis),
        order,
        np.take_along_axis(x, first, axis),
        first,
    )
    small = integers(x.shape, low=-1, high=3)
    check(
        lambda x: [al.cumsum(x, axis=axis), al.cumprod(x, axis=axis), al.cummax(x, axis=axis), al.cummin(x, axis=axis)],
        [small],
        small.cumsum(axis),
        small.cumprod(axis),
        np.maximum.accumulate(small, axis),
        np.minimum.accumulate(small, axis),
    )


@case("order_of_other_types")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint16, np.uint32, np.uint64])
def test_orders_of_other_types(dtype):
    x = np.array([3, np.iinfo(dtype).max, 2, 0, np.iinfo(dtype).min, np.iinfo(dtype).max // 2 + 1], dtype)
    check(lambda x: [al.argsort(x), al.sort(x)], [x], np.argsort(x, kind="stable"), np.sort(x))


@case("narrow_accumulation")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint16])
def test_running_totals_of_narrow_integers(dtype):
    x = np.array([[3, 100], [2, 100]], dtype)
    check(
        lambda x: [al.cumsum(x, axis=0), al.cumprod(x, axis=0), al.cummax(x, axis=0)],
        [x],
        x.cumsum(0, dtype),
        x.cumprod(0, dtype),
        np.maximum.accumulate(x, 0),
    )


@case("narrow_scatter", "half_scatter_nd")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.float16, np.int32])
def test_scatters(dtype):
    x, updates, rows = np.array([[1, 2], [3, 4]], dtype), np.array([[5, 6], [7, 8]], dtype), np.int32([1, 1])
    expected = x.copy()
    np.add.at(expected, rows, updates)
    places = np.int32([[1, 0], [1, 0]])
    nd = x.copy()
    np.add.at(nd, tuple(places.T), updates[:, 0])
    check(
        lambda x, updates, rows, places: [
            al.scatter(x, rows, updates, axis=0, mode="add"),
            al.scatter_nd(x, places, updates[:, 0], mode="add"),
        ],
        [x, updates, rows, places],
        expected,
        nd,
    )


@case("half_scatter_nd")
def test_the_gradient_of_rows_of_a_table_of_halves():
    table, rows = np.float16([[1, 2], [3, 4], [5, 6]]), np.int32([2, 0, 2])
    check(
        lambda table, rows: al.gradients(al.sum(al.gather(table, rows, axis=0) * 3.0), [table]),
        [table, rows],
        np.float16([[3, 3], [0, 0], [6, 6]]),
    )


@case("unused_feed")
def test_feeds_that_nothing_needs(tmp_path):
    graph = al.Graph()
    unused, x, y, late = (graph.placeholder((2,), name=name) for name in ("unused", "x", "y", "late"))
    total = graph.variable(np.zeros(2, np.float32))
    step = graph.compile([unused, x, y, late], [x - y], [graph.assign(total, total + y)])
    given = {name: np.float32([k, k + 1]) for k, name in enumerate(("unused", "x", "y", "late"))}
    np.testing.assert_array_equal(step(*given.values())[0], [-1, -1])
    np.testing.assert_array_equal(step.submit(**given)[0], [-1, -1])
    np.testing.assert_array_equal(total.numpy(), [4, 6])
    alone = graph.compile([unused], [], [graph.assign(total, total * 2.0)])
    alone(given["unused"])
    np.testing.assert_array_equal(total.numpy(), [8, 12])
    together = graph.compile([unused, x], [x * 2.0], steps=3)
    np.testing.assert_array_equal(together(*np.ones((2, 3, 2), np.float32))[0], np.full((3, 2), 2))


@case("unused_feed")
def test_a_model_that_ignores_an_input():
    class First(al.nn.Layer):
        def __init__(self):
            super().__init__()
            self.dense = al.nn.Dense(1)

        def forward(self, x, training):
            return self.dense(x[0], training)

    inputs = integers((8, 3)), integers((8, 2))
    trainer = al.Trainer(First(), loss="mean_squared_error", optimizer=al.SGD(0.0625))
    trainer.fit((inputs, inputs[0][:, :1]), epochs=2, batch_size=4, progress=False)
    assert trainer.predict(inputs).shape == (8, 1)


def test_every_quirk_has_a_program():
    assert set(CASES) == set(QUIRKS)
