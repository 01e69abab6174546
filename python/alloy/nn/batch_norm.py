from alloy import init
from alloy.distributed import all_reduce
from alloy.engine.arrays import as_number
from alloy.nn.normalization import Normalization, affine
from alloy.nn.settings import settings
from alloy.ops import equal, expand_dims, mean, ones_like, rsqrt, square, variance, where
from alloy.ops import sum as sum_of


class BatchNorm(Normalization):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta for each feature (last axis): Ioffe and Szegedy, 2015, with
    Keras's names and defaults. PyTorch's momentum of 0.1 is 0.9 here, and its epsilon 1e-5.

    Training uses mean and population variance of x over all other axes, and each update moves the moving averages:
    momentum * average + (1 - momentum) * statistic. Otherwise, and in a layer that is not trainable, the moving
    averages are used, unchanged.

    Variables: gamma, beta (unless scale or center is False), and, not trainable, moving_mean, moving_variance, all
    (features,). A layer called in several places of a model moves the averages in each. Examples that only fill up a
    batch (last_batch="pad") do not count. Several processes compute them of their own examples, unless the trainer has
    sync_batch_norm. float16 and bfloat16 are computed in float32."""

    def __init__(self, *, momentum: float = 0.99, epsilon: float = 0.001, center: bool = True, scale: bool = True):
        super().__init__(epsilon, center, scale)
        self.momentum = as_number(self, "a momentum", momentum, "from 0 to 1")

    def build(self, x):
        super().build(x)
        shape = (self.known_features(x),)
        self.add_variable(x.graph, "moving_mean", lambda seed: init.zeros(shape), trainable=False)
        self.add_variable(x.graph, "moving_variance", lambda seed: init.ones(shape), trainable=False)

    def normalized(self, x, gamma, beta, training):
        center, spread = self._variables[-2:]
        if training and self.trainable:
            axes = range(len(x.shape) - 1)
            moving, (center, spread) = (center, spread), statistics_of(x, axes, self.example_mask)
            for average, statistic in zip(moving, (center, spread)):
                self.leave(average, self.now(average) * self.momentum + statistic * (1 - self.momentum))
        return affine(x, center, rsqrt(spread + self.epsilon), gamma, beta)


def statistics_of(x, axes, mask):
    """Returns mean and population variance of each feature, over the examples that count."""
    across = settings().synchronized
    if mask is None and not across:
        return mean(x, axis=axes), variance(x, axis=axes)
    counts = None if mask is None else equal(expand_dims(mask, axis=range(1, len(x.shape))), 1.0)

    def totals(*values):
        sums = [sum_of(one if counts is None else where(counts, one, 0.0), axis=axes) for one in values]
        return all_reduce(sums) if across else sums

    total, number = totals(x, ones_like(x))
    center = total / number
    return center, totals(square(x - center))[0] / number
