"""Losses and metrics by their names."""

from alloy.messages.location import meant, mistake
from alloy.messages.names import renamed


def by_name(module: str, name: str, known: dict, op: str):
    """Returns the function of that name. ValueError, which lists all names: there is none."""
    if name not in known:
        near = renamed("al", name) or meant(name, known)
        raise mistake(op, f"Expected a function or a name of al.{module} ({', '.join(known)}), got {name!r}{near}")
    return known[name]


def require_function(module: str, given, op: str) -> None:
    """Refuses, with a TypeError, a class, a function of another library, and anything that is no function."""
    if library := _library_of(given):
        raise mistake(
            op,
            f"Expected a function of tensors or a name of al.{module}, got {name_of(given)} of {library}, which "
            "takes no tensors of Alloy",
            TypeError,
        )
    if isinstance(given, type) or not callable(given):
        what = f"the class {given.__name__}, without parentheses" if isinstance(given, type) else repr(given)
        raise mistake(op, f"Expected a function or a name of al.{module}, got {what}", TypeError)


def _library_of(given) -> str:
    """Returns the name of the array library that the function or object belongs to, or ""."""
    given = unwrapped(given)
    homes = [given] if hasattr(given, "__name__") else type(given).__mro__
    roots = {(getattr(home, "__module__", None) or "").partition(".")[0] for home in homes}
    return next(iter(roots & {"torch", "tensorflow", "keras", "sklearn", "jax", "torchmetrics"}), "")


def name_of(function) -> str:
    """Returns the name of a function, of the function in a functools.partial, or of an object's class."""
    function = unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def unwrapped(function):
    """Returns the function inside functools.partial."""
    while hasattr(function, "func"):
        function = function.func
    return function
