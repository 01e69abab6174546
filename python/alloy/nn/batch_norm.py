from alloy import init
from alloy.graph.dtypes import is_half
from alloy.nn.layer import Layer
from alloy.ops import cast, mean, rsqrt, variance


class BatchNorm(Layer):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta for each feature, an index of the last axis: Ioffe
    and Szegedy, 2015, with Keras's names and defaults.

    While training, mean and population variance are those of x over all other axes, and each update moves the
    moving averages: momentum * average + (1 - momentum) * statistic. After it they are the moving averages.
    Variables: gamma, beta, and, not trainable, moving_mean, moving_variance, all (features,). Of a layer that
    is called in two places of a model the updates are those of the last call. A layer that is not trainable
    uses its moving averages, and leaves them, while training too. Of float16 and bfloat16 it computes in float32."""

    def __init__(self, momentum: float = 0.99, epsilon: float = 0.001):
        super().__init__()
        self.momentum = momentum
        self.epsilon = epsilon

    def build(self, x):
        shape = (self.known_features(x),)
        for part, value, trainable in (
            ("gamma", init.ones, True),
            ("beta", init.zeros, True),
            ("moving_mean", init.zeros, False),
            ("moving_variance", init.ones, False),
        ):
            self.add_variable(x.graph, part, lambda seed, value=value: value(shape), trainable)

    def forward(self, x, training):
        gamma, beta, *moving = self.variables
        dtype = x.dtype
        if is_half(dtype):
            x = cast(x, "float32")
        statistics = moving
        if training:
            self._updates = []
        if training and self.trainable:
            axes = range(len(x.shape) - 1)
            statistics = [mean(x, axis=axes), variance(x, axis=axes)]
            self._updates = [
                x.graph.assign(average, average * self.momentum + statistic * (1 - self.momentum))
                for average, statistic in zip(moving, statistics)
            ]
        center, spread = statistics
        return cast((x - center) * (gamma * rsqrt(spread + self.epsilon)) + beta, dtype)
