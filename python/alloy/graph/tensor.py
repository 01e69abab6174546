"""Python's operators, NumPy's functions and conversions for tensors. Importing it adds them to the engine's Tensor;
indexing.py adds x[key], and ops/methods.py the methods."""

import operator

import numpy as np

from alloy._core import Tensor, Variable
from alloy.engine.arrays import SCALARS
from alloy.engine.classes import method_of
from alloy.engine.dtypes import is_integer
from alloy.graph.apply import apply, no_operand
from alloy.messages.location import mistake
from alloy.messages.names import no_attribute
from alloy.messages.text import describe

_OPERANDS = (Tensor, np.ndarray, *SCALARS)


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


for _symbol, _op in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
    "mod": "mod",
    "matmul": "matmul",
    "lshift": "left_shift",
    "rshift": "right_shift",
}.items():
    setattr(Tensor, f"__{_symbol}__", _binary(_op))
    setattr(Tensor, f"__r{_symbol}__", _binary(_op, reflected=True))
for _symbol in ("and", "or", "xor"):
    setattr(Tensor, f"__{_symbol}__", _bits(_symbol))
    setattr(Tensor, f"__r{_symbol}__", _bits(_symbol, reflected=True))
for _symbol, _op in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Tensor, f"__{_symbol}__", _binary(_op))
# NumPy's operators call this if an array stands left of a tensor.
_NUMPY = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.power: operator.pow,
    np.remainder: operator.mod,
    np.floor_divide: operator.floordiv,
    np.matmul: operator.matmul,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
_MIRRORED = {operator.lt: "__gt__", operator.le: "__ge__", operator.gt: "__lt__", operator.ge: "__le__"}
_MIRRORED |= {operator.eq: "__eq__", operator.ne: "__ne__"}


@method_of(Tensor)
def __array_ufunc__(self, ufunc, method, *inputs, **options):
    """Applies an operator between an array and a tensor; refuses NumPy's functions, because they compute at once."""
    operation = _NUMPY.get(ufunc)
    if method != "__call__" or options or operation is None or isinstance(inputs[0], Tensor):
        raise _not_numpys(self, ufunc.__name__)
    reflected = _MIRRORED.get(operation) or f"__r{operation.__name__.strip('_')}__"
    return getattr(self, reflected)(inputs[0])


@method_of(Tensor)
def __array_function__(self, function, types, args, kwargs):
    if all(issubclass(kind, (Variable, np.ndarray)) for kind in types):  # they have values
        return function(*_with_values(args), **{key: _with_values(value) for key, value in kwargs.items()})
    raise _not_numpys(self, function.__name__)


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
        "called",
    )


@method_of(Tensor)
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


@method_of(Tensor)
def __setattr__(self, name, value):
    if getattr(getattr(type(self), name, None), "fset", None) is None:
        raise no_attribute(self, name, describe(self), "set")
    if name == "trainable" and not isinstance(value, (bool, np.bool_)):
        raise mistake("trainable", f"Expected True or False, got {value!r}", TypeError, "set")
    object.__setattr__(self, name, value)


@method_of(Tensor, "__getattr__")  # a function named __getattr__ would be the module's
def _missing(self, name):
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise no_attribute(self, name, describe(self))


@method_of(Tensor)
def __neg__(self):
    return apply("negative", [self])


@method_of(Tensor)
def __pos__(self):
    return self


@method_of(Tensor)
def __invert__(self):
    return apply("logical_not" if self.dtype == "bool" else "bitwise_not", [self])


@method_of(Tensor)
def __abs__(self):
    return apply("abs", [self])


def _valueless(act, hint):
    def method(self, *args, **kwargs):
        raise mistake(
            act,
            f"Expected a value, got the tensor {describe(self)}, which has one only during a run; {hint}",
            TypeError,
            "asked",
        )

    return method


_RUN = "graph.run(x, feeds) runs it"
for _kind, _hint in {
    "bool": "al.where chooses between elements, al.cond between functions",
    "int": _RUN,
    "float": _RUN,
    "complex": _RUN,
    "index": _RUN,
    "array": _RUN,
    "round": "al.rint rounds it there",
}.items():
    setattr(Tensor, f"__{_kind}__", _valueless(_kind, _hint))


@method_of(Tensor)
def __format__(self, form):
    return repr(self) if form == "" else _valueless("format", _RUN)(self)


@method_of(Tensor)
def __iter__(self):
    raise mistake(
        "iter",
        f"Expected a sequence, got the tensor {describe(self)}; al.split cuts it up, x[i] is a part",
        TypeError,
        "asked",
    )


@method_of(Tensor)
def __len__(self):
    if not self.shape or self.shape[0] is None:
        raise mistake("len", f"Expected a tensor of known length, got {describe(self)}", TypeError, "asked")
    return self.shape[0]


@method_of(Tensor)
def __contains__(self, value):
    raise mistake(
        "in",
        f"Expected a sequence, got the tensor {describe(self)}; al.any(al.equal(x, value)) asks in a run",
        TypeError,
        "asked",
    )


@method_of(Tensor)
def __delitem__(self, key):
    raise mistake("slice", f"Tensors do not change, got del of a part of {describe(self)}", TypeError, "called")


@method_of(Tensor)
def __setitem__(self, key, value):
    raise mistake(
        "slice_update",
        f"Tensors do not change, got a value for a part of {describe(self)}; al.slice_update(x, np.s_[...], value) "
        "is a tensor with that part changed",
        TypeError,
        "called",
    )


def _in_place(symbol):
    def operation(self, other):
        raise mistake(
            "assign",
            f"A variable does not change by {symbol}=, got {self!r}; graph.assign(w, w {symbol} ...) is an update of a "
            f"step, and x = w {symbol} ... another tensor",
            TypeError,
            "called",
        )

    return operation


for _word, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}.items():
    setattr(Variable, f"__i{_word}__", _in_place(_symbol))
_assign = Variable.assign


@method_of(Variable)
def assign(self, value):
    """Sets the value at once. ValueError: another shape. TypeError: another dtype, or a tensor, which has no value;
    graph.assign assigns tensors in a step."""
    if isinstance(value, Tensor) and not isinstance(value, Variable):
        raise mistake(
            "assign",
            f"Expected an array for {self!r}, got the tensor {describe(value)}, which has a value only during a run; "
            "graph.assign(w, tensor) is an update of a step",
            TypeError,
            "called",
        )
    _assign(self, value)


@method_of(Variable)
def __array__(self, dtype=None, copy=None):
    """Returns a copy of the value, as numpy() does."""
    if copy is False:
        raise mistake("array", f"Expected a copy of {self!r}, whose value lives on the device", ValueError, "asked")
    return self.numpy() if dtype is None else self.numpy().astype(dtype)


@method_of(Variable)
def __dlpack__(self, **options):
    """Returns a copy of the value for another library, in host memory."""
    try:
        return self.numpy().__dlpack__(**options)
    except BufferError:
        raise mistake(
            "dlpack", f"Expected an element type that DLPack has, got {self!r}", BufferError, "asked"
        ) from None


@method_of(Variable)
def __dlpack_device__(self):
    return (1, 0)  # DLPack's CPU
