"""One short training in a process of its own: prints "answer: " and its figures.

train.py linear|digits variable|buffers   the losses of the steps of tests/goldens/training_reference.py
train.py resnet50                         the losses before and after one step, of its smooth form
train.py speed <batch>                    seconds to the first result, then milliseconds a step, of `alloy train`'s
                                          network
"""

import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "goldens"))
import alloy as al  # noqa: E402
import resnet50_reference  # noqa: E402
import training_reference  # noqa: E402
from alloy.tools.cli import small_cnn  # noqa: E402
from smooth import smoothed  # noqa: E402


def linear(storage):
    points, values = (array.astype(np.float32) for array in training_reference.points())
    graph = al.Graph(storage=storage)
    x, y = graph.placeholder(points.shape), graph.placeholder(values.shape)
    w, b = graph.variable(np.zeros((8, 1), np.float32)), graph.variable(np.zeros(1, np.float32))
    loss = al.mean(al.square(x @ w + b - y))
    step = graph.compile([x, y], [loss], al.SGD(training_reference.LINEAR_RATE).minimize(loss))
    return [step(points, values)[0] for _ in range(training_reference.STEPS)]


def network(graph, batch):
    """(model, step) of `alloy train`."""
    x, y = graph.placeholder((batch, 8, 8, 1)), graph.placeholder((batch,), al.int32)
    model = small_cnn()
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    return model, graph.compile([x, y], [loss], al.Adam(training_reference.DIGITS_RATE).minimize(loss) + model.updates)


def digits(storage):
    model, step = network(al.Graph(storage=storage), training_reference.BATCH)
    for variable, value in zip(model.variables, training_reference.parameters(), strict=True):
        variable.assign(value.astype(np.float32))
    return [step(images.astype(np.float32), classes)[0] for images, classes in zip(*training_reference.digit_batches())]


def resnet50():
    model = smoothed(al.models.resnet50())
    for variable, start in zip(model.variables, resnet50_reference.Network("smooth").variables, strict=True):
        variable.assign(start.value.astype(np.float32))
    images, classes = resnet50_reference.images().astype(np.float32), resnet50_reference.labels().astype(np.int32)
    x, y = model.graph.placeholder(images.shape), model.graph.placeholder(classes.shape, al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = model.graph.compile([x, y], [loss], al.SGD(resnet50_reference.RATE).minimize(loss) + model.updates)
    return [step(images, classes)[0] for _ in range(2)]


def speed(batch):
    batch = int(batch)
    _, step = network(al.Graph(), batch)
    random = np.random.default_rng(0)
    images, classes = random.standard_normal((batch, 8, 8, 1), np.float32), random.integers(0, 10, batch, np.int32)
    start = time.perf_counter()
    step(images, classes)
    first, times = time.perf_counter() - start, []
    while sum(times) < 2 or len(times) < 20:
        start = time.perf_counter()
        step(images, classes)
        times.append(time.perf_counter() - start)
    return [first, 1000 * statistics.median(times)]


figures = {"linear": linear, "digits": digits, "resnet50": resnet50, "speed": speed}[sys.argv[1]](*sys.argv[2:])
print("answer:", *(f"{float(figure):.9g}" for figure in figures), flush=True)
