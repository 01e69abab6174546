"""Arrays of given numbers: as NumPy's, in the element types of tensors, beside tensors."""

import re

import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype

SAME = [  # a call, what NumPy makes, its type
    (lambda: al.zeros((2, 3)), np.zeros((2, 3)), "float32"),
    (lambda: al.zeros(4, "bfloat16"), np.zeros(4), "bfloat16"),
    (lambda: al.zeros(()), np.zeros(()), "float32"),
    (lambda: al.zeros((0, 3)), np.zeros((0, 3)), "float32"),
    (lambda: al.ones([2, 3], np.uint8), np.ones((2, 3)), "uint8"),
    (lambda: al.ones(2, al.complex64), np.ones(2), "complex64"),
    (lambda: al.full((2, 3), 7), np.full((2, 3), 7), "int32"),
    (lambda: al.full((2, 3), 7.5), np.full((2, 3), 7.5), "float32"),
    (lambda: al.full(2, True), np.full(2, True), "bool"),
    (lambda: al.full((3, 2), [[1], [2], [3]], "float16"), np.full((3, 2), [[1], [2], [3]]), "float16"),
    (lambda: al.full(2, 2**40, "int64"), np.full(2, 2**40), "int64"),
    (lambda: al.full(2, 2**64 - 1, "uint64"), np.full(2, 2**64 - 1, np.uint64), "uint64"),
    (lambda: al.full(2, np.int8([3, 4])), np.array([3, 4]), "int8"),
    (lambda: al.eye(3), np.eye(3), "float32"),
    (lambda: al.eye(2, 4, 1, "int32"), np.eye(2, 4, 1), "int32"),
    (lambda: al.eye(4, 2, k=-3, dtype=bool), np.eye(4, 2, -3), "bool"),
    (lambda: al.arange(5), np.arange(5), "int32"),
    (lambda: al.arange(3.0), np.arange(3), "float32"),
    (lambda: al.arange(0), np.arange(0), "int32"),
    (lambda: al.arange(5, 2), np.arange(5, 2), "int32"),
    (lambda: al.arange(7, -3, -3), np.arange(7, -3, -3), "int32"),
    (lambda: al.arange(1, 2, 0.25), np.arange(1, 2, 0.25), "float32"),
    (lambda: al.arange(np.int64(3), dtype="float16"), np.arange(3), "float16"),
    (lambda: al.arange(2**31, 2**31 + 2, dtype="int64"), np.arange(2**31, 2**31 + 2), "int64"),
    (lambda: al.linspace(0, 1, 5), np.linspace(0, 1, 5), "float32"),
    (lambda: al.linspace(2, -1, 6, endpoint=False), np.linspace(2, -1, 6, endpoint=False).astype("f"), "float32"),
    (lambda: al.linspace(1, 1, 1), np.ones(1), "float32"),
    (lambda: al.linspace(0, 4, 5, dtype="int8"), np.arange(5), "int8"),
]


@pytest.mark.parametrize("case", range(len(SAME)))
def test_arrays_are_numpys(case):
    call, expected, dtype = SAME[case]
    array = call()
    assert array.dtype == numpy_dtype(dtype) and array.flags.c_contiguous and array.flags.writeable
    np.testing.assert_array_equal(array, expected)
    assert array.shape == expected.shape


WRONG = [
    (lambda: al.zeros((None, 3)), r"TypeError: \[zeros\] Expected a shape of integers, got \(None, 3\)"),
    (lambda: al.ones((2, -1)), r"ValueError: \[ones\] Expected extents of 0 or more, got \(2, -1\)"),
    (lambda: al.ones(2**50), r"MemoryError: \[ones\] Values of shape 1125899906842624 are larger than any memory"),
    (lambda: al.zeros(2, 3), r"TypeError: \[zeros\] Expected an element type such as float32, got 3"),
    (lambda: al.zeros(2, "float64"), r"TypeError: \[zeros\] Expected an element type such as float32, got float64"),
    (lambda: al.full(2, [1, 2, 3]), r"ValueError: \[full\] .* broadcasts to \(2,\), got one of shape \(3,\)"),
    (lambda: al.full(2, 300, "uint8"), r"ValueError: \[full\] Expected numbers that uint8 can hold, got 300"),
    (lambda: al.full(2, np.nan, "int32"), r"ValueError: \[full\] Expected numbers that int32 can hold, got nan"),
    (lambda: al.full(2, 2**40), r"TypeError: \[full\] The value is int32, which cannot hold 1099511627776"),
    (lambda: al.full(2, "a"), r"TypeError: \[full\] The value is an array of <U1, which is no element type here"),
    (lambda: al.eye("a"), r"TypeError: \[eye\] Expected a shape of integers, got \('a', 'a'\)"),
    (lambda: al.eye(3, k=0.5), r"TypeError: \[eye\] Expected k as an integer, got 0.5"),
    (lambda: al.arange(None), r"TypeError: \[arange\] Expected numbers, got NoneType"),
    (lambda: al.arange(0, 3, 0), r"ValueError: \[arange\] .* a step that is not 0, got 0, 3 and 0"),
    (lambda: al.arange(np.inf), r"ValueError: \[arange\] Expected numbers of 64 bits .*, got 0, inf and 1"),
    (lambda: al.arange(2**100, 2**100 + 1), r"ValueError: \[arange\] Expected numbers of 64 bits .*"),
    (lambda: al.arange(1, 0, -1e-320), r"MemoryError: \[arange\] .* are larger than any memory"),
    (lambda: al.linspace(0, np.nan), r"ValueError: \[linspace\] Expected finite numbers, got 0 and nan"),
    (lambda: al.zeros((0, 2**70)), r"MemoryError: \[zeros\] .* are larger than any memory"),
    (
        lambda: al.arange(2**31, 2**31 + 2),
        r"ValueError: \[arange\] Expected numbers that int32 can hold, got 2147483648",
    ),
    (lambda: al.arange(2**60), r"MemoryError: \[arange\] .* are larger than any memory"),
    (lambda: al.linspace(0, 1, -1), r"ValueError: \[linspace\] Expected num of 0 or more, got -1"),
    (lambda: al.linspace("a", 1), r"TypeError: \[linspace\] Expected numbers, got str"),
    (lambda: al.linspace(0, 1, 3, dtype="int32"), r"ValueError: \[linspace\] .* int32 can hold, got 0.5"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_no_array_is_made_of(case):
    call, says = WRONG[case]
    with pytest.raises((TypeError, ValueError, MemoryError)) as caught:
        call()
    said = f"{caught.type.__name__}: {caught.value}"
    assert re.fullmatch(rf"{says}; (built )?at \S*test_creation\.py:\d+\.", said), said


def test_arrays_stand_beside_tensors():
    graph = al.Graph()
    x = graph.placeholder((3, 3))
    fetches = [al.eye(3) @ x, al.where(x > 4, x, al.zeros(3)), al.concat([al.ones((1, 3)), x], 0), x + al.arange(3.0)]
    given = np.arange(9, dtype=np.float32).reshape(3, 3)
    product, chosen, joined, added = graph.compile([x], fetches)(given)
    np.testing.assert_array_equal(product, given)
    np.testing.assert_array_equal(chosen, given * (given > 4))
    np.testing.assert_array_equal(joined, np.concatenate([np.ones((1, 3)), given]))
    np.testing.assert_array_equal(added, given + [0, 1, 2])
    w = graph.variable(al.linspace(0, 1, 3))
    np.testing.assert_array_equal(w.numpy(), [0, 0.5, 1])


def test_a_tensor_of_an_array_says_how_it_is_made():
    with pytest.raises(TypeError, match=r"\[sum\] Expected a tensor, got ndarray; graph.constant makes one"):
        al.sum(al.ones(3))
