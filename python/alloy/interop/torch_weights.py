"""The parameters of a model from a file of PyTorch's."""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

import numpy as np

from alloy.engine.arrays import as_choice, as_path, empty, require_all
from alloy.engine.structure import leaves
from alloy.graph import Variable
from alloy.interop.torch_layouts import channels_first, layout_of
from alloy.messages.location import meant, mistake
from alloy.nn import Flatten, Layer, LayerNorm, MultiHeadAttention, Reshape, RMSNorm
from alloy.training.checkpoint import assign_all
from alloy.training.files import require_file
from alloy.training.stored import Stored

__all__ = ["load_torch"]


def load_torch(
    model: Layer,
    path,
    names: Mapping[str, str] | Callable[[str], str | None] | None = None,
    *,
    skip: Iterable[str] = (),
    flattened: str | None = None,
) -> None:
    """Assigns the parameters of a PyTorch state dict, saved as a safetensors file, to a model that has been called. It
    converts layouts, and assigns all parameters at one moment between two runs, or, if anything fails, none.

    In PyTorch, once: from safetensors.torch import save_file; save_file(module.state_dict(), path).

    A layer's path in PyTorch is its place in the model: names of attributes, and indices in lists and in Sequential,
    joined by dots: "0", "features.3", "blocks.1.fc". For a part of a model, such as model.body, paths begin there.

    names: PyTorch's paths by the layers' paths, for layers whose places differ. A layer's path is the beginning of its
    variables' names ("conv2d_0", "encoder/blocks/0"; "" is the model); layers inside follow. Or a function from the
    layer's path to PyTorch's, or to None for its place.
    skip: names of tensors in the file to leave out, * for anything: "fc.*". Their variables keep their values.
    flattened: PyTorch has images as (n, channels, height, width), and flattens them in this order. A model with such
    layers must do the same: al.nn.Flatten(order="channels_first"), and al.nn.Reshape(shape, order="channels_first")
    the other way. "channels_last" loads the model without that, for PyTorch models with (n, ..., channels), such as
    sequences of an embedding.

    float16 and bfloat16 become float32. num_batches_tracked is left out. Variables of your own layers are read
    unchanged, under their attribute's name or the name given to add_variable. No file has the layers' arguments:
    PyTorch's epsilon of normalisations is 1e-5, here 1e-3; its momentum of 0.1 is 0.9 here.

    ValueError: the file is no safetensors file; it lacks a tensor or has one too many; a shape or an element type
    differs; the model flattens images in another order than PyTorch. OSError: it cannot be read."""
    skip = _patterns(skip)
    _require_arguments(model, names, flattened)
    _require_no_pickle(path)
    loading = _Loading(model, Stored("load_torch", path), skip, flattened)
    loading.place(names)
    chosen = loading.choose()
    loading.require_all_used()
    if flattened != "channels_last":
        _require_channels_first(model, loading.read)
    arrays = [loading.value(variable, *made) for variable, made in chosen.items()]
    assign_all(list(chosen), arrays)


def _wrong(message: str, kind: type[Exception] = ValueError) -> Exception:
    return mistake("load_torch", message, kind)


def _patterns(skip) -> list[str]:
    found = [skip] if isinstance(skip, str) else list(skip) if isinstance(skip, Iterable) else [skip]
    if not all(isinstance(pattern, str) for pattern in found):
        raise _wrong(f"Expected names of tensors to skip, got {skip!r}", TypeError)
    return found


def _require_arguments(model, names, flattened):
    require_all("load_torch", "a layer as the model", Layer, [model])
    if not model.variables:
        raise _wrong("Expected a model that has been called, got one without variables")
    given = [part for pair in names.items() for part in pair] if isinstance(names, Mapping) else [names]
    if names is not None and not callable(names) and not all(isinstance(part, str) for part in given):
        raise _wrong(f"Expected names as a dict of strings or a function, got {names!r}", TypeError)
    as_choice("load_torch", "flattened", flattened, ("channels_first", "channels_last", None))


def _require_no_pickle(path):
    require_file("load_torch", as_path("load_torch", path))
    with open(path, "rb") as file:
        start = file.read(2)
    if start in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise _wrong(
            f"Expected a safetensors file, got {os.fsdecode(path)}, a pickle, which could run any program; in PyTorch, "
            "from safetensors.torch import save_file, and "
            'save_file(torch.load(path, weights_only=True), "weights.safetensors") of a state dict'
        )


class _Loading:
    def __init__(self, model, file, skip, flattened):
        self._model, self._file, self._path, self._skip, self._flattened = model, file, file.path, skip, flattened
        self.read: list = []  # the tensors that the loaded layers were called with
        self._given = {name for name in file.specs if name.rpartition(".")[2] != "num_batches_tracked"}
        self._places: dict[Layer, list[str]] = {}  # PyTorch's paths; several for a shared layer
        self._used: set[str] = set()

    # ---- where layers are in PyTorch ----

    def place(self, names) -> None:
        known: set[str] = set()
        self._place(self._model, "", names, known)
        if isinstance(names, Mapping):
            for unknown in [key for key in names if key not in known]:
                raise _wrong(f"Expected paths of the model's layers as names, got {unknown!r}{meant(unknown, known)}")

    def _place(self, layer, place, names, known):
        known.add(layer._path)
        given = names.get(layer._path) if isinstance(names, Mapping) else names(layer._path) if names else None
        if given is not None and not isinstance(given, str):
            raise _wrong(f"Expected a path in PyTorch, got {given!r} for {layer._path}", TypeError)
        place = place if given is None else given
        if place in self._places.setdefault(layer, []):
            return
        self._places[layer].append(place)
        for inner, attribute in layer._inner().items():
            part = str(layer.layers.index(inner)) if attribute is None else attribute.replace("/", ".")
            self._place(inner, _joined(place, part), names, known)

    # ---- the sources of variables ----

    def choose(self) -> dict:
        """Returns each variable's source, and its tensors' names in the file."""
        chosen, missing, seen = {}, {}, set()
        for variable, layer, source, places in self._sources():
            if id(variable) in seen:
                continue
            seen.add(id(variable))
            present = [place for place in places if all(_joined(place, n) in self._given for n in source.shapes)]
            tensors = [_joined((present or places)[0], name) for name in source.shapes]
            if any(fnmatchcase(name, pattern) for name in tensors for pattern in self._skip):
                continue
            if not present:
                missing |= {name: variable.name for name in tensors if name not in self._given}
            chosen[variable] = self._in_order(layer, variable, source), tensors
            self.read += leaves(layer._last.x) if layer._last else []
            self._used.update(tensors)
            for place in present[1:]:
                self._require_alike(variable, tensors, [_joined(place, name) for name in source.shapes])
        if missing:
            raise self._lacking(missing)
        if not chosen:
            raise _wrong(f"Expected something to load from {self._path}, got skip = {self._skip}")
        return chosen

    def _sources(self):
        """Yields each variable, with its layer, its source and the layer's places."""
        for layer, places in self._places.items():
            fused = isinstance(layer, MultiHeadAttention) and self._is_fused(layer)
            kept = {id(item): path.replace("/", ".") for path, item in layer._kept() if isinstance(item, Variable)}
            for variable in layer.variables if fused else layer._own():
                name = variable.name.removeprefix(f"{layer._path}/")
                source = layout_of(layer, name, kept.get(id(variable)), variable.shape)
                if source is not None:
                    yield variable, layer, source, places

    def _is_fused(self, layer) -> bool:
        """Returns whether PyTorch has the layer as one module: `names` moves none of its four products."""
        return all(
            self._places[inner] == [_joined(place, attribute) for place in self._places[layer]]
            for inner, attribute in layer._inner().items()
        )

    def _in_order(self, layer, variable, source):
        """Returns the source; for a norm over channels and places, with the channels first."""
        if not isinstance(layer, (LayerNorm, RMSNorm)) or len(variable.shape) < 2:
            return source
        order = self._flattened or ("channels_first" if len(variable.shape) > 2 else "channels_last")
        if self._flattened is None and len(set(variable.shape)) < len(variable.shape) == 2:
            raise _wrong(f'Expected flattened="channels_first" or "channels_last" for {variable.name}, got neither')
        return channels_first(source) if order == "channels_first" else source

    # ---- the file's tensors ----

    def _lacking(self, missing) -> Exception:
        first = list(missing)[:3]
        free = sorted(self._given - self._used)
        nearest = [meant(name, free, 0.3).rpartition(" ")[2] for name in first]
        nearest = list(dict.fromkeys(name for name in nearest if name))
        near = f"; the nearest there: {', '.join(nearest)}" if nearest else ""
        listed = ", ".join(f"{name} (for {missing[name]})" for name in first)
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        return _wrong(f"Expected {listed}{more} in {self._path}, got none{near}")

    def require_all_used(self) -> None:
        extra = sorted(
            name for name in self._given - self._used if not any(fnmatchcase(name, pattern) for pattern in self._skip)
        )
        if extra:
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            module = extra[0].rpartition(".")[0]
            raise _wrong(
                f"Expected variables in the model for {', '.join(extra[:3])}{more} of {self._path}, got none; "
                f'skip=("{_joined(module, "*") if module else extra[0]}",) leaves such tensors out'
            )

    def _require_alike(self, variable, tensors, others):
        for name, other in zip(tensors, others):
            self._used.add(other)
            if not np.array_equal(self._file.arrays[name], self._file.arrays[other]):
                raise _wrong(f"Expected {name} and {other} alike, both for {variable.name}, got different values")

    def value(self, variable, source, names) -> np.ndarray:
        tensors = []
        for name, shape in zip(names, source.shapes.values()):
            dtype, given = self._file.specs[name]
            if given != tuple(shape):
                raise _wrong(
                    f"Expected {name} of {tuple(shape)} for {variable.name} {variable.shape}, "
                    f"got {given} in {self._path}"
                )
            fitting = ("float32", "float16", "bfloat16") if variable.dtype == "float32" else (variable.dtype,)
            if dtype not in fitting:
                raise _wrong(
                    f"Expected {name} of {', '.join(fitting)} for {variable.name}, got {dtype} in {self._path}"
                )
            tensors.append(self._file.arrays[name].astype(variable.dtype))
        array = empty(variable.shape, variable.dtype)
        array[...] = source.convert(*tensors)
        return array


def _require_channels_first(model, read):
    """Raises ValueError if an op on the way to these tensors or to the model's result flattens images, or undoes it,
    with the channels last."""
    layers = [layer for layer in model._tree() if type(layer).__module__.startswith("alloy.nn.")]
    sound = {layer._path for layer in layers if layer._path and not isinstance(layer, (Flatten, Reshape))}
    ops = model.graph.inspect(fetches=[*read, *(model._last.results if model._last else ())])
    turns = [(op.operands[0], op.results[0]) for op in ops if op.kind == "transpose"]
    before, after = {y: x.shape for x, y in turns}, {x: y.shape for x, y in turns}
    for op in ops:
        if not op.kind.startswith("reshape") or op.name.rpartition("/")[0] in sound:
            continue
        x, y = op.operands[0], op.results[0]
        if _is_made_flat(x.shape, y.shape, before.get(x)):
            use = 'al.nn.Flatten(order="channels_first")'
        elif _is_made_flat(y.shape, x.shape, after.get(y)):
            use = f'al.nn.Reshape({y.shape[1:]}, order="channels_first")'
        else:
            continue
        raise _wrong(
            f"Expected {x.shape} made {y.shape} with the channels first, as in PyTorch, got it with the channels last, "
            f'built at {op.location}; use {use}, or load_torch(..., flattened="channels_last") where PyTorch has them '
            "last, too"
        )


def _is_made_flat(shape, other, turned) -> bool:
    """Returns whether one shape is the other flattened, with more than one place and more than one channel.

    turned: the images' shape before or after a transpose."""
    if not shape or not other or len(shape) < 3 or len(other) < 2 or None in shape[1:]:
        return False
    size = math.prod(shape[1:])
    if turned == (shape[0], *shape[2:], shape[1]):  # they have the channels first
        return False
    return other[-1] == size > max(shape[-1], size // shape[-1])


def _joined(place: str, part: str) -> str:
    return f"{place}.{part}" if place else part
