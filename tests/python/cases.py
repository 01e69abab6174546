"""The one table of cases for ops: how each is called, on which shapes, and what it means in float64 NumPy.

An op of the table's families needs an entry in REFERENCES where NumPy has no function of its name; a structured op
needs rows in STRUCTURED and an entry in WRONG."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import alloy as al
import reference as ref
from alloy.graph.dtypes import numpy_dtype
from alloy.graph.location import user_location

# macOS 13 has no bfloat16 (csrc/ir/quirks.def).
FLOATS = ("float32", "float16") + ("bfloat16",) * (not al.device().system.startswith("macOS 13"))
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
    dtypes: tuple = ("float32",)  # that the operands may have
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
        for array, shape, kind in zip(arrays, shapes, kinds)
    ]


def raw(op, result=0, **attributes):
    """An op without a function of its own, with all its attributes."""
    return lambda *tensors: tensors[0].graph.apply(op, list(tensors), attributes, "", user_location())[result]


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


# fmt: off
REFERENCES = {  # of ops that NumPy does not have under the same name, with the same meaning
    "identity": lambda x: x, "rsqrt": lambda x: x**-0.5, "relu": lambda x: np.maximum(x, 0), "sigmoid": _sigmoid,
    "relu_gradient": lambda g, x: np.where(x <= 0, 0, g),
    "sigmoid_gradient": lambda g, x: g * _sigmoid(x) * _sigmoid(-x), "divide": _divide, "divide_no_nan": np.divide,
    "is_nan": np.isnan, "is_infinite": np.isinf, "is_finite": np.isfinite,
    "exp10": lambda x: 10.0**x, "erf": np.vectorize(math.erf), "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "signbit": lambda x: np.signbit(x) if x.dtype == np.float64 else x < 0,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "minimum_propagate_nan": np.minimum, "maximum_propagate_nan": np.maximum,
    "population_count": lambda x: np.vectorize(lambda n: (int(n) % 2 ** (8 * x.itemsize)).bit_count())(x),
    "bitwise_not": np.invert, "logical_nand": lambda a, b: ~np.logical_and(a, b),
    "logical_nor": lambda a, b: ~np.logical_or(a, b), "logical_xnor": lambda a, b: ~np.logical_xor(a, b),
    "max_propagate_nan": np.max, "min_propagate_nan": np.min,
    "product": np.prod, "mean": _mean, "variance": _variance}
# fmt: on


def table_reference(op):
    reference = REFERENCES.get(op) or getattr(np, op, None)
    assert reference, f"{op}: add an entry to REFERENCES of tests/python/cases.py"
    return reference


_UNARY = [((2, 3),), ((),), ((70001,),)]
_BINARY = [((2, 3), (2, 3)), ((2, 1, 3), (4, 1)), ((3,), ()), ((), (2, 2)), ((1, 5), (3, 1))]
_AXES = [{}, {"axes": ()}, {"axes": 1}, {"axes": (0, -1)}, {"axes": (2, 1), "keepdims": True}]
_AXIS = [{}, {"axis": 0, "keepdims": True}, {"axis": 1}]


def _table_cases():
    for row in al.op_table():
        op, family = row["name"], row["family"]
        if family in ("structured", "ternary", "composite"):
            continue
        function, reference = getattr(al, op), table_reference(op)
        common = {"dtypes": TYPES[row["types"]], "domain": row["domain"]}
        if op == "divide" and al.device().system:
            common["dtypes"] = tuple(
                dtype for dtype in common["dtypes"] if dtype != "uint64"
            )  # refused: integer_quotient of quirks.def
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
    numpy_options = {
        "keepdims": options.get("keepdims", False),
        "axis": options.get("axis", -1) if arg else options.get("axes"),
    }
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


def _nchw(function):
    """A reference of NHWC data, and of HWIO weights if any, for NCHW and OIHW."""

    def turned(x, *weights, **attributes):
        y = function(x.transpose(0, 2, 3, 1), *(w.transpose(2, 3, 1, 0) for w in weights), **attributes)
        return y.transpose(0, 3, 1, 2)

    return turned


def _conv(shapes, label, layouts=None, **attributes):
    layouts = layouts or {}
    reference = _nchw(ref.conv2d) if layouts else ref.conv2d
    return Case(
        "conv2d",
        lambda x, w: al.conv2d(x, w, **attributes, **layouts),
        lambda x, w: reference(x, w, **attributes),
        shapes,
        empty=((0, *shapes[0][1:]), shapes[1]),
        label=label,
    )


def _pool(op, shape, label, layouts=None, **attributes):
    layouts = layouts or {}
    reference = getattr(ref, op)
    reference = _nchw(reference) if layouts else reference
    return Case(
        op,
        lambda x: getattr(al, op)(x, **attributes, **layouts),
        lambda x: reference(x, **({"strides": attributes["window"]} | attributes)),
        (shape,),
        empty=((0, *shape[1:]),),
        label=label,
    )


_STRIDED = {"strides": (2, 1), "padding": ((1, 0), (2, 1)), "dilations": (1, 2)}
_CONV_RAW = {
    "strides": [2, 1],
    "padding": [1, 0, 2, 1],
    "padding_style": "explicit",
    "dilations": [1, 2],
    "groups": 1,
    "data_layout": "NHWC",
    "weights_layout": "HWIO",
}
_POOL_RAW = {
    "window": [2, 3],
    "strides": [1, 2],
    "padding": [1, 0, 0, 1],
    "padding_style": "explicit",
    "dilations": [1, 1],
    "data_layout": "NHWC",
}
_POOL = {"window": (2, 3), "strides": (1, 2), "padding": ((1, 0), (0, 1))}
_CEIL = _POOL_RAW | {
    "window": [2, 2],
    "strides": [2, 2],
    "padding": [0, 0, 0, 0],
    "padding_style": "valid",
    "ceil_mode": True,
}


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


def _scatter(mode, axis):
    combine = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "minimum": np.minimum,
               "maximum": np.maximum, "set": lambda x, update: update}[mode]  # fmt: skip

    def reference(x, updates, indices):
        out = np.moveaxis(x.copy(), axis, 0)
        for place, update in zip(indices, np.moveaxis(updates, axis, 0)):
            if 0 <= place < len(out):
                out[place] = combine(out[place], update)
        return np.moveaxis(out, 0, axis)

    return reference


def _one_hot(depth, axis=-1):
    def reference(indices):
        places = np.expand_dims(np.arange(depth), tuple(range(1, -axis if axis < 0 else indices.ndim + 1 - axis)))
        return (np.expand_dims(indices, axis) == places).astype(float)

    return reference


def _turned_shape(x):
    shape = raw("shape_of")(x)
    like = raw("shaped", dtype=al.float32)(al.concat([shape[1:], shape[:1]], axis=0))
    return raw("reshape_like")(x, like)


def _cross_entropy(reduce):
    return lambda x, labels: reduce(-np.sum(labels * ref.log_softmax(x, 1), 1, keepdims=True))


def _adam(rate, beta1, beta2, epsilon, values, m, v, g):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    return values - rate * m / (np.sqrt(v) + epsilon), m, v


_X = ((2, 5, 6, 3), (3, 2, 3, 4))  # a source and weights
_Y = (2, 2, 7, 4)  # their convolution under _CONV_RAW
_SLICE = {"starts": [1, 2**63 - 1], "ends": [2**63 - 1, -(2**63)], "strides": [1, -2]}
_ADAM = ((),) * 4 + ((2, 3),) * 4
_ANY = {"dtypes": TYPES["any"]}

# fmt: off
STRUCTURED = [
    Case("select", al.select, lambda p, a, b: np.where(p, a, b), ((2, 3), (2, 3), (2, 3)), fixed=("bool",),
         wanted=(1, 2), empty=((0, 3),) * 3, **_ANY),
    Case("select", al.select, lambda p, a, b: np.where(p, a, b), ((4, 1), (2, 1, 3), (3,)), fixed=("bool",),
         wanted=(1, 2)),
    Case("clamp", lambda x, a, b: al.clamp(x * 3, a - 3, b + 3), lambda x, a, b: np.clip(x * 3, a - 3, b + 3),
         ((4, 5), (5,), (4, 1)), dtypes=TYPES["numeric"], empty=((0, 5), (5,), ())),
    Case("stop_gradient", al.stop_gradient, lambda x: x, ((2, 3),), wanted=(), empty=((0, 3),), **_ANY),
    Case("reshape", lambda x: al.reshape(x, (4, -1)), lambda x: x.reshape(4, -1), ((2, 3, 4),),
         empty=((2, 0, 4),), **_ANY),
    Case("reshape_like", raw("reshape_like"), lambda x, like: x.reshape(like.shape), ((2, 6), (3, 4)),
         wanted=(0,)),
    Case("shaped", _turned_shape, lambda x: x.reshape(x.shape[1:] + x.shape[:1]), ((2, 3, 4),)),
    Case("squeeze", lambda x: al.squeeze(x, axes=(0, -1)), lambda x: np.squeeze(x, (0, -1)),
         ((1, 3, 1, 2, 1),), empty=((1, 0, 1, 2, 1),), **_ANY),
    Case("squeeze", al.squeeze, np.squeeze, ((1, 3, 1),)),
    Case("expand_dims", lambda x: al.expand_dims(x, axes=(0, 2)), lambda x: np.expand_dims(x, (0, 2)),
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
          ("multiply", 0, ((4, 3), (3, 3), (3,)), ()), ("minimum", 0, ((4, 3), (9, 3), (9,)), ()),
          ("maximum", 0, ((4, 3), (9, 3), (9,)), ())]),
    Case("scatter", lambda x, u: raw("scatter", axis=1, mode="set")(x, u, x.graph.constant(np.int32([3, 9, 0]))),
         lambda x, u: _scatter("set", 1)(x, u, np.int32([3, 9, 0])), ((2, 4, 3), (2, 3, 3)), dtypes=TYPES["any"],
         label="set"),
    Case("dropout", lambda x, rate, chance: raw("dropout")(x, rate, al.abs(chance) / 2),
         lambda x, rate, chance: np.where(np.abs(chance) / 2 >= rate, x / (1 - rate), 0), ((3, 40), (), (3, 40)),
         domain="fraction", wanted=(0,)),
    Case("one_hot", lambda i: al.one_hot(i, 3), _one_hot(3), ((2, 5),), fixed=("int32",), result="float32", wanted=(),
         empty=((0, 5),)),
    Case("one_hot", lambda i: al.one_hot(i, 300, axis=-2, dtype="int32"), _one_hot(300, -2), ((2, 5),),
         fixed=("int64",), result="int32", wanted=(), label="axis, dtype"),
    Case("one_hot", lambda i, a, b: raw("one_hot", axis=0, depth=4, dtype="float32")(i, a, b),
         lambda i, a, b: np.where(_one_hot(4, 0)(i) > 0, a, b), ((2, 5), (), ()), fixed=("int32",), wanted=(1, 2),
         label="values"),
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
    Case("softmax", al.softmax, ref.softmax, ((3, 5),), empty=((0, 5),)),
    Case("softmax", lambda x: al.softmax(x, axis=1), lambda x: ref.softmax(x, 1), ((2, 4, 3),)),
    Case("log_softmax", al.log_softmax, ref.log_softmax, ((3, 5),), empty=((0, 5),)),
    Case("log_softmax", lambda x: al.log_softmax(x, axis=0), lambda x: ref.log_softmax(x, 0), ((4, 3),)),
    *(Case("softmax_cross_entropy", raw("softmax_cross_entropy", axis=1, reduction=name), _cross_entropy(reduce),
           ((3, 5), (3, 5)), label=name)
      for name, reduce in {"none": lambda y: y, "sum": lambda y: y.sum((0, 1))[None],
                           "mean": lambda y: y.mean((0, 1))[None]}.items()),
    _conv(_X, "valid"),
    _conv(_X, "same", padding="same"),
    _conv(_X, "same, strided", padding="same", strides=(2, 3)),
    _conv(_X, "explicit, strided, dilated", **_STRIDED),
    _conv(((2, 4, 5, 4), (3, 3, 2, 6)), "groups", groups=2, padding="same"),
    _conv(((2, 6, 7, 3), (3, 3, 1, 6)), "depthwise", groups=3, strides=(1, 2)),
    _conv(((2, 3, 5, 6), (4, 3, 3, 2)), "NCHW", {"data_layout": "NCHW", "weights_layout": "OIHW"},
          **_STRIDED),
    Case("conv2d_data_gradient", raw("conv2d_data_gradient", **_CONV_RAW),
         lambda g, w, like: ref.adjoint(lambda x: ref.conv2d(x, w, **_STRIDED), like)(g), (_Y, _X[1], _X[0]),
         wanted=(0, 1)),
    Case("conv2d_weights_gradient", raw("conv2d_weights_gradient", **_CONV_RAW),
         lambda g, x, like: ref.adjoint(lambda w: ref.conv2d(x, w, **_STRIDED), like)(g), (_Y, _X[0], _X[1]),
         wanted=(0, 1)),
    *(_pool(op, *arguments, **attributes) for op in ("max_pool2d", "avg_pool2d") for arguments, attributes in [
        (((2, 4, 6, 3), "2"), {"window": (2, 2)}),
        (((2, 5, 6, 3), "same"), {"window": (3, 2), "strides": (2, 1), "padding": "same"}),
        (((2, 5, 6, 3), "explicit"), _POOL),
        (((2, 3, 5, 6), "NCHW", {"data_layout": "NCHW"}), _POOL)]),
    Case("max_pool2d", raw("max_pool2d", **_CEIL),
         lambda x: ref.max_pool2d(x, (2, 2), (2, 2), ((0, 1), (0, 1))), ((1, 5, 3, 2),), label="ceil_mode"),
    Case("avg_pool2d", raw("avg_pool2d", **_POOL_RAW, include_padding=True),
         lambda x: ref.windows(x, **_as_windows(_POOL)).mean((3, 4)), ((2, 5, 6, 3),), label="include_padding"),
    Case("max_pool2d_gradient", raw("max_pool2d_gradient", **_POOL_RAW), _max_pool2d_gradient,
         ((2, 5, 3, 3), (2, 5, 6, 3))),
    Case("avg_pool2d_gradient", raw("avg_pool2d_gradient", **_POOL_RAW),
         lambda g, like: ref.adjoint(lambda x: ref.avg_pool2d(x, **_POOL), like)(g),
         ((2, 5, 3, 3), (2, 5, 6, 3)), wanted=(0,)),
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
    "fused": "tests/cpp",
    "empty": "tests/cpp",
}


def all_cases() -> list[Case]:
    return [*_table_cases(), *STRUCTURED]


# ---- calls that are not legal ----

# For each structured op: how it is called, the operands' shapes, and what the message says.
# fmt: off
WRONG = {
    "select": (al.select, [(2, 3), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) do not broadcast"),
    "clamp": (al.clamp, [(2, 3), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) do not broadcast"),
    "reshape": (lambda x: al.reshape(x, (4, 2)), [(2, 3)], r"\(2, 3\) has 6 elements .* \(4, 2\)"),
    "reshape_like": (raw("reshape_like"), [(2, 3), (4, 2)],
                     r"\(2, 3\) has 6 elements and does not fit into shape \(4, 2\)"),
    "shaped": (raw("shaped", dtype=al.float32), [(2, 3)],
               r"Expected a shape as a vector of integers, got float32\(2, 3\)"),
    "squeeze": (lambda x: al.squeeze(x, axes=1), [(2, 3)], r"Axis 1 of shape \(2, 3\) is not of size 1"),
    "expand_dims": (lambda x: al.expand_dims(x, axes=4), [(2, 3)], "Axis 4 is outside a tensor of rank 3"),
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
    "one_hot": (lambda x: al.one_hot(x, 3), [(2, 3)], r"Expected indices of an integer type, got float32\(2, 3\)"),
    "concat": (lambda a, b: al.concat([a, b], axis=0), [(2, 3), (2, 4)],
               r"\(2, 3\) and \(2, 4\) differ in more than axis 0"),
    "cast": (lambda x: al.cast(x, "complex64"), [(2, 3)],
             "Expected an element type such as float32, got complex64"),
    "count": (raw("count", axes=[2]), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "matmul": (al.matmul, [(2, 3), (4, 5)],
               r"Inner dimensions differ: 3 of shape \(2, 3\) and 4 of shape \(4, 5\)"),
    "softmax": (lambda x: al.softmax(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "log_softmax": (lambda x: al.log_softmax(x, axis=2), [(2, 3)], "Axis 2 is outside a tensor of rank 2"),
    "softmax_cross_entropy": (al.losses.softmax_cross_entropy, [(2, 3), (2, 4)],
                              r"labels of shape \(2, 3\) .* got float32\(2, 4\)"),
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
    "sgd": (raw("sgd"), [(), (2, 3), (2, 4)], r"\(2, 3\) and \(2, 4\) of values, state and gradient differ"),
    "adam": (raw("adam"), [*_ADAM[:-1], (2, 4)], r"\(2, 3\) and \(2, 4\) of values, state and gradient differ"),
}
# fmt: on
ALWAYS_LEGAL = {"identity", "logical_not", "shape_of", "stop_gradient"}  # of every shape and dtype


def wrong_call(row) -> tuple[Callable, list, list, str]:
    """(call, shapes, dtypes, what the message says) of an illegal use of the op."""
    op, family = row["name"], row["family"]
    if op in WRONG:
        call, shapes, says = WRONG[op]
        return call, shapes, ["float32"] * len(shapes), says
    assert family not in ("structured", "ternary", "composite"), (
        f"{op}: add an illegal call to WRONG of tests/python/cases.py, or the op to ALWAYS_LEGAL"
    )
    call = getattr(al, op)
    if family in ("reduction", "moment"):
        return lambda x: call(x, axes=5), [(2, 3)], ["float32"], "Axis 5 is outside a tensor of rank 2"
    if family == "arg_reduction":
        return lambda x: call(x, axis=5), [(2, 3)], ["float32"], "Axis 5 is outside a tensor of rank 2"
    if family in ("unary", "activation", "predicate"):
        given = {"floating": "int32", "numeric": "bool", "integer": "float32"}[row["types"]]
        return call, [(2, 3)], [given], rf"Expected operands of a .*, got {given}\(2, 3\)"
    return call, [(2, 3), (2, 4)], TYPES[row["types"]][:1] * 2, r"\(2, 3\) and \(2, 4\) do not broadcast"
