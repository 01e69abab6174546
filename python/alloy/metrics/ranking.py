"""Metrics of the order that scores give to examples."""

import numpy as np

from alloy.engine.arrays import as_count
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

_MOST = 1e30  # the greatest logit, so that infinities are ordered, too


class AUC(Metric):
    """Area under the receiver operating characteristic: the probability that a positive example scores above a negative
    one, ties counting one half. It is 0 without any positive, or any negative, example.

    Logits (n, 1) or (n,) are scores of targets of the same shape, 0 or 1. For logits (..., classes) and labels as
    integers (...), or as distributions, it is the mean of one-against-rest over the classes that occur beside others,
    with the class's probability as its score. With multi_label=True each logit is a score of its own, with targets of
    the logits' shape, and the result is their mean. Labels equal to ignore_index do not count, nor do integers outside
    0 to classes - 1.

    Scores are counted in `bins` intervals of z / (4 + |z|), z the logit: at z = 0 an interval is 8 / bins wide, at |z|
    = 12 it is 128 / bins wide. Only the order of scores within an interval is lost. The error is at most half of sum(p
    q) over the intervals, p and q the shares of all positives and of all negatives in it: below 0.5 / m if either kind
    is spread evenly over m intervals. Every step adds to 4 * bins numbers for each score of an example; use fewer bins
    for hundreds of classes."""

    greater_is_better = True

    def __init__(
        self, *, bins: int = 4096, multi_label: bool = False, ignore_index: int | None = None, name: str | None = None
    ):
        super().__init__(name)
        self.bins = as_count("AUC", "a number of bins", bins, least=2)
        self.multi_label = multi_label
        self.ignore_index = index_or_none("AUC", ignore_index)

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
        """Returns scores (..., k), whether each score is of a positive, and weights of places or None."""
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
