"""Random numbers: al.random, al.nn.Dropout, and that a seed decides them."""

import math

import numpy as np
import pytest

import alloy as al

WORD = 0xFFFFFFFF


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al., 2011) of arrays of four words and of two, as its authors write it down."""
    x = [np.asarray(word, np.uint64) for word in counter]
    for round in range(10):
        products = [x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)]
        high = [p >> np.uint64(32) for p in products]
        low = [p & np.uint64(WORD) for p in products]
        keys = [np.uint64((k + round * step) & WORD) for k, step in zip(key, (0x9E3779B9, 0xBB67AE85))]
        x = [high[1] ^ x[1] ^ keys[0], low[1], high[0] ^ x[3] ^ keys[1], low[0]]
    return np.stack(x, -1)


def words(state, count):
    """The first words of a state's stream."""
    state = [int(word) & WORD for word in state]
    start = sum(word << 32 * i for i, word in enumerate(state[1:5]))
    counters = [(start + block) % 2**128 for block in range(-(-count // 4))]
    counter = [np.array([c >> 32 * i & WORD for c in counters], np.uint64) for i in range(4)]
    return philox(counter, state[5:]).reshape(-1)[:count]


def units(state, count):
    return (words(state, count) & np.uint64(0x7FFFFF)).astype(float) / 2**23


def test_known_answers():
    """Those published with the generator (Random123): of zeros, of ones, and of the digits of pi."""
    for counter, key, expected in [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([WORD] * 4, [WORD] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
         [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ]:  # fmt: skip
        np.testing.assert_array_equal(philox(counter, key), expected)


def test_a_seed_is_six_draws_of_mrand48():
    for seed in (0, 42, 2069102477):
        x, draws = seed << 16 | 0x330E, []
        for _ in range(6):
            x = (x * 0x5DEECE66D + 0xB) % 2**48
            draws.append(x >> 16)
        expected = [1, *(draws[i] for i in (1, 0, 3, 2, 5, 4))]
        np.testing.assert_array_equal(al.random.state(seed).astype(np.int64) % 2**32, expected)
        assert al.random.state(seed).dtype == np.int32


@pytest.fixture
def drawn():
    """What a function of al.random gives of a seed's state, and the state behind it."""

    def draw(function, seed, *arguments, **options):
        graph = al.Graph()
        tensors = function(graph.constant(al.random.state(seed)), *arguments, **options)
        return graph.compile([], tensors)()

    return draw


def test_the_stream(drawn):
    """Against NumPy, in row-major order, at counts that leave blocks incomplete."""
    special = pytest.importorskip("scipy.special")
    for shape in ((), (3,), (5, 13), (2, 1, 4097)):
        count = math.prod(shape)
        u = units(al.random.state(7), count).reshape(shape)
        values, following = drawn(al.random.uniform, 7, shape, -1, 3)
        np.testing.assert_array_equal(values, (u * 4 - 1).astype(np.float32))
        start = [int(word) & WORD for word in al.random.state(7)]
        moved = (sum(word << 32 * i for i, word in enumerate(start[1:5])) + -(-count // 4)) % 2**128
        expected = [1, *(moved >> 32 * i & WORD for i in range(4)), *start[5:]]
        np.testing.assert_array_equal(following.astype(np.int64) % 2**32, expected)
        values, _ = drawn(al.random.normal, 7, shape, 0.5, 2)
        np.testing.assert_allclose(values, 0.5 + 2 * special.ndtri(np.maximum(u, 2**-24)), rtol=2e-6, atol=2e-6)
        values, _ = drawn(al.random.truncated_normal, 7, shape, 0.5, 2)
        low, high = special.ndtr(-2), special.ndtr(2)
        np.testing.assert_allclose(values, 0.5 + 2 * special.ndtri(low + u * (high - low)), rtol=1e-5, atol=1e-5)
        values, _ = drawn(al.random.integers, 7, shape, -3, 4)
        np.testing.assert_array_equal(
            values, words(al.random.state(7), count).astype(np.int64).reshape(shape) * 7 // 2**32 - 3
        )
        values, _ = drawn(al.random.bernoulli, 7, shape, 0.3)
        np.testing.assert_array_equal(values, u.astype(np.float32) < np.float32(0.3))
        assert values.dtype == bool
        if count > 1:
            radius, angle = np.sqrt(-2 * np.log1p(-u.ravel()[: count - 1 : 2])), 2 * np.pi * u.ravel()[1::2]
            values, _ = drawn(al.random.normal, 7, shape, sampling="box_muller")
            np.testing.assert_allclose(values.ravel()[1::2], radius * np.sin(angle), rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(values.ravel()[: count - 1 : 2], radius * np.cos(angle), rtol=1e-5, atol=1e-5)


def test_the_shape_of_a_tensor():
    graph = al.Graph()
    x = graph.placeholder((None, 3), "int32")
    values, _ = al.random.uniform(graph.constant(al.random.state(1)), x)
    step = graph.compile([x], [values])
    for rows in (2, 5):
        expected = units(al.random.state(1), 3 * rows).reshape(rows, 3)
        np.testing.assert_array_equal(step(np.zeros((rows, 3), np.int32))[0], expected.astype(np.float32))


@pytest.mark.skipif(al.device().kind != "cpu", reason="ten million numbers, one after the other")
def test_ten_million_normal_numbers(drawn):
    """Moments within 5 standard deviations of their estimates; the tails as many as there should be; and the greatest
    distance of the distribution, which exceeds 1.95 / sqrt(n) once in a thousand times (Kolmogorov and Smirnov)."""
    n = 10_000_000
    values, _ = drawn(al.random.normal, 123, (n,))
    assert np.isfinite(values).all()
    exact = values.astype(float)
    assert abs(exact.mean()) < 5 / math.sqrt(n)
    assert abs(exact.var() - 1) < 5 * math.sqrt(2 / n)
    assert abs((exact**3).mean()) < 5 * math.sqrt(15 / n)
    assert abs((exact**4).mean() - 3) < 5 * math.sqrt(96 / n)
    for bound in (1, 2, 3, 4, 4.5):
        expected = n * math.erfc(bound / math.sqrt(2)) / 2
        for count in ((exact > bound).sum(), (exact < -bound).sum()):
            assert abs(count - expected) < 5 * math.sqrt(expected)
    exact.sort()
    special = pytest.importorskip("scipy.special")
    distribution = special.ndtr(exact)
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - distribution).max(), (distribution - steps[:-1]).max())
    assert distance < 1.95 / math.sqrt(n)
    neighbours = (values[:-1].astype(float) * values[1:]).mean()
    assert abs(neighbours) < 5 / math.sqrt(n)


@pytest.mark.skipif(al.device().kind != "cpu", reason="the number of threads is the CPU's")
def test_numbers_do_not_depend_on_the_number_of_threads(drawn):
    before = al.threads()
    try:
        given = []
        for threads in (1, 2):
            al.set_threads(threads)
            given.append(drawn(al.random.normal, 5, (300_001,))[0])
    finally:
        al.set_threads(before)
    np.testing.assert_array_equal(*given)


def test_numbers_stay_below_the_upper_bound(drawn):
    values, _ = drawn(al.random.uniform, 3, (1 << 16,), 1000, 1001)
    assert values.min() >= 1000 and values.max() < 1001
    np.testing.assert_array_equal(drawn(al.random.uniform, 3, (4,), 2, 2)[0], [2, 2, 2, 2])
    values, _ = drawn(al.random.truncated_normal, 3, (1 << 12,), 0, 1, 6, 7)
    assert values.min() >= 6 and values.max() < 7 and values.std() > 0.1
    np.testing.assert_array_equal(drawn(al.random.integers, 3, (3,), 5, 6)[0], [5, 5, 5])


def test_messages():
    graph = al.Graph()
    state = graph.constant(al.random.state(0))
    for call, says in [
        (lambda: al.random.uniform(state, (2,), 3, 1), "Expected a low bound of at most the high one, got 3"),
        (lambda: al.random.normal(state, (2,), stddev=-1), "Expected a standard deviation of 0 or more, got -1"),
        (lambda: al.random.integers(state, (2,), 3, 3), "Expected a high bound above the low one, 3, got 3"),
        (lambda: al.random.integers(state, (2,), 0, 2**40), "Expected bounds that are integers of 32 bits"),
        (lambda: al.random.normal(state[1:], (2,)), r"Expected a state int32\(7,\), got int32\(6,\)"),
        (lambda: al.random.state(-1), "Expected a seed"),
        (lambda: al.random.uniform(state, (2,), -3e38, 3e38), "whose distance a float32 can hold"),
        (lambda: al.nn.Dropout(1.5), "Expected a rate from 0 to 1, got 1.5"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()


def test_a_state_in_a_variable_goes_on():
    graph = al.Graph()
    state = graph.variable(al.random.state(9), "random", trainable=False)
    values, following = al.random.uniform(state, (8,))
    step = graph.compile([], [values], [graph.assign(state, following)])
    got = np.concatenate([step()[0] for _ in range(3)])
    np.testing.assert_array_equal(got, units(al.random.state(9), 24).astype(np.float32))


def test_variables_are_initialised_on_their_device():
    graph = al.Graph()
    a, b = graph.variable(np.zeros((3, 5), np.float32)), graph.variable(np.zeros(7, np.float32))
    al.random.initialize({a: al.random.uniform, b: lambda *of: al.random.uniform(*of, low=-2, high=0)}, seed=12)
    u = units(al.random.state(12), 24)
    np.testing.assert_array_equal(a.numpy(), u[:15].reshape(3, 5).astype(np.float32))
    np.testing.assert_array_equal(b.numpy(), (u[16:23] * 2 - 2).astype(np.float32))  # behind whole blocks of four
    with pytest.raises(TypeError, match="Expected variables"):
        al.random.initialize({graph.constant(1.0): al.random.uniform}, seed=0)


def test_dropout(rng):
    graph = al.Graph()
    x = graph.placeholder((None, 40))
    layer = al.nn.Dropout(0.75, seed=4)
    y = layer(x, training=True)
    (gradient,) = al.gradients(al.sum(al.square(y)), [x])
    step = graph.compile([x], [y, gradient, layer(x)], layer.updates)
    given = rng.uniform(0.5, 2, (50, 40)).astype(np.float32)
    first, slope, after = step(given)
    kept = first != 0
    assert abs(kept.mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / kept.size)
    np.testing.assert_allclose(first, np.where(kept, 4 * given, 0), rtol=1e-6)
    np.testing.assert_allclose(slope, np.where(kept, 32 * given, 0), rtol=1e-5)
    np.testing.assert_array_equal(after, given)
    assert (step(given)[0] != first).any()
    assert not layer.variables[0].trainable
    nothing = graph.compile([x], [al.nn.Dropout(1.0)(x, training=True)])(given)[0]
    np.testing.assert_array_equal(nothing, 0 * given)


class Noise(al.nn.Layer):
    """Adds Gaussian noise, at evaluation too."""

    def forward(self, x, training):
        return x + self.random(al.random.normal, x)


def test_random_numbers_in_a_layer():
    """The numbers of its state: one after the other in training, those that would be next in evaluation."""
    graph = al.Graph()
    x = graph.placeholder((3, 50))
    layer, other = Noise(seed=4), Noise(seed=5)
    model = al.nn.Sequential(layer, layer, other)
    y = model(x, training=True)
    step = graph.compile([x], [y], model.updates)
    look = graph.compile([x], [layer(x), layer(x), model(x)])
    zeros = np.zeros(x.shape, np.float32)

    def following(states, counts):
        """The sums of so many draws of each state, computed beside it, and the states behind them."""
        beside, total = al.Graph(), 0
        for i, count in enumerate(counts):
            now = beside.constant(states[i])
            for _ in range(count):
                drawn, now = al.random.normal(now, (3, 50))
                total = total + drawn
            states[i] = beside.run(now)
        return beside.run(total), states

    states = [v.numpy() for v in (*layer.variables, *other.variables)]
    assert len(states) == 2 and (states[0] != states[1]).any()
    for _ in range(2):
        once, _ = following(states[:1], [1])
        both, after = following(list(states), [2, 1])
        for _ in range(2):  # evaluation changes nothing
            a, b, c = look(zeros)
            np.testing.assert_array_equal(a, once)
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(c, both, atol=1e-5)
        np.testing.assert_allclose(step(zeros)[0], both, atol=1e-5)
        states = after
        np.testing.assert_array_equal(layer.variables[0].numpy(), states[0])
    with pytest.raises(ValueError, match=r"^\[Noise\] Expected random in a layer's forward, got it outside of one"):
        layer.random(al.random.normal, x)


def make_trainer(x):
    model = al.nn.Sequential(al.nn.Dense(16), Noise(), al.nn.Dense(16), al.nn.Dropout(0.5), al.nn.Dense(3), seed=6)
    model(al.Graph().placeholder((None, x.shape[1])))
    return al.Trainer(model, "softmax_cross_entropy", al.SGD(0.1), seed=8)


def test_a_training_with_random_layers_is_repeated_and_resumed(rng, tmp_path):
    """The same seed gives the same variables; and a training that was saved in the middle ends where the other does."""
    x, y = rng.normal(size=(64, 5)).astype(np.float32), rng.integers(0, 3, 64).astype(np.int32)

    def variables(trainer):
        return [v.numpy() for v in trainer.model.variables]

    def fit(trainer, epochs):
        trainer.fit((x, y), epochs, batch_size=16, progress=False, shuffle=False)

    whole, again, part, resumed = (make_trainer(x) for _ in range(4))
    fit(whole, 4)
    fit(again, 4)
    fit(part, 2)
    al.save(part.model, tmp_path / "half.safetensors")
    al.load(resumed.model, tmp_path / "half.safetensors")
    fit(resumed, 2)
    for a, b, c in zip(variables(whole), variables(again), variables(resumed)):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    states = [v.numpy() for v in whole.model.variables if v.dtype == "int32"]
    assert len(states) == 2 and (states[0] != states[1]).any()
