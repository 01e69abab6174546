"""Functions of tensors with gradients that the user defines."""

import functools
from collections.abc import Callable
from typing import Any

from alloy._core import Tensor
from alloy.engine.arrays import may_be_equal, require_all
from alloy.engine.dtypes import is_float
from alloy.engine.scope import scoped
from alloy.engine.structure import leaves, rebuild
from alloy.messages.location import mistake, user_location
from alloy.messages.text import describe

__all__ = ["custom_gradient"]


def custom_gradient(function: Callable) -> Callable[..., Any]:
    """Lets a function of tensors define its own gradient, as a decorator:

        @al.custom_gradient
        def held(x, *, limit):
            def gradient(g):  # g: the gradient of the result; returns the gradient of x
                return al.clamp(g, -limit, limit)

            return x, gradient

    The function takes tensors by position, and anything by name. It returns a pair: its results (a tensor or a tuple,
    list or dict of tensors) and a gradient function. The gradient function takes the gradient of each result, of the
    result's shape and dtype (None for a result of integers or bools), and returns the gradient of each argument, a
    tensor of the argument's shape and dtype, or None if nothing flows back; for several arguments a tuple or list. Both
    functions run once, while the graph is built, and may use any tensors around. The gradient can be differentiated
    again.

    ValueError: a gradient has another shape, or a result depends on a variable or placeholder other than through the
    arguments, so that its gradient would be lost. TypeError: an argument is no tensor, or a gradient has another
    dtype."""
    if not callable(function):
        given = describe(function) if isinstance(function, Tensor) else type(function).__name__
        raise mistake("custom_gradient", f"Expected a function of tensors, got {given}", TypeError)
    name = getattr(function, "__name__", "")
    name = name if name.isidentifier() else "custom_gradient"  # a lambda's is not

    @functools.wraps(function)
    def op(*tensors, **options):
        return _called(name, function, tensors, options)

    return op


def _called(name, function, tensors, options):
    require_all(name, "tensors by position (all else is given by name)", Tensor, tensors)
    if not tensors:
        raise mistake(name, "Expected a tensor by position, got none", TypeError)
    results, gradient = _pair(name, function(*tensors, **options))
    values = leaves(results)
    if not values:
        raise mistake(name, "Expected a tensor as a result, got none", TypeError)
    require_all(name, "tensors as results", Tensor, values)
    graph = tensors[0].graph
    _require_known_sources(graph, name, values, tensors)
    made = graph._with_regions("custom_gradient", name, values)
    arguments = made.open()
    try:
        given = gradient(*(g if _has_gradient(g) else None for g in arguments))
        flowing = [(g, x) for g, x in zip(_gradients(name, given, tensors), tensors) if g is not None]
        made.close([g for g, _ in flowing])
    except BaseException:
        made.abandon()
        raise
    return rebuild(results, made.add(scoped(graph, "", name), user_location(), [x for _, x in flowing]))


def _pair(name, given):
    if isinstance(given, tuple) and len(given) == 2 and callable(given[1]):
        return given
    got = describe(given) if isinstance(given, Tensor) else repr(given)
    raise mistake(name, f"Expected a pair of results and the function that is their gradient, got {got}", TypeError)


def _require_known_sources(graph, name, values, tensors):
    source = graph._overlooked(values, list(tensors))
    if source is not None:
        called = f" {source.name!r}" if source.name else ""
        raise mistake(
            name,
            f"Expected results of the arguments alone, got one of {describe(source)}{called}, built at "
            f"{source.location or 'an unknown place'}, whose gradient would be lost; pass it as an argument, or use "
            "al.stop_gradient of it",
        )


def _gradients(name, given, tensors):
    """Returns the gradient of each argument, or None."""
    gradients = [given] if len(tensors) == 1 and not isinstance(given, (tuple, list)) else given
    count = len(gradients) if isinstance(gradients, (tuple, list)) else 1
    if not isinstance(gradients, (tuple, list)) or count != len(tensors):
        raise mistake(name, f"Expected {len(tensors)} gradients, one for each argument, got {count}")
    require_all(name, "tensors or None as gradients", (Tensor, type(None)), gradients)
    for i, (gradient, x) in enumerate(zip(gradients, tensors)):
        if gradient is None:
            continue
        if not _has_gradient(x):
            raise mistake(
                name, f"Expected None as the gradient of argument {i}, {describe(x)}, got {describe(gradient)}"
            )
        if gradient.dtype != x.dtype or not may_be_equal(gradient.shape, x.shape):
            kind = ValueError if gradient.dtype == x.dtype else TypeError
            raise mistake(
                name, f"Expected {describe(x)} as the gradient of argument {i}, got {describe(gradient)}", kind
            )
    return gradients


def _has_gradient(x) -> bool:
    return is_float(x.dtype) or x.dtype == "complex64"
