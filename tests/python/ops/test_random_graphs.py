"""Random graphs against float64 NumPy, and their gradients against finite differences (random_graphs.py).

What one has found becomes a row of cases.py or a test of its own: a seed means another graph once there are more
cases."""

import pytest

from random_graphs import check


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_graphs(first):
    for seed in range(first, first + 50):
        assert not check(seed), f"python tests/python/random_graphs.py {seed} 1"
