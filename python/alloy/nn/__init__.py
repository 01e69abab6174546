"""Layers of neural networks."""

from alloy.graph.location import meant as _meant
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
    "Reshape",
    "Residual",
    "Rescaling",
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

# What other libraries call a layer, in lower case and without a final 1d, 2d or 3d, and what to type here.
_ELSEWHERE = {
    "activation": 'the argument activation="relu" of Dense and the convolutions',
    "adaptiveavgpool": "GlobalAvgPool",
    "adaptivemaxpool": "GlobalMaxPool",
    "attention": "MultiHeadAttention",
    "batchnormalization": "BatchNorm",
    "conv2dtranspose": "ConvTranspose2D",
    "crossentropyloss": "al.losses.softmax_cross_entropy",
    "functional": "a function of al, such as al.relu",
    "globalaveragepooling": "GlobalAvgPool",
    "globalmaxpooling": "GlobalMaxPool",
    "groupnormalization": "GroupNorm",
    "identity": "Sequential(), without layers",
    "lambda": "a subclass of Layer with a method forward(self, x, training)",
    "layernormalization": "LayerNorm",
    "linear": "Dense",
    "model": "Layer, or Sequential",
    "module": "Layer",
    "moduledict": "a dict of layers in an attribute",
    "modulelist": "a list of layers in an attribute",
    "mseloss": "al.losses.mean_squared_error",
    "parameter": "Layer.add_variable",
    "rmsnormalization": "RMSNorm",
    "simplernn": "RNN",
    "swish": "SiLU",
}
_FAMILIES = {
    "averagepooling": "AvgPool",
    "avgpool": "AvgPool",
    "convtranspose": "ConvTranspose",
    "depthwiseconv": "DepthwiseConv",
    "maxpooling": "MaxPool",
    "upsample": "UpSampling",
    "zeropad": "ZeroPadding",
}


def __getattr__(name):
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{'' if name.startswith('_') else _named(name)}")


def _named(name: str) -> str:
    plain = name.lower()
    stem, rank = (plain[:-2], plain[-2:].upper()) if plain[-2:] in ("1d", "2d", "3d") else (plain, "")
    family = f"{_FAMILIES.get(stem, stem)}{rank or '2D'}".lower()
    here = _ELSEWHERE.get(plain) or _ELSEWHERE.get(stem)
    here = here or next((other for other in __all__ if other.lower() in (plain, stem, family)), None)
    return f"; its name here is {here}" if here else _meant(name, __all__)
