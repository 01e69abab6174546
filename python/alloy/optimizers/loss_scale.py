from alloy.engine.arrays import as_count, as_number
from alloy.ops import greater_equal, where


class LossScale:
    """A factor that keeps the gradients of float16 activations above the least float16, found while training: it
    multiplies the loss, and divides the gradients. If a gradient is not finite, the step is skipped and the factor is
    multiplied by backoff_factor. After growth_interval finite steps in a row it is multiplied by growth_factor
    (torch.amp.GradScaler; Micikevicius et al., 2018). TypeError or ValueError: a factor is not a number above 0."""

    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        bounds = "above 0 that float32 can hold"
        self.init_scale = as_number(self, "init_scale", init_scale, bounds)
        self.growth_factor = as_number(self, "growth_factor", growth_factor, bounds)
        self.backoff_factor = as_number(self, "backoff_factor", backoff_factor, bounds)
        self.growth_interval = as_count(self, "growth_interval", growth_interval)

    def scale(self, state):
        return state.setdefault("loss_scale", self.init_scale)

    def follow(self, state, finite, due=None):
        """Updates the scale after a step whose gradients are `finite`; a step that is not due leaves it (None: it is
        due)."""
        scale, before = self.scale(state), state.setdefault("loss_scale_growth", 0)
        good = where(finite, before + 1, 0)
        grown = greater_equal(good, self.growth_interval)
        following = where(finite, where(grown, scale * self.growth_factor, scale), scale * self.backoff_factor)
        good = where(grown, 0, good)
        state["loss_scale"] = following if due is None else where(due, following, scale)
        state["loss_scale_growth"] = good if due is None else where(due, good, before)
