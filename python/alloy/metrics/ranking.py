"""How well scores order examples."""

import numpy as np

from alloy.graph.arrays import as_count
from alloy.losses.examples import class_count, index_or_none
from alloy.metrics.decisions import classes_of, column, legal, logits_of, targets_of, unless, weights_at
from alloy.metrics.metric import Metric, accumulate, accumulated
from alloy.ops import (
    abs,
    cast,
    clamp,
    cumsum,
    divide_no_nan,
    exp,
    floor,
    greater,
    log,
    log_softmax,
    one_hot,
    reshape,
    scatter,
    tanh,
)
from alloy.ops import sum as sum_of

_MOST = 1e30  # a logit, so that infinities are ordered, too


class AUC(Metric):
    """The area under the receiver operating characteristic: how often the score of what is 1 is above that of what is
    0, ties counting one half. 0 where there is none of either.

    Logits (n, 1) or (n,) are scores of targets of the same shape, 0 or 1. Of logits (..., classes) with classes as
    integers (...), or distributions, it is the mean over the classes that occur, and not alone, of how well the class's
    probability tells it from all others; with multi_label=True the mean over logits that are scores of their own, of
    targets of their shape. Labels that are none of the classes do not count, nor do those that are ignore_index.

    Scores are counted in `bins` intervals of z / (4 + |z|), z the logit: at z = 0 an interval is 8 / bins wide, at
    |z| = 12 it is 128 / bins. Only the order of scores within an interval is lost, so that the error is at most one
    half of sum(p q) over the intervals, p and q the shares of all 1 and of all 0 that lie in it: below 0.5 / m where
    either kind is spread evenly over m intervals. Every step adds to 4 * bins numbers for each score of an example;
    of hundreds of classes take fewer bins."""

    greater_is_better = True

    def __init__(
        self, *, bins: int = 4096, multi_label: bool = False, ignore_index: int | None = None, name: str | None = None
    ):
        super().__init__(name)
        self.bins = as_count(self.name, "a number of bins", bins, least=2)
        self.multi_label = multi_label
        self.ignore_index = index_or_none(self.name, ignore_index)

    def update(self, totals, predictions, targets, weights):
        scores, ones, own = self._scores(logits_of(self.name, predictions, targets), targets)
        weights = weights_at(ones, weights, own)
        count = class_count(self.name, scores)
        scores = clamp(scores, -_MOST, _MOST)
        places = floor((scores / (abs(scores) + 4.0) + 1.0) * (self.bins / 2))
        places = cast(clamp(places, 0.0, self.bins - 1.0), "int32") + cast(ones, "int32") * self.bins
        places = places + np.arange(count, dtype=np.int32) * (2 * self.bins)
        counts = scatter((count * 2 * self.bins,), column(places), column(weights), mode="add")
        shape = (count, 2, self.bins)
        accumulate(totals, "counts", reshape(counts, shape), np.zeros(shape, np.float32))

    def _scores(self, logits, targets):
        """Scores (..., k), whether each is of what is 1, and weights of places or None."""
        count = logits.shape[-1]
        if count == 1 or self.multi_label:
            targets = targets_of(self.name, logits, targets)
            return logits, greater(cast(targets, "float32"), 0.5), unless(targets, self.ignore_index)
        labels = classes_of(self.name, logits, targets)
        return _odds(logits), greater(one_hot(labels, count), 0.0), legal(labels, count, self.ignore_index)

    def result(self, totals):
        counts = accumulated(totals, "counts")
        zeros, ones = counts[:, 0], counts[:, 1]
        below = cumsum(zeros, axis=-1, exclusive=True) + zeros * 0.5
        pairs = sum_of(zeros, axis=-1) * sum_of(ones, axis=-1)
        areas, there = divide_no_nan(sum_of(ones * below, axis=-1), pairs), cast(greater(pairs, 0.0), "float32")
        return divide_no_nan(sum_of(areas), sum_of(there))


def _odds(logits):
    """log(p / (1 - p)) of the probabilities p of softmax."""
    logs = log_softmax(logits, axis=-1)
    rest = -tanh(logs * 0.5) * (exp(logs) + 1.0)  # 1 - p, which loses no digits of a p near 1
    return logs - log(rest)
