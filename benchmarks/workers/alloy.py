"""Alloy. Its step takes NumPy arrays and returns NumPy arrays; the images are in memory that a run reads in place,
as the peers' batches are tensors of their own before the step."""

import alloy as al
from serve import Session, serve
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


def build(workload, column, variant, nodes, x, labels):
    model, graph = sequential(nodes), al.Graph()
    batch = al.empty(x.shape)
    batch[...] = x
    images, classes = graph.placeholder(x.shape), graph.placeholder(labels[0].shape, al.int32)
    training = workload.optimizer is not None
    logits = model(al.cast(images, "bfloat16") if workload.mixed else images, training)
    logits = al.cast(logits, "float32")
    for pair in zip(model.layers, nodes):
        assign(*pair)
    if not training:
        predict = graph.compile([images], [logits])
        return Session(predict, [(batch,)], lambda result: result[0])
    name, rate = workload.optimizer
    loss = al.mean(al.losses.softmax_cross_entropy(logits, classes))
    optimizer = {"sgd": al.SGD, "adam": al.Adam}[name](rate)
    step = graph.compile([images, classes], [loss], optimizer.minimize(loss) + model.updates)
    return Session(step, [(batch, y) for y in labels], lambda result: result[0])


if __name__ == "__main__":
    serve({"Alloy": al.__version__}, lambda workload: {"Alloy": [""]}, build)
