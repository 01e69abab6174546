"""A worker of the benchmark (benchmarks/serve.py) that trains chains of dense layers with SGD in NumPy; "wrong" takes
steps that are too long."""

import sys

import numpy as np

sys.path.insert(0, "")  # where the benchmark starts its workers
from serve import Session, serve  # noqa: E402
from workloads import Dense  # noqa: E402


def build(workload, column, variant, nodes, x, labels):
    rate = workload.optimizer[1] * (10 if variant == "wrong" else 1)
    layers = [[value.astype(np.float64) for value in node.values] for node in nodes if isinstance(node.layer, Dense)]

    def step(x, y):
        inputs = []
        for weights, bias in layers:
            inputs.append(x)
            x = np.maximum(x @ weights + bias, 0) if weights is not layers[-1][0] else x @ weights + bias
        probabilities = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
        loss = -np.mean(np.log(probabilities[np.arange(len(y)), y]))
        gradient = (probabilities - np.eye(x.shape[1])[y]) / len(y)
        for (weights, bias), x in zip(reversed(layers), reversed(inputs)):
            to_input = (gradient @ weights.T) * (x > 0)
            weights -= rate * x.T @ gradient
            bias -= rate * gradient.sum(axis=0)
            gradient = to_input
        return loss

    return Session(step, [(x, y) for y in labels], lambda loss: loss)


serve({"NumPy": np.__version__}, lambda workload: {"NumPy": ["", "wrong"]}, build)
