"""Losses: functions of predictions and targets that give one value for each example.

A loss takes (predictions, targets) and gives a tensor (n,) for a batch of n examples, or one value for each place, (n,
steps), for sequences and the like. The Trainer minimizes and shows mean(values), which is sum(values) / (number of
values). Options such as ignore_index let examples count differently: the values are then multiplied by weights, and
their mean is sum(values) / sum(weights(values)). A loss of your own may give a pair of tensors (values, weights), whose
mean is sum(values * weights) / sum(weights). mean also describes sample weights and masks.

Predictions are logits, not probabilities, wherever targets are classes or probabilities. Losses are computed in float32
and are float32, also for float16 and bfloat16.

Options are keyword arguments. A Trainer takes a loss by its name, or as a function:

    al.Trainer(model, "softmax_cross_entropy", ...)
    al.Trainer(model, functools.partial(al.losses.softmax_cross_entropy, label_smoothing=0.1), ...)
    al.Trainer(model, lambda predictions, targets: al.square(predictions - targets), ...)"""

from typing import TYPE_CHECKING

from alloy.losses import lookup
from alloy.losses.entropies import binary_cross_entropy, kl_divergence, softmax_cross_entropy
from alloy.losses.margins import categorical_hinge, hinge, squared_hinge
from alloy.losses.overlap import dice
from alloy.losses.reduction import mean, sums, weights
from alloy.losses.regression import cosine_similarity, huber, mean_absolute_error, mean_squared_error
from alloy.messages.names import of_module

__all__ = [
    "binary_cross_entropy",
    "categorical_hinge",
    "cosine_similarity",
    "dice",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "mean",
    "mean_absolute_error",
    "mean_squared_error",
    "softmax_cross_entropy",
    "squared_hinge",
    "sums",
    "weights",
]


def get(loss, op: str = "losses"):
    """Returns the loss of that name. A function is returned as it is. op: the word in brackets before a message.

    ValueError: no loss has that name; the message lists all. TypeError: neither a name nor a function."""
    if isinstance(loss, str):
        return lookup.by_name("losses", loss, LOSSES, op)
    lookup.require_function("losses", loss, op)
    return loss


LOSSES = {name: globals()[name] for name in __all__ if name not in ("get", "mean", "sums", "weights")}
for _function in LOSSES.values():
    vars(_function)["greater_is_better"] = False


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
