from alloy.nn.layer import Layer
from alloy.ops import avg_pool2d, max_pool2d, mean


class _Pool2D(Layer):
    def __init__(self, pool_size=2, *, strides=None, padding="valid"):
        super().__init__()
        self.attributes = {"window": pool_size, "strides": strides, "padding": padding}


class MaxPool2D(_Pool2D):
    """The greatest element of each window of (n, height, width, channels); strides are pool_size unless
    given."""

    def forward(self, x, training):
        return max_pool2d(x, **self.attributes)


class AvgPool2D(_Pool2D):
    """The mean of each window of (n, height, width, channels), padding left out; strides are pool_size unless
    given."""

    def forward(self, x, training):
        return avg_pool2d(x, **self.attributes)


class GlobalAvgPool(Layer):
    """The mean over height and width: (n, height, width, channels) becomes (n, channels)."""

    def forward(self, x, training):
        return mean(x, axis=(1, 2))
