from alloy.nn.affine import Affine
from alloy.ops import conv2d
from alloy.ops.windows import pair


class Conv2D(Affine):
    """A 2-D convolution (correlation) plus bias: (n, height, width, channels) becomes (n, height', width',
    filters).

    kernel_size, strides: an integer, or one for the height and one for the width; padding as in al.conv2d.
    weights: (height, width, channels, filters), bias: (filters,)."""

    def __init__(
        self, filters: int, kernel_size, *, strides=1, padding="valid", use_bias: bool = True, seed: int | None = None
    ):
        super().__init__(use_bias=use_bias, seed=seed)
        self.filters = filters
        self.kernel_size = kernel_size
        self.strides = strides
        self.padding = padding

    def weights_shape(self, x):
        window = pair("conv2d", "a kernel size", self.kernel_size)
        return *window, self.known_features(x, rank=4), self.filters

    def product(self, x, weights):
        return conv2d(x, weights, strides=self.strides, padding=self.padding)
