"""The engine's classes as Python completes them.

The engine makes the objects (tensor.graph, graph.compile()), so its objects would never be of a subclass written in
Python. Therefore methods written in Python are added to the engine's classes themselves: of tensors in tensor.py, of
graphs in graph.py, of executables in executable.py."""

from alloy._core import Executable, Graph, Op, Submission, Tensor, Update, WeakVariable


def method_of(cls):
    """Makes the function a method of the class."""

    def add(function):
        setattr(cls, function.__name__, function)
        return function

    return add


def _sealed(self, name, value):
    raise AttributeError(f"[{type(self).__name__.lower()}] There is no attribute {name} to set")


def _uncopied(self, *protocol):
    raise TypeError(f"cannot pickle or copy {type(self).__name__} objects: save values with al.save")


for _class in (Executable, Op, Submission, Update, WeakVariable):
    _class.__setattr__ = _sealed
for _class in (Executable, Graph, Op, Submission, Tensor, Update, WeakVariable):
    _class.__reduce__ = _class.__reduce_ex__ = _uncopied
