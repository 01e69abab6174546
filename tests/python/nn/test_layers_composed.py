"""Layers made of layers: several inputs and outputs, what may change after the first call, errors that name the place,
how layers are shown, and what is said about names that are wrong."""

import copy
import functools
import gc
import pickle
import weakref

import cloudpickle
import numpy as np
import pytest

import alloy as al

nn = al.nn


def run(model, *arrays, training=False):
    """What the model gives of a structure with one placeholder for each array; model: of a graph's placeholders."""
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    return graph.compile(feeds, model(*feeds))(*arrays)


class Net(nn.Layer):
    """Layers in the attributes of the names given, one after the other."""

    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.order = list(layers)

    def forward(self, x, training):
        for name in self.order:
            x = getattr(self, name)(x, training)
        return x


class TwoTowers(nn.Layer):
    """Of a dict or a pair; gives the same structure."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Dense(3), nn.Dense(2)

    def forward(self, x, training):
        if isinstance(x, dict):
            return {"sum": self.left(x["a"], training), "rest": [self.right(b, training) for b in x["b"]]}
        a, b = x
        return type(x)([self.left(a, training), self.right(b, training)])


# ---- several inputs and outputs ----


@pytest.mark.parametrize("structure", [tuple, list])
def test_pairs_in_and_out(structure, rng):
    a, b = rng.normal(size=(4, 5)).astype(np.float32), rng.normal(size=(4, 6)).astype(np.float32)
    model = TwoTowers()

    def call(*feeds):
        given = model(structure(feeds), training=True)
        assert type(given) is structure and [y.shape for y in given] == [(4, 3), (4, 2)]
        return list(given)

    y, z = run(call, a, b)
    wa, _, wb, _ = (v.numpy() for v in model.variables)
    np.testing.assert_allclose(y, a @ wa, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(z, b @ wb, rtol=1e-5, atol=1e-5)


def test_dicts_with_lists_in_them(rng):
    a, b, c = (rng.normal(size=(4, n)).astype(np.float32) for n in (5, 6, 6))
    model = nn.Sequential(TwoTowers())

    def call(a, b, c):
        given = model({"a": a, "b": [b, c]})
        return [given["sum"], *given["rest"]]

    assert [y.shape for y in run(call, a, b, c)] == [(4, 3), (4, 2), (4, 2)]


def test_what_is_no_structure_of_tensors():
    graph = al.Graph()
    x, other = graph.placeholder((2, 3)), al.Graph().placeholder((2, 3))
    for wrong, says in (
        (None, "got NoneType"),
        ((x, None), "got NoneType"),
        ((), "got an empty tuple"),
        ({}, "got an empty dict"),
        ([x, [np.float32(1)]], "got float32"),
        (3, "got int"),
    ):
        with pytest.raises(TypeError, match=rf"^\[Dense\] Expected a tensor, or a tuple, list or dict .*{says}.*; at"):
            nn.Dense(3)(wrong)
    with pytest.raises(ValueError, match=r"^\[TwoTowers\] Expected tensors of one graph, got .* and .* of another"):
        TwoTowers()((x, other))
    with pytest.raises(ValueError, match=r"^\[MultiHeadAttention\] Expected tensors of one graph"):
        y = graph.placeholder((2, 3, 4))
        nn.MultiHeadAttention(2, 3)(y, value=al.Graph().placeholder((2, 3, 4)))
    layers = [nn.Dense(3), nn.BatchNorm(), nn.Flatten(), nn.ReLU(), nn.Embedding(3, 3), nn.LSTM(3), nn.Conv1D(3, 3)]
    layers += [nn.LayerNorm(), nn.Dropout(0.5), nn.GlobalMaxPool(), nn.Reshape(()), nn.MaxPool1D(), nn.GELU()]
    for layer in layers:
        with pytest.raises(TypeError, match=r"^\[\w+\] Expected .*tensor.*, got tuple"):
            layer((x, x))


def test_what_forward_gives_is_checked():
    x = al.Graph().placeholder((2, 3))

    class Wrong(nn.Layer):
        def forward(self, x, training):
            return self.result

    for result, says in ((None, "NoneType"), ((x, 3), "int"), ([], "an empty list"), (np.ones(3), "ndarray")):
        layer = Wrong()
        layer.result = result
        with pytest.raises(TypeError, match=rf"^\[Wrong\] Expected a tensor, .* from forward, got {says}"):
            layer(x)
    with pytest.raises(ValueError, match=r"^\[Layer\] Expected a method forward\(self, x, training\) of Layer"):
        nn.Layer()(x)


# ---- calls ----


def test_operands_of_a_call_that_forward_does_not_take():
    x = al.Graph().placeholder((2, 3, 4))
    for layer, operands, says in (
        (
            nn.Dense(3),
            {"mask": x},
            r"The call \(x, training, mask=...\) does not fit forward\(x, training\): .* 'mask'; at",
        ),
        (
            nn.LSTM(3),
            {"length": x},
            r"not fit forward\(x, training, lengths=None\): got an unexpected keyword argument 'length'",
        ),
        (nn.MultiHeadAttention(2, 2), {"attn_mask": x}, "attention_mask=None.*unexpected keyword argument 'attn_mask'"),
        (nn.MultiHeadAttention(2, 2), {"key": x}, "Expected a value with the key"),
    ):
        with pytest.raises(TypeError, match=rf"^\[\w+\] .*{says}"):
            layer(x, **operands)
    for training in (x, "yes", 0.5):
        with pytest.raises(TypeError, match=r"^\[Dense\] Expected training as True or False, got "):
            nn.Dense(3)(x, training)


def test_a_layer_takes_other_shapes_where_its_variables_fit():
    graph = al.Graph()
    dense, conv, norm, table = nn.Dense(3), nn.Conv2D(2, 3), nn.LayerNorm(), nn.Embedding(4, 2)
    x = graph.placeholder((2, 5, 5, 4))
    assert dense(x).shape == (2, 5, 5, 3) and dense(graph.placeholder((7, 4))).shape == (7, 3)
    assert conv(x).shape == (2, 3, 3, 2) and conv(graph.placeholder((None, 9, None, 4))).shape == (None, 7, None, 2)
    assert norm(x).shape == x.shape and norm(graph.placeholder((7, 4))).shape == (7, 4)
    for shape in ((3,), (None, 5), ()):
        assert table(graph.placeholder(shape, "int32")).shape == (*shape, 2)
    for layer, shape, says in (
        (dense, (2, 5), r"Expected an input for weights of \(4, 3\), which the first call made, got float32\(2, 5\)"),
        (conv, (2, 5, 5, 3), r"an input for weights of \(3, 3, 4, 2\)"),
        (norm, (2, 5), r"an input for gamma and beta of shape \(4,\), which the first call made"),
        (conv, (2, 2, 2, 4), "window of 3 does not fit"),
    ):
        before = len(graph.variables)
        with pytest.raises(ValueError, match=rf"^\[\w+\] .*{says}.*; in \w+_0; (built )?at .*composed\.py:\d+\.$"):
            layer(graph.placeholder(shape))
        assert len(graph.variables) == before and layer.graph is graph


def test_activations_are_names_functions_or_layers(rng):
    x = rng.normal(size=(2, 3)).astype(np.float32)
    given = ["relu", al.relu, nn.ReLU(), lambda y: al.maximum(y, 0.0), nn.Sequential(nn.ReLU())]
    layers = [nn.Dense(4, activation=activation, seed=1) for activation in given]
    model = Net(**{f"dense{i}": layer for i, layer in enumerate(layers)})
    for layer in layers:
        layer.name = "same"  # in the names that seeds are made of
        (found,) = run(lambda x, layer=layer: [layer(x)], x)
        np.testing.assert_allclose(found, np.maximum(x @ layer.variables[0].numpy(), 0), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(layer.variables[0].numpy(), layers[0].variables[0].numpy())
    assert len(model.variables) == 10
    learned = nn.Dense(4, activation=nn.Dense(2))
    learned(al.Graph().placeholder((1, 3)))
    assert [v.name for v in learned.variables][2:] == ["dense_0/activation/weights", "dense_0/activation/bias"]


def test_initial_values_are_those_of_the_function():
    def weights(init):
        layer = nn.Dense(40, init=init, seed=3)
        layer(al.Graph().placeholder((1, 50)))
        return layer.variables[0].numpy()

    assert np.all(weights(al.init.zeros) == 0) and np.all(weights(lambda shape: np.full(shape, 0.5)) == 0.5)
    assert abs(weights(al.init.he_normal).std() - (2 / 50) ** 0.5) < 0.02
    assert abs(weights(functools.partial(al.init.normal, stddev=3)).std() - 3) < 0.3
    limit = (6 / 90) ** 0.5
    assert 0.9 * limit < np.abs(weights(al.init.glorot_uniform)).max() <= limit
    for layer in (nn.Conv2D(4, 3, init=al.init.ones), nn.DepthwiseConv2D(3, init=al.init.ones)):
        layer(al.Graph().placeholder((1, 5, 5, 2)))
        assert np.all(layer.variables[0].numpy() == 1) and np.all(layer.variables[1].numpy() == 0)


# ---- layers that change ----


def test_a_layer_replaced_after_the_first_call(rng):
    """As for a transfer to other classes: the new one is built, named, trained and saved, the old one is not."""
    x, y = rng.normal(size=(16, 3)).astype(np.float32), rng.integers(0, 5, 16).astype(np.int32)
    model = Net(body=nn.Dense(4), head=nn.Dense(2))
    graph = al.Graph()
    first = model(graph.placeholder((None, 3)))
    model.trainable = False
    model.head = nn.Dense(5)
    feeds = [graph.placeholder((None, 3)), graph.placeholder((None,), "int32")]
    predictions = model(feeds[0], training=True)
    assert [v.name for v in model.variables] == [
        "body/weights", "body/bias", "head_1/weights", "head_1/bias"]  # fmt: skip
    assert first.shape == (None, 2) and predictions.shape == (None, 5)
    assert [v.trainable for v in model.variables] == [False, False, True, True]
    loss = al.mean(al.losses.softmax_cross_entropy(predictions, feeds[1]))
    step = graph.compile(feeds, [loss], al.SGD(0.1).minimize(loss))
    before = [v.numpy() for v in model.variables]
    losses = [step(x, y)[0] for _ in range(5)]
    assert losses[-1] < losses[0]
    changed = [not np.array_equal(v.numpy(), value) for v, value in zip(model.variables, before)]
    assert changed == [False, False, True, True]


def test_layers_added_to_a_sequential_later():
    graph = al.Graph()
    model = nn.Sequential(nn.Dense(4), seed=3)
    x = graph.placeholder((1, 3))
    assert model(x).shape == (1, 4)
    model.layers.append(nn.Dense(5))
    model.layers.insert(0, nn.ReLU())
    assert model(x).shape == (1, 5)
    assert [v.name for v in model.variables] == ["dense_0/weights", "dense_0/bias", "dense_1/weights", "dense_1/bias"]
    assert model.layers[-1].seed == 3 and repr(model) == "Sequential(ReLU(), Dense(4), Dense(5), seed=3)"
    for wrong in (lambda x: x, [nn.ReLU()], nn.ReLU, None):
        model.layers.append(wrong)
        for use in (lambda: model(x), lambda: model.variables, lambda: setattr(model, "trainable", False)):
            with pytest.raises(TypeError, match=r"^\[Sequential\] Expected layers, one by one, got "):
                use()
        model.layers.pop()
    assert model(x).shape == (1, 5)


def test_nested_containers_and_shared_layers():
    shared = nn.Dense(3)
    model = Net(a=nn.Sequential(shared, nn.ReLU()), b=shared)
    model.more = {"x": {"y": [(nn.Dense(3), {"z": shared})]}, 3: nn.Dense(3)}
    model(al.Graph().placeholder((1, 3)))
    assert [v.name for v in model.variables] == ["a/b/weights", "a/b/bias"]
    model.more["x"]["y"][0][0](next(iter(model.variables)).graph.placeholder((1, 3)))
    assert len(model.variables) == 4, "called by itself, a layer in a nested dict is still the model's"
    model.trainable = False
    assert not model.more[3].trainable and not any(v.trainable for v in model.variables)


def test_long_lists_in_attributes_do_not_slow_a_model_down():
    """Of what holds no layer, such as the pairs of a tokenizer: a search of each in a list would take minutes."""
    model = Net(dense=nn.Dense(3))
    model.pairs = [("a", str(i)) for i in range(30_000)]
    model.places = {str(i): i for i in range(30_000)}
    model.pairs.append(model.pairs)
    model(al.Graph().placeholder((1, 3)))
    assert len(model.variables) == 2


def test_layers_in_a_set_are_refused():
    model = Net()
    model.branches = {nn.Dense(3)}
    with pytest.raises(ValueError, match=r"^\[Net\] Expected layers in a list, tuple or dict, got a set.* as branches"):
        model(al.Graph().placeholder((1, 3)))
    model.branches = {"names", "that", "are", "none"}
    assert model(al.Graph().placeholder((1, 3))).shape == (1, 3)


def test_a_layer_made_in_forward_is_refused_where_it_has_variables():
    class Made(nn.Layer):
        def forward(self, x, training):
            return self.kind()(nn.ReLU()(x), training)

    layer = Made()
    layer.kind = nn.Sigmoid
    x = al.Graph().placeholder((1, 3))
    assert layer(x).shape == (1, 3)
    layer.kind = lambda: nn.Dense(3)
    says = (
        r"^\[Dense\] Expected a layer that Made keeps in an attribute, made in its __init__, got a Dense that it does"
    )
    with pytest.raises(ValueError, match=says):
        layer(x)
    elsewhere = nn.Dense(3)
    elsewhere(x)
    layer.kind = lambda: elsewhere
    assert layer(x).shape == (1, 3), "a layer that was called before is the user's own affair"


def test_a_layer_that_build_makes_is_the_models(rng):
    class Autoencoder(nn.Layer):
        def build(self, x):
            self.decoder = nn.Dense(self.known_features(x))
            self.scale = self.add_variable(x.graph, "scale", lambda seed: np.float32([2]))

        def forward(self, x, training):
            return self.decoder(x, training) * self.scale

    model = Autoencoder()
    model.trainable = False
    model(al.Graph().placeholder((1, 3)))
    assert [v.name for v in model.variables] == [
        "autoencoder_0/scale",
        "autoencoder_0/decoder/weights",
        "autoencoder_0/decoder/bias",
    ]
    assert not any(v.trainable for v in model.variables)

    class Frozen(Autoencoder):
        def build(self, x):
            super().build(x)
            self.decoder.trainable = False

    frozen = Frozen()
    frozen(al.Graph().placeholder((1, 3)))
    assert [v.trainable for v in frozen.variables] == [True, False, False], "what build decides holds"
    with pytest.raises(ValueError, match="Expected the variable more to be made in build, which is called once"):
        model.add_variable(model.graph, "more", lambda seed: np.zeros(3, np.float32))


# ---- errors ----


class Stack(nn.Layer):
    def __init__(self, *blocks):
        super().__init__()
        self.blocks = list(blocks)

    def forward(self, x, training):
        for block in self.blocks:
            x = block(x, training)
        return x


def test_an_error_names_the_innermost_layer_once():
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    model = Net(encoder=Stack(nn.Dense(3), nn.Residual(nn.Sequential(nn.Dense(3), nn.Conv2D(2, 3)))))
    with pytest.raises(ValueError) as raised:
        model(x)
    assert str(raised.value).startswith("[Conv2D] Expected a tensor of rank 4 with a known last dimension, got float32")
    place = "; in encoder/blocks/1/sequential_0/conv2d_0; at tests/python/nn/test_layers_composed.py:"
    assert place in str(raised.value) and str(raised.value).count("; in ") == 1
    says = r"^\[Residual\] .* the shape of float32\(2, 3\), got float32\(2, 1\); at"  # the outermost has no path
    with pytest.raises(ValueError, match=says):
        nn.Residual(nn.Dense(1))(x)

    class Plain(nn.Layer):
        def forward(self, x, training):
            return x.shape + "text"

    with pytest.raises(TypeError) as raised:
        Net(inner=Plain())(x)
    assert raised.value.__notes__ == ["in the layer inner"] if hasattr(raised.value, "add_note") else True


def test_a_first_call_that_fails_leaves_everything_as_it_was(rng):
    x, y = rng.normal(size=(8, 3)).astype(np.float32), rng.normal(size=(8, 2)).astype(np.float32)
    own = al.Graph()
    kept = own.variable(np.float32([2]), "kept")
    model = Net(first=nn.Dense(4), second=nn.Dense(4), third=nn.Dense(2))
    model.kept = kept
    model.second.activation = lambda y: y + np.ones(7, np.float32)
    with pytest.raises(ValueError, match="; in second; built at"):
        model(own.placeholder((None, 3)))
    assert model.variables == [kept] and kept.trainable and model.graph is None and model.first.graph is None
    assert not any(v.trainable for v in own.variables if v is not kept and v != kept)
    del model.kept
    model.second.activation = None
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.1))  # in a graph of its own
    history = trainer.fit((x, y), 3, progress=False)
    assert history["loss"][-1] < history["loss"][0]
    assert [v.name for v in model.variables][::2] == ["first/weights", "second/weights", "third/weights"]


def test_a_later_call_that_fails_changes_nothing():
    graph = al.Graph()
    model = nn.Sequential(nn.Dense(3), nn.BatchNorm())
    x = graph.placeholder((2, 4))
    model(x, training=True)
    before, names = model.variables, len(graph.variables)
    with pytest.raises(ValueError):
        model(graph.placeholder((2, 5)), training=True)
    assert model.variables == before and len(graph.variables) == names and all(v.trainable for v in before[:4])
    assert model(x).shape == (2, 3)


# ---- copies ----


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "method": lambda model: model.copy(),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "cloudpickle": lambda model: cloudpickle.loads(cloudpickle.dumps(model)),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies(how, rng):
    """Before the first call a copy has the structure, after it the values; the copy's variables are its own."""
    model = nn.Sequential(nn.Dense(3, activation="relu"), nn.BatchNorm(), nn.Residual(nn.Dense(3)), seed=2)
    new = COPIES[how](model)
    array = rng.normal(size=(4, 5)).astype(np.float32)
    assert repr(new) == repr(model) and new.layers[0] is not model.layers[0]

    def computed(layer):
        graph = al.Graph()
        x = graph.placeholder(array.shape)
        return graph.run(layer(x), {x: array})

    first = computed(model)
    np.testing.assert_array_equal(computed(new), first)
    for variable in model.variables:
        variable.assign(rng.uniform(0.5, 1.5, size=variable.shape).astype(np.float32))
    model.layers[1].trainable = False
    values = al.state(model)
    taught, again = COPIES[how](model), COPIES[how](COPIES[how](model))
    for layer in taught, again:
        assert layer.graph is None and "graph" not in repr(layer)
        changed = computed(layer)
        assert np.abs(changed - first).max() > 0.01
        assert [v.trainable for v in layer.variables] == [v.trainable for v in model.variables]
        assert al.state(layer).keys() == values.keys()
        for name, value in al.state(layer).items():
            np.testing.assert_array_equal(value, values[name])
    taught.variables[0].assign(taught.variables[0].numpy() + 1)
    np.testing.assert_array_equal(model.variables[0].numpy(), values["dense_0/weights"])
    both = model.graph.placeholder((4, 5))
    twin = COPIES[how](model)
    a, b = model.graph.run([model(both), twin(both)], {both: array})  # in one graph, under names of its own
    np.testing.assert_array_equal(a, b)
    assert not {v.name for v in twin.variables} & {v.name for v in model.variables}


class Tied(nn.Layer):
    """Reads out by the weights that it reads in with."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)

    def forward(self, x, training):
        return self.table(x, training) @ al.transpose(self.table.weights)


def test_layers_share_weights_by_name(rng):
    model, graph = Tied(), al.Graph()
    x = graph.placeholder((3,), "int32")
    y = model(x)
    (table,) = model.variables
    assert model.table.weights is table
    ids = np.array([0, 3, 6], np.int32)
    np.testing.assert_allclose(graph.run(y, {x: ids}), table.numpy()[ids] @ table.numpy().T, rtol=1e-6)
    shared = nn.Dense(4)
    siamese = nn.Sequential(shared, nn.ReLU(), shared)
    siamese(graph.placeholder((2, 4)))
    new = copy.deepcopy(siamese)
    assert new.layers[0] is new.layers[2]
    new(al.Graph().placeholder((2, 4)))
    assert len(new.variables) == 2


def test_a_target_network_follows(rng):
    """v <- 0.9 v + 0.1 w, in the graph, for each pair of a model and its copy."""
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    model = nn.Sequential(nn.Dense(4), nn.Dense(1))
    model(x)
    target = model.copy()
    target(x)
    follow = [graph.assign(v, v * 0.9 + w * 0.1) for v, w in zip(target.variables, model.variables)]
    for variable in model.variables:
        variable.assign(variable.numpy() + 1)
    before = [v.numpy() for v in target.variables]
    graph.compile([], [], follow)()
    for variable, old, new in zip(target.variables, before, model.variables):
        np.testing.assert_allclose(variable.numpy(), 0.9 * old + 0.1 * new.numpy(), rtol=1e-6)


def test_states_in_memory(rng):
    model = nn.Sequential(nn.Dense(3), nn.BatchNorm())
    x = al.Graph().placeholder((2, 4))
    with pytest.raises(ValueError, match=r"^\[state\] Expected variables, got none"):
        al.state(model)
    model(x)
    state = al.state(model)
    assert list(state) == [v.name for v in model.variables] and all(type(v) is np.ndarray for v in state.values())
    for variable in model.variables:
        variable.assign(variable.numpy() + 1)
    kept = {name: value.copy() for name, value in state.items()}
    al.load(model, state)
    for variable in model.variables:
        np.testing.assert_array_equal(variable.numpy(), kept[variable.name])
    first = next(iter(state))
    for wrong, error, says in (
        ({}, ValueError, "missing from the state"),
        (state | {"more": np.zeros(1)}, ValueError, "more: unknown to the model but in the state"),
        (state | {first: np.zeros(2, np.float32)}, ValueError, r"Expected dense_0/weights of float32 \(4, 3\), got"),
        (state | {first: 3.0}, TypeError, "Expected a dict of names and NumPy arrays, got str: float in it"),
    ):
        with pytest.raises(error, match=rf"^\[load\] .*{says}"):
            al.load(model, wrong)
    for name, value in al.state(model).items():
        np.testing.assert_array_equal(value, kept[name])


def test_names_of_a_layers_variables():
    layer = nn.Dense(3)
    with pytest.raises(AttributeError, match=r"^\[Dense\] A Dense that has not been called has no attribute bias"):
        layer.bias  # noqa: B018
    layer(al.Graph().placeholder((2, 4)))
    assert [layer.weights, layer.bias] == layer.variables
    with pytest.raises(TypeError, match=r"^\[Dense\] Expected bias to stay the layer's variable; layer.bias.assign"):
        layer.bias = np.zeros(3)


def test_layers_are_not_kept_alive():
    model = nn.Sequential(Net(a=nn.Dense(3)))
    model(al.Graph().placeholder((1, 2)))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


# ---- as text ----


@pytest.mark.parametrize(
    "layer, text",
    [
        (lambda: nn.Dense(64, activation="relu"), "Dense(64, activation='relu')"),
        (lambda: nn.Dense(units=64, use_bias=True), "Dense(64)"),
        (lambda: nn.Dense(3, init=al.init.he_normal), "Dense(3, init=he_normal)"),
        (lambda: nn.Conv2D(32, (3, 2), strides=2, padding="same"), "Conv2D(32, (3, 2), strides=2, padding='same')"),
        (lambda: nn.BatchNorm(momentum=0.9), "BatchNorm(momentum=0.9)"),
        (lambda: nn.Residual(nn.ReLU(), nn.Dense(3)), "Residual(ReLU(), shortcut=Dense(3))"),
        (lambda: nn.LSTM(3, layers=2), "LSTM(3, layers=2)"),
        (lambda: nn.ConvTranspose2D(3, 3, strides=2), "ConvTranspose2D(3, 3, strides=2)"),
        (lambda: nn.Sequential(), "Sequential()"),
        (lambda: Net(a=nn.ReLU()), "Net(a=ReLU())"),
        (lambda: Stack(nn.ReLU(), nn.ReLU()), "Stack(ReLU(), ReLU())"),
        (
            lambda: nn.Sequential(
                nn.Sequential(nn.Conv2D(32, 3, activation="relu"), nn.MaxPool2D()), nn.Dense(10, seed=3)
            ),
            "Sequential(\n  Sequential(Conv2D(32, 3, activation='relu'), MaxPool2D()),\n  Dense(10, seed=3),\n)",
        ),
    ],
)
def test_a_layer_is_shown_as_it_was_made(layer, text):
    assert repr(layer()) == text
    if "Net" not in text and "Stack" not in text and "he_normal" not in text:
        assert repr(eval(text, vars(nn))) == text


def test_a_layer_inside_itself_is_shown():
    class Child(nn.Layer):
        def __init__(self, parent):
            super().__init__()

    parent = nn.Sequential(nn.ReLU())
    parent.layers.append(Child(parent))
    assert repr(parent) == "Sequential(ReLU(), Child(Sequential(...)))"


def test_summary(capsys):
    model = nn.Sequential(nn.Conv2D(8, 3), nn.BatchNorm(), nn.Flatten(), nn.Dropout(0.5), nn.Dense(10, use_bias=False))
    with pytest.raises(ValueError, match=r"^\[Sequential\] .*has been called, or input_shape.*; at "):
        model.summary()
    model.layers[0].trainable = False
    assert model.summary(input_shape=(4, 4, 1)) is None
    text = capsys.readouterr().out
    assert text == (
        "layer        kind       output        parameters  trainable\n"
        "-----------------------------------------------------------\n"
        "conv2d_0     Conv2D     (?, 2, 2, 8)          80  no\n"
        "batchnorm_0  BatchNorm  (?, 2, 2, 8)          32  partly\n"
        "flatten_0    Flatten    (?, 32)\n"
        "dropout_0    Dropout    (?, 32)\n"
        "dense_0      Dense      (?, 10)              320  yes\n"
        "-----------------------------------------------------------\n"
        "432 parameters, 1.73 kB: 336 trainable, 96 not\n"
    )
    model.summary()
    assert capsys.readouterr().out == text, "what the first call made is not made again"
    with pytest.raises(TypeError, match=r"^\[summary\] Expected input_shape as a tuple such as"):
        model.summary(input_shape=16)


def test_summaries_of_several_inputs_and_of_large_models(capsys):
    model = TwoTowers()
    model.spare = nn.Dense(3)
    model.summary(input_shape=[(4,), (5,)])
    text = capsys.readouterr().out
    assert "left " in text and "right" in text and "spare" in text and "not called" in text and "\n27 param" in text
    assert nn.Embedding(4, 2).summary(input_shape=(7,), dtype="int32") is None
    assert "(?, 7, 2)" in capsys.readouterr().out
    TwoTowers().summary(input_shape={"a": (4,), "b": [(5,), (5,)]})
    assert "27 parameters" in capsys.readouterr().out
    al.models.resnet50().summary()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 100 and max(map(len, lines)) <= 80
    counted = sum(
        int(line.split()[-2].replace(",", "")) for line in lines[2:-2] if line.split()[-1] in ("yes", "partly")
    )
    assert f"{counted:,} parameters" in lines[-1]


# ---- names that are wrong ----


def test_names_that_are_like_none():
    with pytest.raises(
        AttributeError, match=r"^\[al\.nn\] There is no al\.nn\.xyzzy; docs/coming-from\.md .*; at \S+\.$"
    ):
        nn.xyzzy  # noqa: B018
    for name in ("__wrapped__", "_private"):
        with pytest.raises(AttributeError, match=rf"^module 'alloy.nn' has no attribute '{name}'$"):
            getattr(nn, name)
    assert all(name[0].isupper() and getattr(nn, name) for name in nn.__all__) and nn.__all__ == sorted(nn.__all__)
    made = {name for name, kind in vars(nn).items() if isinstance(kind, type) and issubclass(kind, nn.Layer)}
    assert made == set(nn.__all__)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: nn.Dense(3, init="he_normal"), "Expected a function such as .* as init.*; write al.init.he_normal"),
        (lambda: nn.Dense(3, activation=nn.ReLU), r"got the class ReLU; write ReLU\(\)"),
        (lambda: nn.Dense(3, activation=3), "Expected a name or a function as the activation, got 3"),
        (lambda: nn.GELU(approximate="none"), r"Expected approximate as True \(by tanh\) or False, got 'none'"),
        (lambda: nn.Dropout("half"), "Expected a rate from 0 to 1, got 'half'"),
        (lambda: nn.BatchNorm(momentum=None), "Expected a momentum from 0 to 1, got None"),
        (lambda: nn.Sequential(lambda x: x), "got function; a function of tensors belongs into the forward of a layer"),
    ],
)  # fmt: skip
def test_arguments_that_a_layer_does_not_take(make, says):
    with pytest.raises(TypeError, match=rf"^\[\w+\] .*{says}.*; (built )?at .*composed\.py:\d+\.$"):
        make()


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: nn.Dense(out_features=4), "unexpected keyword argument 'out_features'"),
        (lambda: nn.Dense(), "missing 1 required positional argument: 'units'"),
        (lambda: nn.Conv2D(32, 3, 1, "same"), "takes 3 positional arguments but 5 were given"),
        (lambda: nn.BatchNorm(64), "takes 1 positional argument but 2 were given"),
        (lambda: nn.ReLU(inplace=True), "unexpected keyword argument 'inplace'"),
    ],
)
def test_arguments_by_position_and_by_name(make, says):
    """A layer takes by position only the arguments that it cannot do without."""
    with pytest.raises(TypeError, match=rf"^[A-Z]\w+\.__init__\(\) .*{says}"):
        make()


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: nn.Dense(0), "units of 1 or more, got 0"),
        (lambda: nn.Conv2D(3, (1, 2, 3)), r"a kernel size of 1 or more, or 2 of them, got \(1, 2, 3\)"),
        (lambda: nn.Conv2D(3, 0), "a kernel size of 1 or more"),
        (lambda: nn.Conv2D(3, 3, groups=2), "filters that are a multiple of 2 groups, got 3"),
        (lambda: nn.MaxPool1D((2, 2)), r"a pool size of 1 or more, got \(2, 2\)"),
        (lambda: nn.Embedding(3, 3, dtype="int32"), "the dtype float32, float16 or bfloat16"),
        (lambda: nn.LayerNorm(epsilon=-1), "epsilon of 0 or more"),
        (lambda: nn.BatchNorm(momentum=64), "a momentum from 0 to 1, got 64"),
        (lambda: nn.Reshape((-1, -1)), "at most one -1"),
        (lambda: nn.Flatten(order="C"), "an order among 'channels_last', 'channels_first', got 'C'"),
        (lambda: nn.ZeroPadding2D((1, 2, 3)), "a padding of height and width"),
    ],
)
def test_values_that_a_layer_does_not_take(make, says):
    with pytest.raises(ValueError, match=rf"^\[\w+\] .*{says}.*; at .*composed\.py:\d+\.$"):
        make()


@pytest.mark.parametrize(
    "make, shape, dtype, says",
    [
        (lambda: nn.Conv1D(3, 3), (2, 3), "float32", r"\(n, length, channels\)"),
        (lambda: nn.Conv1D(3, 3, padding=1), (2, 8, 3), "float32", "a pair"),
        (lambda: nn.Conv2D(4, 3, groups=2), (2, 8, 8, 3), "float32", "channels that are a multiple of 2 groups"),
        (lambda: nn.ConvTranspose2D(4, 3, output_padding=0), (2, None, 8, 3), "float32", "known height and width"),
        (lambda: nn.GlobalAvgPool(), (2, 3), "float32", "rank 3 or more"),
        (lambda: nn.InstanceNorm(), (2, 3), "float32", "rank 3 or more"),
        (lambda: nn.GroupNorm(4), (2, 6), "float32", "channels that are a multiple of 4"),
        (lambda: nn.LayerNorm(axis=3), (2, 6), "float32", r"with the axes \[3\]"),
        (lambda: nn.LayerNorm(axis=1), (2, None, 6), "float32", "known extents"),
        (lambda: nn.Reshape((5,)), (None, 6), "float32", r"examples of the shape \(5,\)"),
        (lambda: nn.Reshape((5, -1)), (None, 6), "float32", "examples of the shape"),
        (lambda: nn.Reshape((2, -1)), (None, None), "float32", "known extents behind the batch for a -1"),
        (lambda: nn.MultiHeadAttention(2, 3), (2, 6), "float32", "rank 3"),
        (lambda: nn.Dense(3, init=lambda shape: np.zeros(3)), (2, 6), "float32", r"values of \(6, 3\), got \(3,\)"),
        (lambda: nn.Resizing(3, 3), (2, 6), "float32", "known height and width"),
        (lambda: nn.UpSampling2D(2), (2, 6), "float32", "known height and width"),
        (lambda: nn.Dense(2), (3, None), "float32", "known last dimension"),
        (lambda: nn.Conv2D(2, 3), (2, 6), "float32", "rank 4"),
        (lambda: nn.Conv3D(2, 3), (2, 6), "float32", "rank 5"),
    ],
)  # fmt: skip
def test_inputs_that_a_layer_does_not_take(make, shape, dtype, says):
    with pytest.raises(ValueError, match=rf"^\[\w+\] .*{says}.*; at .*composed\.py:\d+\.$"):
        make()(al.Graph().placeholder(shape, dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "complex64"])
def test_layers_that_compute_with_floats_say_so(dtype):
    x = al.Graph().placeholder((2, 4, 6), dtype)
    layers = [nn.Dense(3), nn.Conv1D(3, 3), nn.BatchNorm(), nn.LayerNorm(), nn.GroupNorm(2), nn.LSTM(3), nn.GELU()]
    layers += [nn.ReLU(), nn.ELU(), nn.LeakyReLU(), nn.Softmax(), nn.Dropout(0.5), nn.MultiHeadAttention(2, 3)]
    for layer in layers:
        with pytest.raises(
            TypeError, match=rf'^\[\w+\] Expected a tensor of floats, got {dtype}.*; al.cast\(x, "float32"'
        ):
            layer(x)


def test_layers_written_in_other_habits():
    x = al.Graph().placeholder((2, 3))

    class Keras(nn.Layer):
        def build(self, x):
            self.w = self.add_weight((3, 3))

        def call(self, x):
            return x

    class Torch(nn.Layer):
        def forward(self, x):
            return x

    class Several(nn.Layer):
        def forward(self, x, training, memory):
            return x + memory

    class Variables(nn.Layer):
        def build(self, x):
            self.add_variable(*self.arguments(x))

    with pytest.raises(AttributeError, match=r"no attribute add_weight; docs/coming-from\.md .*; in keras_0; at"):
        Keras()(x)
    with pytest.raises(TypeError, match=r"^\[Torch\] The call \(x, training\) does not fit forward\(x\): too many"):
        Torch()(x)
    with pytest.raises(
        TypeError, match=r"not fit forward\(x, training, memory\): missing a required argument: 'memory'"
    ):
        Several()(x)
    assert Several()(x, memory=x).shape == (2, 3)
    layer = Variables()
    for arguments, says in (
        (lambda x: (x, "w", lambda seed: 0), "Expected the graph of the variable, x.graph, got Tensor"),
        (
            lambda x: (x.graph, "w", np.ones(3)),
            "Expected a function of a seed that gives the initial value, got ndarray",
        ),
    ):
        layer.arguments = arguments
        with pytest.raises(TypeError, match=rf"^\[Variables\] {says}; in variables_0; at"):
            layer(x)


def test_ids_and_masks_of_wrong_types():
    graph = al.Graph()
    with pytest.raises(
        TypeError, match=r"^\[Embedding\] Expected ids of an integer type, got float32\(2, 3\); in embed"
    ):
        nn.Embedding(3, 3)(graph.placeholder((2, 3)))
    x = graph.placeholder((2, 3, 4))
    for mask in (graph.placeholder((3, 3)), graph.placeholder((3,), "bool")):
        with pytest.raises(TypeError, match=r"^\[MultiHeadAttention\] Expected an attention_mask of bool"):
            nn.MultiHeadAttention(2, 3)(x, attention_mask=mask)


def test_layers_of_users_are_shown_as_they_were_made():
    class Wide(nn.Dense):
        def __init__(self, **options):
            super().__init__(512, **options)

    class Head(nn.Layer):
        def __init__(self, classes, rate=0.1, **options):
            super().__init__(**options)
            self.body = nn.Dense(classes)

    assert repr(Wide(activation="relu")) == "Wide(activation='relu')"
    assert repr(Head(3, 0.2, seed=4)) == "Head(3, rate=0.2, seed=4)"


# ---- a transformer ----


class Block(nn.Layer):
    """Attention and a perceptron, each normalised before and added to what it is given."""

    def __init__(self, features, heads):
        super().__init__()
        self.norms = [nn.LayerNorm(epsilon=1e-5), nn.LayerNorm(epsilon=1e-5)]
        self.attention = nn.MultiHeadAttention(heads, features // heads, dropout=0.1, use_causal_mask=True)
        self.wide, self.narrow, self.dropout = (
            nn.Dense(4 * features, activation="gelu"),
            nn.Dense(features),
            nn.Dropout(0.1),
        )

    def forward(self, x, training):
        x = x + self.dropout(self.attention(self.norms[0](x, training), training), training)
        return x + self.dropout(self.narrow(self.wide(self.norms[1](x, training), training), training), training)


class Transformer(nn.Layer):
    def __init__(self, vocabulary, length, features=16, heads=2, depth=2):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocabulary, features), nn.Embedding(length, features)
        self.blocks, self.places = [Block(features, heads) for _ in range(depth)], np.arange(length, dtype=np.int32)
        self.norm, self.head = nn.LayerNorm(epsilon=1e-5), nn.Dense(vocabulary)

    def forward(self, ids, training):
        x = self.embedding(ids, training) + self.positions(ids.graph.constant(self.places), training)
        for block in self.blocks:
            x = block(x, training)
        return self.head(self.norm(x, training), training)


def test_a_transformer_of_two_blocks_learns_to_go_on(rng):
    """A sequence that repeats after 3: from the fourth place on it is known."""
    text = np.tile(rng.integers(0, 11, (256, 3)), 4).astype(np.int32)
    model = Transformer(11, 11)
    graph = al.Graph()
    ids, targets = (graph.placeholder((None, 11), "int32") for _ in range(2))
    loss = al.mean(al.losses.softmax_cross_entropy(model(ids, training=True), targets)[:, 2:])
    step = graph.compile([ids, targets], [loss], al.Adam(3e-3).minimize(loss) + model.updates)
    predict = graph.compile([ids], [model(ids)])
    losses = [step(text[i % 4 * 64 :][:64, :-1], text[i % 4 * 64 :][:64, 1:])[0] for i in range(200)]
    assert losses[0] > 2 and losses[-1] < 0.2
    unseen = np.tile(rng.integers(0, 11, (32, 3)), 4).astype(np.int32)
    guessed = predict(unseen[:, :-1])[0].argmax(-1)
    assert np.mean(guessed[:, 2:] == unseen[:, 3:]) > 0.9
    assert [v.name for v in model.variables if "blocks/1/attention/q" in v.name] == [
        "blocks/1/attention/query/weights", "blocks/1/attention/query/bias"]  # fmt: skip


def test_a_transformer_of_layers_alone():
    """Residual takes an attention: nothing needs a class."""

    def block():
        attention = nn.Sequential(nn.LayerNorm(), nn.MultiHeadAttention(2, 8, use_causal_mask=True))
        perceptron = nn.Sequential(nn.LayerNorm(), nn.Dense(64, activation="gelu"), nn.Dense(16))
        return nn.Sequential(nn.Residual(attention), nn.Residual(perceptron))

    model = nn.Sequential(nn.Embedding(11, 16, dtype="bfloat16"), block(), block(), nn.LayerNorm(), nn.Dense(11))
    graph = al.Graph()
    y = model(graph.placeholder((None, None), "int32"), training=True)
    assert y.shape == (None, None, 11) and y.dtype == "bfloat16" and {v.dtype for v in model.variables} == {"float32"}


def test_training_is_that_of_the_layer_around(rng):
    """Keras's habit: an inner layer is called without `training`."""

    class Inner(nn.Layer):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x, training):
            return self.drop(x)

    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner, self.fixed = Inner(), nn.Dropout(0.5)

        def forward(self, x, training):
            return self.inner(x), self.fixed(x, False)

    model, x, ones = Outer(), al.Graph().placeholder((200,)), np.ones(200, np.float32)
    dropped, fixed = x.graph.run(list(model(x, training=True)), {x: ones})
    assert set(dropped) == {0, 2} and [update.variable.name for update in model.updates] == ["inner/drop/state"]
    np.testing.assert_array_equal(fixed, ones)
    np.testing.assert_array_equal(x.graph.run(model(x)[0], {x: ones}), ones)
    np.testing.assert_array_equal(x.graph.run(nn.Dropout(0.5)(x), {x: ones}), ones)
