"""What layers are made with. An argument that a layer does not take is answered with the names that it takes; what was
given is kept, so that every layer can be shown as it was written."""

import functools
import inspect

import numpy as np

from alloy.graph.location import meant, mistake

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

# What other libraries call an argument, and its name here.
_ELSEWHERE = {
    "bias": "use_bias",
    "causal": "use_causal_mask",
    "depthwise_initializer": "init",
    "dilation": "dilations",
    "dilation_rate": "dilations",
    "dropout": "rate",
    "embedding_dim": "output_dim",
    "embeddings_initializer": "init",
    "eps": "epsilon",
    "hidden_size": "units",
    "head_dim": "key_dim",
    "is_causal": "use_causal_mask",
    "kernel": "kernel_size",
    "kernel_initializer": "init",
    "negative_slope": "alpha",
    "num_embeddings": "input_dim",
    "num_groups": "groups",
    "num_layers": "layers",
    "out_channels": "filters",
    "out_features": "units",
    "p": "rate",
    "pad": "padding",
    "stride": "strides",
}
_SHAPE = "the first call finds the shape of the input"
_UNNEEDED = {
    **dict.fromkeys(("in_features", "in_channels", "input_size", "input_dim", "input_shape", "input_length"), _SHAPE),
    **dict.fromkeys(("num_features", "num_channels", "normalized_shape"), _SHAPE),
    "affine": "center=False and scale=False leave out beta and gamma",
    "dtype": "a layer computes in the type of its input, al.cast(x, dtype)",
    **dict.fromkeys(("embed_dim", "d_model"), "key_dim is the length of one head, embed_dim / num_heads"),
    "elementwise_affine": "center=False and scale=False leave out beta and gamma",
    "inplace": "a tensor is never changed in place",
    "name": "a layer has the name of the attribute that keeps it",
    "trainable": "set the attribute, layer.trainable = False",
}


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
    parameters = list(inspect.signature(construct).parameters.values())[1:]
    positional = [parameter for parameter in parameters if parameter.kind in _BY_POSITION]
    rest = [parameter.name for parameter in parameters if parameter.kind == inspect.Parameter.VAR_POSITIONAL]
    if len(args) > len(positional) and not rest:
        raise _mistake(cls, _too_many(args, [parameter.name for parameter in positional], _names(cls)))
    given = {parameter.name: value for parameter, value in zip(positional, args)}
    for name in given.keys() & kwargs.keys():
        raise _mistake(cls, f"Expected one value as {name}, got two, one by position and one by its name")
    given |= kwargs
    missing = [p.name for p in parameters if p.default is p.empty and p.kind not in _MANY and p.name not in given]
    takes_any = any(parameter.kind == inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    own = [parameter.name for parameter in parameters if parameter.kind not in _MANY]
    for name in kwargs:
        if name not in own and not (takes_any and (not missing or name in _names(cls))):
            named = _names(cls)
            raise _mistake(
                cls, f"Expected {_listed(named) or 'no argument'}, got an argument {name}{_hint(name, named)}"
            )
    if missing:
        raise _mistake(cls, f"Expected {_listed(missing)}, got {_listed(list(given)) or 'no argument'}")
    shown = [("*" + rest[0], args[len(positional) :])] if rest else []
    for parameter in parameters:
        name, value = parameter.name, given.pop(parameter.name, parameter.default)
        if parameter.kind not in _MANY and not _same(value, parameter.default):
            plain = parameter.default is parameter.empty and parameter.kind in _BY_POSITION
            shown.append(("" if plain else f"{name}=", value))
    return shown + [(f"{name}=", value) for name, value in given.items()]


def _names(cls) -> list[str]:
    """All that the layer's constructor takes by name; where it takes any, those of the next one, too."""
    named = []
    for init in (vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)):
        own = list(inspect.signature(init).parameters.values())[1:]
        named += [p.name for p in own if p.kind not in _MANY and p.name not in named]
        if all(parameter.kind != inspect.Parameter.VAR_KEYWORD for parameter in own):
            break
    return named


def _too_many(args, names, named) -> str:
    message = f"Expected {_listed(names) or 'no argument'} by position, got {len(args)} argument{'s' * (len(args) > 1)}"
    others = [name for name in named if name not in names and name not in ("seed", "name")]
    if not names or not others:
        return f"{message}; by name: {_listed(named)}" if named else message
    pairs = [f"{name}={value!r}" for name, value in zip(others, args[len(names) :])]
    return f"{message}; the others have names, for instance {', '.join(pairs)}"


def _hint(name: str, known) -> str:
    if _ELSEWHERE.get(name) in known:
        return f"; its name here is {_ELSEWHERE[name]}"
    if name in _UNNEEDED:
        return f"; {_UNNEEDED[name]}"
    return meant(name, known)


def _listed(names) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _mistake(cls, message) -> Exception:
    return mistake(cls.__name__.lower(), message, TypeError)


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
