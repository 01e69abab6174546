"""50 steps of training against a float64 implementation in NumPy that starts from the same values and sees
the same batches."""

import numpy as np
import pytest

import alloy as al
import reference as ref

MLP = (
    lambda: al.nn.Sequential(al.nn.Dense(32), al.nn.ReLU(), al.nn.Dense(16), al.nn.ReLU(), al.nn.Dense(5), seed=1),
    [ref.Dense, ref.ReLU, ref.Dense, ref.ReLU, ref.Dense],
    (12,),
)
CNN = (
    lambda: al.nn.Sequential(
        al.nn.Conv2D(6, 3, padding="same"),
        al.nn.ReLU(),
        al.nn.MaxPool2D(),
        al.nn.Conv2D(8, (3, 5), padding="same"),
        al.nn.ReLU(),
        al.nn.Flatten(),
        al.nn.Dense(5),
        seed=1,
    ),
    [ref.Conv2D, ref.ReLU, ref.MaxPool2D, ref.Conv2D, ref.ReLU, ref.Flatten, ref.Dense],
    (6, 8, 2),
)


class Tanh(al.nn.Layer):
    def forward(self, x, training):
        return al.tanh(x)


# Normalisation makes the path of a relu network chaotic: masks flip at rounding errors. And it stands behind
# the activation, because before it a bias would have no gradient but rounding.
NORMAL = (
    lambda: al.nn.Sequential(
        al.nn.Conv2D(6, 3, padding="same"),
        Tanh(),
        al.nn.BatchNorm(),
        al.nn.Flatten(),
        al.nn.Dense(12),
        Tanh(),
        al.nn.BatchNorm(),
        al.nn.Dense(5),
        seed=1,
    ),
    [ref.Conv2D, ref.Tanh, ref.BatchNorm, ref.Flatten, ref.Dense, ref.Tanh, ref.BatchNorm, ref.Dense],
    (6, 8, 2),
)


@pytest.mark.parametrize("network", [MLP, CNN, NORMAL], ids=["mlp", "cnn", "batch norm"])
@pytest.mark.parametrize(
    "optimizer, update, tolerance",
    [(al.SGD(0.1), lambda: ref.sgd(0.1), 1e-5), (al.Adam(1e-2), lambda: ref.adam(1e-2), 1e-4)],
    ids=["sgd", "adam"],
)
def test_fifty_steps(network, optimizer, update, tolerance, storage, rng):
    make, kinds, example = network
    x_data = rng.normal(size=(50, 16, *example)).astype(np.float32)
    y_data = rng.integers(0, 5, (50, 16)).astype(np.int32)

    graph = al.Graph(storage=storage)
    x, y = graph.placeholder((16, *example)), graph.placeholder((16,), al.int32)
    model = make()
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = graph.compile([x, y], [loss], optimizer.minimize(loss) + model.updates)

    trainable = [variable for variable in model.variables if variable.trainable]
    initial = iter([variable.numpy().astype(np.float64) for variable in trainable])
    without = (ref.ReLU, ref.Tanh, ref.MaxPool2D, ref.Flatten)
    layers = [kind() if kind in without else kind(next(initial), next(initial)) for kind in kinds]
    parameters = [parameter for layer in layers for parameter in layer.parameters]
    start = [parameter.copy() for parameter in parameters]
    update = update()
    for x_batch, y_batch in zip(x_data, y_data):
        expected, gradients = ref.loss_and_gradients(layers, x_batch.astype(np.float64), y_batch)
        update(parameters, gradients)
        assert step(x_batch, y_batch)[0] == pytest.approx(expected, rel=10 * tolerance)

    moving = [average for layer in layers for average in getattr(layer, "moving", ())]
    for variable, average in zip((v for v in model.variables if not v.trainable), moving, strict=True):
        assert np.linalg.norm(variable.numpy() - average) <= 10 * tolerance * np.linalg.norm(average), variable.name
    for variable, parameter, before in zip(trainable, parameters, start, strict=True):
        assert np.linalg.norm(variable.numpy() - parameter) <= tolerance * np.linalg.norm(parameter), variable.name
        assert np.linalg.norm(parameter - before) > 0.01 * np.linalg.norm(parameter), (
            "the test must move every parameter"
        )
