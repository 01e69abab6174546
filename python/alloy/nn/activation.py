from alloy.nn.layer import Layer
from alloy.ops import relu


class ReLU(Layer):
    """max(x, 0), of any shape."""

    def forward(self, x, training):
        return relu(x)
