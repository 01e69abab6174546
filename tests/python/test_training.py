"""50 steps of training against a float64 implementation in NumPy that starts from the same values and sees
the same batches."""
import numpy as np
import pytest

import alloy as al
import reference as ref

MLP = (lambda: al.nn.Sequential(al.nn.Dense(32), al.nn.ReLU(), al.nn.Dense(16), al.nn.ReLU(), al.nn.Dense(5),
                                seed=1), [ref.Dense, ref.ReLU, ref.Dense, ref.ReLU, ref.Dense], (12,))
CNN = (lambda: al.nn.Sequential(al.nn.Conv2D(6, 3, padding="same"), al.nn.ReLU(), al.nn.MaxPool2D(
), al.nn.Conv2D(8, (3, 5), padding="same"), al.nn.ReLU(), al.nn.Flatten(), al.nn.Dense(5), seed=1), [
    ref.Conv2D, ref.ReLU, ref.MaxPool2D, ref.Conv2D, ref.ReLU, ref.Flatten, ref.Dense], (6, 8, 2))


@pytest.mark.parametrize("network", [MLP, CNN], ids=["mlp", "cnn"])
@pytest.mark.parametrize("optimizer, update, tolerance", [(al.SGD(0.1), lambda: ref.sgd(0.1), 1e-5),
                                                          (al.Adam(1e-2), lambda: ref.adam(1e-2), 1e-4)],
                         ids=["sgd", "adam"])
def test_fifty_steps(network, optimizer, update, tolerance, rng):
    make, kinds, example = network
    x_data = rng.normal(size=(50, 16, *example)).astype(np.float32)
    y_data = rng.integers(0, 5, (50, 16)).astype(np.int32)

    graph = al.Graph()
    x, y = graph.placeholder((16, *example)), graph.placeholder((16,), al.int32)
    model = make()
    loss = al.mean(al.losses.softmax_cross_entropy(model(x), y))
    step = graph.compile([x, y], [loss], optimizer.minimize(loss))

    initial = iter([variable.numpy().astype(np.float64) for variable in model.variables])
    layers = [
        kind(next(initial), next(initial)) if kind in (ref.Dense, ref.Conv2D) else kind() for kind in kinds]
    parameters = [parameter for layer in layers for parameter in layer.parameters]
    start = [parameter.copy() for parameter in parameters]
    update = update()
    for x_batch, y_batch in zip(x_data, y_data):
        expected, gradients = ref.loss_and_gradients(layers, x_batch.astype(np.float64), y_batch)
        update(parameters, gradients)
        assert step(x_batch, y_batch)[0] == pytest.approx(expected, rel=10 * tolerance)

    for variable, parameter, before in zip(model.variables, parameters, start, strict=True):
        assert np.linalg.norm(variable.numpy() -
                              parameter) <= tolerance * np.linalg.norm(parameter), variable.name
        assert np.linalg.norm(parameter -
                              before) > 0.01 * np.linalg.norm(parameter), "the test must move every parameter"
