"""Names that are not there: of modules, of attributes, of arguments. What is said then is what to type instead."""

import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping

from alloy.graph.foreign import ARGUMENTS, ATTRIBUTES, NAMES
from alloy.graph.location import meant, mistake

FUNCTIONS: dict[str, Callable] = {}  # of tensors by their names, which alloy.ops adds
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def explained(function, op: str | None = None):
    """The function; a call that does not fit its parameters is answered as other mistakes are.

    op: what messages begin with; None is the function's name, of __init__ the class's."""
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # from within the function
            of_class = function.__name__ in ("__init__", "__call__")
            name = op or (type(args[0]).__name__ if of_class and args else function.__name__)
            wrong = _wrong_call(name, parameters, args, kwargs)
        raise wrong

    return call


def _wrong_call(name, parameters, args, kwargs):
    """The mistake of a call that Python refuses."""
    given = {key: parameter for key, parameter in parameters.items() if key != "self"}
    kinds = inspect.Parameter
    by_position = [key for key, parameter in given.items() if parameter.kind is kinds.POSITIONAL_OR_KEYWORD]
    count = len(args) - ("self" in parameters)
    needed = [
        key
        for key, parameter in given.items()
        if parameter.default is kinds.empty and parameter.kind.name[:4] != "VAR_"
    ]
    missing = [key for key in needed if key not in kwargs and key not in by_position[:count]]
    strange = [key for key in kwargs if key not in given]
    if strange:
        fitting = next((other for other in ARGUMENTS.get(strange[0], ()) if other in given), None)
        said = f"an argument {strange[0]}" + (f"; its name here is {fitting}" if fitting else meant(strange[0], given))
    elif count > len(by_position):
        said = f"{count} argument{'s' * (count > 1)} by position"
    elif twice := [key for key in by_position[:count] if key in kwargs]:
        said = f"{twice[0]} twice"
    else:
        said = f"no {' and no '.join(missing)}"
    shown = inspect.Signature([parameter.replace(annotation=kinds.empty) for parameter in given.values()])
    return mistake(name.lower(), f"Expected {name}{shown}, got {said}", TypeError, "called")


def explain(module: types.ModuleType, shown: str, others: Mapping, *, functions: bool = True) -> None:
    """Explains the module's functions (unless told otherwise) and classes, and says of names that it lacks what to type
    instead.

    shown: what users write for the module, such as "al.nn". others: the names that other modules have, by what users
    write for those."""
    names = public(module)
    for name in names:
        thing = getattr(module, name)
        if functions and isinstance(thing, types.FunctionType) and not hasattr(thing, "__wrapped__"):
            home = sys.modules[thing.__module__]
            for place in (module, home):
                if getattr(place, name, None) is thing:
                    setattr(place, name, explained(thing))
        for cls in thing.__mro__ if isinstance(thing, type) else ():
            is_own = cls.__module__.startswith("alloy.") and cls.__module__ != "alloy._core"
            if is_own and not issubclass(cls, dict):
                _explain_class(cls)
    answer_for(module, shown, names, others)


def _explain_class(cls: type) -> None:
    """Explains its methods, and says of attributes that it lacks what to type instead."""
    for key, method in list(vars(cls).items()):
        named = not key.startswith("_") or key in ("__init__", "__call__")
        if named and isinstance(method, types.FunctionType) and not hasattr(method, "__wrapped__"):
            setattr(cls, key, explained(method))
    own = getattr(cls, "__getattr__", None)
    if hasattr(own, "__wrapped__"):
        return

    def __getattr__(self, name):
        if name.startswith("_") or own is not None:
            try:
                return own(self, name) if own is not None else object.__getattribute__(self, name)
            except AttributeError as error:
                if name.startswith("_") or str(error).startswith("["):
                    raise
        raise no_attribute(self, name, one_of(type(self)))

    cls.__getattr__ = functools.update_wrapper(__getattr__, own or object.__getattribute__)


def one_of(cls: type) -> str:
    """The class with its article, as a sentence begins."""
    name = cls.__name__
    is_spelt = name[:2].isupper()
    return f"{'An' if name[0] in ('AEFHILMNORSX' if is_spelt else 'AEIOU') else 'A'} {name}"


def overview(module: types.ModuleType) -> str:
    """A line for each of its names, with how its documentation begins."""
    docs = {name: " ".join((getattr(module, name).__doc__ or "").split()) for name in public(module)}
    lines = [f"{name:<18}{text[:61] + '…' if len(text) > 62 else text}" for name, text in docs.items()]
    return "\n".join(lines)


def public(module: types.ModuleType) -> tuple[str, ...]:
    """The names that are there for users."""
    own = (name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__)
    return tuple(getattr(module, "__all__", None) or (name for name in own if not name.startswith("_")))


class _Module(types.ModuleType):
    """A module that says what to type instead of a name that is not there. As a function of the module, __getattr__
    would stand in its help."""

    def __getattr__(self, name):
        shown, names, others, before = vars(self)["_answers"]
        if name.startswith("_"):
            return before(name)
        said = _said_of_name(name, shown, names, others)
        caller = sys._getframe(1)
        importing = caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM
        kind = ImportError if importing else AttributeError  # or Python would say less of `from alloy import NAME`
        raise mistake(shown, f"There is no {shown}.{name}{said}", kind, "asked")


def answer_for(module: types.ModuleType, shown: str, names, others: Mapping) -> None:
    """Makes the module say what to type instead of a name that is not there."""

    def missing(name):
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    vars(module)["_answers"] = shown, names, others, vars(module).pop("__getattr__", missing)
    module.__class__ = _Module


def _said_of_name(name, shown, names, others):
    if name in NAMES:
        return _typed(NAMES[name])
    written = {given: f"{other}.{given}" for other, given_names in others.items() for given in given_names}
    if name in written:
        return f"; it is {written[name]}"
    written |= {given: f"{shown}.{given}" for given in names}
    near = meant(name, written, 0.75).rpartition(" ")[2]
    return f"; the nearest is {written[near]}" if near else ""


def _typed(said: str) -> str:
    return f"; {said.replace('nothing', 'nothing stands for it', 1) if said.startswith('nothing') else f'type {said}'}"


def no_attribute(thing, name: str, shown: str, act: str = "asked") -> Exception:
    """That the object, which messages show so, has no such attribute."""
    kind = type(thing)
    return mistake(
        kind.__name__.lower(),
        f"{shown} has no attribute {name}{' to set' * (act == 'set')}{_said_of_attribute(kind, name, act)}",
        AttributeError,
        act,
    )


def _said_of_attribute(kind, name, act):
    for cls in kind.__mro__:
        if name in (said := ATTRIBUTES.get(cls.__name__.lstrip("_"), {})):
            return _typed(said[name])
    own = [key for key in dir(kind) if not key.startswith("_")]
    if act == "set":
        return meant(name, [key for key in own if getattr(getattr(kind, key), "fset", None)])
    if hasattr(kind, "astype"):  # a tensor
        if name in FUNCTIONS:
            rest = ", ..." if len(inspect.signature(FUNCTIONS[name]).parameters) > 1 else ""
            return f"; type al.{name}(x{rest})"
        if name in NAMES:
            return _typed(NAMES[name])
        if name.endswith("_") and name[:-1] in FUNCTIONS:
            return f"; tensors do not change, al.{name[:-1]} gives another"
    return meant(name, own)
