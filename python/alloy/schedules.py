"""Learning rates that follow the step: functions of the step's number, for an optimizer."""

from collections.abc import Callable

from alloy._core import Tensor
from alloy.graph.location import mistake
from alloy.ops import maximum, minimum


def linear(peak: float, steps: int, warmup: int = 0) -> Callable[[Tensor], Tensor]:
    """A rate that rises by equal amounts to the peak within the first `warmup` steps, and falls by equal
    amounts to 0 after `steps` steps (the rise: Goyal et al., 2017)."""
    if not 0 <= warmup < steps:
        raise mistake("linear", f"Expected fewer warm-up steps than the {steps} steps, got {warmup}")

    def rate(step: Tensor) -> Tensor:
        falling = maximum((steps - step) * (peak / (steps - warmup)), 0.0)
        return minimum((step + 1.0) * (peak / warmup), falling) if warmup else falling

    return rate
