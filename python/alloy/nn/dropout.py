from numbers import Real

from alloy import random
from alloy.graph.apply import require_all
from alloy.graph.location import mistake
from alloy.nn.layer import Layer


class Dropout(Layer):
    """x with zeros at elements that each training step chooses anew, each with probability rate, and the others divided
    by 1 - rate: Srivastava et al., 2014, with Keras's name. After training it is x.

    seed: of the random numbers; None leaves it to the layer around this one, and is 0 without one. Their state is a
    variable, so that a training that is saved and loaded goes on with the same numbers; each update moves it on. A
    layer that a model calls in several places drops other positions in each. ValueError: the rate is outside
    [0, 1]."""

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
