from collections.abc import Callable

from alloy.engine.arrays import as_count
from alloy.init import glorot_uniform
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.affine import Affine
from alloy.nn.windows import extents, padding_of_sequence
from alloy.ops import conv2d, conv2d_transpose, conv3d, depthwise_conv2d, expand_dims, squeeze
from alloy.ops.apply import require_tensor
from alloy.ops.windows import Extents, Padding, explicit_padding


class _Windows(Affine):
    """The base of convolutions: kernel size, strides, padding and channels."""

    axes = 2

    def __init__(self, kernel_size, strides, padding, dilations, **options):
        super().__init__(**options)
        self.kernel_size = extents(self, "a kernel size", kernel_size, self.axes)
        self.strides = extents(self, "strides", strides, self.axes)
        self.dilations = extents(self, "dilations", dilations, self.axes)
        self.padding = padding

    def channels(self, x, groups=1):
        require_tensor(self, x)
        if x.shape is not None and len(x.shape) == self.axes + 1:
            places = ("length", "height, width", "depth, height, width")[self.axes - 1]
            raise mistake(
                self, f"Expected a tensor (n, {places}, channels), got {describe(x)}; x[..., None] has one channel"
            )
        count = self.known_features(x, rank=self.axes + 2)
        if count % groups:
            raise mistake(self, f"Expected channels that are a multiple of {groups} groups, got {describe(x)}")
        return count


class Convolution(_Windows):
    """The base of convolutions whose filters join channels: filters and groups."""

    def __init__(
        self,
        filters: int,
        kernel_size: Extents,
        *,
        strides: Extents = 1,
        padding: Padding = "valid",
        dilations: Extents = 1,
        groups: int = 1,
        activation=None,
        use_bias: bool = True,
        init: Callable = glorot_uniform,
        seed: int | None = None,
    ):
        options = {"activation": activation, "use_bias": use_bias, "init": init, "seed": seed}
        super().__init__(kernel_size, strides, padding, dilations, **options)
        self.filters = as_count(self, "filters", filters)
        self.groups = as_count(self, "groups", groups)
        if self.filters % self.groups:
            raise mistake(self, f"Expected filters that are a multiple of {groups} groups, got {filters}")

    def weights_shape(self, x):
        return *self.kernel_size, self.channels(x, self.groups) // self.groups, self.filters

    def moves(self):
        return {name: getattr(self, name) for name in ("strides", "padding", "dilations", "groups")}


class Conv1D(Convolution):
    """A 1-D convolution (correlation) plus bias: (n, length, channels) becomes (n, length', filters).

    kernel_size, strides, dilations: integers. padding: "valid", "same", "causal" (only before, so that no result
    depends on later elements), or a pair (before, after). groups: divides the channels into so many groups with filters
    of their own. activation, init: as in Dense. weights: (size, channels / groups, filters), bias: (filters,)."""

    axes = 1

    def product(self, x, weights):
        causal = (self.dilations[0] * (self.kernel_size[0] - 1), 0)
        padding = causal if self.padding == "causal" else self.padding
        y = conv2d(
            expand_dims(x, axis=1),
            expand_dims(weights, axis=0),
            strides=(1, *self.strides),
            padding=padding_of_sequence(self, padding, '"valid", "same", "causal"'),
            dilations=(1, *self.dilations),
            groups=self.groups,
        )
        return squeeze(y, axis=1)


class Conv2D(Convolution):
    """A 2-D convolution (correlation) plus bias: (n, height, width, channels) becomes (n, height', width', filters).

    kernel_size, strides, dilations: an integer, or one for the height and one for the width; padding and groups as in
    al.conv2d. activation, init: as in Dense. weights: (height, width, channels / groups, filters), bias: (filters,)."""

    def product(self, x, weights):
        return conv2d(x, weights, **self.moves())


class Conv3D(Convolution):
    """A 3-D convolution (correlation) plus bias: (n, depth, height, width, channels) becomes (n, depth', height',
    width', filters).

    kernel_size, strides, dilations: an integer, or one each for depth, height and width; padding and groups as in
    al.conv3d. activation, init: as in Dense. weights: (depth, height, width, channels / groups, filters), bias:
    (filters,)."""

    axes = 3

    def product(self, x, weights):
        return conv3d(x, weights, **self.moves())


class ConvTranspose2D(Convolution):
    """A transposed 2-D convolution plus bias: (n, height, width, channels) becomes (n, height', width', filters). With
    the padding "same", height' = height * stride.

    kernel_size, strides, padding, dilations, groups: as in al.conv2d_transpose; activation, init: as in Dense.
    output_padding: rows and columns beyond the least size, (x - 1) * stride + the window's reach - the padding; None
    chooses as Keras does. weights: (height, width, filters / groups, channels), bias: (filters,)."""

    def __init__(self, filters: int, kernel_size: Extents, *, output_padding: Extents | None = None, **options):
        super().__init__(filters, kernel_size, **options)
        self.output_padding = None
        if output_padding is not None:
            self.output_padding = extents(self, "an output padding", output_padding, 2, least=0)

    def weights_shape(self, x):
        return *self.kernel_size, self.filters // self.groups, self.channels(x, self.groups)

    def bias_shape(self, weights_shape):
        return (self.filters,)

    def product(self, x, weights):
        size = None if self.output_padding is None else self._size(x, self.output_padding)
        return conv2d_transpose(x, weights, output_size=size, **self.moves())

    def _size(self, x, output_padding):
        if None in x.shape[1:3]:
            raise mistake(self, f"Expected images of known height and width, got {describe(x)}")
        reaches = [(size - 1) * dilation + 1 for size, dilation in zip(self.kernel_size, self.dilations)]
        if self.padding == "valid":
            padded = [0, 0]
        elif self.padding == "same":
            padded = [reach - 1 for reach in reaches]
        else:
            pairs = explicit_padding(self, self.padding, 2)
            padded = [pairs[0] + pairs[1], pairs[2] + pairs[3]]
        return [
            (extent - 1) * stride + reach - pad + more
            for extent, stride, reach, pad, more in zip(x.shape[1:3], self.strides, reaches, padded, output_padding)
        ]


class DepthwiseConv2D(_Windows):
    """A 2-D convolution of each channel by itself, plus bias: (n, height, width, channels) becomes (n, height', width',
    channels * depth_multiplier).

    kernel_size, strides, padding, dilations: as in al.depthwise_conv2d; activation, init: as in Dense. weights:
    (height, width, channels, depth_multiplier), bias: (channels * depth_multiplier,)."""

    def __init__(
        self,
        kernel_size: Extents,
        *,
        strides: Extents = 1,
        padding: Padding = "valid",
        dilations: Extents = 1,
        depth_multiplier: int = 1,
        activation=None,
        use_bias: bool = True,
        init: Callable = glorot_uniform,
        seed: int | None = None,
    ):
        options = {"activation": activation, "use_bias": use_bias, "init": init, "seed": seed}
        super().__init__(kernel_size, strides, padding, dilations, **options)
        self.depth_multiplier = as_count(self, "a depth multiplier", depth_multiplier)

    def weights_shape(self, x):
        return *self.kernel_size, self.channels(x), self.depth_multiplier

    def bias_shape(self, weights_shape):
        return (weights_shape[-1] * weights_shape[-2],)

    def product(self, x, weights):
        return depthwise_conv2d(x, weights, strides=self.strides, padding=self.padding, dilations=self.dilations)
