"""The digits and the split."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import alloy as al


def test_digits():
    x, y = al.data.digits()
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((1797, 8, 8, 1), np.float32, (1797,), np.int32)
    assert (x.min(), x.max(), x[0, 0, 2, 0]) == (0, 1, 5 / 16)
    assert y[:10].tolist() == list(range(10))
    assert np.bincount(y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # as its authors count them


def test_scikit_learn_is_not_imported():
    code = "import sys, alloy; alloy.data.digits(); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install scikit-learn"):
        al.data.digits()


@pytest.mark.parametrize("part, tested", [((), 359), ((300,), 300)], ids=["a fifth", "a number"])
def test_split(part, tested):
    x, y = np.arange(1797), -np.arange(1797)
    (x_train, y_train), (x_test, y_test) = al.data.split(x, y, *part)
    assert (len(x_train), len(x_test)) == (1797 - tested, tested)
    np.testing.assert_array_equal(np.sort(np.concatenate([x_train, x_test])), x)
    np.testing.assert_array_equal(y_train, -x_train)
    np.testing.assert_array_equal(y_test, -x_test)
    np.testing.assert_array_equal(al.data.split(x, y, *part)[1][0], x_test)
    assert not np.array_equal(al.data.split(x, y, *part, seed=1)[1][0], x_test)


@pytest.mark.parametrize("fraction", [0, 0.0, 1.0, 0.001, 0.999, -1, 100, 1.5, True, float("nan")])
def test_split_leaves_no_side_empty(fraction):
    with pytest.raises(
        ValueError, match=r"^\[split\] Expected a fraction between 0 and 1 or a number of examples that leaves"
    ):
        al.data.split(np.arange(100), np.arange(100), fraction)


@pytest.mark.parametrize("items", [False, True])
def test_split_of_a_data_set(items):
    x, y = np.arange(40, dtype=np.float32).reshape(20, 2), np.arange(20, dtype=np.int32)
    whole = al.data.from_items(list(zip(x, y))) if items else al.data.from_arrays(x, y)
    train, test = al.data.split(whole, fraction=0.25, seed=3)
    (x_train, y_train), (x_test, y_test) = al.data.split(x, y, 0.25, seed=3)
    assert (len(train), len(test)) == (15, 5)
    np.testing.assert_array_equal([label for _, label in train], y_train)
    np.testing.assert_array_equal(test.batch(5)[0][0], x_test)
    order = np.random.default_rng([4, 2]).permutation(15)
    np.testing.assert_array_equal(next(train.shuffle(seed=4).batch(6).epoch(2))[1], y_train[order[:6]])
    with pytest.raises(ValueError, match="failed on example 17,"):
        for part in (train, test):
            list(part.map(lambda x, y: (x, 1 // (17 - y.item()))))


def test_split_keeps_training_and_test_apart():
    data = al.data.from_arrays(np.arange(20), np.arange(20))
    for mixed in (data.shuffle(), data.repeat(2), data.shuffle().batch(2), al.data.from_iterator(list)):
        with pytest.raises(ValueError, match="split it before shuffle and repeat"):
            al.data.split(mixed)
    with pytest.raises(TypeError, match="of a data set, got y = 0.2"):
        al.data.split(data, 0.2)
    with pytest.raises(TypeError, match="got no y"):
        al.data.split(np.arange(20))


def test_larger_digits():
    """Values computed by hand: a centre of a large pixel lies at (i + 1/2) / 4 - 1/2 small ones."""
    small, classes = al.data.digits()
    x, y = al.data.digits(32, 3)
    assert (x.shape, x.dtype, x.min(), x.max()) == ((1797, 32, 32, 3), np.float32, 0, 1)
    np.testing.assert_array_equal(y, classes)
    np.testing.assert_array_equal(x[..., 0], x[..., 2])
    image, given = x[7, ..., 1], small[7, ..., 0]
    assert image[0, 0] == given[0, 0] and image[31, 31] == given[7, 7]
    assert image[1, 16] == pytest.approx(given[0, 3] * 0.375 + given[0, 4] * 0.625)
    column = given[:, 3] * 0.625 + given[:, 4] * 0.375  # at 15
    assert image[22, 15] == pytest.approx(column[5] * 0.875 + column[6] * 0.125)
    np.testing.assert_allclose(x.mean((1, 2))[:, 0], small.mean((1, 2))[:, 0], atol=0.02)
    assert al.data.digits(channels=2)[0].shape == (1797, 8, 8, 2)
