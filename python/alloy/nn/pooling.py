from collections.abc import Callable

from alloy._core import Tensor
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.nn.windows import extents, padding_of_sequence
from alloy.ops import avg_pool2d, expand_dims, max_pool2d, max_propagate_nan, mean, squeeze
from alloy.ops.apply import require_tensor
from alloy.ops.windows import Extents, Padding


class Pooling(Layer):
    """The base of pooling over windows: their size, strides and padding. A subclass defines function, the op of images;
    with axes = 1 a sequence is an image of height 1."""

    axes = 2
    function: Callable[..., Tensor]

    def __init__(self, pool_size: Extents = 2, *, strides: Extents | None = None, padding: Padding = "valid"):
        super().__init__()
        self.window = extents(self, "a pool size", pool_size, self.axes)
        self.strides = self.window if strides is None else extents(self, "strides", strides, self.axes)
        self.padding = padding

    def forward(self, x, training):
        if self.axes == 2:
            return self.function(x, window=self.window, strides=self.strides, padding=self.padding)
        padding = padding_of_sequence(self, self.padding, '"valid", "same"')
        self.known_features(x, rank=3)
        image, strides = expand_dims(x, axis=1), (1, *self.strides)
        return squeeze(self.function(image, window=(1, *self.window), strides=strides, padding=padding), axis=1)


class MaxPool1D(Pooling):
    """The greatest element of each window of (n, length, channels); strides are pool_size unless given. padding:
    "valid", "same", or a pair (before, after)."""

    axes = 1
    function = staticmethod(max_pool2d)


class MaxPool2D(Pooling):
    """The greatest element of each window of (n, height, width, channels); strides are pool_size unless given.
    padding: as in al.max_pool2d."""

    function = staticmethod(max_pool2d)


class AvgPool1D(Pooling):
    """The mean of each window of (n, length, channels), without padding; strides are pool_size unless given. padding:
    "valid", "same", or a pair (before, after)."""

    axes = 1
    function = staticmethod(avg_pool2d)


class AvgPool2D(Pooling):
    """The mean of each window of (n, height, width, channels), without padding; strides are pool_size unless given.
    padding: as in al.avg_pool2d."""

    function = staticmethod(avg_pool2d)


class GlobalPooling(Layer):
    """The base of pooling over all places. A subclass defines function, an op of the axes."""

    function: Callable[..., Tensor]

    def __init__(self, *, keepdims: bool = False):
        super().__init__()
        self.keepdims = keepdims

    def forward(self, x, training):
        require_tensor(self, x)
        if x.shape is None or len(x.shape) < 3:
            raise mistake(self, f"Expected a tensor of rank 3 or more, (n, ..., channels), got {describe(x)}")
        return self.function(x, axis=range(1, len(x.shape) - 1), keepdims=self.keepdims)


class GlobalAvgPool(GlobalPooling):
    """The mean over all axes between the batch and the channels: (n, ..., channels) becomes (n, channels); keepdims
    keeps these axes with extent 1."""

    function = staticmethod(mean)


class GlobalMaxPool(GlobalPooling):
    """The greatest element over all axes between the batch and the channels: (n, ..., channels) becomes (n, channels);
    keepdims keeps these axes with extent 1."""

    function = staticmethod(max_propagate_nan)
