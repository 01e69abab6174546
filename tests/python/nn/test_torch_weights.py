"""al.load_torch: PyTorch's parameters give PyTorch's values (tests/goldens/torch_weights_reference.py)."""

import copy

import numpy as np
import pytest
from safetensors.numpy import save_file

import alloy as al
from alloy import nn
from alloy.interop.torch_layouts import LAYOUTS
from torch_weights_reference import GOLDEN

E = {"epsilon": 1e-5}


def golden(name):
    with np.load(GOLDEN) as file:
        return {key.removeprefix(f"{name}/"): file[key] for key in file if key.startswith(f"{name}/")}


def state_of(name):
    return {key.removeprefix("state/"): value for key, value in golden(name).items() if key.startswith("state/")}


def written(tmp_path, tensors):
    path = tmp_path / "weights.safetensors"
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)
    return path


def here(array):
    """PyTorch's images, or sequences of a convolution, with the channels last."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def called(model, x):
    """The model, called, and a function that gives its value."""
    graph = al.Graph()
    source = graph.placeholder((None, *x.shape[1:]), x.dtype)
    y = model(source)
    return lambda: graph.run(y, {source: x})


def sequences(layer):
    return layer(4, return_sequences=True, layers=2, bidirectional=True)


# By case: the model, and what becomes of x and y. The model is PyTorch's by its layers' places.
same = np.asarray
FIRST = {"order": "channels_first"}
CASES = {
    "linear": (lambda: nn.Dense(3), same, same),
    "linear without bias": (lambda: nn.Dense(3, use_bias=False), same, same),
    "conv1d": (lambda: nn.Conv1D(6, 3), here, here),
    "conv2d": (lambda: nn.Conv2D(6, (3, 2)), here, here),
    "conv2d groups": (lambda: nn.Conv2D(6, 3, groups=2), here, here),
    "conv3d": (lambda: nn.Conv3D(3, (1, 2, 3)), here, here),
    "depthwise": (lambda: nn.DepthwiseConv2D(3, depth_multiplier=2), here, here),
    "transposed": (lambda: nn.ConvTranspose2D(6, (3, 2), groups=2), here, here),
    "batch norm": (lambda: nn.BatchNorm(**E), here, here),
    "batch norm without gamma": (lambda: nn.BatchNorm(**E, center=False, scale=False), same, same),
    "layer norm": (lambda: nn.LayerNorm(**E), same, same),
    "group norm": (lambda: nn.GroupNorm(3, **E), here, here),
    "instance norm": (lambda: nn.InstanceNorm(**E), here, here),
    "rms norm": (lambda: nn.RMSNorm(epsilon=1e-6), same, same),
    "rnn": (lambda: nn.RNN(4, return_sequences=True), same, same),
    "lstm": (lambda: sequences(nn.LSTM), same, same),
    "lstm without bias": (lambda: nn.LSTM(4, return_sequences=True, use_bias=False), same, same),
    "gru": (lambda: sequences(nn.GRU), same, same),
    "gru without bias": (lambda: nn.GRU(4, return_sequences=True, use_bias=False), same, same),
    "flattened conv1d": (lambda: nn.Sequential(nn.Conv1D(3, 2), nn.Flatten(**FIRST), nn.Dense(2)), here, same),
    "flattened conv3d": (lambda: nn.Sequential(nn.Conv3D(2, 2), nn.Flatten(**FIRST), nn.Dense(2)), here, same),
    "flattened images": (lambda: nn.Sequential(nn.Flatten(**FIRST), nn.Dense(3)), here, same),
    "flattened and normalised": (
        lambda: nn.Sequential(
            nn.Conv2D(2, 2),
            nn.ReLU(),
            nn.Flatten(**FIRST),
            nn.BatchNorm(**E),
            nn.LayerNorm(**E),
            nn.Dropout(0.5),
            nn.Dense(3),
        ),
        here,
        same,
    ),
    "decoder": (
        lambda: nn.Sequential(
            nn.Dense(24), nn.BatchNorm(**E), nn.ReLU(), nn.Reshape((3, 4, 2), **FIRST), nn.ConvTranspose2D(1, 2)
        ),
        same,
        here,
    ),
    "encoder and decoder": (
        lambda: nn.Sequential(nn.Conv2D(2, 2), nn.Flatten(**FIRST), nn.BatchNorm(**E), nn.Reshape((2, 3, 2), **FIRST)),
        here,
        here,
    ),
    "resnet": (lambda: ResNet(), here, same),
    "transformer": (lambda: Encoder(), same, same),
    "text": (lambda: Text(), same, same),
    "attention": (lambda: Attention(use_bias=False), same, same),
    "attention to others": (lambda: Attention(), same, same),
}


class Block(nn.Layer):
    def __init__(self, filters, stride):
        super().__init__()
        self.conv1 = nn.Conv2D(filters, 3, strides=stride, padding=((1, 1), (1, 1)), use_bias=False)
        self.bn1, self.bn2 = nn.BatchNorm(**E), nn.BatchNorm(**E)
        self.conv2 = nn.Conv2D(filters, 3, padding="same", use_bias=False)
        self.downsample = None
        if stride > 1:
            shortcut = nn.Conv2D(filters, 1, strides=stride, use_bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm(**E))

    def forward(self, x, training):
        y = al.relu(self.bn1(self.conv1(x), training))
        y = self.bn2(self.conv2(y), training)
        return al.relu(y + (self.downsample(x, training) if self.downsample else x))


class ResNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2D(4, 3, padding="same", use_bias=False), nn.BatchNorm(**E)
        self.blocks = [Block(4, 1), Block(6, 2)]
        self.fc = nn.Dense(5)

    def forward(self, x, training):
        x = al.relu(self.bn1(self.conv1(x), training))
        for block in self.blocks:
            x = block(x, training)
        return self.fc(nn.Flatten(**FIRST)(al.max_pool2d(x)))


class Encoder(nn.Layer):
    """PyTorch's TransformerEncoderLayer, with its names."""

    def __init__(self):
        super().__init__()
        self.self_attn = nn.MultiHeadAttention(2, 3)
        self.linear1, self.linear2 = nn.Dense(10, activation="relu"), nn.Dense(6)
        self.norm1, self.norm2 = nn.LayerNorm(**E), nn.LayerNorm(**E)

    def forward(self, x, training):
        x = self.norm1(x + self.self_attn(x, training))
        return self.norm2(x + self.linear2(self.linear1(x)))


class Text(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.head = nn.Embedding(7, 4), nn.LSTM(5), nn.Dense(3)

    def forward(self, x, training):
        return self.head(self.lstm(self.embedding(x)))


class Attention(nn.Layer):
    def __init__(self, use_bias=True):
        super().__init__()
        self.attention = nn.MultiHeadAttention(2, 3, use_bias=use_bias)
        self.other = nn.Dense(5)

    def forward(self, x, training):
        memory = self.other(x)
        return self.attention(x, training, value=memory if self.attention._options["use_bias"] else x)


@pytest.mark.parametrize("name", CASES)
def test_values_are_pytorchs(name, tmp_path):
    make, turn, turn_back = CASES[name]
    arrays, model = golden(name), make()
    run = called(model, turn(arrays["x"]))
    before = run()
    assert not np.allclose(before, turn_back(arrays["y"]), atol=1e-3)
    al.load_torch(model, written(tmp_path, state_of(name)))
    np.testing.assert_allclose(run(), turn_back(arrays["y"]), rtol=1e-5, atol=1e-5)


def test_every_layer_with_variables_has_a_line_and_a_case():
    making = {
        kind
        for kind in (getattr(nn, name) for name in nn.__all__)
        if any("build" in vars(base) for base in kind.__mro__ if base is not nn.Layer)
    }
    assert making == set(LAYOUTS)
    tested = {type(layer) for make, *_ in CASES.values() for layer in make()._tree()}
    assert making <= tested


# ---- what is made flat ----


class Through(nn.Layer):
    """A Dense, a function of what it gives and of layers, and a Dense behind it."""

    def __init__(self, function, *layers):
        super().__init__(*layers)
        self.function, self.first, self.last = function, nn.Dense(48), nn.Dense(2)

    def forward(self, x, training):
        return self.last(self.function(self.first(x), *self.layers))


def images(x):
    """(4, 4, 3), as PyTorch makes (3, 4, 4) of as many."""
    return al.transpose(al.reshape(x, (-1, 3, 4, 4)), (0, 2, 3, 1))


def sequences_of(x):
    return al.transpose(al.reshape(x, (-1, 3, 16)), (0, 2, 1))


def one_after_another(x, *layers):
    for layer in layers:
        x = layer(x)
    return x


FLATTEN = 'use al.nn.Flatten(order="channels_first"), or load_torch(..., flattened="channels_last") where '
# By case: the function, its layers, and what the message asks for, if there is one.
# fmt: off
ORDERS = {
    "a Flatten": (lambda x, f: f(images(x)), [nn.Flatten()], FLATTEN),
    "al.flatten": (lambda x: al.flatten(images(x)), [], FLATTEN),
    "al.reshape": (lambda x: al.reshape(images(x), (-1, 48)), [], FLATTEN),
    "a Reshape": (lambda x, r: r(images(x)), [nn.Reshape((-1,))], FLATTEN),
    "sequences": (lambda x: al.flatten(al.relu(sequences_of(x))), [], FLATTEN),
    "behind layers": (lambda x, *layers: one_after_another(images(x), *layers),
     [nn.Conv2D(4, 3), nn.ReLU(), nn.MaxPool2D(), nn.ZeroPadding2D(1), nn.Flatten(), nn.Dropout(0.5)], FLATTEN),
    "one of two": (lambda x, f: al.concat([f(images(x)), al.flatten(images(x))], axis=-1), [nn.Flatten(**FIRST)],
     FLATTEN),
    "height and width exchanged": (lambda x: al.flatten(al.transpose(images(x), (0, 2, 1, 3))), [], FLATTEN),
    "images of the last axis": (lambda x: al.mean(al.reshape(x, (-1, 4, 6, 2)), axis=(1, 2)), [],
     r'use al.nn.Reshape((4, 6, 2), order="channels_first"), or '),
    "in PyTorch's order": (lambda x, f: f(images(x)), [nn.Flatten(**FIRST)], None),
    "by hand": (lambda x: al.flatten(al.transpose(images(x), (0, 3, 1, 2))), [], None),
    "sequences in PyTorch's order": (lambda x, f: f(sequences_of(x)), [nn.Flatten(**FIRST)], None),
    "one place": (lambda x, p: al.flatten(p(images(x))), [nn.GlobalAvgPool(keepdims=True)], None),
    "one channel": (lambda x: al.flatten(al.reshape(x, (-1, 8, 6, 1))), [], None),
    "pooled": (lambda x, p: p(images(x)), [nn.GlobalMaxPool()], None),
    "norms of groups": (lambda x, *norms: al.mean(one_after_another(images(x), *norms), axis=(1, 2)),
     [nn.GroupNorm(3), nn.InstanceNorm()], None),
    "a norm of features in groups": (lambda x, norm: norm(x), [nn.GroupNorm(6)], None),
    "attention": (lambda x, a: al.mean(a(sequences_of(x)), axis=1), [nn.MultiHeadAttention(2, 2)], None),
    "recurrent": (lambda x, r: r(sequences_of(x)), [nn.LSTM(4)], None),
}
# fmt: on


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_what_is_made_flat(name, tmp_path):
    """A model that has another order than PyTorch is refused, unless PyTorch is said to have the same."""
    function, layers, message = ORDERS[name]
    model = copy.deepcopy(Through(function, *layers))  # as no layer is of two graphs
    model(al.Graph().placeholder((None, 5)))
    random, before = np.random.default_rng(0), values(model)
    shapes = {
        "first.weight": (48, 5),
        "first.bias": (48,),
        "last.weight": model.last.weights.shape[::-1],
        "last.bias": (2,),
    }
    given = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    path, skip = written(tmp_path, given), "[0-9]*"
    if message is not None:
        with pytest.raises(ValueError) as caught:
            al.load_torch(model, path, skip=skip)
        assert message in str(caught.value) and "test_torch_weights.py" in str(caught.value)
        assert all(np.array_equal(*pair) for pair in zip(values(model), before))
    al.load_torch(model, path, skip=skip, flattened=message and "channels_last")
    np.testing.assert_array_equal(model.first.weights.numpy(), given["first.weight"].T)
    np.testing.assert_array_equal(model.last.weights.numpy(), given["last.weight"].T)


def test_the_message_about_an_order(tmp_path):
    model = small(nn.Flatten())
    with pytest.raises(ValueError) as caught:
        al.load_torch(model, written(tmp_path, tensors()))
    assert str(caught.value).partition("built at")[0] == (
        "[load_torch] Expected (None, 2, 2, 8) made (None, 32) with the channels first, as in PyTorch, got it with the "
        "channels last, "
    )


def test_an_order_that_nothing_loaded_reads_does_not_matter(tmp_path):
    model, given = small(nn.Flatten()), tensors("0", None)
    al.load_torch(model.layers[0].layers[0], written(tmp_path, {name[2:]: tensor for name, tensor in given.items()}))
    assert is_loaded(model, given)


def test_a_model_in_training_loads(tmp_path):
    """What a training step computes of it is in no way."""
    model = small()
    data = np.zeros((2, 4, 4, 3), np.float32), np.zeros(2, np.int32)
    al.Trainer(model, "softmax_cross_entropy", "sgd").fit(data, progress=False)
    al.load_torch(model, written(tmp_path, tensors()))
    assert is_loaded(model, tensors())


@pytest.mark.parametrize(
    "shape, flattened, turned",
    [
        ((4, 3, 2), None, True),
        ((4, 3, 2), "channels_last", False),
        ((4, 3), None, False),
        ((4, 3), "channels_first", True),
        ((3, 3), "channels_first", True),
        ((3, 3), "channels_last", False),
    ],
)
def test_norms_over_channels_and_places(shape, flattened, turned, tmp_path):
    model = nn.LayerNorm(axis=tuple(range(1, len(shape) + 1)))
    model(al.Graph().placeholder((None, *shape)))
    gamma = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    given = np.moveaxis(gamma, -1, 0) if turned else gamma
    al.load_torch(model, written(tmp_path, {"weight": given, "bias": -given}), flattened=flattened)
    np.testing.assert_array_equal(model.gamma.numpy(), gamma)
    np.testing.assert_array_equal(model.beta.numpy(), -gamma)


def test_a_norm_whose_axes_are_alike_asks_for_their_order(tmp_path):
    model = nn.RMSNorm(axis=(1, 2))
    model(al.Graph().placeholder((None, 3, 3)))
    with pytest.raises(ValueError, match='Expected flattened="channels_first" or "channels_last" for .*/gamma, got'):
        al.load_torch(model, written(tmp_path, {"weight": np.zeros((3, 3), np.float32)}))


# ---- where PyTorch has other names ----


def small(flatten=None):
    """A body and a head, called, for images (4, 4, 3)."""
    body = nn.Sequential(nn.Conv2D(8, 3), nn.ReLU(), flatten or nn.Flatten(order="channels_first"), name="body")
    model = nn.Sequential(body, nn.Dense(5))
    model(al.Graph().placeholder((None, 4, 4, 3)))
    return model


def tensors(prefix="0.0", head="1", **others):
    random = np.random.default_rng(0)
    shapes = {f"{prefix}.weight": (8, 3, 3, 3), f"{prefix}.bias": (8,)}
    shapes |= {f"{head}.weight": (5, 32), f"{head}.bias": (5,)} if head else {}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in (shapes | others).items()}


def values(model):
    return [variable.numpy() for variable in model.variables]


def is_loaded(model, given):
    """Whether the model has the values of the tensors, which have the order of its variables."""
    weights, bias, *head = given.values()
    expected = [weights.transpose(2, 3, 1, 0), bias]
    if head:
        expected += [head[0].T, head[1]]
    return all(np.array_equal(got, want) for got, want in zip(values(model), expected))


@pytest.mark.parametrize(
    "names, prefix, head",
    [
        (None, "0.0", "1"),
        ({"body": "features"}, "features.0", "1"),
        ({"body": "features", "dense_0": "classifier.6"}, "features.0", "classifier.6"),
        ({"body/conv2d_0": "stem"}, "stem", "1"),
        ({"": "model"}, "model.0.0", "model.1"),
        ({"": "model", "dense_0": "head"}, "model.0.0", "head"),
        (lambda path: {"dense_0": "fc"}.get(path), "0.0", "fc"),
        (lambda path: path.replace("/", "."), "body.conv2d_0", "dense_0"),
    ],
)
def test_names(names, prefix, head, tmp_path):
    model, given = small(), tensors(prefix, head)
    assert not is_loaded(model, given)
    al.load_torch(model, written(tmp_path, given), names)
    assert is_loaded(model, given)


def test_a_part_of_a_model(tmp_path):
    model, given = small(), tensors("0", None)
    head = values(model)[2:]
    al.load_torch(model.layers[0], written(tmp_path, given))
    assert is_loaded(model, given)
    given = tensors("features.0", "classifier.1", epoch=())
    al.load_torch(model.layers[0], written(tmp_path, given), {"body": "features"}, skip=["classifier.*", "epoch"])
    assert is_loaded(model, dict(list(given.items())[:2]))
    assert all(np.array_equal(*pair) for pair in zip(values(model)[2:], head))


def test_what_is_skipped_stays(tmp_path):
    model, given = small(), tensors()
    head = values(model)[2:]
    given["1.weight"] = given["1.weight"][:3]  # of another number of classes
    al.load_torch(model, written(tmp_path, given), skip="1.*")
    assert is_loaded(model, dict(list(given.items())[:2]))
    assert all(np.array_equal(*pair) for pair in zip(values(model)[2:], head))


def test_a_layer_in_several_places(tmp_path):
    model = Tied()
    model(al.Graph().placeholder((None, 3)))
    weight, bias = np.eye(3, dtype=np.float32) * 2, np.ones(3, np.float32)
    both = {f"{place}.weight": weight for place in ("a.0", "b.0")} | {f"{place}.bias": bias for place in ("a.0", "b.0")}
    for given in (both, {name: both[name] for name in ("a.0.weight", "a.0.bias")}):
        al.load_torch(model, written(tmp_path, given))
        np.testing.assert_array_equal(values(model)[0], weight)
    second = {name: both[name] + 1 for name in ("b.0.weight", "b.0.bias")}
    al.load_torch(model, written(tmp_path, second))
    np.testing.assert_array_equal(values(model)[0], weight + 1)
    with pytest.raises(ValueError, match="Expected a.0.weight and b.0.weight alike, both for .*, got different values"):
        al.load_torch(model, written(tmp_path, both | second))


class Tied(nn.Layer):
    def __init__(self):
        super().__init__()
        shared = nn.Dense(3)
        self.a, self.b = nn.Sequential(shared), nn.Sequential(shared, nn.ReLU())

    def forward(self, x, training):
        return self.b(self.a(x))


class Own(nn.Layer):
    """With variables of its own, in an attribute and made in build."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Dense(2)

    def build(self, x):
        self.add_variable(x.graph, "scale", lambda seed: np.ones(2, np.float32))
        self.token = x.graph.variable(np.zeros((1, 2), np.float32), "class token")

    def forward(self, x, training):
        return self.proj(x) * self.now(self._variables[0]) + self.token


def test_variables_of_a_layer_of_ones_own_are_taken_as_they_are(tmp_path):
    model = nn.Sequential(Own())
    model(al.Graph().placeholder((None, 2)))
    given = {"0.scale": (2,), "0.token": (1, 2), "0.proj.weight": (2, 2), "0.proj.bias": (2,)}
    given = {name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for name, shape in given.items()}
    al.load_torch(model, written(tmp_path, given))
    scale, token, weights, bias = values(model)
    np.testing.assert_array_equal(scale, given["0.scale"])
    np.testing.assert_array_equal(token, given["0.token"])
    np.testing.assert_array_equal(weights, given["0.proj.weight"].T)


def test_separate_products_of_attention(tmp_path):
    random = np.random.default_rng(1)
    model = nn.MultiHeadAttention(2, 3)
    model(al.Graph().placeholder((None, 4, 6)))
    products = {"query": "q_lin", "key": "k_lin", "value": "v_lin", "output": "out_lin"}
    given = {f"{name}.weight": random.normal(size=(6, 6)).astype(np.float32) for name in products.values()}
    given |= {f"{name}.bias": random.normal(size=6).astype(np.float32) for name in products.values()}
    path = model.variables[0].name.split("/")[0]
    al.load_torch(model, written(tmp_path, given), {f"{path}/{part}": name for part, name in products.items()})
    for part, name in products.items():
        weights, bias = getattr(model, part).variables
        np.testing.assert_array_equal(weights.numpy(), given[f"{name}.weight"].T)
        np.testing.assert_array_equal(bias.numpy(), given[f"{name}.bias"])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_widened(dtype, tmp_path):
    import ml_dtypes

    model = small()
    given = {name: tensor.astype(getattr(ml_dtypes, dtype, dtype)) for name, tensor in tensors().items()}
    al.load_torch(model, written(tmp_path, given))
    assert is_loaded(model, {name: tensor.astype(np.float32) for name, tensor in given.items()})


# ---- what is refused ----

# fmt: off
WRONG = {
    "shape": ({"0.0.weight": np.zeros((8, 3, 5, 5), np.float32)}, {},
     "Expected 0.0.weight of (8, 3, 3, 3) for body/conv2d_0/weights (3, 3, 3, 8), got (8, 3, 5, 5) in FILE"),
    "type": ({"0.0.bias": np.zeros(8, np.float64)}, {},
     "Expected 0.0.bias of float32, float16, bfloat16 for body/conv2d_0/bias, got float64 in FILE"),
    "integers": ({"1.bias": np.zeros(5, np.int64)}, {},
     "Expected 1.bias of float32, float16, bfloat16 for dense_0/bias, got int64 in FILE"),
    "another name": ({"0.0.weight": None, "0.0.weights": np.zeros((8, 3, 3, 3), np.float32)}, {},
     "Expected 0.0.weight (for body/conv2d_0/weights) in FILE, got none; the nearest there: 0.0.weights"),
    "names of the file": (
        {},
        {"names": {"body": "features", "dense_0": "head"}},
        "Expected features.0.weight (for body/conv2d_0/weights), features.0.bias (for body/conv2d_0/bias), head.weight "
        "(for dense_0/weights) and 1 more in FILE, got none; the nearest there: 0.0.weight, 0.0.bias, 1.weight",
    ),
    "an extra": ({"fc.weight": np.zeros(3, np.float32)}, {},
     'Expected variables in the model for fc.weight of FILE, got none; skip=("fc.*",) leaves such tensors out'),
    "extras": (
        {f"{i}.weight": np.zeros(3, np.float32) for i in range(5, 9)},
        {},
        "Expected variables in the model for 5.weight, 6.weight, 7.weight and 1 more of FILE, got none; "
        'skip=("5.*",) leaves such tensors out',
    ),
    "everything skipped": ({}, {"skip": "*"}, "Expected something to load from FILE, got skip = ['*']"),
    "an unknown layer": ({}, {"names": {"boby": "features"}},
     "Expected paths of the model's layers as names, got 'boby'; the nearest is body"),
    "a path that is none": ({}, {"names": lambda path: 3}, "TypeError Expected a path in PyTorch, got 3 for "),
    "names of another type": ({}, {"names": ["body"]}, "TypeError Expected names as a dict of strings or a function, "),
    "skip of no names": ({}, {"skip": 3}, "TypeError Expected names of tensors to skip, got 3"),
    "skip of another type": ({}, {"skip": [3]}, "TypeError Expected names of tensors to skip, got [3]"),
    "another order": ({}, {"flattened": {"dense_0": (2, 2, 8)}},
     "Expected flattened among 'channels_first', 'channels_last', None, got {"),
}
# fmt: on


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_changes_nothing(name, tmp_path):
    changed, arguments, message = WRONG[name]
    model, given = small(), {key: value for key, value in (tensors() | changed).items() if value is not None}
    before, path = values(model), written(tmp_path, given)
    kind, said = (TypeError, message[10:]) if message.startswith("TypeError ") else (ValueError, message)
    with pytest.raises(kind) as caught:
        al.load_torch(model, path, **arguments)
    assert str(caught.value).startswith(f"[load_torch] {said.replace('FILE', str(path))}")
    assert all(np.array_equal(*pair) for pair in zip(values(model), before))
    al.load_torch(model, written(tmp_path, tensors()))
    assert is_loaded(model, tensors())


def test_files_that_are_none(tmp_path):
    model = small()
    before = values(model)
    for start in (b"PK\3\4rest", b"\x80\2}q\0."):
        (tmp_path / "model.pt").write_bytes(start)
        with pytest.raises(
            ValueError, match=r"model.pt, a pickle, .*from safetensors.torch import save_file.*state dict"
        ):
            al.load_torch(model, tmp_path / "model.pt")
    whole = written(tmp_path, tensors()).read_bytes()
    for broken in (b"", b"123", whole[:-1], whole[:100], b"\xff" * 100):
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(ValueError, match=r"^\[load_torch\] Expected a safetensors file, got "):
            al.load_torch(model, tmp_path / "broken")
    with pytest.raises(FileNotFoundError):
        al.load_torch(model, tmp_path / "missing")
    assert all(np.array_equal(*pair) for pair in zip(values(model), before))


def test_a_model_that_is_none(tmp_path):
    path = written(tmp_path, tensors())
    with pytest.raises(ValueError, match="Expected a model that has been called, got one without variables"):
        al.load_torch(nn.Sequential(nn.Dense(3)), path)
    with pytest.raises(TypeError, match="Expected a layer as the model, got str"):
        al.load_torch(path.name, path)


def test_load_says_what_loads_pytorchs_file(tmp_path):
    path = written(tmp_path, tensors())
    with pytest.raises(ValueError, match=r"with PyTorch's names; al.load_torch\(model, path\) loads it; at "):
        al.load(small(), path)


def test_a_gru_that_pytorch_has_not(tmp_path):
    model = nn.GRU(2, reset_after=False)
    model(al.Graph().placeholder((None, 3, 2)))
    with pytest.raises(ValueError, match="Expected a GRU with reset_after, as PyTorch's is"):
        al.load_torch(model, written(tmp_path, tensors()))


# ---- the example ----
