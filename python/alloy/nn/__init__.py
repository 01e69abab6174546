"""Layers of neural networks."""

import textwrap
from typing import TYPE_CHECKING

from alloy.messages.names import of_module
from alloy.nn.activation import ELU, GELU, HardSwish, LeakyReLU, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh
from alloy.nn.attention import MultiHeadAttention
from alloy.nn.batch_norm import BatchNorm
from alloy.nn.conv import Conv1D, Conv2D, Conv3D, ConvTranspose2D, DepthwiseConv2D
from alloy.nn.dense import Dense
from alloy.nn.dropout import Dropout
from alloy.nn.embedding import Embedding
from alloy.nn.images import Rescaling, Resizing, UpSampling2D, ZeroPadding2D
from alloy.nn.layer import Layer
from alloy.nn.normalization import GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from alloy.nn.pooling import AvgPool1D, AvgPool2D, GlobalAvgPool, GlobalMaxPool, MaxPool1D, MaxPool2D
from alloy.nn.recurrent import GRU, LSTM, RNN
from alloy.nn.reshape import Flatten, Reshape
from alloy.nn.residual import Residual
from alloy.nn.sequential import Sequential

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "BatchNorm",
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "ConvTranspose2D",
    "Dense",
    "DepthwiseConv2D",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "GRU",
    "GlobalAvgPool",
    "GlobalMaxPool",
    "GroupNorm",
    "HardSwish",
    "InstanceNorm",
    "LSTM",
    "Layer",
    "LayerNorm",
    "LeakyReLU",
    "MaxPool1D",
    "MaxPool2D",
    "MultiHeadAttention",
    "RMSNorm",
    "RNN",
    "ReLU",
    "Rescaling",
    "Reshape",
    "Residual",
    "Resizing",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "UpSampling2D",
    "ZeroPadding2D",
]


def _line(name):
    """Returns the layer's name and the first sentence of its documentation."""
    sentence = " ".join(globals()[name].__doc__.split()).partition(". ")[0].rstrip(".")
    return textwrap.fill(f"{name:<20}{sentence}", 100, subsequent_indent=" " * 20)


# help(al.nn) begins with a line for each layer.
__doc__ = f"{__doc__}\n\n" + "\n".join(map(_line, __all__))  # noqa: A001


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
