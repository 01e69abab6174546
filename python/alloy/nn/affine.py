from alloy import init
from alloy.nn.layer import Layer


class Affine(Layer):
    """A product with weights, which start Glorot uniform, plus a bias, which starts at 0, as in Keras. A
    subclass gives weights_shape(x) and product(x, weights), and bias_shape where the bias's is not the weights' last
    dimension."""

    def __init__(self, *, use_bias: bool, seed: int | None):
        super().__init__(seed=seed)
        self.use_bias = use_bias

    def build(self, x):
        shape = self.weights_shape(x)
        self.add_variable(x.graph, "weights", lambda seed: init.glorot_uniform(shape, seed=seed))
        if self.use_bias:
            self.add_variable(x.graph, "bias", lambda seed: init.zeros(self.bias_shape(shape)))

    def bias_shape(self, weights_shape):
        return weights_shape[-1:]

    def forward(self, x, training):
        weights, *bias = self.in_type_of(x, self.variables)
        y = self.product(x, weights)
        return y + bias[0] if bias else y
