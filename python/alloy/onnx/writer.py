"""A graph of ONNX in the making: nodes, tensors, and their names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from alloy._core import Tensor
from alloy.messages.location import mistake
from alloy.onnx.file import ELEMENTS
from alloy.ops.apply import Applied

OPSET = 18  # the oldest in which all reductions take axes alike; PyTorch's exporter writes it, too
_NUMBERS = {"float32": onnx.TensorProto.FLOAT} | {
    name: number for number, name in ELEMENTS.items() if name != "float32"
}

WRITTEN: dict[str, Callable[["Writer", Applied], Any]] = {}


def writes(*ops: str):
    """Enters a function that writes nodes for an op and returns the names of its results, or one name."""

    def enter(function):
        for op in ops:
            WRITTEN[op] = function
        return function

    return enter


class Writer:
    """names: those of the tensors that are written. made: the op that makes each tensor."""

    def __init__(self, applied: list[Applied]):
        self.names: dict[Tensor, str] = {}
        self.made: dict[Tensor, Applied] = {}
        for one in applied:
            for result in one.results:
                if result not in one.operands:  # a cast to its own type
                    self.made.setdefault(result, one)
        self.momenta: dict[Tensor, float] = {}  # of moving means
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, np.ndarray] = {}
        self._taken: set[str] = set()
        self._moved: dict[str, tuple[str, tuple[int, ...]]] = {}  # by the name of a transpose's result

    def free(self, name: str) -> str:
        """Returns the name, or with a number if it is taken."""
        found, number = name, 0
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found

    def refused(self, one: Applied, why: str = "") -> Exception:
        said = f"; {why}" if why else ""
        return mistake("export", f"Expected ops that ONNX can express, got {one.op}, built at {one.location}{said}")

    # ---- nodes ----

    def node(self, op: str, *inputs, count: int = 1, name: str = "", **attributes) -> Any:
        """Writes a node, and returns the name of its output, or a list of `count` names. inputs: names, tensors, or
        arrays."""
        given = [self.name_of(value) for value in inputs]
        outputs = [self.free(name or op.lower()) for _ in range(count)]
        self.nodes.append(helper.make_node(op, given, outputs, outputs[0], **attributes))
        return outputs if count > 1 else outputs[0]

    def name_of(self, value) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Tensor):
            if value not in self.names:
                raise self.refused(self.made[value], "its other results are not written")
            return self.names[value]
        name = self.free("constant")
        self.tensors[name] = value
        return name

    def integers(self, values) -> np.ndarray:
        return np.array([int(value) for value in values], np.int64)

    def cast(self, value, dtype: str) -> str:
        return self.node("Cast", value, to=_NUMBERS[dtype])

    def transposed(self, value, permutation) -> str:
        """Writes a transpose, unless it undoes the one before it."""
        name, order = self.name_of(value), tuple(int(axis) for axis in permutation)
        if name in self._moved:
            name, before = self._moved[name]
            order = tuple(before[axis] for axis in order)
        if order == tuple(range(len(order))):
            return name
        made = self.node("Transpose", name, perm=order)
        self._moved[made] = name, order
        return made

    def number(self, like: Tensor, value) -> np.ndarray:
        """Returns a number of a tensor's type, as a constant."""
        from alloy.engine.dtypes import numpy_dtype

        return np.array(value).astype(numpy_dtype(like.dtype))

    def source(self, tensor: Tensor, *ops: str) -> Applied | None:
        """Returns what made the tensor, if it is one of the ops."""
        one = self.made.get(tensor)
        return one if one is not None and one.op in ops else None


def as_numbers(dtype: str) -> int:
    return _NUMBERS[dtype]


def as_proto(name: str, array: np.ndarray):
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
