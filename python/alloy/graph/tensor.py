"""Tensors and variables: Python's operators, NumPy's functions, conversions, and the methods, of which each is the
function of that name: x.sum(axis) is al.sum(x, axis). Methods have the names that NumPy and PyTorch share; for other
names a message says which one to use."""

import numpy as np

from alloy import _core
from alloy.engine.arrays import SCALARS
from alloy.engine.classes import Part, Uncopied, completes
from alloy.engine.dtypes import DType, is_integer
from alloy.messages.location import mistake
from alloy.messages.names import no_attribute
from alloy.messages.text import describe
from alloy.ops import elementwise, indexing, table
from alloy.ops import shape as shapes
from alloy.ops.apply import apply, no_operand

_OPERANDS = (_core.Tensor, np.ndarray, *SCALARS)
_RUN = "graph.run(x, feeds) runs it"


def _not_operand(op, other):
    """Returns NotImplemented, so that Python asks the other operand; raises if that is of a type of Python's own, or an
    array of another library."""
    if type(other).__module__ == "builtins" or hasattr(other, "__dlpack__"):
        raise no_operand(op, other)
    return NotImplemented


def _binary(op: str, reflected: bool = False):
    def operation(self, other):
        if not isinstance(other, _OPERANDS):
            return _not_operand(op, other)
        if op == "divide" and is_integer(self.dtype):
            raise mistake(
                op,
                f"Expected floats beside /, got {describe(self)}; cast it to float32, or take // for whole numbers",
                TypeError,
            )
        return apply(op, [other, self] if reflected else [self, other])

    return operation


def _bits(word: str, reflected: bool = False):
    """Makes an operator: the logical op for bools, the bitwise one for integers, as in NumPy."""

    def operation(self, other):
        return _binary(f"logical_{word}" if self.dtype == "bool" else f"bitwise_{word}", reflected)(self, other)

    return operation


# The method of the tensor to the right of an array, for the function that NumPy's operator calls.
_RIGHT_OF_ARRAY = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.divide: "__rtruediv__",
    np.power: "__rpow__",
    np.remainder: "__rmod__",
    np.floor_divide: "__rfloordiv__",
    np.matmul: "__rmatmul__",
    np.left_shift: "__rlshift__",
    np.right_shift: "__rrshift__",
    np.bitwise_and: "__rand__",
    np.bitwise_or: "__ror__",
    np.bitwise_xor: "__rxor__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
}


def _with_values(arguments):
    if isinstance(arguments, (tuple, list)):
        return type(arguments)(_with_values(argument) for argument in arguments)
    return arguments.numpy() if isinstance(arguments, Variable) else arguments


def _not_numpys(tensor, name):
    return mistake(
        name,
        f"Expected an array for numpy.{name}, got the tensor {describe(tensor)}, which has a value only during a run; "
        f"alloy has its own functions of tensors{', and w.numpy() is an array' * isinstance(tensor, Variable)}",
        TypeError,
    )


def _valueless(act, hint):
    def method(self, *args, **kwargs):
        raise mistake(
            act,
            f"Expected a value, got the tensor {describe(self)}, which has one only during a run; {hint}",
            TypeError,
        )

    return method


def _in_place(symbol):
    def operation(self, other):
        raise mistake(
            "assign",
            f"A variable does not change by {symbol}=, got {self!r}; graph.assign(w, w {symbol} ...) is an update of a "
            f"step, and x = w {symbol} ... another tensor",
            TypeError,
        )

    return operation


@completes
class Tensor(Uncopied, _core.Tensor):
    """A symbolic value of a graph: a shape, a dtype, and the op that computes it."""

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return DType(self._dtype)

    @property
    def ndim(self) -> int:
        """The number of axes. ValueError: it is not known."""
        if self.shape is None:
            raise mistake("ndim", f"Expected a tensor of known rank, got {describe(self)}", ValueError)
        return len(self.shape)

    @property
    def T(self):
        """The tensor with its axes reversed."""
        return shapes.transpose(self)

    all, any = table.all, table.any
    argmax, argmin = table.argmax, table.argmin
    max, min = table.max, table.min
    mean, prod, sum = table.mean, table.prod, table.sum
    squeeze = shapes.squeeze

    def astype(self, dtype):
        """Returns al.cast(x, dtype)."""
        return elementwise.cast(self, dtype)

    def reshape(self, *shape):
        """Returns al.reshape(x, shape), for a shape or its extents one by one."""
        if not shape:
            raise mistake("reshape", f"Expected a shape or its dimensions for {describe(self)}, got none", TypeError)
        return shapes.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *permutation):
        """Returns al.transpose(x, permutation), for a permutation or its axes one by one; without them it reverses the
        axes."""
        if not permutation:
            return self.T
        return shapes.transpose(self, permutation[0] if len(permutation) == 1 else permutation)

    __getitem__ = indexing.part

    __add__, __radd__ = _binary("add"), _binary("add", reflected=True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", reflected=True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", reflected=True)
    __truediv__, __rtruediv__ = _binary("divide"), _binary("divide", reflected=True)
    __pow__, __rpow__ = _binary("power"), _binary("power", reflected=True)
    __mod__, __rmod__ = _binary("mod"), _binary("mod", reflected=True)
    __matmul__, __rmatmul__ = _binary("matmul"), _binary("matmul", reflected=True)
    __lshift__, __rlshift__ = _binary("left_shift"), _binary("left_shift", reflected=True)
    __rshift__, __rrshift__ = _binary("right_shift"), _binary("right_shift", reflected=True)
    __and__, __rand__ = _bits("and"), _bits("and", reflected=True)
    __or__, __ror__ = _bits("or"), _bits("or", reflected=True)
    __xor__, __rxor__ = _bits("xor"), _bits("xor", reflected=True)
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")

    def __floordiv__(self, other):
        return elementwise.floor_divide(self, other)

    def __rfloordiv__(self, other):
        return elementwise.floor_divide(other, self)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return apply("negative", [self])

    def __pos__(self):
        return self

    def __invert__(self):
        return apply("logical_not" if self.dtype == "bool" else "bitwise_not", [self])

    def __abs__(self):
        return apply("abs", [self])

    def __eq__(self, other):
        """Tells whether both are one tensor of one graph, so that tensors can be keys. It is no op; al.equal is one."""
        if isinstance(other, Tensor):
            return self._is(other)
        if isinstance(other, _OPERANDS) or hasattr(other, "__dlpack__"):
            raise mistake(
                "equal",
                "Expected a tensor beside ==, which asks whether two tensors are the same one, got "
                f"{type(other).__name__}; elements are compared by al.equal and al.not_equal",
                TypeError,
            )
        return NotImplemented

    __hash__ = _core.Tensor.__hash__

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """Applies an operator between an array and a tensor; refuses NumPy's functions, because they compute at
        once."""
        name = _RIGHT_OF_ARRAY.get(ufunc)
        if method != "__call__" or options or name is None or isinstance(inputs[0], Tensor):
            raise _not_numpys(self, ufunc.__name__)
        return getattr(self, name)(inputs[0])

    def __array_function__(self, function, types, args, kwargs):
        if all(issubclass(kind, (Variable, np.ndarray)) for kind in types):  # they have values
            return function(*_with_values(args), **{key: _with_values(value) for key, value in kwargs.items()})
        raise _not_numpys(self, function.__name__)

    __bool__ = _valueless("bool", "al.where chooses between elements, al.cond between functions")
    __int__, __float__, __complex__ = _valueless("int", _RUN), _valueless("float", _RUN), _valueless("complex", _RUN)
    __index__, __array__ = _valueless("index", _RUN), _valueless("array", _RUN)
    __round__ = _valueless("round", "al.rint rounds it there")

    def __format__(self, form):
        return repr(self) if form == "" else _valueless("format", _RUN)(self)

    def __iter__(self):
        raise mistake(
            "iter",
            f"Expected a sequence, got the tensor {describe(self)}; al.split cuts it up, x[i] is a part",
            TypeError,
        )

    def __len__(self):
        if not self.shape or self.shape[0] is None:
            raise mistake("len", f"Expected a tensor of known length, got {describe(self)}", TypeError)
        return self.shape[0]

    def __contains__(self, value):
        raise mistake(
            "in",
            f"Expected a sequence, got the tensor {describe(self)}; al.any(al.equal(x, value)) asks in a run",
            TypeError,
        )

    def __delitem__(self, key):
        raise mistake("slice", f"Tensors do not change, got del of a part of {describe(self)}", TypeError)

    def __setitem__(self, key, value):
        raise mistake(
            "slice_update",
            f"Tensors do not change, got a value for a part of {describe(self)}; al.slice_update(x, np.s_[...], value) "
            "is a tensor with that part changed",
            TypeError,
        )

    def __setattr__(self, name, value):
        if getattr(getattr(type(self), name, None), "fset", None) is None:
            raise no_attribute(self, name, describe(self), setting=True)
        if name == "trainable" and not isinstance(value, (bool, np.bool_)):
            raise mistake("trainable", f"Expected True or False, got {value!r}", TypeError)
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise no_attribute(self, name, describe(self))

    def __repr__(self):
        name = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{name} {describe(self)}>"


@completes
class Variable(_core.Variable):
    """State of a graph, stored on the device."""

    def assign(self, value):
        """Sets the value at once. Integers are converted to the variable's integer type, if it holds them. ValueError:
        another shape. TypeError: another dtype, or a tensor, which has no value; graph.assign assigns tensors in a
        step."""
        if isinstance(value, Tensor) and not isinstance(value, Variable):
            raise mistake(
                "assign",
                f"Expected an array for {self!r}, got the tensor {describe(value)}, which has a value only during a "
                "run; graph.assign(w, tensor) is an update of a step",
                TypeError,
            )
        self._assign(value)

    __iadd__, __isub__, __imul__ = _in_place("+"), _in_place("-"), _in_place("*")
    __itruediv__, __ipow__, __imatmul__ = _in_place("/"), _in_place("**"), _in_place("@")

    def __array__(self, dtype=None, copy=None):
        """Returns a copy of the value, as numpy() does."""
        if copy is False:
            raise mistake("array", f"Expected a copy of {self!r}, whose value lives on the device", ValueError)
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __dlpack__(self, **options):
        """Returns a copy of the value for another library, in host memory."""
        try:
            return self.numpy().__dlpack__(**options)
        except BufferError:
            raise mistake("dlpack", f"Expected an element type that DLPack has, got {self!r}", BufferError) from None

    def __dlpack_device__(self):
        return (1, 0)  # DLPack's CPU


@completes
class WeakVariable(Part, _core.WeakVariable):
    """A reference to a variable that does not keep the graph alive: a call returns the variable, or None if the graph
    is gone."""
