"""al.models.resnet50 against the float64 implementation in tests/goldens/resnet50_reference.py, which says
what both start from and what the two forms of the network are, and that implementation against finite
differences.

The rounding of float32 bounds what can be asked: the network is continuous, but its gradients are not, since
masks flip where a value is near 0. The smooth form is held to what single precision can do: to half of what
is asked, as is the MPSGraph program in tests/facade/graphs/resnet50.mm, so that the two are within it of each other.
"""

import json

import numpy as np
import pytest

import alloy as al
import resnet50_reference as reference
from kinds import FAST
from smooth import smoothed

pytestmark = FAST


def give(variables, references):
    """The values of the reference to the model."""
    for variable, given in zip(variables, references, strict=True):
        assert (variable.shape, variable.trainable) == (given.value.shape, given.trainable)
        variable.assign(given.value.astype(np.float32))


class Run:
    """The model in one of its forms with the reference's initial values."""

    def __init__(self, form):
        self.model = al.models.resnet50()
        if form == "smooth":
            smoothed(self.model)
        self.network = reference.Network(form)
        give(self.model.variables, self.network.variables)
        self.graph = self.model.graph
        self.x = self.graph.placeholder((reference.BATCH, reference.SIDE, reference.SIDE, 3))
        self.y = self.graph.placeholder((reference.BATCH,), al.int32)
        self.trainables = [variable for variable in self.model.variables if variable.trainable]
        self.moving = [variable for variable in self.model.variables if not variable.trainable]

    def loss(self, training):
        return al.mean(al.losses.softmax_cross_entropy(self.model(self.x, training), self.y))

    def __call__(self, fetches, updates=()):
        executable = self.graph.compile([self.x, self.y], fetches, updates)
        batch = reference.images().astype(np.float32), reference.labels().astype(np.int32)
        return lambda: executable(*batch)


def errors(actual, expected):
    """The norm of each difference over the norm of what is expected, by name. actual: in the same order."""
    return {
        name: np.linalg.norm(found - value) / np.linalg.norm(value)
        for found, (name, value) in zip(actual, expected.items(), strict=True)
    }


def require(errors, limit):
    worst = max(errors, key=errors.get)
    assert all(error <= limit for error in errors.values()), f"{worst} is off by {errors[worst]:.2g}"


def values(variables):
    return [variable.numpy().astype(np.float64) for variable in variables]


def joined(arrays):
    return np.concatenate([np.ravel(array) for array in arrays])


@pytest.fixture(scope="module")
def smooth():
    return dict(reference.course("smooth"))


@pytest.fixture(scope="module")
def relu():
    return dict(reference.course("relu"))


def test_smooth_network(smooth):
    run = Run("smooth")
    loss = run.loss(training=True)
    gradients = run(al.gradients(loss, run.trainables))()
    require(errors(gradients, smooth["gradients"]), 5e-5)

    step = run([loss], al.SGD(reference.RATE).minimize(loss, run.trainables) + run.model.updates)
    losses = [step()[0]]
    require(errors(values(run.moving), smooth["moving_after_one_step"]), 1e-5)
    losses += [step()[0] for _ in range(1, reference.STEPS)]
    require(errors(values(run.trainables), smooth["parameters"]), 5e-6)
    require(errors(values(run.moving), smooth["moving"]), 1e-5)
    (evaluation,) = run([run.loss(training=False)])()
    assert evaluation == pytest.approx(smooth["evaluation_loss"], rel=1e-5)
    losses += run([loss])()
    np.testing.assert_allclose(losses, smooth["losses"], rtol=5e-6)


def test_network(relu):
    run = Run("relu")
    loss = run.loss(training=True)
    found, *gradients = run([loss, *al.gradients(loss, run.trainables)], run.model.updates)()
    assert found == pytest.approx(relu["losses"][0], rel=5e-5)
    for gradient, (name, expected) in zip(gradients, relu["gradients"].items(), strict=True):
        a, b = gradient.ravel().astype(np.float64), expected.ravel()
        assert a @ b >= 0.998 * np.linalg.norm(a) * np.linalg.norm(b), name
    # The last means follow on fifty layers of rounding: each is held as the loss is, all together closer.
    moving, expected = values(run.moving), relu["moving_after_one_step"]
    require(errors(moving, expected), 5e-5)
    for start in 0, 1:
        together = joined(list(expected.values())[start::2])
        assert np.linalg.norm(joined(moving[start::2]) - together) <= 1e-5 * np.linalg.norm(together)


def test_blocks():
    """Each residual block alone, with the ReLU behind it: its value and gradients to source and variables."""
    model, network = al.models.resnet50(), reference.Network("relu")
    blocks = [layer for stage in model.layers for layer in stage.layers if isinstance(layer, al.nn.Residual)]
    assert len(blocks) == len(network.blocks) == 16
    side = 6  # after the first convolution and pooling
    for k, (layer, block) in enumerate(zip(blocks, network.blocks)):
        give(layer.variables, block.variables)
        x = reference.uniform(3000 + k, (reference.BATCH, side, side, layer.variables[0].shape[2]), 1)
        y = block.forward(x, True)
        weights = reference.uniform(3100 + k, y.shape, 1)
        expected = {"value": y, "source": block.backward(weights)}
        expected |= {variable.name: variable.gradient for variable in block.variables if variable.trainable}
        side = y.shape[1]

        tx = model.graph.placeholder(x.shape)
        ty = al.relu(layer(tx, training=True))
        loss = al.sum(ty * weights.astype(np.float32))
        inputs = [tx, *(variable for variable in layer.variables if variable.trainable)]
        found = model.graph.compile([tx], [ty, *al.gradients(loss, inputs)])(x.astype(np.float32))
        require(errors(found, expected), 1e-3)
    assert side == 1


@pytest.mark.parametrize("form, h, tolerance", [("smooth", 1e-5, 1e-6), ("relu", 1e-7, 1e-3)])
def test_reference_against_finite_differences(form, h, tolerance):
    """With an eighth of the channels; the script does it for the whole network."""
    network = reference.Network(form, narrow=8)
    trainables = network.trainables
    directions = [trainables, *([variable] for variable in trainables[5::40])]
    assert reference.finite_difference_error(network, directions, h) < tolerance


@pytest.mark.parametrize("form", ["smooth", "relu"])
def test_golden_file_is_the_script_s(form, smooth, relu):
    expected = {"smooth": smooth, "relu": relu}[form]
    golden = json.loads(reference.GOLDEN.read_text())[form]
    summary = reference.summary(expected)
    assert golden.keys() == summary.keys()
    for what, kept in summary.items():
        if isinstance(kept, dict):
            assert golden[what].keys() == kept.keys()
            for name, numbers in kept.items():
                np.testing.assert_allclose(golden[what][name], numbers, rtol=0, atol=1e-7 * numbers[0])
        else:
            np.testing.assert_allclose(golden[what], kept, rtol=1e-8)


def test_sketches_measure_distances(smooth):
    """The estimator that the facade's test trusts has the deviation of 12.5 % that the script says."""
    network = reference.Network("smooth")
    numbers = {variable.name: k for k, variable in enumerate(network.variables)}
    ratios = []
    for variable in network.trainables[::3]:
        end, k = smooth["parameters"][variable.name], numbers[variable.name]
        estimate = np.linalg.norm(reference.sketch(k, end) - reference.sketch(k, variable.value))
        ratios.append(estimate / np.linalg.norm(end - variable.value))
    assert abs(np.mean(ratios) - 1) < 0.05 and np.std(ratios) < 0.15
    assert 0.6 < min(ratios) and max(ratios) < 1.5
