"""Elementwise ops by the dozen, more of them and of their operands than one fused kernel takes."""

import numpy as np
import pytest

import alloy as al
from running import run

SHAPE = (7, 37)


def computed(build, arrays):
    return run(lambda *feeds: build(al, *feeds), *arrays)[0]


class Float64:
    """The same functions in NumPy."""

    maximum, minimum = np.fmax, np.fmin

    @staticmethod
    def where(predicate, yes, no):
        return np.where(predicate != 0, yes, no)

    @staticmethod
    def clamp(x, low, high):
        return np.fmin(np.fmax(x, low), high)


def float64(arrays):
    return [array.astype(np.float64) for array in arrays]


def chain(library, first, *others):
    y = first
    for i, x in enumerate(others):
        y = (lambda: y + x, lambda: y * x, lambda: x - y, lambda: library.maximum(y, x), lambda: library.minimum(y, x))[
            i % 5
        ]()
    return y


def tree(library, *leaves):
    ternary = [library.where, library.clamp]
    while len(leaves) > 1:
        leaves = [ternary[i // 3 % 2](*leaves[i : i + 3]) for i in range(0, len(leaves), 3)]
    return leaves[0]


@pytest.mark.parametrize("count", [20, 21, 22, 60, 61])
def test_a_chain(count, rng):
    """Operands of [0.5, 1.5] keep what is between them near 1: a product loses 1e-7 of it, and 60 steps 1e-5."""
    arrays = [rng.uniform(0.5, 1.5, SHAPE).astype(np.float32) for _ in range(count + 1)]
    np.testing.assert_allclose(computed(chain, arrays), chain(Float64, *float64(arrays)), atol=1e-5)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_tree_of_three_operands_each(depth, rng):
    """A predicate that is a number, and is zero half the time, takes a buffer more. Nothing is rounded."""
    arrays = [(rng.uniform(-1, 1, SHAPE) * rng.integers(0, 2, SHAPE)).astype(np.float32) for _ in range(3**depth)]
    np.testing.assert_array_equal(computed(tree, arrays), tree(Float64, *float64(arrays)))


@pytest.mark.parametrize("shape", [(1,), (37,), (7, 1)])
def test_operands_that_repeat(shape, rng):
    arrays = [rng.uniform(0.5, 1.5, SHAPE if i % 2 else shape).astype(np.float32) for i in range(61)]
    np.testing.assert_allclose(computed(chain, arrays), chain(Float64, *float64(arrays)), atol=1e-5)
