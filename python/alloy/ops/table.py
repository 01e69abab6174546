"""The functions of the op table's families, each made from its row. table.pyi lists them for readers and type checkers
(tests/python/make_stub.py writes it)."""

from collections.abc import Callable

from alloy import _core
from alloy.engine.arrays import as_integers
from alloy.messages.location import mistake
from alloy.ops.apply import apply, require_tensor

_TYPES = {"floating": "a floating type", "numeric": "a number type", "integer": "an integer type", "any": "any type"}
_UNARY = """x: a tensor of {types}. The result has its shape and dtype.

TypeError: x has another dtype."""
_PREDICATE = """x: a tensor of {types}. The result has its shape and is bool.

TypeError: x has another dtype."""
_BINARY = """The operands are tensors of {types} and of one dtype, of shapes that broadcast by NumPy's rule;
one of them may be a number or an array. The result is {result}.

ValueError: the shapes do not broadcast. TypeError: the dtypes differ or are others."""
_REDUCTION = """x: a tensor of {types}. axis: an axis or several, counted from the end where negative; None
means all. The result has x's dtype; the reduced axes vanish, or stay with size 1 where keepdims.

ValueError: x does not have the axis. TypeError: x has another dtype."""
_ARG_REDUCTION = """x: a tensor of {types}. The axis vanishes, or stays with size 1 where keepdims.

ValueError: x does not have the axis, or no element along it. TypeError: x has another dtype."""


def _unary(op: str):
    def function(x):
        return apply(op, [x])

    return function


def _binary(op: str):
    def function(a, b):
        return apply(op, [a, b])

    return function


def _activation_gradient(op: str):
    def function(gradient, x):
        return apply(op, [gradient, x])

    return function


def _reduction(op: str):
    def function(x, axis=None, *, keepdims=False):
        typed = NAMES.get(op, op)
        require_tensor(typed, x)
        if axis is None:
            if x.shape is None:
                raise mistake(typed, "Expected a tensor of known rank, or axes")
            axis = range(len(x.shape))
        axes = as_integers(typed, "axes", axis)
        return _reduced(apply(op, [x], {"axes": axes}, typed=typed), axes, keepdims)

    return function


def _arg_reduction(op: str):
    def function(x, axis=-1, *, keepdims=False):
        return _reduced(apply(op, [x], {"axis": axis}), [axis], keepdims)

    return function


def _reduced(result, axes, keepdims):
    return result if keepdims or not axes else apply("squeeze", [result], {"axes": axes})


# For each family: the maker of its functions, their documentation below the row's sentence, and their result.
_FAMILIES = {
    "unary": (_unary, _UNARY, ""),
    "activation": (_unary, _UNARY, ""),
    "predicate": (_unary, _PREDICATE, ""),
    "binary": (_binary, _BINARY, "of that dtype"),
    "comparison": (_binary, _BINARY, "bool"),
    "activation_gradient": (_activation_gradient, _BINARY, "of that dtype"),
    "reduction": (_reduction, _REDUCTION, ""),
    "moment": (_reduction, _REDUCTION, ""),
    "arg_reduction": (_arg_reduction, _ARG_REDUCTION, ""),
}


def _function(row):
    make, doc, result = _FAMILIES[row["family"]]
    function = make(row["name"])
    function.__name__ = function.__qualname__ = NAMES.get(row["name"], row["name"])
    function.__doc__ = f"{row['doc']}\n\n{doc.format(types=_TYPES[row['types']], result=result)}"
    return function


NAMES: dict[str, str] = {"product": "prod"}  # functions whose name in NumPy differs from Apple's name of the op
_MADE = [_function(row) for row in _core.op_table() if row["family"] in _FAMILIES]
_FUNCTIONS: dict[str, Callable] = {function.__name__: function for function in _MADE}
__all__ = list(_FUNCTIONS)
globals().update(_FUNCTIONS)
