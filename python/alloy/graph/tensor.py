"""What Python's operators and indexing mean for tensors. Importing it adds them to the engine's Tensor."""

from operator import index

import numpy as np

from alloy._core import Tensor
from alloy.graph.apply import apply, as_tensor, require_tensor
from alloy.graph.arrays import SCALARS
from alloy.graph.dtypes import is_integer
from alloy.graph.engine import method_of
from alloy.graph.location import meant, mistake
from alloy.graph.text import describe

_OPERANDS = (Tensor, np.ndarray, *SCALARS)
_TO_END = 2**63 - 1  # an end past the last element, going forward
_TO_BEGIN = -(2**63)  # an end before the first element, going backward
_ELSEWHERE = {"requires_grad": "trainable", "value": "assign", "data": "assign"}  # other libraries' names


def _binary(op: str, reflected: bool = False):
    def operator(self, other):
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        if op == "divide" and is_integer(self.dtype):
            raise mistake(
                op,
                f"Expected floats beside /, got {describe(self)}; cast it to float32, or call al.divide, "
                "which truncates",
                TypeError,
            )
        return apply(op, [other, self] if reflected else [self, other])

    return operator


def _bits(word: str, reflected: bool = False):
    """Of bools the logical op, of integers the one on their bits, as NumPy has it."""

    def operator(self, other):
        return _binary(f"logical_{word}" if self.dtype == "bool" else f"bitwise_{word}", reflected)(self, other)

    return operator


for _symbol, _op in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
    "mod": "mod",
    "matmul": "matmul",
}.items():
    setattr(Tensor, f"__{_symbol}__", _binary(_op))
    setattr(Tensor, f"__r{_symbol}__", _binary(_op, reflected=True))
for _symbol in ("and", "or", "xor"):
    setattr(Tensor, f"__{_symbol}__", _bits(_symbol))
    setattr(Tensor, f"__r{_symbol}__", _bits(_symbol, reflected=True))
for _symbol, _op in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Tensor, f"__{_symbol}__", _binary(_op))


@method_of(Tensor)
def __eq__(self, other):
    """Whether both are one tensor of one graph, so that tensors can be keys; not an op, which al.equal is."""
    if isinstance(other, Tensor):
        return self._is(other)
    if isinstance(other, _OPERANDS):
        raise mistake(
            "equal",
            "Expected a tensor beside ==, which asks whether two tensors are the same one, got "
            f"{type(other).__name__}; elements are compared by al.equal and al.not_equal",
            TypeError,
        )
    return NotImplemented


@method_of(Tensor)
def __setattr__(self, name, value):
    if not isinstance(getattr(type(self), name, None), property):
        hint = f"; its name here is {_ELSEWHERE[name]}" if name in _ELSEWHERE else meant(name, ["trainable"])
        raise AttributeError(f"[{type(self).__name__.lower()}] {describe(self)} has no attribute {name} to set{hint}")
    object.__setattr__(self, name, value)


@method_of(Tensor)
def __neg__(self):
    return apply("negative", [self])


@method_of(Tensor)
def __invert__(self):
    return apply("logical_not" if self.dtype == "bool" else "bitwise_not", [self])


@method_of(Tensor)
def __abs__(self):
    return apply("abs", [self])


@method_of(Tensor)
def __repr__(self):
    name = f" {self.name!r}" if self.name else ""
    return f"<{type(self).__name__}{name} {describe(self)}>"


@method_of(Tensor)
def __bool__(self):
    raise mistake(
        "bool",
        f"Expected a value, got the tensor {describe(self)}, which has one only during a run",
        TypeError,
        "asked",
    )


@method_of(Tensor)
def __iter__(self):
    raise mistake("iter", f"Expected a sequence, got the tensor {describe(self)}", TypeError, "asked")


@method_of(Tensor)
def __array__(self, *args, **kwargs):
    raise mistake(
        "array",
        f"Expected a value, got the tensor {describe(self)}, which has one only during a run",
        TypeError,
        "asked",
    )


@method_of(Tensor)
def __len__(self):
    if not self.shape or self.shape[0] is None:
        raise mistake("len", f"Expected a tensor of known length, got {describe(self)}", TypeError, "asked")
    return self.shape[0]


@method_of(Tensor)
def __getitem__(self, key):
    """Basic slices as in NumPy: integers, slices of any stride, None and Ellipsis."""
    bounds, dropped, added = _slice_of(key, self)
    result = self
    if any(bound != (0, _TO_END, 1) for bound in zip(*bounds.values())):
        result = apply("slice", [result], bounds)
    if dropped:
        result = apply("squeeze", [result], {"axes": dropped})
    if added:
        result = apply("expand_dims", [result], {"axes": added})
    return result


def update_slice(tensor, key, update):
    """The tensor with the update, which broadcasts to tensor[key], in its place."""
    require_tensor("slice_update", tensor)
    bounds, dropped, added = _slice_of(key, tensor)
    part = as_tensor(tensor.graph, "slice_update", update, tensor.dtype)
    part = apply("broadcast_like", [part, tensor[key]])
    if added:
        part = apply("squeeze", [part], {"axes": added})
    if dropped:
        part = apply("expand_dims", [part], {"axes": dropped})
    return apply("slice_update", [tensor, part], bounds)


def _slice_of(key, tensor) -> tuple[dict, list[int], list[int]]:
    """The bounds of a slice by their attributes, the axes that it drops, and those that are added to what is left."""
    shape = _known_rank(tensor)
    starts, ends, strides, dropped, added = [], [], [], [], []
    for entry in _full_key(key, len(shape), tensor):
        if entry is None:
            added.append(len(starts) - len(dropped) + len(added))
            continue
        axis = len(starts)
        if isinstance(entry, slice):
            start, end, stride = _bounds(entry)
        else:
            start, end, stride = _position(entry, shape[axis], axis, tensor)
            dropped.append(axis)
        starts.append(start)
        ends.append(end)
        strides.append(stride)
    return {"starts": starts, "ends": ends, "strides": strides}, dropped, added


def _full_key(key, rank: int, tensor) -> list:
    """The key as a list with one entry for each axis, plus the Nones."""
    entries = list(key) if isinstance(key, tuple) else [key]
    for entry in entries:
        legal = entry is None or entry is Ellipsis or isinstance(entry, slice) or hasattr(type(entry), "__index__")
        if not legal or isinstance(entry, (bool, np.ndarray, Tensor)):
            raise mistake("slice", f"Expected integers, slices, None or ..., got {type(entry).__name__}", TypeError)
    missing = rank - sum(entry is not None and entry is not Ellipsis for entry in entries)
    ellipses = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if missing < 0 or len(ellipses) > 1:
        raise mistake("slice", f"Expected at most {rank} indices and one ..., got {key} for {describe(tensor)}")
    at = ellipses[0] if ellipses else len(entries)
    entries[at : at + 1] = [slice(None)] * missing
    return entries


def _bounds(entry: slice) -> tuple[int, int, int]:
    stride = 1 if entry.step is None else index(entry.step)
    first, last = (0, _TO_END) if stride > 0 else (_TO_END, _TO_BEGIN)
    return (
        first if entry.start is None else index(entry.start),
        last if entry.stop is None else index(entry.stop),
        stride,
    )


def _position(entry, extent: int | None, axis: int, tensor) -> tuple[int, int, int]:
    i = index(entry)
    if extent is not None and not -extent <= i < extent:
        raise mistake("slice", f"Index {i} is outside axis {axis} of {describe(tensor)}")
    return i, _TO_END if i == -1 else i + 1, 1


def _known_rank(tensor) -> tuple:
    if tensor.shape is None:
        raise mistake("slice", f"Expected a tensor of known rank, got {describe(tensor)}")
    return tensor.shape


Tensor.__array_ufunc__ = None  # NumPy's arrays leave mixed arithmetic to the operators above
