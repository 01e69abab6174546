"""Names that are not there: of modules, of attributes, of arguments. What is said then is what to use instead."""

import dis
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from contextlib import suppress

from alloy.graph.foreign import ARGUMENTS, ATTRIBUTES, NAMES, UNNEEDED, VALUES
from alloy.graph.location import meant, mistake

FUNCTIONS: dict[str, Callable] = {}  # of tensors by their names, which alloy.ops adds
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


# ---- calls that do not fit ----


def explained(function):
    """The function; a call that does not fit its parameters is answered as other mistakes are. Nothing is looked up
    before a call fails, so that wrapping is cheap."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from within the function
        cls = type(args[0]) if function.__name__ in ("__init__", "__call__") and args else None
        given = args["self" in inspect.signature(function).parameters :]
        raise wrong_call(cls.__name__ if cls else function.__name__, function, given, kwargs, cls)

    call.__qualname__ = function.__qualname__.removesuffix(".__wrapped__")
    function.__qualname__ = f"{call.__qualname__}.__wrapped__"  # where pickle finds it, in tables made before
    return call


def wrong_call(name: str, function, args, kwargs, cls: type | None = None) -> Exception:
    """The mistake of a call that does not fit. args: without self; cls: whose constructor it is."""
    taken = parameters_of(function, cls)
    if (
        cls is not None and function.__name__ == "__call__" and hasattr(cls, "forward")
    ):  # a layer, whose forward may take operands by name
        operands = list(inspect.signature(cls.forward).parameters.values())[3:]
        taken = {key: one for key, one in taken.items() if one.kind is not one.VAR_KEYWORD}
        taken |= {one.name: one.replace(kind=one.KEYWORD_ONLY) for one in operands if one.kind not in _MANY}
    strange = [key for key in kwargs if key not in taken]
    if strange and cls is not None and function.__name__ == "__init__":
        taken = parameters_of(cls.__init__, cls)
    by_position = [key for key, one in taken.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    needed = [key for key, one in taken.items() if one.default is one.empty and one.kind not in _MANY]
    missing = [key for key in needed if key not in kwargs and key not in by_position[: len(args)]]
    if strange:
        said = f"an argument {strange[0]}{said_of_argument(strange[0], taken, cls)}"
    elif len(args) > len(by_position):
        said = f"{len(args)} argument{'s' * (len(args) > 1)} by position{_by_name(args, by_position, taken)}"
    elif twice := [key for key in by_position[: len(args)] if key in kwargs]:
        said = f"{twice[0]} twice{_of_twice(args[by_position.index(twice[0])], cls)}"
    else:
        said = f"no {' and no '.join(missing)}"
    return mistake(name, f"Expected {name}{_signature(taken)}, got {said}", TypeError, "called")


def _of_twice(given, cls) -> str:
    """What to do instead of giving so something by position that has a name, too."""
    if isinstance(given, (list, tuple)):
        said = [
            UNNEEDED[kind.__name__]["params"] for kind in (cls.__mro__ if cls else ()) if kind.__name__ == "Optimizer"
        ]
        return f"; {said[0]}" if said else ""
    return "; arrays that belong together are one tuple, (x, y)" if hasattr(given, "__array__") else ""


def parameters_of(function, cls: type | None = None) -> dict[str, inspect.Parameter]:
    """What the function takes, without self; a constructor of cls that takes any names also what the constructors
    take to which it hands them on."""
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    constructors = [vars(base)["__init__"] for base in cls.__mro__[:-1] if "__init__" in vars(base)] if cls else []
    of = [inspect.unwrap(constructor) for constructor in constructors]
    rest = constructors[of.index(inspect.unwrap(function)) + 1 :] if inspect.unwrap(function) in of else []
    for constructor in rest:
        any_names = [key for key, one in found.items() if one.kind is one.VAR_KEYWORD]
        if not any_names:
            break
        del found[any_names[0]]
        for key, one in list(inspect.signature(constructor).parameters.items())[1:]:
            if one.kind is not one.VAR_POSITIONAL:
                found.setdefault(key, one if one.kind is one.VAR_KEYWORD else one.replace(kind=one.KEYWORD_ONLY))
    return found


class _Word(str):
    __repr__ = str.__str__


def _signature(parameters) -> str:
    """The parameters as Python shows them, without types, and functions by their names."""
    shown = [
        one.replace(annotation=one.empty, default=_Word(one.default.__name__))
        if isinstance(one.default, types.FunctionType)
        else one.replace(annotation=one.empty)
        for one in parameters.values()
    ]
    return str(inspect.Signature(sorted(shown, key=lambda one: one.kind)))


def _by_name(args, by_position, taken) -> str:
    """How arguments beyond those that are taken by position are written."""
    others = [key for key, one in taken.items() if one.kind is one.KEYWORD_ONLY and key not in ("seed", "name")]
    if not others or not by_position:
        return "; all have names" * bool(others)
    rest = zip(others, args[len(by_position) :])
    pairs = [f"{key}={value!r}" if isinstance(value, (int, float, str)) else f"{key}=..." for key, value in rest]
    return f"; the others have names, for instance {', '.join(pairs)}"


def said_of_argument(name: str, taken, cls: type | None = None) -> str:
    """What to use instead of an argument among those that are taken, or why there is none; cls: of whose
    constructor."""
    for here in ARGUMENTS.get(name, ()):
        if here.partition(",")[0] in taken:
            return f"; its name here is {here}"
    for kind in cls.__mro__ if cls else (types.FunctionType,):
        if name in (said := UNNEEDED.get(kind.__name__, {})):
            return f"; {said[name]}"
    return meant(name, taken)


# ---- what is explained ----


def explain(module: types.ModuleType) -> None:
    """Explains the functions and classes that the module has for users."""
    for name in public(module):
        thing = getattr(module, name)
        if isinstance(thing, types.FunctionType) and not hasattr(thing, "__wrapped__"):
            home, wrapped = sys.modules[thing.__module__], explained(thing)
            for place in (module, home):
                if getattr(place, name, None) is thing:
                    setattr(place, name, wrapped)
        for cls in thing.__mro__ if isinstance(thing, type) else ():
            is_own = cls.__module__.startswith("alloy.") and cls.__module__ != "alloy._core"
            if is_own and not issubclass(cls, dict):
                _explain_class(cls)


def _explain_class(cls: type) -> None:
    """Explains its methods, and says of attributes that it lacks what to use instead."""
    for key, method in list(vars(cls).items()):
        named = not key.startswith("_") or key in ("__init__", "__call__")
        if named and isinstance(method, types.FunctionType) and not hasattr(method, "__wrapped__"):
            setattr(cls, key, explained(method))
    if not hasattr(cls, "__getattr__"):
        cls.__getattr__ = missing_attribute


def missing_attribute(self, name):
    """__getattr__ of classes that say what to use instead."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise no_attribute(self, name, one_of(type(self)))


def one_of(cls: type) -> str:
    """The class with its article, as a sentence begins."""
    name = cls.__name__
    is_spelt = name[:2].isupper()
    return f"{'An' if name[0] in ('AEFHILMNORSX' if is_spelt else 'AEIOU') else 'A'} {name}"


def overview(module: types.ModuleType) -> str:
    """Each of its names, with the first sentence of its documentation."""
    docs = {name: " ".join((getattr(module, name).__doc__ or "").split()) for name in public(module)}
    width = max(map(len, docs)) + 2
    return "\n".join(
        textwrap.fill(f"{name:<{width}}{text.partition('. ')[0].rstrip('.')}", 100, subsequent_indent=" " * width)
        for name, text in docs.items()
    )


def public(module: types.ModuleType) -> tuple[str, ...]:
    """The names that are there for users."""
    own = (name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__)
    return tuple(getattr(module, "__all__", None) or (name for name in own if not name.startswith("_")))


def answer_for(module: types.ModuleType, shown: str, names, others: Mapping) -> None:
    """Makes the module say what to use instead of a name that is not there. It stays a plain module, which cloudpickle
    and its like pickle by name."""

    def missing(name):
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    before = vars(module).get("__getattr__", missing)

    def answer(name):
        with suppress(AttributeError):
            return before(name)
        if name.startswith("_"):
            return missing(name)
        said = _said_of_name(name, shown, names, others)
        caller = sys._getframe(1)
        importing = caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM
        kind = ImportError if importing else AttributeError  # or Python would say less of `from alloy import NAME`
        raise mistake(shown, f"There is no {shown}.{name}{said}", kind, "asked")

    # Set and not defined, because checkers take every name of a module that defines the first; help shows what the
    # second lists.
    vars(module).update(__getattr__=answer, __dir__=lambda: list(names))


def plain(name: str) -> str:
    """The name without what libraries write differently."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


@functools.cache
def _plain(kind: str) -> dict[str, str]:
    """The table with its keys plain."""
    return {plain(name): said for name, said in {"names": NAMES, "values": VALUES}[kind].items()}


def _said_of_name(name, shown, names, others):
    own = {f"{shown}.{given}": given for given in names}
    every = own | {f"{other}.{given}": given for other, known in others.items() for given in known}
    if name not in NAMES and (path := next((path for path, given in every.items() if given == name), None)):
        return f"; it is {path}"
    spelt, rank = _stem(name)
    for key in (plain(name), spelt):
        said = _plain("names").get(key, "")
        here = said.replace("{rank}", rank)
        if said and (here == said or here in every):
            return _typed(here)
    ranked = sorted(every, key=lambda path: (every[path][0].isupper() != name[0].isupper(), path not in own))
    for key in (plain(name), spelt):
        here = plain(_plain("values").get(key, key))
        if path := next((path for path in ranked if plain(every[path]) == here), None):
            return f"; it is {path}" if here == key else _typed(path)
    near = meant(name, every.values(), 0.82).rpartition(" ")[2]
    return f"; the nearest is {next(path for path in ranked if every[path] == near)}" if near else ""


def _stem(name: str) -> tuple[str, str]:
    """The plain name without the number of dimensions at its end, and that number, by default 2D."""
    short = plain(name)
    return (short[:-2], short[-2:].upper()) if short[-2:] in ("1d", "2d", "3d") else (short, "2D")


def said_of_value(name: str, known) -> str:
    """ "; its name here is NAME", of a name that stands for something among the known ones, or the nearest of them."""
    return said_of_foreign(name, known) or meant(name.lower(), known, 0.75)


def said_of_foreign(name: str, known) -> str:
    """ "; its name here is NAME", of a name that stands for something among the known ones, or nothing."""
    here = _plain("values").get(plain(name), name)
    alike = [one for one in known if plain(one) == plain(here)]
    return f"; its name here is {alike[0]}" if alike else ""


def _typed(said: str) -> str:
    return f"; {said.replace('nothing', 'nothing stands for it', 1) if said.startswith('nothing') else f'use {said}'}"


def no_attribute(thing, name: str, shown: str, act: str = "asked") -> Exception:
    """That the object, which messages show so, has no such attribute."""
    kind = type(thing)
    return mistake(
        kind.__name__,
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
            return f"; use al.{name}(x{rest})"
        if plain(name) in _plain("names"):
            return _typed(_plain("names")[plain(name)])
        if name.endswith("_") and name[:-1] in FUNCTIONS:
            return f"; tensors do not change, al.{name[:-1]} gives another"
    return meant(name, own, 0.75)
