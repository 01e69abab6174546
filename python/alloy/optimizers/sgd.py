from alloy.ops import equal, where
from alloy.optimizers.optimizer import Optimizer, Rate, sgd_step


class SGD(Optimizer):
    """Stochastic gradient descent (torch.optim.SGD). With g = gradient + weight_decay * parameter:

    parameter -= lr * g

    With a momentum, where b is g in the first step:

    b = momentum * b + (1 - dampening) * g
    parameter -= lr * b, or with nesterov lr * (g + momentum * b) (Sutskever et al., 2013)

    Slot: momentum, the b. ValueError: nesterov without a momentum, or with dampening."""

    bounds = {"momentum": (0, None), "weight_decay": (0, None)}

    def __init__(self, lr: Rate = 1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, **options):
        super().__init__(lr, **options)
        self.momentum = momentum
        self.dampening = dampening
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        if nesterov and (momentum == 0 or dampening != 0):
            raise self.mistake("Expected a momentum and no dampening with nesterov", momentum, dampening)

    def update(self, parameter, gradient, slots, step):
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        if self.momentum:
            moved = slots["momentum"] * self.momentum + gradient * (1 - self.dampening)
            if self.dampening:
                moved = where(equal(step, 0), gradient, moved)
            slots["momentum"] = moved
            gradient = gradient + moved * self.momentum if self.nesterov else moved
        return sgd_step(self.rate, parameter, gradient)
