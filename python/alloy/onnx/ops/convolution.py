"""Convolutions and pooling, with the channels before the places."""

import math

from alloy import ops
from alloy.onnx.node import supports, volume


def _windows(node, x, kernel):
    """Returns (strides, dilations, pairs of paddings) for windows of these extents over the axes after the second."""
    axes = len(kernel)
    strides, dilations = node.integers("strides", axes, [1] * axes), node.integers("dilations", axes, [1] * axes)
    pads = node.integers("pads", 2 * axes, [0] * (2 * axes))
    auto = node.word("auto_pad", "NOTSET", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if min([*strides, *dilations, *kernel]) < 1 or min(pads) < 0:
        raise node.wrong(f"Expected strides of 1 or more and paddings of 0 or more, got {strides} and {pads}")
    if auto.startswith("SAME"):
        pairs = []
        for i in range(axes):
            extent, reach = node.extent(x, i + 2), (kernel[i] - 1) * dilations[i] + 1
            total = max((-(-extent // strides[i]) - 1) * strides[i] + reach - extent, 0)
            small, large = total // 2, total - total // 2
            pairs.append((small, large) if auto == "SAME_UPPER" else (large, small))
        return strides, dilations, pairs
    return strides, dilations, list(zip(pads[:axes], pads[axes:])) if auto == "NOTSET" else [(0, 0)] * axes


def _images(node, x) -> int:
    """Returns the number of axes of places."""
    axes = len(x.shape) - 2
    if not 1 <= axes <= 3:
        raise node.wrong(f"Expected 1 to 3 axes of places, got {axes}")
    return axes


@supports("Conv", limits="1 to 3 axes of places")
def conv(node):
    x, weights, group = node.floats(0), node.floats(1), node.attribute("group", 1)
    axes = _images(node, x)
    kernel = [node.extent(weights, i + 2) for i in range(axes)]
    if node.integers("kernel_shape", axes, kernel) != kernel:
        raise node.wrong(f"Expected a kernel_shape of {kernel}")
    strides, dilations, pads = _windows(node, x, kernel)
    if axes == 1:
        x, weights = ops.expand_dims(x, 2), ops.expand_dims(weights, 2)
        strides, dilations, pads = [1, *strides], [1, *dilations], [(0, 0), *pads]
    function, layouts = (ops.conv3d, ("NCDHW", "OIDHW")) if axes == 3 else (ops.conv2d, ("NCHW", "OIHW"))
    y = function(
        x,
        weights,
        strides=strides,
        dilations=dilations,
        padding=pads,
        groups=group,
        data_layout=layouts[0],
        weights_layout=layouts[1],
    )
    return _with_bias(node, ops.squeeze(y, 2) if axes == 1 else y, axes)


def _with_bias(node, y, axes):
    return y + ops.expand_dims(node.floats(2), list(range(1, axes + 1))) if node.has(2) else y


@supports("ConvTranspose", limits="1 or 2 axes of places, of known extents")
def conv_transpose(node):
    x, weights, group = node.floats(0), node.floats(1), node.attribute("group", 1)
    axes = len(x.shape) - 2
    if not 1 <= axes <= 2:
        raise node.wrong(f"Expected 1 or 2 axes of places, got {axes}")
    kernel = [node.extent(weights, i + 2) for i in range(axes)]
    if node.integers("kernel_shape", axes, kernel) != kernel:
        raise node.wrong(f"Expected a kernel_shape of {kernel}")
    strides, dilations = node.integers("strides", axes, [1] * axes), node.integers("dilations", axes, [1] * axes)
    more, pads = node.integers("output_padding", axes, [0] * axes), node.integers("pads", 2 * axes, [0] * (2 * axes))
    shape, auto = node.integers("output_shape", None), node.attribute("auto_pad", "NOTSET")
    reaches = [(extent - 1) * dilation + 1 for extent, dilation in zip(kernel, dilations)]
    extents = [node.extent(x, i + 2) for i in range(axes)]
    if shape is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        shape = [extent * stride for extent, stride in zip(extents, strides)]
    pairs, sizes = [], []
    for i in range(axes):
        covered = (extents[i] - 1) * strides[i] + reaches[i] + more[i]
        pair = (pads[i], pads[axes + i]) if auto != "VALID" else (0, 0)
        if shape is not None:  # the paddings follow from it
            total = max(covered - shape[len(shape) - axes + i], 0)
            pair = (total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2)
        pairs.append(pair)
        sizes.append(covered - sum(pair) if shape is None else shape[len(shape) - axes + i])
    if axes == 1:
        x, weights = ops.expand_dims(x, 2), ops.expand_dims(weights, 2)
        strides, dilations, pairs, sizes = [1, *strides], [1, *dilations], [(0, 0), *pairs], [1, *sizes]
    y = ops.conv2d_transpose(
        x,
        weights,
        output_size=sizes,
        strides=strides,
        padding=pairs,
        dilations=dilations,
        groups=group,
        data_layout="NCHW",
        weights_layout="OIHW",
    )
    return _with_bias(node, ops.squeeze(y, 2) if axes == 1 else y, axes)


class _Pool:
    """The windows of a pooling: over the last four axes of a tensor, of which the first one or two hold still."""

    def __init__(self, node):
        self.x = node.floats(0)
        self.axes = _images(node, self.x)
        self.kernel = node.integers("kernel_shape", self.axes)
        if self.kernel is None:
            raise node.wrong("Expected a kernel_shape")
        self.ceil = node.flag("ceil_mode")
        self.strides, self.dilations, self.pads = _windows(node, self.x, self.kernel)
        self.is_plain = self.axes == 2 and not self.ceil and set(self.dilations) == {1}
        still = 4 - self.axes if self.axes > 1 else 3
        self.windows = {
            "window": [1] * still + self.kernel,
            "strides": [1] * still + self.strides,
            "padding": [(0, 0)] * still + self.pads,
            "dilations": [1] * still + self.dilations,
            "ceil_mode": self.ceil,
        }
        self.plain = {"window": self.kernel, "strides": self.strides, "padding": self.pads, "data_layout": "NCHW"}

    def image(self, x):
        return ops.expand_dims(x, 2) if self.axes == 1 else x

    def result(self, y):
        return ops.squeeze(y, 2) if self.axes == 1 else y


@supports("MaxPool", limits="1 to 3 axes of places; Indices of 1 or 2 axes, in row-major order")
def max_pool(node):
    pool, row_major = _Pool(node), node.attribute("storage_order", 0) == 0
    if not node.has_output(1):
        if pool.is_plain:
            return ops.max_pool2d(pool.x, **pool.plain)
        return pool.result(ops.max_pool4d(pool.image(pool.x), **pool.windows))
    if pool.axes == 3 or not row_major:
        raise node.wrong("Expected Indices of 1 or 2 axes, in row-major order")
    values, places = ops.max_pool4d_with_indices(pool.image(pool.x), indices="global_4d", **pool.windows)
    return [pool.result(values), pool.result(ops.cast(places, "int64"))]


@supports("AveragePool", limits="1 to 3 axes of places")
def average_pool(node):
    pool, counts = _Pool(node), node.flag("count_include_pad")
    if pool.is_plain and not counts:
        return ops.avg_pool2d(pool.x, **pool.plain)
    return pool.result(ops.avg_pool4d(pool.image(pool.x), include_padding=counts, **pool.windows))


@supports("LpPool", limits="1 to 3 axes of places")
def lp_pool(node):
    pool, p = _Pool(node), node.attribute("p", 2)
    powers = ops.power(abs(pool.image(pool.x)), float(p))
    mean = ops.avg_pool4d(powers, include_padding=True, **pool.windows)
    return pool.result(ops.power(mean * float(volume(pool.kernel)), 1.0 / p))


def _places(node, x):
    if len(x.shape) < 3:
        raise node.wrong("Expected axes of places")
    return range(2, len(x.shape))


@supports("GlobalAveragePool")
def global_average_pool(node):
    x = node.floats(0)
    return ops.mean(x, _places(node, x), keepdims=True)


@supports("GlobalMaxPool")
def global_max_pool(node):
    x = node.floats(0)
    return ops.max_propagate_nan(x, _places(node, x), keepdims=True)


@supports("GlobalLpPool")
def global_lp_pool(node):
    x, p = node.floats(0), float(node.attribute("p", 2))
    return ops.power(ops.sum(ops.power(abs(x), p), _places(node, x), keepdims=True), 1 / p)


@supports("LRN")
def lrn(node):
    x, size = node.floats(0), node.attribute("size", int)
    alpha, beta, bias = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75), node.attribute("bias", 1.0)
    channels = node.extent(x, 1)
    if size < 1:
        raise node.wrong(f"Expected a size of 1 or more, got {size}")
    pairs = [(0, 0)] * len(x.shape)
    pairs[1] = ((size - 1) // 2, size - 1 - (size - 1) // 2)
    squares = ops.cumsum(ops.pad(ops.square(x), [(0, 0), (pairs[1][0] + 1, pairs[1][1]), *pairs[2:]]), 1)
    sums = squares[:, size : size + channels] - squares[:, :channels]
    return x / ops.power(sums * (alpha / size) + bias, beta)


@supports("MaxUnpool", limits="known shapes")
def max_unpool(node):
    x, places = node.floats(0), ops.cast(node.tensor(1), "int32")
    axes = len(x.shape) - 2
    kernel = node.integers("kernel_shape", axes)
    strides, pads = node.integers("strides", axes, [1] * axes), node.integers("pads", 2 * axes, [0] * (2 * axes))
    extents = [node.extent(x, i) for i in range(len(x.shape))]
    inferred = [(extents[i + 2] - 1) * strides[i] - pads[i] - pads[axes + i] + kernel[i] for i in range(axes)]
    shape = node.known(2) if node.has(2) else [*extents[:2], *inferred]
    if shape[2:] != inferred:  # the places are of the image without the rest
        raise node.wrong(f"Expected an output_shape of {inferred}, got {shape[2:]}")
    zeros = (math.prod(shape),)
    return ops.reshape(ops.scatter(zeros, ops.reshape(places, -1), ops.reshape(x, -1), mode="set"), shape)
