"""Every layer's value and gradients: against PyTorch's (tests/goldens/layers_reference.py) and against NumPy in
float64. A further layer is a row of PYTORCH or of FORMULAS."""

import math

import ml_dtypes
import numpy as np
import pytest

import alloy as al
import layers_reference as torch_values
import reference as ref
from alloy.engine.dtypes import numpy_dtype
from cases import ROUNDING
from kinds import HALVES

nn = al.nn

with np.load(torch_values.GOLDEN) as _file:
    GOLDEN = {name: _file[name] for name in _file.files}


def last(x):
    """The channels behind the places, as they are here."""
    return np.moveaxis(x, 1, -1)


def same(x):
    return x


def kernel(w):
    return np.moveaxis(w, (0, 1), (-1, -2))


def depthwise(w):
    return w.reshape(3, 2, *w.shape[2:]).transpose(2, 3, 0, 1)


def projected(parameters):
    """The three products of PyTorch's in_proj, and the last, as they are here."""
    found = []
    for i in range(3):
        for part, turn in (("weight", np.transpose), ("bias", same)):
            if f"in_proj_{part}" in parameters:
                found.append(turn(np.split(parameters[f"in_proj_{part}"], 3)[i]))
    found.append(parameters["out_proj.weight"].T)
    return found + [parameters[name] for name in ("out_proj.bias",) if name in parameters]


def by(**turns):
    """The parameters of these names in turn, each turned."""
    return lambda parameters: [turn(parameters[name]) for name, turn in turns.items()]


GAMMA_BETA = by(weight=same, bias=same)
CONV = by(weight=kernel, bias=same)
NONE = by()
STRIDED = {"strides": 2, "padding": (2, 2), "dilations": 2, "groups": 2}
GROUPED = {"strides": (1, 2), "padding": ((1, 1), (1, 1)), "dilations": (2, 1), "groups": 2}
UP = {"strides": 2, "padding": ((1, 1), (1, 1)), "output_padding": 1}

# The layer, how PyTorch's arrays become ours, PyTorch's parameters in the order of our variables.
PYTORCH = {
    "linear": (lambda: nn.Dense(3), same, by(weight=np.transpose, bias=same)),
    "conv1d": (lambda: nn.Conv1D(6, 3), last, CONV),
    "conv1d strided": (lambda: nn.Conv1D(6, 3, **STRIDED), last, CONV),
    "conv2d": (lambda: nn.Conv2D(6, (3, 2), **GROUPED), last, CONV),
    "depthwise": (
        lambda: nn.DepthwiseConv2D(3, padding="same", depth_multiplier=2),
        last,
        by(weight=depthwise, bias=same),
    ),
    "transposed": (
        lambda: nn.ConvTranspose2D(3, 3, **UP),
        last,
        by(weight=lambda w: w.transpose(2, 3, 1, 0), bias=same),
    ),
    "transposed groups": (
        lambda: nn.ConvTranspose2D(6, (3, 2), strides=(2, 3), dilations=2, groups=2, output_padding=0),
        last,
        by(weight=lambda w: w.transpose(2, 3, 1, 0), bias=same),
    ),
    "layer norm": (lambda: nn.LayerNorm(epsilon=1e-5), same, GAMMA_BETA),
    "layer norm of axes": (lambda: nn.LayerNorm(axis=(-2, -1)), same, GAMMA_BETA),
    "rms norm": (lambda: nn.RMSNorm(), same, by(weight=same)),
    "group norm": (lambda: nn.GroupNorm(3, epsilon=1e-5), last, GAMMA_BETA),
    "group norm without places": (lambda: nn.GroupNorm(2, epsilon=1e-5), last, GAMMA_BETA),
    "instance norm": (lambda: nn.InstanceNorm(epsilon=1e-5), last, GAMMA_BETA),
    "instance norm 1d": (lambda: nn.InstanceNorm(epsilon=1e-5, center=False, scale=False), last, NONE),
    "batch norm": (lambda: nn.BatchNorm(epsilon=1e-5, momentum=0.9), last, GAMMA_BETA),
    "max pool": (lambda: nn.MaxPool1D(3, strides=2, padding=(1, 1)), last, NONE),
    "avg pool": (lambda: nn.AvgPool1D(), last, NONE),
    "elu": (lambda: nn.ELU(0.7), same, NONE),
    "gelu": (lambda: nn.GELU(), same, NONE),
    "gelu tanh": (lambda: nn.GELU(approximate=True), same, NONE),
    "silu": (lambda: nn.SiLU(), same, NONE),
    "softplus": (lambda: nn.Softplus(), same, NONE),
    "hard swish": (lambda: nn.HardSwish(), same, NONE),
    "leaky relu": (lambda: nn.LeakyReLU(), same, NONE),
    "softmax": (lambda: nn.Softmax(axis=1), same, NONE),
    "embedding": (lambda: nn.Embedding(5, 3), same, by(weight=same)),
    "attention": (lambda: nn.MultiHeadAttention(2, 3), same, projected),
    "attention without biases": (lambda: nn.MultiHeadAttention(3, 2, use_bias=False), same, projected),
    "causal attention": (lambda: nn.MultiHeadAttention(2, 3, use_causal_mask=True), same, projected),
    "cross attention": (lambda: nn.MultiHeadAttention(2, 3), same, projected),
    "masked attention": (lambda: nn.MultiHeadAttention(2, 3), same, projected),
}
# Layers that must know the extents of some axes beside the last one.
KNOWN = {"layer norm of axes": (1,), "transposed": (1, 2), "transposed groups": (1, 2), "softmax": (1,)}


def golden(name):
    """PyTorch's arrays of a case, by their names."""
    start = f"{name}/"
    return {part.removeprefix(start): array for part, array in GOLDEN.items() if part.startswith(start)}


def ours(name, shapes=None, dtype="float32", training=True):
    """(what the layer gives and the gradients, what PyTorch gives), the layer having PyTorch's parameters."""
    make, turn, order = PYTORCH[name]
    arrays = golden(name)
    parameters = {part: array for part, array in arrays.items() if f"gradient/{part}" in arrays}
    inputs = {part: parameters.pop(part) for part in ("x", "memory") if part in parameters} or {"x": arrays["x"]}
    graph, layer = al.Graph(), make()
    feeds = {}
    for part, array in inputs.items():
        array = turn(array)
        kept = (array.ndim - 1, *KNOWN.get(name, ())) if array.dtype != np.int32 else ()
        shape = array.shape if shapes is None else [n if i in kept else None for i, n in enumerate(array.shape)]
        feeds[part] = graph.placeholder(shape, array.dtype), array
    x = [feed if feed.dtype == "int32" else al.cast(feed, dtype) for feed, _ in feeds.values()]
    operands = {"value": x[1]} if len(x) > 1 else {}
    if name == "masked attention":
        operands["attention_mask"] = np.array(torch_values.VISIBLE)[:, None]
    y = layer(x[0], training=training, **operands)
    trainable = [v for v in layer.variables if v.trainable]
    values = order(parameters)
    for variable, value in zip(trainable, values, strict=True):
        assert variable.shape == value.shape, (variable.name, value.shape)
        variable.assign(value)
    to = [feed for feed, array in feeds.values() if array.dtype != np.int32]
    loss = al.sum(al.cast(y, "float32") * turn(arrays["factors"]))
    fetches = [y, *al.gradients(loss, [*to, *trainable])]
    found = graph.compile([feed for feed, _ in feeds.values()], fetches, layer.updates)(*[a for _, a in feeds.values()])
    slopes = {part.removeprefix("gradient/"): array for part, array in arrays.items() if part.startswith("gradient/")}
    expected = [turn(arrays["y"]), *(turn(slopes[part]) for part in inputs if part in slopes), *order(slopes)]
    return found, expected, layer


@pytest.mark.parametrize("shapes", [None, "unknown"])
@pytest.mark.parametrize("name", PYTORCH)
def test_values_and_gradients_are_pytorchs(name, shapes):
    """Of known shapes, and of all extents unknown but those that the layer must know. Some gradients are 0 because
    large terms cancel, those of the keys' biases for instance."""
    found, expected, _ = ours(name, shapes)
    greatest = max(np.abs(wanted).max() for wanted in expected)
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=2e-5, atol=2e-6 * greatest)


@pytest.mark.parametrize("dtype, error", [(dtype, ROUNDING[dtype]) for dtype in HALVES])
@pytest.mark.parametrize("name", sorted(PYTORCH.keys() - {"embedding"}))
def test_halves_give_halves(name, dtype, error):
    """Of the type, within a few roundings of PyTorch's float64 (of products of products a few more); gradients of the
    variables are float32."""
    found, expected, layer = ours(name, dtype=dtype)
    assert found[0].dtype == numpy_dtype(dtype) and all(slope.dtype == np.float32 for slope in found[1:])
    steps = 16 if "attention" in name else 4
    for result, exact in zip(found, expected, strict=True):
        typical = max(np.sqrt(np.mean(exact.astype(float) ** 2)), 0.3)
        distance = np.sqrt(np.mean((result.astype(float) - exact) ** 2))
        assert distance <= steps * error * typical
    assert all(variable.dtype == "float32" for variable in layer.variables)


def test_golden_batch_norm_moves_its_averages_as_pytorch():
    _, _, layer = ours("batch norm")
    after = golden("batch norm")
    np.testing.assert_allclose(layer.variables[2].numpy(), after["after/running_mean"], rtol=1e-5, atol=1e-6)
    places = 4 * 2 * 3  # PyTorch's moving variance is that of a sample, with n - 1
    moved = (layer.variables[3].numpy() - 0.9) / 0.1 * places / (places - 1)
    np.testing.assert_allclose(moved * 0.1 + 0.9, after["after/running_var"], rtol=1e-5)


DIFFER = {"batch norm"}


@pytest.mark.parametrize("name", sorted(PYTORCH.keys() - DIFFER))
def test_inference_is_training_where_nothing_is_random(name):
    for trained, inferred in zip(ours(name)[0], ours(name, training=False)[0], strict=True):
        np.testing.assert_array_equal(trained, inferred)


# ---- against formulas ----


def pooled1d(x, window, stride, padding, take):
    taken = ref.windows_along(x, (1,), (window,), (stride,), padding, fill=np.nan)
    return take(taken, -1)


def conv1d_causal(x, w=None):
    padded = np.pad(x, ((0, 0), (4, 0), (0, 0)))
    return sum(padded[:, 2 * k : 2 * k + x.shape[1]] @ w[k] for k in range(3))


def bilinear(x, *size):
    for axis, extent in zip((1, 2), size):
        places = (np.arange(extent) + 0.5) * x.shape[axis] / extent - 0.5
        x = ref.resize_along(x, axis, places, "bilinear")
    return x


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def standardized(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


# The layer, the shape of x, and the formula.
# fmt: off
FORMULAS = {
    "LayerNorm": (nn.LayerNorm, (3, 5), lambda x: standardized(x, -1, 0.001)),
    "LayerNorm epsilon": (lambda: nn.LayerNorm(epsilon=0.5), (3, 5), lambda x: standardized(x, -1, 0.5)),
    "LayerNorm axis": (lambda: nn.LayerNorm(axis=1, epsilon=0.5), (3, 4, 5), lambda x: standardized(x, 1, 0.5)),
    "LayerNorm axes": (lambda: nn.LayerNorm(axis=(3, 1)), (2, 4, 2, 3), lambda x: standardized(x, (1, 3), 0.001)),
    "RMSNorm": (lambda: nn.RMSNorm(epsilon=0.5), (3, 5),
     lambda x: x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 0.5)),
    "InstanceNorm": (nn.InstanceNorm, (2, 5, 3), lambda x: standardized(x, 1, 0.001)),
    "InstanceNorm 3D": (lambda: nn.InstanceNorm(epsilon=0.5), (2, 2, 3, 2, 3),
     lambda x: standardized(x, (1, 2, 3), 0.5)),
    "GroupNorm": (lambda: nn.GroupNorm(2, epsilon=0.5), (2, 3, 6),
     lambda x: standardized(x.reshape(2, 3, 2, 3), (1, 3), 0.5).reshape(2, 3, 6)),
    "GroupNorm defaults": (nn.GroupNorm, (2, 5, 32), lambda x: standardized(x, 1, 0.001)),
    "ReLU": (nn.ReLU, (3, 5), lambda x: np.maximum(x, 0)),
    "Tanh": (nn.Tanh, (3, 5), np.tanh),
    "Sigmoid": (nn.Sigmoid, (3, 5), sigmoid),
    "Softmax": (nn.Softmax, (3, 5), ref.softmax),
    "Flatten": (nn.Flatten, (3, 2, 4), lambda x: x.reshape(3, 8)),
    "Flatten 1D channels first": (lambda: nn.Flatten(order="channels_first"), (3, 2, 4),
     lambda x: np.moveaxis(x, -1, 1).reshape(3, 8)),
    "Flatten 3D channels first": (lambda: nn.Flatten(order="channels_first"), (2, 2, 3, 4, 2),
     lambda x: np.moveaxis(x, -1, 1).reshape(2, 48)),
    "Flatten of features channels first": (lambda: nn.Flatten(order="channels_first"), (3, 4), same),
    "Reshape": (lambda: nn.Reshape((4, -1)), (3, 2, 6), lambda x: x.reshape(3, 4, 3)),
    "Reshape to a scalar each": (lambda: nn.Reshape(()), (3, 1), lambda x: x.reshape(3)),
    "Reshape channels first": (lambda: nn.Reshape((3, -1, 2), order="channels_first"), (2, 24),
     lambda x: np.moveaxis(x.reshape(2, 2, 3, 4), 1, -1)),
    "Reshape images channels first": (lambda: nn.Reshape((6, 4), order="channels_first"), (2, 4, 3, 2),
     lambda x: np.moveaxis(np.moveaxis(x, -1, 1).reshape(2, 4, 6), 1, -1)),
    "GlobalAvgPool 1D": (nn.GlobalAvgPool, (2, 5, 3), lambda x: x.mean(1)),
    "GlobalAvgPool 2D": (nn.GlobalAvgPool, (2, 5, 4, 3), lambda x: x.mean((1, 2))),
    "GlobalAvgPool 3D": (lambda: nn.GlobalAvgPool(keepdims=True), (2, 2, 3, 4, 3),
     lambda x: x.mean((1, 2, 3), keepdims=True)),
    "GlobalMaxPool 1D": (nn.GlobalMaxPool, (2, 5, 3), lambda x: x.max(1)),
    "GlobalMaxPool 2D": (lambda: nn.GlobalMaxPool(keepdims=True), (2, 5, 4, 3), lambda x: x.max((1, 2), keepdims=True)),
    "GlobalMaxPool 3D": (nn.GlobalMaxPool, (2, 2, 3, 4, 3), lambda x: x.max((1, 2, 3))),
    "MaxPool1D": (lambda: nn.MaxPool1D(3, padding="same"), (2, 7, 3), lambda x: pooled1d(x, 3, 3, "same", np.nanmax)),
    "AvgPool1D": (lambda: nn.AvgPool1D(3, strides=2, padding="same"), (2, 7, 3),
     lambda x: pooled1d(x, 3, 2, "same", np.nanmean)),
    "AvgPool2D": (lambda: nn.AvgPool2D(2), (2, 4, 6, 3), lambda x: ref.avg_pool2d(x, (2, 2), (2, 2))),
    "MaxPool2D": (lambda: nn.MaxPool2D(2), (2, 4, 6, 3), lambda x: ref.max_pool2d(x, (2, 2), (2, 2))),
    "MaxPool2D strides": (lambda: nn.MaxPool2D(2, strides=1), (2, 6, 5, 3),
     lambda x: ref.max_pool2d(x, (2, 2), (1, 1))),
    "AvgPool2D padding": (lambda: nn.AvgPool2D((3, 2), padding="same"), (2, 6, 5, 3),
     lambda x: ref.avg_pool2d(x, (3, 2), (3, 2), "same")),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.125), (3, 5), lambda x: np.maximum(x, 0.125 * x)),
    "Dropout": (lambda: nn.Dropout(0.5), (3, 5), same),
    "Residual": (lambda: nn.Residual(nn.Tanh(), nn.Sigmoid()), (3, 5), lambda x: np.tanh(x) + sigmoid(x)),
    "Residual of the source": (lambda: nn.Residual(nn.Tanh()), (3, 5), lambda x: x + np.tanh(x)),
    "Sequential without layers": (nn.Sequential, (3, 5), same),
    "BatchNorm": (nn.BatchNorm, (3, 5), lambda x: x / np.sqrt(1.001)),
    "ZeroPadding2D": (nn.ZeroPadding2D, (2, 3, 4, 1), lambda x: np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))),
    "Rescaling": (lambda: nn.Rescaling(0.5, offset=-1.0), (2, 3), lambda x: x * 0.5 - 1),
    "ZeroPadding2D even": (lambda: nn.ZeroPadding2D((1, 2)), (2, 3, 4, 2),
     lambda x: np.pad(x, ((0, 0), (1, 1), (2, 2), (0, 0)))),
    "ZeroPadding2D uneven": (lambda: nn.ZeroPadding2D(((1, 0), (0, 3))), (2, 3, 4, 2),
     lambda x: np.pad(x, ((0, 0), (1, 0), (0, 3), (0, 0)))),
    "UpSampling2D": (nn.UpSampling2D, (2, 3, 4, 1), lambda x: x.repeat(2, 1).repeat(2, 2)),
    "UpSampling2D uneven": (lambda: nn.UpSampling2D((2, 3)), (2, 3, 4, 2), lambda x: x.repeat(2, 1).repeat(3, 2)),
    "UpSampling2D smooth": (lambda: nn.UpSampling2D(2, interpolation="bilinear"), (2, 3, 4, 2),
     lambda x: bilinear(x, 6, 8)),
    "Resizing": (lambda: nn.Resizing(2, 6), (2, 3, 4, 2), lambda x: bilinear(x, 2, 6)),
}
# fmt: on


@pytest.mark.parametrize("batch", ["known", "unknown"])
@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_the_formulas(name, batch, rng):
    """And the gradients the derivatives of the formulas, along random directions."""
    make, shape, formula = FORMULAS[name]
    x = rng.permutation(np.linspace(-2, 2, np.prod(shape)) + 0.01).reshape(shape).astype(np.float32)  # without ties
    factors = rng.normal(size=formula(x.astype(float)).shape)
    graph = al.Graph()
    feed = graph.placeholder((None, *shape[1:]) if batch == "unknown" else shape)
    y = make()(feed)
    assert len(y.shape) == factors.ndim and y.shape[1:] == factors.shape[1:]
    value, slope = graph.compile([feed], [y, *al.gradients(al.sum(y * factors.astype(np.float32)), [feed])])(x)
    np.testing.assert_allclose(value, formula(x.astype(float)), rtol=1e-5, atol=1e-6)
    for _ in range(4):
        way, h = rng.normal(size=shape), 1e-6
        derivative = np.sum(factors * (formula(x + h * way) - formula(x - h * way))) / (2 * h)
        np.testing.assert_allclose(np.sum(slope * way), derivative, rtol=1e-4, atol=1e-4)


def test_a_causal_convolution_sees_nothing_later(rng):
    x = rng.normal(size=(2, 9, 3)).astype(np.float32)
    graph, layer = al.Graph(), nn.Conv1D(4, 3, padding="causal", dilations=2, use_bias=False)
    feed = graph.placeholder((None, None, 3))
    step = graph.compile([feed], [layer(feed)])
    (value,) = step(x)
    np.testing.assert_allclose(value, conv1d_causal(x.astype(float), layer.variables[0].numpy()), rtol=1e-5, atol=1e-5)
    later = x.copy()
    later[:, 5:] = 7
    np.testing.assert_array_equal(step(later)[0][:, :5], value[:, :5])


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
@pytest.mark.parametrize("name", nn.activation.ACTIVATIONS)
def test_activations_by_name_are_those_of_the_layers(name, dtype, rng):
    """As an argument; of halves the one nearest to the exact value, but for one rounding of the product before."""
    exact = {
        "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        "gelu": lambda x: x * np.vectorize(lambda v: 0.5 * math.erfc(-v / 2**0.5))(x),
        "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
        "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        "relu": lambda x: np.maximum(x, 0),
        "sigmoid": sigmoid,
        "silu": lambda x: x * sigmoid(x),
        "softmax": ref.softmax,
        "softplus": lambda x: np.logaddexp(0, x),
        "tanh": np.tanh,
    }[name]
    kind = numpy_dtype(dtype)
    x = (rng.normal(size=(64, 8)) * 3).astype(kind)
    graph = al.Graph()
    feed, layer = graph.placeholder(x.shape, dtype), nn.Dense(8, activation=name, use_bias=False)
    y = layer(feed)
    layer.variables[0].assign(np.eye(8, dtype=np.float32))
    (found,) = graph.compile([feed], [y])(x)
    assert found.dtype == kind
    wanted, precision = exact(x.astype(float)), float(ml_dtypes.finfo(kind).eps)
    np.testing.assert_allclose(found.astype(float), wanted, rtol=precision, atol=1e-6)


# ---- embedding, attention and dropout by themselves ----


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int16"])
def test_ids_of_every_integer_type_and_outside(dtype):
    """An id outside gives NaN and no gradient."""
    graph, layer = al.Graph(), nn.Embedding(5, 3)
    feed = graph.placeholder((None,), dtype)
    y = layer(feed)
    table = np.arange(15, dtype=np.float32).reshape(5, 3)
    layer.variables[0].assign(table)
    step = graph.compile([feed], [y, *al.gradients(al.sum(y), layer.variables)])
    value, slope = step(np.array([4, 0, 5, 100], dtype))
    np.testing.assert_array_equal(value, np.float32([table[4], table[0], [np.nan] * 3, [np.nan] * 3]))
    np.testing.assert_array_equal(slope, np.float32([1, 0, 0, 0, 1])[:, None] * np.ones(3))
    if dtype.startswith("int"):
        value, _ = step(np.array([-1], dtype))
        assert np.isnan(value).all()


def test_a_trainer_stops_at_an_id_outside(rng):
    model = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Dense(1))
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.1))
    ids, y = rng.integers(0, 5, (16, 2)).astype(np.int32), np.zeros((16, 1), np.float32)
    trainer.fit((ids, y), 1, progress=False)
    before = [v.numpy() for v in model.variables]
    ids[3, 1] = 5
    with pytest.raises(
        FloatingPointError, match=r"in 3 of 96 elements, is float32\(\?, 2, 3\) of select 'embedding_0/sel"
    ):
        trainer.fit((ids, y), 1, progress=False)
    for variable, value in zip(model.variables, before):
        np.testing.assert_array_equal(variable.numpy(), value)


@pytest.mark.parametrize("dtype", HALVES)
def test_an_embedding_begins_a_model_of_halves(dtype):
    graph, model = al.Graph(), nn.Sequential(nn.Embedding(5, 4, dtype=dtype), nn.Dense(3))
    feed = graph.placeholder((2, 3), "int32")
    y = model(feed)
    assert y.dtype == dtype and [v.dtype for v in model.variables] == ["float32"] * 3
    ids = np.int32(torch_values.IDS)
    slope, found = graph.compile([feed], [*al.gradients(al.sum(y), model.variables[:1]), y])(ids)
    assert slope.dtype == np.float32 and slope.shape == (5, 4)
    table, weights, _ = (v.numpy().astype(float) for v in model.variables)
    np.testing.assert_allclose(found.astype(float), table[ids] @ weights, atol=2e-3)


def attention_by_hand(x, layer, visible):
    wq, bq, wk, bk, wv, bv, wo, bo = (v.numpy().astype(float) for v in layer.variables)
    heads = []
    for h in range(layer.num_heads):
        keys, values = (slice(h * n, (h + 1) * n) for n in (layer.key_dim, layer.value_dim))
        q, k, v = x @ wq[:, keys] + bq[keys], x @ wk[:, keys] + bk[keys], x @ wv[:, values] + bv[values]
        scores = q @ k.swapaxes(-1, -2) / layer.key_dim**0.5
        weights = np.where(visible[:, h], np.exp(scores - scores.max()), 0)
        heads.append(weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300) @ v)
    return np.concatenate(heads, -1) @ wo + bo


@pytest.mark.parametrize("shape", [(5, 5), (2, 5, 5), (2, 1, 5), (2, 3, 5, 5), (2, 1, 1, 5)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_attention_masks_of_every_rank(shape, causal, known, rng):
    """A query that may see nothing gets the bias; gradients stay finite where scores are huge."""
    x = rng.normal(size=(2, 5, 4)).astype(np.float32)
    mask = rng.random(shape) < 0.5
    graph = al.Graph()
    layer = nn.MultiHeadAttention(3, 2, value_dim=4, output_shape=7, use_causal_mask=causal, seed=1)
    feeds = [graph.placeholder(x.shape if known else (None, None, 4)), graph.placeholder(mask.shape, "bool")]
    y = layer(feeds[0], attention_mask=feeds[1])
    assert y.shape[2] == 7
    for variable in layer.variables:
        variable.assign(rng.normal(size=variable.shape).astype(np.float32))
    step = graph.compile(feeds, [y, *al.gradients(al.sum(y), [feeds[0], *layer.variables])])
    whole = {2: mask[None, None] if mask.ndim == 2 else mask, 3: mask[:, None] if mask.ndim == 3 else mask}
    visible = np.broadcast_to(whole.get(mask.ndim, mask), (2, 3, 5, 5)) & (np.tri(5, dtype=bool) if causal else True)
    found, *slopes = step(x, mask)
    np.testing.assert_allclose(found, attention_by_hand(x.astype(float), layer, visible), rtol=1e-4, atol=1e-4)
    assert all(np.isfinite(slope).all() for slope in slopes)
    nothing = step(x, np.zeros_like(mask))
    np.testing.assert_allclose(nothing[0], np.broadcast_to(layer.variables[-1].numpy(), (2, 5, 7)), atol=1e-6)
    huge = step(1e8 * x, mask)
    assert all(np.isfinite(part).all() for part in huge)


def test_dropout_in_attention_and_several_places(rng):
    """While training alone; in each place other elements, and the state moves on once for each."""
    x = np.ones((1, 400), np.float32)
    graph, dropout = al.Graph(), nn.Dropout(0.5)

    class Twice(nn.Layer):
        def __init__(self):
            super().__init__()
            self.dropout = dropout

        def forward(self, x, training):
            return self.dropout(x, training), self.dropout(x, training)

    model = Twice()
    feed = graph.placeholder(x.shape)
    step = graph.compile([feed], list(model(feed, training=True)), model.updates)
    assert len(model.updates) == 1
    drawn = [value for _ in range(2) for value in step(x)]
    assert all(set(np.unique(value)) == {0, 2} for value in drawn)
    assert not any(np.array_equal(a, b) for i, a in enumerate(drawn) for b in drawn[:i])

    graph, layer = al.Graph(), nn.MultiHeadAttention(2, 3, dropout=0.5)
    feed = graph.placeholder((1, 6, 4))
    step, rest = [graph.compile([feed], [layer(feed, training=t)], layer.updates * t) for t in (True, False)]
    x = rng.normal(size=(1, 6, 4)).astype(np.float32)
    assert not np.array_equal(step(x)[0], step(x)[0])
    np.testing.assert_array_equal(rest(x)[0], rest(x)[0])


def test_a_batch_norm_in_two_places_moves_its_averages_in_both():
    graph, norm = al.Graph(), nn.BatchNorm(momentum=0.5)
    feed = graph.placeholder((2, 1))
    model = nn.Sequential(norm, nn.LeakyReLU(1.0), norm)
    model(feed, training=True)
    assert len(model.updates) == 2
    graph.compile([feed], [], model.updates)(np.float32([[2], [4]]))
    mean, variance = (v.numpy()[0] for v in norm.variables[2:])
    np.testing.assert_allclose([mean, variance], [3 * 0.25, 0.25 + 0.25 * 1 + 0.5 * (1 / 1.001)], rtol=1e-5)


@pytest.mark.parametrize("name", ["LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm", "BatchNorm"])
def test_norms_of_halves_far_from_zero(name, rng):
    """Statistics are of float32: the squares of such numbers are no float16."""
    x = (rng.normal(size=(4, 6, 8)) * 100 + 3000).astype(np.float16)
    layer = getattr(nn, name)(**({"groups": 2} if name == "GroupNorm" else {}))
    graph = al.Graph()
    feed = graph.placeholder(x.shape, "float16")
    (found,) = graph.compile([feed], [layer(feed, training=True)])(x)
    wide = x.astype(float)
    grouped = wide.reshape(4, 6, 2, 4)
    expected = {
        "LayerNorm": lambda: (wide - wide.mean(-1, keepdims=True)) / wide.std(-1, keepdims=True),
        "RMSNorm": lambda: wide / np.sqrt((wide**2).mean(-1, keepdims=True)),
        "GroupNorm": lambda: (
            (grouped - grouped.mean((1, 3), keepdims=True)) / grouped.std((1, 3), keepdims=True)
        ).reshape(x.shape),
        "InstanceNorm": lambda: (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True),
        "BatchNorm": lambda: (wide - wide.mean((0, 1))) / wide.std((0, 1)),
    }[name]()
    np.testing.assert_allclose(found.astype(float), expected, rtol=2e-3, atol=2e-3)
