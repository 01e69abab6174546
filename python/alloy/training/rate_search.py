"""A range test of learning rates."""

import math
from dataclasses import dataclass, field
from itertools import count, islice

import numpy as np

from alloy.messages.location import mistake
from alloy.training.history import save_figure

_KEPT = 0.9  # the share of the mean loss that each step keeps
_TOO_MUCH = 4.0  # at this multiple of the least mean the training diverges


@dataclass(frozen=True)
class RateSearch:
    """The result of Trainer.find_lr."""

    lrs: np.ndarray = field(repr=False)  # the learning rate of each step
    losses: np.ndarray = field(repr=False)  # the loss of the batch before the step
    smoothed: np.ndarray = field(repr=False)  # their exponential mean, corrected as Adam's
    suggestion: float  # a tenth of the rate at which the mean is least, as fastai's lr_find suggests

    def plot(self, path=None):
        """Writes an image of the loss over the learning rate, with the suggestion. The suffix of the path gives the
        format; without a path it gives the image to a notebook."""

        def draw(figure):
            axes = figure.add_subplot(xscale="log", xlabel="learning rate", ylabel="loss")
            axes.plot(self.lrs, self.losses, color="C0", alpha=0.3)
            axes.plot(self.lrs, self.smoothed, color="C0")
            axes.axvline(self.suggestion, color="C1", label=f"suggestion {self.suggestion:.2g}")
            axes.set_ylim(top=1.2 * max(self.smoothed[: int(np.argmin(self.smoothed)) + 1]))
            axes.grid(alpha=0.3)
            axes.legend()

        return save_figure((6, 4), draw, path, "search.plot")


def search(batches, train, lowest: float, highest: float, steps: int) -> RateSearch:
    """Runs the test. batches: a function of an epoch that returns its batches. train(batch, lr): makes a step, and
    returns the loss."""
    growth = (highest / lowest) ** (1 / (steps - 1))
    lrs, losses, smoothed, total, least = [], [], [], 0.0, math.inf
    for batch in islice((batch for epoch in count() for batch in batches(epoch)), steps):
        lr = lowest * growth ** len(lrs)
        loss = train(batch, lr)
        if not math.isfinite(loss):
            break
        total = _KEPT * total + (1 - _KEPT) * loss
        mean = total / (1 - _KEPT ** (len(losses) + 1))
        lrs, losses, smoothed = [*lrs, lr], [*losses, loss], [*smoothed, mean]
        least = min(least, mean)
        if mean > least + (_TOO_MUCH - 1) * abs(least):
            break
    if len(lrs) < 3:
        raise mistake("find_lr", f"Expected a finite loss with the lowest rate, {lowest}, for 3 steps, got {len(lrs)}")
    return RateSearch(np.array(lrs), np.array(losses), np.array(smoothed), lrs[int(np.argmin(smoothed))] / 10)
