from alloy.ops import sign
from alloy.optimizers.optimizer import Optimizer, Rate


class Lion(Optimizer):
    """Lion (Chen et al., 2023, algorithm 2):

    parameter -= lr * (sign(beta1 * m + (1 - beta1) * gradient) + weight_decay * parameter)
    m = beta2 * m + (1 - beta2) * gradient

    Slot: momentum, the m."""

    bounds = {"betas": (0, 1), "weight_decay": (0, None)}

    def __init__(self, lr: Rate = 1e-4, betas=(0.9, 0.99), weight_decay=0.0, **options):
        super().__init__(lr, **options)
        self.betas = betas
        self.weight_decay = weight_decay

    def update(self, parameter, gradient, slots, step):
        beta1, beta2 = self.betas
        m = slots["momentum"]
        slots["momentum"] = m * beta2 + gradient * (1 - beta2)
        direction = sign(m * beta1 + gradient * (1 - beta1))
        if self.weight_decay:
            direction = direction + parameter * self.weight_decay
        return parameter - direction * self.rate
