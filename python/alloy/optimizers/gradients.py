"""Accumulates gradients, clips them and finds out whether they are finite, before they move parameters."""

import functools
import operator
from dataclasses import dataclass

from alloy._core import Tensor, Update
from alloy.graph.state import State
from alloy.ops import all, cast, clamp, equal, is_finite, logical_and, logical_not, minimum, sqrt, square, sum, where


@dataclass
class Flags:
    """bool tensors of one element; None stands for always true."""

    due: Tensor | None = None  # true in the last of the steps whose gradients are accumulated
    finite: Tensor | None = None  # true if all gradients are finite

    @property
    def take(self) -> Tensor | None:
        """True if parameters and slots change."""
        if self.due is None or self.finite is None:
            return self.finite if self.due is None else self.due
        return logical_and(self.due, self.finite)


def processed(optimizer, gradients, slots: list[State], state: State) -> tuple[list[Tensor], Flags, list[Update]]:
    """Returns the gradients that move the parameters, the flags of this step, and the updates that happen in any case.

    slots: the state of each parameter. state: the state of the optimizer."""
    flags, updates = Flags(), []
    if optimizer.accumulate_steps > 1:
        gradients, flags.due = _accumulated(gradients, slots, state, optimizer.accumulate_steps)
        updates = [update for own in slots for update in own.updates()]
    if optimizer.skip_nonfinite or optimizer.loss_scale is not None:
        flags.finite = functools.reduce(logical_and, [all(is_finite(gradient)) for gradient in gradients])
    if optimizer.clip_value is not None:
        bound = float(optimizer.clip_value)
        gradients = [clamp(gradient, -bound, bound) for gradient in gradients]
    if optimizer.clip_norm is not None:
        norm = sqrt(functools.reduce(operator.add, [sum(square(gradient)) for gradient in gradients]))
        factor = minimum(optimizer.clip_norm / (norm + 1e-6), 1.0)
        gradients = [gradient * factor for gradient in gradients]
    return gradients, flags, updates


def count(optimizer, state: State, flags: Flags) -> None:
    """Counts the step, and updates the loss scale."""
    if "step" in state:
        step, taken = state["step"], flags.take
        state["step"] = step + 1 if taken is None else step + cast(taken, "int32")
    if flags.finite is None:
        return
    missed = logical_not(flags.finite)
    if flags.due is not None:
        missed = logical_and(flags.due, missed)
    state["skipped"] = state.setdefault("skipped", 0) + cast(missed, "int32")
    if optimizer.loss_scale is not None:
        optimizer.loss_scale.follow(state, flags.finite, flags.due)


def _accumulated(gradients, slots, state, steps):
    """Returns the mean gradients of the last `steps` steps, and whether this step is the last of them."""
    place = state.setdefault("accumulated_steps", 0) + 1
    due = equal(place, steps)
    state["accumulated_steps"] = where(due, 0, place)
    sums = [own["accumulated"] + gradient * (1 / steps) for gradient, own in zip(gradients, slots)]
    for total, own in zip(sums, slots):
        own["accumulated"] = where(due, 0.0, total)
    return sums, due
