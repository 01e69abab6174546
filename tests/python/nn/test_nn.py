"""Layers and initial values."""

import warnings

import numpy as np
import pytest

import alloy as al
import reference as ref
from running import run

# ---- layers ----


def test_convolutions_against_their_definitions(rng):
    x, volume = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 4, 5, 3), (2, 3, 4, 5, 2)))
    conv = al.nn.Conv2D(4, (3, 2), strides=(1, 2), padding="same", seed=4)
    up = al.nn.ConvTranspose2D(4, (3, 2), strides=(2, 3), padding="same", seed=1)
    depthwise = al.nn.DepthwiseConv2D((2, 3), strides=(1, 2), depth_multiplier=2, seed=2)
    conv3d = al.nn.Conv3D(3, (2, 1, 3), strides=(1, 2, 1), padding="same", seed=3)
    layers, images = [conv, up, depthwise, conv3d], [x, x, x, volume]
    graph = al.Graph()
    feeds = [graph.placeholder(image.shape) for image in images]
    step = graph.compile(feeds, [layer(feed) for layer, feed in zip(layers, feeds)])
    for layer in layers:
        layer.variables[1].assign(rng.normal(size=layer.variables[1].shape).astype(np.float32))
    results = step(*images)
    flat, (weights, bias), (kernel, offset), (filters, shift) = [
        [v.numpy().astype(float) for v in layer.variables] for layer in layers
    ]
    assert weights.shape == (3, 2, 4, 3) and kernel.shape == (2, 3, 3, 2) and filters.shape == (2, 1, 3, 2, 3)
    plain = ref.conv2d(x.astype(float), flat[0], (1, 2), "same") + flat[1]
    transposed = ref.adjoint(lambda v: ref.conv2d(v, weights, (2, 3), "same"), np.zeros((2, 8, 15, 4)))(x) + bias
    by_channel = ref.depthwise_conv2d(x.astype(float), kernel, (1, 2)) + offset
    of_volume = ref.conv3d(volume.astype(float), filters, (1, 2, 1), "same") + shift
    for result, expected in zip(results, (plain, transposed, by_channel, of_volume)):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_an_autoencoder_of_transposed_convolutions_learns(rng):
    """Of any batch size: the images' height and width follow from the strides."""
    x = rng.normal(size=(8, 6, 6, 1)).astype(np.float32)
    graph = al.Graph()
    feed = graph.placeholder((None, 6, 6, 1))
    model = al.nn.Sequential(
        al.nn.ZeroPadding2D(1),
        al.nn.Conv2D(8, 2, strides=2),
        al.nn.ReLU(),
        al.nn.DepthwiseConv2D(2, padding="same"),
        al.nn.UpSampling2D(2),
        al.nn.ConvTranspose2D(1, 3, strides=2, padding="same"),
        al.nn.Resizing(6, 6),
        seed=5,
    )
    loss = al.mean(al.square(model(feed) - feed))
    step = graph.compile([feed], [loss], updates=al.Adam(0.01).minimize(loss))
    losses = [float(step(x)[0]) for _ in range(200)]
    assert losses[-1] < 0.5 * losses[0]
    assert np.isfinite(step(x[:3])[0])


def test_variables_are_made_once_and_named():
    graph = al.Graph()
    model = al.nn.Sequential(
        al.nn.Conv2D(2, 3), al.nn.ReLU(), al.nn.Conv2D(3, 1, use_bias=False), al.nn.Flatten(), al.nn.Dense(4)
    )
    assert model.variables == []
    first = model(graph.placeholder((None, 5, 5, 1)))
    names = ["conv2d_0/weights", "conv2d_0/bias", "conv2d_1/weights", "dense_0/weights", "dense_0/bias"]
    assert [v.name for v in model.variables] == names
    assert first.shape == (None, 4)
    model(graph.placeholder((2, 5, 5, 1)))
    assert [v.name for v in graph.variables] == names
    with pytest.raises(ValueError, match=r"^\[Sequential\] .*another graph; at .*test_nn\.py:\d+\.$"):
        model(al.Graph().placeholder((2, 5, 5, 1)))


def test_seeds():
    def weights(seed):
        model = al.nn.Sequential(al.nn.Dense(4), al.nn.Dense(4), seed=seed)
        model(al.Graph().placeholder((1, 4)))
        return [v.numpy() for v in model.variables]

    a, b, other = weights(0), weights(0), weights(1)
    for one, same in zip(a, b):
        np.testing.assert_array_equal(one, same)
    assert not np.allclose(a[0], other[0]) and not np.allclose(a[0], a[2])


def test_a_seed_reaches_the_layers_inside_layers():
    def weights(seed):
        inner = al.nn.Sequential(al.nn.Dense(4))
        model = al.nn.Sequential(al.nn.Residual(inner), al.nn.Sequential(al.nn.Dense(4, seed=9)), seed=seed)
        model(al.Graph().placeholder((1, 4)))
        assert [v.name for v in model.variables][::2] == [
            "residual_0/sequential_0/dense_0/weights",
            "sequential_0/dense_0/weights",
        ]
        return [v.numpy() for v in model.variables[::2]]

    (a, own), (b, same) = weights(1), weights(2)
    assert not np.allclose(a, b)
    np.testing.assert_array_equal(own, same)


def test_a_layer_in_two_places_has_its_variables_once():
    shared = al.nn.Dense(3)
    model = al.nn.Sequential(shared, al.nn.ReLU(), shared)
    model(al.Graph().placeholder((1, 3)))
    assert len(model.variables) == 2


def test_names_of_ops_and_variables():
    """They begin with the path of the layer, of one called twice with that of its first call."""
    graph = al.Graph()
    x = graph.placeholder((2, 3), name="x")
    shared = al.nn.Dense(3)

    def model():
        block = al.nn.Residual(al.nn.Sequential(shared, al.nn.ReLU()), name="block")
        return al.nn.Sequential(al.nn.Dense(3), block, block, al.nn.ReLU())

    first, second = model(), model()
    names = [op.name for op in graph.inspect(fetches=[first(x) * 2])]
    shared_path = "block/sequential_0/dense_0"
    assert sorted(names) == sorted(
        [
            "x",
            "dense_0/weights",
            "dense_0/bias",
            "dense_0/matmul",
            "dense_0/add",
            f"{shared_path}/weights",
            f"{shared_path}/bias",
            *[f"{shared_path}/matmul", f"{shared_path}/add", "block/sequential_0/relu_0/relu", "block/add"] * 2,
            "relu_0/relu",
            "",
            "",
        ]
    )
    second(x)
    assert [v.name for v in second.variables] == [
        "dense_1/weights",
        "dense_1/bias",
        f"{shared_path}/weights",
        f"{shared_path}/bias",
    ]
    assert {"block_1/add", "relu_1/relu"} < {op.name for op in graph.inspect()}
    al.nn.ReLU()(x), al.nn.Residual(al.nn.ReLU())(x), al.nn.Sequential(al.nn.ReLU(), name="own")(x)
    assert {"relu_2/relu", "relu_3/relu", "own/relu_0/relu"} < {op.name for op in graph.inspect()}


def test_names_of_a_training_step():
    graph = al.Graph()
    loss = al.sum(al.nn.Dense(1)(graph.placeholder((2, 3))) * 2)
    updates = al.Adam(al.schedules.polynomial(1e-3, 10)).minimize(loss)
    ops = graph.inspect(fetches=[loss], updates=updates)
    assert {op.name for op in ops if op.kind == "matmul"} == {"dense_0/matmul", "gradients/dense_0/matmul"}
    assert "gradients/sum" in {op.name for op in ops}
    assert {op.name for op in ops if op.kind == "adam"} == {
        f"optimizer/dense_0/{part}/adam" for part in ("weights", "bias")
    }
    assert sorted(v.name for v in graph.variables if not v.trainable) == sorted(
        [
            "optimizer/step",
            "optimizer/steps_0/step",
            "optimizer/steps_0/correction1",
            "optimizer/steps_0/correction2",
            *(
                f"optimizer/dense_0/{part}/{moment}_moment"
                for part in ("weights", "bias")
                for moment in ("first", "second")
            ),
        ]
    )
    assert graph.placeholder((1,)).name == "" and al.relu(loss).name == "", "what follows has no name"


# ---- batch normalisation ----


@pytest.mark.parametrize("shape", [(4, 5, 6, 3), (64, 7), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("options", [{}, {"momentum": 0.5, "epsilon": 1e-5}], ids=["defaults", "given"])
def test_batch_norm(shape, options, rng):
    """Value, moving averages and gradients of a training step, and the value after it, against float64."""
    x, weights = rng.normal(3, 2, shape).astype(np.float32), rng.normal(size=shape).astype(np.float32)
    graph = al.Graph()
    feed, layer = graph.placeholder((None, *shape[1:])), al.nn.BatchNorm(**options)
    inference = layer(feed)
    assert layer.updates == []
    names = ["gamma", "beta", "moving_mean", "moving_variance"]
    assert [v.name for v in layer.variables] == [f"batchnorm_0/{name}" for name in names]
    assert [v.trainable for v in layer.variables] == [True, True, False, False]
    assert [v.numpy().tolist() for v in layer.variables] == [[i] * shape[-1] for i in (1, 0, 0, 1)]
    gamma, beta = (rng.uniform(0.5, 1.5, shape[-1]).astype(np.float32) for _ in range(2))
    layer.variables[0].assign(gamma)
    layer.variables[1].assign(beta)

    value = layer(feed, training=True)
    gradients = al.gradients(al.sum(value * weights), [feed, *layer.variables[:2]])
    train = graph.compile([feed], [value, *gradients], layer.updates)
    after = graph.compile([feed], [inference])
    exact = ref.BatchNorm(gamma.astype(float), beta.astype(float), **options)
    for batch in (x, 2 * x - 1):
        found, *slopes = train(batch)
        np.testing.assert_allclose(found, exact.forward(batch.astype(float)), rtol=1e-5, atol=1e-5)
        expected = [exact.backward(weights.astype(float)), *exact.gradients]
        for slope, wanted in zip(slopes, expected, strict=True):
            assert np.linalg.norm(slope - wanted) <= 1e-5 * np.linalg.norm(wanted)
        for variable, average in zip(layer.variables[2:], exact.moving, strict=True):
            np.testing.assert_allclose(variable.numpy(), average, rtol=1e-5, atol=1e-6)
    before = [v.numpy() for v in layer.variables]
    mean, variance = exact.moving
    expected = gamma * (x - mean) / np.sqrt(variance + exact.epsilon) + beta
    np.testing.assert_allclose(after(x)[0], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(after(x[:1])[0], expected[:1], rtol=1e-5, atol=1e-5)
    for variable, value in zip(layer.variables, before):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_a_feature_that_never_changes():
    """Its variance is 0, from which epsilon keeps the division."""
    layer = al.nn.BatchNorm()
    value, gradient = run(
        lambda x: [y := layer(x, training=True), *al.gradients(al.sum(y * y), [x])], np.full((8, 2), 1e3, np.float32)
    )
    np.testing.assert_array_equal(value, np.zeros((8, 2)))
    np.testing.assert_array_equal(gradient, np.zeros((8, 2)))


def test_updates_are_of_the_last_training_call_in_the_layers_order():
    graph = al.Graph()
    shared = al.nn.BatchNorm(momentum=0)
    model = al.nn.Sequential(
        al.nn.Residual(al.nn.Sequential(shared, al.nn.BatchNorm(momentum=0)), al.nn.BatchNorm(momentum=0)), shared
    )
    x, twice = graph.placeholder((2, 1)), graph.placeholder((2, 1))
    model(x)
    assert model.updates == []
    model(x, training=True)
    first = model.updates
    model(twice, training=True)
    model(x)
    assert len(first) == len(model.updates) == 6 and not set(first) & set(model.updates)
    graph.compile([twice], [], model.updates)(np.float32([[1], [3]]))
    branch, inner, shortcut = model.variables[2:4], model.variables[6:8], model.variables[10:12]
    assert [v.name.rpartition("/")[0] for v in (branch[0], inner[0], shortcut[0])] == [
        "residual_0/sequential_0/batchnorm_0",
        "residual_0/sequential_0/batchnorm_1",
        "residual_0/batchnorm_0",
    ]
    np.testing.assert_allclose([v.numpy()[0] for v in shortcut], [2, 1])
    assert inner[0].numpy() == pytest.approx(0, abs=1e-6) and inner[1].numpy() == pytest.approx(1, abs=2e-3)
    # The shared one saw the sum of both normalised values last: of variance 4, a little less by epsilon.
    assert branch[0].numpy() == pytest.approx(0, abs=1e-6) and branch[1].numpy() == pytest.approx(4, abs=2e-2)


# ---- initial values ----


def test_initial_values():
    shape = (3, 3, 40, 50)  # fan_in 360, fan_out 450
    limit = np.sqrt(6 / 810)
    glorot = al.init.glorot_uniform(shape, seed=0)
    assert np.abs(glorot).max() <= limit and np.abs(glorot).max() > 0.99 * limit
    assert glorot.var() == pytest.approx(limit**2 / 3, rel=0.05)
    he = al.init.he_normal((300, 200), seed=0)
    assert he.std() == pytest.approx(np.sqrt(2 / 300), rel=0.02) and abs(he.mean()) < 1e-3
    assert al.init.normal((10000,), 3, 2, seed=0).mean() == pytest.approx(3, abs=0.1)
    uniform = al.init.uniform((10000,), -1, 3, seed=0)
    assert uniform.min() >= -1 and uniform.max() < 3 and uniform.mean() == pytest.approx(1, abs=0.1)
    for make in (al.init.glorot_uniform, al.init.he_normal, al.init.normal, al.init.uniform):
        assert make((2, 3), seed=5).dtype == np.float32
        np.testing.assert_array_equal(make((2, 3), seed=5), make((2, 3), seed=5))
    np.testing.assert_array_equal([al.init.zeros((2,)), al.init.ones((2,))], [[0, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"got \(3,\)"):
        al.init.glorot_uniform((3,), seed=0)


# ---- layers and variables in attributes ----


class Perceptron(al.nn.Layer):
    """Layers in every kind of place, two of them one, and a variable."""

    def __init__(self):
        super().__init__()
        self.first = al.nn.Dense(4)
        self.blocks = [al.nn.Dense(4), {"left": al.nn.Dense(4, use_bias=False)}, (al.nn.Dense(4, use_bias=False),)]
        self.again = self.blocks[0]
        self._head = al.nn.Sequential(al.nn.ReLU(), al.nn.Dense(1))
        self.notes = [1, "no layer", self.blocks]

    def build(self, x):
        self.scale = x.graph.variable(np.float32([2]), "scale")
        self.fixed = x.graph.variable(np.float32([1]), "fixed", trainable=False)

    def forward(self, x, training):
        left, right = self.blocks[1]["left"], self.blocks[2][0]
        x = self.again(self.blocks[0](self.first(x, training), training), training)
        return self._head(left(x, training) + right(x, training), training) * self.scale + self.fixed


PERCEPTRON = [
    f"perceptron_0/{name}"
    for name in (
        "scale",
        "fixed",
        "first/weights",
        "first/bias",
        "blocks/0/weights",
        "blocks/0/bias",
        "blocks/1/left/weights",
        "blocks/2/0/weights",
        "head/dense_0/weights",
        "head/dense_0/bias",
    )
]


def test_layers_and_variables_in_attributes_are_found_named_trained_and_saved(rng, tmp_path):
    x, y = rng.normal(size=(32, 3)).astype(np.float32), rng.normal(size=(32, 1)).astype(np.float32)
    model = Perceptron()
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.05))
    trainer.predict(x)
    assert [v.name for v in model.variables] == PERCEPTRON
    before = [v.numpy() for v in model.variables]
    trainer.fit((x, y), 3, 8, progress=False)
    moved = [v.name for v, value in zip(model.variables, before) if not np.array_equal(v.numpy(), value)]
    assert moved == [name for name in PERCEPTRON if not name.endswith("/fixed")]
    al.save(model, tmp_path / "model.safetensors")
    again = al.Trainer(Perceptron(), "mean_squared_error", al.SGD(0.1))
    again.predict(x)
    al.load(again.model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(x), trainer.predict(x))


def test_what_is_in_attributes_is_frozen_with_the_layer():
    for before in (True, False):
        model = Perceptron()
        model.trainable = not before
        model(al.Graph().placeholder((1, 3)))
        model.trainable = False
        assert not any(v.trainable for v in model.variables) and not model.blocks[1]["left"].trainable
        model.trainable = True
        assert [v.name for v in model.variables if not v.trainable] == ["perceptron_0/fixed"]


def test_a_step_that_leaves_updates_out_warns():
    graph = al.Graph()
    x = graph.placeholder((None, 4))
    model = al.nn.Sequential(al.nn.Dense(4), al.nn.BatchNorm(), al.nn.Dropout(0.5))
    loss = al.mean(al.square(model(x, training=True)))
    moved = al.SGD(0.1).minimize(loss)
    left = "batchnorm_0/moving_mean, batchnorm_0/moving_variance, dropout_0/state"
    with pytest.warns(UserWarning, match=rf"trains a Sequential and leaves {left} as it is; add \*model.updates to"):
        graph.compile([x], [loss], moved)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph.compile([x], [loss], [*moved, *model.updates])
        graph.compile([x], [model(x)])
        graph.compile([x], [loss])
        graph.compile([], [], [graph.assign(model.variables[0], model.variables[0] * 0.5)])


def test_a_model_of_attributes_alone_is_named_like_one_of_layers():
    class Net(al.nn.Layer):
        def __init__(self):
            handed = al.nn.Dense(2)
            super().__init__(handed)
            self.kept, self.handed = al.nn.Dense(1), handed

        def forward(self, x, training):
            return self.kept(self.handed(x, training), training)

    model = Net()
    model(al.Graph().placeholder((1, 3)))
    assert [v.name for v in model.variables] == ["dense_0/weights", "dense_0/bias", "kept/weights", "kept/bias"]


def test_a_constructor_need_not_call_that_of_layer():
    class Own(al.nn.Layer):
        def __init__(self, units):
            self.inner = al.nn.Dense(units)

        def forward(self, x, training):
            return self.inner(x)

    layer = Own(3)
    assert layer.trainable and layer.variables == [] and repr(layer) == "Own(3)"
    layer(al.Graph().placeholder((1, 2)))
    assert [v.name for v in layer.variables] == ["inner/weights", "inner/bias"]


def test_mistakes_with_layers():
    class Child(al.nn.Layer):
        def forward(self, x, training):
            return x

    x = al.Graph().placeholder((1, 3))
    for name in ("requires_grad", "trainble", "trainables"):
        with pytest.raises(
            AttributeError, match=f"^\\[Dense\\] A Dense has no attribute {name} to set; .*trainable; at"
        ):
            setattr(al.nn.Dense(3), name, False)
    layer = al.nn.Dense(3)
    layer.train, layer.layer, layer.names, layer._trainables = 1, 2, 3, 4
    parent = al.nn.Sequential(child := Child())
    child.parent = parent
    with pytest.raises(ValueError, match="not inside themselves, got a Sequential that a layer in it keeps"):
        parent(x).shape, parent.variables
    variable = al.nn.Dense(1)
    variable(x)
    for name, meant in (("value", ""), ("requires_grad", "trainable"), ("trainble", "trainable"), ("__class__", "")):
        with pytest.raises(AttributeError, match=f"no attribute {name} to set.*{meant}"):
            setattr(variable.variables[0], name, 0)
