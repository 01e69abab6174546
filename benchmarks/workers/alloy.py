"""Alloy. Its step takes NumPy arrays and returns NumPy arrays; the images are in memory that a run reads in place,
as the peers' batches are tensors of their own before the step. On a GPU every step copies the images there, or reads
the result of another graph, which is there already; and steps may be submitted, so that the next ones are prepared
meanwhile."""

import sys

import alloy as al
from serve import DEVICE, Session, serve
from workloads import (
    BATCH_NORM_EPSILON,
    BATCH_NORM_MOMENTUM,
    LAYER_NORM_EPSILON,
    Attention,
    AvgPool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Gelu,
    Gru,
    LayerNorm,
    Lstm,
    MaxPool,
    Mean,
    ReLU,
    Residual,
)


def layer_of(node):
    match node.layer:
        case Conv(filters, size, stride, padding, bias):
            return al.nn.Conv2D(filters, size, strides=stride, padding=padding, use_bias=bias)
        case BatchNorm():
            return al.nn.BatchNorm(momentum=BATCH_NORM_MOMENTUM, epsilon=BATCH_NORM_EPSILON)
        case LayerNorm():
            return al.nn.LayerNorm(epsilon=LAYER_NORM_EPSILON)
        case Gelu():
            return al.nn.GELU()
        case ReLU():
            return al.nn.ReLU()
        case MaxPool(size, stride):
            return al.nn.MaxPool2D(size, strides=stride)
        case AvgPool(size):
            return al.nn.AvgPool2D(size, padding="same")
        case Flatten():
            return al.nn.Flatten()
        case Mean():
            return al.nn.GlobalAvgPool()
        case Attention(heads, causal):
            return al.nn.MultiHeadAttention(heads, node.input_shape[-1] // heads, use_causal_mask=causal)
        case Dense(units):
            return al.nn.Dense(units)
        case Lstm(units):
            return al.nn.LSTM(units)
        case Gru(units):
            return al.nn.GRU(units)
        case Residual():
            branch, shortcut = map(sequential, node.values)
            return al.nn.Residual(branch, shortcut if shortcut.layers else None)


def sequential(nodes):
    return al.nn.Sequential(*map(layer_of, nodes))


def assign(layer, node):
    if isinstance(node.layer, Residual):
        for sequence, nodes in zip(layer.layers, node.values):
            for inner in zip(sequence.layers, nodes):
                assign(*inner)
    else:
        for variable, value in zip(layer.variables, node.values):
            variable.assign(value)


def on_device(x):
    """Returns an array for feeds that is in the device's memory: the result of a step that is never read."""
    graph = al.Graph()
    value = graph.placeholder(x.shape)
    return graph.compile([value], [value + 0.0]).submit(x).pending()


def build(workload, column, variant, nodes, x, labels):
    before = allocated()
    model, graph = sequential(nodes), al.Graph(precision="tf32" if workload.tf32 else "float32")
    if variant == RESIDENT:
        batch = on_device(x)
    else:
        batch = al.empty(x.shape)
        batch[...] = x

    def session(step, batches):
        run = step.submit if variant else step
        return Session(run, batches, lambda results: results[0], memory=lambda: allocated() - before)

    images, classes = graph.placeholder(x.shape), graph.placeholder(labels[0].shape, al.int32)
    training = workload.optimizer is not None
    logits = model(al.cast(images, "bfloat16") if workload.mixed else images, training)
    logits = al.cast(logits, "float32")
    for pair in zip(model.layers, nodes):
        assign(*pair)
    if not training:
        predict = graph.compile([images], [logits])
        return session(predict, [(batch,)])
    name, rate = workload.optimizer
    loss = al.mean(al.losses.softmax_cross_entropy(logits, classes))
    optimizer = {"sgd": al.SGD, "adam": al.Adam}[name](rate)
    step = graph.compile([images, classes], [loss], optimizer.minimize(loss) + model.updates)
    return session(step, [(batch, y) for y in labels])


def allocated():
    """Returns the bytes of the device's memory in use; a compiled step keeps what its runs need."""
    return al.device_stats()["allocated_bytes"]


SUBMITTED, RESIDENT = "submitted", "submitted, images on the GPU"
VARIANTS = {"cpu": [""], "cuda": ["", SUBMITTED, RESIDENT]}

if __name__ == "__main__":
    if DEVICE == "cuda" and al.device().kind != "cuda":
        sys.exit(f"Alloy's default device is {al.device().name}.")
    serve({"Alloy": al.__version__}, lambda workload: {"Alloy": VARIANTS[DEVICE]}, build)
