"""Two short trainings in float64 NumPy, and the golden file of their losses, which a report from a Mac is held to.

    python tests/goldens/training_reference.py

writes training.json and prints how far losses move when every value that a training is given is off by 2^-20 of itself,
8 units in the last place of float32: what functions in float32 that round carelessly, and sums in another order, can
do.

linear: 8 features, 64 examples, mean squared error, 20 steps of SGD of rate 0.1 from weights that are zero. digits: the
network of `alloy train` on the first 640 of scikit-learn's digits, 20 steps of 32, Adam of rate 0.002. Values come from
the generator in resnet50_reference.py: stream 4000 and the following; weights by Glorot and Bengio, biases 0."""

import gzip
import importlib.util
import json
import pathlib
import sys

import numpy as np

from resnet50_reference import Network, images, labels, uniform

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
import reference as ref  # noqa: E402  layers and optimizers by their definitions

GOLDEN = pathlib.Path(__file__).with_name("training.json")
STEPS, BATCH, STREAM = 20, 32, 4000
LINEAR_RATE, DIGITS_RATE = 0.1, 2e-3
SHAPES = (
    (3, 3, 1, 16),
    (16,),
    (3, 3, 16, 32),
    (32,),
    (4 * 4 * 32, 64),
    (64,),
    (64, 10),
    (10,),
)  # of the digits' network


def points():
    """(x, y) of the linear regression."""
    x = uniform(STREAM, (64, 8), 1)
    return x, (x @ np.arange(-3, 5)[:, None] + 0.5).astype(np.float32).astype(np.float64)


def digit_batches():
    """(images, classes) of the steps: (20, 32, 8, 8, 1) and (20, 32)."""
    package = importlib.util.find_spec("sklearn").submodule_search_locations[0]
    with gzip.open(pathlib.Path(package, "datasets", "data", "digits.csv.gz"), "rt") as file:
        rows = np.loadtxt(file, delimiter=",", max_rows=STEPS * BATCH)
    return rows[:, :-1].reshape(STEPS, BATCH, 8, 8, 1) / 16, rows[:, -1].astype(np.int32).reshape(STEPS, BATCH)


def parameters():
    """What the digits' network starts from, in the order of its layers."""
    values = []
    for k, shape in enumerate(SHAPES):
        fans = np.prod(shape[:-1]) + np.prod(shape[:-2]) * shape[-1]
        values.append(uniform(STREAM + 1 + k, shape, np.sqrt(6 / fans)) if len(shape) > 1 else np.zeros(shape))
    return values


def linear_losses(x, y):
    w, b, losses = np.zeros((8, 1)), np.zeros(1), []
    for _ in range(STEPS):
        error = x @ w + b - y
        losses.append((error**2).mean())
        w, b = w - LINEAR_RATE * 2 * x.T @ error / len(x), b - LINEAR_RATE * 2 * error.mean(0)
    return losses


def digits_losses(values):
    v = iter([value.copy() for value in values])
    layers = [
        ref.Conv2D(next(v), next(v)),
        ref.ReLU(),
        ref.Conv2D(next(v), next(v)),
        ref.ReLU(),
        ref.MaxPool2D(),
        ref.Flatten(),
        ref.Dense(next(v), next(v)),
        ref.ReLU(),
        ref.Dense(next(v), next(v)),
    ]
    trained, update, losses = (
        [parameter for layer in layers for parameter in layer.parameters],
        ref.adam(DIGITS_RATE),
        [],
    )
    for batch, classes in zip(*digit_batches()):
        loss, gradients = ref.loss_and_gradients(layers, batch, classes)
        update(trained, gradients)
        losses.append(float(loss))
    return losses


def goldens():
    return {"linear": linear_losses(*points()), "digits": digits_losses(parameters())}


def resnet50_losses(values):
    """Before and after one step of the smooth form."""
    network = Network("smooth")
    for variable, value in zip(network.variables, values, strict=True):
        variable.value = value
    losses = [network.loss(images(), labels())]
    network.backward()
    network.descend()
    return [*losses, network.loss(images(), labels())]


def sensitivity(losses, values):
    """The largest relative change of a loss in five tries."""
    rng, right, worst = np.random.default_rng(0), np.array(losses(values)), 0
    for _ in range(5):
        moved = [value * (1 + 2.0**-20 * rng.choice([-1, 1], value.shape)) for value in values]
        worst = max(worst, np.abs(losses(moved) / right - 1).max())
    return worst


if __name__ == "__main__":
    GOLDEN.write_text(
        json.dumps({name: [float(f"{loss:.9g}") for loss in losses] for name, losses in goldens().items()}, indent=0)
        + "\n"
    )
    print(f"linear: {sensitivity(lambda values: linear_losses(*values), points()):.1g}")
    print(f"digits: {sensitivity(digits_losses, parameters()):.1g}")
    print(
        f"ResNet-50: {sensitivity(resnet50_losses, [variable.value for variable in Network('smooth').variables]):.1g}"
    )
