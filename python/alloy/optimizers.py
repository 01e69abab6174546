"""Optimizers. They only say which update a step makes; the engine adds it to the graph, where it runs with
the step.

A learning rate is a number, a tensor of one element computed in the step, or a schedule: a function that
gives such a tensor of the step's number, a float32 tensor that is 0 in the first step (al.schedules). A number
is kept in a variable of the graph, so that `optimizer.learning_rate = x` holds for the steps that were made
before, too, without compiling anything anew."""

import math
from collections.abc import Callable
from numbers import Real

import numpy as np

from alloy import _core
from alloy._core import Tensor, Update, Variable
from alloy.graph.apply import require_all, require_tensor
from alloy.graph.location import mistake, user_location
from alloy.graph.scope import OPTIMIZER, free_path, scope


class _Optimizer:
    def __init__(self, learning_rate):
        self._rates: list[_core.WeakVariable] = []  # where the steps made so far have the rate, a number
        self._computed = False  # whether a step was made that computes its rate
        self._rate = self._checked(learning_rate)

    @property
    def learning_rate(self):
        """As it was given. It may be set to another number at any time; to a tensor or a schedule, or from one,
        only before the first step is made: ValueError."""
        return self._rate

    @learning_rate.setter
    def learning_rate(self, rate) -> None:
        rate = self._checked(rate)
        rates = [variable for variable in (weak() for weak in self._rates) if variable is not None]
        if self._computed or (rates and not isinstance(rate, Real)):
            raise mistake(
                self._name(),
                "Expected a number in place of a number, since steps have been made with it; "
                "make another optimizer, and steps with it",
                act="set",
            )
        for variable in rates:
            variable.assign(np.float32(rate))
        self._rate = rate

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
            if (
                not isinstance(pair, (tuple, list))
                or len(pair) != 2
                or not (isinstance(pair[0], Tensor) and isinstance(pair[1], Variable))
            ):
                raise mistake("apply", f"Expected pairs of a gradient and its variable, got {pair!r}", TypeError)
        if not pairs:
            return []
        _core.require_gradients(pairs)  # before the rate and its variables are made
        rate, updates = self._rate_in(pairs[0][1].graph)
        return self._updates(rate, pairs, user_location()) + updates

    def _rate_in(self, graph):
        """The rate as a tensor of the graph, and the updates that it needs."""
        if isinstance(self._rate, Real):
            for variable in (weak() for weak in self._rates):
                if variable is not None and variable.graph is graph:
                    return variable, []
            with scope(graph, OPTIMIZER):
                name = free_path(graph, "learning_rate", "").removeprefix(f"{OPTIMIZER}/")
                variable = graph.variable(np.float32(self._rate), name, trainable=False)
            self._rates.append(variable.weak())
            return variable, []
        self._computed = True
        if isinstance(self._rate, Tensor):
            return self._rate, []
        with scope(graph, OPTIMIZER):
            step = graph.variable(np.float32([0]), "step", trainable=False)
            rate = self._rate(step)
            if not isinstance(rate, Tensor):
                raise mistake(
                    self._name(),
                    "Expected a tensor of one element from the function of the step that is "
                    f"the learning rate, got {type(rate).__name__}",
                    TypeError,
                )
            return rate, [graph.assign(step, step + 1)]

    def _checked(self, rate):
        require_all(
            self._name(),
            "a number, a tensor or a function of the step as the learning rate",
            (Real, Tensor, Callable),
            [rate],
        )
        if isinstance(rate, Real):
            _require(self._name(), "a learning rate of 0 or more", rate, 0 <= rate < math.inf)
        return rate

    def _name(self):
        return type(self).__name__.lower()


def _require(op, expected, given, holds):
    if not holds:
        raise mistake(op, f"Expected {expected}, got {given}")


class SGD(_Optimizer):
    """variable -= learning_rate * gradient."""

    def __init__(self, learning_rate=0.01):
        super().__init__(learning_rate)

    def _updates(self, rate, pairs, location):
        return _core.apply_sgd(rate, pairs, location)


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2015) in PyTorch's form: m and v are running means of the gradient and of its
    square, and variable -= learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) at step t
    = 1, 2, ...

    ValueError: a beta outside [0, 1), or an epsilon below 0."""

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
        super().__init__(learning_rate)
        require_all("adam", "numbers as beta1, beta2 and epsilon", Real, [beta1, beta2, epsilon])
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            _require("adam", f"{name} of 0 or more and below 1", beta, 0 <= beta < 1)
        _require("adam", "epsilon of 0 or more", epsilon, 0 <= epsilon < math.inf)
        self._coefficients = float(beta1), float(beta2), float(epsilon)

    def _updates(self, rate, pairs, location):
        return _core.apply_adam(rate, *self._coefficients, pairs, location)
