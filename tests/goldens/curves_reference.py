"""The losses of 200 training steps in PyTorch of four networks with smooth activations and pooling, which
tests/python/training/test_curves.py holds al.Trainer's to.

    python tests/goldens/curves_reference.py     writes curves.json, with PyTorch, which no test needs

Parameters are listed in the order and the layouts of Alloy's model.variables: weights (in, out) and
(height, width, in, out). Both sides draw them, and the batches, from the same generators."""

import json
import math
import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("curves.json")
STEPS, BATCH = 200, 16


def uniform(seed, shape):
    """Initial weights: Glorot's limits for what has two or more axes; zeros for biases."""
    if len(shape) < 2:
        return np.zeros(shape, np.float32)
    fans = math.prod(shape[:-2]) * (shape[-2] + shape[-1])
    limit = math.sqrt(6 / fans)
    return np.random.RandomState(seed).uniform(-limit, limit, shape).astype(np.float32)


def examples(shape, classes, count=STEPS * BATCH):
    """Examples and classes that a network can partly learn: those of a random linear map, and a third at random."""
    random = np.random.RandomState(7)
    x = random.normal(size=(count, *shape)).astype(np.float32)
    teacher = random.normal(size=(math.prod(shape), classes))
    y = (x.reshape(count, -1) @ teacher).argmax(1)
    noise = random.uniform(size=count) < 1 / 3
    return x, np.where(noise, random.randint(0, classes, count), y).astype(np.int32)


SYMBOLS, LENGTH, WIDTH, HEADS, DEPTH = 12, 10, 24, 4, 2


def sequences():
    """Symbols, and the next one at each place: mostly the sum of the last two."""
    random = np.random.RandomState(8)
    text = random.randint(0, SYMBOLS, (STEPS * BATCH, LENGTH + 1))
    for i in range(2, LENGTH + 1):
        keep = random.uniform(size=len(text)) < 0.8
        text[keep, i] = (text[keep, i - 1] + text[keep, i - 2]) % SYMBOLS
    return text[:, :-1].astype(np.int32), text[:, 1:].astype(np.int32)


# ---- PyTorch, in Alloy's layouts ----


def conv(x, weights, bias=None, stride=1, same=True):
    """x: (n, channels, height, width), weights: (height, width, in, out); "same" as TensorFlow and Alloy pad."""
    import torch.nn.functional as f

    if same:
        pads = []
        for extent, window in zip(reversed(x.shape[2:]), reversed(weights.shape[:2])):
            total = max((math.ceil(extent / stride) - 1) * stride + window - extent, 0)
            pads += [total // 2, total - total // 2]
        x = f.pad(x, pads)
    return f.conv2d(x, weights.permute(3, 2, 0, 1), bias, stride)


def batch_norm(x, gamma, beta):
    import torch.nn.functional as f

    return f.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-3)


def mlp(x, p):
    import torch

    for _ in range(2):
        x = torch.tanh(x @ next(p) + next(p))
    return x @ next(p) + next(p)


def cnn(x, p):
    import torch.nn.functional as f

    x = f.gelu(conv(x.permute(0, 3, 1, 2), next(p), next(p)))
    x = batch_norm(x, next(p), next(p))
    x = f.silu(conv(f.avg_pool2d(x, 2), next(p), next(p)))
    return x.permute(0, 2, 3, 1).flatten(1) @ next(p) + next(p)


def resnet18(x, p):
    import torch.nn.functional as f

    def normal(x, stride=1, same=True):
        return batch_norm(conv(x, next(p), None, stride, same), next(p), next(p))

    x = f.silu(normal(x.permute(0, 3, 1, 2), 2, same=False))
    x = f.avg_pool2d(x, 3, 2)  # a maximum is not smooth, and 200 steps of it follow rounding
    for stage in range(4):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            branch = normal(f.silu(normal(x, stride)))
            x = f.silu(branch + (normal(x, stride) if stride == 2 else x))
    return x.flatten(1) @ next(p) + next(p)


def transformer(ids, p):
    import torch.nn.functional as f

    def dense(x):
        return x @ next(p) + next(p)

    def norm(x):
        return f.layer_norm(x, (WIDTH,), next(p), next(p), 1e-3)

    def heads(x):
        return x.reshape(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

    x = next(p)[ids.long()] + next(p)
    for _ in range(DEPTH):
        y = norm(x)
        q, k, v = heads(dense(y)), heads(dense(y)), heads(dense(y))
        y = f.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + dense(y)
        x = x + dense(f.gelu(dense(norm(x)), approximate="tanh"))
    return dense(norm(x))


# By name: the network, its batches, its parameters' shapes (those of norms' gammas as {"ones": shape}).
def resnet18_shapes():
    def normal(window, inner, outer):
        return [(window, window, inner, outer), {"ones": (outer,)}, (outer,)]

    shapes, channels = normal(7, 3, 64), 64
    for stage in range(4):
        filters = 64 * 2**stage
        for block in range(2):
            shapes += normal(3, channels, filters) + normal(3, filters, filters)
            if stage > 0 and block == 0:
                shapes += normal(1, channels, filters)
            channels = filters
    return [*shapes, (512, 10), (10,)]


def transformer_shapes():
    norm, dense = [{"ones": (WIDTH,)}, (WIDTH,)], [(WIDTH, WIDTH), (WIDTH,)]
    block = norm + dense * 4 + norm + [(WIDTH, 4 * WIDTH), (4 * WIDTH,), (4 * WIDTH, WIDTH), (WIDTH,)]
    return [(SYMBOLS, WIDTH), (LENGTH, WIDTH)] + block * DEPTH + norm + [(WIDTH, SYMBOLS), (SYMBOLS,)]


NETWORKS = {
    "mlp": (mlp, lambda: examples((12,), 5), lambda: [(12, 32), (32,), (32, 16), (16,), (16, 5), (5,)]),
    "cnn": (
        cnn,
        lambda: examples((8, 8, 2), 5),
        lambda: [(3, 3, 2, 8), (8,), {"ones": (8,)}, (8,), (3, 3, 8, 16), (16,), (256, 5), (5,)],
    ),
    "resnet18": (resnet18, lambda: examples((32, 32, 3), 10), resnet18_shapes),
    "transformer": (transformer, sequences, transformer_shapes),
}


def parameters(name):
    """What both start from."""
    return [
        np.ones(shape["ones"], np.float32) if isinstance(shape, dict) else uniform(100 + i, shape)
        for i, shape in enumerate(NETWORKS[name][2]())
    ]


def optimizer(name, values):
    """And the scheduler, if there is one; test_curves.py has the same of Alloy."""
    import torch

    if name == "mlp":
        return torch.optim.Adam(values, 3e-3), None
    if name == "cnn":
        return torch.optim.SGD(values, 0.02, momentum=0.9, nesterov=True, weight_decay=1e-3), None
    if name == "resnet18":
        made = torch.optim.SGD(values, 4e-4, momentum=0.9)
        return made, torch.optim.lr_scheduler.CosineAnnealingLR(made, STEPS)
    made = torch.optim.AdamW(values, 3e-3, weight_decay=0.05)
    return made, torch.optim.lr_scheduler.OneCycleLR(made, 3e-3, STEPS, cycle_momentum=False)


def losses(name):
    import torch

    network, data, _ = NETWORKS[name]
    x, y = data()
    values = [torch.nn.Parameter(torch.from_numpy(value)) for value in parameters(name)]
    made, scheduler = optimizer(name, values)
    found = []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        given = iter(values)
        logits = network(torch.from_numpy(x[rows]), given)
        assert next(given, None) is None
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, -2), torch.from_numpy(y[rows]).long().flatten())
        made.zero_grad()
        loss.backward()
        if name == "transformer":
            torch.nn.utils.clip_grad_norm_(values, 1.0)
        made.step()
        if scheduler is not None:
            scheduler.step()
        found.append(float(f"{loss.item():.8g}"))
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: losses(name) for name in NETWORKS}, indent=0) + "\n")
