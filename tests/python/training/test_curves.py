"""Trainings of 200 steps beside PyTorch's, from the same weights over the same batches."""

import json

import numpy as np
import pytest

import alloy as al
import curves_reference as torch_values
from kinds import FAST

GOLDENS = json.loads(torch_values.GOLDEN.read_text())
STEPS, BATCH = torch_values.STEPS, torch_values.BATCH


def mlp():
    return al.nn.Sequential(al.nn.Dense(32, activation="tanh"), al.nn.Dense(16, activation="tanh"), al.nn.Dense(5))


def cnn():
    return al.nn.Sequential(
        al.nn.Conv2D(8, 3, padding="same", activation="gelu"),
        al.nn.BatchNorm(),
        al.nn.AvgPool2D(),
        al.nn.Conv2D(16, 3, padding="same", activation="silu"),
        al.nn.Flatten(),
        al.nn.Dense(5),
    )


def smooth(layer):
    """The layer with SiLU for every ReLU in it, and means for greatest elements: where those change, 200 steps follow
    rounding, in PyTorch too."""
    for kind, other in ((al.nn.ReLU, al.nn.SiLU()), (al.nn.MaxPool2D, al.nn.AvgPool2D(3, strides=2))):
        layer.layers = [other if isinstance(part, kind) else smooth(part) for part in layer.layers]
    return layer


class Block(al.nn.Layer):
    """A pre-norm block of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = al.nn.LayerNorm()
        self.attention = al.nn.MultiHeadAttention(heads, width // heads, use_causal_mask=True)
        self.norm2 = al.nn.LayerNorm()
        self.inner = al.nn.Dense(4 * width, activation=lambda x: al.gelu(x, approximate="tanh"))
        self.outer = al.nn.Dense(width)

    def forward(self, x, training):
        x = x + self.attention(self.norm1(x, training), training)
        return x + self.outer(self.inner(self.norm2(x, training), training), training)


class Transformer(al.nn.Layer):
    def __init__(self, symbols, length, width, heads, depth):
        super().__init__()
        self.symbols = al.nn.Embedding(symbols, width)
        self.places = al.nn.Embedding(length, width)
        self.blocks = [Block(width, heads) for _ in range(depth)]
        self.norm, self.head = al.nn.LayerNorm(), al.nn.Dense(symbols)

    def forward(self, x, training):
        places = x.graph.constant(np.arange(x.shape[1], dtype=np.int32))
        x = self.symbols(x, training) + self.places(places, training)
        for block in self.blocks:
            x = block(x, training)
        return self.head(self.norm(x, training), training)


def transformer():
    t = torch_values
    return Transformer(t.SYMBOLS, t.LENGTH, t.WIDTH, t.HEADS, t.DEPTH)


CURVES = {
    "mlp": (mlp, lambda: al.Adam(3e-3)),
    "cnn": (cnn, lambda: al.SGD(0.02, momentum=0.9, nesterov=True, weight_decay=1e-3)),
    "resnet18": (lambda: smooth(al.models.resnet18()), lambda: al.SGD(al.schedules.cosine(4e-4, STEPS), momentum=0.9)),
    "transformer": (
        transformer,
        lambda: al.AdamW(al.schedules.one_cycle(3e-3, STEPS), weight_decay=0.05, clip_norm=1.0),
    ),
}


class Losses(al.Callback):
    """Of each step, from the means that are shown."""

    def on_train_begin(self, logs=None):
        self.means = []

    def on_train_batch_end(self, batch, logs=None):
        self.means.append(logs["loss"])

    @property
    def each(self):
        return np.diff(np.arange(len(self.means) + 1) * np.array([0, *self.means]))


@FAST
@pytest.mark.parametrize("name", CURVES)
def test_two_hundred_steps_follow_pytorch(name):
    model, optimizer = (make() for make in CURVES[name])
    trainer = al.Trainer(model, "softmax_cross_entropy", optimizer)
    x, y = torch_values.NETWORKS[name][1]()
    trainer.predict(x[:1])
    values = torch_values.parameters(name)
    for variable, value in zip((v for v in model.variables if v.trainable), values, strict=True):
        assert variable.shape == value.shape, variable
        variable.assign(value)
    losses = Losses()
    trainer.fit((x, y), 1, BATCH, shuffle=False, progress=False, callbacks=[losses])
    np.testing.assert_allclose(losses.each, GOLDENS[name], rtol=1e-3)
