"""Losses: values, gradients, means, and how they are found by name."""

import functools

import numpy as np
import pytest

import alloy as al
import losses_reference
import reference as ref
from running import run


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
     r"labels of shape \(4,\) for float32\(4, 3\), got int32\(4, 1\)"),
    ("softmax_cross_entropy", [(4, 3), (3,)], "float32", r"labels of shape \(4, 3\)"),
    ("mean_squared_error", [(4, 1), (4,)], "float32",
     r"targets of shape \(4, 1\) for float32\(4, 1\), got float32\(4,\)"),
    ("binary_cross_entropy", [(4,), (4, 4)], "float32", r"targets of shape \(4,\)"),
]
# fmt: on


@pytest.mark.parametrize("loss, shapes, dtype, says", WRONG_SHAPES)
def test_wrong_shapes_of_losses(loss, shapes, dtype, says):
    graph = al.Graph()
    with pytest.raises(ValueError, match=rf"^\[{loss}\] .*{says}.*; at .*test_losses\.py:\d+\.$"):
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


# ---- against NumPy and finite differences ----


def signs(t):
    return np.where(t > 0, 1.0, -1.0)


def softmax(z):
    return np.exp(ref.log_softmax(z))


def logistic(z):
    return np.exp(-np.logaddexp(0, -z))


FORMULAS = {  # of logits or predictions and targets (n, classes), in float64
    "binary_cross_entropy": lambda z, t: (t * np.logaddexp(0, -z) + (1 - t) * np.logaddexp(0, z)).mean(1),
    "categorical_hinge": lambda z, t: np.maximum(1 + ((1 - t) * z).max(1) - (t * z).sum(1), 0),
    "cosine_similarity": lambda p, y: -(p * y).sum(1) / np.linalg.norm(p, axis=1) / np.linalg.norm(y, axis=1),
    "dice": lambda z, t: 1 - (2 * (logistic(z) * t).sum(1) + 1) / ((logistic(z) + t).sum(1) + 1),
    "hinge": lambda z, t: np.maximum(1 - signs(t) * z, 0).mean(1),
    "huber": lambda p, y: np.where(abs(p - y) <= 1, (p - y) ** 2 / 2, abs(p - y) - 0.5).mean(1),
    "kl_divergence": lambda z, t: (np.where(t > 0, t * np.log(np.where(t > 0, t, 1)), 0) - t * ref.log_softmax(z)).sum(
        1
    ),
    "mean_absolute_error": lambda p, y: abs(p - y).mean(1),
    "mean_squared_error": lambda p, y: ((p - y) ** 2).mean(1),
    "softmax_cross_entropy": lambda z, t: -(t * ref.log_softmax(z)).sum(1),
    "squared_hinge": lambda z, t: (np.maximum(1 - signs(t) * z, 0) ** 2).mean(1),
}


def targets_for(name, rng, shape):
    if name in ("mean_squared_error", "mean_absolute_error", "huber", "cosine_similarity"):
        return rng.normal(size=shape).astype(np.float32)
    if name in ("kl_divergence", "softmax_cross_entropy"):
        shares = rng.uniform(size=shape) * (rng.uniform(size=shape) < 0.7) + 1e-3 * (np.arange(shape[-1]) == 0)
        return (shares / shares.sum(-1, keepdims=True)).astype(np.float32)
    if name == "categorical_hinge":
        return np.eye(shape[-1], dtype=np.float32)[rng.integers(0, shape[-1], shape[:-1])]
    return rng.integers(0, 2, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(7, 5), (1, 5), (6, 2)], ids=str)
@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_gradients_of_every_loss(name, shape, rng):
    """Against its formula in float64, and central differences of that."""
    assert list(FORMULAS) == list(al.losses.LOSSES)
    x, y = rng.normal(0, 2, shape).astype(np.float32), targets_for(name, rng, shape)
    value, gradient = run(lambda x, y: [loss := al.losses.get(name)(x, y), *al.gradients(al.sum(loss), [x])], x, y)
    exact, wide = FORMULAS[name], x.astype(float)
    assert value.shape == shape[:1] and value.dtype == np.float32
    np.testing.assert_allclose(value, exact(wide, y.astype(float)), rtol=2e-6, atol=1e-6)
    for place in np.ndindex(shape):
        step = np.zeros(shape)
        step[place] = 1e-6
        slope = (exact(wide + step, y.astype(float)) - exact(wide - step, y.astype(float))).sum() / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", FORMULAS)
def test_losses_of_halves_are_float32(name, rng):
    x, y = (rng.integers(-8, 9, (6, 4)) / 4).astype(np.float16), targets_for(name, rng, (6, 4)).astype(np.float16)
    (value,) = run(al.losses.get(name), x, y)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, FORMULAS[name](x.astype(float), y.astype(float)), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e4, -1e4, 0])
@pytest.mark.parametrize("name", FORMULAS)
def test_extreme_predictions(name, scale, rng):
    """Huge, all alike or zeros: finite values and gradients, of one class, too."""
    for shape in ((4, 3), (4, 1)):
        x = (scale * (1 + np.arange(np.prod(shape)) % 3)).reshape(shape).astype(np.float32)
        y = targets_for(name, rng, shape)
        value, gradient = run(lambda x, y: [loss := al.losses.get(name)(x, y), *al.gradients(al.sum(loss), [x])], x, y)
        assert np.isfinite(value).all() and np.isfinite(gradient).all()
        if scale or name != "cosine_similarity":
            np.testing.assert_allclose(value, FORMULAS[name](x.astype(float), y.astype(float)), rtol=2e-6, atol=1e-6)


def test_cosines_of_huge_tiny_and_zero_vectors(rng):
    x, y = rng.normal(size=(2, 6, 5))
    scales = np.float64([1e37, 1e-37, 1e25, 1e-30, 0, 1])[:, None]
    value, gradient = run(
        lambda x, y: [loss := al.losses.cosine_similarity(x, y), *al.gradients(al.sum(loss), [x])],
        (x * scales).astype(np.float32),
        (y * scales[::-1]).astype(np.float32),
    )
    expected = FORMULAS["cosine_similarity"](x, y)
    expected[[1, 4]] = value[1], 0
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    assert (
        value[1] in (0, pytest.approx(FORMULAS["cosine_similarity"](x, y)[1], rel=1e-5)) and np.isfinite(gradient).all()
    )


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"class_weights": [1, 2, 3]}], ids=str)
def test_softmax_losses_that_are_confident(options):
    """Right ones are above 0, wrong ones do not overflow."""
    logits = np.float32([[20, 0, 0], [80, 0, 0], [1e4, 0, -1e4], [-1e4, 0, 1e4], [30, -30, 0]])
    loss = functools.partial(al.losses.softmax_cross_entropy, **options)
    (found,) = run(loss, logits, np.int32([0] * 5))
    smoothing, wide = options.get("label_smoothing", 0), logits.astype(float)
    above = (wide - wide[:, :1])[:, 1:]
    most = np.maximum(above.max(1), 0)
    right = most + np.log(np.exp(above - most[:, None]).sum(1) + np.exp(-most))
    right = np.where(most > 0, right, np.log1p(np.exp(np.minimum(above, 0)).sum(1)))
    expected = right - smoothing / 3 * above.sum(1)
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert (found[:2] > 0).all()


def test_binary_losses_with_weights_keep_what_is_confident():
    z, t = np.float32([[-20], [20], [-80], [-1e4], [1e4]]), np.float32([[0], [1], [0], [1], [0]])
    (value,) = run(functools.partial(al.losses.binary_cross_entropy, pos_weight=3.0), z, t)
    wide = z.astype(float)[:, 0]
    expected = [np.log1p(np.exp(wide[0])), 3 * np.log1p(np.exp(-wide[1])), np.exp(wide[2]), 3e4, 1e4]
    np.testing.assert_allclose(value, expected, rtol=2e-6)


# ---- the mean of a loss ----


def mean_of(result, *arrays, **weights):
    """al.losses.mean of what result makes of the arrays, with weights, and its parts."""
    graph = al.Graph()
    feeds = [graph.placeholder((None, *array.shape[1:]), array.dtype) for array in arrays]
    more = {name: graph.placeholder((None, *array.shape[1:]), array.dtype) for name, array in weights.items()}
    made = result(*feeds)
    fetches = [al.losses.mean(made, **more), *al.losses.sums(made, **more)]
    mean, total, count = graph.compile([*feeds, *more.values()], fetches)(*arrays, *weights.values())
    assert mean == pytest.approx(total / count if count else 0, rel=1e-6, nan_ok=True)
    return mean


def test_the_mean_with_weights_and_masks(rng):
    v, w = rng.normal(size=(6, 3)).astype(np.float32), rng.uniform(size=(6, 3)).astype(np.float32)
    s, m = rng.uniform(size=6).astype(np.float32), np.float32([1, 1, 0, 1, 0, 1])
    rows = m[:, None] * np.ones((6, 3))
    assert mean_of(lambda v: v, v) == pytest.approx(v.mean(), rel=1e-5)
    assert mean_of(lambda v: v, v, sample_weights=s) == pytest.approx((s[:, None] * v).mean(), rel=1e-5)
    assert mean_of(lambda v: v, v, sample_weights=w) == pytest.approx((w * v).mean(), rel=1e-5)
    assert mean_of(lambda v: v, v, mask=m.astype(bool)) == pytest.approx(v[m > 0].mean(), rel=1e-5)
    expected = (s[:, None] * rows * v).sum() / rows.sum()
    assert mean_of(lambda v: v, v, sample_weights=s, mask=m) == pytest.approx(expected, rel=1e-5)
    assert mean_of(lambda v, w: (v, w), v, w) == pytest.approx((v * w).sum() / w.sum(), rel=1e-5)
    expected = (s[:, None] * v * w * rows).sum() / (w * rows).sum()
    assert mean_of(lambda v, w: (v, w), v, w, sample_weights=s, mask=m) == pytest.approx(expected, rel=1e-5)
    assert mean_of(lambda v, s: (v, s), v, s) == pytest.approx((v * s[:, None]).sum() / (3 * s.sum()), rel=1e-5)
    assert mean_of(al.mean, v) == pytest.approx(v.mean(), rel=1e-5)
    v[m == 0] = np.nan
    assert mean_of(lambda v: v, v, mask=m) == pytest.approx(np.nanmean(v), rel=1e-5)
    assert mean_of(lambda v: v, v, mask=m * 0) == 0 and np.isnan(mean_of(lambda v: v, v))


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"class_weights": np.ones(3)}], ids=str)
def test_a_batch_of_ignored_labels(options, rng):
    """Its loss and gradients are 0, even where the number is one of the classes."""
    x = rng.normal(size=(4, 3)).astype(np.float32)
    for ignored, dtype in ((-100, np.int64), (1, np.int32), (255, np.uint8)):
        labels = np.full(4, ignored, dtype)

        def build(x, y):
            loss = al.losses.softmax_cross_entropy(x, y, ignore_index=ignored, **options)
            mean = al.losses.mean(loss)
            return [mean, *al.gradients(mean, [x])]

        mean, gradient = run(build, x, labels)
        assert mean == 0 and not gradient.any()
        labels[0] = 2
        mean, gradient = run(build, x, labels)
        assert mean > 0 and gradient[0].all() and not gradient[1:].any()


def test_values_and_weights_of_ignored_labels(rng):
    """Both are 0; labels of bytes have no negative number to ignore."""
    x, labels = rng.normal(size=(4, 3)).astype(np.float32), [0, 7, 2, 1]
    logs = ref.log_softmax(x.astype(float))

    def of(ignored):
        def build(x, y):
            values = al.losses.softmax_cross_entropy(x, y, ignore_index=ignored)
            return [values, al.losses.weights(values)]

        return build

    for dtype in (np.uint8, np.int64):
        given = np.array(labels, dtype)
        value, weights = run(of(7), x, given)
        np.testing.assert_array_equal(weights, [1, 0, 1, 1])
        np.testing.assert_allclose(value, [-logs[0, 0], 0, -logs[2, 2], -logs[3, 1]], rtol=1e-5)
        value, weights = run(of(-100), x, given)
        assert np.isnan(value[1]) and weights.all()


def test_a_loss_with_options_is_a_tensor_to_compute_with(rng):
    """PyTorch's cross_entropy with reduction="none", class weights and an ignored label: weights are multiplied in."""
    x, labels, scale = rng.normal(size=(4, 3)).astype(np.float32), np.int32([0, -1, 2, 1]), np.float32([1, 2, 4])
    expected = -ref.log_softmax(x.astype(float))[range(4), labels] * scale[labels] * (labels >= 0)

    def build(x, y):
        values = al.losses.softmax_cross_entropy(x, y, ignore_index=-1, class_weights=scale)
        assert al.losses.weights(values * 2.0) is None and al.losses.weights(al.sum(x)) is None
        return [values * 2.0, al.losses.mean(values), al.losses.mean(values * 2.0), al.losses.weights(values)]

    twice, mean, mean_of_twice, weights = run(build, x, labels)
    np.testing.assert_allclose(twice, 2 * expected, rtol=1e-5)
    np.testing.assert_array_equal(weights, [1, 0, 4, 2])
    assert mean == pytest.approx(expected.sum() / 7, rel=1e-5)
    assert mean_of_twice == pytest.approx(2 * expected.mean(), rel=1e-5)


def test_a_label_outside_the_classes_is_not_hidden_by_weights(rng):
    x = rng.normal(size=(3, 3)).astype(np.float32)
    for options in (
        {"class_weights": [0, 1, 0]},
        {"ignore_index": -1},
        {"ignore_index": -1, "class_weights": [0, 1, 0]},
    ):
        for labels in ([0, 1, 3], [1, -2, -1]):
            loss = functools.partial(al.losses.softmax_cross_entropy, **options)
            assert np.isnan(mean_of(loss, x, np.int32(labels)))


def test_weights_may_be_tensors(rng):
    x, y, w = rng.normal(size=(6, 3)).astype(np.float32), rng.integers(0, 3, 6), np.float32([1, 2, 0.5])
    graph = al.Graph()
    feeds = [graph.placeholder((None, 3)), graph.placeholder((None,), "int64"), graph.placeholder((3,))]
    loss = al.losses.softmax_cross_entropy(*feeds[:2], class_weights=feeds[2], label_smoothing=0.1)
    (value,) = graph.compile(feeds, [al.losses.mean(loss)])(x, y, w)
    fixed = functools.partial(al.losses.softmax_cross_entropy, class_weights=w, label_smoothing=0.1)
    assert value == pytest.approx(mean_of(fixed, x, y), rel=1e-6)


# ---- names and mistakes ----


@pytest.mark.parametrize(
    "name, says",
    [
        ("mse", "use al.losses.mean_squared_error"),
        ("categorical_crossentropy", "use al.losses.softmax_cross_entropy"),
        ("binary_crossentropy", "the nearest is binary_cross_entropy"),
        ("Huber", "the nearest is huber"),
        ("softmax_cross_entrpy", "the nearest is softmax_cross_entropy"),
    ],
)
def test_other_names(name, says):
    with pytest.raises(
        ValueError, match=rf"^\[losses\] Expected .* al\.losses \(binary.*hinge\), got '{name}'; {says}; at"
    ):
        al.losses.get(name)


def test_what_is_a_loss():
    def mine(predictions, targets):
        return predictions

    partial = functools.partial(al.losses.huber, delta=2)
    assert al.losses.get(mine) is mine and al.losses.get(partial) is partial
    assert al.losses.get("huber") is al.losses.huber
    for wrong in (None, 3, ["huber"]):
        with pytest.raises(
            TypeError, match=r"^\[Trainer\] Expected a function or a name of al\.losses, got (None|3|\[)"
        ):
            al.losses.get(wrong, op="Trainer")


# fmt: off
WRONG_OPTIONS = [
    ("softmax_cross_entropy", {"label_smoothing": 1.5}, r"label_smoothing from 0 to 1, got 1\.5"),
    ("softmax_cross_entropy", {"label_smoothing": "0.1"}, r"label_smoothing from 0 to 1, got '0\.1'"),
    ("softmax_cross_entropy", {"class_weights": [1, 2]}, r"class_weights of shape \(3,\), got shape \(2,\)"),
    ("softmax_cross_entropy", {"class_weights": [1, -2, 1]}, r"class_weights of 0 or more, got -2"),
    ("softmax_cross_entropy", {"class_weights": {0: 1}}, r"class_weights as numbers, got \{0: 1\}"),
    ("softmax_cross_entropy", {"ignore_index": -1}, "integers as labels beside ignore_index, got distributions"),
    ("softmax_cross_entropy", {"ignore_index": 1.5}, r"ignore_index as an integer, got 1\.5"),
    ("binary_cross_entropy", {"pos_weight": [1, 2]}, r"pos_weight of shape \(\) or \(3,\), got shape \(2,\)"),
    ("binary_cross_entropy", {"label_smoothing": True}, "label_smoothing from 0 to 1, got True"),
    ("huber", {"delta": 0}, "a delta above 0, got 0"),
]
# fmt: on


@pytest.mark.parametrize("name, options, says", WRONG_OPTIONS)
def test_wrong_options(name, options, says):
    graph = al.Graph()
    x, y = graph.placeholder((None, 3)), graph.placeholder((None, 3))
    with pytest.raises((ValueError, TypeError), match=rf"^\[{name}\] Expected .*{says}; at .*test_losses"):
        al.losses.get(name)(x, y, **options)


@pytest.mark.parametrize(
    "values, weights, says",
    [
        ((4, 3), (3,), r"first axes of the values float32\(4, 3\), got float32\(3,\)"),
        ((4,), (4, 1), r"first axes of the values float32\(4,\), got float32\(4, 1\)"),
        ((), (4,), r"one value for each example, \(n, \.\.\.\), beside weights, got a scalar"),
        ((4,), (), r"got float32\(\)"),
    ],
)
def test_wrong_weights(values, weights, says):
    graph = al.Graph()
    for name in ("sample_weights", "mask"):
        with pytest.raises(ValueError, match=rf"^\[mean\] Expected .*{says}; at .*test_losses"):
            al.losses.mean(graph.placeholder(values), **{name: graph.placeholder(weights)})


def test_labels_of_other_kinds(rng):
    """Bools as distributions; float classes and integer distributions are refused with what to do."""
    x, y = rng.normal(size=(4, 3)).astype(np.float32), np.eye(3)[[0, 1, 2, 1]] > 0
    np.testing.assert_array_equal(*(run(al.losses.softmax_cross_entropy, x, t)[0] for t in (y, y.astype(np.float32))))
    graph = al.Graph()
    logits = graph.placeholder((None, 3))
    with pytest.raises(ValueError, match=r"Expected classes as integers, or labels of shape \(\?, 3\)"):
        al.losses.softmax_cross_entropy(logits, graph.placeholder((None,)))
    with pytest.raises(ValueError, match="cast distributions to float32"):
        al.losses.softmax_cross_entropy(logits, graph.placeholder((None, 3), "int32"))


@pytest.mark.parametrize("name", FORMULAS)
def test_targets_before_predictions(name):
    graph = al.Graph()
    labels, logits = graph.placeholder((None,), "int32"), graph.placeholder((None, 3))
    with pytest.raises(
        TypeError, match=rf"^\[{name}\] Expected float predictions before the targets, got int32\(\?,\)"
    ):
        al.losses.get(name)(labels, logits)


@pytest.mark.parametrize(
    "activation, loss, targets",
    [
        ("softmax", "softmax_cross_entropy", np.arange(6, dtype=np.int32) % 3),
        ("sigmoid", "binary_cross_entropy", np.ones((6, 3), np.float32)),
    ],
)
def test_probabilities_in_place_of_logits_are_noticed(activation, loss, targets):
    """Keras's habit: a model that ends with what the loss has itself. It would train, and badly."""
    model = al.nn.Sequential(al.nn.Dense(4, activation=activation), al.nn.Dense(3, activation=activation))
    trainer = al.Trainer(model, loss, "sgd")
    with pytest.warns(UserWarning, match=rf"^\[{loss}\] Expected logits, got the result of {activation}; leave it"):
        trainer.fit((np.ones((6, 2), np.float32), targets), progress=False)


@pytest.mark.parametrize(
    "predictions, targets, says",
    [
        (
            (None, 1),
            (None,),
            r"Expected targets of shape \(\?, 1\) .* got float32\(\?,\); targets\[..., None\] of an array",
        ),
        (
            (None,),
            (None, 1),
            r"Expected targets of shape \(\?,\) .* got float32\(\?, 1\); targets\[..., 0\] of an array",
        ),
        ((None, 3), (None,), r"got float32\(\?,\); at"),
    ],
)
def test_a_missing_axis_is_said_how_to_add(predictions, targets, says):
    graph = al.Graph()
    with pytest.raises(ValueError, match=says):
        al.losses.mean_squared_error(graph.placeholder(predictions), graph.placeholder(targets))


# Losses at a tie or kink: logits or scores, targets, and each gradient that a side of the kink has.
TIES = [
    (al.losses.hinge, [[1.0], [-1.0]], [[1.0], [0.0]], [[[-0.5], [0.5]], [[0.0], [0.0]]]),
    (al.losses.squared_hinge, [[1.0]], [[1.0]], [[[0.0]]]),
    (al.losses.categorical_hinge, [[1.0, 0.0]], [[1.0, 0.0]], [[[-1.0, 1.0]], [[0.0, 0.0]]]),
    (al.losses.huber, [[1.0], [-1.0], [0.0]], [[0.0]] * 3, [[[1 / 3], [-1 / 3], [0.0]]]),
    (al.losses.mean_absolute_error, [[2.0]], [[2.0]], [[[0.0]]]),
]


@pytest.mark.parametrize("loss, z, t, sides", TIES, ids=lambda given: getattr(given, "__name__", ""))
def test_gradients_at_ties_are_those_of_a_side(loss, z, t, sides):
    graph = al.Graph()
    predictions, targets = graph.placeholder(np.shape(z)), graph.placeholder(np.shape(t))
    (slope,) = al.gradients(al.losses.mean(loss(predictions, targets)), [predictions])
    (found,) = graph.compile([predictions, targets], [slope])(np.float32(z), np.float32(t))
    assert any(np.allclose(found, side, rtol=1e-6, atol=0) for side in sides), found


@pytest.mark.parametrize("loss", [al.losses.hinge, al.losses.squared_hinge, al.losses.huber])
def test_losses_of_nan_are_nan(loss):
    graph = al.Graph()
    z = graph.placeholder((2, 1))
    (found,) = graph.compile([z], [loss(z, graph.constant(np.ones((2, 1), "f")))])(np.float32([[np.nan], [1]]))
    assert np.isnan(found[0]) and found[1] == 0
