"""The workloads as data. A worker builds a workload from these layers in its framework's own way.

Images are (batch, height, width, channels), weights of convolutions (height, width, in, out), of dense layers
(in, out). All frameworks start from values that are made here, by NumPy from a seed."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

BATCH_NORM_EPSILON = 1e-3
BATCH_NORM_MOMENTUM = 0.99  # of the moving averages: momentum * average + (1 - momentum) * statistic
LAYER_NORM_EPSILON = 1e-5


class Conv(NamedTuple):
    filters: int
    size: int
    stride: int = 1
    padding: str = "same"
    bias: bool = True


class BatchNorm(NamedTuple):
    pass


class LayerNorm(NamedTuple):
    """Over the last axis."""


class ReLU(NamedTuple):
    pass


class Gelu(NamedTuple):
    """By erf, not by its approximation by tanh."""


class MaxPool(NamedTuple):
    """Without padding."""

    size: int
    stride: int


class AvgPool(NamedTuple):
    """With the padding "same", which does not count in the mean."""

    size: int


class Flatten(NamedTuple):
    pass


class Mean(NamedTuple):
    """Reads (batch, steps, features); the result is the mean over the steps."""


class Dense(NamedTuple):
    """Over the last axis."""

    units: int


class Attention(NamedTuple):
    """Each step of (batch, steps, features) attends to all steps, causal: to itself and earlier ones. A head has
    features / heads of the features."""

    heads: int
    causal: bool


class Lstm(NamedTuple):
    """Reads (batch, steps, features); the result is the last state."""

    units: int


class Gru(NamedTuple):
    """Reads (batch, steps, features); the result is the last state. The reset gate comes after the product."""

    units: int


class Residual(NamedTuple):
    branch: tuple
    shortcut: tuple  # the identity if empty


class Node(NamedTuple):
    """A layer with its values: (weights, bias) of Conv and Dense, weights and bias of query, key, value and output of
    Attention, head after head, (gamma, beta) of LayerNorm, (gamma, beta, moving mean, moving variance) of BatchNorm,
    of Residual (nodes of the branch, nodes of the shortcut), of Lstm and Gru (weights (gates * units, features),
    recurrent weights (gates * units, units), bias, and of Gru the candidate's bias of the state). Gates are input,
    forget, candidate, output, and update, reset, candidate."""

    layer: tuple
    values: tuple
    input_shape: tuple  # without the batch


@dataclass(frozen=True)
class Target:
    """How many times faster than the fastest peer Alloy should be; eager: than PyTorch without compilation."""

    at_least: float
    aim: float
    eager: float | None = None


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    layers: tuple
    input_shape: tuple
    batch: int
    optimizer: tuple[str, float] | None  # ("sgd" or "adam", rate); None: inference
    target: Target | None = None
    neighbour: Target | None = Target(1, 2)  # beside a busy process; None: not measured there
    # Each step's loss is wanted before the next step, as for a progress bar, or each prediction; otherwise a step may
    # start while those before are under way.
    reads_every_result: bool = False
    mixed: bool = False  # computes in bfloat16, with variables, statistics of norms, logits and loss in float32
    tf32: bool = False  # products may round their operands to TF32, which has 11 bits

    def network(self) -> list[Node]:
        return _initialise(self.layers, self.input_shape, np.random.RandomState(0))[0]

    def data(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns a batch and two arrays of labels, which alternate from step to step: contradictory labels cannot
        be learned by heart, so gradients do not become slow denormal numbers, however long the training."""
        random = np.random.RandomState(1)
        x = random.uniform(-1, 1, (self.batch, *self.input_shape)).astype(np.float32)
        return x, [random.randint(0, self.layers[-1].units, self.batch).astype(np.int32) for _ in range(2)]


def same_padding(extent, size, stride) -> tuple[int, int]:
    """Returns the zeros before and after an axis for the padding "same": half each, the odd one after."""
    count = max((-(-extent // stride) - 1) * stride + size - extent, 0)
    return count // 2, count - count // 2


def _initialise(layers, shape, random, in_branch=False):
    """Returns the nodes of a chain of layers, and the shape of its result."""
    nodes = []
    for layer in layers:
        values, result = (), shape
        match layer:
            case Conv(filters, size, stride, padding, bias):
                # He et al., 2015, eq. 10: keeps the scale of the signal.
                scale = np.sqrt(2 / (size * size * shape[2]))
                values = ((random.standard_normal((size, size, shape[2], filters)) * scale).astype(np.float32),)
                if bias:
                    values += (np.zeros(filters, np.float32),)
                lost = 0 if padding == "same" else size - 1
                result = (*(-(-(extent - lost) // stride) for extent in shape[:2]), filters)
            case BatchNorm():
                # A branch ends with a small scale (0 in Goyal et al., 2017): in a network that starts with large
                # values, roundings would become different losses within three steps.
                gamma = 0.1 if in_branch and layer is layers[-1] else 1
                values = tuple(np.full(shape[2], value, np.float32) for value in (gamma, 0, 0, 1))
            case LayerNorm():
                values = np.ones(shape[-1], np.float32), np.zeros(shape[-1], np.float32)
            case MaxPool(size, stride):
                result = (*((extent - size) // stride + 1 for extent in shape[:2]), shape[2])
            case AvgPool(size):
                result = (*(-(-extent // size) for extent in shape[:2]), shape[2])
            case Flatten():
                result = (int(np.prod(shape)),)
            case Mean():
                result = shape[1:]
            case Dense(units):
                values, result = _dense(shape[-1], units, random), (*shape[:-1], units)
            case Attention():
                values = tuple(value for _ in range(4) for value in _dense(shape[-1], shape[-1], random))
            case Lstm(units) | Gru(units):
                wide, limit = units * (4 if isinstance(layer, Lstm) else 3), units**-0.5
                values = (
                    random.uniform(-limit, limit, (wide, shape[1])).astype(np.float32),
                    random.uniform(-limit, limit, (wide, units)).astype(np.float32),
                    np.zeros(wide, np.float32),
                )
                if isinstance(layer, Gru):
                    values += (np.zeros(units, np.float32),)
                result = (units,)
            case Residual(branch, shortcut):
                branch, result = _initialise(branch, shape, random, in_branch=True)
                values = (branch, _initialise(shortcut, shape, random)[0])
        nodes.append(Node(layer, values, shape))
        shape = result
    return nodes, shape


def _dense(features, units, random):
    limit = np.sqrt(6 / (features + units))  # Glorot and Bengio, 2010, eq. 16
    return random.uniform(-limit, limit, (features, units)).astype(np.float32), np.zeros(units, np.float32)


def _mlp(*units):
    """Returns dense layers with relu between them."""
    return tuple(part for count in units[:-1] for part in (Dense(count), ReLU())) + (Dense(units[-1]),)


def _transformer(blocks, features, heads, causal):
    """Returns pre-norm blocks, and a classifier of the mean of the steps."""
    attention = Residual((LayerNorm(), Attention(heads, causal)), ())
    dense = Residual((LayerNorm(), Dense(4 * features), Gelu(), Dense(features)), ())
    return (*(attention, dense) * blocks, LayerNorm(), Mean(), Dense(10))


def _resnet(branch, counts, expansion):
    """Builds the network of alloy.models for images of 32x32, without padding in the first layers and with each stage's
    stride in its first convolution."""
    layers = [*_conv(64, 7, 2, "valid"), ReLU(), MaxPool(3, 2)]
    channels = 64
    for stage, count in enumerate(counts):
        filters, stride = 64 * 2**stage, 1 if stage == 0 else 2
        for _ in range(count):
            same = stride == 1 and channels == filters * expansion
            layers += [Residual(branch(filters, stride), () if same else _conv(filters * expansion, 1, stride)), ReLU()]
            channels, stride = filters * expansion, 1
    return (*layers, AvgPool(2), Flatten(), Dense(10))


def _conv(filters, size, stride=1, padding="same"):
    return Conv(filters, size, stride, padding, bias=False), BatchNorm()


def _bottleneck(filters, stride):
    return *_conv(filters, 1, stride), ReLU(), *_conv(filters, 3), ReLU(), *_conv(4 * filters, 1)


def _basic(filters, stride):
    return *_conv(filters, 3, stride), ReLU(), *_conv(filters, 3)


_RESNET50, _RESNET18 = _resnet(_bottleneck, (3, 4, 6, 3), 4), _resnet(_basic, (2, 2, 2, 2), 1)
_DIGITS = (Conv(16, 3), ReLU(), Conv(32, 3), ReLU(), MaxPool(2, 2), Flatten(), *_mlp(64, 10))
_IMAGES = tuple(
    layer for filters in (32, 64) for layer in (Conv(filters, 3), ReLU(), Conv(filters, 3), ReLU(), MaxPool(2, 2))
)
_TRANSFORMER = _transformer(2, 128, 4, causal=False)
_SMALL, _MEDIUM, _LARGE = _mlp(32, 10), _mlp(512, 512, 10), _mlp(4096, 4096, 1000)

_TRAINING = [
    Workload(
        "resnet50_b64",
        "ResNet-50, 32x32x3, b64, SGD",
        _RESNET50,
        (32, 32, 3),
        64,
        ("sgd", 0.01),
        Target(2, 2.5),
        neighbour=Target(2, 4),
    ),
    Workload("resnet50_b16", "ResNet-50, 32x32x3, b16, SGD", _RESNET50, (32, 32, 3), 16, ("sgd", 0.01)),
    Workload("resnet18_b32", "ResNet-18, 32x32x3, b32, SGD", _RESNET18, (32, 32, 3), 32, ("sgd", 0.01)),
    Workload("cnn_digits", "CNN on 8x8x1, b32, Adam", _DIGITS, (8, 8, 1), 32, ("adam", 1e-3), Target(3, 5)),
    Workload(
        "cnn_images",
        "CNN on 32x32x3, b64, Adam",
        (*_IMAGES, Flatten(), *_mlp(128, 10)),
        (32, 32, 3),
        64,
        ("adam", 1e-3),
    ),
    Workload("mlp_small", "MLP 64-32-10, b32, SGD", _SMALL, (64,), 32, ("sgd", 0.01), Target(3, 5, eager=10)),
    Workload(
        "mlp_small_read",
        "MLP 64-32-10, b32, SGD, every loss read",
        _SMALL,
        (64,),
        32,
        ("sgd", 0.01),
        reads_every_result=True,
    ),
    Workload("mlp_medium", "MLP 784-512-512-10, b128, Adam", _MEDIUM, (784,), 128, ("adam", 1e-3), Target(1.5, 2)),
    Workload("mlp_medium_b1", "MLP 784-512-512-10, b1, Adam", _MEDIUM, (784,), 1, ("adam", 1e-3)),
    Workload("mlp_medium_b32", "MLP 784-512-512-10, b32, Adam", _MEDIUM, (784,), 32, ("adam", 1e-3)),
    Workload("mlp_medium_b1024", "MLP 784-512-512-10, b1024, Adam", _MEDIUM, (784,), 1024, ("adam", 1e-3)),
    Workload("mlp_large", "MLP 1024-4096-4096-1000, b128, Adam", _LARGE, (1024,), 128, ("adam", 1e-3)),
    Workload(
        "lstm", "LSTM 64-128, 32 steps, b32, Adam", (Lstm(128), Dense(10)), (32, 64), 32, ("adam", 1e-3), Target(2, 3)
    ),
    Workload(
        "gru", "GRU 64-128, 32 steps, b32, Adam", (Gru(128), Dense(10)), (32, 64), 32, ("adam", 1e-3), Target(2, 3)
    ),
    Workload("logistic", "logistic regression 784-10, b128, SGD", _mlp(10), (784,), 128, ("sgd", 0.01)),
    Workload(
        "transformer",
        "transformer, 2 layers of 128, 4 heads, 64 steps, b32, Adam",
        _TRANSFORMER,
        (64, 128),
        32,
        ("adam", 1e-3),
        Target(1.5, 2),
    ),
    Workload(
        "gpt_block",
        "GPT block of 256, 8 heads, 512 steps, b8, Adam",
        _transformer(1, 256, 8, causal=True),
        (512, 256),
        8,
        ("adam", 1e-3),
        Target(1.5, 2),
    ),
    Workload(
        "resnet50_b256", "ResNet-50, 32x32x3, b256, SGD", _RESNET50, (32, 32, 3), 256, ("sgd", 0.01), neighbour=None
    ),
    Workload(
        "resnet50_b64_mixed",
        "ResNet-50, 32x32x3, b64, mixed, SGD",
        _RESNET50,
        (32, 32, 3),
        64,
        ("sgd", 0.01),
        mixed=True,
    ),
    Workload(
        "transformer_mixed",
        "transformer, 2 layers of 128, 4 heads, 64 steps, b32, mixed, Adam",
        _TRANSFORMER,
        (64, 128),
        32,
        ("adam", 1e-3),
        mixed=True,
    ),
]
# One prediction at a time, as in a server.
_SINGLE = [
    Workload(
        "resnet50_b1_inference",
        "ResNet-50, 32x32x3, b1, inference",
        _RESNET50,
        (32, 32, 3),
        1,
        None,
        reads_every_result=True,
    )
]
_INFERENCE_TARGETS = dict.fromkeys(["resnet50_b64", "lstm", "gru", "transformer", "gpt_block"], Target(1.5, 2))
WORKLOADS = {
    workload.name: workload
    for workload in _TRAINING
    + _SINGLE
    + [
        replace(
            workload,
            name=f"{workload.name}_inference",
            title=f"{workload.title.rpartition(', ')[0]}, inference",
            optimizer=None,
            target=_INFERENCE_TARGETS.get(workload.name),
            neighbour=workload.neighbour and Target(1, 2),
            reads_every_result=True,
        )
        for workload in _TRAINING
        if not workload.reads_every_result
    ]
}


def _of_resnet(batch, tf32):
    base = WORKLOADS["resnet50_b64"]
    return replace(
        base,
        name=f"resnet50_b{batch}" + "_tf32" * tf32,
        title=f"ResNet-50, 32x32x3, b{batch}, " + "TF32, " * tf32 + "SGD",
        batch=batch,
        target=None,
        neighbour=None,
        tf32=tf32,
    )


# The workloads of a run on a GPU by default; a run on the CPU can name them, too.
GPU_WORKLOADS = {
    workload.name: workload
    for workload in [
        WORKLOADS["resnet50_b64"],
        _of_resnet(64, tf32=True),
        _of_resnet(512, tf32=False),
        _of_resnet(512, tf32=True),
        *(WORKLOADS[name] for name in ("cnn_digits", "mlp_small", "mlp_medium", "mlp_large")),
    ]
}
ALL_WORKLOADS = WORKLOADS | GPU_WORKLOADS
