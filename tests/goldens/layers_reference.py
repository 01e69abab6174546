"""PyTorch's layers: their results and gradients, which tests/python/nn/test_layers.py holds al.nn against.

    python tests/goldens/layers_reference.py     writes layers.npz, with PyTorch, which no test needs

Of each case: x, and more inputs where there are any; the layer's parameters by PyTorch's names; y, which PyTorch
computes in float64 while training; factors; and the gradients of sum(y * factors), as gradient/NAME of what they are
to. PyTorch's layout: the channels before the places."""

import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("layers.npz")


def cases(nn, torch):
    """The layer of each case, the shapes of its inputs, and how it is called."""
    causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    seen = torch.tensor(VISIBLE)

    def attention(features, heads, **options):
        return nn.MultiheadAttention(features, heads, batch_first=True, **options)

    def call(**options):
        return lambda layer, x, memory=None: layer(x, *([x if memory is None else memory] * 2), **options)[0]

    plain = {
        "linear": (nn.Linear(4, 3), [(2, 5, 4)]),
        "conv1d": (nn.Conv1d(4, 6, 3), [(2, 4, 9)]),
        "conv1d strided": (nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), [(2, 4, 9)]),
        "conv2d": (nn.Conv2d(4, 6, (3, 2), stride=(1, 2), padding=1, dilation=(2, 1), groups=2), [(2, 4, 6, 5)]),
        "depthwise": (nn.Conv2d(3, 6, 3, padding=1, groups=3), [(2, 3, 5, 4)]),
        "transposed": (nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1), [(2, 4, 3, 4)]),
        "transposed groups": (nn.ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), dilation=2, groups=2), [(2, 4, 3, 4)]),
        "layer norm": (nn.LayerNorm(6), [(3, 4, 6)]),
        "layer norm of axes": (nn.LayerNorm((4, 6), eps=1e-3), [(3, 4, 6)]),
        "rms norm": (nn.RMSNorm(6, eps=1e-6), [(3, 4, 6)]),
        "group norm": (nn.GroupNorm(3, 6), [(2, 6, 4, 3)]),
        "group norm without places": (nn.GroupNorm(2, 6), [(4, 6)]),
        "instance norm": (nn.InstanceNorm2d(3, affine=True), [(2, 3, 4, 5)]),
        "instance norm 1d": (nn.InstanceNorm1d(3), [(2, 3, 7)]),
        "batch norm": (nn.BatchNorm2d(3), [(4, 3, 2, 3)]),
        "max pool": (nn.MaxPool1d(3, stride=2, padding=1), [(2, 3, 8)]),
        "avg pool": (nn.AvgPool1d(2), [(2, 3, 8)]),
        "elu": (nn.ELU(0.7), [(4, 9)]),
        "gelu": (nn.GELU(), [(4, 9)]),
        "gelu tanh": (nn.GELU(approximate="tanh"), [(4, 9)]),
        "silu": (nn.SiLU(), [(4, 9)]),
        "softplus": (nn.Softplus(threshold=1e9), [(4, 9)]),
        "hard swish": (nn.Hardswish(), [(4, 9)]),
        "leaky relu": (nn.LeakyReLU(0.3), [(4, 9)]),
        "softmax": (nn.Softmax(1), [(4, 9, 2)]),
    }
    made = {name: (layer, shapes, lambda layer, x: layer(x)) for name, (layer, shapes) in plain.items()}
    return made | {
        "attention": (attention(6, 2), [(2, 5, 6)], call()),
        "attention without biases": (attention(6, 3, bias=False), [(2, 5, 6)], call()),
        "causal attention": (attention(6, 2), [(2, 5, 6)], call(attn_mask=causal)),
        "cross attention": (attention(6, 2), [(2, 5, 6), (2, 4, 6)], call()),
        "masked attention": (attention(6, 2), [(2, 5, 6), (2, 4, 6)], call(key_padding_mask=~seen)),
    }


VISIBLE = [[True, True, False, True], [True, False, False, False]]  # of masked attention, by batch and key
IDS = [[0, 3, 3], [4, 0, 1]]  # of the embedding


def golden(torch, name, layer, shapes, call):
    random = np.random.RandomState(sum(map(ord, name)))
    layer = layer.double().train()
    arrays = {}
    with torch.no_grad():
        for part, parameter in layer.named_parameters():
            value = random.uniform(-1, 1, parameter.shape).astype(np.float32)
            parameter.copy_(torch.from_numpy(value))
            arrays[part] = value
    inputs = []
    for i, shape in enumerate(shapes):
        value = random.uniform(-2, 2, shape).astype(np.float32)
        arrays["x" if i == 0 else "memory"] = value
        inputs.append(torch.from_numpy(value).double().requires_grad_())
    y = call(layer, *inputs)
    arrays["factors"] = random.uniform(-1, 1, y.shape).astype(np.float32)
    (y * torch.from_numpy(arrays["factors"])).sum().backward()
    arrays["y"] = y.detach().numpy().astype(np.float32)
    tensors = dict(layer.named_parameters()) | dict(zip(("x", "memory"), inputs))
    for part, tensor in tensors.items():
        arrays[f"gradient/{part}"] = tensor.grad.numpy().astype(np.float32)
    for part, buffer in layer.named_buffers():
        arrays[f"after/{part}"] = buffer.numpy().astype(np.float32)
    return {f"{name}/{part}": array for part, array in arrays.items()}


def embedding(torch):
    random = np.random.RandomState(5)
    weight, factors = random.uniform(-1, 1, (5, 3)).astype(np.float32), random.uniform(-1, 1, (2, 3, 3))
    layer = torch.nn.Embedding.from_pretrained(torch.from_numpy(weight).double(), freeze=False)
    y = layer(torch.tensor(IDS))
    factors = factors.astype(np.float32)
    (y * torch.from_numpy(factors)).sum().backward()
    found = {"x": np.int32(IDS), "weight": weight, "factors": factors, "y": y.detach().numpy().astype(np.float32)}
    found["gradient/weight"] = layer.weight.grad.numpy().astype(np.float32)
    return {f"embedding/{part}": array for part, array in found.items()}


if __name__ == "__main__":
    import torch

    made = embedding(torch)
    for name, case in cases(torch.nn, torch).items():
        made |= golden(torch, name, *case)
    np.savez_compressed(GOLDEN, **made)
