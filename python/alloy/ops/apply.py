"""Adds an op to the graph of its operands, and makes tensors of numbers and arrays among them."""

from collections.abc import Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from alloy._core import Tensor, as_array
from alloy.engine.arrays import SCALARS, require_all, types_of
from alloy.engine.scope import scoped
from alloy.messages.location import mistake, typed_name, user_location
from alloy.messages.text import describe


class Applied(NamedTuple):
    """An op as it was applied: a composite is one, whatever ops it is made of."""

    op: str
    operands: list[Tensor]
    attributes: dict
    results: list[Tensor]
    location: str


_RECORD: ContextVar[list[Applied] | None] = ContextVar("the ops that are recorded", default=None)
_SINGLE = {"float64": "float32", "complex128": "complex64"}  # no tensor has 64-bit floats


def apply(op: str, operands, attributes=None, *, scalar_dtype: str | None = None, typed: str = "") -> Tensor:
    """Returns the op's first result. Scalars take scalar_dtype, by default the dtype of the first other operand.
    typed: the function that the user called, if it is not named as the op; messages begin with it."""
    return apply_all(op, operands, attributes, scalar_dtype=scalar_dtype, typed=typed)[0]


def apply_all(op: str, operands, attributes=None, *, scalar_dtype: str | None = None, typed: str = "") -> list[Tensor]:
    """Returns all results of the op, otherwise as apply."""
    typed = typed_name(typed)
    called = typed or op
    graph = next((value.graph for value in operands if isinstance(value, Tensor)), None)
    if graph is None:
        given = types_of(operands)
        raise mistake(called, f"Expected a tensor among the operands, got {given}; graph.constant makes one", TypeError)
    dtype = scalar_dtype or common_dtype(called, operands)
    tensors = [as_tensor(graph, called, value, dtype) for value in operands]
    location = user_location()
    results = graph.apply(op, tensors, attributes or {}, scoped(graph, "", op), location, typed)
    record = _RECORD.get()
    if record is not None:
        record.append(Applied(op, tensors, attributes or {}, results, location))
    return results


@contextmanager
def recorded():
    """Gives a list of the ops that are applied within the with statement."""
    record: list[Applied] = []
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def as_tensor(graph, op: str, value, scalar_dtype: str) -> Tensor:
    """Returns the tensor itself, or a constant of the graph."""
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
    """Returns the error for an operand that is neither a tensor nor a number nor a NumPy array."""
    given, hint = type(value).__name__, ""
    if hasattr(value, "__dlpack__"):
        given, hint = f"{type(value).__module__.partition('.')[0]}.{given}", "; graph.constant makes a tensor of it"
    elif isinstance(value, (list, tuple)):
        hint = "; np.array(values, dtype) makes an array of it"
    return mistake(op, f"Expected a tensor, a number or an array, got {given}{hint}", TypeError)


def common_dtype(op: str, operands) -> str:
    """Returns the dtype of the first tensor or array; for scalars alone, of the array of them."""
    for value in operands:
        if isinstance(value, Tensor):
            return value.dtype
        if isinstance(value, np.ndarray):
            return _SINGLE.get(str(value.dtype), str(value.dtype))
    return as_array(list(operands), op).dtype.name


def as_sequence(op: str, what: str, values) -> list:
    """Returns the values as a list. TypeError: they are a tensor, a string or not iterable."""
    if isinstance(values, (Tensor, str)) or not isinstance(values, Iterable):
        given = f"the tensor {describe(values)}; write [it]" if isinstance(values, Tensor) else type(values).__name__
        raise mistake(op, f"Expected a list of {what}, got {given}", TypeError)
    return list(values)


def require_tensor(op: object, value) -> None:
    if isinstance(value, np.ndarray):
        raise mistake(op, "Expected a tensor, got ndarray; graph.constant makes one", TypeError)
    require_all(op, "a tensor", Tensor, [value])
