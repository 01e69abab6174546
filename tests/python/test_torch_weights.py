"""al.load_torch: PyTorch's parameters give PyTorch's values (tests/goldens/torch_weights_reference.py)."""

import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import alloy as al
from alloy import nn

sys.path.insert(0, str(Path(__file__).parents[1] / "goldens"))
from torch_weights_reference import GOLDEN

E = {"epsilon": 1e-5}


def golden(name):
    with np.load(GOLDEN) as file:
        return {key.removeprefix(f"{name}/"): file[key] for key in file if key.startswith(f"{name}/")}


def state_of(name):
    return {key.removeprefix("state/"): value for key, value in golden(name).items() if key.startswith("state/")}


def written(tmp_path, tensors):
    path = tmp_path / "weights.safetensors"
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)
    return path


def here(array):
    """PyTorch's images, or sequences of a convolution, with the channels last."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def called(model, x):
    """The model, called, and a function that gives its value."""
    graph = al.Graph()
    source = graph.placeholder((None, *x.shape[1:]), x.dtype)
    y = model(source)
    return lambda: graph.run(y, {source: x})


def sequences(layer):
    return layer(4, return_sequences=True, layers=2, bidirectional=True)


# By case: the model, and what becomes of x and y. The model is PyTorch's by its layers' places.
same = np.asarray
CASES = {
    "linear": (lambda: nn.Dense(3), same, same),
    "linear without bias": (lambda: nn.Dense(3, use_bias=False), same, same),
    "conv1d": (lambda: nn.Conv1D(6, 3), here, here),
    "conv2d": (lambda: nn.Conv2D(6, (3, 2)), here, here),
    "conv2d groups": (lambda: nn.Conv2D(6, 3, groups=2), here, here),
    "conv3d": (lambda: nn.Conv3D(3, (1, 2, 3)), here, here),
    "depthwise": (lambda: nn.DepthwiseConv2D(3, depth_multiplier=2), here, here),
    "transposed": (lambda: nn.ConvTranspose2D(6, (3, 2), groups=2), here, here),
    "batch norm": (lambda: nn.BatchNorm(**E), here, here),
    "batch norm without gamma": (lambda: nn.BatchNorm(**E, center=False, scale=False), same, same),
    "layer norm": (lambda: nn.LayerNorm(**E), same, same),
    "group norm": (lambda: nn.GroupNorm(3, **E), here, here),
    "instance norm": (lambda: nn.InstanceNorm(**E), here, here),
    "rms norm": (lambda: nn.RMSNorm(epsilon=1e-6), same, same),
    "rnn": (lambda: nn.RNN(4, return_sequences=True), same, same),
    "lstm": (lambda: sequences(nn.LSTM), same, same),
    "lstm without bias": (lambda: nn.LSTM(4, return_sequences=True, use_bias=False), same, same),
    "gru": (lambda: sequences(nn.GRU), same, same),
    "gru without bias": (lambda: nn.GRU(4, return_sequences=True, use_bias=False), same, same),
    "flattened conv1d": (lambda: nn.Sequential(nn.Conv1D(3, 2), nn.Flatten(), nn.Dense(2)), here, same),
    "flattened conv3d": (lambda: nn.Sequential(nn.Conv3D(2, 2), nn.Flatten(), nn.Dense(2)), here, same),
    "flattened and normalised": (
        lambda: nn.Sequential(
            nn.Conv2D(2, 2), nn.ReLU(), nn.Flatten(), nn.BatchNorm(**E), nn.LayerNorm(**E), nn.Dropout(0.5), nn.Dense(3)
        ),
        here,
        same,
    ),
    "resnet": (lambda: ResNet(), here, same),
    "transformer": (lambda: Encoder(), same, same),
    "text": (lambda: Text(), same, same),
    "attention": (lambda: Attention(use_bias=False), same, same),
    "attention to others": (lambda: Attention(), same, same),
}


class Block(nn.Layer):
    def __init__(self, filters, stride):
        super().__init__()
        self.conv1 = nn.Conv2D(filters, 3, strides=stride, padding=((1, 1), (1, 1)), use_bias=False)
        self.bn1, self.bn2 = nn.BatchNorm(**E), nn.BatchNorm(**E)
        self.conv2 = nn.Conv2D(filters, 3, padding="same", use_bias=False)
        self.downsample = None
        if stride > 1:
            shortcut = nn.Conv2D(filters, 1, strides=stride, use_bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm(**E))

    def forward(self, x, training):
        y = al.relu(self.bn1(self.conv1(x), training))
        y = self.bn2(self.conv2(y), training)
        return al.relu(y + (self.downsample(x, training) if self.downsample else x))


class ResNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2D(4, 3, padding="same", use_bias=False), nn.BatchNorm(**E)
        self.blocks = [Block(4, 1), Block(6, 2)]
        self.fc = nn.Dense(5)

    def forward(self, x, training):
        x = al.relu(self.bn1(self.conv1(x), training))
        for block in self.blocks:
            x = block(x, training)
        return self.fc(al.flatten(al.max_pool2d(x)))


class Encoder(nn.Layer):
    """PyTorch's TransformerEncoderLayer, with its names."""

    def __init__(self):
        super().__init__()
        self.self_attn = nn.MultiHeadAttention(2, 3)
        self.linear1, self.linear2 = nn.Dense(10, activation="relu"), nn.Dense(6)
        self.norm1, self.norm2 = nn.LayerNorm(**E), nn.LayerNorm(**E)

    def forward(self, x, training):
        x = self.norm1(x + self.self_attn(x, training))
        return self.norm2(x + self.linear2(self.linear1(x)))


class Text(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.head = nn.Embedding(7, 4), nn.LSTM(5), nn.Dense(3)

    def forward(self, x, training):
        return self.head(self.lstm(self.embedding(x)))


class Attention(nn.Layer):
    def __init__(self, use_bias=True):
        super().__init__()
        self.attention = nn.MultiHeadAttention(2, 3, use_bias=use_bias)
        self.other = nn.Dense(5)

    def forward(self, x, training):
        memory = self.other(x)
        return self.attention(x, training, value=memory if self.attention._options["use_bias"] else x)


@pytest.mark.parametrize("name", CASES)
def test_values_are_pytorchs(name, tmp_path):
    make, turn, turn_back = CASES[name]
    arrays, model = golden(name), make()
    run = called(model, turn(arrays["x"]))
    before = run()
    assert not np.allclose(before, turn_back(arrays["y"]), atol=1e-3)
    al.load_torch(model, written(tmp_path, state_of(name)))
    np.testing.assert_allclose(run(), turn_back(arrays["y"]), rtol=1e-5, atol=1e-5)
