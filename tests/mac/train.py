"""One short training in a process of its own: prints "answer: " and its figures.

train.py linear|digits variable|buffers   the losses of the steps of tests/goldens/training_reference.py
train.py resnet50                         the losses before and after one step, of its smooth form
train.py speed <batch>                    seconds to the first result, then milliseconds a step, of `alloy train`'s
                                          network
train.py trainer <batch>                  the same, of its Trainer
train.py time <what>                      the same, of one of TIMED below
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
from alloy.tools.demo import cnn  # noqa: E402
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
    model = cnn()
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


def trainer(batch):
    batch, seen, start = int(batch), [], time.perf_counter()

    class Clock(al.Callback):
        def on_epoch_end(self, *_):
            seen.append(time.perf_counter() - start)

    random, batches = np.random.default_rng(0), 40
    images = random.standard_normal((batch * batches, 8, 8, 1), np.float32)
    classes = random.integers(0, 10, batch * batches, np.int32)
    trained = al.Trainer(cnn(), loss="softmax_cross_entropy", optimizer=al.Adam())
    trained.fit((images, classes), epochs=4, batch_size=batch, callbacks=[Clock()], progress=False)
    return [seen[0], 1000 * (seen[-1] - seen[0]) / 3 / batches]


def convolution(dtype="float32", data="NHWC", weights="HWIO"):
    """With both gradients, of 32 images and 64 channels."""
    graph = al.Graph()
    x = graph.variable(np.ones([{"N": 32, "C": 64}.get(axis, 28) for axis in data], np.float32))
    w = graph.variable(np.ones([{"I": 64, "O": 64}.get(axis, 3) for axis in weights], np.float32))
    y = al.conv2d(al.cast(x, dtype), al.cast(w, dtype), padding="same", data_layout=data, weights_layout=weights)
    loss = al.sum(al.cast(y, "float32"))
    return graph.compile([], [al.sum(g) for g in al.gradients(loss, [x, w])])


def product(dtype):
    graph = al.Graph()
    a = al.cast(graph.variable(np.ones((2048, 2048), np.float32)), dtype)
    return graph.compile([], [al.sum(al.cast(a @ a, "float32"))])


def empty():
    graph = al.Graph()
    return graph.compile([], [graph.variable(1.0) + 1.0])


def attention():
    """Of 8 sequences of 8 heads and 512 places."""
    graph = al.Graph()
    q = graph.variable(np.ones((8, 8, 512, 64), np.float32))
    y = al.softmax(q @ al.transpose(q, (0, 1, 3, 2)) / 8.0, axis=-1) @ q
    return graph.compile([], [al.sum(g) for g in al.gradients(al.sum(y), [q])])


def batch_norm():
    graph = al.Graph()
    x = graph.variable(np.ones((32, 56, 56, 64), np.float32))
    loss = al.sum(al.square(al.nn.BatchNorm()(x, training=True)))
    return graph.compile([], [al.sum(g) for g in al.gradients(loss, [x])])


def sixteen_steps(how):
    """In one dispatch, by calls one after the other, or submitted without waiting for each."""
    graph = al.Graph()
    v = graph.variable(np.ones((512, 512), np.float32))
    x = graph.placeholder((16, 512))
    loss = al.mean(al.square(x @ v))
    step = graph.compile([x], [loss], al.Adam(1e-3).minimize(loss), steps=16 if how == "together" else None)
    batches = np.ones((16, 16, 512), np.float32)
    return {
        "together": lambda: step(batches),
        "called": lambda: [step(batch) for batch in batches],
        "submitted": lambda: [step.submit(batch) for batch in batches][-1].wait(),
    }[how]


def resnet50_step():
    model, images = al.models.resnet50(), resnet50_reference.images().astype(np.float32)
    classes = resnet50_reference.labels().astype(np.int32)
    x, y = model.graph.placeholder(images.shape), model.graph.placeholder(classes.shape, al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = model.graph.compile([x, y], [loss], al.SGD(0.1).minimize(loss) + model.updates)
    return lambda: step(images, classes)


TIMED = {
    "empty": empty,
    "product-float32": lambda: product("float32"),
    "product-float16": lambda: product("float16"),
    "convolution-NHWC": convolution,
    "convolution-NCHW": lambda: convolution(data="NCHW"),
    "convolution-OIHW": lambda: convolution(weights="OIHW"),
    "convolution-float16": lambda: convolution("float16"),
    "attention": attention,
    "batch_norm": batch_norm,
    "16-steps-together": lambda: sixteen_steps("together"),
    "16-steps-called": lambda: sixteen_steps("called"),
    "16-steps-submitted": lambda: sixteen_steps("submitted"),
    "resnet50": resnet50_step,
}


def timed(what):
    start = time.perf_counter()
    step = TIMED[what]()
    step()
    first, times = time.perf_counter() - start, []
    while sum(times) < 1 or len(times) < 3:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return [first, 1000 * statistics.median(times)]


figures = {"trainer": trainer, "time": timed, "linear": linear, "digits": digits, "resnet50": resnet50, "speed": speed}[
    sys.argv[1]
](*sys.argv[2:])
print("answer:", *(f"{float(figure):.9g}" for figure in figures), flush=True)
