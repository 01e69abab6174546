"""The base class of metrics, and the sums that metrics are made of."""

import re
from collections.abc import Callable

import numpy as np

from alloy._core import Tensor
from alloy.distributed import all_reduce
from alloy.graph.state import State
from alloy.losses.lookup import name_of, unwrapped
from alloy.losses.reduction import along, number_of, pair, times, weighted_sum
from alloy.messages.location import mistake
from alloy.ops import cast, divide_no_nan
from alloy.ops import sum as sum_of
from alloy.ops.apply import require_tensor


class Metric:
    """A measure over the batches of an epoch, computed in the graph. A subclass adds a batch to the totals in update,
    and computes the value from the totals in result.

    name: the key in the history, by default the class's name in small letters: "f1_score" of F1Score.
    greater_is_better: tells EarlyStopping and Checkpoint the better direction; None: unknown."""

    name: str = "metric"
    greater_is_better: bool | None = None

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(self, name: str | None = None):
        if name is not None:
            if not isinstance(name, str) or not name:
                raise mistake(self, f"Expected a name, got {name!r}", TypeError)
            self.name = name

    def update(self, totals: State, predictions: Tensor, targets: Tensor, weights: Tensor | None) -> None:
        """Adds a batch. weights: (n,) float32, how often each example counts; None: once."""
        raise NotImplementedError(f"{type(self).__name__} needs update(totals, predictions, targets, weights)")

    def result(self, totals: State) -> Tensor:
        """Returns the value of the totals: a scalar, or an array. Without any example it is 0, or zeros."""
        raise NotImplementedError(f"{type(self).__name__} needs result(totals)")

    def combine(self, totals: State) -> None:
        """Makes the totals of all processes of each process's own, before result: their sums."""
        sum_over_processes(totals)

    def __repr__(self):
        return f"<{type(self).__name__} {self.name!r}>"


class Mean(Metric):
    """The weighted mean over all examples of the values of a function of (predictions, targets).

    function: gives a value for each example, (n, ...); or a pair (values, weights), as losses may; or a scalar for the
    batch, which counts as often as the batch has examples."""

    def __init__(self, function: Callable, name: str | None = None, greater_is_better: bool | None = None):
        if isinstance(function, type) or not callable(function):
            raise mistake("Mean", f"Expected a function of predictions and targets, got {function!r}", TypeError)
        super().__init__(name_of(function) if name is None else name)
        self.function = function
        self.greater_is_better = greater_is_better
        if greater_is_better is None:
            self.greater_is_better = getattr(unwrapped(function), "greater_is_better", None)

    def update(self, totals, predictions, targets, weights):
        values, counted = pair(self.function(predictions, targets))
        if values.shape == ():
            count = number_of(predictions, [0]) if weights is None else sum_of(cast(weights, "float32"))
            accumulate(totals, "total", values * count)
            accumulate(totals, "count", count)
            return
        shares = None if weights is None else along(weights, values)
        counted = times(counted, shares)
        accumulate(totals, "total", weighted_sum(values, shares))
        accumulate(totals, "count", number_of(values) if counted is None else sum_of(counted))

    def result(self, totals):
        return divide_no_nan(accumulated(totals, "total"), accumulated(totals, "count"))


def sum_over_processes(totals: State) -> None:
    names = list(totals.variables)
    for name, value in zip(names, all_reduce([totals[name] for name in names])):
        totals[name] = value


def accumulate(totals: State, name: str, value: Tensor, start: float | np.ndarray = 0.0) -> None:
    """Adds the value to a sum over batches that starts with `start`, or with zeros of the value's shape.

    The sum is kept as two float32 numbers; the second holds the rounding error of the first (Knuth's TwoSum). Together
    they are as exact as one number of 48 bits: counts are exact to 10^14, and a million batches add no error of their
    own. Where a framework reorders float32 arithmetic, as Apple's may, the sum is at worst a plain float32 sum, and
    counts are exact to 2^24."""
    require_tensor("metric", value)
    high, low = totals.setdefault(name, start), totals.setdefault(f"{name}_rest", start)
    sum = high + value
    taken = sum - high
    low = low + ((high - (sum - taken)) + (value - taken))
    # Keeps low small: the part of it that high can hold moves there.
    totals[name] = sum + low
    totals[f"{name}_rest"] = low - (totals[name] - sum)


def accumulated(totals: State, name: str) -> Tensor:
    """Returns the sum that accumulate made."""
    return totals[name] + totals[f"{name}_rest"]
