import inspect

import numpy as np

from alloy import init as initial_values
from alloy._core import FileValues
from alloy.messages.location import mistake
from alloy.messages.text import describe, shape_text
from alloy.nn.activation import activation_of
from alloy.nn.layer import Layer


class Affine(Layer):
    """activation(product with weights + bias). The bias starts at 0, as in Keras. A subclass defines weights_shape(x)
    and product(x, weights), and bias_shape if the bias does not have the length of the weights' last dimension.

    activation: a name ("relu"), a function of a tensor, a layer, or None. init: makes the weights: a function of
    al.init, or your own function of a shape and a seed."""

    def __init__(self, *, activation, use_bias: bool, init, seed: int | None):
        super().__init__(seed=seed)
        self.activation = activation_of(self, activation)
        self.use_bias = use_bias
        self.init = require_init(self, init)

    def build(self, x):
        self.require_floats(x)
        shape = self.weights_shape(x)
        self.add_variable(x.graph, "weights", lambda seed: initial(self, self.init, shape, seed))
        if self.use_bias:
            self.add_variable(x.graph, "bias", lambda seed: initial_values.zeros(self.bias_shape(shape)))

    def bias_shape(self, weights_shape):
        return weights_shape[-1:]

    def forward(self, x, training):
        self.require_floats(x)
        weights, *bias = self.in_type_of(x, self._variables)
        if tuple(self.weights_shape(x)) != weights.shape:
            before = f"weights of {shape_text(weights.shape)}, which the first call made"
            raise mistake(self, f"Expected an input for {before}, got {describe(x)}")
        y = self.product(x, weights)
        y = y + bias[0] if bias else y
        if isinstance(self.activation, Layer):
            return self.activation(y, training)
        return y if self.activation is None else self.activation(y)


def require_init(op: object, init):
    """Refuses, with a TypeError, anything that is no function of initial values."""
    if not callable(init):
        hint = f"; write al.init.{init}" if isinstance(init, str) and init in vars(initial_values) else ""
        raise mistake(op, f"Expected a function such as al.init.he_normal as init, got {init!r}{hint}", TypeError)
    return init


def initial(op: object, init, shape, seed) -> np.ndarray | FileValues:
    """Returns the initial values from a function of a shape, and of a seed if it takes one."""
    takes_seed = "seed" in inspect.signature(init).parameters
    values = init(shape, seed=seed) if takes_seed else init(shape)
    values = values if isinstance(values, FileValues) else np.asarray(values, np.float32)
    if values.shape != tuple(shape):
        raise mistake(op, f"Expected initial values of {shape_text(shape)}, got {shape_text(values.shape)} from init")
    return values
