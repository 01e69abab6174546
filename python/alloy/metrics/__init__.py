"""Metrics, computed in the graph and added up there over the batches of an epoch.

A metric is one of two things:

* A function of (predictions, targets) that gives a value for each example, (n,) or (n, ...), such as accuracy and every
  loss. Mean(function) makes it a Metric: the weighted mean over all examples. Set options with functools.partial.
* A Metric, if the value is not a mean over examples:

    class Metric:
        name: str                               # its name in the history
        greater_is_better: bool | None          # for EarlyStopping and Checkpoint; None: unknown
        def update(self, totals, predictions, targets, weights): ...
        def result(self, totals): ...

update adds a batch to the totals, an alloy.graph.state.State, by accumulate(totals, name, tensor). weights, (n,)
float32, tells how often each example counts (0: not at all, as padding); None: each counts once. result computes a
tensor, a scalar or an array, from accumulated(totals, name). A metric keeps only its options, so that one object may
measure training and validation.

Predictions are logits. A Trainer takes a metric by its name, or as a function or a Metric."""

import functools
import inspect
from typing import TYPE_CHECKING

from alloy.losses import LOSSES, lookup
from alloy.messages.location import mistake
from alloy.messages.names import of_module
from alloy.metrics.accuracies import accuracy, binary_accuracy, top_k_accuracy
from alloy.metrics.classification import ConfusionMatrix, F1Score, IoU, Precision, Recall
from alloy.metrics.metric import Mean, Metric, accumulate, accumulated
from alloy.metrics.ranking import AUC
from alloy.metrics.regression import R2Score, RootMeanSquaredError

__all__ = [
    "AUC",
    "ConfusionMatrix",
    "F1Score",
    "IoU",
    "Mean",
    "Metric",
    "Precision",
    "R2Score",
    "Recall",
    "RootMeanSquaredError",
    "accumulate",
    "accumulated",
    "accuracy",
    "binary_accuracy",
    "get",
    "top_k_accuracy",
]


def get(metric, loss=None, op: str = "metrics") -> Metric:
    """Returns the metric of that name, of al.metrics or al.losses, or makes one of a function. A Metric is returned as
    it is.

    loss: the name or function that is minimized. With binary_cross_entropy, "accuracy" is binary_accuracy; with a
    functools.partial that has an ignore_index, metrics that know one take it. op: messages begin with it. ValueError:
    no metric has that name; the message lists all. TypeError: neither a name nor a function nor a Metric."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        found = lookup.by_name("metrics", metric, _NAMED, op)
        of_loss = loss if isinstance(loss, str) or loss is None else lookup.name_of(loss)
        if found is accuracy and of_loss == "binary_cross_entropy":
            return Mean(binary_accuracy, "accuracy")
        if found is accuracy and of_loss in _OF_NUMBERS:
            raise mistake(
                op,
                f'Expected a metric of numbers beside the loss {of_loss}, such as "r2_score", got "accuracy", which '
                "compares classes",
            )
        ignored = getattr(loss, "keywords", {}).get("ignore_index")
        if ignored is not None and "ignore_index" in inspect.signature(found).parameters:
            found = functools.partial(found, ignore_index=ignored)
        return found() if isinstance(lookup.unwrapped(found), type) else Mean(found)
    lookup.require_function("metrics", metric, op)
    return Mean(metric)


FUNCTIONS = {function.__name__: function for function in (accuracy, binary_accuracy, top_k_accuracy)}
CLASSES = {
    kind.name: kind for kind in (AUC, ConfusionMatrix, F1Score, IoU, Precision, R2Score, Recall, RootMeanSquaredError)
}
for _function in FUNCTIONS.values():
    vars(_function)["greater_is_better"] = True
_OF_NUMBERS = ("mean_squared_error", "mean_absolute_error", "huber")  # losses of regression
_NAMED = FUNCTIONS | CLASSES | LOSSES


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
