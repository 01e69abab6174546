"""Completes the engine's classes in Python.

The engine makes the objects (tensor.graph, graph.compile()), so they would never belong to a subclass written in
Python. Therefore methods written in Python are added to the engine's classes themselves: to Tensor in graph/tensor.py,
to Graph in graph/graph.py, to Executable in graph/executable.py."""

from alloy._core import (
    DeviceError,
    Event,
    Executable,
    Graph,
    Op,
    Pending,
    Queue,
    Submission,
    Tensor,
    Update,
    WeakVariable,
)
from alloy.engine.dtypes import DType
from alloy.messages.location import mistake
from alloy.messages.names import missing_attribute, no_attribute, one_of


def method_of(cls, name: str | None = None):
    """Adds a function or property to the class, under its own name or the given one."""

    def add(function):
        setattr(cls, name or function.__name__, function)
        return function

    return add


def _sealed(self, name, value):
    raise no_attribute(self, name, one_of(type(self)), "set")


def _uncopied(self, *protocol):
    raise mistake(
        type(self).__name__,
        "A graph and its parts cannot be copied or pickled; build the model again, and pass values "
        "on by al.save and al.load, or by v.assign(w.numpy())",
        TypeError,
        "asked",
    )


def _set_on_graph(self, name, value):
    settable = name.startswith("_") or getattr(getattr(Graph, name, None), "fset", None)
    if not settable:
        raise no_attribute(self, name, "A Graph", "set")
    object.__setattr__(self, name, value)


def _dtype_by(read):
    return lambda self: DType(read(self))


Graph.__setattr__ = _set_on_graph
for _class in (Event, Executable, Op, Pending, Queue, Submission, Update, WeakVariable):
    _class.__setattr__ = _sealed
for _class in (Event, Executable, Graph, Op, Pending, Queue, Submission, Update, WeakVariable):
    method_of(_class, "__getattr__")(missing_attribute)
for _class in (Event, Executable, Graph, Op, Pending, Queue, Submission, Tensor, Update, WeakVariable):
    _class.__reduce__ = _class.__reduce_ex__ = _uncopied


Graph.__doc__ = """A computation and its variables.

    storage: the place of variables between runs, "variable" (the framework's own) or "buffers" (two arrays for each:
    a run reads one and writes the other, so that a failed run changes nothing). device: the kind or the name of one of
    al.devices(); "" is the first.

    Threads: any number of them may run, submit and compile steps of one graph and read and assign its variables at the
    same time; steps of a graph run one after the other. Ops and layers are added to a graph by one thread at a time.
    Graphs, and their tensors, variables and executables, cannot be copied or pickled."""
DeviceError.__doc__ = "The device has failed, or there is none."
for _class, _docs in {
    Tensor: {"dtype": "The name of the element type.", "graph": "Its graph."},
    Graph: {"storage": 'The place of variables between runs: "variable" or "buffers".'},
    Executable: {
        "graph": "The graph it was compiled from.",
        "feeds": "The placeholders that a call takes arrays for, in order.",
        "fetches": "The tensors whose values a call returns, in order.",
    },
    Event: {"value": "The value it has reached."},
    Queue: {"device": "The name of its device."},
    Pending: {"shape": "The extents of its axes.", "dtype": "The name of the element type."},
    Op: {
        "stage": "The first stage after those that compute its operands.",
        "operands": "The tensors it reads.",
        "results": "The tensors it makes.",
    },
}.items():
    for _name, _doc in _docs.items():
        _property = getattr(_class, _name)
        _read = _property.fget if _name != "dtype" else _dtype_by(_property.fget)
        setattr(_class, _name, property(_read, _property.fset, doc=_doc))
