"""Published networks: their geometry, their initial values, one training step."""

import math

import numpy as np
import pytest
from safetensors.numpy import save_file

import alloy as al
import reference


def layers_of(layer, kind):
    """Those of the kind, in order."""
    found = [layer] if isinstance(layer, kind) else []
    return found + [inner for part in layer.layers for inner in layers_of(part, kind)]


def described(model):
    """(weights, strides, padding) of every convolution, in order."""
    return [(conv.variables[0].shape, conv.strides[0], conv.padding) for conv in layers_of(model, al.nn.Conv2D)]


def test_resnet50():
    model = al.models.resnet50()
    expected, channels = [((7, 7, 3, 64), 2, "valid")], 64
    for filters, wide, count, first in [(64, 256, 3, 1), (128, 512, 4, 2), (256, 1024, 6, 2), (512, 2048, 3, 2)]:
        for i in range(count):
            stride = first if i == 0 else 1
            expected += [
                ((1, 1, channels, filters), stride, "same"),
                ((3, 3, filters, filters), 1, "same"),
                ((1, 1, filters, wide), 1, "same"),
            ]
            if i == 0:
                expected += [((1, 1, channels, wide), stride, "same")]
            channels = wide
    assert described(model) == expected
    norms = layers_of(model, al.nn.BatchNorm)
    assert len(expected) == len(norms) == 53
    assert all((norm.momentum, norm.epsilon) == (0.99, 0.001) for norm in norms)
    trainable = [v for v in model.variables if v.trainable]
    assert len(trainable) == 161 and len(model.variables) == 161 + 2 * 53
    assert sum(math.prod(v.shape) for v in trainable) == 23_528_522
    assert [v.shape for v in trainable[-2:]] == [(2048, 10), (10,)]
    assert model(model.graph.placeholder((None, 32, 32, 3))).shape == (None, 10)


def test_resnet18():
    model = al.models.resnet18(classes=7, momentum=0.5)
    expected, channels = [((7, 7, 3, 64), 2, "valid")], 64
    for filters, first in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        expected += [((3, 3, channels, filters), first, "same"), ((3, 3, filters, filters), 1, "same")]
        if channels != filters:
            expected += [((1, 1, channels, filters), first, "same")]
        expected += [((3, 3, filters, filters), 1, "same")] * 2
        channels = filters
    assert described(model) == expected and len(expected) == 20
    assert {norm.momentum for norm in layers_of(model, al.nn.BatchNorm)} == {0.5}
    assert [v.shape for v in model.variables[-2:]] == [(512, 7), (7,)]


def torchvision_state(bottleneck, counts, classes, rng):
    """A state dict of torchvision's ResNet, from its definition, with values for which activations stay near 1."""
    state = {}

    def convolution(path, filters, channels, size):
        fan = channels * size * size
        state[f"{path}.weight"] = rng.normal(0, (2 / fan) ** 0.5, (filters, channels, size, size)).astype("f")

    def norm(path, channels):
        for name, low in {"weight": 0.5, "bias": -0.2, "running_mean": -0.2, "running_var": 0.8}.items():
            state[f"{path}.{name}"] = rng.uniform(low, low + 0.4, channels).astype("f")
        state[f"{path}.num_batches_tracked"] = np.array(7)

    def both(path, number, *geometry):
        convolution(f"{path}conv{number}", *geometry)
        norm(f"{path}bn{number}", geometry[0])

    both("", 1, 64, 3, 7)
    channels = 64
    for stage, count in enumerate(counts):
        filters = 64 << stage
        wide = 4 * filters if bottleneck else filters
        for block in range(count):
            path = f"layer{stage + 1}.{block}."
            if bottleneck:
                both(path, 1, filters, channels, 1)
                both(path, 2, filters, filters, 3)
                both(path, 3, wide, filters, 1)
            else:
                both(path, 1, filters, channels, 3)
                both(path, 2, filters, filters, 3)
            if block == 0 and (stage > 0 or channels != wide):
                convolution(f"{path}downsample.0", wide, channels, 1)
                norm(f"{path}downsample.1", wide)
            channels = wide
    state["fc.weight"] = rng.normal(0, channels**-0.5, (classes, channels)).astype("f")
    state["fc.bias"] = rng.normal(size=classes).astype("f")
    return state


def torchvision_forward(state, x, bottleneck):
    """What torchvision's ResNet gives of images (n, height, width, channels), in float64."""

    def through(path, number, x, stride=1):
        weights = state[f"{path}conv{number}.weight"].astype(np.float64).transpose(2, 3, 1, 0)
        half = len(weights) // 2
        y = reference.conv2d(x, weights, (stride, stride), ((half, half), (half, half)))
        return normalised(f"{path}bn{number}", y)

    def normalised(path, y):
        scale, shift, mean, variance = (
            state[f"{path}.{name}"].astype(np.float64) for name in ("weight", "bias", "running_mean", "running_var")
        )
        return (y - mean) / np.sqrt(variance + 1e-5) * scale + shift

    x = np.maximum(through("", 1, x.astype(np.float64), 2), 0)
    x = reference.max_pool2d(x, (3, 3), (2, 2), ((1, 1), (1, 1)))
    paths = sorted({name[: name.index(".conv")] + "." for name in state if name.startswith("layer") and "conv" in name})
    for path in paths:
        stride = 2 if path[5] != "1" and path.endswith(".0.") else 1
        y = x
        for number in (1, 2, 3) if bottleneck else (1, 2):
            y = through(path, number, y, stride if number == (2 if bottleneck else 1) else 1)
            y = np.maximum(y, 0) if f"{path}conv{number + 1}.weight" in state else y
        if f"{path}downsample.0.weight" in state:
            weights = state[f"{path}downsample.0.weight"].astype(np.float64).transpose(2, 3, 1, 0)
            x = normalised(f"{path}downsample.1", reference.conv2d(x, weights, (stride, stride)))
        x = np.maximum(y + x, 0)
    return x.mean((1, 2)) @ state["fc.weight"].astype(np.float64).T + state["fc.bias"]


@pytest.mark.parametrize(
    "make, bottleneck, counts, entries, parameters",
    [
        (al.models.torchvision_resnet18, False, (2, 2, 2, 2), 122, 11_689_512),
        (al.models.torchvision_resnet50, True, (3, 4, 6, 3), 320, 25_557_032),
    ],
)
def test_torchvisions_networks(make, bottleneck, counts, entries, parameters, rng, tmp_path):
    """The counts are those that torchvision publishes."""
    model = make(input_shape=(40, 33, 3))
    assert sum(math.prod(v.shape) for v in model.variables if v.trainable) == parameters
    assert model(model.graph.placeholder((None, 224, 224, 3))).shape == (None, 1000)
    state = torchvision_state(bottleneck, counts, 1000, rng)
    assert len(state) == entries
    save_file(state, tmp_path / "weights.safetensors")
    al.load_torch(model, tmp_path / "weights.safetensors")
    images = rng.normal(size=(2, 40, 33, 3)).astype("f")
    x = model.graph.placeholder(images.shape)
    expected = torchvision_forward(state, images, bottleneck)
    np.testing.assert_allclose(model.graph.run(model(x), {x: images}), expected, rtol=2e-4, atol=2e-4)


def test_initial_values():
    """Glorot's limit counts the window; the same seed gives the same network."""
    model, same, other = (al.models.resnet18(seed=seed) for seed in (3, 3, 4))
    for variable, again, different in zip(model.variables, same.variables, other.variables, strict=True):
        value = variable.numpy()
        np.testing.assert_array_equal(value, again.numpy())
        if len(variable.shape) == 4:
            height, width, fan_in, fan_out = variable.shape
            limit = math.sqrt(6 / (height * width * (fan_in + fan_out)))
            assert 0.99 * limit < np.abs(value).max() <= 1.000001 * limit
            assert value.var() == pytest.approx(limit**2 / 3, rel=0.05)
            assert not np.allclose(value, different.numpy())


def test_images_of_another_size():
    model = al.models.resnet18(input_shape=(64, 48, 1))
    assert model.variables[0].shape == (7, 7, 1, 64)
    # 64x48 gives 29x21 after the first convolution, 14x10 after the pooling, then 7x5, 4x3, 2x2, and 1x1.
    assert model.variables[-2].shape == (512, 10)
    with pytest.raises(ValueError, match=r"window of 7 does not fit.*built at .*test_models\.py:\d+\.$"):
        al.models.resnet18(input_shape=(6, 6, 3))


def test_a_training_step_of_resnet50(rng):
    """The whole step compiles and runs: every trainable variable and every moving average moves."""
    model = al.models.resnet50()
    x, y = model.graph.placeholder((4, 32, 32, 3)), model.graph.placeholder((4,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = model.graph.compile([x, y], [loss], al.SGD(0.01).minimize(loss) + model.updates)
    infer = model.graph.compile([x], [model(x)])
    images, classes = rng.random((4, 32, 32, 3), np.float32), np.arange(4, dtype=np.int32)
    before = [v.numpy() for v in model.variables]
    assert 1 < step(images, classes)[0] < 10
    for variable, value in zip(model.variables, before):
        assert not np.array_equal(variable.numpy(), value), variable.name
        assert np.all(np.isfinite(variable.numpy())), variable.name
    assert infer(images)[0].shape == (4, 10)


def test_a_trainer_of_a_model_that_has_been_called(rng):
    """A published model below a new head: the trainer's graph is that of its layers."""
    body = al.models.resnet18()
    x = rng.normal(size=(2, 32, 32, 3)).astype(np.float32)
    expected = al.Trainer(body, "softmax_cross_entropy", "sgd").predict(x)
    trainer = al.Trainer(al.nn.Sequential(body, al.nn.Softmax()), "softmax_cross_entropy", "sgd")
    assert trainer._programs.graph is body.graph
    np.testing.assert_allclose(trainer.predict(x), np.exp(expected) / np.exp(expected).sum(1, keepdims=True), rtol=1e-5)


def test_a_first_call_of_a_trainer_that_fails():
    one, other = al.nn.Dense(3), al.nn.Dense(3)
    for layer in one, other:
        layer(al.Graph().placeholder((2, 3)))
    trainer = al.Trainer(al.nn.Sequential(one, other), "mean_squared_error", "sgd")
    with pytest.raises(ValueError, match=r"\[Dense\] Expected a tensor of the first call's graph, .*; at"):
        trainer.predict(np.ones((2, 3), np.float32))


def test_a_place_with_a_space():
    model = al.nn.Sequential(al.nn.Dense(3))
    with pytest.raises(ValueError, match=r"; in dense_0; at my file.py:1\.$"):
        exec(compile("model(al.Graph().placeholder((2,)))", "my file.py", "exec"), {"model": model, "al": al})
