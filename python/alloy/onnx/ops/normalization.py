"""Normalisations, softmax, dropout and losses."""

from alloy import ops, random
from alloy._core import Variable
from alloy.nn.batch_norm import statistics_of
from alloy.onnx.node import supports
from alloy.ops.elementwise import widened


def _of_channels(x, values):
    """Returns values of the channels (c,) in a shape that broadcasts to x, (n, c, ...)."""
    return ops.expand_dims(values, list(range(1, len(x.shape) - 1))) if len(x.shape) > 2 else values


@supports(
    "BatchNormalization", limits="trains as the call says; the variance is that of the batch, not PyTorch's n - 1"
)
def batch_normalization(node):
    x, scale, bias = node.floats(0), node.floats(1), node.floats(2)
    averages = [node.floats(3), node.floats(4)]
    epsilon, momentum = node.attribute("epsilon", 1e-5), node.attribute("momentum", 0.9)
    node.attribute("training_mode", 0)
    wide = widened(x)
    mean, variance = averages
    if node.training and node.model.trainable:  # as al.nn.BatchNorm
        axes = [0, *range(2, len(x.shape))]
        mean, variance = statistics_of(wide, axes, node.model.example_mask)
        moved = []
        for average, statistic in zip(averages, (mean, variance)):
            before = node.model.now(average) if isinstance(average, Variable) else average
            moved.append(before * momentum + statistic * (1 - momentum))
            if isinstance(average, Variable):
                node.model.leave(average, moved[-1])
        averages = moved
    mean, factor = (
        _of_channels(x, widened(mean)),
        _of_channels(x, ops.rsqrt(widened(variance) + epsilon) * widened(scale)),
    )
    y = ops.cast((wide - mean) * factor + _of_channels(x, widened(bias)), x.dtype)
    return [y, *averages]


@supports("InstanceNormalization")
def instance_normalization(node):
    x, scale, bias = node.floats(0), node.floats(1), node.floats(2)
    y = _standard(widened(x), list(range(2, len(x.shape))), node.attribute("epsilon", 1e-5))[0]
    return ops.cast(y * _of_channels(x, widened(scale)) + _of_channels(x, widened(bias)), x.dtype)


def _standard(x, axes, epsilon):
    """Returns (x - mean) / sqrt(variance + epsilon), the mean and 1 / sqrt(variance + epsilon)."""
    mean = ops.mean(x, axes, keepdims=True)
    spread = ops.rsqrt(ops.variance(x, axes, keepdims=True) + epsilon)
    return (x - mean) * spread, mean, spread


@supports("LayerNormalization")
def layer_normalization(node):
    x, axis, epsilon = node.floats(0), node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    node.attribute("stash_type", 1)
    axes = list(range(node.axis(x, axis), len(x.shape)))
    y, mean, spread = _standard(widened(x), axes, epsilon)
    y = y * widened(node.floats(1))
    y = y + widened(node.floats(2)) if node.has(2) else y
    return [ops.cast(y, x.dtype), mean, spread]


@supports("GroupNormalization")
def group_normalization(node):
    x, groups = node.floats(0), node.attribute("num_groups", int)
    epsilon = node.attribute("epsilon", 1e-5)
    node.attribute("stash_type", 1)
    channels, places = node.extent(x, 1), x.shape[2:]
    if groups < 1 or channels % groups or None in places:
        raise node.wrong(f"Expected {channels} channels as a multiple of {groups} groups, and known extents")
    wide = ops.reshape(widened(x), (-1, groups, channels // groups, *places))
    y = _standard(wide, list(range(2, len(places) + 3)), epsilon)[0]
    scale, bias = widened(node.floats(1)), widened(node.floats(2))
    if node.opset < 21:  # a factor for each group
        scale, bias = (ops.repeat(part, channels // groups) for part in (scale, bias))
    y = ops.reshape(y, (-1, channels, *places))
    return ops.cast(y * _of_channels(x, scale) + _of_channels(x, bias), x.dtype)


@supports("LpNormalization")
def lp_normalization(node):
    x, p = node.floats(0), node.attribute("p", 2)
    axis = node.axis(x, node.attribute("axis", -1))
    if p not in (1, 2):
        raise node.wrong(f"Expected p as 1 or 2, got {p}")
    length = ops.norm(x, axis, keepdims=True) if p == 2 else ops.sum(abs(x), axis, keepdims=True)
    return ops.divide_no_nan(x, length)


@supports("MeanVarianceNormalization")
def mean_variance_normalization(node):
    x = node.floats(0)
    axes = sorted({node.axis(x, axis) for axis in node.integers("axes", default=[0, 2, 3])})
    mean = ops.mean(x, axes, keepdims=True)
    return (x - mean) / (ops.std(x, axes, keepdims=True) + 1e-9)


@supports("Softmax")
def softmax(node):
    x = node.floats(0)
    return ops.softmax(x, node.axis(x, node.attribute("axis", -1)))


@supports("LogSoftmax")
def log_softmax(node):
    x = node.floats(0)
    return ops.log_softmax(x, node.axis(x, node.attribute("axis", -1)))


@supports("Dropout", limits="drops as the call says; the numbers are Alloy's")
def dropout(node):
    x, ratio = node.floats(0), float(node.number(1, 0.5))
    node.attribute("seed", 0)
    if not 0 <= ratio <= 1:
        raise node.wrong(f"Expected a ratio from 0 to 1, got {ratio}")
    if not node.training or ratio == 0:
        return [ops.identity(x), ops.ones_like(x) > 0]
    if not node.has_output(1):
        return node.model.random(random.dropout, x, ratio)
    kept = node.model.random(random.bernoulli, ops.cast(x, "float32"), 1 - ratio)
    return [ops.where(kept, x / (1 - ratio) if ratio < 1 else x * 0.0, 0.0), kept]


def _loss(node, log_probabilities, labels):
    """Returns the losses of labels along axis 1, reduced as the node says."""
    word = node.word("reduction", "mean", ("none", "sum", "mean"))
    ignored = node.attribute("ignore_index", None)
    labels = ops.cast(labels, "int32")
    counts = None if ignored is None else ops.not_equal(labels, int(ignored))
    safe = labels if counts is None else ops.where(counts, labels, 0)
    found = -ops.squeeze(ops.take_along_axis(log_probabilities, ops.expand_dims(safe, 1), 1), 1)
    weights = ops.gather(node.floats(2), safe) if node.has(2) else ops.ones_like(found)
    if counts is not None:
        weights = ops.where(counts, weights, 0.0)
    losses = found * weights
    if word == "none":
        return losses
    return ops.sum(losses) if word == "sum" else ops.sum(losses) / ops.sum(weights)


@supports("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(node):
    return _loss(node, node.floats(0), node.tensor(1))


@supports("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(node):
    found = ops.log_softmax(node.floats(0), 1)
    return [_loss(node, found, node.tensor(1)), found]
