"""The layouts of layers' parameters in PyTorch, for al.load_torch.

LAYOUTS has a line for each class of layers: a dict from a variable's name in the layer ("weights") to a function
source(layer, shape) -> Source, or a function layout(layer, name) that returns such a function. A variable without an
entry is PyTorch's parameter of the same name, unchanged."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from alloy import nn
from alloy.messages.location import mistake

__all__ = ["LAYOUTS", "Source", "channels_first", "layout_of"]


@dataclass(frozen=True)
class Source:
    """The tensors that a variable is made of.

    shapes: the tensors' shapes by their names in PyTorch's module. convert: makes the variable's value of them."""

    shapes: dict[str, tuple]
    convert: Callable[..., np.ndarray]


def _as_is(name):
    return lambda layer, shape: Source({name: tuple(shape)}, lambda tensor: tensor)


def _turned(*axes):
    """Returns the source of PyTorch's weight with its axes in this order."""

    def source(layer, shape):
        before = tuple(shape[axes.index(axis)] for axis in range(len(axes)))
        return Source({"weight": before}, lambda tensor: tensor.transpose(axes))

    return source


def _of_channels(layer, shape):
    """Returns the source of a depthwise convolution, for PyTorch one with as many groups as channels."""
    height, width, channels, each = shape
    before = (channels * each, 1, height, width)
    return Source(
        {"weight": before}, lambda tensor: tensor.reshape(channels, each, height, width).transpose(2, 3, 0, 1)
    )


def _recurrent(layer, name):
    """Returns a function for the source: weight_ih_l0, weight_hh_l1_reverse, ...

    PyTorch has an input bias and a state bias, which are added, except for a GRU's candidate. Its GRUs have the reset
    gate before the update gate."""
    *place, kind = name.split("/")
    depth = next((part for part in place if part.isdigit()), "0")
    end = f"_l{depth}" + "_reverse" * ("backward" in place)
    gru = isinstance(layer, nn.GRU)
    if gru and not layer.reset_after and layer.use_bias:
        raise mistake(
            "load_torch", f"Expected a GRU with reset_after, as PyTorch's is, got reset_after=False in {layer._path}"
        )
    units = layer.units

    def gates(tensor):
        if not gru:
            return tensor
        reset, update, candidate = np.split(tensor, 3)
        return np.concatenate([update, reset, candidate])

    def bias(of_input, of_state):
        both = of_input + of_state
        if gru:
            both[2 * units :] = of_input[2 * units :]
        return gates(both)

    def source(layer, shape):
        if kind == "weights":
            return Source({"weight_ih" + end: tuple(shape)}, gates)
        if kind == "recurrent_weights":
            return Source({"weight_hh" + end: tuple(shape)}, gates)
        if kind == "secondary_bias":
            return Source({"bias_hh" + end: (3 * units,)}, lambda tensor: tensor[2 * units :])
        return Source({"bias_ih" + end: tuple(shape), "bias_hh" + end: tuple(shape)}, bias)

    return source


def _attention(layer, name):
    """Returns a function for the source.

    PyTorch stacks query, key and value in in_proj_weight and in_proj_bias. If keys or values have other features than
    queries, it keeps q_proj_weight, k_proj_weight and v_proj_weight."""
    part, kind = name.split("/")
    if part == "output":
        named = "out_proj.weight" if kind == "weights" else "out_proj.bias"
        return lambda layer, shape: Source({named: shape[::-1]}, np.transpose)
    products = {"query": layer.query, "key": layer.key, "value": layer.value}
    inputs = {product: dense._variables[0].shape[0] for product, dense in products.items()}
    widths = {product: dense.units for product, dense in products.items()}
    start = {"query": 0, "key": widths["query"], "value": widths["query"] + widths["key"]}[part]
    rows, height = slice(start, start + widths[part]), sum(widths.values())
    if kind == "bias":
        return lambda layer, shape: Source({"in_proj_bias": (height,)}, lambda tensor: tensor[rows])
    if len(set(inputs.values())) > 1:
        return lambda layer, shape: Source({f"{part[0]}_proj_weight": shape[::-1]}, np.transpose)
    return lambda layer, shape: Source({"in_proj_weight": (height, shape[0])}, lambda tensor: tensor[rows].T)


_BIAS = {"bias": _as_is("bias")}
_GAMMA_BETA = {"gamma": _as_is("weight"), "beta": _as_is("bias")}
_MOVING = {"moving_mean": _as_is("running_mean"), "moving_variance": _as_is("running_var")}

LAYOUTS: dict[type, dict | Callable] = {
    nn.Dense: {"weights": _turned(1, 0)} | _BIAS,
    nn.Conv1D: {"weights": _turned(2, 1, 0)} | _BIAS,
    nn.Conv2D: {"weights": _turned(2, 3, 1, 0)} | _BIAS,
    nn.Conv3D: {"weights": _turned(2, 3, 4, 1, 0)} | _BIAS,
    nn.ConvTranspose2D: {"weights": _turned(2, 3, 1, 0)} | _BIAS,
    nn.DepthwiseConv2D: {"weights": _of_channels} | _BIAS,
    nn.BatchNorm: _GAMMA_BETA | _MOVING,
    nn.LayerNorm: _GAMMA_BETA,
    nn.GroupNorm: _GAMMA_BETA,
    nn.InstanceNorm: _GAMMA_BETA,
    nn.RMSNorm: _GAMMA_BETA,
    nn.Embedding: {"weights": _as_is("weight")},
    nn.RNN: _recurrent,
    nn.LSTM: _recurrent,
    nn.GRU: _recurrent,
    nn.MultiHeadAttention: _attention,
    nn.Dropout: {"state": lambda layer, shape: None},  # PyTorch has no such variable
}


def layout_of(layer, name: str, attribute: str | None, shape) -> Source | None:
    """Returns the source of the layer's variable; None: PyTorch has none. attribute: the one that keeps the variable,
    or None."""
    line = next((LAYOUTS[kind] for kind in type(layer).__mro__ if kind in LAYOUTS), {})
    rule = line.get(name) if isinstance(line, dict) else line(layer, name) if attribute is None else None
    return (rule or _as_is(attribute or name.replace("/", ".")))(layer, shape)


def channels_first(source: Source) -> Source:
    """Returns the source with the last axis, the channels, first in PyTorch."""
    shapes = {name: (shape[-1], *shape[:-1]) for name, shape in source.shapes.items()}
    return Source(shapes, lambda *tensors: source.convert(*(np.moveaxis(tensor, 0, -1) for tensor in tensors)))
