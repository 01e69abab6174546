"""Random numbers in the graph, by Philox 4x32-10 from a state: int32 of shape (7,), a tensor like any other.

Every function takes a state and returns the numbers and the next state. Keep the state in a variable: it then advances
from run to run, and is saved and loaded with a model:

    state = graph.variable(al.random.state(0), "random", trainable=False)
    noise, following = al.random.normal(state, (32, 8))
    step = graph.compile(fetches=[noise], updates=[graph.assign(state, following)])

Equal states give equal numbers, for any number of threads. A shape is a sequence of integers, or a tensor whose shape
is used, known or not."""

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from alloy._core import Tensor, Variable, random_state
from alloy.engine.arrays import as_count, as_integers, require_all
from alloy.engine.scope import scoped
from alloy.messages.location import mistake, user_location
from alloy.messages.names import of_module
from alloy.ops.apply import apply, require_tensor
from alloy.ops.elementwise import cast

__all__ = ["bernoulli", "dropout", "initialize", "integers", "normal", "state", "truncated_normal", "uniform"]


def state(seed: int) -> np.ndarray:
    """Returns the state for a seed, the value of a variable. seed: an integer of 0 or more, of which the lowest 32 bits
    count."""
    return np.array(random_state(as_count("state", "a seed", seed, 0, math.inf) % 2**32), np.int32)


def uniform(state: Tensor, shape, low=0.0, high=1.0) -> tuple[Tensor, Tensor]:
    """Draws float32 numbers from low to below high, all equally probable, in steps of (high - low) / 2^23.

    ValueError: low is above high."""
    return _random("uniform", state, shape, low=low, high=high)


def normal(state: Tensor, shape, mean=0.0, stddev=1.0, *, sampling="inverse_cdf") -> tuple[Tensor, Tensor]:
    """Draws Gaussian float32 numbers, never infinite and never NaN.

    sampling: "inverse_cdf" makes each of one uniform number, within 5.3 standard deviations; "box_muller" makes two of
    two, within 5.7. ValueError: stddev is negative."""
    return _random("normal", state, shape, mean=mean, deviation=stddev, sampling=sampling)


def truncated_normal(state: Tensor, shape, mean=0.0, stddev=1.0, low=None, high=None) -> tuple[Tensor, Tensor]:
    """Draws Gaussian float32 numbers from low to below high; None is two standard deviations from the mean.

    ValueError: stddev is negative, or low above high."""
    require_all("truncated_normal", "numbers as mean and stddev", Real, [mean, stddev])
    low = mean - 2 * stddev if low is None else low
    high = mean + 2 * stddev if high is None else high
    return _random("truncated_normal", state, shape, low=low, high=high, mean=mean, deviation=stddev)


def integers(state: Tensor, shape, low, high) -> tuple[Tensor, Tensor]:
    """Draws int32 numbers low <= number < high, as NumPy's generators do. Their probabilities differ by at most one
    part in 2^32 / (high - low).

    ValueError: there is no such number, or one does not fit into 32 bits."""
    low, high = as_integers("integers", "bounds", [low, high])
    if high <= low:
        raise mistake("integers", f"Expected a high bound above the low one, {low}, got {high}")
    return _random("uniform", state, shape, "int32", low=low, high=high - 1)


def bernoulli(state: Tensor, shape, probability) -> tuple[Tensor, Tensor]:
    """Draws bools, each true with that probability: a number or a tensor that broadcasts to the shape."""
    numbers, following = uniform(state, shape)
    return apply("less", [numbers, probability]), following


def dropout(state: Tensor, x: Tensor, rate) -> tuple[Tensor, Tensor]:
    """Sets each element of x to zero with probability rate, and divides the others by 1 - rate (Srivastava et al.,
    2014, scaled while training). No gradient flows back from zeros.

    rate: a number or a tensor of one element, from 0 to 1."""
    require_tensor("dropout", x)
    numbers, following = uniform(state, x)
    return apply("dropout", [x, rate, numbers], scalar_dtype="float32"), following


def initialize(variables, *, seed: int) -> None:
    """Sets variables of one graph to random numbers that their device draws, in one dispatch; nothing large passes
    through the host.

    variables: {variable: function of a state and a shape, as in this module}, for instance {weights: lambda state,
    shape: al.random.normal(state, shape, stddev=0.02)}. The state passes from one to the next, in the dict's order."""
    require_all("initialize", "variables", Variable, variables)
    if not variables:
        return
    graph = next(iter(variables)).graph
    updates, following = [], graph.constant(state(seed))
    for variable, draw in variables.items():
        values, following = draw(following, variable.shape)
        updates.append(graph.assign(variable, values))
    graph.compile(updates=updates)()


_STANDARD = {"low": 0.0, "high": 1.0, "mean": 0.0, "deviation": 1.0}


def _random(distribution, state, shape, dtype="float32", sampling="inverse_cdf", **numbers):
    require_tensor("random", state)
    graph, location = state.graph, user_location()
    if isinstance(shape, Tensor):
        like = cast(shape, dtype)
    else:
        (like,) = graph.apply("empty", [], {"shape": shape, "dtype": dtype}, "", location)
    attributes = {"distribution": distribution, "sampling": sampling, **_STANDARD, **numbers}
    drawn, following = graph.apply("random", [state, like], attributes, scoped(graph, "", "random"), location)
    return drawn, following


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
