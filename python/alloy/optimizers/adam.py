from alloy.ops import maximum, sqrt
from alloy.optimizers.optimizer import Optimizer, Rate, adam_step


class Adam(Optimizer):
    """Adam (torch.optim.Adam; Kingma and Ba, 2015). With g = gradient + weight_decay * parameter, in step t = 1, 2,
    ...:

    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g^2
    parameter -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    amsgrad: the last line uses the greatest v so far (Reddi et al., 2018).

    Slots: first_moment and second_moment, m and v divided by their corrections 1 - beta^t; with amsgrad
    greatest_second_moment, the undivided v."""

    bounds = {"betas": (0, 1), "eps": (0, None), "weight_decay": (0, None)}
    decoupled = False  # True: the decay is no part of the gradient

    def __init__(self, lr: Rate = 1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, **options):
        super().__init__(lr, **options)
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.amsgrad = amsgrad

    def begin(self, state, step):
        """Keeps the moments divided by their correction, 1 - beta^t: the newest gradient then enters with the weight (1
        - beta) / (1 - beta^t), and beta becomes the rest to 1. So no step depends on beta^t, which drifts away where
        beta is a float32 near 1. The correction advances by (1 - beta) of its distance to 1: exact to rounding."""
        self._corrections, self._kept = [], []
        for name, beta in zip(("correction1", "correction2"), self.betas):
            before = state.setdefault(name, 0.0)
            state[name] = correction = before + (1.0 - before) * (1 - beta)
            self._corrections.append(correction)
            self._kept.append(1.0 - (1 - beta) / correction)

    def update(self, parameter, gradient, slots, step):
        if self.weight_decay and self.decoupled:
            parameter = parameter - parameter * (self.rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        m, v = slots["first_moment"], slots["second_moment"]
        moved, m, v = adam_step(self.rate, *self._kept, self.eps, parameter, m, v, gradient)
        slots["first_moment"], slots["second_moment"] = m, v
        if not self.amsgrad:
            return moved
        correction = self._corrections[1]
        slots["greatest_second_moment"] = greatest = maximum(slots["greatest_second_moment"], v * correction)
        return parameter - m * self.rate / (sqrt(greatest / correction) + self.eps)


class AdamW(Adam):
    """Adam with decoupled weight decay (torch.optim.AdamW; Loshchilov and Hutter, 2019):

    parameter -= lr * weight_decay * parameter, then Adam's step"""

    decoupled = True

    def __init__(self, lr: Rate = 1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, amsgrad=False, **options):
        super().__init__(lr, betas, eps, weight_decay, amsgrad, **options)
