"""Networks that PyTorch and Keras exported: outputs, and training steps, against what PyTorch and Keras compute."""

import pathlib

import numpy as np
import pytest

import alloy as al

FOLDER = pathlib.Path(__file__).parents[2] / "goldens" / "onnx"
STEPS, RATE = 10, 0.03  # of onnx_reference.py
RESULTS = dict(np.load(FOLDER / "results.npz"))
NAMES = sorted({key.partition("/")[0] for key in RESULTS})


@pytest.mark.parametrize("name", NAMES)
def test_network(name):
    """Differences are rounding errors of float32: outputs are around 1."""
    x, t, y, losses, trained = (RESULTS[f"{name}/{part}"] for part in ("x", "t", "y", "losses", "trained"))
    model, graph = al.onnx.load(FOLDER / f"{name}.onnx"), al.Graph()
    given = graph.placeholder((None, *x.shape[1:]), x.dtype)
    targets = graph.placeholder((None, *t.shape[1:]))
    outputs = model(given)
    x, t = x, t.astype(np.float32)
    assert np.abs(graph.run(outputs, {given: x}) - y).max() < 1e-5
    loss = al.mean(al.square(model(given, training=True) - targets))
    step = graph.compile([given, targets], [loss], [*al.SGD(RATE).minimize(loss), *model.updates])
    found = [step(x, t)[0] for _ in range(STEPS)]
    assert np.abs(np.array(found) - losses).max() < 1e-5
    assert np.abs(graph.run(outputs, {given: x}) - trained).max() < 1e-5
