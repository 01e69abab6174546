"""al.nn.RNN, LSTM and GRU: against PyTorch's values, with padded sequences, and trained."""

import json

import numpy as np
import pytest

import alloy as al
import recurrent_reference as torch_values

LAYERS = {"RNN": al.nn.RNN, "LSTM": al.nn.LSTM, "GRU": al.nn.GRU}
UNITS = torch_values.UNITS


def _ours(kind, parameters):
    """PyTorch's parameters of a layer and direction as ours: one bias, or of a GRU a secondary one, too, and its update
    gate before the reset gate."""
    weights, recurrent, bias, recurrent_bias = parameters
    if kind != "GRU":
        return [weights, recurrent, bias + recurrent_bias]
    common = bias + recurrent_bias
    common[2 * UNITS :] = bias[2 * UNITS :]
    return [_swapped(weights), _swapped(recurrent), _swapped(common), recurrent_bias[2 * UNITS :]]


def _ours_gradients(kind, gradients):
    weights, recurrent, bias, recurrent_bias = gradients
    if kind != "GRU":
        return [weights, recurrent, bias]
    return [_swapped(weights), _swapped(recurrent), _swapped(bias), recurrent_bias[2 * UNITS :]]


def _swapped(array):
    reset, update, candidate = np.split(array, 3)
    return np.concatenate([update, reset, candidate])


def _grouped(items):
    return [items[i : i + 4] for i in range(0, len(items), 4)]


@pytest.mark.parametrize("name", torch_values.CASES)
def test_results_and_gradients_are_pytorchs(name):
    kind, options = torch_values.CASES[name]
    x, parameters, factors = torch_values.values(kind, **options)
    golden = json.loads(torch_values.GOLDEN.read_text())[name]
    expected = [np.reshape(flat, like.shape) for flat, like in zip(golden, [factors, x, *parameters], strict=True)]
    graph = al.Graph()
    source, lengths = graph.placeholder(x.shape), graph.placeholder((len(x),), al.int32)
    layer = LAYERS[kind](UNITS, layers=options["layers"], bidirectional=options["bidirectional"], return_sequences=True)
    states = layer(source, True, **({"lengths": lengths} if options["masked"] else {}))
    for variable, value in zip(
        layer.variables, [v for group in _grouped(parameters) for v in _ours(kind, group)], strict=True
    ):
        variable.assign(value)
    loss = al.sum(states * factors)
    fetches = [states, *al.gradients(loss, [source, *layer.variables])]
    placeholders, feeds = [source], [x]
    if options["masked"]:
        placeholders, feeds = [source, lengths], [x, np.array(torch_values.LENGTHS, np.int32)]
    results = graph.compile(placeholders, fetches)(*feeds)
    gradients = [g for group in _grouped(expected[2:]) for g in _ours_gradients(kind, group)]
    for result, want in zip(results, [expected[0], expected[1], *gradients], strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_last_state_of_padded_sequences(kind, bidirectional):
    random = np.random.RandomState(0)
    x, counts = random.uniform(-1, 1, (4, 6, 3)).astype(np.float32), np.array([6, 0, 3, 1], np.int32)
    graph = al.Graph()
    source, lengths = graph.placeholder((None, 6, 3)), graph.placeholder((None,), al.int32)
    layer = LAYERS[kind](5, bidirectional=bidirectional, seed=1)
    last = layer(source, lengths=lengths)
    (results,) = graph.compile([source, lengths], [last])(x, counts)
    x[:, 3:] = np.where(counts[:, None, None] > 3, x[:, 3:], 7)  # which is padding
    np.testing.assert_array_equal(graph.compile([source, lengths], [last])(x, counts)[0], results)
    for row, count in enumerate(counts):
        if count == 0:
            assert not results[row].any()
            continue
        alone = graph.placeholder((1, int(count), 3))
        (expected,) = graph.compile([alone], [layer(alone)])(x[row : row + 1, :count])
        np.testing.assert_allclose(results[row : row + 1], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_lengths_outside_the_steps_give_nan_in_the_last_state_and_in_all(kind, bidirectional, dtype):
    x = np.random.RandomState(0).uniform(-1, 1, (5, 4, 3)).astype(np.float32)
    counts = np.array([4, 5, 0, -1, 2]).astype(dtype)
    graph = al.Graph()
    source, lengths = graph.placeholder((None, 4, 3)), graph.placeholder((None,), dtype)
    layers = [LAYERS[kind](6, bidirectional=bidirectional, return_sequences=whole) for whole in (False, True)]
    fetches = [layer(source, lengths=lengths) for layer in layers]
    for variable, other in zip(*(layer.variables for layer in layers)):
        other.assign(variable.numpy())
    last, states = graph.compile([source, lengths], fetches)(x, counts)
    np.testing.assert_array_equal(np.isnan(last), [[row in (1, 3)] * last.shape[1] for row in range(5)])
    np.testing.assert_array_equal(np.isnan(states), np.isnan(last)[:, None] * np.ones((1, 4, 1), bool))
    np.testing.assert_array_equal(last[2], 0)
    for row in (0, 4):
        np.testing.assert_array_equal(last[row, :6], states[row, counts[row] - 1, :6])


@pytest.mark.parametrize("activation", ["none", "relu", "tanh", "sigmoid", "hard_sigmoid"])
def test_a_nan_stays_one_in_a_cell(activation):
    graph = al.Graph()
    x = graph.placeholder((1, 1, 2))
    y = al.rnn(x, graph.constant(np.eye(2, dtype=np.float32)), activation=activation)
    np.testing.assert_array_equal(np.isnan(graph.compile([x], [y])(np.float32([[[np.nan, 1]]]))[0]), [[[True, False]]])


class _Reader(al.nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell, self.dense = al.nn.LSTM(4, seed=0), al.nn.Dense(1, seed=0)

    def forward(self, x, training):
        return self.dense(self.cell(x["series"], lengths=x["lengths"]))


@pytest.mark.parametrize("wrong", [5, -1])
def test_a_trainer_refuses_lengths_outside_the_steps(wrong):
    series, lengths = np.zeros((6, 4, 3), np.float32), np.int32([4, 0, 2, 1, 3, 4])
    targets = np.zeros((6, 1), np.float32)
    trainer = al.Trainer(_Reader(), "mean_squared_error", al.SGD(0.1))
    trainer.fit(({"series": series, "lengths": lengths}, targets), epochs=1, progress=False)
    lengths[3] = wrong
    arrays = ({"series": series, "lengths": lengths}, targets)
    for work in (trainer.evaluate, trainer.fit):
        with pytest.raises(ValueError, match=rf"\] Expected lengths from 0 to 4, the steps, got {wrong} in row 3; at"):
            work(arrays)
    batches = al.data.from_arrays(arrays).batch(2)
    with pytest.raises(
        FloatingPointError, match=rf"expected lengths from 0 to 4, the steps, got {wrong} in row 1 of the"
    ):
        trainer.fit(batches, epochs=1, progress=False)


def test_initial_values_are_keras():
    graph = al.Graph()
    layer = al.nn.LSTM(8, seed=3)
    layer(graph.placeholder((2, 4, 5)))
    weights, recurrent, bias = (variable.numpy() for variable in layer.variables)
    limit = np.sqrt(6 / (5 + 32))
    assert 0.8 * limit < np.abs(weights).max() <= limit
    np.testing.assert_allclose(recurrent.T @ recurrent, np.eye(8), atol=1e-6)
    np.testing.assert_array_equal(bias, np.repeat([0, 1, 0, 0], 8))
    assert [variable.name for variable in layer.variables] == [
        "lstm_0/weights",
        "lstm_0/recurrent_weights",
        "lstm_0/bias",
    ]


def _line():
    return np.linspace(-1, 1, 60, dtype=np.float32).reshape(3, 4, 5)


def test_inference_gives_what_training_gives():
    graph = al.Graph()
    x = graph.placeholder((3, 4, 5))
    for layer in (al.nn.RNN(6), al.nn.LSTM(6), al.nn.GRU(6), al.nn.GRU(6, reset_after=False)):
        a, b = graph.compile([x], [layer(x, True), layer(x, False)])(_line())
        np.testing.assert_array_equal(a, b)


def test_a_gradient_of_a_cell_that_was_not_made_for_training():
    graph = al.Graph()
    x = graph.placeholder((3, 4, 5))
    layer = al.nn.GRU(6)
    of_training, of_inference = (al.gradients(al.sum(layer(x, how)), [x])[0] for how in (True, False))
    a, b = graph.compile([x], [of_training, of_inference])(_line())
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_learns_digits_row_by_row(kind):
    datasets = pytest.importorskip("sklearn.datasets")
    images, labels = datasets.load_digits(return_X_y=True)
    random = np.random.RandomState(0)
    order = random.permutation(len(labels))  # the last digits of the set are of other writers
    images, labels = (images / 16).astype(np.float32).reshape(-1, 8, 8)[order], labels.astype(np.int32)[order]
    graph = al.Graph()
    x, y = graph.placeholder((None, 8, 8)), graph.placeholder((None,), al.int32)
    model = al.nn.Sequential(LAYERS[kind](64), al.nn.Dense(10), seed=0)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, True), y))
    step = graph.compile([x, y], [loss], al.Adam(5e-3).minimize(loss))
    predict = graph.compile([x], [al.argmax(model(x), axis=1)])
    for _ in range(15):
        order = random.permutation(1440)
        for i in range(0, 1440, 32):
            step(images[order[i : i + 32]], labels[order[i : i + 32]])
    (found,) = predict(images[1440:])
    assert np.mean(np.ravel(found) == labels[1440:]) >= 0.95


def test_mistakes_say_what_was_expected():
    graph = al.Graph()
    with pytest.raises(ValueError, match=r"\[LSTM\].*rank 3"):
        al.nn.LSTM(3)(graph.placeholder((2, 3)))
    with pytest.raises(ValueError, match=r"\[GRU\].*known steps"):
        al.nn.GRU(3)(graph.placeholder((2, None, 3)))
    with pytest.raises(TypeError, match=r"\[LSTM\].*integer lengths"):
        al.nn.LSTM(3)(graph.placeholder((2, 4, 3)), lengths=graph.placeholder((2,)))
    with pytest.raises(ValueError, match=r"\[rnn\].*'elu'"):
        al.rnn(graph.placeholder((2, 2, 3)), graph.placeholder((3, 3)), activation="elu")
    with pytest.raises(ValueError, match=r"\[lstm\].*\(4, 2, 12\)"):
        al.lstm(graph.placeholder((4, 2, 11)), graph.placeholder((12, 3)))
