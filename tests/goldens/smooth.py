"""The smooth form of a network, as resnet50_reference.py has it."""

import alloy as al


class SiLU(al.nn.Layer):
    def forward(self, x, training):
        return x * al.sigmoid(x)


def smoothed(layer):
    """The layer with SiLU for every ReLU in it."""
    layer.layers = [SiLU() if isinstance(part, al.nn.ReLU) else smoothed(part) for part in layer.layers]
    return layer
