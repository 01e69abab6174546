from alloy import random
from alloy.engine.arrays import as_number
from alloy.nn.layer import Layer


class Dropout(Layer):
    """Sets elements to zero, each with probability rate, and divides the others by 1 - rate, anew in each training
    step: Srivastava et al., 2014, with Keras's name. Outside training the result is x.

    seed: None is the seed of the layer around this one, or 0. The random state is a variable, which each training step
    advances, so that a saved training goes on with the same numbers. A layer that a model calls in several places drops
    other elements in each. ValueError: the rate is outside [0, 1]."""

    def __init__(self, rate: float, *, seed: int | None = None):
        super().__init__(seed=seed)
        self.rate = as_number(self, "a rate", rate, "from 0 to 1")

    def build(self, x):
        self.require_floats(x)
        self._random_state(x.graph)

    def forward(self, x, training):
        if not training or self.rate == 0:
            return x
        return self.random(random.dropout, x, self.rate)
