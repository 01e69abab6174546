"""Normalisations: (x - mean) / deviation * gamma + beta, over different sets of elements. float16 and bfloat16 are
computed in float32."""

from alloy import init
from alloy.engine.arrays import as_count, as_integers, as_number
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.ops import cast, expand_dims, mean, reshape, rsqrt, square, tile, variance
from alloy.ops.apply import require_tensor
from alloy.ops.elementwise import widened
from alloy.ops.windows import Extents


class Normalization(Layer):
    """The base of normalisations. A subclass defines parameters_shape(x) and normalized(x, gamma, beta, training);
    gamma or beta is None if scale or center is False."""

    def __init__(self, epsilon: float, center: bool, scale: bool):
        super().__init__()
        self.epsilon = as_number(self, "epsilon", epsilon, "of 0 or more and below 1")
        self.center = center
        self.scale = scale

    def build(self, x):
        self.require_floats(x)
        shape = self.parameters_shape(x)
        if self.scale:
            self.add_variable(x.graph, "gamma", lambda seed: init.ones(shape))
        if self.center:
            self.add_variable(x.graph, "beta", lambda seed: init.zeros(shape))

    def parameters_shape(self, x):
        return (self.known_features(x),)

    def forward(self, x, training):
        self.require_like_the_first(x)
        rest = list(self._variables)
        gamma = rest.pop(0) if self.scale else None
        beta = rest.pop(0) if self.center else None
        return cast(self.normalized(widened(x), gamma, beta, training), x.dtype)

    def require_like_the_first(self, x):
        shape = tuple(self.parameters_shape(x))
        if self._variables and self._variables[0].shape != shape:
            expected = f"an input for gamma and beta of shape {self._variables[0].shape}, which the first call made"
            raise mistake(self, f"Expected {expected}, got {describe(x)}")


def affine(x, center, spread, gamma, beta):
    """(x - center) * (spread * gamma) + beta; center, gamma and beta may be None."""
    x = x if center is None else x - center
    x = x * (spread if gamma is None else spread * gamma)
    return x if beta is None else x + beta


class _AlongAxes(Normalization):
    """Normalises over some axes of each example; gamma and beta have the extents of these axes."""

    def __init__(self, axis, epsilon, center, scale):
        super().__init__(epsilon, center, scale)
        self.axis = as_integers(self, "an axis", axis)

    def axes(self, x):
        require_tensor(self, x)
        shape = x.shape or ()
        rank = len(shape)
        if rank < 2 or any(not -rank <= axis < rank for axis in self.axis):
            raise mistake(self, f"Expected a tensor of rank 2 or more with the axes {self.axis}, got {describe(x)}")
        axes = sorted({axis % rank for axis in self.axis})
        if any(shape[axis] is None for axis in axes):
            raise mistake(self, f"Expected known extents along the axes {self.axis}, got {describe(x)}")
        return axes

    def parameters_shape(self, x):
        return tuple(x.shape[axis] for axis in self.axes(x))

    def normalized(self, x, gamma, beta, training):
        axes = self.axes(x)
        first = axes[0]
        if axes != list(range(first, len(x.shape))):  # else gamma and beta broadcast as they are
            shape = [extent if axis in axes else 1 for axis, extent in enumerate(x.shape)][first:]
            gamma, beta = (None if part is None else reshape(part, shape) for part in (gamma, beta))
        center, spread = self.statistics(x, axes)
        return affine(x, center, spread, gamma, beta)


class LayerNorm(_AlongAxes):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and population variance over the axis, or axes,
    of each example: Ba et al., 2016, with Keras's defaults. PyTorch's epsilon is 1e-5.

    center, scale: add beta and gamma, of the extents of the axes."""

    def __init__(self, *, axis: Extents = -1, epsilon: float = 0.001, center: bool = True, scale: bool = True):
        super().__init__(axis, epsilon, center, scale)

    def statistics(self, x, axes):
        spread = variance(x, axis=axes, keepdims=True)
        return mean(x, axis=axes, keepdims=True), rsqrt(spread + self.epsilon)


class RMSNorm(_AlongAxes):
    """gamma * x / sqrt(mean(x^2) + epsilon), over the axis, or axes, of each example: Zhang and Sennrich, 2019, with
    Keras's defaults. PyTorch's epsilon is 1.1920929e-7.

    scale: adds gamma, of the extents of the axes."""

    def __init__(self, *, axis: Extents = -1, epsilon: float = 1e-6, scale: bool = True):
        super().__init__(axis, epsilon, False, scale)

    def statistics(self, x, axes):
        return None, rsqrt(mean(square(x), axis=axes, keepdims=True) + self.epsilon)


class GroupNorm(Normalization):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and population variance over all places of a
    group of channels in an example: (n, ..., channels), Wu and He, 2018, with Keras's defaults. PyTorch's epsilon is
    1e-5.

    groups: the number of groups, each of as many neighbouring channels. center, scale: add beta and gamma, of shape
    (channels,). ValueError: the channels are no multiple of the groups."""

    def __init__(self, groups: int = 32, *, epsilon: float = 0.001, center: bool = True, scale: bool = True):
        super().__init__(epsilon, center, scale)
        self.groups = as_count(self, "groups", groups)

    def normalized(self, x, gamma, beta, training):
        center, spread = self.of_groups(x, *_of_channels(x))
        spread = rsqrt(spread + self.epsilon)
        between = range(1, len(x.shape) - 1)
        return affine(x, _inserted(center, between), _inserted(spread, between), gamma, beta)

    def of_groups(self, x, means, variances):
        """Returns each channel's group's mean and variance, from the channels' means and variances, (n, channels)."""
        channels = x.shape[-1]
        if channels % self.groups:
            raise mistake(self, f"Expected channels that are a multiple of {self.groups}, got {describe(x)}")
        each = channels // self.groups
        shape = (-1, self.groups, each)
        means = reshape(means, shape)
        center = mean(means, axis=2, keepdims=True)
        spread = variance(means, axis=2, keepdims=True)
        if variances is not None:  # the law of total variance
            spread = spread + mean(reshape(variances, shape), axis=2, keepdims=True)
        return [reshape(tile(part, (1, 1, each)), (-1, channels)) for part in (center, spread)]


class InstanceNorm(Normalization):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and population variance over all places of a
    channel in an example: (n, ..., channels), Ulyanov et al., 2016. It is GroupNorm with one channel in each group.
    PyTorch's epsilon is 1e-5, and its InstanceNorm has neither gamma nor beta by default.

    center, scale: add beta and gamma, of shape (channels,)."""

    def __init__(self, *, epsilon: float = 0.001, center: bool = True, scale: bool = True):
        super().__init__(epsilon, center, scale)

    def parameters_shape(self, x):
        channels = self.known_features(x)
        if len(x.shape) < 3:
            raise mistake(self, f"Expected a tensor of rank 3 or more, (n, ..., channels), got {describe(x)}")
        return (channels,)

    def normalized(self, x, gamma, beta, training):
        between = range(1, len(x.shape) - 1)
        spread = variance(x, axis=between, keepdims=True)
        return affine(x, mean(x, axis=between, keepdims=True), rsqrt(spread + self.epsilon), gamma, beta)


def _of_channels(x):
    """Returns the mean and variance of each channel over the axes between the batch and the channels, (n, channels);
    without such axes x itself, and None."""
    between = range(1, len(x.shape) - 1)
    return (mean(x, axis=between), variance(x, axis=between)) if between else (x, None)


def _inserted(x, axes):
    return expand_dims(x, axis=axes) if axes else x
