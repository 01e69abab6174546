"""The methods and properties of tensors. Each is the function of that name: x.sum(axis) is al.sum(x, axis). Their names
are those that NumPy and PyTorch share; for other names a message says which one to use."""

from alloy._core import Tensor
from alloy.engine.classes import method_of
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops.elementwise import cast, floor_divide
from alloy.ops.shape import reshape as _reshape
from alloy.ops.shape import squeeze
from alloy.ops.shape import transpose as _transpose
from alloy.ops.table import all, any, argmax, argmin, max, mean, min, prod, sum

for _function in (all, any, argmax, argmin, max, mean, min, prod, squeeze, sum):
    method_of(Tensor)(_function)


@method_of(Tensor)
def astype(self, dtype) -> Tensor:
    """al.cast(x, dtype)."""
    return cast(self, dtype)


@method_of(Tensor)
def reshape(self, *shape) -> Tensor:
    """al.reshape(x, shape), with a shape or its dimensions one by one."""
    if not shape:
        raise mistake("reshape", f"Expected a shape or its dimensions for {describe(self)}, got none", TypeError)
    return _reshape(self, shape[0] if len(shape) == 1 else shape)


@method_of(Tensor)
def transpose(self, *permutation) -> Tensor:
    """al.transpose(x, permutation), with a permutation or its axes one by one; without them it reverses the axes."""
    if not permutation:
        return _transpose(self)
    return _transpose(self, permutation[0] if len(permutation) == 1 else permutation)


@method_of(Tensor, "ndim")
@property
def _ndim(self) -> int:
    """Returns the number of axes. ValueError: it is not known."""
    if self.shape is None:
        raise mistake("ndim", f"Expected a tensor of known rank, got {describe(self)}", ValueError, "asked")
    return len(self.shape)


method_of(Tensor, "T")(property(lambda self: _transpose(self), doc="The tensor with its axes reversed."))


@method_of(Tensor)
def __floordiv__(self, other):
    return floor_divide(self, other)


@method_of(Tensor)
def __divmod__(self, other):
    return self // other, self % other


@method_of(Tensor)
def __rdivmod__(self, other):
    return other // self, other % self


@method_of(Tensor)
def __rfloordiv__(self, other):
    return floor_divide(other, self)
