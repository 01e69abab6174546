"""Losses of predictions that are numbers."""

from alloy._core import Tensor
from alloy.losses.examples import mean_of_examples, of_same_shape
from alloy.ops import abs, square


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of (predictions - targets)^2.

    Both of one shape (n, ...). Result: (n,)."""
    predictions, targets = of_same_shape("mean_squared_error", predictions, targets)
    return mean_of_examples(square(predictions - targets))


def mean_absolute_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean over an example's elements of |predictions - targets|, whose gradient is 0 where they are equal.

    Both of one shape (n, ...). Result: (n,)."""
    predictions, targets = of_same_shape("mean_absolute_error", predictions, targets)
    return mean_of_examples(abs(predictions - targets))
