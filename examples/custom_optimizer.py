"""An optimizer of your own: AdaBelief (Zhuang et al., 2020), in tensors, compared with Adam.

Like Alloy's optimizers, it runs in the step's graph, and checkpoints save its slots. Schedules, groups,
clipping, accumulation and loss scaling come from al.Optimizer.

python custom_optimizer.py --epochs 20 --lr 3e-3"""

import argparse
import math

import alloy as al


class AdaBelief(al.Optimizer):
    """With g the gradient, in step t = 1, 2, ...:

    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + (1 - beta2) * (g - m)^2 + eps
    parameter -= lr * m / (1 - beta1^t) / (sqrt(s / (1 - beta2^t)) + eps)"""

    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, **options):
        super().__init__(lr, **options)
        self.betas = betas
        self.eps = eps

    def update(self, parameter, gradient, slots, step):
        # slots["m"] is a tensor, zeros before the first step. Assigning keeps a tensor for the next step.
        beta1, beta2 = self.betas
        slots["m"] = m = slots["m"] * beta1 + gradient * (1 - beta1)
        slots["s"] = s = slots["s"] * beta2 + al.square(gradient - m) * (1 - beta2) + self.eps
        t = al.cast(step, "float32") + 1.0
        correction1, correction2 = (-al.expm1(t * math.log(beta)) for beta in self.betas)  # 1 - beta^t
        return parameter - self.rate * m / correction1 / (al.sqrt(s / correction2) + self.eps)


def network():
    return al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(64, activation="relu"), al.nn.Dense(10))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    options = parser.parse_args(arguments)

    training, test = al.data.split(*al.data.digits())
    groups = {"*/bias": {"lr": 2 * options.lr}}  # works with every optimizer
    for optimizer in (al.Adam(options.lr), AdaBelief(options.lr, groups=groups, clip_norm=1.0)):
        trainer = al.Trainer(network(), "softmax_cross_entropy", optimizer, metrics=["accuracy"])
        trainer.fit(training, options.epochs, options.batch_size, progress=False)
        found = trainer.evaluate(test)
        print(f"{type(optimizer).__name__:10} test loss {found['loss']:.3f}, accuracy {found['accuracy']:.3f}")


if __name__ == "__main__":
    main()
