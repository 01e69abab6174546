"""The one table of cases for ops: how each is called, on which shapes, and what it means in float64 NumPy.

An op of the table's families needs an entry in REFERENCES where NumPy has no function of its name; a structured op
needs rows in STRUCTURED and an entry in WRONG."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import alloy as al
import reference as ref
from alloy.engine.dtypes import numpy_dtype
from alloy.ops import table
from alloy.ops.apply import apply_all
from kinds import HALVES

FLOATS = ("float32", *HALVES)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TYPES = {"floating": FLOATS, "numeric": FLOATS + INTEGERS, "integer": INTEGERS, "any": FLOATS + INTEGERS + ("bool",)}
# Half of the distance from 1 to the next number.
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True)
class Case:
    op: str
    build: Callable  # tensors -> tensor
    reference: Callable  # float64 (or integer, or bool) arrays -> array
    shapes: tuple  # of the operands
    dtypes: tuple = FLOATS  # that the operands may have
    fixed: tuple = ()  # dtypes of single operands that never change, by position; None: one of dtypes
    result: str | None = None  # dtype of the result; None: the operands'
    domain: str = "real"
    wanted: tuple | None = None  # the operands to differentiate for; None: all; (): the op has no gradient
    empty: tuple | None = None  # other shapes of the operands, without elements
    label: str = ""

    def __str__(self):
        return " ".join([self.op, self.label or " ".join(str(shape).replace(" ", "") for shape in self.shapes)])


def sample(case: Case, dtype: str, rng, shapes=None) -> list[np.ndarray]:
    """Operands of which no two elements are nearer than the steps of a finite difference, so that no maximum
    is a tie."""
    shapes = case.shapes if shapes is None else shapes
    count = sum(int(np.prod(shape)) for shape in shapes)
    if dtype in FLOATS:
        steps = (rng.permutation(count) + rng.uniform(0.3, 0.7, count)) / max(count, 1)  # in (0, 1)
        values = {
            "fraction": 0.1 + 0.8 * steps,
            "positive": 0.5 + 2 * steps,
            "nonzero": (0.5 + 2 * steps) * rng.choice([-1, 1], count),
            "unit": 1.8 * steps - 0.9,
            "above_one": 1.1 + 2 * steps,
        }.get(case.domain, 4 * steps - 2)
    else:
        low, high = {"positive": (1, 4), "nonzero": (1, 4)}.get(case.domain, (-3, 4))
        low, signs = (max(low, 0), [1]) if dtype.startswith("u") else (low, [-1, 1])
        values = rng.integers(low, high, count) * (rng.choice(signs, count) if case.domain == "nonzero" else 1)
    arrays = np.split(values, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
    kinds = [fixed or dtype for fixed in case.fixed + (None,) * (len(shapes) - len(case.fixed))]
    return [
        np.asarray(array.reshape(shape) > 0 if kind == "bool" else array.reshape(shape), numpy_dtype(kind))
        if not kind.startswith("u")  # what becomes of a negative float depends on the processor
        else array.reshape(shape).astype(np.int64).astype(numpy_dtype(kind))
        for array, shape, kind in zip(arrays, shapes, kinds)
    ]


def raw(op, result=0, **attributes):
    """An op without a function of its own, with all its attributes."""
    return lambda *tensors: apply_all(op, list(tensors), attributes)[result]


def _call(function, *arguments, **options):
    """A function of al with all its arguments but the tensor."""
    return lambda x: getattr(al, function)(x, *arguments, **options)


# ---- the table's families ----


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _divide(a, b):
    return a / b if a.dtype == np.float64 else np.trunc(a / b)


def _mean(x, **over):
    mean = np.mean(x, **over)
    return mean if x.dtype == np.float64 else np.trunc(mean)


def _variance(x, **over):
    if x.dtype == np.float64:
        return np.var(x, **over)
    count, x = x.size // np.sum(x, **over).size, x.astype(np.int64)
    return (count * np.sum(x * x, **over) - np.sum(x, **over) ** 2) // count**2  # exact


def _over(reduce):
    """Over no axes the operand itself, as on Apple's framework."""
    return lambda x, axis, keepdims: x if axis == () else reduce(x, axis=axis, keepdims=keepdims)


# Of these a difference tells nothing where it crosses a step.
STEPS = {"floor", "ceil", "round", "rint", "trunc"}
# fmt: off
REFERENCES = {  # of ops that NumPy does not have under the same name, with the same meaning
    "identity": lambda x: x, "rsqrt": lambda x: x**-0.5, "relu": lambda x: np.maximum(x, 0), "sigmoid": _sigmoid,
    "relu_gradient": lambda g, x: np.where(x <= 0, 0, g),
    "sigmoid_gradient": lambda g, x: g * _sigmoid(x) * _sigmoid(-x), "divide": _divide, "divide_no_nan": np.divide,
    "is_nan": np.isnan, "is_infinite": np.isinf, "is_finite": np.isfinite,
    "exp10": lambda x: 10.0**x, "erf": np.vectorize(math.erf, otypes=[float]),
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "signbit": lambda x: np.signbit(x) if x.dtype == np.float64 else x < 0,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "minimum_propagate_nan": np.minimum, "maximum_propagate_nan": np.maximum,
    "population_count": lambda x: np.vectorize(lambda n: (int(n) % 2 ** (8 * x.itemsize)).bit_count(), otypes=[int])(x),
    "all": _over(np.all), "any": _over(np.any),
    "bitwise_not": np.invert, "logical_nand": lambda a, b: ~np.logical_and(a, b),
    "logical_nor": lambda a, b: ~np.logical_or(a, b), "logical_xnor": lambda a, b: ~np.logical_xor(a, b),
    "max_propagate_nan": np.max, "min_propagate_nan": np.min,
    "product": np.prod, "mean": _mean, "variance": _variance}
# fmt: on


def function_of(op):
    """The function that makes the table's op."""
    return getattr(al, table.NAMES.get(op, op))


def table_reference(op):
    reference = REFERENCES.get(op) or getattr(np, op, None)
    assert reference, f"{op}: add an entry to REFERENCES of tests/python/cases.py"
    return reference


_UNARY = [((2, 3),), ((),), ((70001,),)]
_BINARY = [((2, 3), (2, 3)), ((2, 1, 3), (4, 1)), ((3,), ()), ((), (2, 2)), ((1, 5), (3, 1))]
_AXES = [{}, {"axis": ()}, {"axis": 1}, {"axis": (0, -1)}, {"axis": (2, 1), "keepdims": True}]
_AXIS = [{}, {"axis": 0, "keepdims": True}, {"axis": 1}]


def _table_cases():
    for row in al.op_table():
        op, family = row["name"], row["family"]
        if family in ("structured", "ternary", "composite"):
            continue
        function, reference = function_of(op), table_reference(op)
        common = {"dtypes": TYPES[row["types"]], "domain": row["domain"]}
        if op == "divide" and al.device().system:
            common["dtypes"] = tuple(
                dtype for dtype in common["dtypes"] if dtype != "uint64"
            )  # refused: integer_quotient of quirks.def
        if op in STEPS | {"all", "any"}:
            common["wanted"] = ()
        if family in ("unary", "activation", "predicate"):
            if family == "predicate":
                common |= {"result": "bool", "wanted": ()}
            for shapes in _UNARY:
                yield Case(op, function, reference, shapes, empty=((0, 3),), **common)
        elif family in ("binary", "comparison", "activation_gradient"):
            if family == "comparison":
                common |= {"result": "bool", "wanted": ()}
            for shapes in _BINARY:
                yield Case(op, function, reference, shapes, empty=((0, 3), (3,)), **common)
        else:
            arg = family == "arg_reduction"
            for options in _AXIS if arg else _AXES:
                yield _reduction_case(op, function, reference, options, arg, common)


def _reduction_case(op, function, reference, options, arg, common):
    if arg:
        common |= {"result": "int32", "wanted": ()}
    numpy_options = {"keepdims": options.get("keepdims", False), "axis": options.get("axis", -1 if arg else None)}
    return Case(
        op,
        lambda x: function(x, **options),
        lambda x: reference(x, **numpy_options),
        ((2, 3, 4),),
        empty=((0, 3, 4),),
        label=str(options),
        **common,
    )


# ---- structured ops ----


def _channels_first(function):
    """The reference of data, and of weights if any, whose channels come first."""

    def turned(x, *weights, **attributes):
        weights = (np.moveaxis(w, (0, 1), (-1, -2)) for w in weights)
        return np.moveaxis(function(np.moveaxis(x, 1, -1), *weights, **attributes), -1, 1)

    return turned


_LAYOUTS = {"data_layout": "NCHW", "weights_layout": "OIHW"}
_LAYOUTS_3D = {"data_layout": "NCDHW", "weights_layout": "OIDHW"}


def _windowed(op, shapes, label, layouts=None, **attributes):
    """A convolution or a pooling, where layouts are given of channels that come first."""
    reference = _channels_first(getattr(ref, op)) if layouts else getattr(ref, op)
    strides = {"strides": attributes["window"]} if "window" in attributes else {}  # of poolings
    return Case(
        op,
        lambda *xs: getattr(al, op)(*xs, **attributes, **layouts or {}),
        lambda *xs: reference(*xs, **strides | attributes),
        shapes,
        empty=((0, *shapes[0][1:]), *shapes[1:]),
        label=label,
    )


def _attributes(given, **others):
    """The attributes as the ops have them, of the arguments that the functions take."""
    return {"padding_style": "explicit"} | {name: np.ravel(value).tolist() for name, value in given.items()} | others


def _gradients_of(op, given, attributes, g, x, w):
    """The gradients of a convolution, of which the shapes of the result and the operands are g, x and w."""

    def convolve(x, w):
        return getattr(ref, op)(x, w, **given)

    for of, shapes, reference in (
        ("data", (g, w, x), lambda g, w, like: ref.adjoint(lambda x: convolve(x, w), like)(g)),
        ("weights", (g, x, w), lambda g, x, like: ref.adjoint(lambda w: convolve(x, w), like)(g)),
    ):
        name = f"{op}_{of}_gradient"
        yield Case(name, raw(name, **attributes), reference, shapes, wanted=(0, 1))


_STRIDED = {"strides": (2, 1), "padding": ((1, 0), (2, 1)), "dilations": (1, 2)}
_CONV_RAW = _attributes(_STRIDED, groups=1, data_layout="NHWC", weights_layout="HWIO")
_POOL = {"window": (2, 3), "strides": (1, 2), "padding": ((1, 0), (0, 1))}
_POOL_RAW = _attributes(_POOL, dilations=[1, 1], data_layout="NHWC")
_CEIL = _POOL_RAW | {"window": [2, 2], "strides": [2, 2], "padding": [0] * 4, "padding_style": "valid"}


def _max_pool2d_gradient(g, x):
    order = np.arange(x.size, dtype=float).reshape(x.shape)
    shape = g.shape[:3] + (-1, g.shape[3])
    taken = ref.windows(x, **_as_windows(_POOL), fill=-np.inf).reshape(shape)
    places = ref.windows(order, **_as_windows(_POOL), fill=-1).reshape(shape)
    winners = np.take_along_axis(places, taken.argmax(3, keepdims=True), 3)[..., 0, :].astype(int)
    out = np.zeros(x.size)
    np.add.at(out, winners.ravel(), g.ravel())
    return out.reshape(x.shape)


def _as_windows(attributes):
    return {"size": attributes["window"]} | {key: value for key, value in attributes.items() if key != "window"}


def _slice_gradient(g, like):
    out = np.zeros_like(like)
    out[1:, ::-2] = g
    return out


def _gather(axis, batch_dims=0):
    def reference(x, indices):
        if batch_dims > 0:
            return np.stack([_gather(axis - 1, batch_dims - 1)(*pair) for pair in zip(x, indices)])
        inside = (indices >= 0) & (indices < x.shape[axis])
        taken = np.take(x, np.where(inside, indices, 0), axis)
        return taken * inside.reshape(inside.shape + (1,) * (x.ndim - axis - 1)).astype(x.dtype)

    return reference


def _scatter_nd(batch_dims):
    def reference(updates, indices, like):
        out = np.zeros_like(like)
        for place in np.ndindex(indices.shape[:-1]):
            to = place[:batch_dims] + tuple(indices[place])
            if all(0 <= i < extent for i, extent in zip(to, out.shape)):
                out[to] += updates[place]
        return out

    return reference


_COMBINE = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": _divide, "minimum": np.minimum,
            "maximum": np.maximum, "set": lambda x, update: update}  # fmt: skip


def _scatter(mode, axis):
    combine = _COMBINE[mode]

    def reference(x, updates, indices):
        out = np.moveaxis(x.copy(), axis, 0)
        for place, update in zip(indices, np.moveaxis(updates, axis, 0)):
            if 0 <= place < len(out):
                out[place] = combine(out[place], update)
        return np.moveaxis(out, 0, axis)

    return reference


def _gather_nd(batch_dims):
    def reference(x, indices):
        places = list(np.ndindex(indices.shape[:-1]))
        out = np.zeros((*indices.shape[:-1], *x.shape[batch_dims + indices.shape[-1] :]), x.dtype)
        for place in places:
            at = place[:batch_dims] + tuple(indices[place])
            if all(0 <= i < extent for i, extent in zip(at, x.shape)):
                out[place] = x[at]
        return out

    return reference


def _take_along_axis(axis):
    def reference(x, indices):
        inside = (indices >= 0) & (indices < x.shape[axis])
        return np.where(inside, np.take_along_axis(x, np.where(inside, indices, 0), axis), 0).astype(x.dtype)

    return reference


def _combine(mode, data, updates, to):
    """What updates do, one after the other, at the place that `to` gives for each of them."""
    combine = _COMBINE[mode]
    out = data.copy()
    for place in np.ndindex(updates.shape):
        at = to(place)
        if all(0 <= i < extent for i, extent in zip(at, out.shape)):
            out[at] = combine(out[at], updates[place])
    return out


def _scatter_nd_update(mode, batch_dims):
    def reference(data, updates, indices):
        n = indices.ndim - 1
        return _combine(
            mode, data, updates, lambda i: i[:batch_dims] + tuple(int(k) for k in indices[i[:n]]) + tuple(i[n:])
        )

    return reference


def _put_along_axis(mode, axis):
    def reference(data, updates, indices):
        axis_ = axis % data.ndim
        return _combine(mode, data, updates, lambda i: (*i[:axis_], int(indices[i]), *i[axis_ + 1 :]))

    return reference


def _start(shape, mode, dtype=np.float64):
    limits = np.finfo(np.float32)
    return np.full(
        shape, {"multiply": 1, "divide": 1, "minimum": limits.max, "maximum": limits.min}.get(mode, 0), dtype
    )


# Some indices of [0, 4) are outside of an axis of 3.
_PLACES = np.int32([[2, 0, 3, 1, 0], [1, 1, 0, 2, -1]])
_BATCHED = np.int32([[[1], [7], [0]], [[2], [0], [-1]]])
_TUPLES = np.int32([[0, 1], [2, 3], [0, 1], [1, 4], [2, 0]])


def _with(function, *indices):
    """The function with constants of the tensor's graph as its last operands."""
    return lambda *xs: function(*xs, *(xs[0].graph.constant(i) for i in indices))


_CUMULATIVE = {"sum": (al.cumsum, np.add, 0), "product": (al.cumprod, np.multiply, 1),
               "minimum": (al.cummin, np.minimum, 2), "maximum": (al.cummax, np.maximum, 3)}  # fmt: skip


def _cumulative(operation, axis, exclusive, reverse):
    def reference(x):
        x = np.moveaxis(x, axis, 0)
        x = x[::-1] if reverse else x
        y = _CUMULATIVE[operation][1].accumulate(x, 0)
        if exclusive:
            limits = np.finfo(np.float32) if x.dtype == np.float64 else np.iinfo(x.dtype)
            start = [0, 1, limits.max, limits.min][_CUMULATIVE[operation][2]]
            y = np.concatenate([np.full_like(y[:1], start), y[:-1]])
        return np.moveaxis(y[::-1] if reverse else y, 0, axis)

    return reference


def _argsort(axis, descending=False):
    def reference(x):
        if not descending:
            return np.argsort(x, axis, kind="stable")
        turned = np.argsort(np.flip(x, axis), axis, kind="stable")  # so that equal elements keep their order
        return x.shape[axis] - 1 - np.flip(turned, axis)

    return reference


def _sorted(axis, descending=False, count=None):
    def reference(x):
        order = np.moveaxis(_argsort(axis, descending)(x), axis, 0)[:count]
        return np.take_along_axis(x, np.moveaxis(order, 0, axis), axis)

    return reference


def _kept(axis, descending, count):
    return lambda x: np.moveaxis(np.moveaxis(_argsort(axis, descending)(x), axis, 0)[:count], 0, axis)


def _top_k_gradient(axis, descending, count):
    def reference(g, x):
        order = np.moveaxis(np.moveaxis(_argsort(axis, descending)(x), axis, 0)[:count], 0, axis)
        out = np.zeros(x.shape, g.dtype)
        np.put_along_axis(out, order, g, axis)
        return out

    return reference


def _one_hot(depth, axis=-1):
    def reference(indices):
        places = np.expand_dims(np.arange(depth), tuple(range(1, -axis if axis < 0 else indices.ndim + 1 - axis)))
        return (np.expand_dims(indices, axis) == places).astype(float)

    return reference


def _interleave(axis):
    def reference(*xs):
        shape = list(xs[0].shape)
        shape[axis] *= len(xs)
        return np.stack(xs, axis + 1).reshape(shape)

    return reference


def _updated(key):
    def reference(x, update):
        out = x.copy()
        out[key] = update
        return out

    return reference


def _space_to_batch(axes, axis, block, shuffled):
    """Each element by itself to its place."""

    def reference(x):
        shape, count = list(x.shape), math.prod(block)
        for a, size in zip(axes, block):
            shape[a] //= size
        shape[axis] *= count
        out = np.empty(shape, x.dtype)
        for place in np.ndindex(x.shape):
            to, within = list(place), 0
            for a, size in zip(axes, block):
                within = within * size + place[a] % size
                to[a] //= size
            to[axis] = place[axis] * count + within if shuffled else within * x.shape[axis] + place[axis]
            out[tuple(to)] = x[place]
        return out

    return reference


def _batch_to_space(axes, axis, block, shuffled):
    def reference(y):
        shape = list(y.shape)
        for a, size in zip(axes, block):
            shape[a] *= size
        shape[axis] //= math.prod(block)
        out = np.empty(y.size, y.dtype)
        places = np.arange(y.size).reshape(shape)
        out[_space_to_batch(axes, axis, block, shuffled)(places).ravel()] = y.ravel()
        return out.reshape(shape)

    return reference


def _band_part(lower, upper):
    def reference(x):
        i, j = np.indices(x.shape[-2:])
        return np.where(((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper)), x, x.dtype.type(0))

    return reference


def _turned_shape(x):
    shape = raw("shape_of")(x)
    like = raw("shaped", dtype=al.float32)(al.concat([shape[1:], shape[:1]], axis=0))
    return raw("reshape_like")(x, like)


def _attention(q, k, v, added=0.0, seen=True, scale=None):
    """Zeros for a query that sees nothing."""
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + added
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * seen
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v


def _cross_entropy(reduce, axis):
    return lambda x, labels: reduce(-np.sum(labels * ref.log_softmax(x, axis), axis, keepdims=True))


def _adam(rate, beta1, beta2, epsilon, values, m, v, g):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    return values - rate * m / (np.sqrt(v) + epsilon), m, v


def _rnn(label, rest=(), **options):
    """Cases of al.rnn; rest: what is given behind the state, by name, each of its shape."""
    names = [name for name, _ in rest]
    return Case("rnn", lambda x, w, h, *more: al.rnn(x, w, state=h, **dict(zip(names, more)), **options),
                lambda x, w, h, *more: ref.rnn(x, w, h, **dict(zip(names, more)), **options),
                ((4, 3, 5), (5, 5), (3, 5), *(shape for _, shape in rest)), label=label)  # fmt: skip


def _lstm(label, rest=(), result=0, **options):
    names = [name for name, _ in rest]
    gates = {"gates": options["gate_activations"]} if "gate_activations" in options else {}
    plain = gates | {name: value for name, value in options.items() if name != "gate_activations"}

    def build(x, w, h, c, *more):
        states, cells = al.lstm(x, w, state=h, cell=c, **dict(zip(names, more)), **options)
        return al.concat([states, cells * 0.5], axis=2) if result is None else (states, cells)[result]

    def reference(x, w, h, c, *more):
        results = ref.lstm(x, w, h, c, **dict(zip(names, more)), **plain)
        return np.concatenate([results[0], results[1] * 0.5], 2) if result is None else results[result]

    shapes = (4, 3, 8), (8, 2), (3, 2), (3, 2), *(shape for _, shape in rest)
    return Case("lstm", build, reference, shapes, label=label)


def _gru(label, rest=(), **options):
    names = [name for name, _ in rest]
    ours = ["secondary_bias" if name == "bias" else name for name in names]
    gates = {"gates": options["gate_activations"]} if "gate_activations" in options else {}
    plain = gates | {name: value for name, value in options.items() if name != "gate_activations"}
    return Case("gru", lambda x, w, h, *more: al.gru(x, w, state=h, **dict(zip(ours, more)), **options),
                lambda x, w, h, *more: ref.gru(x, w, h, **dict(zip(names, more)), **plain),
                ((4, 3, 9), (9, 3), (3, 3), *(shape for _, shape in rest)), label=label)  # fmt: skip


_STRIDED_3D = {"strides": (2, 1, 1), "padding": ((1, 0), (0, 1), (2, 1)), "dilations": (1, 2, 1)}
_X3 = ((2, 3, 4, 3, 2), (2, 2, 3, 2, 3))  # a source and weights
_Y3 = (2, 2, 3, 4, 3)  # their convolution under _CONV3D_RAW
_CONV3D_RAW = _attributes(_STRIDED_3D, groups=1, data_layout="NDHWC", weights_layout="DHWIO")
_DEPTHWISE_RAW = _attributes(_STRIDED, data_layout="NHWC", weights_layout="HWIO")
_DEPTHWISE3D_RAW = _attributes(_STRIDED_3D, axis=-1)


def _depthwise_3d(shapes, label, axis=-1, **attributes):
    def reference(x, w):
        y = ref.depthwise_conv3d(np.moveaxis(x, x.ndim + axis, -1), np.moveaxis(w, 4 + axis, -1), **attributes)
        return np.moveaxis(y, -1, y.ndim + axis)

    return Case(
        "depthwise_conv3d",
        lambda x, w: al.depthwise_conv3d(x, w, axis=axis, **attributes),
        reference,
        shapes,
        label=label,
    )


def _transposed(shapes, size, label, **attributes):
    """`size`: the height and width that the result has."""

    def reference(x, w):
        like = np.zeros((len(x), *size, w.shape[2]))
        return ref.adjoint(lambda image: ref.conv2d(image, w, **attributes), like)(x)

    given = {} if "by default" in label else {"output_size": size}
    return Case(
        "conv2d_transpose",
        lambda x, w: al.conv2d_transpose(x, w, **attributes, **given),
        reference,
        shapes,
        label=label,
    )


_POOL4D = {"window": (2, 1, 3, 2), "strides": (1, 2, 2, 1), "padding": ((1, 0), (0, 0), (0, 2), (1, 1))}
_POOL4D_RAW = _attributes(_POOL4D, dilations=[1] * 4)
_STILL = {"window": (1, 1, 3, 2), "strides": (1, 1, 2, 1), "padding": ((0, 0), (0, 0), (0, 2), (1, 1))}
_STILL_RAW = _attributes(_STILL, dilations=[1] * 4)
_X4, _Y4 = (3, 3, 5, 4), (3, 2, 3, 5)  # a source, and what pooling makes of it


def _max_pool4d_gradient(attributes):
    def reference(g, x):
        out = np.zeros(x.size)
        np.add.at(out, ref.max_pool4d_places(x, **attributes).ravel(), g.ravel())
        return out.reshape(x.shape)

    return reference


def _indices_cases():
    for over in (1, 2, 3, 4):
        for local in (False, True):
            mode = f"{'local' if local else 'global'}_{over}d"
            yield Case(
                "max_pool4d_with_indices",
                lambda x, mode=mode: al.max_pool4d_with_indices(x, **_POOL4D, indices=mode)[1],
                lambda x, over=over, local=local: ref.max_pool4d_places(x, **_POOL4D, over=over, local=local),
                (_X4,),
                result="int32",
                wanted=(),
                label=mode,
            )
            attributes = _POOL4D if over == 4 else _STILL  # over 4 axes windows may move along all
            if over < 2:
                attributes = {"window": (1, 1, 1, 3), "strides": (1, 1, 1, 2), "padding": ((0, 0),) * 3 + ((1, 0),)}
            yield Case(
                "max_pool4d_gradient_with_indices",
                lambda g, x, mode=mode, attributes=attributes: al.max_unpool4d(
                    g, al.max_pool4d_with_indices(x, **attributes, indices=mode)[1], x, **attributes, indices=mode
                ),
                _max_pool4d_gradient(attributes),
                (ref.max_pool4d(np.zeros(_X4), **attributes).shape, _X4),
                wanted=(0,),
                label=mode,
            )


_ROUNDINGS = {
    "round_prefer_ceil": lambda p: np.floor(p + 0.5),
    "round_prefer_floor": lambda p: np.ceil(p - 0.5),
    "ceil": np.ceil,
    "floor": np.floor,
    "round_to_even": np.round,
    "round_to_odd": lambda p: 2 * np.floor(p / 2) + 1 if p % 1 == 0.5 else np.floor(p + 0.5),
}


def _places(size, extent, center=True, align_corners=False, scale=None, offset=None):
    d = np.arange(size)
    if scale is not None:
        return (d - offset) / scale
    if align_corners:
        return d * (extent - 1) / max(size - 1, 1)
    return (d + 0.5) * extent / size - 0.5 if center else d * extent / size


def _resized(x, size, axes=(1, 2), mode="bilinear", rounding="round_prefer_ceil", scale=None, offset=None, **flags):
    for i, axis in enumerate(axes):
        given = {} if scale is None else {"scale": scale[i], "offset": offset[i]}
        x = ref.resize_along(x, axis, _places(size[i], x.shape[axis], **flags, **given), mode, _ROUNDINGS[rounding])
    return x


def _resize_cases():
    ways = [{"mode": "nearest", "rounding": rounding, "center": False} for rounding in _ROUNDINGS]
    ways += [{"mode": "nearest"}, {"mode": "nearest", "align_corners": True}]
    ways += [{}, {"center": False}, {"align_corners": True}]
    ways += [{"scale": (1.5, 0.75), "offset": (0.5, -0.25)}]
    ways += [{"mode": "nearest", "rounding": "floor", "scale": (2.0, 0.5), "offset": (1.0, 0.5)}]
    for way in ways:
        for size in ((6, 3), (3, 9)):
            yield Case(
                "resize",
                lambda x, size=size, way=way: al.resize(x, size, **way),
                lambda x, size=size, way=way: _resized(x, size, **way),
                ((2, 4, 6, 3),),
                label=f"{size} {way}",
            )
        flags = {"center": way.get("center", True), "align_corners": way.get("align_corners", False)}
        attributes = flags | {
            "axes": [2, 3],
            "resize_mode": way.get("mode", "bilinear"),
            "rounding": way.get("rounding", "round_prefer_ceil"),
        }
        numbers = [np.float32(way[name]) for name in ("scale", "offset") if name in way]
        yield Case(
            "resize_gradient",
            lambda g, x, attributes=attributes, numbers=numbers: raw("resize_gradient", **attributes)(
                g, x, *(x.graph.constant(number) for number in numbers)
            ),
            lambda g, x, way=way: ref.adjoint(lambda v: _resized(v, (6, 3), (2, 3), **way), x)(g),
            ((1, 2, 6, 3), (1, 2, 4, 5)),
            wanted=(0,),
            label=str(way),
        )
    yield Case(
        "resize",
        lambda x: al.resize(x, [5, 4], axis=(0, -1)),
        lambda x: _resized(x, [5, 4], (0, 2)),
        ((3, 2, 4),),
        label="axes",
    )


_AROUND = ((1, 2), (0, 0), (3, 1))
_WITHIN = ((-1, 1), (0, -1), (2, -3))


def _antiperiodic(x, padding):
    for axis, (before, after) in enumerate(padding):
        extent = x.shape[axis]
        places = np.arange(-before, extent + after)
        signs = np.where(places // extent % 2 == 0, 1, -1).reshape((-1,) + (1,) * (x.ndim - axis - 1))
        x = np.take(x, places % extent, axis) * signs
    return x


def _padded(x, mode, padding=_AROUND, **options):
    """Where a number is negative, so many elements are cut off."""
    more = tuple((max(before, 0), max(after, 0)) for before, after in padding)
    y = _antiperiodic(x, more) if mode == "antiperiodic" else np.pad(x, more, mode=mode, **options)
    left = (slice(max(-before, 0), min(after, 0) or None) for before, after in padding)
    return y[tuple(left)]


def _pad_cases():
    shape = (3, 2, 4)
    yield Case("pad", lambda x: al.pad(x, _AROUND, value=2), lambda x: np.pad(x, _AROUND, constant_values=2), (shape,),
               dtypes=("float32", "int32", "int64"), empty=((0, 2, 4),))  # fmt: skip
    yield Case("pad", raw("pad", padding=[1, 0, 0, 2]), lambda x, value: np.pad(x, ((1, 0), (0, 2)),
               constant_values=value), ((2, 3), ()), label="a tensor around", **_ANY)  # fmt: skip
    yield Case("pad_edges", lambda x: al.pad(x, _WITHIN, value=2), lambda x: _padded(x, "constant", _WITHIN,
               constant_values=2), (shape,), dtypes=TYPES["numeric"], label="cut, constant")  # fmt: skip
    yield Case("pad_edges", lambda x: al.pad(x, -1), lambda x: x[1:-1, 1:-1], ((3, 4),), dtypes=TYPES["numeric"],
               label="cut")  # fmt: skip
    for mode in ("reflect", "symmetric", "edge", "wrap", "antiperiodic"):
        yield Case("pad_edges", lambda x, mode=mode: al.pad(x, _WITHIN, mode=mode),
                   lambda x, mode=mode: _padded(x, mode, _WITHIN), (shape,), label=f"cut, {mode}")  # fmt: skip
        yield Case("pad_edges", lambda x, mode=mode: al.pad(x, _AROUND, mode=mode),
                   lambda x, mode=mode: _padded(x, mode), (shape,), dtypes=TYPES["numeric"], label=mode)  # fmt: skip
    for mode in ("constant", "reflect", "symmetric", "edge", "wrap", "antiperiodic"):
        attributes = {"padding": [n for pair in _AROUND for n in pair], "pad_mode": mode}
        yield Case("pad_gradient", raw("pad_gradient", **attributes),
                   lambda g, x, mode=mode: ref.adjoint(lambda v: _padded(v, mode), x)(g), ((6, 2, 8), shape),
                   wanted=(0,), label=mode)  # fmt: skip
        attributes = {"padding": [n for pair in _WITHIN for n in pair], "pad_mode": mode}
        yield Case("pad_gradient", raw("pad_gradient", **attributes),
                   lambda g, x, mode=mode: ref.adjoint(lambda v: _padded(v, mode, _WITHIN), x)(g), ((3, 1, 3), shape),
                   wanted=(0,), label=f"cut, {mode}")  # fmt: skip


_COLUMNS = {"window": (2, 3), "strides": (2, 1), "padding": ((1, 0), (2, 1)), "dilations": (1, 2)}


def _columns_first(x):
    """im2col of an NCHW image in PyTorch's order: channels outside, positions last."""
    taken = ref.windows(
        x.transpose(0, 2, 3, 1), *(_COLUMNS[key] for key in ("window", "strides", "padding", "dilations"))
    )
    n, rows, columns, *_ = taken.shape
    return taken.transpose(0, 5, 3, 4, 1, 2).reshape(n, -1, rows * columns)


def _im2col(x):
    return ref.im2col(x, **_COLUMNS)


_X = ((2, 5, 6, 3), (3, 2, 3, 4))  # a source and weights
_QKV = ((2, 2, 3, 5), (2, 2, 4, 5), (2, 2, 4, 2))  # query, key and value
_Y = (2, 2, 7, 4)  # their convolution under _CONV_RAW
_SLICE = {"starts": [1, 2**63 - 1], "ends": [2**63 - 1, -(2**63)], "strides": [1, -2]}
_ADAM = ((),) * 4 + ((2, 3),) * 4
_ANY = {"dtypes": TYPES["any"]}
HAS_COMPLEX = not al.device().system.startswith("macOS 13")  # csrc/ir/quirks.def


def _leaky_relu(x, alpha):
    return np.maximum(x, alpha * x)


def _hamming(a, b):
    bits = np.bitwise_xor(a[..., :, None, :], b[..., None, :, :]).view(np.uint8)
    return np.unpackbits(bits, axis=-1).sum(-1)


def _quantized(low):
    return lambda x, scale, zero: np.clip(np.rint(x / scale + zero), low, low + 255)


def _blocks(x, scale, zero):
    scale, zero = (np.repeat(np.repeat(v, 2, 0), 3, 1) for v in (scale, zero))
    return scale * (x - zero)


def _looked_up(x, table):
    rows = np.repeat(table, 2, 0)  # (4, 1, 256, 2)
    found = np.stack([[rows[i, 0, x[i, j]] for j in range(x.shape[1])] for i in range(x.shape[0])])
    return found.transpose(0, 2, 1).reshape(2 * x.shape[0], x.shape[1])


def _from_pairs(x):
    return x[..., 0] + 1j * x[..., 1]


def _pairs(z):
    return np.stack([z.real, z.imag], -1)


def _of_complex(build):
    """Of two tensors of parts, the parts of what `build` makes of the complex numbers."""

    def function(*parts):
        z = build(*(al.complex(re, im) for re, im in zip(parts[::2], parts[1::2])))
        return al.stack([al.real(z), al.imag(z)], axis=-1)

    return function


def _complex_case(op, build, reference, shapes, label=""):
    return Case(
        op,
        _of_complex(build),
        lambda *parts: _pairs(reference(*(re + 1j * im for re, im in zip(parts[::2], parts[1::2])))),
        shapes,
        domain="nonzero",
        label=label,
    )


# fmt: off
STRUCTURED = [
    Case("select", al.where, lambda p, a, b: np.where(p, a, b), ((2, 3), (2, 3), (2, 3)), fixed=("bool",),
         wanted=(1, 2), empty=((0, 3),) * 3, **_ANY),
    Case("select", al.where, lambda p, a, b: np.where(p, a, b), ((4, 1), (2, 1, 3), (3,)), fixed=("bool",),
         wanted=(1, 2)),
    Case("clamp", lambda x, a, b: al.clamp(x * 3, a - 3, b + 3), lambda x, a, b: np.clip(x * 3, a - 3, b + 3),
         ((4, 5), (5,), (4, 1)), dtypes=TYPES["numeric"], empty=((0, 5), (5,), ())),
    Case("stop_gradient", al.stop_gradient, lambda x: x, ((2, 3),), wanted=(), empty=((0, 3),), **_ANY),
    Case("reshape", lambda x: al.reshape(x, (4, -1)), lambda x: x.reshape(4, -1), ((2, 3, 4),),
         empty=((2, 0, 4),), **_ANY),
    Case("reshape_like", raw("reshape_like"), lambda x, like: x.reshape(like.shape), ((2, 6), (3, 4)),
         wanted=(0,)),
    Case("shaped", _turned_shape, lambda x: x.reshape(x.shape[1:] + x.shape[:1]), ((2, 3, 4),)),
    Case("squeeze", lambda x: al.squeeze(x, axis=(0, -1)), lambda x: np.squeeze(x, (0, -1)),
         ((1, 3, 1, 2, 1),), empty=((1, 0, 1, 2, 1),), **_ANY),
    Case("squeeze", al.squeeze, np.squeeze, ((1, 3, 1),)),
    Case("expand_dims", lambda x: al.expand_dims(x, axis=(0, 2)), lambda x: np.expand_dims(x, (0, 2)),
         ((2, 4),), empty=((0, 4),), **_ANY),
    Case("transpose", lambda x: al.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), ((2, 3, 4),),
         empty=((2, 0, 4),), **_ANY),
    Case("transpose", al.transpose, np.transpose, ((2, 3, 4),)),
    Case("transpose", lambda x: al.transpose(x, (-1, 0, -2)), lambda x: x.transpose(2, 0, 1), ((2, 3, 4),),
         label="negative axes"),
    Case("broadcast_to", lambda x: al.broadcast_to(x, (4, 2, 3)), lambda x: np.broadcast_to(x, (4, 2, 3)),
         ((2, 1),), **_ANY),
    Case("broadcast_like", raw("broadcast_like"), lambda x, like: np.broadcast_to(x, like.shape),
         ((3, 1), (2, 3, 4)), wanted=(0,)),
    Case("reduce_like", raw("reduce_like"),
         lambda x, like: ref.adjoint(lambda v: np.broadcast_to(v, x.shape), like)(x), ((2, 3, 4), (3, 1)),
         wanted=(0,)),
    Case("slice", lambda x: x[1:, ::-2, -1], lambda x: x[1:, ::-2, -1], ((3, 5, 2),), empty=((1, 5, 2),),
         **_ANY),
    Case("slice", lambda x: x[-2:, None, ..., 4:1:-1], lambda x: x[-2:, None, ..., 4:1:-1], ((3, 2, 5),)),
    Case("slice_gradient", raw("slice_gradient", **_SLICE), _slice_gradient, ((2, 3), (3, 5)), wanted=(0,)),
    Case("gather", al.gather, _gather(0), ((3, 4), (2, 5)), fixed=(None, "int32"), empty=((3, 0), (2,)), **_ANY),
    Case("gather", lambda x, i: al.gather(x, i, axis=-1), _gather(2), ((2, 4, 3), (6,)), fixed=(None, "int64")),
    Case("gather", lambda x, i: al.gather(x, i, axis=2, batch_dims=1), _gather(2, 1), ((2, 4, 3, 2), (2, 5)),
         fixed=(None, "int32"), label="of a batch"),
    Case("scatter_nd", raw("scatter_nd", batch_dims=1), _scatter_nd(1), ((2, 7, 3), (2, 7, 1), (2, 4, 3)),
         fixed=(None, "int32"), dtypes=TYPES["numeric"], wanted=(0,)),
    Case("scatter_nd", raw("scatter_nd", batch_dims=0), _scatter_nd(0), ((9,), (9, 2), (3, 4)), fixed=(None, "int64"),
         wanted=(), label="by pairs"),
    *(Case("scatter", raw("scatter", axis=axis, mode=mode), _scatter(mode, axis), shapes, fixed=(None, None, "int32"),
           dtypes=("float32", "int8", "int32", "int64"), wanted=wanted, label=mode)
      for mode, axis, shapes, wanted in [
          ("add", 1, ((2, 4, 3), (2, 9, 3), (9,)), (0, 1)), ("subtract", -1, ((2, 4, 3), (2, 4, 5), (5,)), (0, 1)),
          ("multiply", 0, ((4, 3), (3, 3), (3,)), (0, 1)), ("minimum", 0, ((4, 3), (9, 3), (9,)), (0, 1)),
          ("maximum", 0, ((4, 3), (9, 3), (9,)), (0, 1))]),
    Case("scatter", lambda x, u, i: al.scatter(x, i, u, mode="divide"), _scatter("divide", 0), ((4, 3), (5, 3), (5,)),
         fixed=(None, None, "int32"), domain="nonzero", wanted=(0, 1), label="divide"),
    Case("scatter", lambda x, u: raw("scatter", axis=1, mode="set")(x, u, x.graph.constant(np.int32([3, 9, 0]))),
         lambda x, u: _scatter("set", 1)(x, u, np.int32([3, 9, 0])), ((2, 4, 3), (2, 3, 3)), dtypes=TYPES["any"],
         label="set"),
    Case("dropout", lambda x, rate, chance: raw("dropout")(x, rate, al.abs(chance) / 2),
         lambda x, rate, chance: np.where(np.abs(chance) / 2 >= rate, x / (1 - rate), 0), ((3, 40), (), (3, 40)),
         domain="fraction", wanted=(0,)),
    Case("gather_nd", _with(al.gather_nd, _TUPLES), lambda x: _gather_nd(0)(x, _TUPLES), ((3, 4, 2),), **_ANY),
    Case("gather_nd", lambda x, i: al.gather_nd(x, i, batch_dims=1), _gather_nd(1), ((2, 4, 3), (2, 5, 1)),
         fixed=(None, "int64"), label="of a batch"),
    Case("gather_along_axis", _with(lambda x, i: al.take_along_axis(x, i, 1), _PLACES),
         lambda x: _take_along_axis(1)(x, _PLACES), ((2, 3),), **_ANY),
    Case("gather_along_axis", lambda x, i: al.take_along_axis(x, i, -2), _take_along_axis(1), ((2, 3, 4), (2, 5, 4)),
         fixed=(None, "int8"), label="an inner axis"),
    *(Case("scatter_nd_update", _with(lambda x, u, i, mode=mode: al.scatter_nd(x, i, u, mode=mode), _TUPLES),
           lambda x, u, mode=mode: _scatter_nd_update(mode, 0)(x, u, _TUPLES), ((3, 4, 2), (5, 2)), label=mode,
           domain="nonzero", dtypes=("float32", "int8", "int32", "int64", "uint64"))
      for mode in ("add", "subtract", "multiply", "divide", "minimum", "maximum")),
    Case("scatter_nd_update", _with(lambda x, u, i: al.scatter_nd(x, i, u, batch_dims=1), _BATCHED),
         lambda x, u: _scatter_nd_update("set", 1)(x, u, _BATCHED), ((2, 3, 2), (2, 3, 2)), label="set", **_ANY),
    *(Case("scatter_nd_update", _with(lambda u, i, mode=mode: al.scatter_nd((3, 4), i, u, mode=mode), _TUPLES),
           lambda u, mode=mode: _scatter_nd_update(mode, 0)(_start((3, 4), mode), u, _TUPLES), ((5,),),
           label=f"{mode} from its start", domain="nonzero", wanted=() if mode in ("minimum", "maximum") else None,
           dtypes=FLOATS[:1] if mode in ("minimum", "maximum") else FLOATS)
      for mode in ("add", "subtract", "multiply", "divide", "minimum", "maximum")),
    *(Case("scatter_along_axis", _with(lambda x, u, i, mode=mode: al.put_along_axis(x, i, u, 1, mode=mode), _PLACES),
           lambda x, u, mode=mode: _put_along_axis(mode, 1)(x, u, _PLACES), ((2, 3), (2, 5)), label=mode,
           domain="nonzero", dtypes=FLOATS[:1] + ("int32",))
      for mode in ("add", "subtract", "multiply", "divide", "minimum", "maximum")),
    Case("scatter_along_axis", _with(lambda x, u, i: al.put_along_axis(x, i, u, 0), np.int64([[2, 0], [0, 9], [1, 2]])),
         lambda x, u: _put_along_axis("set", 0)(x, u, np.int64([[2, 0], [0, 9], [1, 2]])), ((3, 2), (3, 2)),
         label="set along the first", **_ANY),
    *(Case("scatter_start", raw("scatter_start", shape=(2, 3), mode=mode), lambda x, mode=mode: _start((2, 3), mode),
           ((4,),), wanted=(), label=mode, dtypes=FLOATS[:1]) for mode in ("set", "divide", "minimum", "maximum")),
    *(Case("argsort", lambda x, axis=axis, d=d: al.argsort(x, axis=axis, descending=d), _argsort(axis, d),
           ((3, 40, 2),), result="int32", wanted=(), dtypes=TYPES["numeric"], label=f"{axis} {d}", empty=((0, 4, 2),))
      for axis, d in ((1, False), (-1, True), (0, False), (1, True))),
    Case("sort", al.sort, _sorted(-1), ((3, 40),), dtypes=TYPES["numeric"], empty=((0, 4),)),
    Case("sort", lambda x: al.sort(x, axis=1, descending=True), _sorted(1, True), ((3, 5, 4),)),
    *(Case("top_k", lambda x, i=i: al.top_k(x, 3)[i], lambda x, i=i: (_sorted, _kept)[i](-1, True, 3)(x), ((4, 30),),
           result=("int32" if i else None), wanted=(None, ())[i], label=f"result {i}", dtypes=TYPES["numeric"])
      for i in range(2)),
    *(Case("top_k", lambda x, i=i: al.bottom_k(x, 4, axis=0)[i], lambda x, i=i: (_sorted, _kept)[i](0, False, 4)(x),
           ((5, 2, 3),), result=("int32" if i else None), wanted=(None, ())[i], label=f"least, result {i}")
      for i in range(2)),
    *(Case("top_k_gradient", raw("top_k_gradient", axis=axis, count=2, descending=d), _top_k_gradient(axis, d, 2),
           shapes, wanted=(0,), label=f"{axis} {d}")
      for axis, d, shapes in ((-1, True, ((3, 2), (3, 7))), (0, False, ((2, 3), (5, 3))))),
    *(Case("accumulate", raw("accumulate", axis=axis, operation=operation, reverse=reverse),
           _cumulative(operation, axis, False, reverse), ((3, 5, 4),), dtypes=TYPES["numeric"], domain="nonzero",
           label=f"{operation} {axis} {reverse}", empty=((0, 3, 4),))
      for operation in _CUMULATIVE for axis, reverse in ((1, False), (-1, True))),
    *(Case("cumulative", lambda x, f=f, e=e, r=r, axis=axis: f[0](x, axis=axis, exclusive=e, reverse=r),
           _cumulative(operation, axis, e, r), (shape,), dtypes=("float32", "int8", "int64", "uint32"),
           domain="nonzero", label=f"{operation} {shape} {axis} {e} {r}",
           wanted=() if e and operation in ("minimum", "maximum") else None)
      for operation, f in _CUMULATIVE.items()
      for axis, e, r, shape in ((0, True, False, (3, 5, 4)), (2, True, True, (3, 5, 4)), (1, False, True, (3, 5, 4)),
                                (1, True, False, (3, 1)), (0, True, True, (1,)))),
    Case("one_hot", lambda i: al.one_hot(i, 3), _one_hot(3), ((2, 5),), fixed=("int32",), result="float32", wanted=(),
         empty=((0, 5),)),
    Case("one_hot", lambda i: al.one_hot(i, 300, axis=-2, dtype="int32"), _one_hot(300, -2), ((2, 5),),
         fixed=("int64",), result="int32", wanted=(), label="axis, dtype"),
    Case("one_hot", lambda i, a, b: raw("one_hot", axis=0, depth=4, dtype="float32")(i, a, b),
         lambda i, a, b: np.where(_one_hot(4, 0)(i) > 0, a, b), ((2, 5), (), ()), fixed=("int32",), wanted=(1, 2),
         label="values"),
    Case("split", lambda x: al.split(x, (1, 0, 4, 2), axis=-1)[2], lambda x: x[:, 1:5], ((3, 7),),
         empty=((0, 7),), **_ANY),
    Case("split", lambda x: al.concat(al.split(x, [3, 1, 1], axis=0)[::-1], axis=0),
         lambda x: np.concatenate([x[4:], x[3:4], x[:3]]), ((5, 2),)),
    *(Case("split_evenly", lambda x, i=i: al.split(x, 3, axis=1)[i], lambda x, i=i: np.array_split(x, 3, 1)[i],
           ((2, 8),), label=f"part {i}") for i in range(3)),
    Case("stack", lambda *xs: al.stack(xs, axis=-2), lambda *xs: np.stack(xs, -2), ((2, 3),) * 3,
         empty=((2, 0),) * 3, **_ANY),
    Case("stack", lambda *xs: al.stack(xs), lambda *xs: np.stack(xs), ((2, 3),) * 2),
    Case("interleave", lambda *xs: al.interleave(xs, axis=1), _interleave(1), ((2, 3, 2),) * 3,
         empty=((2, 0, 2),) * 3, **_ANY),
    Case("interleave", lambda *xs: al.interleave(xs, axis=-1), _interleave(0), ((4,),) * 2),
    Case("tile", lambda x: al.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), ((2, 3, 2),),
         empty=((2, 0, 2),), **_ANY),
    Case("tile", lambda x: al.tile(x, (1, 2)), lambda x: np.tile(x, (1, 2)), ((3, 4),)),
    Case("tile", lambda x: al.tile(x, (1, 1)), lambda x: x, ((3, 4),), label="once"),
    Case("tile_gradient", raw("tile_gradient", repeats=[2, 1, 3]),
         lambda g, like: ref.adjoint(lambda x: np.tile(x, (2, 1, 3)), like)(g), ((4, 3, 6), (2, 3, 2)), wanted=(0,)),
    Case("reverse", lambda x: al.flip(x, axis=(0, -1)), lambda x: np.flip(x, (0, -1)), ((3, 2, 4),),
         empty=((3, 0, 4),), **_ANY),
    Case("reverse", al.flip, np.flip, ((3, 2, 4),)),
    *(Case("flatten2d", raw("flatten2d", axis=axis), lambda x, axis=axis: x.reshape(math.prod(x.shape[:axis]), -1),
           ((3, 2, 4),), label=f"axis {axis}") for axis in (0, 2, 3)),
    Case("flatten2d", al.flatten, lambda x: x.reshape(3, 8), ((3, 2, 4),), **_ANY),
    *(Case("coordinates", _call("coordinates", axis=axis), lambda x, axis=axis: np.indices(x.shape)[axis], ((3, 2, 4),),
           result="int32", wanted=(), label=f"axis {axis}") for axis in (0, 1, -1)),
    Case("slice_update", lambda x, y: al.slice_update(x, np.s_[1:, ::-2, 1], y), _updated(np.s_[1:, ::-2, 1]),
         ((3, 5, 2), (2, 3)), **_ANY),
    Case("slice_update", lambda x, y: al.slice_update(x, np.s_[..., None, 2:4], y), _updated(np.s_[..., None, 2:4]),
         ((3, 5), (1, 2)), label="broadcast"),
    *(Case(op, _call(op, (3, 2), axis=(2, 0), batch_axis=-1, pixel_shuffle=order),
           reference((2, 0), 3, (3, 2), order), (shape,), label=f"{order} {len(dtypes)}", dtypes=dtypes)
      for op, reference, shape in [("space_to_batch", _space_to_batch, (4, 3, 6, 5)),
                                   ("batch_to_space", _batch_to_space, (2, 3, 2, 12))]
      for order, dtypes in [(False, TYPES["any"]), (True, ("float32",))]),
    *(Case(op, _call(name, 2, data_layout=layout, pixel_shuffle=order),
           reference((1, 2) if layout == "NHWC" else (2, 3), 3 if layout == "NHWC" else 1, (2, 2), order), (shape,),
           label=f"{name} {layout} {order}")
      for op, name, reference, layout, shape in [
          ("space_to_batch", "space_to_depth", _space_to_batch, "NHWC", (2, 4, 6, 3)),
          ("space_to_batch", "space_to_depth", _space_to_batch, "NCHW", (2, 3, 4, 6)),
          ("batch_to_space", "depth_to_space", _batch_to_space, "NHWC", (2, 2, 3, 8)),
          ("batch_to_space", "depth_to_space", _batch_to_space, "NCHW", (2, 8, 2, 3))]
      for order in (False, True)),
    *(Case("band_part", _call("band_part", *band), _band_part(*band), ((2, 5, 4),), label=str(band),
           empty=((2, 0, 4),), dtypes=dtypes)
      for band, dtypes in [((1, 2), TYPES["any"]), *((band, FLOATS) for band in [(-1, 0), (0, -1), (-1, -1), (0, 0)])]),
    Case("bitcast", lambda x: al.bitcast(x, "int16"), lambda x: np.float32(x).view(np.int16), ((3, 4),),
         result="int16", wanted=(), empty=((0, 4),), dtypes=FLOATS[:1]),
    Case("bitcast", lambda x: al.bitcast(x, al.uint32), lambda x: np.float32(x).view(np.uint32), ((3, 4),),
         result="uint32", wanted=(), dtypes=FLOATS[:1]),
    Case("bitcast", lambda x: al.bitcast(x, "int32"), lambda x: np.int16(x).view(np.int32), ((3, 4),), fixed=("int16",),
         result="int32", wanted=(), dtypes=FLOATS[:1]),
    Case("leaky_relu", lambda x: al.leaky_relu(x, 0.125), lambda x: _leaky_relu(x, 0.125), ((2, 3),), dtypes=FLOATS,
         domain="nonzero", empty=((0, 3),)),
    Case("leaky_relu", al.leaky_relu, _leaky_relu, ((4, 3), (3,)), domain="nonzero", label="of tensors"),
    Case("leaky_relu_gradient", raw("leaky_relu_gradient"), lambda g, x, a: np.where(x > a * x, g, a * g),
         ((2, 3), (2, 3), (3,)), domain="nonzero", wanted=(0, 2)),
    Case("hamming_distance", al.hamming_distance, _hamming, ((2, 3, 5), (4, 5)), dtypes=TYPES["integer"],
         result="uint32", wanted=()),
    Case("hamming_distance", lambda a, b: al.hamming_distance(a, b, dtype="uint16"), _hamming, ((3, 1), (2, 1)),
         dtypes=("int32",), result="uint16", wanted=()),
    Case("inverse", al.inverse, np.linalg.inv, ((2, 2, 2),), domain="nonzero", empty=((0, 2, 2),)),
    Case("quantize", lambda x: al.quantize(x, 0.0173, 3), lambda x: _quantized(-128)(x, np.float32(0.0173), 3),
         ((30, 50),), dtypes=FLOATS, result="int8", wanted=()),  # a scale that no half type has
    Case("quantize", lambda x, s, z: al.quantize(x, s, z, dtype="uint8", axis=0),
         lambda x, s, z: _quantized(0)(x, s[:, None], z[:, None]), ((3, 5), (3,), (3,)), result="uint8", wanted=(),
         domain="positive", label="along an axis"),
    Case("dequantize", lambda x: al.dequantize(x, 0.25, -3), lambda x: 0.25 * (x + 3.0), ((3, 5),),
         dtypes=TYPES["integer"], result="float32", wanted=()),
    Case("dequantize", lambda x, s, z: al.dequantize(x, s, z, axis=0), lambda x, s, z: s[:, None] * (x - z[:, None]),
         ((3, 5), (3,), (3,)), fixed=("uint8",), result="float32", wanted=(1, 2), label="along an axis"),
    Case("dequantize", al.dequantize, _blocks, ((4, 6), (2, 2), (2, 2)), fixed=("int8",), result="float32",
         wanted=(1, 2), label="blocks"),
    Case("dequantize_lut", lambda x, t: al.dequantize_lut(x, t, axis=0), _looked_up, ((4, 3), (2, 1, 256, 2)),
         fixed=("uint8",), wanted=(1,)),
    Case("dequantize_lut", al.dequantize_lut, lambda x, t: t[x], ((), (256,)), fixed=("uint8",), wanted=(1,),
         label="a scalar"),
    *(replace(case, dtypes=FLOATS[:1]) for case in [  # parts of complex64
        Case("view_as_complex", lambda x: raw("view_as_real")(raw("view_as_complex")(x) * 1.0), lambda x: x, ((3, 2),)),
        Case("view_as_real", lambda x: raw("view_as_real")(al.complex(x, x * 2)), lambda x: np.stack([x, 2 * x], -1),
             ((2, 3),)),
        _complex_case("complex", lambda z: z, lambda z: z, ((2, 1, 3), (4, 1))),
        _complex_case("complex", lambda a, b: a * b, lambda a, b: a * b, ((2, 1, 3),) * 2 + ((4, 1),) * 2, "product"),
        _complex_case("complex", lambda a, b: a / b, lambda a, b: a / b, ((2, 3),) * 2 + ((3,),) * 2, "quotient"),
        _complex_case("complex", lambda a, b: a - 2 * b + 1j, lambda a, b: a - 2 * b + 1j, ((2, 3),) * 2 + ((3,),) * 2,
                      "sum"),
        _complex_case("complex", lambda z: al.square(-z) + al.reciprocal(z), lambda z: z * z + 1 / z, ((2, 3),) * 2,
                      "square"),
        _complex_case("complex", lambda z: al.mean(z, axis=-2) + al.sum(z), lambda z: z.mean(-2) + z.sum(),
                      ((2, 3, 4),) * 2, "reductions"),
        Case("complex", lambda a, b: al.abs(al.complex(a, b)), np.hypot, ((2, 3), (3,)), label="abs"),
        Case("real", lambda a, b: al.real(al.complex(a, b)), lambda a, b: a, ((2, 3), (2, 3)), wanted=(0, 1)),
        Case("real", al.real, lambda x: x, ((2, 3),), label="of real numbers"),
        Case("imag", lambda a, b: al.imag(al.complex(a, b)), lambda a, b: b, ((2, 3), (2, 3)), wanted=(0, 1)),
        Case("imag", al.imag, np.zeros_like, ((2, 3),), wanted=(), label="of real numbers"),
        _complex_case("conjugate", al.conjugate, np.conj, ((2, 3), (2, 3))),
        Case("absolute_square", lambda a, b: al.absolute_square(al.complex(a, b)), lambda a, b: a * a + b * b,
             ((2, 3), (2, 3))),
        Case("planar", lambda a, b: al.planar(al.complex(a, b)), lambda a, b: np.concatenate([a, b], -1),
             ((2, 3), (2, 3))),
        *(Case("fourier_transform", raw("fourier_transform", axes=[2, 0], inverse=inverse, scaling=scaling),
               lambda x, t=t, norm=norm: _pairs(t(_from_pairs(x), axes=(0, 2), norm=norm)), ((3, 2, 5, 2),),
               label=f"{scaling} {inverse}")
          for scaling, inverse, t, norm in [("none", False, np.fft.fftn, "backward"),
                                            ("size", True, np.fft.ifftn, "backward"),
                                            ("unitary", True, np.fft.ifftn, "ortho")]),
        _complex_case("fft", lambda z: al.fft(z, axis=(1, 0)), lambda z: np.fft.fftn(z, axes=(1, 0)), ((3, 4),) * 2),
        _complex_case("fft", al.ifft, np.fft.ifft, ((3, 67),) * 2, "inverse"),
        Case("rfft", lambda x: al.planar(al.rfft(x, axis=(0, 1), norm="ortho")),
             lambda x: (lambda z: np.concatenate([z.real, z.imag], -1))(np.fft.rfftn(x, axes=(0, 1), norm="ortho")),
             ((3, 4, 2),)),
        Case("irfft", lambda a, b: al.irfft(al.complex(a, b), axis=(0, 1)),
             lambda a, b: np.fft.irfftn(a + 1j * b, axes=(0, 1)), ((3, 4, 2),) * 2),
        Case("irfft", lambda a, b: al.irfft(al.complex(a, b), odd=True, norm="forward"),
             lambda a, b: np.fft.irfft(a + 1j * b, 7, norm="forward"), ((3, 4),) * 2, label="odd"),
    ] if HAS_COMPLEX),
    Case("concat", lambda *xs: al.concat(xs, axis=-1), lambda *xs: np.concatenate(xs, -1),
         ((2, 3), (2, 1), (2, 4)), empty=((2, 0), (2, 1), (2, 0)), **_ANY),
    Case("concat", lambda *xs: al.concat(xs, axis=0), lambda *xs: np.concatenate(xs, 0), ((1, 3), (2, 3))),
    Case("cast", lambda x: al.cast(x, "int32"), np.trunc, ((3, 4),), result="int32", wanted=(),
         empty=((0,),)),
    Case("cast", lambda x: al.cast(x, "float32"), lambda x: x, ((3, 4),), result="float32", **_ANY),
    Case("cast", lambda x: al.cast(x, al.int64), np.trunc, ((3, 4),), dtypes=TYPES["any"], result="int64",
         wanted=()),
    Case("cast", lambda x: al.cast(x, bool), lambda x: x != 0, ((3, 4),), dtypes=TYPES["any"], result="bool",
         wanted=()),
    Case("shape_of", raw("shape_of"), lambda x: np.array(x.shape), ((2, 3, 4),), result="int32", wanted=()),
    Case("count", raw("count", axes=[0, -1]), lambda x: np.array(8), ((2, 3, 4),), wanted=()),
    Case("matmul", al.matmul, np.matmul, ((2, 3), (3, 4)), empty=((0, 3), (3, 4))),
    Case("matmul", lambda a, b: a @ b, np.matmul, ((2, 1, 3, 4), (5, 4, 2)), empty=((2, 0), (0, 3))),
    Case("matmul", raw("matmul", transpose_a=True), lambda a, b: a.T @ b, ((3, 2), (3, 4)),
         label="transpose_a"),
    Case("matmul", raw("matmul", transpose_b=True), lambda a, b: a @ b.T, ((2, 3), (4, 3)),
         label="transpose_b"),
    Case("matmul", raw("matmul", transpose_a=True, transpose_b=True), lambda a, b: a.T @ b.T, ((3, 2), (4, 3)),
         label="both transposed"),
    Case("matmul", raw("matmul", transpose_a=True), lambda a, b: a.T @ b, ((3, 2), (2, 3, 4)),
         label="transpose_a, broadcast"),
    Case("softmax", al.softmax, ref.softmax, ((3, 5),), empty=((0, 5),)),
    Case("softmax", lambda x: al.softmax(x, axis=1), lambda x: ref.softmax(x, 1), ((2, 4, 3),)),
    Case("log_softmax", al.log_softmax, ref.log_softmax, ((3, 5),), empty=((0, 5),)),
    Case("log_softmax", lambda x: al.log_softmax(x, axis=0), lambda x: ref.log_softmax(x, 0), ((4, 3),)),
    *(Case("softmax_cross_entropy", raw("softmax_cross_entropy", axis=axis, reduction=name),
           _cross_entropy(reduce, axis), ((3, 5), (3, 5)), label=f"{name} {axis}")
      for axis in (0, -1) for name, reduce in {"none": lambda y: y, "sum": lambda y: y.sum((0, 1))[None],
                           "mean": lambda y: y.mean((0, 1))[None]}.items()),
    *(Case("scaled_dot_product_attention", al.scaled_dot_product_attention, _attention, shapes)
      for shapes in [_QKV, ((2, 3, 5), (2, 4, 5), (2, 4, 2))]),
    Case("scaled_dot_product_attention", lambda q, k, v: al.scaled_dot_product_attention(q, k, v, scale=0.3),
         lambda q, k, v: _attention(q, k, v, scale=0.3), ((2, 2, 3, 4), (2, 1, 5, 4), (5, 4)), label="scale"),
    *(Case("scaled_dot_product_attention",
           lambda q, k, v, seen=seen: al.scaled_dot_product_attention(q, k, v, attn_mask=seen),
           lambda q, k, v, seen=seen: _attention(q, k, v, seen=seen), shapes, label=f"{label}, {len(shapes[0])} axes")
      for label, seen in {"causal": np.tri(3, 4, dtype=bool), "blind": np.tri(3, 4, -1, dtype=bool),
                          "keys": np.array([True, False, True, True])}.items()
      for shapes in [_QKV, ((3, 2), (4, 2), (4, 3))]),
    *(Case("scaled_dot_product_attention", lambda *x: al.scaled_dot_product_attention(*x[:3], attn_mask=x[3]),
           _attention, (*shapes, mask), label=f"added {mask}")
      for shapes, mask in [(_QKV, (2, 1, 3, 4)), (_QKV, (3, 4)), (_QKV, (5, 1, 1, 3, 1)), (_QKV[1:2] * 3, (2, 2, 4, 1)),
                           (((3, 2), (4, 2), (4, 3)), (3, 4))]),
    _windowed("conv2d", _X, "valid"),
    _windowed("conv2d", _X, "same", padding="same"),
    _windowed("conv2d", _X, "same, strided", padding="same", strides=(2, 3)),
    _windowed("conv2d", _X, "explicit, strided, dilated", **_STRIDED),
    _windowed("conv2d", ((2, 4, 5, 4), (3, 3, 2, 6)), "groups", groups=2, padding="same"),
    _windowed("conv2d", ((2, 6, 7, 3), (3, 3, 1, 6)), "depthwise", groups=3, strides=(1, 2)),
    _windowed("conv2d", ((2, 3, 5, 6), (4, 3, 3, 2)), "NCHW", _LAYOUTS, **_STRIDED),
    *_gradients_of("conv2d", _STRIDED, _CONV_RAW, _Y, *_X),
    *(_windowed(op, (shape,), label, *layouts, **attributes) for op in ("max_pool2d", "avg_pool2d")
      for shape, label, attributes, *layouts in [
          ((2, 4, 6, 3), "2", {"window": (2, 2)}),
          ((2, 5, 6, 3), "same", {"window": (3, 2), "strides": (2, 1), "padding": "same"}),
          ((2, 5, 6, 3), "explicit", _POOL),
          ((2, 5, 7, 4), "channels in fours", {"window": (3, 3), "strides": (2, 2), "padding": "same"}),
          ((2, 7, 8, 4), "large", {"window": (6, 6), "strides": (1, 2)}),
          ((2, 3, 5, 6), "NCHW", _POOL, {"data_layout": "NCHW"})]),
    Case("max_pool2d", raw("max_pool2d", **_CEIL, ceil_mode=True),
         lambda x: ref.max_pool2d(x, (2, 2), (2, 2), ((0, 1), (0, 1))), ((1, 5, 3, 2),), label="ceil_mode"),
    Case("avg_pool2d", raw("avg_pool2d", **_POOL_RAW, include_padding=True),
         lambda x: ref.windows(x, **_as_windows(_POOL)).mean((3, 4)), ((2, 5, 6, 3),), label="include_padding"),
    Case("max_pool2d_gradient", raw("max_pool2d_gradient", **_POOL_RAW), _max_pool2d_gradient,
         ((2, 5, 3, 3), (2, 5, 6, 3))),
    Case("max_pool2d_gradient", raw("max_pool2d_gradient", **_POOL_RAW), _max_pool2d_gradient,
         ((2, 5, 3, 8), (2, 5, 6, 8)), label="channels in fours"),
    Case("avg_pool2d_gradient", raw("avg_pool2d_gradient", **_POOL_RAW),
         lambda g, like: ref.adjoint(lambda x: ref.avg_pool2d(x, **_POOL), like)(g),
         ((2, 5, 3, 3), (2, 5, 6, 3)), wanted=(0,)),
    _rnn("plain"), _rnn("reverse", reverse=True, activation="tanh"),
    *(_rnn(name, [("mask", (3, 5))], activation=name) for name in ("none", "tanh", "sigmoid", "hard_sigmoid")),
    _rnn("one mask for all", [("mask", (5,))], activation="tanh", reverse=True),
    _lstm("plain"), _lstm("cells", result=1), _lstm("both", result=None, reverse=True),
    _lstm("masked", [("mask", (3, 2))], reverse=True), _lstm("peephole", [("peephole", (8,))]),
    _lstm("everything", [("mask", (3, 2)), ("peephole", (8,))], result=None),
    _lstm("activations", [("mask", (3, 1)), ("peephole", (8,))], reverse=True, activation="sigmoid",
          gate_activations=("hard_sigmoid", "tanh", "relu", "none")),
    _gru("plain", [("bias", (3,))]), _gru("no bias", reverse=True), _gru("before", reset_after=False),
    _gru("flip", [("bias", (3,)), ("mask", (3, 3))], flip_z=True, reverse=True),
    _gru("before, flip", [("mask", (3, 3))], reset_after=False, flip_z=True, reverse=True),
    _gru("activations", [("bias", (3,)), ("mask", (3,))], activation="sigmoid",
         gate_activations=("hard_sigmoid", "tanh")),
    _gru("before, activations", [("mask", (3, 3))], activation="sigmoid", reset_after=False,
         gate_activations=("tanh", "relu")),
    _windowed("conv3d", _X3, "valid"),
    _windowed("conv3d", _X3, "same, strided", padding="same", strides=(2, 3, 1)),
    _windowed("conv3d", _X3, "explicit, strided, dilated", **_STRIDED_3D),
    _windowed("conv3d", ((1, 3, 4, 3, 4), (2, 3, 2, 2, 6)), "groups", groups=2, padding="same"),
    _windowed("conv3d", ((2, 2, 3, 4, 3), (3, 2, 2, 2, 3)), "NCDHW", _LAYOUTS_3D, **_STRIDED_3D),
    *_gradients_of("conv3d", _STRIDED_3D, _CONV3D_RAW, _Y3, *_X3),
    _windowed("depthwise_conv2d", ((2, 5, 6, 3), (3, 2, 3, 1)), "one filter"),
    _windowed("depthwise_conv2d", ((2, 5, 6, 3), (3, 2, 3, 2)), "same, strided", padding="same", strides=(2, 3)),
    _windowed("depthwise_conv2d", ((2, 5, 6, 3), (3, 2, 3, 2)), "explicit, strided, dilated", **_STRIDED),
    _windowed("depthwise_conv2d", ((2, 3, 5, 6), (2, 3, 3, 2)), "NCHW", _LAYOUTS, **_STRIDED),
    *_gradients_of("depthwise_conv2d", _STRIDED, _DEPTHWISE_RAW, (2, 2, 7, 6), (2, 5, 6, 3), (3, 2, 3, 2)),
    _depthwise_3d(((2, 3, 4, 3, 2), (2, 2, 3, 2)), "channels last", **_STRIDED_3D),
    _depthwise_3d(((2, 3, 4, 3), (2, 2, 3, 3)), "one volume", padding="same"),
    _depthwise_3d(((2, 2, 3, 4, 3), (2, 2, 2, 3)), "channels first", axis=-4, **_STRIDED_3D),
    _depthwise_3d(((2, 3, 2, 4, 3), (2, 2, 2, 3)), "channels second", axis=-3, padding="same", strides=(1, 2, 1)),
    _depthwise_3d(((2, 1, 3, 4, 2, 3), (2, 2, 2, 3)), "channels third", axis=-2, strides=(1, 2, 1)),
    *_gradients_of("depthwise_conv3d", _STRIDED_3D, _DEPTHWISE3D_RAW, (2, 2, 3, 4, 2), (2, 3, 4, 3, 2), (2, 2, 3, 2)),
    _transposed(((2, 3, 4, 3), (3, 2, 2, 3)), (5, 5), "by default"),
    _transposed(((2, 3, 4, 3), (2, 3, 2, 3)), (6, 12), "by default, strided", strides=(2, 3)),
    _transposed(((2, 3, 4, 3), (3, 2, 2, 3)), (6, 4), "by default, same", padding="same", strides=(2, 1)),
    _transposed(((2, 3, 4, 3), (3, 2, 2, 3)), (6, 3), "by default, explicit", **_STRIDED),
    _transposed(((2, 3, 4, 3), (3, 2, 2, 3)), (8, 5), "size", strides=(2, 1)),
    Case("conv2d_transpose", lambda x, w: al.conv2d_transpose(x, w, strides=2, **_LAYOUTS),
         lambda x, w: ref.adjoint(lambda v: _channels_first(ref.conv2d)(v, w, strides=(2, 2)),
                                  np.zeros((2, 2, 7, 8)))(x), ((2, 3, 3, 4), (3, 2, 3, 2)), label="NCHW"),
    Case("im2col", lambda x: al.im2col(x, **_COLUMNS), _im2col, ((2, 4, 5, 3),)),
    Case("im2col", lambda x: al.im2col(x, **_COLUMNS, data_layout="NCHW"), _columns_first, ((2, 3, 4, 5),),
         label="NCHW"),
    Case("col2im", lambda y, like: al.col2im(y, like, **_COLUMNS), lambda y, like: ref.adjoint(_im2col, like)(y),
         ((2, 8, 18), (2, 4, 5, 3)), wanted=(0,)),
    Case("col2im", lambda y, like: al.col2im(y, like, **_COLUMNS, data_layout="NCHW"),
         lambda y, like: ref.adjoint(_columns_first, like)(y), ((2, 18, 8), (2, 3, 4, 5)), wanted=(0,), label="NCHW"),
    Case("max_pool4d", lambda x: al.max_pool4d(x, **_POOL4D), lambda x: ref.max_pool4d(x, **_POOL4D), (_X4,)),
    Case("max_pool4d", lambda x: al.max_pool4d(x, window=(1, 2, 1, 2), padding="same", dilations=(1, 1, 1, 2)),
         lambda x: ref.max_pool4d(x, (1, 2, 1, 2), (1, 2, 1, 2), "same", (1, 1, 1, 2)), ((2, 3, 3, 2, 4),),
         label="same"),
    Case("max_pool4d", lambda x: al.max_pool4d(x, window=(1, 2, 1, 2), ceil_mode=True),
         lambda x: ref.max_pool4d(x, (1, 2, 1, 2), (1, 2, 1, 2), ((0, 0), (0, 1), (0, 0), (0, 1))), ((2, 3, 2, 5),),
         label="ceil_mode"),
    Case("max_pool4d_with_indices", raw("max_pool4d_with_indices", **_POOL4D_RAW, indices_mode="local_1d"),
         lambda x: ref.max_pool4d(x, **_POOL4D), (_X4,), label="values"),
    *_indices_cases(),
    Case("max_pool4d_gradient", raw("max_pool4d_gradient", **_POOL4D_RAW), _max_pool4d_gradient(_POOL4D), (_Y4, _X4)),
    Case("avg_pool4d", lambda x: al.avg_pool4d(x, **_POOL4D), lambda x: ref.avg_pool4d(x, **_POOL4D), (_X4,)),
    Case("avg_pool4d", lambda x: al.avg_pool4d(x, **_POOL4D, include_padding=True),
         lambda x: ref.avg_pool4d(x, **_POOL4D, include_padding=True), (_X4,), label="include_padding"),
    Case("avg_pool4d_gradient", raw("avg_pool4d_gradient", **_POOL4D_RAW),
         lambda g, like: ref.adjoint(lambda x: ref.avg_pool4d(x, **_POOL4D), like)(g), (_Y4, _X4), wanted=(0,)),
    Case("l2_pool4d", lambda x: al.l2_pool4d(x, **_POOL4D), lambda x: ref.l2_pool4d(x, **_POOL4D), (_X4,)),
    Case("l2_pool4d", lambda x: al.l2_pool4d(x, window=(1, 2, 1, 2), ceil_mode=True),
         lambda x: ref.l2_pool4d(x, (1, 2, 1, 2), (1, 2, 1, 2), ((0, 0), (0, 1), (0, 0), (0, 1))), ((2, 3, 2, 5),),
         label="ceil_mode"),
    Case("l2_pool4d", lambda x: al.l2_pool4d(x, window=(1, 2, 2, 2), padding="same"),
         lambda x: ref.l2_pool4d(x, (1, 2, 2, 2), (1, 2, 2, 2), "same"), ((2, 3, 2, 5),), label="same"),
    Case("l2_pool4d_gradient", raw("l2_pool4d_gradient", **_STILL_RAW),
         lambda g, x: x * ref.adjoint(lambda v: ref._pool(v, **_STILL, dilations=(1,) * 4).sum(-1), x)(
             g / ref.l2_pool4d(x, **_STILL)), ((3, 3, 3, 5), _X4), domain="nonzero"),
    *_resize_cases(),
    *_pad_cases(),
    Case("sgd", raw("sgd"), lambda rate, values, g: values - rate * g, ((), (2, 3), (2, 3)), wanted=()),
    *(Case("adam", raw("adam", result=i), lambda *operands, i=i: _adam(*operands)[i], _ADAM, domain="fraction",
           wanted=(), label=f"result {i}") for i in range(3)),
]
# fmt: on

# Ops that are not functions of their operands, and where their tests are.
ELSEWHERE = {
    "placeholder": "test_graph.py",
    "constant": "test_graph.py",
    "variable": "test_graph.py",
    "assign": "test_graph.py",
    "read_variable": "tests/facade",
    "if_else": "test_control.py",
    "while_loop": "test_control.py",
    "for_loop": "test_control.py",
    "fresh_random_state": "tests/facade",
    "random": "test_random.py",
    "argument": "tests/cpp",
    "custom_gradient": "test_custom_gradient.py",
    "native": "test_op_library.py",
    "all_reduce": "test_steps.py",
    "fused": "tests/cpp",
    "rnn_gradient": "the gradients of rnn",
    "lstm_gradient": "the gradients of lstm",
    "gru_gradient": "the gradients of gru",
    "scaled_dot_product_attention_gradient": "tests/cpp",
    "empty": "tests/cpp",
}


if not HAS_COMPLEX:
    _OPS = (
        "view_as_real view_as_complex complex real imag conjugate absolute_square planar fourier_transform fft rfft "
        "irfft"
    )
    ELSEWHERE |= dict.fromkeys(_OPS.split(), "nowhere: that system has no complex numbers")


# ---- functions of Python that are made of several ops: named by what users call ----

_EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ki,jk", (3, 2), (4, 3)), ("i,i", (3,), (3,)),
    ("i,j->ji", (3,), (2,)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij->ji", (2, 3)), ("ba", (2, 3)), ("ij->", (2, 3)),
    ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij,j->i", (3, 3, 2), (2,)), ("bij, bjk -> bik", (2, 3, 4), (2, 4, 5)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("bij,jk->bik", (2, 3, 4), (4, 5)), ("ab,cd->", (2, 3), (2, 2)),
    ("abc,cbd->ad", (2, 3, 4), (4, 3, 2)), ("abc,dc,b->da", (2, 3, 4), (2, 4), (3,)), ("i...->...", (3, 2, 2)),
    ("a,b,c->cab", (2,), (3,), (4,)), ("...ij,jk->...ik", (2, 2, 2, 3), (3, 4)), ("...i,...i", (2, 1, 3), (4, 3)),
    ("...ij,...jk", (2, 1, 2, 3), (4, 3, 2)),
]  # fmt: skip


def _logsumexp(x, **over):
    return np.log(np.sum(np.exp(x), **over))


def _norm(x, **over):
    return np.sqrt(np.sum(x * x, **over))


def _masked(x, mask, value):
    return np.where(np.broadcast_to(mask, x.shape), np.asarray(value).astype(x.dtype), x)


_MASK = np.array([[True], [False]])
_CLOSE = {"result": "bool", "wanted": ()}
_COUNTED = {"result": "int32", "wanted": ()}

COMPOSED = [
    Case("log1p", al.log1p, np.log1p, ((2, 3),), domain="unit"),
    Case("expm1", al.expm1, np.expm1, ((2, 3),)),
    *(
        Case(function.__name__, _call(function.__name__, **options), lambda x, f=reference, o=options: f(x, **o),
             ((2, 3, 4),), label=str(options))
        for function, reference in ((al.logsumexp, _logsumexp), (al.norm, _norm), (al.std, np.std))
        for options in _AXES if options != {"axis": ()}
    ),
    *(
        Case("einsum", lambda *xs, s=subscripts: al.einsum(s, *xs), lambda *xs, s=subscripts: np.einsum(s, *xs), shapes,
             dtypes=(*(FLOATS if len(shapes) < 3 else ["float32"]), "int32"), label=f"{subscripts} {shapes}")
        for subscripts, *shapes in _EINSUMS
    ),
    Case("einsum", lambda x: al.einsum("ij,jk,k->i", x, al.eye(3), al.ones(3)), lambda x: x.sum(1), ((2, 3),),
         dtypes=("float32",), label="with arrays"),
    *(
        Case(name, _call(name, *given), lambda x, name=name, given=given: getattr(np, name)(x, *given), (shape,),
             label=f"{shape} {given}", **_ANY)
        for name, shape, *given in (
            ("repeat", (2, 3), 2), ("repeat", (2, 3), 3, 0), ("repeat", (2, 3, 4), 2, -2), ("repeat", (3,), 1, 0),
            ("repeat", (3, 2), (2, 0, 3), 0), ("repeat", (2, 2), (1, 4, 0, 2)),
            ("roll", (2, 3), 1), ("roll", (2, 3), -8), ("roll", (2, 5, 3), 7, 1), ("roll", (2, 5, 3), 0, 1),
            ("roll", (4, 5), (1, -2), (0, -1)), ("roll", (4, 5), 2, (0, 1, 0)),
            *((name, shape, k) for name in ("tril", "triu") for shape in ((3, 5), (2, 4, 3)) for k in (0, 1, -2, 9)),
            ("tril", (3, 3)), ("triu", (3, 3)),
            ("diag", (3,)), ("diag", (3,), 2), ("diag", (3,), -1), ("diag", (3, 5)), ("diag", (4, 4), 1),
            ("diag", (3, 5), 3), ("diag", (3, 5), -2), ("diag", (5, 3), -3),
        )
    ),
    *(
        Case("outer", al.outer, np.outer, shapes, dtypes=TYPES["numeric"])
        for shapes in (((2,), (3,)), ((2, 2), (3,)), ((), (3,)))
    ),
    Case("outer", lambda x: al.outer(np.float32([1, 2]), x), lambda x: np.outer([1, 2], x), ((3,),),
         dtypes=("float32",), label="an array"),
    *(
        Case("median", _call("median", **options), lambda x, o=options: np.median(x, **o), (shape,),
             label=f"{shape} {options}")
        for shape in ((2, 3, 4), (3, 1, 3)) for options in (*_AXES, {"axis": (1,)}) if options != {"axis": ()}
    ),
    *(
        Case("count_nonzero", _call("count_nonzero", **options),
             lambda x, o=options: np.count_nonzero(x, **o), ((2, 3, 4),), label=str(options), **_COUNTED | {"dtypes":
             TYPES["any"]})
        for options in _AXES if options != {"axis": ()}
    ),
    Case("masked_fill", lambda x: al.masked_fill(x, _MASK, True), lambda x: _masked(x, _MASK, True), ((2, 3),), **_ANY),
    Case("masked_fill", lambda x, mask, value: al.masked_fill(x, mask, value), _masked, ((2, 3), (3,), ()),
         fixed=(None, "bool"), label="tensors"),
    Case("isclose", lambda a: al.isclose(a, 1), lambda a: np.isclose(a, 1), ((2, 3),), **_ANY | _CLOSE),
    Case("isclose", lambda a, b: al.isclose(a, b, rtol=0.25, atol=0.5), lambda a, b: np.isclose(a, b, 0.25, 0.5),
         ((9, 1), (7,)), dtypes=TYPES["numeric"], label="wide", **_CLOSE),
]  # fmt: skip


def all_cases() -> list[Case]:
    return [*_table_cases(), *STRUCTURED, *COMPOSED]


# ---- calls that are not legal ----

# Of functions that are made of several ops: their name, a call, the operands' shapes, and what the message says.
WRONG_COMPOSED = [
    ("repeat", lambda x: al.repeat(x, 0), [(2, 3)], "Expected a number of repeats of 1 or more, got 0"),
    ("repeat", lambda x: al.repeat(x, (1, 2), 1), [(2, 3)], r"3 repeats .* float32\(2, 3\), got \(1, 2\)"),
    ("repeat", lambda x: al.repeat(x, (1, 2, -1), 1), [(2, 3)], r"3 repeats of 0 or more .*, got \(1, 2, -1\)"),
    ("repeat", lambda x: al.repeat(x, (1, 2), 0), [(None, 3)], r"extent along axis 0 must be known .* \(\?, 3\)"),
    ("repeat", lambda x: al.repeat(x, 2**62, 1), [(2, 3)], "The result .* is larger than any memory"),
    ("repeat", lambda x: al.repeat(x, 2, 2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    ("repeat", lambda x: al.repeat(x, 2, (0, 1)), [(2, 3)], r"Expected an axis as an integer, got \(0, 1\)"),
    ("roll", lambda x: al.roll(x, 1, -3), [(2, 3)], "Axis -3 is outside a tensor of rank 2"),
    ("roll", lambda x: al.roll(x, 1.5), [(2, 3)], "Expected a shift of integers, got 1.5"),
    ("roll", lambda x: al.roll(x, (1, 2), 0), [(2, 3)], r"Expected a shift for each of 1 axes, got \(1, 2\)"),
    ("roll", lambda x: al.roll(x, 1, 0), [(None, 3)], r"extent along axis 0 must be known .* \(\?, 3\)"),
    ("tril", al.tril, [(3,)], "Axis -2 is outside a tensor of rank 1"),
    ("tril", lambda x: al.tril(x, 0.5), [(2, 3)], "Expected k as an integer, got 0.5"),
    ("triu", al.triu, [(None, 3)], r"extent along axis 0 must be known .* \(\?, 3\)"),
    ("diag", al.diag, [(2, 3, 4)], r"Expected a vector or a matrix, got float32\(2, 3, 4\)"),
    ("diag", al.diag, [(None,)], r"extent along axis 0 must be known .* \(\?,\)"),
    ("diag", lambda x: al.diag(x, 2**30), [(3,)], "The result .* is larger than any memory"),
    ("diag", lambda x: al.diag(x, "1"), [(3,)], "Expected k as an integer, got '1'"),
    ("outer", lambda x: al.outer(x, 2.0), [(3,)], "Expected tensors or arrays, got float"),
    ("outer", lambda x: al.outer(x, np.ones(2, bool)), [(3,)], "Expected operands of a number, got bool"),
    ("median", lambda x: al.median(x, 2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    ("median", lambda x: al.median(x, (0, 0)), [(2, 3)], r"permutation of the 2 axes of shape \(2, 3\)"),
    ("median", al.median, [(None, 3)], r"extent along axis 0 must be known .* \(\?, 3\)"),
    ("median", lambda x: al.median(x, (2, 3)), [(None, None, 2, 3)], "Expected a shape with at most one unknown"),
    ("median", al.median, [(0, 3)], r"Expected elements along the axes, got float32\(0, 3\)"),
    ("median", lambda x: al.median(al.cast(x, "int32")), [(2,)], r"Expected a floating type, got int32\(2,\)"),
    ("count_nonzero", lambda x: al.count_nonzero(x, 5), [(2, 3)], "Axis 5 is outside a tensor of rank 2"),
    ("masked_fill", lambda x: al.masked_fill(x, np.ones((2, 2, 3), bool), 0), [(2, 3)],
     r"Shape \(2, 2, 3\) does not broadcast to shape \(2, 3\)"),
    ("masked_fill", lambda x, value: al.masked_fill(x, True, value), [(3,), (2, 3)],
     r"Shape \(2, 3\) does not broadcast to shape \(3,\)"),
    ("masked_fill", lambda x: al.masked_fill(x, x > 0, "a"), [(2, 3)], "a tensor, a number or an array, got str"),
    ("isclose", al.isclose, [(2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) do not broadcast"),
    ("isclose", lambda x: al.isclose(x, x, rtol=None), [(2, 3)], "Expected numbers as rtol and atol, got NoneType"),
    ("isclose", lambda x: al.isclose(1.0, 2.0), [(2, 3)], "Expected a tensor, got float"),
    ("einsum", lambda x: al.einsum("i,i", np.ones(3), np.ones(3)), [(3,)], "Expected a tensor behind the subscripts"),
    ("scaled_dot_product_attention", al.scaled_dot_product_attention, [(2, 3, 5), (2, 4, 5), (2, 3, 2)],
     r"key has 4 steps \(shape \(2, 4, 5\)\) but the value has 3 \(shape \(2, 3, 2\)\)"),
    ("scaled_dot_product_attention", al.scaled_dot_product_attention, [(2, 3, 5), (3, 4, 5), (4, 2)],
     r"Leading dimensions of shapes \(2, 3, 5\), \(3, 4, 5\) and \(4, 2\) do not broadcast"),
    ("scaled_dot_product_attention", al.scaled_dot_product_attention, [(5,), (4, 5), (4, 2)],
     r"Expected operands of rank 2 or more, got shapes \(5,\), \(4, 5\) and \(4, 2\)"),
    ("scaled_dot_product_attention", al.scaled_dot_product_attention, [(3, None), (4, None), (4, 2)],
     r"Expected a query \(..., steps, features\) of known features, got float32\(3, \?\)"),
    ("scaled_dot_product_attention", lambda q, k, v: al.scaled_dot_product_attention(q, k, al.cast(v, "float16")),
     [(3, 5), (4, 5), (4, 2)], r"Operands of different types: float32\(3, 5\) and float16\(4, 2\)"),
    ("scaled_dot_product_attention", lambda x: al.scaled_dot_product_attention(*[al.cast(x, "int32")] * 3),
     [(3, 5)], r"Expected operands of a floating type, got int32\(3, 5\)"),
    ("scaled_dot_product_attention", lambda q, k, v: al.scaled_dot_product_attention(q, k, v, scale="1"),
     [(3, 5), (4, 5), (4, 2)], "Expected a number as scale, got '1'"),
    *(("scaled_dot_product_attention", lambda q, k, v, m: al.scaled_dot_product_attention(q, k, v, attn_mask=m),
       [(1, 5), (4, 5), (4, 2), mask], r"The mask has shape .* but the scores have shape \(1, 4\)")
      for mask in [(1, 3), (3, 4)]),
]  # fmt: skip

# For each structured op: how it is called, the operands' shapes, and what the message says.
# fmt: off
WRONG = {
    "select": (al.where, [(2, 3), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) do not broadcast"),
    "clamp": (al.clamp, [(2, 3), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) do not broadcast"),
    "reshape": (lambda x: al.reshape(x, (4, 2)), [(2, 3)], r"\(2, 3\) has 6 elements .* \(4, 2\)"),
    "reshape_like": (raw("reshape_like"), [(2, 3), (4, 2)],
                     r"\(2, 3\) has 6 elements and does not fit into shape \(4, 2\)"),
    "shaped": (raw("shaped", dtype=al.float32), [(2, 3)],
               r"Expected a shape as a vector of integers, got float32\(2, 3\)"),
    "squeeze": (lambda x: al.squeeze(x, axis=1), [(2, 3)], r"Axis 1 of shape \(2, 3\) is not of size 1"),
    "expand_dims": (lambda x: al.expand_dims(x, axis=4), [(2, 3)], "Axis 4 is outside a tensor of rank 3"),
    "transpose": (lambda x: al.transpose(x, (0, 0)), [(2, 3)], r"the 2 axes of shape \(2, 3\), got \(0, 0\)"),
    "broadcast_to": (lambda x: al.broadcast_to(x, (2, 4)), [(2, 3)],
                     r"\(2, 3\) does not broadcast to shape \(2, 4\)"),
    "broadcast_like": (raw("broadcast_like"), [(2, 3), (2, 4)], r"\(2, 3\) does not broadcast to shape \(2, 4\)"),
    "reduce_like": (raw("reduce_like"), [(2, 3), (2, 4)], r"\(2, 3\) is not a broadcast of shape \(2, 4\)"),
    "slice": (lambda x: x[::0], [(2, 3)], "A stride is 0"),
    "slice_gradient": (raw("slice_gradient", **_SLICE), [(2, 2), (3, 5)],
                       r"gradient of shape \(2, 3\), got shape \(2, 2\)"),
    "gather": (lambda x, i: al.gather(x, al.cast(i, "int32"), axis=1, batch_dims=1), [(2, 3), (3, 4)],
               r"Batch dimensions of shape \(2, 3\) and of indices shape \(3, 4\) differ"),
    "scatter_nd": (raw("scatter_nd", batch_dims=0), [(2, 3), (2, 1), (5, 3)],
                   r"Expected indices of an integer type, got float32\(2, 1\)"),
    "scatter": (lambda x, u: raw("scatter", axis=0, mode="add")(x, u, x.graph.constant(np.int32([1, 0]))),
                [(4, 3), (3, 3)], r"Expected updates of shape \(2, 3\), got shape \(3, 3\)"),
    "dropout": (lambda x, chance: raw("dropout")(al.cast(x, "int32"), x, chance), [(2, 3), (2, 3)],
                r"Expected a tensor of a floating type, got int32\(2, 3\)"),
    "gather_nd": (lambda x: al.gather_nd(x, np.int32([[0, 1, 0]])), [(2, 3)],
                  r"Expected tuples of 1 to 2 indices into shape \(2, 3\), got indices shape \(1, 3\)"),
    "gather_along_axis": (lambda x: al.take_along_axis(x, np.int32([[0, 1], [1, 0]]), 0), [(2, 3)],
                          r"Expected indices of shape \(\?, 3\), got shape \(2, 2\)"),
    "scatter_nd_update": (lambda x, u: al.scatter_nd(x, np.int32([[0], [1]]), u), [(4, 3), (3, 3)],
                          r"Expected updates of shape \(2, 3\), got shape \(3, 3\)"),
    "scatter_along_axis": (lambda x, u: al.put_along_axis(x, np.int32([[0, 1], [1, 0]]), u, 2), [(2, 3), (2, 2)],
                           "Axis 2 is outside a tensor of rank 2"),
    "scatter_start": (raw("scatter_start", shape=(2, -3), mode="add"), [(2,)], "-3"),
    "argsort": (lambda x: al.argsort(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "sort": (lambda x: al.sort(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "top_k": (lambda x: al.top_k(x, 4), [(2, 3)],
              r"Expected at most the 3 elements along the axis of shape \(2, 3\), got 4"),
    "top_k_gradient": (raw("top_k_gradient", axis=1, count=2, descending=True), [(2, 3), (2, 5)], r"\(2, 3\)"),
    "accumulate": (lambda x: raw("accumulate", axis=0, operation="sum")(al.cast(x, bool)), [(2, 3)],
                   r"Expected operands of a number, got bool\(2, 3\)"),
    "cumulative": (lambda x: al.cumsum(x, axis=-3), [(2, 3)], "Axis -3 is outside a tensor of rank 2"),
    "one_hot": (lambda x: al.one_hot(x, 3), [(2, 3)], r"Expected indices of an integer type, got float32\(2, 3\)"),
    "split": (lambda x: al.split(x, (1, 3), axis=1), [(2, 3)], r"sizes of 0 or more that add up to 3, got \(1, 3\)"),
    "split_evenly": (lambda x: al.split(x, 4, axis=1), [(2, 3)], "Expected 1 to 3 parts, got 4"),
    "stack": (lambda a, b: al.stack([a, b], axis=1), [(2, 3), (2, 4)],
              r"\(2, 1, 3\) and \(2, 1, 4\) differ in more than axis 1"),
    "interleave": (lambda a, b: al.interleave([a, b], axis=1), [(2, 3), (2, 4)],
                   r"Expected tensors of one shape, got shape \(2, 3\) and shape \(2, 4\)"),
    "tile": (lambda x: al.tile(x, 2), [(2, 3)], r"Expected 2 repeats of 0 or more for shape \(2, 3\), got \(2,\)"),
    "tile_gradient": (raw("tile_gradient", repeats=[2, 3]), [(4, 8), (2, 3)],
                      r"Expected a gradient of shape \(4, 9\), got shape \(4, 8\)"),
    "reverse": (lambda x: al.flip(x, axis=(1, -1)), [(2, 3)], "Axes repeat"),
    "flatten2d": (raw("flatten2d", axis=-1), [(2, 3)], "Expected an axis from 0 to 2, got -1"),
    "coordinates": (lambda x: al.coordinates(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "slice_update": (raw("slice_update", **_SLICE), [(3, 5), (2, 2)],
                     r"Expected an update of shape \(2, 3\), got shape \(2, 2\)"),
    "space_to_batch": (lambda x: al.space_to_batch(x, (2,), axis=(1,)), [(2, 3)],
                       r"Axis 1 of shape \(2, 3\) is no multiple of 2"),
    "batch_to_space": (lambda x: al.batch_to_space(x, (2,), axis=(1,)), [(3, 3)],
                       r"Axis 0 of shape \(3, 3\) is no multiple of 2"),
    "band_part": (lambda x: al.band_part(x, 1, 1), [(3,)], r"Expected matrices, of rank 2 or more, got shape \(3,\)"),
    "bitcast": (lambda x: al.bitcast(x, "int64"), [(2, 3)],
                r"The last dimension of float32\(2, 3\) does not hold whole elements of int64"),
    "concat": (lambda a, b: al.concat([a, b], axis=0), [(2, 3), (2, 4)],
               r"\(2, 3\) and \(2, 4\) differ in more than axis 0"),
    "cast": (lambda x: al.cast(al.cast(x, "complex64"), "float32"), [(2, 3)],
             "Complex numbers are not cast to real ones"),
    "leaky_relu": (al.leaky_relu, [(2, 3), (4,)], r"\(4,\) and \(2, 3\) do not broadcast"),
    "leaky_relu_gradient": (raw("leaky_relu_gradient"), [(2, 3), (2, 3), (4,)],
                            r"\(4,\) and \(2, 3\) do not broadcast"),
    "hamming_distance": (lambda a, b: al.hamming_distance(a, b, dtype="int32"), [(2, 3), (2, 3)],
                         "Expected a result of uint16 or uint32, got int32"),
    "inverse": (al.inverse, [(2, 3)], r"Expected square matrices, got shape \(2, 3\)"),
    "quantize": (lambda x: al.quantize(x, 1.0, dtype="int32"), [(2, 3)], "result of int8 or uint8, got int32"),
    "dequantize": (lambda x: al.dequantize(x, 1.0), [(2, 3)], r"an integer type, got float32\(2, 3\)"),
    "dequantize_lut": (al.dequantize_lut, [(2, 3), (2, 3, 256)], r"of uint8, got float32\(2, 3\)"),
    "view_as_real": (raw("view_as_real"), [(2, 3)], r"Expected complex numbers, got float32\(2, 3\)"),
    "view_as_complex": (raw("view_as_complex"), [(2, 3)], r"last axis of 2 parts, got shape \(2, 3\)"),
    "complex": (al.complex, [(2, 3), (2, 4)], r"\(2, 3, 1\) and \(2, 4, 1\) do not broadcast"),
    "planar": (lambda x: al.planar(al.sum(al.complex(x, x))), [(2, 3)], "rank 1 or more, got a scalar"),
    "fourier_transform": (raw("fourier_transform", axes=[2], inverse=False, scaling="none"), [(2, 3, 2)],
                          "Axis 2 is outside a tensor of rank 2"),
    "fft": (lambda x: al.fft(x, axis=(0, -2)), [(2, 3)], "Axes repeat"),
    "rfft": (lambda x: al.rfft(al.complex(x, x)), [(2, 3)], r"Expected real numbers, got complex64\(2, 3\)"),
    "irfft": (al.irfft, [(2, 3)], r"Expected complex numbers, got float32\(2, 3\)"),
    "count": (raw("count", axes=[2]), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "matmul": (al.matmul, [(2, 3), (4, 5)],
               r"Inner dimensions differ: 3 of shape \(2, 3\) and 4 of shape \(4, 5\)"),
    "softmax": (lambda x: al.softmax(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "log_softmax": (lambda x: al.log_softmax(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "softmax_cross_entropy": (al.losses.softmax_cross_entropy, [(2, 3), (2, 4)],
                              r"labels of shape \(2, 3\) .* got float32\(2, 4\)"),
    "scaled_dot_product_attention": (
        al.scaled_dot_product_attention, [(2, 3, 5), (2, 4, 6), (2, 4, 2)],
        r"query has 5 features \(shape \(2, 3, 5\)\) but the key has 6 \(shape \(2, 4, 6\)\)"),
    "conv2d": (al.conv2d, [(2, 5, 5, 3), (3, 3, 4, 2)],
               r"Input has 3 channels \(shape \(2, 5, 5, 3\)\) but the weights expect 4"),
    "conv2d_data_gradient": (raw("conv2d_data_gradient", **_CONV_RAW), [(2, 9, 7, 4), _X[1], _X[0]],
                             r"incoming gradient of shape \(2, 2, 7, 4\), got shape \(2, 9, 7, 4\)"),
    "conv2d_weights_gradient": (raw("conv2d_weights_gradient", **_CONV_RAW), [(2, 9, 7, 4), *_X],
                                r"incoming gradient of shape \(2, 2, 7, 4\), got shape \(2, 9, 7, 4\)"),
    "max_pool2d": (lambda x: al.max_pool2d(x, window=4), [(2, 3, 5, 1)],
                   r"window of 4 does not fit into the height of shape \(2, 3, 5, 1\)"),
    "avg_pool2d": (lambda x: al.avg_pool2d(x, window=4), [(2, 5, 3, 1)],
                   r"window of 4 does not fit into the width of shape \(2, 5, 3, 1\)"),
    "max_pool2d_gradient": (raw("max_pool2d_gradient", **_POOL_RAW), [(2, 5, 4, 3), (2, 5, 6, 3)],
                            r"shape \(2, 5, 3, 3\), got shape \(2, 5, 4, 3\)"),
    "avg_pool2d_gradient": (raw("avg_pool2d_gradient", **_POOL_RAW), [(2, 5, 4, 3), (2, 5, 6, 3)],
                            r"shape \(2, 5, 3, 3\), got shape \(2, 5, 4, 3\)"),
    "rnn": (al.rnn, [(4, 3, 5), (5, 6)], r"weights of shape \(6, 6\), got shape \(5, 6\)"),
    "lstm": (al.lstm, [(4, 3, 9), (8, 2)], r"x of shape \(4, 3, 8\), got shape \(4, 3, 9\)"),
    "gru": (al.gru, [(4, 3, 9), (9, 2)], r"weights of shape \(6, 2\), got shape \(9, 2\)"),
    "rnn_gradient": (raw("rnn_gradient", activations=[1]), [(4, 3, 5), (4, 2, 5), (5, 5)],
                     r"incoming gradient of shape \(4, 2, 5\), got shape \(4, 3, 5\)"),
    "lstm_gradient": (raw("lstm_gradient", activations=[3, 3, 2, 3]),
                      [(4, 3, 2), (4, 3, 8), (4, 3, 2), (8, 2), (3, 2)],
                      r"Expected 5 activations, numbers from 0 to 4, got \(3, 3, 2, 3\)"),
    "gru_gradient": (raw("gru_gradient", activations=[3, 3, 2], masked=True),
                     [(4, 3, 2), (4, 3, 6), (4, 3, 2), (6, 2), (3, 2)],
                     "Expected 6 operands with these flags, got 5"),
    "conv3d": (al.conv3d, [(2, 3, 3, 3, 3), (2, 2, 2, 4, 2)],
               r"Input has 3 channels \(shape \(2, 3, 3, 3, 3\)\) but the weights expect 4"),
    "conv3d_data_gradient": (raw("conv3d_data_gradient", **_CONV3D_RAW), [(2, 2, 3, 5, 3), _X3[1], _X3[0]],
                             r"incoming gradient of shape \(2, 2, 3, 4, 3\), got shape \(2, 2, 3, 5, 3\)"),
    "conv3d_weights_gradient": (raw("conv3d_weights_gradient", **_CONV3D_RAW), [(2, 2, 3, 5, 3), *_X3],
                                r"incoming gradient of shape \(2, 2, 3, 4, 3\), got shape \(2, 2, 3, 5, 3\)"),
    "conv2d_transpose": (lambda x, w: al.conv2d_transpose(x, w, output_size=(9, 5)), [(2, 3, 4, 3), (3, 2, 2, 3)],
                         r"incoming gradient of shape \(2, 7, 4, 3\), got shape \(2, 3, 4, 3\)"),
    "depthwise_conv2d": (al.depthwise_conv2d, [(2, 5, 6, 3), (3, 2, 4, 1)],
                         r"Input has 3 channels \(shape \(2, 5, 6, 3\)\) but the weights expect 4"),
    "depthwise_conv2d_data_gradient": (raw("depthwise_conv2d_data_gradient", **_DEPTHWISE_RAW),
                                       [(2, 2, 7, 5), (3, 2, 3, 2), (2, 5, 6, 3)],
                                       r"incoming gradient float32\(2, 2, 7, 6\), got float32\(2, 2, 7, 5\)"),
    "depthwise_conv2d_weights_gradient": (raw("depthwise_conv2d_weights_gradient", **_DEPTHWISE_RAW),
                                          [(2, 2, 7, 5), (2, 5, 6, 3), (3, 2, 3, 2)],
                                          r"incoming gradient float32\(2, 2, 7, 6\), got float32\(2, 2, 7, 5\)"),
    "depthwise_conv3d": (lambda x, w: al.depthwise_conv3d(x, w, axis=0), [(2, 3, 4, 3), (2, 2, 3, 3)],
                         "Expected the channels at an axis from -4 to -1, got 0"),
    "depthwise_conv3d_data_gradient": (raw("depthwise_conv3d_data_gradient", **_DEPTHWISE3D_RAW),
                                       [(2, 2, 3, 4, 2), (2, 2, 3, 3), (2, 3, 4, 3, 2)], "Input has 2 channels"),
    "depthwise_conv3d_weights_gradient": (raw("depthwise_conv3d_weights_gradient", **_DEPTHWISE3D_RAW),
                                          [(2, 2, 3, 5, 2), (2, 3, 4, 3, 2), (2, 2, 3, 2)],
                                          r"incoming gradient float32\(2, 2, 3, 4, 2\), got float32\(2, 2, 3, 5, 2\)"),
    "im2col": (lambda x: al.im2col(x, window=4), [(2, 3, 5, 1)], r"window of 4 does not fit into shape \(2, 3, 5, 1\)"),
    "col2im": (lambda y, like: al.col2im(y, like, window=2), [(2, 7, 4), (2, 3, 5, 1)],
               r"incoming gradient float32\(2, 8, 4\), got float32\(2, 7, 4\)"),
    "max_pool4d": (lambda x: al.max_pool4d(x, window=(1, 4, 1, 1)), [(2, 3, 5, 1)],
                   r"window of 4 does not fit into the axis -3 of shape \(2, 3, 5, 1\)"),
    "max_pool4d_with_indices": (lambda x: al.max_pool4d_with_indices(x, window=(1, 1, 1, 2))[0], [(3, 5, 1)],
                                r"Expected a source of rank 4 or more, got shape \(3, 5, 1\)"),
    "max_pool4d_gradient": (raw("max_pool4d_gradient", **_POOL4D_RAW), [(3, 2, 3, 4), _X4],
                            r"shape \(3, 2, 3, 5\), got shape \(3, 2, 3, 4\)"),
    "max_pool4d_gradient_with_indices": (
        lambda g, x: al.max_unpool4d(g, al.cast(g, "int32"), x, **_POOL4D, indices="global_2d"), [_Y4, _X4],
        "Indices over the last 2 axes do not tell where windows over others are"),
    "avg_pool4d": (lambda x: al.avg_pool4d(x, window=(1, 1, 1, 4)), [(2, 5, 3, 1)],
                   r"window of 4 does not fit into the axis -1 of shape \(2, 5, 3, 1\)"),
    "avg_pool4d_gradient": (raw("avg_pool4d_gradient", **_POOL4D_RAW), [(3, 2, 3, 4), _X4],
                            r"shape \(3, 2, 3, 5\), got shape \(3, 2, 3, 4\)"),
    "l2_pool4d": (lambda x: al.l2_pool4d(x, window=(1, 1, 1, 4)), [(2, 5, 3, 1)],
                  r"window of 4 does not fit into the axis -1 of shape \(2, 5, 3, 1\)"),
    "l2_pool4d_gradient": (raw("l2_pool4d_gradient", **_POOL4D_RAW), [(3, 2, 3, 4), _X4],
                           r"incoming gradient float32\(3, 2, 3, 5\), got float32\(3, 2, 3, 4\)"),
    "resize": (lambda x: al.resize(x, (2, 3), axis=(1, 5)), [(2, 3, 4)], "Axis 5 is outside a tensor of rank 3"),
    "resize_gradient": (raw("resize_gradient", axes=[1], resize_mode="nearest", rounding="floor"), [(2, 3), (3, 2)],
                        r"incoming gradient float32\(3, 3\), got float32\(2, 3\)"),
    "pad": (lambda x: al.pad(x, ((1, 0),)), [(2, 3)], r"Expected 4 paddings for shape \(2, 3\), got \(1, 0\)"),
    "pad_edges": (lambda x: al.pad(x, 3, mode="reflect"), [(3, 5)],
                  r"A padding of 3 does not fit axis 0 of shape \(3, 5\) in mode reflect"),
    "pad_gradient": (raw("pad_gradient", padding=[1, 0, 0, 2], pad_mode="edge"), [(3, 4), (2, 3)],
                     r"incoming gradient float32\(3, 5\), got float32\(3, 4\)"),
    "sgd": (raw("sgd"), [(), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) of values, state and gradient differ"),
    "adam": (raw("adam"), [*_ADAM[:-1], (2, 4)], r"\(2, 3\) and \(2, 4\) of values, state and gradient differ"),
}
# fmt: on
# What messages of an op begin with, where users call its function by another name.
TYPED = {
    "select": "where",
    "product": "prod",
    "scatter_nd_update": "scatter_nd",
    "gather_along_axis": "take_along_axis",
    "scatter_along_axis": "put_along_axis",
    "pad_edges": "pad",
    "split_evenly": "split",
    "cumulative": "cumsum",
    "max_pool4d_gradient_with_indices": "max_unpool4d",
    "reverse": "flip",
}
ALWAYS_LEGAL = {"identity", "logical_not", "shape_of", "stop_gradient"}  # of every shape and dtype
ALWAYS_LEGAL |= {"absolute_square", "conjugate", "imag", "real"}


def wrong_call(row) -> tuple[Callable, list, list, str]:
    """(call, shapes, dtypes, what the message says) of an illegal use of the op."""
    op, family = row["name"], row["family"]
    if op in WRONG:
        call, shapes, says = WRONG[op]
        return call, shapes, ["float32"] * len(shapes), says
    assert family not in ("structured", "ternary", "composite"), (
        f"{op}: add an illegal call to WRONG of tests/python/cases.py, or the op to ALWAYS_LEGAL"
    )
    call = function_of(op)
    if family in ("reduction", "moment"):
        return lambda x: call(x, axis=5), [(2, 3)], ["float32"], "Axis 5 is outside a tensor of rank 2"
    if family == "arg_reduction":
        return lambda x: call(x, axis=5), [(2, 3)], ["float32"], "Axis 5 is outside a tensor of rank 2"
    if family in ("unary", "activation", "predicate"):
        given = {"floating": "int32", "numeric": "bool", "integer": "float32"}[row["types"]]
        return call, [(2, 3)], [given], rf"Expected operands of a .*, got {given}\(2, 3\)"
    return call, [(2, 3), (2, 4)], TYPES[row["types"]][:1] * 2, r"\(2, 3\) and \(2, 4\) do not broadcast"
