"""Adds an op to the graph of its operands. Owns how Python numbers and arrays mix with tensors."""

from collections.abc import Iterable

import numpy as np

from alloy._core import Tensor, as_array
from alloy.graph.arrays import SCALARS
from alloy.graph.location import mistake, typed_name, user_location
from alloy.graph.scope import scoped
from alloy.graph.text import describe

_SINGLE = {"float64": "float32", "complex128": "complex64"}  # that stand for what no tensor has


def apply(op: str, operands, attributes=None, *, scalar_dtype: str | None = None, typed: str = "") -> Tensor:
    """The first result of the op. Scalars take scalar_dtype, by default the dtype of the first operand that is not
    a scalar. typed: the function that the user called, which messages begin with, where it has another name."""
    return apply_all(op, operands, attributes, scalar_dtype=scalar_dtype, typed=typed)[0]


def apply_all(op: str, operands, attributes=None, *, scalar_dtype: str | None = None, typed: str = "") -> list[Tensor]:
    """All results of the op; the rest as in apply."""
    typed = typed_name(typed)
    called = typed or op
    graph = next((value.graph for value in operands if isinstance(value, Tensor)), None)
    if graph is None:
        given = _types_of(operands)
        raise mistake(called, f"Expected a tensor among the operands, got {given}; graph.constant makes one", TypeError)
    dtype = scalar_dtype or common_dtype(called, operands)
    tensors = [as_tensor(graph, called, value, dtype) for value in operands]
    return graph.apply(op, tensors, attributes or {}, scoped(graph, "", op), user_location(), typed)


def as_tensor(graph, op: str, value, scalar_dtype: str) -> Tensor:
    """The tensor itself, or a constant of the graph."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (*SCALARS, np.ndarray)):
        raise no_operand(op, value)
    number_dtype = None
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise mistake(op, f"Expected a number of 64 bits, got {value}")
    if isinstance(value, SCALARS):
        number_dtype = "complex64" if isinstance(value, (complex, np.complexfloating)) else scalar_dtype
    return graph._constant(op, value, number_dtype, "", user_location())


def no_operand(op: str, value) -> Exception:
    """The mistake of an operand that is neither a tensor nor a number nor an array of NumPy."""
    given, hint = type(value).__name__, ""
    if hasattr(value, "__dlpack__"):
        given, hint = f"{type(value).__module__.partition('.')[0]}.{given}", "; graph.constant makes a tensor of it"
    elif isinstance(value, (list, tuple)):
        hint = "; np.array makes an array of it"
    return mistake(op, f"Expected a tensor, a number or an array, got {given}{hint}", TypeError)


def common_dtype(op: str, operands) -> str:
    """The dtype of the first tensor or array; of scalars alone float32, int32 or bool, what holds them."""
    for value in operands:
        if isinstance(value, Tensor):
            return value.dtype
        if isinstance(value, np.ndarray):
            return _SINGLE.get(str(value.dtype), str(value.dtype))
    return as_array(list(operands), op).dtype.name


def as_sequence(op: str, what: str, values) -> list:
    """The values of a list; TypeError where a single tensor or another thing is given."""
    if isinstance(values, (Tensor, str)) or not isinstance(values, Iterable):
        given = f"the tensor {describe(values)}; write [it]" if isinstance(values, Tensor) else type(values).__name__
        raise mistake(op, f"Expected a list of {what}, got {given}", TypeError)
    return list(values)


def require_tensor(op: str, value) -> None:
    if isinstance(value, np.ndarray):
        raise mistake(op, "Expected a tensor, got ndarray; graph.constant makes one", TypeError)
    require_all(op, "a tensor", Tensor, [value])


def require_all(op: str, expected: str, kind: type | tuple[type, ...], values) -> None:
    """TypeError where one of the values is not of the kind, or of none of the kinds."""
    wrong = [value for value in values if not isinstance(value, kind)]
    if wrong:
        raise mistake(op, f"Expected {expected}, got {_types_of(wrong)}", TypeError)


def _types_of(values) -> str:
    return ", ".join(type(value).__name__ for value in values) or "none"
