"""Shows a layer as it was written: the call of its constructor."""

import inspect

import numpy as np


def written(layer, indent: int = 0, around=()) -> str:
    """Returns the call of the layer's constructor, in several lines if one would pass 80 columns."""
    if any(layer is other for other in around):
        return f"{type(layer).__name__}(...)"
    parts, inside, name = _arguments(layer), (*around, layer), type(layer).__name__
    line = f"{name}({', '.join(label + _value(value, indent, inside) for label, value in parts)})"
    nests = any(hasattr(value, "_given") or isinstance(value, (tuple, list, dict)) for _, value in parts)
    if "\n" not in line and (len(line) + indent <= 80 or not nests):
        return line
    texts = [label + _value(value, indent + 2, inside) for label, value in parts]
    margin = " " * (indent + 2)
    return f"{name}(\n" + "".join(f"{margin}{text},\n" for text in texts) + " " * indent + ")"


def _arguments(layer) -> list[tuple[str, object]]:
    """Returns pairs (text before the value, value) of the arguments in order, without defaults."""
    signature, shown = inspect.signature(type(layer).__init__), []
    arguments, options = layer._given
    for name, value in list(signature.bind(layer, *arguments, **options).arguments.items())[1:]:
        parameter = signature.parameters[name]
        if parameter.kind == parameter.VAR_POSITIONAL:
            shown += [("", item) for item in (layer.layers if name == "layers" else value)]
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
    if hasattr(value, "_given"):
        return written(value, indent, around)
    return getattr(value, "__name__", None) or repr(value)
