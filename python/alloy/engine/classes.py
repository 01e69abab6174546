"""Completes the engine's classes in Python.

The engine makes the objects (tensor.graph, graph.compile()), so they would never belong to a subclass written in
Python. Therefore the members of such a subclass are added to the engine's class itself. Each class is written once, in
one file: Tensor and Variable in graph/tensor.py, Graph in graph/graph.py, Executable in graph/executable.py, Op and
Update in graph/op.py, Submission and Pending in asynchronous/submission.py, Queue and Event in asynchronous/queues.py.
alloy/_core.pyi has the types of all members."""

from alloy.messages.location import mistake
from alloy.messages.names import missing_attribute, no_attribute, one_of

_OF_ANY_CLASS = vars(type("Empty", (), {}))


def completes(written):
    """Adds the members of a class, and those of the bases before the last, to the last base, which is the engine's
    class. Returns that, with the documentation and the module of the class."""
    engine = written.__bases__[-1]
    if "__init__" in vars(written):
        written.__init__.__qualname__ = written.__name__  # in Python's own messages: "Queue() takes ..."
    for cls in reversed(written.__mro__):
        for name, member in () if issubclass(engine, cls) else vars(cls).items():
            if name not in _OF_ANY_CLASS:
                setattr(engine, name, member)
    engine.__doc__, engine.__module__ = written.__doc__, written.__module__
    return engine


class Uncopied:
    """Refuses to be copied and pickled."""

    def __reduce__(self, *protocol):
        raise mistake(
            self,
            "A graph and its parts cannot be copied or pickled; build the model again, and pass values "
            "on by al.save and al.load, or by v.assign(w.numpy())",
            TypeError,
        )

    __reduce_ex__ = __reduce__


class Part(Uncopied):
    """Refuses attributes that the class does not have."""

    __getattr__ = missing_attribute

    def __setattr__(self, name, value):
        raise no_attribute(self, name, one_of(type(self)), setting=True)
