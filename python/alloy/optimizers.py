"""Optimizers. They only say which update a step makes; the engine adds it to the graph, where it runs with
the step."""
import numpy as np

from alloy import _core
from alloy._core import Tensor, Update, Variable
from alloy.apply import require_all, require_tensor
from alloy.location import user_location


def _as_rate(op: str, rate):
    require_all(op, "a number or a tensor as the learning rate", (float, int, np.number, Tensor), [rate])
    return rate


class _Optimizer:
    _engine: _core.SGD | _core.Adam

    def minimize(self, loss: Tensor, variables=None) -> list[Update]:
        """Updates for compile that move the variables (by default all trainable ones of the graph) down the
        loss's gradient.

        ValueError: the loss does not depend on a variable, or a variable belongs to another graph."""
        require_tensor("minimize", loss)
        if variables is None:
            variables = [variable for variable in loss.graph.variables if variable.trainable]
        require_all("minimize", "variables", Variable, variables)
        return self._engine.minimize(loss, list(variables), user_location())


class SGD(_Optimizer):
    """variable -= learning_rate * gradient. learning_rate: a number, or a tensor of one element computed in
    the step."""

    def __init__(self, learning_rate=0.01):
        self._engine = _core.SGD(_as_rate("sgd", learning_rate))


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2015) in PyTorch's form: m and v are running means of the gradient and of its
    square, and variable -= learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) at step t
    = 1, 2, ..."""

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self._engine = _core.Adam(_as_rate("adam", learning_rate), beta1, beta2, epsilon)
