"""Reductions, positions of extremes, sorting and cumulative sums."""

from alloy import ops
from alloy.engine.dtypes import is_float
from alloy.onnx.node import supports
from alloy.ops.elementwise import rounded_once


def _axes(node, x) -> list[int] | None:
    """Returns the axes to reduce; None: none of them. They are an input since opset 18, of ReduceSum since 13."""
    given = node.integers("axes") if "axes" in node.node.attributes else node.known(1)
    does_nothing = node.flag("noop_with_empty_axes")
    if not given:
        return None if does_nothing else list(range(len(x.shape)))
    return sorted({node.axis(x, axis) for axis in given})


def _reduction(op, function):
    @supports(op)
    def reduce(node):
        x, keepdims = node.tensor(0), node.flag("keepdims", True)
        axes = _axes(node, x)
        return ops.identity(x) if axes is None or not x.shape else function(x, axis=axes, keepdims=keepdims)


def _extreme(propagating, plain, of_bools):
    def function(x, axis, keepdims):
        chosen = of_bools if x.dtype == "bool" else propagating if is_float(x.dtype) else plain
        return chosen(x, axis, keepdims=keepdims)

    return function


def _l1(x, axis, keepdims):
    return ops.sum(abs(x), axis, keepdims=keepdims)


def _l2(x, axis, keepdims):
    if is_float(x.dtype):
        return ops.norm(x, axis, keepdims=keepdims)
    return ops.cast(ops.norm(ops.cast(x, "float32"), axis, keepdims=keepdims), x.dtype)


def _of_floats(function):
    def reduce(x, axis, keepdims):
        wide = x if is_float(x.dtype) else ops.cast(x, "float32")
        return ops.cast(function(wide, axis, keepdims), x.dtype)

    return reduce


def _log_sum(x, axis, keepdims):
    return rounded_once("sum", lambda x: ops.log(ops.sum(x, axis, keepdims=keepdims)), x)


def _log_sum_exp(x, axis, keepdims):
    return ops.logsumexp(x, axis, keepdims=keepdims)


_reduction("ReduceSum", ops.sum)
_reduction("ReduceMean", ops.mean)
_reduction("ReduceProd", ops.prod)
_reduction("ReduceMax", _extreme(ops.max_propagate_nan, ops.max, ops.any))
_reduction("ReduceMin", _extreme(ops.min_propagate_nan, ops.min, ops.all))
_reduction("ReduceL1", _l1)
_reduction("ReduceL2", _l2)
_reduction("ReduceSumSquare", lambda x, axis, keepdims: ops.sum(ops.square(x), axis, keepdims=keepdims))
_reduction("ReduceLogSum", _of_floats(_log_sum))
_reduction("ReduceLogSumExp", _of_floats(_log_sum_exp))


def _position(node, function):
    x, keepdims, last = node.tensor(0), node.flag("keepdims", True), node.flag("select_last_index")
    axis = node.axis(x, node.attribute("axis", 0))
    if not last:
        return ops.cast(function(x, axis, keepdims=keepdims), "int64")
    found = function(ops.flip(x, axis), axis, keepdims=keepdims)
    return ops.cast(node.extent(x, axis) - 1 - found, "int64")


@supports("ArgMax", limits="select_last_index needs a known extent")
def arg_max(node):
    return _position(node, ops.argmax)


@supports("ArgMin", limits="select_last_index needs a known extent")
def arg_min(node):
    return _position(node, ops.argmin)


@supports("Hardmax", limits="the extent along the axis must be known")
def hardmax(node):
    x = node.tensor(0)
    axis = node.axis(x, node.attribute("axis", -1))
    return ops.cast(ops.one_hot(ops.argmax(x, axis), node.extent(x, axis), axis), x.dtype)


@supports("CumSum")
def cum_sum(node):
    x, exclusive, reverse = node.tensor(0), node.flag("exclusive"), node.flag("reverse")
    return ops.cumsum(x, node.axis(x, node.number(1)), exclusive=exclusive, reverse=reverse)


@supports("TopK", limits="k must be known")
def top_k(node):
    x, count = node.tensor(0), node.number(1)
    largest, _ = node.flag("largest", True), node.flag("sorted", True)
    axis = node.axis(x, node.attribute("axis", -1))
    values, places = (ops.top_k if largest else ops.bottom_k)(x, int(count), axis)
    return [values, ops.cast(places, "int64")]
