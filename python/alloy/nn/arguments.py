"""The arguments of layers' constructors, kept so that repr shows every layer as it was written."""

import functools
import inspect

import numpy as np

from alloy.messages.location import meant, mistake
from alloy.messages.names import parameters_of


def remembered(init):
    """Wraps the constructor so that the layer keeps the arguments; of nested constructors the outermost one's."""

    @functools.wraps(init)
    def construct(self, *args, **kwargs):
        signature = inspect.signature(init)
        try:
            given = signature.bind(self, *args, **kwargs).arguments
        except TypeError as error:
            said = _unfit(type(self), signature, args, kwargs, error)
            raise mistake(type(self).__name__, said, TypeError) from None
        vars(self).setdefault("_given", _shown(signature, given))
        init(self, *args, **kwargs)

    return construct


def _unfit(cls, signature, args, kwargs, error) -> str:
    """Returns the message for arguments that do not fit the constructor."""
    known = parameters_of(cls)
    strange = [key for key in kwargs if key not in known]
    if strange:
        taken = f"arguments among {', '.join(known)}" if known else "no arguments"
        return f"Expected {taken}, got {strange[0]}{meant(strange[0], known)}"
    parameters = list(signature.parameters.values())[1:]
    places = [one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD]
    return f"Expected {', '.join(places) or 'nothing'} by position, got {len(args)} ({error})"


def _shown(signature, given) -> list[tuple[str, object]]:
    """Returns pairs (text before the value, value) of the arguments in order, without defaults. The text is "*NAME" for
    the tuple of a parameter *NAME."""
    shown = []
    for name, value in list(given.items())[1:]:
        parameter = signature.parameters[name]
        if parameter.kind == parameter.VAR_POSITIONAL:
            shown.append((f"*{name}", value))
        elif parameter.kind == parameter.VAR_KEYWORD:
            shown += [(f"{key}=", one) for key, one in value.items()]
        elif not _same(value, parameter.default):
            plain = parameter.default is parameter.empty and parameter.kind != parameter.KEYWORD_ONLY
            shown.append(("" if plain else f"{name}=", value))
    return shown


def _same(value, default) -> bool:
    return value is default or (
        type(value) is type(default) and isinstance(value, (int, float, str)) and value == default
    )


# ---- as text ----


def written(layer, indent: int = 0, around=()) -> str:
    """Returns the call of the layer's constructor, in several lines if one would pass 80 columns."""
    if any(layer is other for other in around):
        return f"{type(layer).__name__}(...)"
    parts, inside, name = [], (*around, layer), type(layer).__name__
    for label, value in vars(layer).get("_given", ()):
        if label == "*layers":
            value = layer.layers
        parts += [("", item) for item in value] if label.startswith("*") else [(label, value)]
    line = f"{name}({', '.join(label + _value(value, indent, inside) for label, value in parts)})"
    if "\n" not in line and (len(line) + indent <= 80 or not any(_nests(value) for _, value in parts)):
        return line
    texts = [label + _value(value, indent + 2, inside) for label, value in parts]
    margin = " " * (indent + 2)
    return f"{name}(\n" + "".join(f"{margin}{text},\n" for text in texts) + " " * indent + ")"


def _nests(value) -> bool:
    return hasattr(value, "_given") or isinstance(value, (tuple, list, dict))


def _value(value, indent, around) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_value(item, indent, around)}" for key, item in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(_value(item, indent, around) for item in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype} {value.shape})"
    if "_given" in getattr(value, "__dict__", ()):
        return written(value, indent, around)
    return getattr(value, "__name__", None) or repr(value)
