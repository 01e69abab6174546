"""The two storages of a graph's variables: the same programs, the same bits. (That they are right, and what
crosses to the device, is shown in test_training and test_residency; how arrays take turns in
tests/cpp/engine/storage.cpp.)"""

import numpy as np
import pytest

import alloy as al
import reference as ref
from alloy.tools.demo import cnn
from running import at_once

STORAGES = ["variable", "buffers"]


@pytest.fixture
def graph(storage):
    return al.Graph(storage=storage)


def linear_regression(graph):
    x = graph.placeholder((None, 3))
    w, b = graph.variable(np.float32([[1], [2], [3]])), graph.variable(np.float32([0]))
    return x, x @ w + b, x @ w + b, []


def network(make, example):
    def build(graph):
        x, model = graph.placeholder((None, *example)), make()
        trained = model(x, training=True)
        return x, trained, model(x), model.updates

    return build


def normal():
    return al.nn.Sequential(
        al.nn.Conv2D(4, 3), al.nn.BatchNorm(momentum=0.8), al.nn.ReLU(), al.nn.Flatten(), al.nn.Dense(10), seed=3
    )


MODELS = {
    "linear regression": (linear_regression, (3,)),
    "cnn": (network(cnn, (8, 8, 1)), (8, 8, 1)),
    "batch norm": (network(normal, (8, 8, 1)), (8, 8, 1)),
}
OPTIMIZERS = {
    "sgd": lambda: al.SGD(0.05),
    "adam": lambda: al.Adam(1e-2),
    "schedule": lambda: al.Adam(al.schedules.warmup(al.schedules.polynomial(1e-2, 9), 3)),
}


def train(storage, build, example, optimizer):
    """All that a user can see of 12 steps on batches of two sizes, with inference in between."""
    rng = np.random.default_rng(1)
    graph = al.Graph(storage=storage)
    x, trained, inferred, updates = build(graph)
    y = graph.placeholder((None, trained.shape[-1]))
    loss = al.mean(al.losses.mean_squared_error(trained, y))
    step = graph.compile([x, y], [loss], optimizer.minimize(loss) + updates)
    infer = graph.compile([x], [inferred])
    seen = []
    for i in range(12):
        count = 7 if i % 4 == 3 else 16
        batch = rng.normal(size=(count, *example)).astype(np.float32)
        seen += step(batch, rng.normal(size=(count, y.shape[-1])).astype(np.float32))
        if i % 3 == 0:
            seen += infer(batch)
    return seen + [variable.numpy() for variable in graph.variables]


@pytest.mark.skipif(al.device().kind == "gpu", reason="the same bits are promised of the portable device")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", MODELS)
def test_the_same_bits(model, optimizer):
    a, b = (train(storage, *MODELS[model], OPTIMIZERS[optimizer]()) for storage in STORAGES)
    assert len(a) == len(b)
    for one, other in zip(a, b):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(a[0], a[1]), "it trains"


def test_the_storage_of_a_graph(graph):
    assert graph.storage in STORAGES and al.Graph().storage == "variable"


def test_values_of_every_dtype_and_shape(graph):
    variables = [
        graph.variable(np.arange(6, dtype=np.int64).reshape(2, 3)),
        graph.variable(1.5),
        graph.variable([True, False]),
        graph.variable(np.int32([7])),
    ]
    run = graph.compile([], variables, [graph.assign(v, v) for v in variables])
    for _ in range(3):
        for value, expected in zip(run(), ([[0, 1, 2], [3, 4, 5]], 1.5, [True, False], [7])):
            np.testing.assert_array_equal(value, expected)
    for variable in variables:
        variable.assign(np.zeros(variable.shape, variable.dtype))
        np.testing.assert_array_equal(variable.numpy(), np.zeros(variable.shape))
    np.testing.assert_array_equal(run()[0], np.zeros((2, 3)))


def test_assigning_between_runs(graph):
    """However many runs have gone before, and whichever executables they were of."""
    v, frozen = graph.variable(1.0), graph.variable(10.0, trainable=False)
    grow, read = graph.compile([], [v], [graph.assign(v, v * 2)]), graph.compile([], [v + frozen])
    for runs in range(4):
        v.assign(np.float32(3))
        for i in range(runs):
            assert grow()[0] == 3 * 2**i and read()[0] == 3 * 2 ** (i + 1) + 10
        assert v.numpy() == 3 * 2**runs and frozen.numpy() == 10


def test_predictions_follow_whoever_writes_the_weights(graph, rng, tmp_path):
    """A step, an assignment and a checkpoint, between predictions of few images, whose kernels keep weights in an order
    of their own."""
    layer = al.nn.Conv2D(32, 3, use_bias=False)
    x = graph.placeholder((2, 8, 8, 16))
    prediction = layer(x)
    w = layer.variables[0]
    predict = graph.compile([x], [prediction])
    step = graph.compile([x], updates=al.SGD(0.1).minimize(al.mean(al.square(prediction))))
    images = rng.normal(size=(2, 8, 8, 16)).astype(np.float32)

    def check():
        for _ in range(2):
            expected = ref.conv2d(images.astype(np.float64), w.numpy().astype(np.float64))
            np.testing.assert_allclose(predict(images)[0], expected, rtol=1e-5, atol=1e-5)

    check()
    al.save(layer, tmp_path / "weights.safetensors")
    before = w.numpy()
    step(images)
    check()
    w.assign(2 * w.numpy())
    check()
    assert not np.allclose(w.numpy(), before)
    al.load(layer, tmp_path / "weights.safetensors")
    assert np.array_equal(w.numpy(), before)
    check()


def test_a_value_that_was_read_stays(graph):
    v = graph.variable([1.0, 2.0])
    double = graph.compile([], [v], [graph.assign(v, v * 2)])
    first = v.numpy()
    for _ in range(3):
        double()
    np.testing.assert_array_equal(first, [1, 2])
    np.testing.assert_array_equal(v.numpy(), [8, 16])


def test_mistakes_lose_no_state(graph):
    x = graph.placeholder((None, 2), name="x")
    w = graph.variable([1.0, 2.0])
    step = graph.compile([x], [al.sum(x * w)], [graph.assign(w, w + al.sum(x, axis=0))])
    one = np.ones((1, 2), np.float32)
    for mistake in (np.ones((1, 3), np.float32), np.ones((0, 2), np.float32), np.complex64([[1, 2]]), "text"):
        before = w.numpy()
        with pytest.raises((ValueError, TypeError)):
            step(mistake)
        np.testing.assert_array_equal(w.numpy(), before)
        assert step(one)[0] == before.sum()
        np.testing.assert_array_equal(w.numpy(), before + 1)
    with pytest.raises(ValueError):
        w.assign(np.ones(3, np.float32))
    np.testing.assert_array_equal(w.numpy(), [5, 6])


def test_checkpoints_go_from_one_storage_to_the_other(tmp_path, rng):
    path = tmp_path / "model.safetensors"
    values = []
    for storage in (*STORAGES, *STORAGES[::-1]):
        graph, model = al.Graph(storage=storage), normal()
        x = graph.placeholder((None, 8, 8, 1))
        loss = al.mean(al.square(model(x, training=True)))
        step = graph.compile([x], [loss], al.Adam().minimize(loss) + model.updates)
        if values:
            al.load(model, path)
        for loaded, variable in zip(values, model.variables):
            np.testing.assert_array_equal(variable.numpy(), loaded)
        step(rng.normal(size=(4, 8, 8, 1)).astype(np.float32))
        assert not values or not np.array_equal(model.variables[0].numpy(), values[0])
        values = [variable.numpy() for variable in model.variables]
        al.save(model, path)


def test_a_trainer_uses_the_storage_of_the_models_graph(rng):
    x = rng.normal(size=(40, 8, 8, 1)).astype(np.float32)
    y = rng.integers(0, 10, 40).astype(np.int32)
    seen = []
    for storage in STORAGES:
        graph, model = al.Graph(storage=storage), normal()
        model(graph.placeholder((None, 8, 8, 1)))
        trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(), metrics=["accuracy"])
        history = trainer.fit((x, y), epochs=2, batch_size=16, validation=(x, y), progress=False)
        assert trainer.model.graph.storage == storage
        seen.append([*history.values(), trainer.predict(x), *(v.numpy() for v in graph.variables)])
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_that_run_read_and_assign(graph):
    """Runs of a graph are one after the other, and a reader sees a value between two of them."""
    v, mark = graph.variable(np.zeros(1000, np.float32)), graph.variable(0.0)
    step = graph.compile([], [], [graph.assign(v, v + 1)])
    torn = []

    def work(i):
        for _ in range(50):
            step()
            value = v.numpy()
            torn.extend(value[value != value[0]])
            mark.assign(np.float32(i))

    at_once(work, range(4))
    assert not torn
    np.testing.assert_array_equal(v.numpy(), np.full(1000, 200))
