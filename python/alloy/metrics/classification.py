"""Metrics of classification, made of the counts of predicted and right classes over an epoch."""

import math

import numpy as np

from alloy.engine.arrays import as_choice, as_number
from alloy.losses.examples import class_count, index_or_none
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.metrics.decisions import classes_of, column, legal, logits_of, targets_of, unless, weights_at
from alloy.metrics.metric import Metric, accumulate, accumulated
from alloy.ops import argmax, cast, clamp, divide_no_nan, equal, greater, logical_and, reshape, scatter, squeeze, where
from alloy.ops import sum as sum_of


class _OfClasses(Metric):
    """The options of metrics that compare classes."""

    def __init__(self, *, threshold: float | None = None, ignore_index: int | None = None, name: str | None = None):
        super().__init__(name)
        self.threshold = None if threshold is None else as_number(self, "a threshold", threshold, "between 0 and 1")
        self.ignore_index = index_or_none(self, ignore_index)

    def _above(self, logits):
        """Tells whether the probability is above the threshold."""
        threshold = 0.5 if self.threshold is None else self.threshold
        return greater(logits, math.log(threshold) - math.log1p(-threshold))


class _Rates(_OfClasses):
    """A quotient of TP (true positives), TP + FP (predicted) and TP + FN (actual), counted for each class."""

    greater_is_better = True

    def __init__(
        self,
        average: str | None = "macro",
        *,
        threshold: float | None = None,
        ignore_index: int | None = None,
        name: str | None = None,
    ):
        """Counts logits (..., classes) against labels: integers (...), or distributions of the logits' shape. One
        logit, (..., 1) or (n,), has one rate, of class 1. A rate without any case is 0.

        average: joins the rates of several classes. "macro": their mean over the classes that occur or are predicted.
        "weighted": their mean weighted by how often each class occurs. "micro": the rate of all decisions together.
        None: the array of all rates, (classes,).
        threshold: the probability above which one logit stands for 1, by default 0.5. With several logits it makes each
        one a decision of its own, and the targets have the logits' shape.
        ignore_index: labels equal to this number do not count. Integers outside 0 to classes - 1 never count."""
        super().__init__(threshold=threshold, ignore_index=ignore_index, name=name)
        self.average = as_choice(self, "an average", average, ("macro", "micro", "weighted", None))

    def update(self, totals, predictions, targets, weights):
        logits = logits_of(self.name, predictions, targets)
        count = class_count(self.name, logits)
        single = count == 1 or self.threshold is not None
        counts = (self._decisions if single else self._choices)(logits, targets, weights)
        for name, added in zip(("found", "predicted", "actual"), counts):
            accumulate(totals, name, added, np.zeros(count, np.float32))

    def _decisions(self, logits, labels, weights):
        """Counts TP, predicted and actual for each logit by itself: three tensors (k,)."""
        labels = targets_of(self.name, logits, labels)
        above, right = self._above(logits), greater(cast(labels, "float32"), 0.5)
        weights = weights_at(right, weights, unless(labels, self.ignore_index))
        axes = range(len(logits.shape) - 1)
        return [sum_of(where(chosen, weights, 0.0), axis=axes) for chosen in (logical_and(above, right), above, right)]

    def _choices(self, logits, labels, weights):
        """Counts TP, predicted and actual for each class: three tensors (classes,)."""
        count = logits.shape[-1]
        labels = classes_of(self.name, logits, labels)
        weights = column(weights_at(labels, weights, legal(labels, count, self.ignore_index)))
        labels = column(cast(clamp(labels, 0, count - 1), "int32"))
        chosen = column(argmax(logits, axis=-1))
        right = where(equal(chosen, labels), weights, 0.0)
        pairs = ((labels, right), (chosen, weights), (labels, weights))
        return [scatter((count,), places, added, mode="add") for places, added in pairs]

    def result(self, totals):
        counts = [accumulated(totals, name) for name in ("found", "predicted", "actual")]
        if counts[0].shape == (1,):
            return squeeze(divide_no_nan(*self._quotient(*counts)), axis=0)
        if self.average == "micro":
            return divide_no_nan(*self._quotient(*(sum_of(count) for count in counts)))
        rates = divide_no_nan(*self._quotient(*counts))
        if self.average is None:
            return rates
        _, predicted, actual = counts
        shares = actual if self.average == "weighted" else cast(greater(predicted + actual, 0.0), "float32")
        return divide_no_nan(sum_of(rates * shares), sum_of(shares))

    @staticmethod
    def _quotient(found, predicted, actual):
        """Returns dividend and divisor."""
        raise NotImplementedError


class Precision(_Rates):
    """TP / (TP + FP): the share of right predictions among the predictions of a class."""

    @staticmethod
    def _quotient(found, predicted, actual):
        return found, predicted


class Recall(_Rates):
    """TP / (TP + FN): the share of a class's examples that are predicted as this class."""

    @staticmethod
    def _quotient(found, predicted, actual):
        return found, actual


class F1Score(_Rates):
    """2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall."""

    @staticmethod
    def _quotient(found, predicted, actual):
        return found * 2.0, predicted + actual


class IoU(_Rates):
    """TP / (TP + FP + FN), intersection over union (Jaccard's index). With average="macro" it is the mean IoU of
    segmentation."""

    name = "iou"

    @staticmethod
    def _quotient(found, predicted, actual):
        return found, predicted + actual - found


class ConfusionMatrix(_OfClasses):
    """Counts of examples, float32 (classes, classes): row = the right class, column = the predicted class.

    logits: (..., classes), labels: the classes as integers (...), or distributions of the logits' shape. One logit,
    (..., 1) or (n,), stands for two classes: 1 where its probability is above the threshold, by default 0.5. Labels
    equal to ignore_index do not count, nor do integers outside 0 to classes - 1."""

    def update(self, totals, predictions, targets, weights):
        logits = logits_of(self.name, predictions, targets)
        count = class_count(self.name, logits)
        if count == 1:
            count, targets = 2, squeeze(targets_of(self.name, logits, targets), axis=-1)
            chosen = cast(self._above(squeeze(logits, axis=-1)), "int32")
            own = unless(targets, self.ignore_index)
            labels = cast(greater(cast(targets, "float32"), 0.5), "int32")
        elif self.threshold is not None:
            raise mistake(self.name, f"Expected one logit for each example beside a threshold, got {describe(logits)}")
        else:
            labels = classes_of(self.name, logits, targets)
            chosen, own = argmax(logits, axis=-1), legal(labels, count, self.ignore_index)
            labels = cast(clamp(labels, 0, count - 1), "int32")
        added = column(weights_at(labels, weights, own))
        counts = scatter((count * count,), column(labels * count + chosen), added, mode="add")
        accumulate(totals, "counts", reshape(counts, (count, count)), np.zeros((count, count), np.float32))

    def result(self, totals):
        return accumulated(totals, "counts")
