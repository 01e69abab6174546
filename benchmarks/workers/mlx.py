"""MLX on the CPU. Training steps are compiled, which makes them up to a third faster; predictions do not become
faster."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers

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
    same_padding,
)

mx.set_default_device(mx.cpu)


class Add(nn.Module):
    def __init__(self, branch, shortcut):
        super().__init__()
        self.branch, self.shortcut = branch, shortcut

    def __call__(self, x):
        return self.branch(x) + self.shortcut(x)


class Pad(nn.Module):
    def __init__(self, *amount):
        super().__init__()
        self.amount = amount

    def __call__(self, x):
        return mx.pad(x, ((0, 0), self.amount, self.amount, (0, 0)))


class Flat(nn.Module):
    def __call__(self, x):
        return x.reshape(len(x), -1)


class Last(nn.Module):
    """Returns the last state of a recurrent layer."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def __call__(self, x):
        states = self.cell(x)
        return (states[0] if isinstance(states, tuple) else states)[:, -1]


class MeanOfSteps(nn.Module):
    def __call__(self, x):
        return mx.mean(x, 1)


class SelfAttention(nn.Module):
    def __init__(self, features, heads, causal):
        super().__init__()
        self.all, self.mask = nn.MultiHeadAttention(features, heads, bias=True), "causal" if causal else None

    def __call__(self, x):
        return self.all(x, x, x, self.mask)


def module_of(node):
    values = node.values
    match node.layer:
        case Conv(filters, size, stride, padding, bias):
            before, after = same_padding(node.input_shape[0], size, stride) if padding == "same" else (0, 0)
            module = nn.Conv2d(node.input_shape[2], filters, size, stride, before if before == after else 0, bias=bias)
            module.weight = mx.array(values[0].transpose(3, 0, 1, 2))
            if before != after:
                module = nn.Sequential(Pad(before, after), module)
        case BatchNorm():
            module = nn.BatchNorm(node.input_shape[2], BATCH_NORM_EPSILON, 1 - BATCH_NORM_MOMENTUM)
            module.weight, module.bias, module.running_mean, module.running_var = map(mx.array, values)
        case LayerNorm():
            module = nn.LayerNorm(node.input_shape[-1], LAYER_NORM_EPSILON)
            module.weight, module.bias = map(mx.array, values)
        case Gelu():
            module = nn.GELU()
        case ReLU():
            module = nn.ReLU()
        case MaxPool(size, stride):
            module = nn.MaxPool2d(size, stride)
        case AvgPool():
            # MLX has no padding that does not count in the mean; for an image of 1x1, the mean is the image.
            assert node.input_shape[:2] == (1, 1)
            module = nn.Identity()
        case Flatten():
            module = Flat()
        case Mean():
            module = MeanOfSteps()
        case Attention(heads, causal):
            module = SelfAttention(node.input_shape[-1], heads, causal)
            products = (getattr(module.all, f"{name}_proj") for name in ("query", "key", "value", "out"))
            for product, weights, bias in zip(products, values[::2], values[1::2]):
                product.weight, product.bias = mx.array(weights.T), mx.array(bias)
        case Dense(units):
            module = nn.Linear(node.input_shape[-1], units)
            module.weight, module.bias = mx.array(values[0].T), mx.array(values[1])
        case Lstm(units):
            module = Last(nn.LSTM(node.input_shape[1], units))
            module.cell.Wx, module.cell.Wh, module.cell.bias = map(mx.array, values)
        case Gru(units):
            module = Last(nn.GRU(node.input_shape[1], units))
            weights, recurrent_weights, bias, secondary = map(mx.array, values)
            order = mx.array([*range(units, 2 * units), *range(units), *range(2 * units, 3 * units)])  # reset first
            module.cell.Wx, module.cell.Wh, module.cell.b = weights[order], recurrent_weights[order], bias[order]
            module.cell.bhn = secondary
        case Residual():
            branch, shortcut = map(sequential, values)
            module = Add(branch, shortcut)
    return module


def sequential(nodes):
    return nn.Sequential(*map(module_of, nodes))


def build(workload, column, variant, nodes, x, labels):
    model, x = sequential(nodes), mx.array(x)
    if workload.optimizer is None:
        model.eval()

        def infer(x):
            logits = model(x)
            mx.eval(logits)
            return logits

        return Session(infer, [(x,)], lambda logits: logits)
    name, rate = workload.optimizer
    optimizer = {
        "sgd": lambda: mlx.optimizers.SGD(rate),
        "adam": lambda: mlx.optimizers.Adam(rate, bias_correction=True),
    }[name]()
    optimizer.init(model.trainable_parameters())
    state = [model.state, optimizer.state]

    def loss_of(model, x, y):
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    loss_and_gradients = nn.value_and_grad(model, loss_of)

    @partial(mx.compile, inputs=state, outputs=state)
    def update(x, y):
        loss, gradients = loss_and_gradients(model, x, y)
        optimizer.update(model, gradients)
        return loss

    def step(x, y):
        loss = update(x, y)
        mx.eval(loss, state)
        return loss

    return Session(step, [(x, mx.array(y)) for y in labels], lambda loss: loss)


if __name__ == "__main__":
    # Not mixed, because MLX's layers compute in the type of their variables.
    serve({"MLX": mx.__version__}, lambda workload: {} if workload.mixed else {"MLX": [""]}, build)
