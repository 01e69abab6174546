from alloy.nn.layer import Layer
from alloy.ops import leaky_relu, relu


class ReLU(Layer):
    """max(x, 0), of any shape."""

    def forward(self, x, training):
        return relu(x)


class LeakyReLU(Layer):
    """max(x, alpha * x), of any shape; alpha is Keras's by default."""

    def __init__(self, alpha=0.3):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, training):
        return leaky_relu(x, self.alpha)
