"""Layers of neural networks."""
from alloy.nn.activation import ReLU
from alloy.nn.conv import Conv2D
from alloy.nn.dense import Dense
from alloy.nn.flatten import Flatten
from alloy.nn.layer import Layer
from alloy.nn.pooling import AvgPool2D, MaxPool2D
from alloy.nn.sequential import Sequential

__all__ = ["AvgPool2D", "Conv2D", "Dense", "Flatten", "Layer", "MaxPool2D", "ReLU", "Sequential"]
