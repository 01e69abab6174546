"""Errors for names that a module or an object does not have: they give the name to use, or the nearest."""

import inspect
import operator
import sys
import warnings

from alloy.messages.location import meant, mistake, nearest
from alloy.messages.renames import DEPRECATED, RENAMES

_PAGE = "; docs/coming-from.md has the names of other libraries"


def renamed(place: str, name: str) -> str:
    """Returns "; use NAME", or "" if the table has no row."""
    here = RENAMES.get(place, {}).get(name)
    return f"; use {here}" if here else ""


def of_module(module: str):
    """Returns __getattr__ and __dir__ of a public module: __getattr__ is missing_name, __dir__ lists __all__."""
    return lambda name: missing_name(module, name), lambda: sys.modules[module].__all__


def missing_name(module: str, name: str):
    """Returns what a deprecated name of a public module stands for, and warns. AttributeError: there is none."""
    old = f"{_shown(module)}.{name}"
    if old not in DEPRECATED:
        raise _no_name(module, name)
    new, end = DEPRECATED[old]
    warnings.warn(f"{old} is now {new}; version {end} ends the old name", DeprecationWarning, stacklevel=3)
    return operator.attrgetter(new.removeprefix("al."))(sys.modules["alloy"])


def _no_name(module: str, name: str) -> Exception:
    """Returns the error for a name that a public module does not have."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    shown = _shown(module)
    said = renamed("al", name) or _nearest_path(module, name) + _PAGE
    return mistake(shown, f"There is no {shown}.{name}{said}", AttributeError)


def _shown(module):
    return module.replace("alloy", "al", 1)


def _nearest_path(module, name):
    """Returns "; the nearest is PATH", a public name of any module, or ""."""
    al = sys.modules["alloy"]
    paths = {}
    for each in (sys.modules[module], al, *filter(inspect.ismodule, map(vars(al).get, al.__all__))):
        for known in each.__all__:
            paths.setdefault(known, f"{_shown(each.__name__)}.{known}")
    near = nearest(name, paths, 0.82)
    return f"; the nearest is {paths[near]}" if near else ""


def missing_attribute(self, name):
    """Raises AttributeError: the __getattr__ of classes."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise no_attribute(self, name, one_of(type(self)))


def parameters_of(cls: type) -> dict[str, inspect.Parameter]:
    """Returns the constructor's named parameters; if it takes **options, also those of the next base class."""
    found = {}
    for constructor in (vars(kind)["__init__"] for kind in cls.__mro__ if "__init__" in vars(kind)):
        taken = list(inspect.signature(constructor).parameters.values())[1:]
        named = {one.name: one for one in taken if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
        found |= {name: one for name, one in named.items() if name not in found}
        if all(one.kind != one.VAR_KEYWORD for one in taken):
            break
    return found


def one_of(cls: type) -> str:
    """Returns the class's name with its article: "A Dense"."""
    name = cls.__name__
    is_spelt = name[:2].isupper()
    return f"{'An' if name[0] in ('AEFHILMNORSX' if is_spelt else 'AEIOU') else 'A'} {name}"


def no_attribute(thing, name: str, shown: str, setting: bool = False) -> Exception:
    """Returns the error for a missing attribute. shown: the object's name in the message.
    setting: the user sets the attribute."""
    kind = type(thing)
    said = next((said for cls in kind.__mro__ if (said := renamed(cls.__name__, name))), "")
    if not said and setting:
        said = meant(name, [each for each in dir(kind) if getattr(getattr(kind, each), "fset", None)])
    elif not said:
        near = meant(name, [each for each in dir(kind) if each[0] != "_"], 0.75)
        said = _said_of_tensor(kind, name) or f"{near}{_PAGE}"
    to_set = " to set" if setting else ""
    return mistake(kind.__name__, f"{shown} has no attribute {name}{to_set}{said}", AttributeError)


def _said_of_tensor(kind, name):
    """Returns "; use al.NAME" for a tensor's missing method that is a function of al, or ""."""
    if not hasattr(kind, "astype"):
        return ""
    return f"; use al.{name}" if name in sys.modules["alloy.ops"].__all__ else renamed("al", name)
