"""The nodes of ONNX that Alloy's ops are written as."""

import math

import numpy as np

from alloy.engine.dtypes import is_float, is_half, is_integer, numpy_dtype
from alloy.onnx.writer import writes

_SAME = {
    "identity": "Identity",
    "stop_gradient": "Identity",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "reciprocal": "Reciprocal",
    "abs": "Abs",
    "negative": "Neg",
    "sign": "Sign",
    "tanh": "Tanh",
    "erf": "Erf",
    "floor": "Floor",
    "ceil": "Ceil",
    "rint": "Round",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "bitwise_not": "BitwiseNot",
    "is_nan": "IsNaN",
    "is_infinite": "IsInf",
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "power": "Pow",
    "minimum": "Min",
    "maximum": "Max",
    "minimum_propagate_nan": "Min",
    "maximum_propagate_nan": "Max",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "matmul": "MatMul",
}


@writes(*_SAME)
def same(writer, one):
    if one.op == "add":
        normalized = batch_norm(writer, one)
        if normalized is not None:
            return normalized
    if one.op == "matmul" and (one.attributes.get("transpose_a") or one.attributes.get("transpose_b")):
        raise writer.refused(one, "of transposed matrices")
    name = one.results[0].name
    return writer.node(_SAME[one.op], *one.operands, name=name)


def batch_norm(writer, one):
    """Writes BatchNormalization for (x - mean) * (rsqrt(variance + epsilon) * gamma) + beta of variables, so that
    whoever loads the file can train it; returns None for anything else."""
    product = writer.source(one.operands[0], "multiply")
    centred = product and writer.source(product.operands[0], "subtract")
    if not centred:
        return None
    factor, axis = _along(writer, product.operands[1])
    factor = writer.source(factor, "multiply")
    spread = factor and writer.source(factor.operands[0], "rsqrt")
    shifted = spread and writer.source(spread.operands[0], "add")
    if not shifted:
        return None
    mean, axis_of_mean = _along(writer, centred.operands[1])
    beta, axis_of_beta = _along(writer, one.operands[1])
    variance, epsilon, gamma, x = *shifted.operands, factor.operands[1], centred.operands[0]
    values = gamma, beta, mean, variance
    number = writer.tensors.get(writer.names.get(epsilon, ""))
    if number is None or number.size != 1 or not axis == axis_of_mean == axis_of_beta:
        return None
    if any(_is_computed(writer, value) or len(value.shape) != 1 for value in values):
        return None
    rank = len(x.shape)
    if rank < 2 or x.shape[1 if axis else -1] != gamma.shape[0] or x.dtype != "float32":
        return None
    first = writer.transposed(x, (0, rank - 1, *range(1, rank - 1))) if not axis and rank > 2 else x
    options = {"epsilon": float(number.reshape(())), "momentum": writer.momenta.get(mean, 0.9)}
    made = writer.node("BatchNormalization", first, *values, name=one.results[0].name, **options)
    return writer.transposed(made, (0, *range(2, rank), 1)) if not axis and rank > 2 else made


def _along(writer, tensor):
    """Returns values of the channels, and whether they lie along axis 1, before other axes."""
    expanded = writer.source(tensor, "expand_dims")
    if expanded and list(expanded.attributes["axes"]) == list(range(1, len(expanded.attributes["axes"]) + 1)):
        return expanded.operands[0], True
    return tensor, False


def _is_computed(writer, tensor) -> bool:
    return writer.names.get(tensor) not in writer.tensors


@writes(
    "log2",
    "log10",
    "exp2",
    "exp10",
    "square",
    "rsqrt",
    "trunc",
    "round",
    "is_finite",
    "not_equal",
    "divide_no_nan",
    "mod",
    "fmod",
)
def composed(writer, one):
    x, node = one.operands[0], writer.node
    number = lambda value: writer.number(x, value)  # noqa: E731
    if one.op in ("log2", "log10"):
        return node("Mul", node("Log", x), number(1 / math.log(int(one.op[3:]))))
    if one.op in ("exp2", "exp10"):
        return node("Pow", number(int(one.op[3:])), x)
    if one.op == "square":
        return node("Mul", x, x)
    if one.op == "rsqrt":
        return node("Reciprocal", node("Sqrt", x))
    if one.op == "trunc":
        return node("Mul", node("Sign", x), node("Floor", node("Abs", x)))
    if one.op == "round":  # halves away from zero
        return node("Mul", node("Sign", x), node("Floor", node("Add", node("Abs", x), number(0.5))))
    if one.op == "is_finite":
        return node("Not", node("Or", node("IsNaN", x), node("IsInf", x)))
    if one.op == "not_equal":
        return node("Not", node("Equal", *one.operands))
    if one.op == "divide_no_nan":
        zero = number(0)
        return node("Where", node("Equal", one.operands[1], zero), zero, node("Div", *one.operands))
    if one.op == "fmod" or is_integer(x.dtype):
        return node("Mod", *one.operands, fmod=int(one.op == "fmod"))
    return node("Sub", x, node("Mul", node("Floor", node("Div", *one.operands)), one.operands[1]))


@writes("left_shift", "right_shift")
def shift(writer, one):
    if not one.operands[0].dtype.startswith("u"):
        raise writer.refused(one, "ONNX shifts unsigned integers")
    return writer.node("BitShift", *one.operands, direction=one.op.partition("_")[0].upper())


@writes("logical_not", *(f"logical_{word}" for word in "and or xor nand nor xnor".split()))
def logic(writer, one):
    """Writes truth as 0 or 1 in the type of the operands."""
    dtype, word = one.operands[0].dtype, one.op.partition("_")[2]
    bools = [x if x.dtype == "bool" else writer.cast(x, "bool") for x in one.operands]
    if word == "not":
        made = writer.node("Not", *bools)
    else:
        inverts = word.startswith(("n", "xn"))
        made = writer.node({"and": "And", "nand": "And", "or": "Or", "nor": "Or"}.get(word, "Xor"), *bools)
        made = writer.node("Not", made) if inverts else made
    return made if dtype == "bool" else writer.cast(made, dtype)


@writes("select")
def select(writer, one):
    condition, a, b = one.operands
    return writer.node("Where", condition if condition.dtype == "bool" else writer.cast(condition, "bool"), a, b)


@writes("clamp")
def clamp(writer, one):
    return writer.node("Min", writer.node("Max", *one.operands[:2]), one.operands[2])


@writes("leaky_relu")
def leaky_relu(writer, one):
    return writer.node("Max", one.operands[0], writer.node("Mul", *one.operands))


@writes("cast")
def cast(writer, one):
    return writer.cast(one.operands[0], one.results[0].dtype)


# ---- reductions ----

_REDUCTIONS = {
    "sum": "ReduceSum",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "product": "ReduceProd",
    "max_propagate_nan": "ReduceMax",
    "min_propagate_nan": "ReduceMin",
    "mean": "ReduceMean",
}


def _axes(one):
    rank = len(one.operands[0].shape)
    return [axis % rank for axis in one.attributes["axes"]]


@writes(*_REDUCTIONS)
def reduction(writer, one):
    x, axes = one.operands[0], _axes(one)
    return writer.node(_REDUCTIONS[one.op], x, writer.integers(axes)) if axes else writer.node("Identity", x)


@writes("variance")
def variance(writer, one):
    x, axes = one.operands[0], writer.integers(_axes(one))
    if not axes.size:  # which ONNX takes for all
        return writer.node("Sub", x, x)
    centred = writer.node("Sub", x, writer.node("ReduceMean", x, axes))
    return writer.node("ReduceMean", writer.node("Mul", centred, centred), axes)


@writes("all", "any")
def truth(writer, one):
    x = one.operands[0]
    if not len(one.attributes["axes"]):
        return writer.node("Identity", x)
    numbers = writer.cast(writer.cast(x, "bool"), "int32")
    op = "ReduceMin" if one.op == "all" else "ReduceMax"
    return writer.cast(writer.node(op, numbers, writer.integers(_axes(one))), x.dtype)


@writes("argmax", "argmin")
def position(writer, one):
    axis = one.attributes["axis"] % len(one.operands[0].shape)
    op = "ArgMax" if one.op == "argmax" else "ArgMin"
    return writer.cast(writer.node(op, one.operands[0], axis=axis, keepdims=1), "int32")


@writes("softmax", "log_softmax")
def softmax(writer, one):
    op = "Softmax" if one.op == "softmax" else "LogSoftmax"
    return writer.node(op, one.operands[0], axis=int(one.attributes["axis"]), name=one.results[0].name)


@writes("cumulative")
def cumulative(writer, one):
    attributes = one.attributes
    if attributes["operation"] != "sum":
        raise writer.refused(one, f"of a {attributes['operation']}")
    axis = np.array(attributes["axis"], np.int64)
    options = {key: int(attributes[key]) for key in ("exclusive", "reverse")}
    return writer.node("CumSum", one.operands[0], axis, **options)


@writes("sort", "argsort", "top_k")
def top_k(writer, one):
    x, attributes = one.operands[0], one.attributes
    axis = attributes["axis"] % len(x.shape)
    count = attributes.get("count", -1)
    if count == -1:
        count = x.shape[axis]
    if count is None:
        raise writer.refused(one, "of an extent that is not known")
    largest = int(bool(attributes["descending"]))
    values, places = writer.node("TopK", x, writer.integers([count]), count=2, axis=axis, largest=largest, sorted=1)
    return {"sort": values, "argsort": writer.cast(places, "int32")}.get(one.op) or [
        values,
        writer.cast(places, "int32"),
    ]


# ---- shapes ----


@writes("reshape")
def reshape(writer, one):
    extents = one.attributes["shape"]
    if sum(extent is None for extent in extents) > 1:
        raise writer.refused(one)
    return writer.node(
        "Reshape", one.operands[0], writer.integers(-1 if extent is None else extent for extent in extents)
    )


@writes("reshape_like")
def reshape_like(writer, one):
    return writer.node("Reshape", one.operands[0], _shape(writer, one.operands[1]))


@writes("broadcast_like")
def broadcast_like(writer, one):
    return writer.node("Expand", one.operands[0], _shape(writer, one.operands[1]))


def _shape(writer, like):
    """Returns the tensor's shape as int64."""
    shaped = writer.source(like, "shaped")
    return _as_int64(writer, shaped.operands[0]) if shaped else writer.node("Shape", like)


@writes("shaped")
def shaped(writer, one):
    value = np.zeros(1, numpy_dtype(one.results[0].dtype))
    from onnx import numpy_helper

    return writer.node("ConstantOfShape", _as_int64(writer, one.operands[0]), value=numpy_helper.from_array(value))


@writes("broadcast_to")
def broadcast_to(writer, one):
    extents = one.attributes["shape"]
    return writer.node(
        "Expand", one.operands[0], writer.integers(1 if extent is None else extent for extent in extents)
    )


@writes("squeeze", "expand_dims")
def squeeze(writer, one):
    axes = one.attributes["axes"]
    if not len(axes):
        return writer.node("Identity", one.operands[0])
    op = "Squeeze" if one.op == "squeeze" else "Unsqueeze"
    return writer.node(op, one.operands[0], writer.integers(axes))


@writes("flatten2d")
def flatten(writer, one):
    return writer.node("Flatten", one.operands[0], axis=int(one.attributes["axis"]))


@writes("transpose")
def transpose(writer, one):
    rank = len(one.operands[0].shape)
    return writer.transposed(one.operands[0], [axis % rank for axis in one.attributes["permutation"]])


@writes("slice")
def slice_of(writer, one):
    bounds = list(zip(*(one.attributes[key] for key in ("starts", "ends", "strides"))))
    cut = [axis for axis, bound in enumerate(bounds) if tuple(bound) != (0, 2**63 - 1, 1)]
    starts, ends, strides = (writer.integers(bounds[axis][i] for axis in cut) for i in range(3))
    return writer.node("Slice", one.operands[0], starts, ends, writer.integers(cut), strides)


@writes("reverse")
def reverse(writer, one):
    axes = _axes(one)
    starts, ends, steps = ([value] * len(axes) for value in (-1, -(2**63), -1))
    return writer.node("Slice", one.operands[0], *map(writer.integers, (starts, ends, axes, steps)))


@writes("concat")
def concat(writer, one):
    return writer.node("Concat", *one.operands, axis=int(one.attributes["axis"]))


@writes("stack")
def stack(writer, one):
    axis = one.attributes["axis"] % len(one.results[0].shape)
    parts = [writer.node("Unsqueeze", x, writer.integers([axis])) for x in one.operands]
    return writer.node("Concat", *parts, axis=axis)


@writes("split", "split_evenly")
def split(writer, one):
    axis = one.attributes["axis"] % len(one.operands[0].shape)
    sizes = [result.shape[axis] for result in one.results]
    if len(sizes) == 1:
        return writer.node("Identity", one.operands[0])
    return writer.node("Split", one.operands[0], writer.integers(sizes), count=len(sizes), axis=axis)


@writes("tile")
def tile(writer, one):
    return writer.node("Tile", one.operands[0], writer.integers(one.attributes["repeats"]))


@writes("pad_edges")
def pad(writer, one):
    mode, pairs = one.attributes["pad_mode"], one.attributes["padding"]
    if mode not in ("constant", "reflect", "edge"):
        raise writer.refused(one, f"of the mode {mode}")
    pads = writer.integers([*pairs[::2], *pairs[1::2]])
    return writer.node("Pad", one.operands[0], pads, *one.operands[1:], mode=mode)


@writes("pad")
def pad_with(writer, one):
    pairs = one.attributes["padding"]
    return writer.node("Pad", one.operands[0], writer.integers([*pairs[::2], *pairs[1::2]]), one.operands[1])


@writes("space_to_batch", "batch_to_space")
def blocks(writer, one):
    """Writes blocks that go into the channels, or come from them."""
    x, attributes = one.operands[0], one.attributes
    axes, axis, size = (list(np.reshape(attributes[key], -1)) for key in ("axes", "axis", "size"))
    layout = {"[1, 2, 3]": "NHWC", "[2, 3, 1]": "NCHW"}.get(str([int(i) % 4 for i in (*axes, *axis)]))
    shuffles = bool(attributes["pixel_shuffle"])
    if len(x.shape) != 4 or layout is None or size[0] != size[1] or (shuffles and one.op == "space_to_batch"):
        raise writer.refused(one, "of other blocks than squares of images that are channels")
    options: dict = {"blocksize": int(size[0])}
    if one.op == "batch_to_space":
        options["mode"] = "CRD" if shuffles else "DCR"
    op = "SpaceToDepth" if one.op == "space_to_batch" else "DepthToSpace"
    return _channels_back(writer, writer.node(op, _channels_first(writer, x, layout), **options), layout)


@writes("shape_of")
def shape_of(writer, one):
    return writer.cast(writer.node("Shape", one.operands[0]), "int32")


@writes("coordinates")
def coordinates(writer, one):
    x, axis = one.operands[0], one.attributes["axis"] % len(one.operands[0].shape)
    places = np.arange(x.shape[axis], dtype=np.int32).reshape([-1] + [1] * (len(x.shape) - axis - 1))
    return writer.node("Expand", places, writer.node("Shape", x))


@writes("band_part")
def band_part(writer, one):
    made, lower, upper = one.operands[0], one.attributes["lower"], one.attributes["upper"]
    if lower >= 0:
        made = writer.node("Trilu", made, np.array(-lower, np.int64), upper=1)
    if upper >= 0:
        made = writer.node("Trilu", made, np.array(upper, np.int64), upper=0)
    return made if isinstance(made, str) else writer.node("Identity", made)


@writes("resize")
def resize(writer, one):
    attributes, mode = one.attributes, one.attributes["resize_mode"]
    rounding = attributes["rounding"]
    if len(one.operands) > 1 or (mode == "nearest" and rounding in ("round_to_even", "round_to_odd")):
        raise writer.refused(one, "with a scale and an offset" if len(one.operands) > 1 else f"with {rounding}")
    position = (
        "align_corners" if attributes["align_corners"] else "half_pixel" if attributes["center"] else "asymmetric"
    )
    options = {"nearest_mode": rounding} if mode == "nearest" else {}
    x, rank = one.operands[0], len(one.operands[0].shape)
    sizes = {int(axis) % rank: int(size) for axis, size in zip(attributes["axes"], attributes["size"])}
    own = writer.node("Shape", x)  # of all axes: not every runtime takes the sizes of some
    parts = [writer.integers([sizes[i]]) if i in sizes else _piece(writer, own, i) for i in range(rank)]
    return writer.node(
        "Resize",
        x,
        "",
        "",
        writer.node("Concat", *parts, axis=0),
        mode="nearest" if mode == "nearest" else "linear",
        coordinate_transformation_mode=position,
        **options,
    )


def _piece(writer, shape, axis):
    return writer.node("Slice", shape, writer.integers([axis]), writer.integers([axis + 1]))


# ---- positions ----


@writes("gather")
def gather(writer, one):
    x, places = one.operands
    batch, axis = one.attributes["batch_dims"], one.attributes["axis"] % len(x.shape)
    places = places if places.dtype in ("int32", "int64") else writer.cast(places, "int64")
    if batch == 0:
        return writer.node("Gather", x, places, axis=axis)
    if axis != batch:
        raise writer.refused(one, "with axes between the batch's and the axis")
    tuples = writer.node("Unsqueeze", places, writer.integers([-1]))
    return writer.node("GatherND", x, _as_int64(writer, tuples), batch_dims=int(batch))


def _as_int64(writer, value):
    return writer.cast(value, "int64")


@writes("gather_nd")
def gather_nd(writer, one):
    return writer.node(
        "GatherND", one.operands[0], _as_int64(writer, one.operands[1]), batch_dims=int(one.attributes["batch_dims"])
    )


@writes("gather_along_axis")
def gather_along_axis(writer, one):
    return writer.node(
        "GatherElements", one.operands[0], _as_int64(writer, one.operands[1]), axis=int(one.attributes["axis"])
    )


_MODES = {"set": "none", "add": "add", "multiply": "mul", "minimum": "min", "maximum": "max"}


@writes("scatter_along_axis", "scatter_nd_update", "scatter")
def scatter(writer, one):
    data, updates, places = one.operands
    attributes = one.attributes
    mode = _MODES.get(attributes["mode"])
    if mode is None or attributes.get("batch_dims") or (one.op == "scatter" and attributes["axis"] != 0):
        raise writer.refused(one)
    places = _as_int64(writer, places)
    if one.op == "scatter_along_axis":
        return writer.node("ScatterElements", data, places, updates, axis=int(attributes["axis"]), reduction=mode)
    if one.op == "scatter":
        places = writer.node("Unsqueeze", places, writer.integers([-1]))
    return writer.node("ScatterND", data, places, updates, reduction=mode)


@writes("one_hot")
def one_hot(writer, one):
    """Compares with all positions: ONNX's OneHot counts negative ones from the end."""
    x, (y, *_) = one.operands[0], one.results
    axis = one.attributes["axis"] % len(y.shape)
    places = np.arange(one.attributes["depth"]).astype(numpy_dtype(x.dtype))
    places = places.reshape([-1] + [1] * (len(y.shape) - axis - 1))
    there = writer.node("Equal", writer.node("Unsqueeze", x, writer.integers([axis])), places)
    if len(one.operands) == 3:
        return writer.node("Where", there, *one.operands[1:])
    return there if y.dtype == "bool" else writer.cast(there, y.dtype)


# ---- networks ----


@writes("scaled_dot_product_attention")
def attention(writer, one):
    query, key, value, *mask = one.operands
    rank, dtype = len(key.shape), query.dtype
    wide = [writer.cast(x, "float32") if is_half(x.dtype) else x for x in (query, key, value, *mask)]
    turned = writer.transposed(wide[1], (*range(rank - 2), rank - 1, rank - 2))
    scores = writer.node("Mul", writer.node("MatMul", wide[0], turned), np.array(one.attributes["scale"], np.float32))
    scores = writer.node("Add", scores, wide[3]) if mask else scores
    y = writer.node("MatMul", writer.node("Softmax", scores, axis=-1), wide[2], name=one.results[0].name)
    return writer.cast(y, dtype) if is_half(dtype) else y


def _windows(attributes, axes) -> dict:
    """Returns strides, dilations and padding over the last `axes` of those that the attributes have."""
    made = {
        key: [int(value) for value in attributes[key]][-axes:] for key in ("strides", "dilations") if key in attributes
    }
    style, pads = attributes["padding_style"], list(attributes["padding"])
    if style in ("same", "same_lower"):
        return made | {"auto_pad": "SAME_UPPER" if style == "same" else "SAME_LOWER"}
    pads = pads[-2 * axes :] if style == "explicit" else [0] * (2 * axes)
    return made | {"pads": [int(pad) for pad in (*pads[::2], *pads[1::2])]}


def _channels_first(writer, x, layout):
    rank = len(layout)
    return writer.transposed(x, (0, rank - 1, *range(1, rank - 1))) if layout.endswith("C") else x


def _channels_back(writer, y, layout):
    rank = len(layout)
    return writer.transposed(y, (0, *range(2, rank), 1)) if layout.endswith("C") else y


def _weights(writer, weights, layout):
    """Returns the weights as (filters, channels, ...)."""
    rank = len(layout)
    return writer.transposed(weights, (rank - 1, rank - 2, *range(rank - 2))) if layout.endswith("IO") else weights


@writes("conv2d", "conv3d")
def conv(writer, one):
    x, weights = one.operands
    attributes, layout = one.attributes, one.attributes["data_layout"]
    options = _windows(attributes, len(layout) - 2) | {"group": int(attributes["groups"])}
    first, filters = _channels_first(writer, x, layout), _weights(writer, weights, attributes["weights_layout"])
    return _channels_back(writer, writer.node("Conv", first, filters, name=one.results[0].name, **options), layout)


@writes("depthwise_conv2d")
def depthwise_conv2d(writer, one):
    x, weights = one.operands
    attributes, layout = one.attributes, one.attributes["data_layout"]
    is_last = attributes["weights_layout"] == "HWIO"
    height, width, channels, each = weights.shape if is_last else [weights.shape[i] for i in (2, 3, 1, 0)]
    turned = writer.transposed(weights, (2, 3, 0, 1) if is_last else (1, 0, 2, 3))
    filters = writer.node("Reshape", turned, writer.integers([channels * each, 1, height, width]))
    options = _windows(attributes, 2) | {"group": int(channels)}
    first = _channels_first(writer, x, layout)
    return _channels_back(writer, writer.node("Conv", first, filters, name=one.results[0].name, **options), layout)


@writes("conv2d_transpose")
def conv2d_transpose(writer, one):
    x, weights = one.operands
    attributes, layout = one.attributes, one.attributes["data_layout"]
    places = slice(1, 3) if layout == "NHWC" else slice(2, 4)
    kernel = weights.shape[:2] if attributes["weights_layout"] == "HWIO" else weights.shape[2:]
    before, after = x.shape[places], one.results[0].shape[places]
    if None in before or None in after:
        raise writer.refused(one, "of images whose height and width are not known")
    pads, more = [[], []], []
    for i in range(2):
        stride, reach = attributes["strides"][i], (kernel[i] - 1) * attributes["dilations"][i] + 1
        pair = list(attributes["padding"][2 * i : 2 * i + 2])
        if attributes["padding_style"] == "same":
            total = max((before[i] - 1) * stride + reach - after[i], 0)
            pair = [total // 2, total - total // 2]
        elif attributes["padding_style"] == "valid":
            pair = [0, 0]
        more.append(after[i] - ((before[i] - 1) * stride + reach - sum(pair)))
        pads[0].append(int(pair[0]))
        pads[1].append(int(pair[1]))
    made = writer.node(
        "ConvTranspose",
        _channels_first(writer, x, layout),
        _weights(writer, weights, attributes["weights_layout"]),
        strides=[int(stride) for stride in attributes["strides"]],
        dilations=[int(dilation) for dilation in attributes["dilations"]],
        group=int(attributes["groups"]),
        pads=[*pads[0], *pads[1]],
        output_padding=[int(extent) for extent in more],
        name=one.results[0].name,
    )
    return _channels_back(writer, made, layout)


@writes("max_pool2d", "avg_pool2d")
def pool2d(writer, one):
    attributes, layout = one.attributes, one.attributes["data_layout"]
    return _pooled(writer, one, attributes, layout)


@writes("depthwise_conv3d")
def depthwise_conv3d(writer, one):
    x, weights = one.operands
    rank, axis = len(x.shape), one.attributes["axis"]
    if rank != 5 or axis not in (-1, -4, 3, 0):
        raise writer.refused(one, "with the channels in between")
    layout = "NDHWC" if axis in (-1, 3) else "NCDHW"
    turned = writer.transposed(weights, (3, 0, 1, 2)) if layout == "NDHWC" else weights
    filters = writer.node("Unsqueeze", turned, writer.integers([1]))
    options = _windows(one.attributes, 3) | {"group": int(weights.shape[axis])}
    return _channels_back(writer, writer.node("Conv", _channels_first(writer, x, layout), filters, **options), layout)


@writes("max_pool4d", "avg_pool4d")
def pool4d(writer, one):
    attributes, rank = dict(one.attributes), len(one.operands[0].shape)
    window, strides = list(attributes["window"]), list(attributes["strides"])
    still = [i for i in range(4) if window[i] == strides[i] == 1]
    if rank != 4 or not ({0, 1} <= {*still} or {0, 3} <= {*still}):
        raise writer.refused(one, "over other axes than height and width")
    layout = "NCHW" if {0, 1} <= {*still} else "NHWC"
    places = [2, 3] if layout == "NCHW" else [1, 2]
    attributes |= {key: [attributes[key][i] for i in places] for key in ("window", "strides", "dilations")}
    attributes["padding"] = [attributes["padding"][2 * i + side] for i in places for side in (0, 1)]
    return _pooled(writer, one, attributes, layout)


def _pooled(writer, one, attributes, layout):
    options = _windows(attributes, 2) | {"kernel_shape": [int(extent) for extent in attributes["window"]]}
    options["ceil_mode"] = int(bool(attributes.get("ceil_mode")))
    op = "MaxPool" if one.op.startswith("max") else "AveragePool"
    if op == "AveragePool":
        options["count_include_pad"] = int(bool(attributes.get("include_padding")))
        if set(options["dilations"]) != {1}:
            raise writer.refused(one, "with dilations")
    if op == "AveragePool" or options["dilations"] == [1, 1]:
        del options["dilations"]  # AveragePool has them since opset 19
    made = writer.node(op, _channels_first(writer, one.operands[0], layout), name=one.results[0].name, **options)
    return _channels_back(writer, made, layout)


# ---- recurrent cells ----

_ACTIVATIONS = ("Affine", "Relu", "Tanh", "Sigmoid", "HardSigmoid")


def _cell(writer, one, gates: int, op: str, chosen, order, states, **options):
    """Writes a recurrent node. chosen: its activations. order: of the gates. states: the initial ones. Returns the
    states of all steps, (steps, batch, units)."""
    recurrent = one.operands[1]
    units = recurrent.shape[1]
    x, weights, bias = _product(writer, one.operands[0], gates * units)
    node = writer.node
    ordered = lambda value: _ordered(writer, value, gates, order)  # noqa: E731
    first = lambda value: node("Unsqueeze", value, writer.integers([0]))  # noqa: E731
    secondary = options.pop("secondary", None)
    rest = np.zeros(gates * units, np.float32)
    if secondary is not None:
        rest = node("Concat", np.zeros((gates - 1) * units, np.float32), secondary, axis=0)
    both = node("Concat", np.zeros(gates * units, np.float32) if bias is None else ordered(bias), rest, axis=0)
    names = [_ACTIVATIONS[index] for index in chosen]
    if "Affine" in names or "HardSigmoid" in names:
        options["activation_alpha"] = [{"Affine": 1.0, "HardSigmoid": 0.2}.get(name, 0.0) for name in names]
        options["activation_beta"] = [{"HardSigmoid": 0.5}.get(name, 0.0) for name in names]
    y = writer.free(op.lower())
    inputs = [x, first(ordered(weights)), first(ordered(recurrent)), first(both), "", *(first(s) for s in states)]
    options |= {"direction": "reverse" if one.attributes["reverse"] else "forward", "activations": names}
    from onnx import helper

    given = [writer.name_of(value) for value in inputs]
    outputs = [y] if op != "LSTM" else [y, "", ""]
    writer.nodes.append(helper.make_node(op, given, outputs, y, hidden_size=int(units), **options))
    return node("Squeeze", y, writer.integers([1]), name=one.results[0].name)


def _ordered(writer, value, gates, order):
    if order is None:
        return value
    parts = writer.node("Split", value, count=gates, axis=0, num_outputs=gates)
    return writer.node("Concat", *(parts[i] for i in order), axis=0)


def _product(writer, sums, wide):
    """Returns (x, weights, bias) of which the sums of the gates are x weights^T + bias; where these cannot be found,
    the sums themselves with ones on the diagonal."""
    shaped = writer.source(sums, "reshape")
    product = shaped and writer.source(shaped.operands[0], "add", "matmul")
    bias = None
    if product and product.op == "add":
        bias = product.operands[1]
        product = writer.source(product.operands[0], "matmul")
    if product:
        flat, turned = writer.source(product.operands[0], "reshape"), writer.source(product.operands[1], "transpose")
        if flat and turned and len(flat.operands[0].shape or ()) == 3 and (bias is None or bias.shape == (wide,)):
            return flat.operands[0], turned.operands[0], bias
    return sums, np.eye(wide, dtype=np.float32), None


def _require_plain(writer, one):
    if one.attributes["masked"]:
        raise writer.refused(one, "with a mask of the states")
    if any(not is_float(x.dtype) or is_half(x.dtype) for x in one.operands):
        raise writer.refused(one, "in 16 bits")


@writes("rnn")
def rnn(writer, one):
    _require_plain(writer, one)
    return _cell(writer, one, 1, "RNN", one.attributes["activations"], None, one.operands[2:3])


@writes("gru")
def gru(writer, one):
    _require_plain(writer, one)
    update, reset, candidate = one.attributes["activations"]
    if update != reset or one.attributes["flip_z"]:
        raise writer.refused(one, "with flip_z, or with gates of different activations")
    after = bool(one.attributes["reset_after"])
    options = {"secondary": one.operands[3]} if after else {}
    chosen = [update, candidate]
    return _cell(writer, one, 3, "GRU", chosen, None, one.operands[2:3], linear_before_reset=int(after), **options)


@writes("lstm")
def lstm(writer, one):
    """Writes the states; ONNX gives the last cell alone, so those of all steps are refused."""
    _require_plain(writer, one)
    i, f, z, o, cell = one.attributes["activations"]
    if not i == f == o or one.attributes["peephole"]:
        raise writer.refused(one, "with peepholes, or with gates of different activations")
    return [_cell(writer, one, 4, "LSTM", [i, z, cell], (0, 3, 1, 2), one.operands[2:4])]


_COMPLEX = "ONNX has complex numbers in few ops"
_GRADIENT = "it is of a gradient"
_CONTROL = "loops and conditions are not written"
_RANDOM = "its numbers would be other ones elsewhere"
_QUANTIZED = "quantized numbers are not written"
# Ops that are not written, with the reason.
NOT_WRITTEN = {
    "absolute_square": _COMPLEX,
    "accumulate": "only sums are written",
    "adam": "it is an optimizer's",
    "all_reduce": "it is of several processes",
    "argument": _CONTROL,
    "assign": "the file would change variables",
    "atan2": "ONNX has no such op",
    "avg_pool2d_gradient": _GRADIENT,
    "avg_pool4d_gradient": _GRADIENT,
    "bitcast": "ONNX has none before opset 26",
    "col2im": "ONNX's has no such layout",
    "complex": _COMPLEX,
    "conjugate": _COMPLEX,
    "constant": "it is a tensor of the file",
    "conv2d_data_gradient": _GRADIENT,
    "conv2d_weights_gradient": _GRADIENT,
    "conv3d_data_gradient": _GRADIENT,
    "conv3d_weights_gradient": _GRADIENT,
    "count": _GRADIENT,
    "custom_gradient": _GRADIENT,
    "depthwise_conv2d_data_gradient": _GRADIENT,
    "depthwise_conv2d_weights_gradient": _GRADIENT,
    "depthwise_conv3d_data_gradient": _GRADIENT,
    "depthwise_conv3d_weights_gradient": _GRADIENT,
    "dequantize": _QUANTIZED,
    "dequantize_lut": _QUANTIZED,
    "dropout": _RANDOM,
    "empty": "it has no elements that are known",
    "fft": _COMPLEX,
    "for_loop": _CONTROL,
    "fourier_transform": _COMPLEX,
    "fresh_random_state": _RANDOM,
    "fused": "it is a device's",
    "gru_gradient": _GRADIENT,
    "hamming_distance": "ONNX counts no bits",
    "if_else": _CONTROL,
    "im2col": "ONNX has no such op",
    "imag": _COMPLEX,
    "interleave": "al.stack and al.reshape say the same",
    "inverse": "ONNX has no such op",
    "irfft": _COMPLEX,
    "l2_pool4d": "al.avg_pool4d of squares says the same",
    "l2_pool4d_gradient": _GRADIENT,
    "leaky_relu_gradient": _GRADIENT,
    "lstm_gradient": _GRADIENT,
    "max_pool2d_gradient": _GRADIENT,
    "max_pool4d_gradient": _GRADIENT,
    "max_pool4d_gradient_with_indices": _GRADIENT,
    "max_pool4d_with_indices": "ONNX numbers the places in another way",
    "native": "it is a function of a library of yours",
    "pad_gradient": _GRADIENT,
    "placeholder": "it is an input of something else than the model",
    "planar": _COMPLEX,
    "population_count": "ONNX counts no bits",
    "quantize": _QUANTIZED,
    "random": _RANDOM,
    "read_variable": "the file would change variables",
    "real": _COMPLEX,
    "reduce_like": _GRADIENT,
    "relu_gradient": _GRADIENT,
    "resize_gradient": _GRADIENT,
    "rfft": _COMPLEX,
    "rnn_gradient": _GRADIENT,
    "scaled_dot_product_attention_gradient": _GRADIENT,
    "scatter_nd": _GRADIENT,
    "scatter_start": "its shape is that of a whole file, not of a batch",
    "sgd": "it is an optimizer's",
    "sigmoid_gradient": _GRADIENT,
    "signbit": "ONNX reads no bits",
    "slice_gradient": _GRADIENT,
    "slice_update": "al.concat of parts, or al.where, says the same",
    "softmax_cross_entropy": "it is a loss",
    "tile_gradient": _GRADIENT,
    "top_k_gradient": _GRADIENT,
    "variable": "it is a tensor of the file",
    "view_as_complex": _COMPLEX,
    "view_as_real": _COMPLEX,
    "while_loop": _CONTROL,
}
