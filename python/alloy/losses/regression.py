"""Losses of numbers and vectors."""

from alloy._core import Tensor
from alloy.engine.arrays import as_number
from alloy.losses.examples import class_count, mean_of_examples, of_same_shape
from alloy.ops import abs, equal, max, minimum, rsqrt, square, stop_gradient, where
from alloy.ops import sum as sum_of


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """(predictions - targets)^2, averaged over an example's elements.

    Both have one shape (n, ...). Result: (n,). ValueError: the shapes differ."""
    predictions, targets = of_same_shape("mean_squared_error", predictions, targets)
    return mean_of_examples(square(predictions - targets))


def mean_absolute_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """|predictions - targets|, averaged over an example's elements; the gradient is 0 where they are equal.

    Both have one shape (n, ...). Result: (n,). ValueError: the shapes differ."""
    predictions, targets = of_same_shape("mean_absolute_error", predictions, targets)
    return mean_of_examples(abs(predictions - targets))


def huber(predictions: Tensor, targets: Tensor, *, delta: float = 1.0) -> Tensor:
    """e^2 / 2 where e = |predictions - targets| is at most delta, and delta (e - delta / 2) beyond (Huber, 1964),
    averaged over an example's elements.

    Both have one shape (n, ...). Result: (n,). ValueError: the shapes differ, or delta is not above 0."""
    delta = as_number("huber", "a delta", delta, "above 0")
    predictions, targets = of_same_shape("huber", predictions, targets)
    error = abs(predictions - targets)
    bent = minimum(error, delta)
    return mean_of_examples(bent * (error - bent * 0.5))


def cosine_similarity(predictions: Tensor, targets: Tensor) -> Tensor:
    """-cos of the angle between the vectors along the last axis: -1 where they point the same way, 0 at right angles, 1
    opposite, and 0 for a vector of zeros. Keras has it under this name; PyTorch's cosine_embedding_loss is 1 more.

    Both have one shape (..., d). Result: (...). ValueError: the shapes differ."""
    op = "cosine_similarity"
    predictions, targets = of_same_shape(op, predictions, targets)
    class_count(op, predictions)
    predictions, targets = _normal(predictions), _normal(targets)
    return -sum_of(predictions * targets, axis=-1)


def _normal(x):
    """Scales the vectors along the last axis to length 1; zeros stay zeros. Dividing by the greatest element
    first keeps squares from overflow and underflow."""
    most = stop_gradient(max(abs(x), axis=-1, keepdims=True))
    x = x / where(equal(most, 0.0), 1.0, most)
    length = sum_of(square(x), axis=-1, keepdims=True)
    return x * rsqrt(where(equal(length, 0.0), 1.0, length))
