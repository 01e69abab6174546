"""The digits and their split."""
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
    assert np.bincount(y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174,
                                       180]  # as its authors count them


def test_scikit_learn_is_not_imported():
    code = "import sys, alloy; alloy.data.digits(); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=True).stdout == "False\n"


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install scikit-learn"):
        al.data.digits()


def test_split():
    x, y = np.arange(1797), -np.arange(1797)
    (x_train, y_train), (x_test, y_test) = al.data.split(x, y)
    assert (len(x_train), len(x_test)) == (1438, 359)
    np.testing.assert_array_equal(np.sort(np.concatenate([x_train, x_test])), x)
    np.testing.assert_array_equal(y_train, -x_train)
    np.testing.assert_array_equal(y_test, -x_test)
    np.testing.assert_array_equal(al.data.split(x, y)[1][0], x_test)
    assert not np.array_equal(al.data.split(x, y, seed=1)[1][0], x_test)
