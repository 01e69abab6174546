from alloy.nn.layer import Layer
from alloy.ops import flatten


class Flatten(Layer):
    """All axes but the first made one: (n, ...) becomes (n, m)."""

    def forward(self, x, training):
        return flatten(x)
