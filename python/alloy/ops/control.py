"""Conditionals and loops. They call Python functions once, while the graph is built; a run repeats the ops that these
made."""

import inspect

from alloy._core import Graph, Tensor
from alloy.engine.arrays import SCALARS, as_count, require_all
from alloy.engine.scope import scoped
from alloy.messages.location import mistake, user_location
from alloy.messages.text import describe
from alloy.ops.apply import apply, as_tensor, common_dtype
from alloy.ops.index import gather

__all__ = ["cond", "for_loop", "scan", "while_loop"]


def cond(predicate: Tensor, true_fn, false_fn):
    """Returns the results of true_fn() if the predicate is true (not zero), else of false_fn(). A run computes only one
    of them.

    predicate: a tensor of one element. Both functions return a tensor, or a tuple or list of tensors, as many and of
    the same dtypes and shapes; they may use any tensors around. ValueError or TypeError: they do not. Functions cannot
    assign variables."""
    expected = "a tensor as the predicate (Python's if chooses by values that are known now)"
    require_all("cond", expected, Tensor, [predicate])
    _require_callable("cond", "", true_fn=true_fn, false_fn=false_fn)
    graph = predicate.graph
    op = graph._with_regions("if_else", "cond", [predicate])
    given = [_called("cond", op, lambda arguments, function=function: function()) for function in (true_fn, false_fn)]
    return _like(given[0], op.add(scoped(graph, "", "cond"), user_location()))


def for_loop(lower, upper, body, initial, *, step=1):
    """Calls value = body(index, value) for index lower, lower + step, ... below upper, starting with value = initial,
    and returns the last value.

    lower, upper, step: integers or tensors of one element and one integer dtype. initial: a tensor, or a tuple or list
    of tensors (numbers and arrays are constants); body returns as many, of the same dtypes and shapes. Gradients flow
    through the loop if bounds and step are numbers, or computed from shapes. ValueError or TypeError: the values do not
    fit. The body cannot assign variables."""
    _require_callable("for_loop", "index, value", body=body)
    values = _listed(initial)
    graph = _graph_of("for_loop", [lower, upper, step, *values])
    operands = [*_bounds(graph, "for_loop", lower, upper, step), *_constants(graph, "for_loop", values)]
    op = graph._with_regions("for_loop", "for_loop", operands)
    _called("for_loop", op, lambda arguments: body(arguments[0], _like(initial, arguments[1:])), initial)
    return _like(initial, op.add(scoped(graph, "", "for_loop"), user_location()))


def while_loop(condition, body, initial):
    """Calls value = body(value) while condition(value) is true (not zero), starting with value = initial, and returns
    the last value.

    initial: a tensor, or a tuple or list of tensors (numbers and arrays are constants); body returns as many, of the
    same dtypes and shapes, and condition a tensor of one element. No gradient flows through the loop. ValueError or
    TypeError: the values do not fit. The functions cannot assign variables."""
    _require_callable("while_loop", "value", condition=condition, body=body)
    values = _listed(initial)
    graph = _graph_of("while_loop", values)
    op = graph._with_regions("while_loop", "while_loop", _constants(graph, "while_loop", values))
    _called("while_loop", op, lambda arguments: [condition(_like(initial, arguments)), *arguments])
    _called("while_loop", op, lambda arguments: body(_like(initial, arguments)), initial)
    return _like(initial, op.add(scoped(graph, "", "while_loop"), user_location()))


def scan(body, initial, xs=None, *, length=None, reverse=False):
    """Calls value, y = body(value, x) for each slice x, starting with value = initial, and returns (value, ys): the
    last value and all y, stacked.

    xs: a tensor, or a tuple or list of tensors, cut along the first axis; None for a loop of `length` calls. initial,
    value: as in for_loop. y: a tensor, a tuple or list of tensors, or None. reverse: from the last slice to the first;
    each y stands at the place of its x. Gradients flow through the loop.

    ValueError: the xs differ in their first extent, or it is 0."""
    _require_callable("scan", "value, x", body=body)
    values, inputs = _listed(initial), [] if xs is None else _listed(xs)
    require_all("scan", "tensors to take slices of", Tensor, inputs)
    graph = _graph_of("scan", [*values, *inputs])
    count = _length(inputs, length)
    operands = [*_bounds(graph, "scan", 0, count, 1), *_constants(graph, "scan", values)]
    op = graph._with_regions("for_loop", "scan", operands)
    outputs = []

    def call(arguments):
        at = count - 1 - arguments[0] if reverse else arguments[0]
        parts = [gather(x, at, axis=0) for x in inputs]
        given = body(_like(initial, arguments[1:]), None if xs is None else _like(xs, parts))
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise mistake("scan", f"Expected a pair of the next value and y from the body, got {given!r}", TypeError)
        outputs.append(given[1])
        rows = [] if given[1] is None else _listed(given[1])
        return [*_checked("scan", given[0], initial), *rows]

    _called("scan", op, call)
    made = op.add(scoped(graph, "", "scan"), user_location())
    stacked = [y[::-1] if reverse else y for y in made[len(values) :]]
    return _like(initial, made[: len(values)]), None if outputs[0] is None else _like(outputs[0], stacked)


def _length(inputs, length):
    """Returns the number of slices: an integer, or a tensor if only a run knows it."""
    known = {x.shape[0] for x in inputs if x.shape is not None and len(x.shape) > 0}
    if any(x.shape is not None and len(x.shape) == 0 for x in inputs):
        raise mistake("scan", f"Expected tensors with a first axis, got {', '.join(map(describe, inputs))}")
    if length is not None:
        known.add(as_count("scan", "a length", length, least=0))
    known.discard(None)
    if len(known) > 1:
        raise mistake("scan", f"Expected one length along the first axis, got {sorted(known)}")
    if known:
        return known.pop()
    if not inputs:
        raise mistake("scan", "Expected tensors to take slices of, or a length, got none")
    return apply("shape_of", [inputs[0]])[0]


def _bounds(graph, op, *numbers):
    dtype = next((number.dtype for number in numbers if isinstance(number, Tensor)), "int32")
    return [as_tensor(graph, op, number, dtype) for number in numbers]


def _constants(graph, op, values):
    return [as_tensor(graph, op, value, common_dtype(op, [value])) for value in values]


def _graph_of(op, values) -> Graph:
    graph = next((value.graph for value in values if isinstance(value, Tensor)), None)
    if graph is None:
        raise mistake(op, "Expected a tensor among the initial values, got none; graph.constant makes one", TypeError)
    return graph


def _called(op, made, function, initial=None):
    """Calls the function with the region's arguments; its results become the region's results."""
    arguments = made.open()
    try:
        given = function(arguments)
        results = _listed(given) if initial is None else _checked(op, given, initial)
        require_all(op, "tensors from the function", Tensor, results)
        made.close(results)
    except BaseException:
        made.abandon()
        raise
    return given


def _checked(op, given, initial):
    """Returns the values of a body, numbers in the dtype of the values before."""
    values, before = _listed(given), _listed(initial)
    if len(values) != len(before):
        raise mistake(op, f"Expected {len(before)} values from the body, as it began with, got {len(values)}")
    graph = next((value.graph for value in [*values, *before] if isinstance(value, Tensor)), None)
    return [
        as_tensor(graph, op, value, common_dtype(op, [first])) if isinstance(value, SCALARS) else value
        for value, first in zip(values, before)
    ]


def _require_callable(op, arguments, **functions):
    """Raises TypeError if the value is no function of the arguments, which are written as in a lambda."""
    count = len(arguments.split())
    for name, function in functions.items():
        if not callable(function):
            given = f"the tensor {describe(function)}" if isinstance(function, Tensor) else type(function).__name__
        elif takes := _other_parameters(function, count):
            given = f"one of {takes}"
        else:
            continue
        form = f"lambda {arguments}: ..." if arguments else "lambda: x"
        raise mistake(op, f"Expected {name} as a function such as {form}, got {given}", TypeError)


def _other_parameters(function, count):
    """Returns the function's parameters as text if it cannot be called with that many arguments, else ""."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""  # Python does not know the parameters of a builtin
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return str(signature)
    return ""


def _listed(value) -> list:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _like(structure, values):
    """Returns the values in the form of the structure: one by itself, or a tuple or list."""
    return type(structure)(values) if isinstance(structure, (tuple, list)) else values[0]
