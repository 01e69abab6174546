"""Metrics: values of examples, and totals of batches."""

import functools

import numpy as np
import pytest

import alloy as al
from alloy.graph.state import State
from running import run


def test_accuracy():
    logits, labels = np.float32([[3, 1], [0, 1], [2, 0], [0, 9]]), np.int64([0, 1, 1, 1])
    for given in (labels, np.eye(2, dtype=np.float32)[labels]):
        np.testing.assert_array_equal(run(al.metrics.accuracy, logits, given)[0], [1, 1, 0, 1])


@pytest.mark.parametrize("shape", [(6,), (6, 1), (2, 3)])
def test_binary_accuracy(shape):
    logits, targets = np.float32([3, -1, 0.1, -2, 5, -1]).reshape(shape), np.float32([1, 0, 0, 0, 1, 1]).reshape(shape)
    right = np.float32([1, 1, 0, 1, 1, 0]).reshape(shape)
    expected = right.reshape(len(right), -1).mean(1)
    for given in (targets, targets.astype(np.int32)):
        np.testing.assert_allclose(run(al.metrics.binary_accuracy, logits, given)[0], expected, rtol=1e-6)
    if shape == (6, 1):
        for labels in (targets, targets.astype(np.int32), targets[:, 0].astype(np.int64)):
            np.testing.assert_array_equal(run(al.metrics.accuracy, logits, labels)[0], right[:, 0])


@pytest.mark.parametrize("k", [1, 3, 6])
def test_top_k_accuracy(k, rng):
    """Of equal logits the first come first; of a NaN and of labels outside the classes nothing is right."""
    logits, labels = rng.integers(0, 4, (50, 6)).astype(np.float32), rng.integers(-1, 7, 50)
    logits[0] = np.nan
    logits[1, 2] = np.nan
    order = np.argsort(np.where(np.isnan(logits), -np.inf, -logits), axis=-1, kind="stable")
    expected = (order[:, :k] == labels[:, None]).any(-1)
    expected[0] = False
    expected[1] &= labels[1] != 2
    function = functools.partial(al.metrics.top_k_accuracy, k=k)
    np.testing.assert_array_equal(run(function, logits, labels)[0], expected)
    assert expected.any() and not expected.all()
    if k == 1:
        (found,) = run(al.metrics.accuracy, logits[2:], labels[2:])
        np.testing.assert_array_equal(found, expected[2:])


def test_accuracy_of_logits_without_classes_is_refused():
    x = al.Graph().placeholder((None,))
    with pytest.raises(ValueError, match=r"^\[accuracy\] .*\(n, classes\), got float32\(\?,\); .*binary_accuracy"):
        al.metrics.accuracy(x, x)


# ---- totals over batches ----


class Totals:
    """A metric's totals over batches, of which the shapes are not known before."""

    def __init__(self, metric, predictions, targets, weighted):
        self.graph = graph = al.Graph()
        feeds = [graph.placeholder((None, *array.shape[1:]), array.dtype) for array in (predictions, targets)]
        weights = graph.placeholder((None,)) if weighted else None
        self.state = State(graph, f"metrics/{metric.name}")
        metric.update(self.state, *feeds, weights)
        self.add = graph.compile(feeds + [weights] * weighted, [metric.result(self.state)], self.state.updates())
        self.read = graph.compile([], [metric.result(self.state)])
        self.clear = graph.compile([], [], self.state.restarts())


def measured(metric, predictions, targets, weights=None, sizes=(4, 1, 7)):
    """The metric of all examples, in batches of the sizes and then of the rest, and again after a restart. The step
    that adds the last batch gives the same."""
    arrays = [predictions, targets] + ([] if weights is None else [weights])
    totals = Totals(metric, predictions, targets, weights is not None)
    ends = [0, *(end for end in np.cumsum(sizes) if end < len(predictions)), len(predictions)]
    for _ in range(2):
        for begin, end in zip(ends, ends[1:]):
            (last,) = totals.add(*(array[begin:end] for array in arrays))
        (value,) = totals.read()
        np.testing.assert_array_equal(value, last)
        totals.clear()
    return value


def weights_of(rng, count):
    """Some of them zero, as of padding."""
    return np.where(rng.uniform(size=count) < 0.3, 0, rng.uniform(0.2, 3, count)).astype(np.float32)


@pytest.fixture(params=[False, True], ids=["alike", "weighted"])
def weights(request, rng):
    return weights_of(np.random.default_rng(5), 40) if request.param else None


def ones_or(weights, count=40):
    return np.ones(count) if weights is None else weights.astype(float)


def confusion(chosen, labels, weights, count):
    matrix = np.zeros((count, count))
    for i, j, w in zip(labels, chosen, weights):
        matrix[i, j] += w
    return matrix


def rates(matrix):
    """Precision, recall, F1 and IoU of each class by the confusion matrix, and how often it occurs and is predicted."""
    found, predicted, actual = np.diag(matrix), matrix.sum(0), matrix.sum(1)

    def share(a, b):
        return np.divide(a, b, out=np.zeros_like(a), where=b > 0)

    f1, iou = share(2 * found, predicted + actual), share(found, predicted + actual - found)
    return share(found, predicted), share(found, actual), f1, iou, actual, predicted


RATES = (al.metrics.Precision, al.metrics.Recall, al.metrics.F1Score, al.metrics.IoU)


CLASSES = 5


@pytest.fixture
def classified(rng):
    """Logits of 5 classes, of which the last neither occurs nor is predicted, and labels."""
    logits = rng.normal(size=(40, CLASSES)).astype(np.float32)
    logits[:, -1] = -9
    return logits, rng.integers(0, CLASSES - 1, 40).astype(np.int32)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_rates_of_classes(average, classified, weights):
    logits, labels = classified
    exact = rates(confusion(logits.argmax(1), labels, ones_or(weights), CLASSES))
    actual, there = exact[4], exact[4] + exact[5] > 0
    assert there.tolist() == [True] * 4 + [False]
    for metric, rate in zip(RATES, exact):
        right = (ones_or(weights) * (logits.argmax(1) == labels)).sum() / ones_or(weights).sum()
        right = right / (2 - right) if metric is al.metrics.IoU else right
        expected = {
            "macro": rate[there].mean(),
            "micro": right,
            "weighted": (rate * actual).sum() / actual.sum(),
            None: rate,
        }[average]
        value = measured(metric(average), logits, labels, weights)
        assert value.shape == np.shape(expected)
        np.testing.assert_allclose(value, expected, rtol=1e-6)
        np.testing.assert_array_equal(
            value, measured(metric(average), logits, np.eye(CLASSES, dtype=np.float32)[labels], weights)
        )


@pytest.mark.parametrize("threshold", [None, 0.2, 0.9])
@pytest.mark.parametrize("shape, target", [((40, 1), (40, 1)), ((40, 1), (40,)), ((40,), (40,))], ids=str)
def test_rates_of_one_logit(threshold, shape, target, rng, weights):
    logits, labels = rng.normal(0, 2, 40).astype(np.float32), rng.integers(0, 2, 40)
    chosen = 1 / (1 + np.exp(-logits.astype(float))) > (threshold or 0.5)
    matrix = confusion(chosen.astype(int), labels, ones_or(weights), 2)
    expected = [rate[1] for rate in rates(matrix)[:4]]
    for dtype in (np.float32, np.int64, np.bool_):
        given = logits.reshape(shape), labels.reshape(target).astype(dtype), weights
        for kind, rate in zip(RATES, expected):
            value = measured(kind(threshold=threshold), *given)
            assert value.shape == () and value == pytest.approx(rate, rel=1e-6)
        np.testing.assert_allclose(measured(al.metrics.ConfusionMatrix(threshold=threshold), *given), matrix, rtol=1e-6)


def test_rates_of_several_labels_at_once(rng, weights):
    """A threshold makes each logit a decision of its own."""
    logits, labels = rng.normal(size=(40, 3)).astype(np.float32), rng.integers(0, 2, (40, 3))
    each = [rates(confusion((logits[:, k] > 0).astype(int), labels[:, k], ones_or(weights), 2)) for k in range(3)]
    for at, kind in enumerate(RATES):
        expected = [rate[at][1] for rate in each]
        value = measured(kind(None, threshold=0.5), logits, labels.astype(np.float32), weights)
        np.testing.assert_allclose(value, expected, rtol=1e-6)
        value = measured(kind(threshold=0.5), logits, labels.astype(np.float32), weights)
        assert value == pytest.approx(np.mean(expected), rel=1e-6)
    pooled = rates(confusion((logits > 0).astype(int).ravel(), labels.ravel(), ones_or(weights).repeat(3), 2))
    value = measured(al.metrics.F1Score("micro", threshold=0.5), logits, labels.astype(np.float32), weights)
    assert value == pytest.approx(pooled[2][1], rel=1e-6)


def test_labels_that_do_not_count(rng):
    """Of sequences: ignored ones, and those that are none of the classes."""
    logits, labels = rng.normal(size=(40, 6, 3)).astype(np.float32), rng.integers(-1, 4, (40, 6)).astype(np.int32)
    weights = weights_of(rng, 40)
    for ignored in (None, 0, -1):
        counted = (labels >= 0) & (labels < 3) & (labels != (-9 if ignored is None else ignored))
        expected = confusion(
            logits.argmax(-1)[counted], labels[counted], np.repeat(weights, 6).reshape(40, 6)[counted], 3
        )
        matrix = measured(al.metrics.ConfusionMatrix(ignore_index=ignored), logits, labels, weights)
        np.testing.assert_allclose(matrix, expected, rtol=1e-6)
        f1 = measured(al.metrics.F1Score(ignore_index=ignored, average=None), logits, labels, weights)
        np.testing.assert_allclose(f1, rates(expected)[2], rtol=1e-6)
    for function, right in (
        (al.metrics.accuracy, logits.argmax(-1) == labels),
        (al.metrics.top_k_accuracy, (logits.argsort(-1)[..., 1:] == labels[..., None]).any(-1)),
    ):
        options = {"k": 2} if function is al.metrics.top_k_accuracy else {}
        w = weights[:, None] * np.ones((40, 6))
        metric = al.metrics.get(functools.partial(function, **options))
        assert measured(metric, logits, labels, weights) == pytest.approx((w * right).sum() / w.sum(), rel=1e-6)
        metric = al.metrics.get(functools.partial(function, ignore_index=-1, **options))
        w[labels == -1] = 0
        assert metric.name == function.__name__ and metric.greater_is_better
        assert measured(metric, logits, labels, weights) == pytest.approx((w * right).sum() / w.sum(), rel=1e-6)


def test_labels_of_one_logit_that_do_not_count(rng, weights):
    logits, labels = rng.normal(size=(40, 1)).astype(np.float32), rng.integers(-1, 2, (40, 1))
    counted, w = labels[:, 0] >= 0, ones_or(weights)
    matrix = confusion((logits[counted, 0] > 0).astype(int), labels[counted, 0], w[counted], 2)
    for kind, expected in {
        al.metrics.ConfusionMatrix: matrix,
        al.metrics.Recall: rates(matrix)[1][1],
        al.metrics.Precision: rates(matrix)[0][1],
        functools.partial(al.metrics.AUC, bins=2**16): pairs_in_order(
            logits[counted, 0], labels[counted, 0], w[counted]
        ),
    }.items():
        np.testing.assert_allclose(measured(kind(ignore_index=-1), logits, labels, weights), expected, rtol=1e-5)
    right = ((logits[:, 0] > 0) == labels[:, 0]) * w * counted
    metric = al.metrics.Mean(functools.partial(al.metrics.accuracy, ignore_index=-1))
    assert measured(metric, logits, labels, weights) == pytest.approx(right.sum() / (w * counted).sum(), rel=1e-6)


def pairs_in_order(scores, ones, weights):
    """The share of pairs of a 1 and a 0 of which the 1 has the greater score."""
    more = (scores[:, None] > scores) + 0.5 * (scores[:, None] == scores)
    pairs = np.outer(weights * ones, weights * (1 - ones))
    return (more * pairs).sum() / pairs.sum()


def test_auc_of_one_logit(rng, weights):
    labels = rng.integers(0, 2, 40)
    for spread in (0.01, 1, 30, 1e4):
        logits = ((rng.normal(size=40) + labels) * spread).astype(np.float32)
        expected = pairs_in_order(logits, labels, ones_or(weights))
        for dtype, shape in ((np.float32, (40, 1)), (np.int32, (40,))):
            value = measured(
                al.metrics.AUC(bins=2**18), logits.reshape(shape), labels.astype(dtype).reshape(shape), weights
            )
            assert value.shape == () and value == pytest.approx(expected, abs=2e-3 if spread == 0.01 else 1e-6)
        assert 0.5 < expected < 1


def test_auc_of_infinite_logits():
    logits = np.float32([-np.inf, -1e38, 0, 1e38, np.inf, 3])
    for sign, expected in ((1, 1), (-1, 0)):
        assert measured(al.metrics.AUC(), sign * logits, np.float32([0, 0, 0, 1, 1, 1])) == expected


def test_auc_errs_by_no_more_than_half_of_what_shares_an_interval(rng):
    labels = rng.integers(0, 2, 3000)
    logits = (rng.normal(size=3000) + labels).astype(np.float32)
    expected = pairs_in_order(logits, labels, np.ones(3000))
    for bins in (4, 64, 4096):
        places = np.clip(np.floor((logits / (4 + np.abs(logits)) + 1) * bins / 2), 0, bins - 1).astype(int)
        p, q = (np.bincount(places[labels == k], minlength=bins) / (labels == k).sum() for k in (0, 1))
        error = abs(measured(al.metrics.AUC(bins=bins), logits, labels.astype(np.float32), None, (1000, 7)) - expected)
        assert error <= (p * q).sum() / 2 + 1e-6
        assert bins < 4096 or error < 5e-5


def test_auc_of_classes(rng, weights):
    logits, labels = rng.normal(size=(40, 3)).astype(np.float32), rng.integers(0, 3, 40).astype(np.int32)
    logits[np.arange(40), labels] += 1
    odds = np.exp(logits.astype(float)) / np.exp(logits.astype(float)).sum(1, keepdims=True)
    w = ones_or(weights)
    expected = np.mean([pairs_in_order(odds[:, k], (labels == k) * 1.0, w) for k in range(3)])
    assert measured(al.metrics.AUC(), logits, labels, weights) == pytest.approx(expected, abs=2e-3)
    assert measured(al.metrics.AUC(bins=2**16), logits, labels, weights) == pytest.approx(expected, abs=1e-4)
    ignored = labels > 0
    odds, left = odds[ignored], labels[ignored]
    expected = np.mean([pairs_in_order(odds[:, k], (left == k) * 1.0, w[ignored]) for k in (1, 2)])
    value = measured(al.metrics.AUC(bins=2**16, ignore_index=0), logits, labels, weights)
    assert value == pytest.approx(expected, abs=1e-4), "of the classes that are left"
    several = (rng.uniform(size=(40, 3)) < 0.4).astype(np.float32)
    expected = np.mean([pairs_in_order(logits[:, k], several[:, k], w) for k in range(3)])
    value = measured(al.metrics.AUC(bins=2**16, multi_label=True), logits, several, weights)
    assert value == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 3)], ids=str)
def test_errors_of_numbers(shape, rng, weights):
    y = rng.normal(1e3, 2, shape).astype(np.float32)
    p = (y + rng.normal(0, 1, shape)).astype(np.float32)
    w = ones_or(weights)
    error = (p.astype(float) - y).reshape(40, -1)
    away = y.reshape(40, -1).astype(float)
    away = away - (w[:, None] * away).sum(0) / w.sum()
    r2 = 1 - (w[:, None] * error**2).sum(0) / (w[:, None] * away**2).sum(0)
    for name, expected in {
        "mean_absolute_error": (w * np.abs(error).mean(1)).sum() / w.sum(),
        "mean_squared_error": (w * (error**2).mean(1)).sum() / w.sum(),
        "root_mean_squared_error": np.sqrt((w * (error**2).mean(1)).sum() / w.sum()),
        "r2_score": r2.mean(),
    }.items():
        metric = al.metrics.get(name)
        assert metric.name == name and metric.greater_is_better == (name == "r2_score")
        assert measured(metric, p, y, weights) == pytest.approx(expected, rel=3e-6)


def test_r2_of_targets_that_are_all_equal():
    y = np.full((8, 2), 3, np.float32)
    assert measured(al.metrics.R2Score(), y, y) == 1
    assert measured(al.metrics.R2Score(), y + np.float32([0, 1]), y) == 0.5


def test_means_of_functions(rng, weights):
    x, y = rng.normal(size=(40, 3)).astype(np.float32), rng.normal(size=(40, 3)).astype(np.float32)
    w = ones_or(weights)

    def largest(predictions, targets):
        return al.max(predictions - targets, axis=1)

    largest.greater_is_better = False
    metric = al.metrics.get(largest)
    assert (metric.name, metric.greater_is_better) == ("largest", False)
    assert measured(metric, x, y, weights) == pytest.approx((w * (x - y).max(1)).sum() / w.sum(), rel=1e-5)
    pair = al.metrics.Mean(lambda p, t: (p[:, 0], al.abs(t[:, 0])), "pair")
    assert (pair.name, pair.greater_is_better) == ("pair", None)
    both = w * np.abs(y[:, 0].astype(float))
    assert measured(pair, x, y, weights) == pytest.approx((both * x[:, 0]).sum() / both.sum(), rel=1e-5)
    scalar = al.metrics.Mean(lambda p, t: al.mean(p))
    ends = [0, 4, 5, 12, 40]
    expected = sum(w[a:b].sum() * x[a:b].mean() for a, b in zip(ends, ends[1:])) / w.sum()
    assert measured(scalar, x, y, weights) == pytest.approx(expected, rel=1e-5)
    halves = al.metrics.Mean(lambda p, t: al.cast(al.mean(p), "float16"))
    assert measured(halves, x.astype(np.float16), y, weights) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", [*al.metrics.FUNCTIONS, *al.metrics.CLASSES, *al.losses.LOSSES])
def test_every_metric_counts_no_padding(name, rng):
    """Rows of weight 0 change nothing, even if they are huge or infinite; without any other row the value is 0."""
    if name in ("accuracy", "top_k_accuracy", "confusion_matrix", "auc", "categorical_hinge", "softmax_cross_entropy"):
        x, y = rng.normal(size=(12, 6)).astype(np.float32), rng.integers(0, 6, 12).astype(np.int32)
    else:
        x, y = rng.normal(size=(12, 1)).astype(np.float32), rng.integers(0, 2, (12, 1)).astype(np.float32)
    metric = al.metrics.get(name)
    assert metric.name == name and repr(name) in repr(metric)
    weights = np.float32([1] * 8 + [0] * 4)
    expected = measured(metric, x[:8], y[:8])
    x[8:] = [[1e30], [np.inf], [-np.inf], [0]]
    np.testing.assert_allclose(measured(metric, x, y, weights), expected, rtol=1e-6)
    np.testing.assert_array_equal(measured(metric, x[8:], y[8:], weights[8:]), np.zeros_like(expected))


@pytest.mark.parametrize("name", [*al.metrics.FUNCTIONS, *al.metrics.CLASSES])
def test_metrics_of_halves_are_float32(name, rng):
    x = (rng.integers(-8, 8, (40, 6)) / 4).astype(np.float16)
    one = name in ("binary_accuracy", "r2_score", "root_mean_squared_error")
    y = x[::-1].copy() if one else rng.integers(0, 6, 40).astype(np.int32)
    values = [measured(al.metrics.get(name), *given) for given in ((x, y), (x.astype(np.float32), y.astype(y.dtype)))]
    assert values[0].dtype == np.float32
    np.testing.assert_allclose(*values, rtol=1e-6)


def test_a_metric_of_ones_own(rng, weights):
    class LargestError(al.metrics.Metric):
        greater_is_better = False

        def update(self, totals, predictions, targets, weights):
            error = al.max(al.abs(predictions - targets), axis=1)
            error = error if weights is None else al.where(weights > 0, error, 0.0)
            totals["largest"] = al.maximum(totals.setdefault("largest", 0.0), al.max(error))

        def result(self, totals):
            return totals["largest"]

    x, y = rng.normal(size=(2, 40, 3)).astype(np.float32)
    metric = LargestError()
    assert metric.name == "largest_error" and LargestError("own").name == "own" and al.metrics.get(metric) is metric
    expected = np.abs(x - y).max(1)[ones_or(weights) > 0].max()
    assert measured(metric, x, y, weights) == expected


def test_a_million_batches_lose_nothing(rng):
    """Where a plain float32 sum is off by 1e-5, and stops counting at 2^24."""
    graph = al.Graph()
    x = graph.placeholder(())
    state = State(graph, "sum")
    al.metrics.accumulate(state, "total", x)
    al.metrics.accumulate(state, "count", x * 0.0 + 1.0)
    step = graph.compile([x], [], state.updates(), steps=1000)
    values = rng.uniform(size=(1000, 1000)).astype(np.float32)
    state.variables["count"].assign(np.float32(2**24))
    for row in values:
        step(row)
    total, count = (state.variables[name].numpy().astype(float) for name in ("total", "count"))
    rests = [state.variables[f"{name}_rest"].numpy() for name in ("total", "count")]
    assert count + rests[1] == 2**24 + 10**6
    assert total + rests[0] == pytest.approx(values.astype(float).sum(), rel=1e-12)
    assert abs(np.cumsum(values.ravel(), dtype=np.float32)[-1] / values.astype(float).sum() - 1) > 1e-6


def test_metrics_run_within_the_step(rng):
    """Every metric at once beside an update of the model: one dispatch."""
    graph = al.Graph()
    x, y, weights = graph.placeholder((None, 4)), graph.placeholder((None,), "int32"), graph.placeholder((None,))
    logits = al.nn.Dense(6, seed=1)(x)
    loss = al.losses.mean(al.losses.softmax_cross_entropy(logits, y), weights)
    names = ["accuracy", "top_k_accuracy", "precision", "recall", "f1_score", "confusion_matrix", "auc"]
    metrics = [al.metrics.get(name) for name in names]
    states = [State(graph, f"metrics/{metric.name}") for metric in metrics]
    for metric, state in zip(metrics, states):
        metric.update(state, logits, y, weights)
    updates = [update for state in states for update in state.updates()]
    step = graph.compile([x, y, weights], [loss], al.SGD(0.1).minimize(loss) + updates)
    read = graph.compile([], [metric.result(state) for metric, state in zip(metrics, states)])
    step(np.ones((2, 4), np.float32), np.int32([0, 1]), np.ones(2, np.float32))
    before = al.stats()["dispatches"]
    step(rng.normal(size=(8, 4)).astype(np.float32), rng.integers(0, 6, 8).astype(np.int32), np.ones(8, np.float32))
    assert al.stats()["dispatches"] == before + 1
    values = dict(zip(names, read()))
    assert values["confusion_matrix"].sum() == 10
    assert values["accuracy"] == pytest.approx(np.trace(values["confusion_matrix"]) / 10)


# ---- names and mistakes ----


@pytest.mark.parametrize(
    "name, says",
    [
        ("acc", "use al.metrics.accuracy"),
        ("mae", "use al.losses.mean_absolute_error"),
        ("acuracy", "the nearest is accuracy"),
    ],
)
def test_other_names(name, says):
    with pytest.raises(ValueError, match=rf"^\[metrics\] .*al\.metrics \(.*precision.*'{name}'; {says}; at"):
        al.metrics.get(name)


def test_what_there_is():
    assert al.losses.__all__ == sorted([*al.losses.LOSSES, "get", "mean", "sums", "weights"])
    classes = [kind.__name__ for kind in al.metrics.CLASSES.values()]
    rest = ["Mean", "Metric", "accumulate", "accumulated", "get"]
    assert al.metrics.__all__ == sorted([*al.metrics.FUNCTIONS, *classes, *rest])
    for name in (*al.losses.__all__, *al.metrics.__all__):
        assert (getattr(al.losses, name, None) or getattr(al.metrics, name)).__doc__


def test_accuracy_beside_binary_cross_entropy_is_of_each_logit():
    for loss in ("binary_cross_entropy", functools.partial(al.losses.binary_cross_entropy, pos_weight=2)):
        metric = al.metrics.get("accuracy", loss)
        assert metric.function is al.metrics.binary_accuracy and metric.name == "accuracy"
    assert al.metrics.get("accuracy", "softmax_cross_entropy").function is al.metrics.accuracy


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: al.metrics.get(3), TypeError, r"^\[metrics\] Expected a function or a name of al\.metrics, got 3; "),
        (lambda: al.metrics.get(al.metrics.AUC), TypeError, r"got the class AUC, without parentheses; "),
        (lambda: al.metrics.Mean("accuracy"), TypeError, r"^\[Mean\] Expected a function .* got 'accuracy'"),
        (
            lambda: al.metrics.Precision("binary"),
            ValueError,
            r"^\[Precision\] Expected an average among 'macro', .*'binary'",
        ),
        (
            lambda: al.metrics.Recall(threshold=1),
            ValueError,
            r"^\[Recall\] Expected a threshold between 0 and 1, got 1",
        ),
        (lambda: al.metrics.AUC(bins=1), ValueError, r"^\[AUC\] Expected a number of bins of 2 or more, got 1"),
        (lambda: al.metrics.AUC(ignore_index="0"), TypeError, r"^\[AUC\] Expected ignore_index as an integer, got '0'"),
        (lambda: al.metrics.F1Score(name=3), TypeError, r"Expected a name, got 3"),
    ],
)
def test_mistakes_with_metrics(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


# fmt: off
WRONG_SHAPES = [
    ("accuracy", [(4, 3), (4,)], "float32", r"classes as integers, or labels of shape \(4, 3\) .* got float32\(4,\)"),
    ("accuracy", [(4, 3), (5,)], "int32", r"labels of shape \(4,\) for float32\(4, 3\), got int32\(5,\)"),
    ("top_k_accuracy", [(4, 3), (4,)], "int32", r"logits of 5 classes or more, got float32\(4, 3\)"),
    ("precision", [(4, 1), (4, 2)], "float32", r"targets of shape \(4, 1\)"),
    ("confusion_matrix", [(4, 3), (4, 3)], "int32", r"one axis less than float32\(4, 3\), got int32\(4, 3\); cast"),
    ("auc", [(4, None), (4,)], "int32", r"known number of classes, or \(n,\), got float32\(4, \?\)"),
    ("r2_score", [(4, 1), (4,)], "float32", r"targets of shape \(4, 1\)"),
]
# fmt: on


def test_a_threshold_beside_several_logits_makes_no_matrix():
    graph = al.Graph()
    feeds = [graph.placeholder((4, 3)), graph.placeholder((4,), "int32")]
    with pytest.raises(ValueError, match=r"one logit for each example beside a threshold, got float32\(4, 3\)"):
        al.metrics.ConfusionMatrix(threshold=0.5).update(State(graph, "metrics"), *feeds, None)


@pytest.mark.parametrize("name, shapes, dtype, says", WRONG_SHAPES)
def test_wrong_shapes_of_metrics(name, shapes, dtype, says):
    graph = al.Graph()
    feeds = [graph.placeholder(shapes[0]), graph.placeholder(shapes[1], dtype)]
    with pytest.raises(ValueError, match=rf"^\[{name}\] .*{says}.*; at .*test_metrics\.py:\d+\.$"):
        al.metrics.get(name).update(State(graph, "metrics"), *feeds, None)
