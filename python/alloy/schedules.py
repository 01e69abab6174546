"""Learning rates that depend on the step. Each function returns a schedule for an optimizer's lr: a function of the
step's number, a float32 tensor that is 0 in the first step. Your own schedule is any function of that tensor that
returns a tensor of one element.

Formulas are those of torch.optim.lr_scheduler, in closed form; after the last step of a schedule the rate stays. Rates
are float32, within 1e-5 of the float64 result."""

import math
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING

from alloy._core import Tensor
from alloy.engine.arrays import as_count, as_number, require_all
from alloy.messages.location import mistake
from alloy.messages.names import of_module
from alloy.ops import clamp, exp, floor, minimum, power, sin, square, where
from alloy.ops.apply import as_sequence

__all__ = ["constant", "cosine", "exponential", "one_cycle", "piecewise", "polynomial", "step", "warmup"]

Schedule = Callable[[Tensor], Tensor]


def constant(lr: float) -> Schedule:
    """Returns lr in every step."""
    _require_rates("constant", lr)
    return lambda step: step * 0.0 + lr


def step(lr: float, step_size: int, gamma: float = 0.1) -> Schedule:
    """Multiplies lr by gamma after every step_size steps: lr * gamma^(step // step_size) (StepLR)."""
    _require_rates("step", lr)
    size, log_gamma = as_count("step", "a step size", step_size), _logarithm("step", gamma)
    # Half a step keeps the quotient away from the integers, where rounding could miss one.
    return lambda step: exp(floor((step + 0.5) / size) * log_gamma) * lr


def exponential(lr: float, gamma: float) -> Schedule:
    """Multiplies lr by gamma after every step: lr * gamma^step (ExponentialLR)."""
    _require_rates("exponential", lr)
    log_gamma = _logarithm("exponential", gamma)
    return lambda step: exp(step * log_gamma) * lr


def polynomial(lr: float, steps: int, power: float = 1.0, end: float = 0.0) -> Schedule:
    """Moves from lr to end within `steps` steps: end + (lr - end) * (1 - step / steps)^power (PolynomialLR). A power of
    1 is a straight line."""
    _require_rates("polynomial", lr, end, power)
    steps = as_count("polynomial", "a number of steps", steps)
    return lambda step: _power((steps - minimum(step, float(steps))) / steps, power) * (lr - end) + end


def cosine(lr: float, steps: int, end: float = 0.0) -> Schedule:
    """Moves from lr to end within `steps` steps: end + (lr - end) * (1 + cos(pi * step / steps)) / 2
    (CosineAnnealingLR; Loshchilov and Hutter, 2017)."""
    _require_rates("cosine", lr, end)
    steps = as_count("cosine", "a number of steps", steps)
    return lambda step: _half_wave(1 - minimum(step, float(steps)) / steps, end, lr)


def warmup(then: Schedule | float, steps: int, start_factor: float = 1 / 3) -> Schedule:
    """Multiplies the first rate of `then`, a schedule or a number, by a factor that rises in a straight line from
    start_factor to 1 within `steps` steps; then follows `then` from its first step (LinearLR before another in
    SequentialLR)."""
    _require_rates("warmup", start_factor)
    then, steps = as_schedule("warmup", then), as_count("warmup", "a number of steps", steps)

    def rate(step):
        factor = minimum(step, float(steps)) / steps * (1 - start_factor) + start_factor
        return then(clamp(step - steps, 0.0, math.inf)) * factor

    return rate


def one_cycle(
    max_lr: float, steps: int, *, pct_start: float = 0.3, div_factor: float = 25.0, final_div_factor: float = 1e4
) -> Schedule:
    """Rises from max_lr / div_factor to max_lr in the first pct_start of the steps, and falls to the first rate divided
    by final_div_factor in the last one, both along a cosine (OneCycleLR, which changes the momentum, too; Smith and
    Topin, 2018)."""
    steps = as_count("one_cycle", "a number of steps", steps)
    _require_rates("one_cycle", max_lr, div_factor, final_div_factor, pct_start)
    if 0 in (div_factor, final_div_factor):
        raise mistake("one_cycle", "Expected numbers above 0 to divide by, got 0")
    top = pct_start * steps - 1
    if not 0 < top < steps - 1:
        raise mistake("one_cycle", f"Expected a pct_start that leaves steps on both sides of the top, got {pct_start}")
    first = max_lr / div_factor

    def rate(step):
        up = _half_wave(minimum(step / top, 1.0), first, max_lr)
        down = _half_wave(1 - clamp((step - top) / (steps - 1 - top), 0.0, 1.0), first / final_div_factor, max_lr)
        return where(step > top, down, up)

    return rate


def piecewise(boundaries, values) -> Schedule:
    """values[0] in the steps below boundaries[0], values[1] from there to below boundaries[1], and so on: one value
    more than boundaries (MultiStepLR with rates instead of factors)."""
    boundaries, values = as_sequence("piecewise", "boundaries", boundaries), as_sequence("piecewise", "values", values)
    _require_rates("piecewise", *values)
    _require_rates("piecewise", *boundaries)
    if len(values) != len(boundaries) + 1 or sorted(set(boundaries)) != boundaries:
        raise mistake(
            "piecewise",
            f"Expected boundaries in ascending order and one value more than there are, got {boundaries} and {values}",
        )

    def rate(step):
        found = step * 0.0 + values[0]
        for boundary, value in zip(boundaries, values[1:]):
            found = where(step >= boundary, value, found)
        return found

    return rate


def as_schedule(op: str, given: Schedule | float) -> Schedule:
    """Returns a schedule as it is, and makes one of a number."""
    if callable(given):
        return given
    require_all(op, "a number or a function of the step", Real, [given])
    return constant(given)


def _half_wave(x, low, high):
    """Rises from low at x = 0 to high at 1. Written as a square it keeps all its digits near low, too."""
    return square(sin(x * (math.pi / 2))) * (high - low) + low


def _power(x, exponent):
    return x if exponent == 1 else power(x, exponent)


def _logarithm(op, gamma):
    _require_rates(op, gamma)
    if gamma == 0:
        raise mistake(op, "Expected a gamma above 0, got 0")
    return math.log(gamma)


def _require_rates(op, *rates):
    for rate in rates:
        as_number(op, "numbers", rate, "of 0 or more that float32 can hold")


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
