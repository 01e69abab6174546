"""Metrics of regression that are not means over examples."""

import numpy as np

from alloy.distributed import all_reduce
from alloy.losses.examples import extents, of_same_shape
from alloy.losses.regression import mean_squared_error
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.metrics.decisions import weights_at
from alloy.metrics.metric import Mean, Metric, accumulate, accumulated
from alloy.ops import cast, divide_no_nan, equal, expand_dims, mean, sqrt, square, where
from alloy.ops import sum as sum_of


class RootMeanSquaredError(Mean):
    """sqrt(mean((predictions - targets)^2)) over all examples and their elements."""

    def __init__(self, name: str | None = None):
        super().__init__(mean_squared_error, name or self.name, greater_is_better=False)

    def result(self, totals):
        return sqrt(super().result(totals))


class R2Score(Metric):
    """1 - sum((y - p)^2) / sum((y - mean(y))^2), the coefficient of determination of predictions p and targets y: 1 if
    all are right, 0 if they are no better than the targets' mean. If all targets are equal it is 1 if all predictions
    are right, else 0.

    Both have one shape, (n,) or (n, k); the result is the mean over the k columns."""

    greater_is_better = True

    def update(self, totals, predictions, targets, weights):
        p, y = of_same_shape(self.name, predictions, targets)
        shape = y.shape or ()
        columns = shape[-1] if len(shape) > 1 else 1
        if not shape or columns is None:
            raise mistake(self.name, f"Expected predictions (n,) or (n, k) of a known k, got {describe(predictions)}")
        if len(shape) == 1:
            p, y = expand_dims(p, axis=-1), expand_dims(y, axis=-1)
        start, axes = np.zeros(columns, np.float32), range(len(extents(y)) - 1)
        weights = weights_at(y, weights)

        def total(values):
            return sum_of(where(equal(weights, 0.0), 0.0, values * weights), axis=axes)

        # Squares of distances to the first batch's mean, so that their sum loses nothing to a mean far from 0.
        here, before = sum_of(weights, axis=axes), totals.setdefault("origin", start)
        accumulate(totals, "count", here, start)
        first = equal(accumulated(totals, "count"), here)
        totals["origin"] = where(first, divide_no_nan(total(y), here), before)
        away = y - totals["origin"]
        for name, values in (("sum", away), ("squares", square(away)), ("errors", square(y - p))):
            accumulate(totals, name, total(values), start)

    def combine(self, totals):
        count, sums, squares = (accumulated(totals, name) for name in ("count", "sum", "squares"))
        number, total = all_reduce([count, sums + count * totals["origin"]])
        moved = totals["origin"] - divide_no_nan(total, number)  # from each process's origin to the mean of all
        totals["squares"], totals["squares_rest"] = squares + moved * (2.0 * sums + count * moved), 0.0
        totals["sum"], totals["sum_rest"] = sums + count * moved, 0.0
        super().combine(totals)

    def result(self, totals):
        count, sums, squares, errors = (accumulated(totals, name) for name in ("count", "sum", "squares", "errors"))
        spread = squares - divide_no_nan(square(sums), count)
        scores = where(spread > 0.0, 1.0 - divide_no_nan(errors, spread), cast(equal(errors, 0.0), "float32"))
        return mean(where(equal(count, 0.0), 0.0, scores))
