from alloy.ops import maximum, sqrt, square
from alloy.optimizers.optimizer import Optimizer, Rate


class RMSprop(Optimizer):
    """RMSprop (torch.optim.RMSprop; Hinton, lecture 6e, 2012). With g = gradient + weight_decay * parameter:

    v = alpha * v + (1 - alpha) * g^2
    parameter -= lr * g / (sqrt(v) + eps)

    centered: v minus the square of the running mean of g replaces v under the root (Graves, 2013). With a momentum b =
    momentum * b + g / (sqrt(v) + eps), and parameter -= lr * b.

    Slots: square_mean, the v; gradient_mean; momentum."""

    bounds = {"alpha": (0, 1), "eps": (0, None), "weight_decay": (0, None), "momentum": (0, None)}

    def __init__(
        self, lr: Rate = 1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, **options
    ):
        super().__init__(lr, **options)
        self.alpha = alpha
        self.eps = eps
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.centered = centered

    def update(self, parameter, gradient, slots, step):
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        slots["square_mean"] = v = slots["square_mean"] * self.alpha + square(gradient) * (1 - self.alpha)
        if self.centered:
            mean = slots["gradient_mean"]
            slots["gradient_mean"] = mean = mean + (gradient - mean) * (1 - self.alpha)
            v = maximum(v - square(mean), 0.0)  # rounding could make it negative
        move = gradient / (sqrt(v) + self.eps)
        if self.momentum:
            slots["momentum"] = move = slots["momentum"] * self.momentum + move
        return parameter - move * self.rate
