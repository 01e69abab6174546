from numbers import Real

from alloy import random
from alloy.graph.apply import require_all
from alloy.graph.location import mistake
from alloy.nn.layer import Layer


class Dropout(Layer):
    """Sets elements to zero, each with probability rate, and divides the others by 1 - rate, anew in each training
    step: Srivastava et al., 2014, with Keras's name. Outside training the result is x.

    seed: the seed of the random numbers; None takes it from the layer around this one, or 0. Their state is a variable,
    so that a training that is saved and loaded goes on with the same numbers; each update advances it. A layer that a
    model calls in several places drops other elements in each. ValueError: the rate is outside [0, 1]."""

    def __init__(self, rate: float, *, seed: int | None = None):
        super().__init__(seed=seed)
        require_all("Dropout", "a number as the rate", Real, [rate])
        if not 0 <= rate <= 1:
            raise mistake("Dropout", f"Expected a rate from 0 to 1, got {rate}")
        self.rate = rate

    def build(self, x):
        self.require_floats(x)
        self._random_state(x.graph)

    def forward(self, x, training):
        if not training or self.rate == 0:
            return x
        return self.random(random.dropout, x, self.rate)
