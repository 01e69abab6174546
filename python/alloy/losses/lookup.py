"""Losses and metrics by their names."""

from alloy.graph.location import meant, mistake
from alloy.graph.names import renamed


def by_name(module: str, name: str, known: dict, op: str):
    """What the name stands for. ValueError with all names: for nothing."""
    if name not in known:
        near = renamed("al", name) or meant(name, known)
        raise mistake(
            op, f"Expected a function or a name of al.{module} ({', '.join(known)}), got {name!r}{near}", act="called"
        )
    return known[name]


def require_function(module: str, given, known: dict, op: str) -> None:
    """TypeError: it is no function, or a class, or a function of another library."""
    if library := _library_of(given):
        raise mistake(
            op,
            f"Expected a function of tensors or a name of al.{module}, got {name_of(given)} of {library}, which "
            "takes no tensors of Alloy",
            TypeError,
            "called",
        )
    if isinstance(given, type) or not callable(given):
        what = f"the class {given.__name__}, without parentheses" if isinstance(given, type) else repr(given)
        raise mistake(op, f"Expected a function or a name of al.{module}, got {what}", TypeError, act="called")


def _library_of(given) -> str:
    """The library of the function or object; nothing where it is none of those that compute with arrays."""
    given = unwrapped(given)
    homes = [given] if hasattr(given, "__name__") else type(given).__mro__
    roots = {(getattr(home, "__module__", None) or "").partition(".")[0] for home in homes}
    return next(iter(roots & {"torch", "tensorflow", "keras", "sklearn", "jax", "torchmetrics"}), "")


def name_of(function) -> str:
    """What a function is called, one of functools.partial and an object of a class, too."""
    function = unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def unwrapped(function):
    """The function within functools.partial."""
    while hasattr(function, "func"):
        function = function.func
    return function
