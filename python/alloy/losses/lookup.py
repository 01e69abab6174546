"""Losses and metrics by their names."""

from alloy.graph.location import mistake
from alloy.graph.names import said_of_value


def by_name(module: str, name: str, known: dict, op: str):
    """What the name stands for. ValueError with all names: for nothing."""
    if name not in known:
        near = said_of_value(name, known)
        raise mistake(op, f"Expected a function or a name of al.{module} ({', '.join(known)}), got {name!r}{near}")
    return known[name]


def require_function(module: str, given, op: str) -> None:
    """TypeError: it is no function, or a class."""
    if isinstance(given, type) or not callable(given):
        what = f"the class {given.__name__}, without parentheses" if isinstance(given, type) else repr(given)
        raise mistake(op, f"Expected a function or a name of al.{module}, got {what}", TypeError)


def name_of(function) -> str:
    """What a function is called, one of functools.partial and an object of a class, too."""
    function = unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def unwrapped(function):
    """The function within functools.partial."""
    while hasattr(function, "func"):
        function = function.func
    return function
