"""Learning rates that follow the step: functions of the step's number, for an optimizer."""
from alloy._core import Tensor
from alloy.table_ops import maximum, minimum


def linear(peak: float, steps: int, warmup: int = 0):
    """A rate that rises by equal amounts to the peak within the first `warmup` steps and falls from there to 0
    after `steps` steps (Goyal et al., 2017, warm up so)."""
    def rate(step: Tensor) -> Tensor:
        falling = maximum((steps - step) * (peak / (steps - warmup)), 0.0)
        return minimum((step + 1.0) * (peak / warmup), falling) if warmup else falling
    return rate
