"""Examples of optimizers, one for each name."""

import numpy as np

import alloy as al


def after(optimizer, steps=1):  # the parameter 1, after steps with the gradient 2
    g = al.Graph()
    w = g.variable([1.0], name="w")
    step = g.compile(updates=optimizer.minimize(al.sum(2 * w)))
    for _ in range(steps):
        step()
    return w.numpy()


# al.SGD
assert np.allclose(after(al.SGD(0.1)), 1 - 0.1 * 2)
assert np.allclose(after(al.SGD(0.1, momentum=0.5), steps=2), 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 2))

# al.Adam
assert np.allclose(after(al.Adam(0.1), steps=3), 1 - 3 * 0.1)  # of equal gradients, each step has the length lr

# al.AdamW
assert np.allclose(after(al.AdamW(0.1, weight_decay=0.5)), 1 - 0.1 * 0.5 * 1 - 0.1)

# al.RMSprop
assert np.allclose(after(al.RMSprop(0.1, alpha=0.75)), 1 - 0.1 * 2 / np.sqrt(0.25 * 2**2))

# al.Adagrad
assert np.allclose(after(al.Adagrad(0.1), steps=2), 1 - 0.1 * 2 / np.sqrt(4) - 0.1 * 2 / np.sqrt(4 + 4))

# al.Lion
assert np.allclose(after(al.Lion(0.1), steps=3), 1 - 3 * 0.1)  # lr times a sign


# al.Optimizer
class Signs(al.Optimizer):
    def update(self, parameter, gradient, slots, step):
        return parameter - self.rate * al.sign(gradient)


assert np.allclose(after(Signs(0.1)), 0.9)
assert np.allclose(after(al.SGD(0.1, clip_norm=0.5)), 1 - 0.1 * 0.5)

# al.LossScale
optimizer = al.SGD(0.1, loss_scale=al.LossScale(1024))  # for Trainer(..., dtype="float16")
assert np.allclose(after(optimizer), 1 - 0.1 * 2)
