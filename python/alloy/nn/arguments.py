"""What layers are made with. An argument that a layer does not take is answered with the names that it takes; what was
given is kept, so that every layer can be shown as it was written."""

import functools
import inspect

import numpy as np

from alloy.graph.names import wrong_call


def remembered(init):
    """The constructor, which first checks what it is given, and keeps it. Of constructors that call each other that of
    the outermost is kept."""

    @functools.wraps(init)
    def construct(self, *args, **kwargs):
        given = _checked(type(self), construct, args, kwargs)
        vars(self).setdefault("_given", given)
        init(self, *args, **kwargs)

    return construct


def _checked(cls, construct, args, kwargs) -> list[tuple[str, object]]:
    """What is given in the parameters' order, defaults left out, each value with what to write before it; behind "*"
    are all that go into one parameter. TypeError: they do not fit."""
    signature = inspect.signature(construct)
    try:
        given = signature.bind(None, *args, **kwargs).arguments
    except TypeError:
        given = {}
    if not given:
        raise wrong_call(cls.__name__, construct, args, kwargs, cls)
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
    """The layer as its constructor was called, in several lines where one would pass 80 columns."""
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
