"""Layers of neural networks."""

from alloy.nn.activation import LeakyReLU, ReLU
from alloy.nn.batch_norm import BatchNorm
from alloy.nn.conv import Conv2D, Conv2DTranspose, Conv3D, DepthwiseConv2D
from alloy.nn.dense import Dense
from alloy.nn.dropout import Dropout
from alloy.nn.flatten import Flatten
from alloy.nn.images import Resizing, UpSampling2D, ZeroPadding2D
from alloy.nn.layer import Layer
from alloy.nn.pooling import AvgPool2D, GlobalAvgPool, MaxPool2D
from alloy.nn.recurrent import GRU, LSTM, RNN
from alloy.nn.residual import Residual
from alloy.nn.sequential import Sequential

__all__ = [
    "AvgPool2D",
    "BatchNorm",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Dense",
    "Dropout",
    "DepthwiseConv2D",
    "Flatten",
    "GRU",
    "GlobalAvgPool",
    "LSTM",
    "Layer",
    "LeakyReLU",
    "MaxPool2D",
    "RNN",
    "ReLU",
    "Residual",
    "Resizing",
    "Sequential",
    "UpSampling2D",
    "ZeroPadding2D",
]
