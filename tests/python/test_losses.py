"""Losses: values, gradients, means, and how they are found by name."""

import functools

import numpy as np
import pytest

import alloy as al
import losses_reference
import reference as ref


def run(build, *arrays):
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    results = build(*feeds)
    return graph.compile(feeds, results if isinstance(results, list) else [results])(*arrays)


def test_softmax_cross_entropy(rng):
    logits = rng.normal(size=(4, 6, 5)).astype(np.float32) * 20
    labels = rng.integers(0, 5, (4, 6)).astype(np.int32)
    expected = -np.take_along_axis(ref.log_softmax(logits.astype(float)), labels[..., None], -1)[..., 0]
    (loss,) = run(al.losses.softmax_cross_entropy, logits, labels)
    assert loss.shape == (4, 6)
    np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        run(al.losses.softmax_cross_entropy, logits, np.eye(5, dtype=np.float32)[labels])[0],
        expected,
        rtol=1e-5,
        atol=1e-5,
    )


def test_softmax_cross_entropy_does_not_overflow():
    value, gradient = run(
        lambda x, y: [loss := al.losses.softmax_cross_entropy(x, y), *al.gradients(al.sum(loss), [x])],
        np.float32([[1e4, 0, -1e4]]),
        np.int32([1]),
    )
    np.testing.assert_allclose(value, [1e4])
    np.testing.assert_allclose(gradient, [[1, -1, 0]])


def test_mean_squared_error(rng):
    a, b = rng.normal(size=(2, 4, 3, 2)).astype(np.float32)
    np.testing.assert_allclose(run(al.losses.mean_squared_error, a, b)[0], np.square(a - b).mean((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(
        run(al.losses.mean_squared_error, a[0, 0], b[0, 0])[0], np.square(a - b)[0, 0], rtol=1e-5
    )


def test_binary_cross_entropy():
    z, t = np.float32([0, 0.5, -3, 100, -100, 100]), np.float32([1, 0.25, 0, 0, 0, 1])
    value, gradient = run(
        lambda z, t: [loss := al.losses.binary_cross_entropy(z, t), *al.gradients(al.sum(loss), [z])], z, t
    )
    wide = z.astype(float)
    np.testing.assert_allclose(value, np.logaddexp(0, wide) - wide * t, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, 1 / (1 + np.exp(-wide)) - t, rtol=1e-5, atol=1e-6)


def test_losses_of_the_confident_and_right_are_not_lost():
    """log(1 + s) of an s that vanishes beside 1, against NumPy in float64."""
    z = -np.float32([0.1, 2, 12, 16, 17, 20, 30, 60, 80])
    (loss,) = run(al.losses.binary_cross_entropy, z, np.zeros_like(z))
    np.testing.assert_allclose(loss, np.log1p(np.exp(z.astype(float))), rtol=5e-7)
    loss, gradient = run(
        lambda z, t: [loss := al.losses.binary_cross_entropy(z, t), *al.gradients(al.sum(loss), [z])],
        -z,
        np.ones_like(z),
    )
    np.testing.assert_allclose(loss, np.log1p(np.exp(z.astype(float))), rtol=5e-7)
    np.testing.assert_allclose(gradient, -1 / (1 + np.exp(-z.astype(float))), rtol=2e-6, atol=6e-8)


@pytest.mark.parametrize(
    "shape, axis", [((40, 3), 1), ((5, 3), 1), ((7, 40), 1), ((2, 3000), 1), ((3, 300), 0)], ids=str
)
def test_softmax_losses_of_the_confident_and_right(shape, axis, rng):
    """Rows short and long, columns; one greatest logit, or two that are one logit."""
    for equals in 1, 2:
        others = rng.uniform(-1, 0, shape)
        at = np.arange(shape[axis]).reshape((-1, 1) if axis == 0 else (1, -1))
        for margin in 0.5, 5, 30, 60:
            x = np.where(at < equals, 3, 3 - margin + others).astype(np.float32)
            labels = np.broadcast_to(np.float32(at == 0), shape).copy()
            rest = np.where(at < equals, 0, np.exp(x.astype(float) - 3)).sum(axis, keepdims=True)
            expected = np.log1p(rest + (equals - 1))
            graph = al.Graph()
            feeds = [graph.placeholder(shape), graph.placeholder(shape)]
            loss = graph.apply("softmax_cross_entropy", feeds, {"axis": axis, "reduction": "none"}, "", "")[0]
            (loss,) = graph.compile(feeds, [loss])(x, labels)
            np.testing.assert_allclose(loss, expected, rtol=2e-6)


# fmt: off
WRONG_SHAPES = [
    ("softmax_cross_entropy", [(4, 3), (4, 1)], "int32",
     r"labels of shape \(4\) for float32\(4, 3\), got int32\(4, 1\)"),
    ("softmax_cross_entropy", [(4, 3), (3,)], "float32", r"labels of shape \(4, 3\)"),
    ("mean_squared_error", [(4, 1), (4,)], "float32",
     r"targets of shape \(4, 1\) for float32\(4, 1\), got float32\(4,\)"),
    ("binary_cross_entropy", [(4,), (4, 4)], "float32", r"targets of shape \(4\)"),
]
# fmt: on


@pytest.mark.parametrize("loss, shapes, dtype, says", WRONG_SHAPES)
def test_wrong_shapes_of_losses(loss, shapes, dtype, says):
    graph = al.Graph()
    with pytest.raises(ValueError, match=rf"^\[{loss}\] .*{says}.*built at .*test_losses\.py:\d+\.$"):
        getattr(al.losses, loss)(graph.placeholder(shapes[0]), graph.placeholder(shapes[1], dtype))


@pytest.mark.parametrize("labels", [[0, 1, 3], [-1, 0, 1], [0, 2**31 - 1, -(2**31)]])
def test_the_loss_of_a_label_outside_the_classes_is_nan(labels, rng):
    logits, labels = rng.normal(size=(3, 3)).astype(np.float32), np.int32(labels)
    value, gradient = run(
        lambda x, y: [loss := al.losses.softmax_cross_entropy(x, y), *al.gradients(al.sum(loss), [x])], logits, labels
    )
    inside = (labels >= 0) & (labels < 3)
    expected = -ref.log_softmax(logits.astype(float))[np.arange(3), np.clip(labels, 0, 2)]
    np.testing.assert_allclose(value, np.where(inside, expected, np.nan), rtol=1e-5)
    exact = np.exp(ref.log_softmax(logits.astype(float))) - np.eye(3)[np.clip(labels, 0, 2)]
    np.testing.assert_allclose(gradient[inside], exact[inside], rtol=1e-4, atol=1e-6)


# ---- against PyTorch ----

with np.load(losses_reference.GOLDEN) as _file:
    GOLDENS = dict(_file)


def test_every_case_has_a_golden():
    assert list(GOLDENS["cases"]) == list(losses_reference.CASES)


@pytest.mark.parametrize("case", losses_reference.CASES)
def test_means_and_gradients_are_those_of_pytorch(case):
    loss, targets, options = losses_reference.CASES[case]
    x, y = losses_reference.inputs(targets, options)
    loss = functools.partial(al.losses.get(loss), **options)
    graph = al.Graph()
    feeds = [graph.placeholder((None, None, x.shape[-1])), graph.placeholder((None,) * y.ndim, y.dtype)]
    mean = al.losses.mean(loss(*feeds))
    mean, gradient = graph.compile(feeds, [mean, *al.gradients(mean, feeds[:1])])(x, y)
    expected = GOLDENS["values"][list(losses_reference.CASES).index(case)]
    assert mean == pytest.approx(expected[0], rel=2e-6, abs=1e-7)
    np.testing.assert_allclose(gradient.ravel(), expected[1:], rtol=1e-5, atol=1e-7)
