"""Reduces the values of examples to one number."""

from weakref import WeakKeyDictionary

from alloy._core import Tensor
from alloy.engine.arrays import may_be_equal
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops import cast, divide_no_nan, equal, expand_dims, where
from alloy.ops import sum as sum_of
from alloy.ops.apply import apply, require_tensor


def mean(values, sample_weights: Tensor | None = None, *, mask: Tensor | None = None) -> Tensor:
    """Returns sum(values) / (number of values), the float32 scalar that a Trainer minimizes and shows.

    values: the result of a loss. A tensor (n, ...) that has weights (see weights) is divided by their sum, as PyTorch's
    cross_entropy does with class weights or an ignored index. A pair of tensors (values, weights) of one shape has the
    mean sum(values * weights) / sum(weights). A scalar is its own mean.
    sample_weights: (n,), or more of the values' axes: factors of the values, which leave the number of values as it is
    (as in Keras).
    mask: the same shapes, 1 where an example counts and 0 where it does not; such an example may be NaN. If nothing
    counts, the mean is 0.

    ValueError: the shapes do not belong together, or a scalar has weights or a mask."""
    return divide_no_nan(*sums(values, sample_weights, mask=mask))


def sums(values, sample_weights: Tensor | None = None, *, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Returns dividend and divisor of mean(...), two float32 scalars. The mean of several batches is the quotient of
    their sums."""
    values, counted = pair(values)
    for extra in (sample_weights, mask):
        if extra is not None and values.shape == ():
            raise mistake("mean", "Expected one value for each example, (n, ...), beside weights, got a scalar")
    shares = None if mask is None else along(mask, values)
    counted = times(counted, shares)
    shares = shares if sample_weights is None else times(shares, along(sample_weights, values))
    return weighted_sum(values, shares), number_of(values) if counted is None else sum_of(counted)


def pair(values: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor | None]:
    """Returns the float32 values of a loss, multiplied by their weights, and the weights; None if each value counts
    once."""
    values, given = values if isinstance(values, tuple) and len(values) == 2 else (values, None)
    require_tensor("mean", values)
    if values.shape is None:
        raise mistake("mean", f"Expected values of known rank, got {describe(values)}")
    wide = cast(values, "float32")
    if given is None:
        return wide, weights(values)
    given = along(given, values)
    return where(equal(given, 0.0), 0.0, wide * given), given


_WEIGHTS: WeakKeyDictionary[Tensor, Tensor] = WeakKeyDictionary()


def weights(values: Tensor) -> Tensor | None:
    """Returns how much each value of a loss with options counts in its mean: a tensor of the values' shape, by which
    the values are already multiplied. None if each counts once, as in anything computed from the values."""
    require_tensor("weights", values)
    return _WEIGHTS.get(values)


def weighed(values: Tensor, by: Tensor) -> Tensor:
    """Multiplies the values by their weights, and remembers the weights for the mean. A value of weight 0 may be
    NaN."""
    product = where(equal(by, 0.0), 0.0, values * by)
    _WEIGHTS[product] = by
    return product


def along(weights, values):
    """Broadcasts weights (n,), or of more of the values' first axes, to the values' shape."""
    require_tensor("mean", weights)
    weights = cast(weights, "float32")
    if weights.shape is None:
        raise mistake("mean", f"Expected weights of known rank, got {describe(weights)}")
    head = values.shape[: len(weights.shape)]
    if not weights.shape or not may_be_equal(head, weights.shape):
        raise mistake(
            "mean", f"Expected weights of the first axes of the values {describe(values)}, got {describe(weights)}"
        )
    missing = range(len(weights.shape), len(values.shape))
    return apply("broadcast_like", [expand_dims(weights, axis=missing), values]) if missing else weights


def times(a, b):
    """Multiplies two weights; None stands for 1."""
    return b if a is None else a if b is None else a * b


def weighted_sum(values, weights):
    """Sums values * weights, without the values of weight 0, which may be NaN. values: float32. weights: of the same
    shape, or None."""
    return sum_of(values if weights is None else where(equal(weights, 0.0), 0.0, values * weights))


def number_of(values, axis=None):
    """Returns the number of elements along the axes (None: all) as a float32 scalar."""
    axis = range(len(values.shape)) if axis is None else axis
    return apply("count", [cast(values, "float32")], {"axes": axis})
