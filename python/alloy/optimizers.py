"""Optimizers. They only say which update a step makes; the engine adds it to the graph, where it runs with
the step.

A learning rate is a number, a tensor of one element computed in the step, or a schedule: a function that
gives such a tensor of the step's number, a float32 tensor that is 0 in the first step (al.schedules)."""
from collections.abc import Callable

import numpy as np

from alloy import _core
from alloy._core import Tensor, Update, Variable
from alloy.apply import require_all, require_tensor
from alloy.location import mistake, user_location
from alloy.scope import scope


class _Optimizer:
    def __init__(self, learning_rate):
        require_all(
            type(self).__name__.lower(), "a number, a tensor or a function of the step as the learning rate",
            (float, int, np.number, Tensor, Callable), [learning_rate])
        self.learning_rate = learning_rate

    def minimize(self, loss: Tensor, variables=None) -> list[Update]:
        """Updates for compile that move the variables (by default all of the graph that are trainable now)
        down the loss's gradient.

        ValueError: the loss does not depend on a variable, or a variable belongs to another graph."""
        require_tensor("minimize", loss)
        if variables is None:
            variables = [variable for variable in loss.graph.variables if variable.trainable]
        variables = list(variables)
        require_all("minimize", "variables", Variable, variables)
        return self.apply(zip(loss.graph.loss_gradients(loss, variables, user_location()), variables))

    def apply(self, gradients_and_variables) -> list[Update]:
        """Updates for compile that move variables down gradients: the second half of minimize, for gradients
        that are fed, or changed on the way.

        gradients_and_variables: pairs of a tensor and a variable of its shape and dtype, all of one graph;
        ValueError or TypeError where they are not. State such as Adam's begins anew with every call."""
        pairs = list(gradients_and_variables)
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not (
                    isinstance(pair[0], Tensor) and isinstance(pair[1], Variable)):
                raise mistake("apply", f"Expected pairs of a gradient and its variable, got {pair!r}",
                              TypeError)
        if not pairs:
            return []
        graph, rate, updates = pairs[0][1].graph, self.learning_rate, []
        if callable(rate):
            with scope(graph, "optimizer"):
                step = graph.variable(np.float32([0]), "step", trainable=False)
                rate, updates = rate(step), [graph.assign(step, step + 1)]
        return self._updates(rate, pairs, user_location()) + updates


class SGD(_Optimizer):
    """variable -= learning_rate * gradient."""

    def __init__(self, learning_rate=0.01):
        super().__init__(learning_rate)

    def _updates(self, rate, pairs, location):
        return _core.apply_sgd(rate, pairs, location)


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2015) in PyTorch's form: m and v are running means of the gradient and of its
    square, and variable -= learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) at step t
    = 1, 2, ..."""

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
        super().__init__(learning_rate)
        self._coefficients = beta1, beta2, epsilon

    def _updates(self, rate, pairs, location):
        return _core.apply_adam(rate, *self._coefficients, pairs, location)
