"""Graphs whose products may be rounded: who is told so, and that the CPU computes the same."""

import re

import numpy as np
import pytest

import alloy as al
from alloy._core import op_table
from kinds import HAS_PACKAGES

MULTIPLY = {row["name"] for row in op_table() if any(name == "precision" for name, _, _ in row["attributes"])}


def network(**settings):
    """A graph with every op that multiplies, its feed, and a fetch and all gradients."""
    graph = al.Graph(**settings)
    x = graph.placeholder((2, 4, 4, 4), name="x")
    rng = np.random.default_rng(0)

    def weights(*shape):
        return graph.variable(rng.normal(size=shape).astype(np.float32))

    y = al.conv2d(x, weights(3, 3, 4, 4), padding="same")
    y = al.conv3d(al.expand_dims(y, -1), weights(3, 3, 3, 1, 1), padding="same")
    y = al.reshape(y, (2, 4, 16))
    y = al.scaled_dot_product_attention(y, y @ weights(16, 16), y)
    for recurrent, gates in ((al.rnn, 1), (al.gru, 3)):
        y = recurrent(y @ weights(16, 16 * gates), weights(16 * gates, 16))
    y, cells = al.lstm(y @ weights(16, 16 * 4), weights(16 * 4, 16))
    loss = al.mean(y * cells)
    return graph, x, [loss, *al.gradients(loss, [x, *graph.variables])]


def test_every_product_and_gradient_has_it():
    graph, _, _ = network(precision="tf32")
    text = str(graph)
    told = [
        (kind[1], "precision = tf32" in line) for line in text.splitlines() if (kind := re.search(r"= (\w+)\(", line))
    ]
    assert all(is_told == (kind in MULTIPLY) for kind, is_told in told)
    assert {kind for kind, is_told in told if is_told} == MULTIPLY - {"scaled_dot_product_attention_gradient"}
    assert MULTIPLY >= {"matmul", "conv2d_weights_gradient", "conv3d", "scaled_dot_product_attention", "lstm_gradient"}
    exact, _, _ = network()
    assert (graph.precision, exact.precision) == ("tf32", "float32")
    assert "precision" not in str(exact)
    assert re.sub(r", precision = tf32|precision = tf32, | \{precision = tf32\}", "", text) == str(exact)


@pytest.mark.skipif(al.device().kind != "cpu", reason="another device may round")
def test_the_cpu_computes_the_same_bits(tmp_path):
    given = np.random.default_rng(1).normal(size=(2, 4, 4, 4)).astype(np.float32)
    exact, rounded = (graph.compile([x], fetches) for graph, x, fetches in (network(), network(precision="tf32")))
    steps = [rounded]
    if HAS_PACKAGES:
        rounded.export(tmp_path / "step")
        steps.append(al.load_executable(tmp_path / "step"))
    wanted = exact(given)
    for step in steps:
        for a, b in zip(wanted, step(given)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("precision", ["float16", "TF32", ""])
def test_another_precision(precision):
    with pytest.raises(
        ValueError, match=rf"^\[graph\] Expected the precision 'float32' or 'tf32', got '{precision}'\.$"
    ):
        al.Graph(precision=precision)


def test_a_trainers_precision():
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    models = [al.nn.Dense(1) for _ in range(3)]
    models[2](al.Graph(precision="tf32").placeholder((None, 2)))
    for model, precision, wanted in zip(models, (None, "tf32", None), ("float32", "tf32", "tf32")):
        al.Trainer(model, "mean_squared_error", "sgd", precision=precision).fit((x, y), progress=False)
        assert model.graph.precision == wanted
    with pytest.raises(
        ValueError,
        match=r'^\[Trainer\] Expected the precision "tf32" of the graph in which the model was called, got "float32"',
    ):
        al.Trainer(models[2], "mean_squared_error", "sgd", precision="float32").fit((x, y), progress=False)
    with pytest.raises(ValueError, match=r'^\[Trainer\] Expected the precision "float32" or "tf32", got 32; at'):
        al.Trainer(models[0], "mean_squared_error", "sgd", precision=32)
