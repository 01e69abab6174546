import numpy as np

from alloy.ops import cast, sqrt, square
from alloy.optimizers.optimizer import Optimizer, Rate


class Adagrad(Optimizer):
    """Adagrad (torch.optim.Adagrad; Duchi et al., 2011). With g = gradient + weight_decay * parameter, in step t = 0,
    1, ...:

    s = s + g^2, at first initial_accumulator_value
    parameter -= lr / (1 + t * lr_decay) * g / (sqrt(s) + eps)

    Slot: square_sum, the s."""

    bounds = dict.fromkeys(("lr_decay", "weight_decay", "initial_accumulator_value", "eps"), (0, None))

    def __init__(
        self, lr: Rate = 1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, **options
    ):
        super().__init__(lr, **options)
        self.lr_decay = lr_decay
        self.weight_decay = weight_decay
        self.initial_accumulator_value = initial_accumulator_value
        self.eps = eps

    def update(self, parameter, gradient, slots, step):
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        # Unlike a tensor's in general, a parameter's shape is known.
        start = np.full(parameter.shape, self.initial_accumulator_value, np.float32)  # pyright: ignore
        slots["square_sum"] = s = slots.setdefault("square_sum", start) + square(gradient)
        rate = self.rate
        if self.lr_decay:
            rate = rate / (cast(step, "float32") * self.lr_decay + 1.0)
        return parameter - gradient / (sqrt(s) + self.eps) * rate
