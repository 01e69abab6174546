"""PyTorch's optimizers and schedulers over 200 recorded gradients, in float64, which
tests/python/training/test_trajectories.py holds al's against.

    python tests/goldens/optimizers_reference.py     writes optimizers.npz, with PyTorch, which no test needs

Of every case the parameters after each tenth step, of every scheduler the rate of each step."""

import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("optimizers.npz")
STEPS = 200
SHAPES = (4, 3), (5,), ()
DECAY, BETAS = {"weight_decay": 0.05}, [(0.9, 0.9999), (0.9, 0.99999), (0.5, 0.9), (0.0, 0.0)]
# By name: the optimizer's class, its options, as PyTorch has them and as Alloy has them; what is done to gradients.
CASES = {
    "sgd": ("SGD", {"lr": 0.05}),
    "sgd defaults": ("SGD", {}),
    "sgd momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "sgd dampening": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    "sgd nesterov decay": ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True, **DECAY}),
    "adam defaults": ("Adam", {}),
    "adam eps decay": ("Adam", {"lr": 0.01, "eps": 1e-3, **DECAY}),
    "adam amsgrad": ("Adam", {"lr": 0.01, "amsgrad": True}),
    **{f"adam betas {b}": ("Adam", {"lr": 0.01, "betas": b}) for b in BETAS},
    "adam amsgrad 0.9999": ("Adam", {"lr": 0.01, "amsgrad": True, "betas": (0.9, 0.9999)}),
    "adamw defaults": ("AdamW", {}),
    "adamw": ("AdamW", {"lr": 0.02, "weight_decay": 0.3}),
    "adamw amsgrad": ("AdamW", {"lr": 0.02, "amsgrad": True, "betas": (0.8, 0.95)}),
    "rmsprop defaults": ("RMSprop", {}),
    "rmsprop momentum decay": ("RMSprop", {"lr": 0.01, "alpha": 0.9, "momentum": 0.7, **DECAY}),
    "rmsprop centered": ("RMSprop", {"lr": 0.01, "centered": True, "eps": 1e-4}),
    "rmsprop centered momentum": ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5, "eps": 1e-2}),
    "adagrad defaults": ("Adagrad", {}),
    "adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.02, "initial_accumulator_value": 0.3, "eps": 1e-3, **DECAY}),
}
PROCESSING = {
    "clip norm": ("SGD", {"lr": 0.05, "momentum": 0.9}, {"clip_norm": 1.5}),
    "clip value": ("Adam", {"lr": 0.01}, {"clip_value": 0.25}),
    "accumulate": ("AdamW", {"lr": 0.01}, {"accumulate_steps": 4}),
    "accumulate and clip": ("SGD", {"lr": 0.05, "momentum": 0.9}, {"accumulate_steps": 5, "clip_norm": 0.5}),
    "ema": ("SGD", {"lr": 0.05}, {"ema_decay": 0.95}),
}
# By name: the scheduler and its options, the rate that it begins with.
SCHEDULES = {
    "step": ("StepLR", {"step_size": 30, "gamma": 0.3}, 0.1),
    "exponential": ("ExponentialLR", {"gamma": 0.97}, 0.1),
    "polynomial": ("PolynomialLR", {"total_iters": 150, "power": 2.5}, 0.1),
    "polynomial straight": ("PolynomialLR", {"total_iters": 200, "power": 1.0}, 0.1),
    "cosine": ("CosineAnnealingLR", {"T_max": 200, "eta_min": 0.001}, 0.1),
    "cosine to 0": ("CosineAnnealingLR", {"T_max": 200}, 0.1),
    "one cycle": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 200, "cycle_momentum": False}, 0.1),
    "one cycle early": (
        "OneCycleLR",
        {"max_lr": 0.5, "total_steps": 200, "pct_start": 0.1, "div_factor": 10, "final_div_factor": 100,
         "cycle_momentum": False},
        0.1,
    ),
    "piecewise": ("MultiStepLR", {"milestones": [20, 90, 150], "gamma": 0.1}, 0.1),
    "warm-up": ("LinearLR", {"start_factor": 0.25, "total_iters": 40}, 0.1),
    "warm-up then cosine": ("SequentialLR", {"warmup": 40, "then": 160}, 0.1),
}  # fmt: skip


def recorded():
    """The parameters at first, and the gradients of all steps: of different sizes, of both signs, zero now and then."""
    random = np.random.RandomState(0)
    parameters = [random.normal(size=shape).astype(np.float32) for shape in SHAPES]
    gradients = []
    for step in range(STEPS):
        scale = 10.0 ** random.uniform(-2, 0.5)
        gradients.append([(random.normal(0.2, 1, shape) * scale).astype(np.float32) for shape in SHAPES])
        if step % 17 == 5:
            gradients[-1][1] *= 0
    return parameters, gradients


def lion(parameters, gradients, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
    """Lion in float64 (Chen et al., 2023, algorithm 2): the parameters after each step."""
    parameters = [value.astype(np.float64) for value in parameters]
    moments = [np.zeros_like(value) for value in parameters]
    for step in gradients:
        for i, gradient in enumerate(step):
            direction = np.sign(betas[0] * moments[i] + (1 - betas[0]) * gradient)
            parameters[i] = parameters[i] - lr * (direction + weight_decay * parameters[i])
            moments[i] = betas[1] * moments[i] + (1 - betas[1]) * gradient
        yield [value.copy() for value in parameters]


def trajectory(kind, options, processing):
    import torch

    start, gradients = recorded()
    parameters = [torch.nn.Parameter(torch.from_numpy(np.array(value, np.float64))) for value in start]
    optimizer, seen, averages = getattr(torch.optim, kind)(parameters, **options), [], None
    every = processing.get("accumulate_steps", 1)
    for step, found in enumerate(gradients):
        for parameter, gradient in zip(parameters, found, strict=True):
            gradient = torch.from_numpy(np.array(gradient, np.float64)) / every
            parameter.grad = gradient if step % every == 0 else parameter.grad + gradient
        if (step + 1) % every == 0:
            if "clip_value" in processing:
                torch.nn.utils.clip_grad_value_(parameters, processing["clip_value"])
            if "clip_norm" in processing:
                torch.nn.utils.clip_grad_norm_(parameters, processing["clip_norm"])
            optimizer.step()
        values = [parameter.detach().numpy().copy() for parameter in parameters]
        if "ema_decay" in processing:
            decay = processing["ema_decay"]
            averages = values if averages is None else [
                torch.lerp(torch.from_numpy(np.array(a)), torch.from_numpy(np.array(v)), 1 - decay).numpy()
                for a, v in zip(averages, values)
            ]  # fmt: skip
            values = averages
        if step % 10 == 9:
            seen.append(np.concatenate([np.ravel(value) for value in values]))
    return np.float32(seen)


def rates(kind, options, lr):
    import torch

    scheduler = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    if kind == "SequentialLR":
        made = scheduler.SequentialLR(
            optimizer,
            [
                scheduler.LinearLR(optimizer, total_iters=options["warmup"]),
                scheduler.CosineAnnealingLR(optimizer, options["then"]),
            ],
            [options["warmup"]],
        )
    else:
        made = getattr(scheduler, kind)(optimizer, **options)
    found = []
    for _ in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        made.step()
    return np.float64(found)


if __name__ == "__main__":
    cases = {name: trajectory(kind, options, {}) for name, (kind, options) in CASES.items()}
    cases |= {name: trajectory(*case) for name, case in PROCESSING.items()}
    np.savez_compressed(GOLDEN, **cases, **{f"rates {name}": rates(*case) for name, case in SCHEDULES.items()})
