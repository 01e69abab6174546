"""Element types: every cast, numbers at their ends, and what arithmetic makes of them."""

import ml_dtypes
import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from cases import FLOATS, INTEGERS, ROUNDING
from kinds import FAST
from running import run

ALL = FLOATS + INTEGERS + ("bool",)
HALVES = FLOATS[1:]


def ends(dtype):
    """Numbers of the type: its ends, those beside 0, and some between; of floats those that are none, too."""
    if dtype == "bool":
        return np.array([False, True])
    kind = numpy_dtype(dtype)
    if dtype in FLOATS:
        info = ml_dtypes.finfo(kind)
        values = [0, -0.0, 1, -1, 0.5, -0.5, 2.5, -2.5, 127, 128, -129, 255.5, 256, 40000, -70000, 2**31, -(2**31), 3e9]
        values += [2.0**63, 2.0**64, float(info.max), float(info.min), np.inf, -np.inf, np.nan]
        with np.errstate(over="ignore"):
            return np.array(values).astype(np.float32).astype(kind)
    info = np.iinfo(kind)
    values = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 100, info.max // 2, info.min // 2]
    return np.array(values, kind)


def converted(x, dtype):
    """By the documentation: floats truncate toward zero, saturate, and NaN is 0; integers wrap; not 0 is true."""
    kind = numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype == "bool":
            return np.array([bool(value != 0) for value in x])
        if x.dtype.name in FLOATS and dtype in INTEGERS:
            info = np.iinfo(kind)
            numbers = [0 if np.isnan(v) else int(np.clip(float(v), float(info.min), float(info.max))) for v in x]
            return np.array([max(min(n, info.max), info.min) for n in numbers], kind)
        if dtype in FLOATS:  # by float32, in which the two halves of a float are exact
            return x.astype(np.float32).astype(kind)
        return x.astype(kind)


@pytest.mark.parametrize("source", ALL)
def test_casts(source):
    x = np.tile(ends(source), 9)  # so that vectors, their rests and single elements take part
    for count in 1, 5, len(x):
        results = run(lambda feed: [al.cast(feed, dtype) for dtype in ALL], x[:count])
        for dtype, result in zip(ALL, results):
            assert result.dtype == numpy_dtype(dtype)
            expected = converted(x[:count], dtype)
            if dtype == "bfloat16":  # whose NaNs NumPy's tests do not know
                result, expected = result.astype(np.float32), expected.astype(np.float32)
            np.testing.assert_array_equal(result, expected, err_msg=f"{source} to {dtype}")


@np.errstate(over="ignore", invalid="ignore")  # of conversions of NaNs, some processors tell
@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_rounded_to_the_nearest(dtype, rng):
    """Against the libraries' own conversions: all numbers of the type, and random and halfway floats."""
    kind = numpy_dtype(dtype)
    every = np.arange(2**16, dtype=np.uint16).view(kind)
    tiny = np.finfo(np.float32).tiny  # kernels take what is smaller for 0, or not
    wide = every.astype(np.float32)
    every = every[~(np.abs(wide) < tiny) | (wide == 0)]
    (widened,) = run(lambda x: al.cast(x, "float32"), every)
    np.testing.assert_array_equal(widened, every.astype(np.float32))
    bits = rng.integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32)
    halfway = (every.astype(np.float32).view(np.uint32) + np.uint32(1 << (12 if dtype == "float16" else 15))).view(
        np.float32
    )
    floats = np.concatenate([bits.view(np.float32), halfway])
    floats = floats[(np.abs(floats) >= tiny) | (floats == 0)]
    (narrowed,) = run(lambda x: al.cast(x, dtype), floats)
    np.testing.assert_array_equal(narrowed, floats.astype(kind))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around_at_their_ends(dtype):
    x, y = np.meshgrid(ends(dtype), ends(dtype))
    names = ["add", "subtract", "multiply", "minimum", "maximum", "less", "greater_equal", "equal", "negative"]
    if not al.device().system:
        names.append("divide")  # by 0, and of the least number by -1, it is documented for this framework alone
    results = run(lambda a, b: [getattr(al, name)(*[a, b][: 1 if name == "negative" else 2]) for name in names], x, y)
    for name, result in zip(names, results):
        exact = np.vectorize(lambda a, b, name=name: _exact(name, int(a), int(b)), otypes=[object])(x, y)
        width = 2 ** (8 * x.itemsize)
        if result.dtype == bool:
            expected = exact.astype(bool)
        else:
            expected = np.array([n % width for n in exact.ravel()], np.uint64).astype(x.dtype).reshape(x.shape)
        np.testing.assert_array_equal(result, expected, err_msg=name)


def _exact(name, a, b):
    if name == "divide":
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if name == "negative":
        return -a
    return {"minimum": min, "maximum": max}.get(name, lambda a, b: getattr(np, name)(a, b, dtype=object))(a, b)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_wrap_around_and_means_are_exact(dtype):
    x = np.full((3, 100), np.iinfo(dtype).max, dtype)
    total, mean, most, least = run(
        lambda a: [al.sum(a, axis=1), al.mean(a, axis=1), al.max(a, axis=1), al.argmin(a, axis=1)], x
    )
    np.testing.assert_array_equal(total, np.sum(x, 1, dtype=dtype))
    np.testing.assert_array_equal(mean, x[:, 0])
    np.testing.assert_array_equal(most, x[:, 0])
    np.testing.assert_array_equal(least, [0, 0, 0])


@pytest.mark.parametrize("dtype", HALVES)
def test_each_op_rounds_and_sums_are_accumulated_in_float32(dtype, rng):
    kind = numpy_dtype(dtype)
    x = rng.normal(size=(5, 4096)).astype(kind)
    y = rng.normal(size=x.shape).astype(kind)
    chained, total = run(lambda a, b: [(a * b + a) * b, al.sum(a, axis=1)], x, y)
    a, b = x.astype(np.float32), y.astype(np.float32)
    product = (a * b).astype(kind).astype(np.float32)
    expected = ((product + a).astype(kind).astype(np.float32) * b).astype(kind)
    np.testing.assert_array_equal(chained, expected)
    exact = np.sum(x.astype(np.float64), 1)
    np.testing.assert_allclose(total.astype(np.float64), exact, rtol=ROUNDING[dtype] * 1.001)


def within_rounding(value, exact, sizes, dtype):
    """The result's rounding, and float32's for each of some hundred terms; sizes: the sum of their absolute values."""
    assert value.dtype == numpy_dtype(dtype)
    bound = ROUNDING[dtype] * np.abs(exact) * 1.01 + 1e-5 * sizes
    assert (np.abs(value.astype(np.float64) - exact) <= bound).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_products_of_halves(dtype, rng):
    kind = numpy_dtype(dtype)
    a, b = rng.normal(size=(33, 70)).astype(kind), rng.normal(size=(70, 65)).astype(kind)
    product, gradient = run(lambda a, b: [a @ b, al.gradients(al.sum(al.square(a @ b)), [a])[0]], *(a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    within_rounding(product, a @ b, np.abs(a) @ np.abs(b), dtype)
    rounded = 2 * product.astype(np.float64)
    within_rounding(gradient, rounded @ b.T, np.abs(rounded) @ np.abs(b).T, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("size, channels, filters", [(9, 16, 24), (2, 32, 16), (20, 3, 8), (6, 64, 64)])
def test_convolutions_of_halves(dtype, size, channels, filters, rng):
    """Those that processors have units for, images smaller than the kernel, and others."""
    shapes = [(16, size, size, channels), (3, 3, channels, filters), (16, size, size, filters)]
    x, w, g = arrays = [rng.normal(size=shape).astype(numpy_dtype(dtype)) for shape in shapes]

    def build(x, w, g):
        y = al.conv2d(x, w, padding="same")
        return [y, *al.gradients(al.sum(al.cast(y, "float32") * al.cast(g, "float32")), [x, w])]

    values = run(build, *arrays)
    wide = [array.astype(np.float64) for array in arrays]
    sizes = convolution_and_gradients(*[np.abs(array) for array in wide])
    for value, exact, total in zip(values, convolution_and_gradients(*wide), sizes):
        within_rounding(value, exact, total, dtype)


def convolution_and_gradients(x, w, g):
    """Of a kernel of 3x3 with the padding "same": y, and the gradients of sum(y g) to x and w."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    y, to_padded, to_w = np.zeros(g.shape), np.zeros(padded.shape), np.zeros(w.shape)
    for i, j in np.ndindex(3, 3):
        place = np.s_[:, i : i + x.shape[1], j : j + x.shape[2]]
        y += padded[place] @ w[i, j]
        to_padded[place] += g @ w[i, j].T
        to_w[i, j] = np.tensordot(padded[place], g, ((0, 1, 2), (0, 1, 2)))
    return y, to_padded[:, 1:-1, 1:-1], to_w


@pytest.mark.parametrize("dtype", HALVES)
def test_recurrent_layers_and_losses_of_halves(dtype, rng):
    graph = al.Graph()
    kind = numpy_dtype(dtype)
    x, lengths = rng.normal(size=(4, 6, 5)).astype(kind), np.int32([6, 2, 5, 1])
    target = rng.uniform(size=(4, 14)).astype(kind)
    layer = al.nn.LSTM(7, bidirectional=True)
    results = []
    for given in "float32", dtype:
        feeds = [graph.placeholder(x.shape, given), graph.placeholder((4,), "int32"), graph.placeholder((4, 14), given)]
        state = layer(feeds[0], lengths=feeds[1])
        losses = [al.losses.mean_squared_error(state, feeds[2]), al.losses.binary_cross_entropy(state, feeds[2])]
        assert (state.dtype, losses[0].dtype, losses[1].dtype) == (given, "float32", "float32")
        fetches = [*losses, *al.gradients(al.sum(losses[0]), layer.variables)]
        results.append(graph.compile(feeds, fetches)(x.astype(given), lengths, target.astype(given)))
    for wide, narrow in zip(*results):
        assert np.linalg.norm(narrow - wide) <= 16 * ROUNDING[dtype] * np.linalg.norm(wide)


@FAST
def test_a_residual_network_learns_with_bfloat16_activations_what_it_learns_with_float32():
    data = pytest.importorskip("sklearn.datasets").load_digits()
    order = np.random.default_rng(0).permutation(len(data.images))
    x, y = np.kron(data.images[order] / 16, np.ones((1, 4, 4)))[..., None], data.target[order].astype(np.int32)
    accuracy = {}
    for dtype in FLOATS[0], FLOATS[-1]:  # float16 where there is no bfloat16
        model = al.models.resnet18(10, (32, 32, 1), momentum=0.9)
        optimizer = al.Adam(al.schedules.polynomial(2e-3, 5 * 19))
        trainer = al.Trainer(model, "softmax_cross_entropy", optimizer, metrics="accuracy")
        images = x.astype(numpy_dtype(dtype))
        trainer.fit((images[:1200], y[:1200]), epochs=5, batch_size=64, progress=False)
        accuracy[dtype] = trainer.evaluate((images[1200:], y[1200:]))["accuracy"]
    assert min(accuracy.values()) > 0.96
    assert accuracy[FLOATS[-1]] > accuracy["float32"] - 0.01


@pytest.mark.parametrize("dtype", HALVES)
def test_a_variable_of_halves_is_trained_read_and_saved(dtype, tmp_path, rng):
    kind = numpy_dtype(dtype)
    graph = al.Graph()
    x, y = graph.placeholder((16, 4), dtype), graph.placeholder((16, 1), dtype)
    w = graph.variable(np.zeros((4, 1), kind), name="w")
    loss = al.mean(al.square(x @ w - y))
    step = graph.compile([x, y], [loss], updates=al.SGD(0.1).minimize(loss))
    data = rng.normal(size=(16, 4)).astype(kind)
    target = (data.astype(np.float32) @ np.float32([[1], [-2], [0.5], [3]])).astype(kind)
    losses = [float(step(data, target)[0]) for _ in range(60)]
    assert losses[-1] < 0.02 * losses[0]
    al.save([w], tmp_path / "w.safetensors")
    before = w.numpy()
    assert before.dtype == kind
    w.assign(np.zeros((4, 1), kind))
    al.load([w], tmp_path / "w.safetensors")
    np.testing.assert_array_equal(w.numpy(), before)


def test_element_types_equal_those_of_numpy_and_others():
    class dtype:  # as PyTorch's
        def __str__(self):
            return "torch.float32"

    x = al.Graph().placeholder((2,))
    for same in ("float32", al.float32, np.float32, np.dtype("float32"), dtype()):
        assert x.dtype == same and same == x.dtype and not x.dtype != same, same
    for other in ("float16", al.float16, np.float64, np.int32, float, int, None, 32, object()):
        assert x.dtype != other and not x.dtype == other, other
    assert {x.dtype: 1}["float32"] == 1 and x.dtype in (np.float16, np.float32)
