"""The table of ONNX's ops, and a node at work, from which the functions of the table make tensors."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alloy._core import Graph, Tensor
from alloy.messages.location import mistake
from alloy.messages.text import describe, type_text
from alloy.onnx.file import Node
from alloy.ops import cast
from alloy.ops.apply import apply

Value = Tensor | np.ndarray  # an array is known while the graph is built


_MOST_PLACES = 2**26


class Row(NamedTuple):
    """An op of the table. limits: the cases that are refused, or how the result differs, for the docs."""

    build: Callable
    limits: str = ""


SUPPORTED: dict[str, Row] = {}


def supports(*ops: str, limits: str = ""):
    """Enters a function of a NodeAtWork, which returns a tensor or a list of them, for each op."""

    def enter(function):
        for op in ops:
            SUPPORTED[op] = Row(function, limits)
        return function

    return enter


class NodeAtWork:
    """A node with its inputs' values: tensors, arrays that are known while the graph is built, None if left out."""

    def __init__(self, node: Node, opset: int, graph: Graph, inputs, partly, model, training: bool):
        self.node, self.opset, self.graph = node, opset, graph
        self.inputs: list[Value | None] = inputs
        self.model, self.training = model, training
        self._partly = partly
        self.within: Callable  # builds a graph in the node, and returns its outputs
        self.names: Callable  # returns the names of a tensor's open extents (alloy.onnx.extents)
        self.origin: Callable  # returns a tensor and an axis that have an extent of that name, or None
        self._unread = set(node.attributes)

    @property
    def op(self) -> str:
        return self.node.op

    def wrong(self, message: str) -> Exception:
        return mistake("onnx", f"{message} for {self.node}")

    # ---- attributes ----

    def attribute(self, name: str, default: Any = None) -> Any:
        """Returns an attribute of the default's type. ValueError: the node has another type there, or none where the
        default is a type."""
        self._unread.discard(name)
        expected = default if isinstance(default, type) else type(default)
        if name not in self.node.attributes:
            if isinstance(default, type):
                raise self.wrong(f"Expected the attribute {name!r}")
            return default
        given = self.node.attributes[name]
        if default is not None and not isinstance(given, expected):
            raise self.wrong(f"Expected {name!r} as {expected.__name__}, got {type(given).__name__}")
        return given

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.attribute(name, int(default)))

    def word(self, name: str, default: str, known) -> str:
        given = self.attribute(name, default)
        if given not in known:
            raise self.wrong(f"Expected {name!r} as one of {', '.join(known)}, got {given!r}")
        return given

    def integers(self, name: str, count: int | None = None, default=None) -> list[int] | None:
        """Returns a list of integers of that count, or the default without the attribute."""
        given = self.attribute(name, None)
        if given is None:
            return default
        sound = isinstance(given, list) and all(isinstance(value, int) for value in given)
        if not sound or (count is not None and len(given) != count):
            raise self.wrong(f"Expected {name!r} as {count or ''} integers".replace("  ", " ") + f", got {given!r}")
        return given

    def require_all_read(self) -> None:
        if self._unread:
            raise self.wrong(f"Expected no attribute {min(self._unread)!r}, which is not known")

    # ---- inputs ----

    def has(self, i: int) -> bool:
        return i < len(self.inputs) and self.inputs[i] is not None

    def value(self, i: int) -> Value:
        if not self.has(i):
            raise self.wrong(f"Expected an input {i}")
        found = self.inputs[i]
        assert found is not None
        return found

    def tensor(self, i: int) -> Any:
        """Returns input i as a tensor of known rank."""
        found = as_tensor(self.graph, self.value(i))
        if found.shape is None:
            raise self.wrong(f"Expected a tensor of known rank, got {describe(found)}")
        return found

    def tensors(self) -> list[Tensor]:
        return [self.tensor(i) for i in range(len(self.inputs))]

    def floats(self, i: int) -> Any:
        found = self.tensor(i)
        if found.dtype not in ("float32", "float16", "bfloat16"):
            raise self.wrong(f"Expected floats as input {i}, got {describe(found)}")
        return found

    def array(self, i: int) -> np.ndarray:
        """Returns input i, which must be known while the graph is built."""
        found = self.value(i)
        if isinstance(found, Tensor):
            raise self.wrong(f"Expected input {i} known before a run, got {describe(found)}")
        return found

    def partly(self, i: int):
        """Returns what is known of input i while the graph is built: an array, with a static.Unknown where only a run
        knows an element; or None."""
        found = self._partly[i] if self.has(i) else None
        return found if isinstance(found, np.ndarray) else None

    def known(self, i: int, default: list[int] | None = None) -> list[int] | None:
        """Returns integers that must be known while the graph is built; the default without the input."""
        if not self.has(i):
            return default
        array = self.array(i)
        if array.dtype.kind not in "iu":
            raise self.wrong(f"Expected integers as input {i}, got {array.dtype}")
        return [int(value) for value in array.reshape(-1)]

    def number(self, i: int, default: float | None = None) -> Any:
        """Returns a number that must be known while the graph is built; the default without the input."""
        if not self.has(i):
            return default
        array = self.array(i)
        if array.size != 1:
            raise self.wrong(f"Expected a number as input {i}, got {array.size}")
        return array.reshape(()).item()

    def has_output(self, i: int) -> bool:
        return i < len(self.node.outputs) and bool(self.node.outputs[i])

    def extent(self, x: Any, axis: int) -> int:
        """Returns an extent that must be known."""
        if not -len(x.shape) <= axis < len(x.shape) or x.shape[axis] is None:
            raise self.wrong(f"Expected a known extent along axis {axis}, got {describe(x)}")
        return x.shape[axis]

    def places(self, count: int) -> np.ndarray:
        """Returns 0, 1, ... below the count. ValueError: a damaged file has a number beyond any memory."""
        if not 0 <= count <= _MOST_PLACES:
            raise self.wrong(f"Expected at most {_MOST_PLACES} places, got {count}")
        return np.arange(count)

    def axis(self, x: Tensor, axis: int) -> int:
        """Returns the axis counted from the first."""
        rank = len(x.shape or ())
        if not -rank <= axis < rank:
            raise self.wrong(f"Expected an axis of {describe(x)}, got {axis}")
        return axis % rank


def as_tensor(graph: Graph, value: Value) -> Tensor:
    """Returns the tensor, or a constant of the array."""
    if isinstance(value, Tensor):
        return value
    if value.size == 0:
        raise mistake("onnx", f"Expected a tensor with elements, got {type_text(value.dtype.name, value.shape)}")
    return graph.constant(value)


def shape_vector(x: Tensor) -> Tensor:
    """Returns the shape as int64, as ONNX has it."""
    return cast(apply("shape_of", [x]), "int64")


def of_shape(shape: Tensor, dtype: str) -> Tensor:
    """Returns a tensor that only gives a shape, of the elements of a vector."""
    return apply("shaped", [shape], {"dtype": dtype})


def volume(shape) -> int:
    return math.prod(int(extent) for extent in shape)
