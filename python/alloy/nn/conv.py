from alloy.nn.affine import Affine
from alloy.ops import conv2d, conv2d_transpose, conv3d, depthwise_conv2d
from alloy.ops.windows import per_axis


class _Conv(Affine):
    """What the convolutions have in common: how their windows move."""

    def __init__(self, kernel_size, strides, padding, use_bias, seed):
        super().__init__(use_bias=use_bias, seed=seed)
        self.kernel_size = kernel_size
        self.strides = strides
        self.padding = padding

    def window(self, axes=2):
        return per_axis(self._kind(), "a kernel size", self.kernel_size, axes)


class Conv2D(_Conv):
    """A 2-D convolution (correlation) plus bias: (n, height, width, channels) becomes (n, height', width',
    filters).

    kernel_size, strides: an integer, or one for the height and one for the width; padding as in al.conv2d.
    weights: (height, width, channels, filters), bias: (filters,)."""

    def __init__(
        self, filters: int, kernel_size, *, strides=1, padding="valid", use_bias: bool = True, seed: int | None = None
    ):
        super().__init__(kernel_size, strides, padding, use_bias, seed)
        self.filters = filters

    def weights_shape(self, x):
        return *self.window(), self.known_features(x, rank=4), self.filters

    def product(self, x, weights):
        return conv2d(x, weights, strides=self.strides, padding=self.padding)


class Conv3D(_Conv):
    """A 3-D convolution (correlation) plus bias: (n, depth, height, width, channels) becomes (n, depth', height',
    width', filters).

    kernel_size, strides: an integer, or one each for depth, height and width; padding as in al.conv3d.
    weights: (depth, height, width, channels, filters), bias: (filters,)."""

    def __init__(
        self, filters: int, kernel_size, *, strides=1, padding="valid", use_bias: bool = True, seed: int | None = None
    ):
        super().__init__(kernel_size, strides, padding, use_bias, seed)
        self.filters = filters

    def weights_shape(self, x):
        return *self.window(3), self.known_features(x, rank=5), self.filters

    def product(self, x, weights):
        return conv3d(x, weights, strides=self.strides, padding=self.padding)


class Conv2DTranspose(_Conv):
    """A transposed 2-D convolution plus bias: (n, height, width, channels) becomes (n, height', width', filters), with
    the padding "same" so many times higher and wider as the strides say.

    kernel_size, strides, padding: as in al.conv2d_transpose. weights: (height, width, filters, channels), bias:
    (filters,)."""

    def __init__(
        self, filters: int, kernel_size, *, strides=1, padding="valid", use_bias: bool = True, seed: int | None = None
    ):
        super().__init__(kernel_size, strides, padding, use_bias, seed)
        self.filters = filters

    def weights_shape(self, x):
        return *self.window(), self.filters, self.known_features(x, rank=4)

    def bias_shape(self, weights_shape):
        return weights_shape[-2:-1]

    def product(self, x, weights):
        return conv2d_transpose(x, weights, strides=self.strides, padding=self.padding)


class DepthwiseConv2D(_Conv):
    """A 2-D convolution of each channel by itself, plus bias: (n, height, width, channels) becomes (n, height', width',
    channels * depth_multiplier).

    kernel_size, strides, padding: as in al.depthwise_conv2d. weights: (height, width, channels, depth_multiplier),
    bias: (channels * depth_multiplier,)."""

    def __init__(
        self,
        kernel_size,
        *,
        strides=1,
        padding="valid",
        depth_multiplier: int = 1,
        use_bias: bool = True,
        seed: int | None = None,
    ):
        super().__init__(kernel_size, strides, padding, use_bias, seed)
        self.depth_multiplier = depth_multiplier

    def weights_shape(self, x):
        return *self.window(), self.known_features(x, rank=4), self.depth_multiplier

    def bias_shape(self, weights_shape):
        return (weights_shape[-1] * weights_shape[-2],)

    def product(self, x, weights):
        return depthwise_conv2d(x, weights, strides=self.strides, padding=self.padding)
