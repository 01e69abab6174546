"""From the values of examples to one number."""

from weakref import WeakKeyDictionary

from alloy._core import Tensor
from alloy.graph.apply import apply, require_tensor
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.losses.examples import differ
from alloy.ops import cast, divide_no_nan, equal, expand_dims, where
from alloy.ops import sum as sum_of


def mean(values, sample_weights: Tensor | None = None, *, mask: Tensor | None = None) -> Tensor:
    """The number that is minimized and shown, a float32 scalar: what a loss gives for each example, added up and
    divided by how many there are.

    values: what a loss gives: a tensor (n, ...), whose sum is divided by the sum of its weights where it has some
    (weights), as PyTorch's cross_entropy does with class weights or an ignored index; or a pair of tensors (values,
    weights) of one shape, whose mean is sum(values * weights) / sum(weights). A scalar is its own mean.
    sample_weights: (n,), or of more of the values' axes; how much each example adds, while the number of examples
    stays, as in Keras. mask: the same, of 0 where an example does not count at all and 1 elsewhere; an example that
    does not count may even be NaN. Where nothing counts the mean is 0.

    ValueError: the shapes do not belong together; weights or a mask for a scalar."""
    return divide_no_nan(*sums(values, sample_weights, mask=mask))


def sums(values, sample_weights: Tensor | None = None, *, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Two float32 scalars, whose quotient is mean(...): the weighted sum, and what it is divided by. Both added up over
    batches give the mean of all batches."""
    values, counted = pair(values)
    for extra in (sample_weights, mask):
        if extra is not None and values.shape == ():
            raise mistake("mean", "Expected one value for each example, (n, ...), beside weights, got a scalar")
    shares = None if mask is None else along(mask, values)
    counted = times(counted, shares)
    shares = shares if sample_weights is None else times(shares, along(sample_weights, values))
    return weighted_sum(values, shares), number_of(values) if counted is None else sum_of(counted)


def pair(values: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor | None]:
    """The float32 values of a loss, times their weights, and these float32 weights, or None where each counts once."""
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
    """How much each value of a loss with options counts in its mean: a tensor of the values' shape, by which they are
    multiplied already. None where each counts once, as it does in anything that is computed of the values."""
    require_tensor("weights", values)
    return _WEIGHTS.get(values)


def weighed(values: Tensor, by: Tensor) -> Tensor:
    """The values times their weights, which it keeps for their mean. A value of weight 0 may be NaN."""
    product = where(equal(by, 0.0), 0.0, values * by)
    _WEIGHTS[product] = by
    return product


def along(weights, values):
    """Weights of the first axes of the values, (n,) or more of them, in the values' shape."""
    require_tensor("mean", weights)
    weights = cast(weights, "float32")
    if weights.shape is None:
        raise mistake("mean", f"Expected weights of known rank, got {describe(weights)}")
    head = values.shape[: len(weights.shape)]
    if not weights.shape or len(head) < len(weights.shape) or differ(head, weights.shape):
        raise mistake(
            "mean", f"Expected weights of the first axes of the values {describe(values)}, got {describe(weights)}"
        )
    missing = range(len(weights.shape), len(values.shape))
    return apply("broadcast_like", [expand_dims(weights, axis=missing), values]) if missing else weights


def times(a, b):
    """The product of weights, None being 1."""
    return b if a is None else a if b is None else a * b


def weighted_sum(values, weights):
    """What has the weight 0 is left out, even if it is NaN. values: a float32 tensor, weights: of its shape, or
    None."""
    return sum_of(values if weights is None else where(equal(weights, 0.0), 0.0, values * weights))


def number_of(values, axis=None):
    """How many elements the tensor has along the axes, all by default: a float32 scalar."""
    axis = range(len(values.shape)) if axis is None else axis
    return apply("count", [cast(values, "float32")], {"axes": axis})
