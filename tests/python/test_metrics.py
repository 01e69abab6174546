"""Metrics: values of examples, and totals of batches."""

import numpy as np
import pytest

import alloy as al


def run(build, *arrays):
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    results = build(*feeds)
    return graph.compile(feeds, results if isinstance(results, list) else [results])(*arrays)


def test_accuracy():
    logits, labels = np.float32([[3, 1], [0, 1], [2, 0], [0, 9]]), np.int64([0, 1, 1, 1])
    for given in (labels, np.eye(2, dtype=np.float32)[labels]):
        np.testing.assert_array_equal(run(al.metrics.accuracy, logits, given)[0], [1, 1, 0, 1])


@pytest.mark.parametrize("shape", [(6,), (6, 1), (2, 3)])
def test_binary_accuracy(shape):
    logits, targets = np.float32([3, -1, 0.1, -2, 5, -1]).reshape(shape), np.float32([1, 0, 0, 0, 1, 1]).reshape(shape)
    right = np.float32([1, 1, 0, 1, 1, 0]).reshape(shape)
    expected = right.reshape(len(right), -1).mean(1)
    for given in (targets, targets.astype(np.int32)):
        np.testing.assert_allclose(run(al.metrics.binary_accuracy, logits, given)[0], expected, rtol=1e-6)
    if shape == (6, 1):
        for labels in (targets, targets.astype(np.int32), targets[:, 0].astype(np.int64)):
            np.testing.assert_array_equal(run(al.metrics.accuracy, logits, labels)[0], right[:, 0])


def test_accuracy_of_logits_without_classes_is_refused():
    x = al.Graph().placeholder((None,))
    with pytest.raises(ValueError, match=r"^\[accuracy\] .*\(n, classes\), got float32\(\?,\); .*binary_accuracy"):
        al.metrics.accuracy(x, x)
