"""Layers of neural networks."""

from alloy.nn.activation import ReLU
from alloy.nn.batch_norm import BatchNorm
from alloy.nn.conv import Conv2D
from alloy.nn.dense import Dense
from alloy.nn.dropout import Dropout
from alloy.nn.flatten import Flatten
from alloy.nn.layer import Layer
from alloy.nn.pooling import AvgPool2D, GlobalAvgPool, MaxPool2D
from alloy.nn.residual import Residual
from alloy.nn.sequential import Sequential

__all__ = [
    "AvgPool2D",
    "BatchNorm",
    "Conv2D",
    "Dense",
    "Dropout",
    "Flatten",
    "GlobalAvgPool",
    "Layer",
    "MaxPool2D",
    "ReLU",
    "Residual",
    "Sequential",
]
