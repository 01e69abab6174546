from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.nn.windows import extents
from alloy.ops import avg_pool2d, expand_dims, max_pool2d, max_propagate_nan, mean, squeeze
from alloy.ops.apply import require_tensor
from alloy.ops.windows import Extents, Padding


class Pooling(Layer):
    """The base of pooling over windows: their size, strides and padding."""

    axes = 2

    def __init__(self, pool_size: Extents = 2, *, strides: Extents | None = None, padding: Padding = "valid"):
        super().__init__()
        self.window = extents(self, "a pool size", pool_size, self.axes)
        self.strides = self.window if strides is None else extents(self, "strides", strides, self.axes)
        self.padding = padding

    def of_images(self, pool, x):
        return pool(x, window=self.window, strides=self.strides, padding=self.padding)

    def of_sequences(self, pool, x):
        padding = self.padding
        if not isinstance(padding, str):
            if not isinstance(padding, (tuple, list)) or len(padding) != 2:
                expected = 'the padding "valid", "same" or a pair (before, after)'
                raise mistake(self, f"Expected {expected}, got {padding!r}")
            padding = ((0, 0), tuple(padding))
        self.known_features(x, rank=3)
        pooled = pool(expand_dims(x, axis=1), window=(1, *self.window), strides=(1, *self.strides), padding=padding)
        return squeeze(pooled, axis=1)


class MaxPool1D(Pooling):
    """The greatest element of each window of (n, length, channels); strides are pool_size unless given. padding:
    "valid", "same", or a pair (before, after)."""

    axes = 1

    def forward(self, x, training):
        return self.of_sequences(max_pool2d, x)


class MaxPool2D(Pooling):
    """The greatest element of each window of (n, height, width, channels); strides are pool_size unless given.
    padding: as in al.max_pool2d."""

    def forward(self, x, training):
        return self.of_images(max_pool2d, x)


class AvgPool1D(Pooling):
    """The mean of each window of (n, length, channels), without padding; strides are pool_size unless given. padding:
    "valid", "same", or a pair (before, after)."""

    axes = 1

    def forward(self, x, training):
        return self.of_sequences(avg_pool2d, x)


class AvgPool2D(Pooling):
    """The mean of each window of (n, height, width, channels), without padding; strides are pool_size unless given.
    padding: as in al.avg_pool2d."""

    def forward(self, x, training):
        return self.of_images(avg_pool2d, x)


class GlobalPooling(Layer):
    """The base of pooling over all places."""

    def __init__(self, *, keepdims: bool = False):
        super().__init__()
        self.keepdims = keepdims

    def over(self, x):
        """Returns the axes between the batch and the channels."""
        require_tensor(self, x)
        if x.shape is None or len(x.shape) < 3:
            raise mistake(self, f"Expected a tensor of rank 3 or more, (n, ..., channels), got {describe(x)}")
        return range(1, len(x.shape) - 1)


class GlobalAvgPool(GlobalPooling):
    """The mean over all axes between the batch and the channels: (n, ..., channels) becomes (n, channels); keepdims
    keeps these axes with extent 1."""

    def forward(self, x, training):
        return mean(x, axis=self.over(x), keepdims=self.keepdims)


class GlobalMaxPool(GlobalPooling):
    """The greatest element over all axes between the batch and the channels: (n, ..., channels) becomes (n, channels);
    keepdims keeps these axes with extent 1."""

    def forward(self, x, training):
        return max_propagate_nan(x, axis=self.over(x), keepdims=self.keepdims)
