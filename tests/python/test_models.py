"""Published networks: their geometry, their initial values, one training step."""

import math

import numpy as np
import pytest

import alloy as al


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
    with pytest.raises(ValueError, match=r"\[Dense\] Expected a tensor of the first call's graph, .*; built at"):
        trainer.predict(np.ones((2, 3), np.float32))


def test_a_place_with_a_space():
    model = al.nn.Sequential(al.nn.Dense(3))
    with pytest.raises(ValueError, match=r"; in dense_0; built at my file.py:1\.$"):
        exec(compile("model(al.Graph().placeholder((2,)))", "my file.py", "exec"), {"model": model, "al": al})
