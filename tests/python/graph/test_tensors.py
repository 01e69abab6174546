"""Tensors as users of NumPy and PyTorch handle them: methods, operators, places as indices, small functions."""

import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from running import value_of

FLOATS = np.arange(6, dtype=np.float32).reshape(2, 3)
VOLUME = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)


@pytest.fixture
def x(graph):
    return graph.placeholder((2, 3), name="x")


# ---- methods and operators ----


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 2,
        lambda x: 2 - x,
        lambda x: x * np.float32(2),
        lambda x: 1 / (x + 1),
        lambda x: x**2,
        lambda x: 2**x,
        lambda x: -x,
        lambda x: abs(x - 3),
        lambda x: x + FLOATS,
        lambda x: FLOATS - x,
        lambda x: x @ FLOATS.T,
        lambda x: FLOATS.T @ x,
        lambda x: x < 3,
        lambda x: 3 <= x,
        lambda x: x > FLOATS[:1],
        lambda x: FLOATS[:1] >= x,
        lambda x: x + True,
        lambda x: np.float64(0.5) * x,
        lambda x: x % 2.5,
        lambda x: 7 % (x - 2.5),
        lambda x: FLOATS % (x - 2.5),
        lambda x: x // 2,
        lambda x: -x // 0.7,
        lambda x: 7 // (x - 2.5),
        lambda x: FLOATS // (x - 2.5),
        lambda x: FLOATS ** (x + 0.5),
        lambda x: FLOATS / (x + 1),
        lambda x: FLOATS @ x.T,
        lambda x: FLOATS[:, :1] > x,
        lambda x: np.float32(2) <= x,
        lambda x: +x,
        lambda x: x.sum(),
        lambda x: x.mean(0),
        lambda x: x.max(axis=-1),
        lambda x: x.min(axis=1, keepdims=True),
        lambda x: x.prod((0, 1)),
        lambda x: (x > 2).all(1),
        lambda x: (x > 2).any(0),
        lambda x: x.T,
        lambda x: x.transpose(),
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose((1, 0)),
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((3, -1)),
        lambda x: x.reshape(-1),
        lambda x: x[:1].squeeze(),
        lambda x: x[:1].squeeze(0),
        lambda x: x.astype("float32"),
        lambda x: x.astype(np.float32) + x.ndim,
    ],
)
def test_numpys_habits(function, x):
    expected = function(FLOATS)
    value = value_of(function(x), x, FLOATS)
    assert value.dtype == (bool if expected.dtype == bool else np.float32)
    assert value.shape == expected.shape
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_arrays_left_of_integers_and_bools(graph):
    given, other = np.int32([6, 3, -5]), np.int32([3, 5, 6])
    x = graph.placeholder((3,), "int32")
    for function in (
        lambda x: other & x,
        lambda x: other | x,
        lambda x: other ^ x,
        lambda x: other << (x & 3),
        lambda x: x >> 1,
        lambda x: other // x,
        lambda x: other % x,
        lambda x: (other > x) & (other < 6),
        lambda x: x.argmax(-1),
        lambda x: x.argmin(0),
    ):
        np.testing.assert_array_equal(value_of(function(x), x, given), function(given))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "float32", "float16"])
def test_floor_division_is_pythons(dtype, graph):
    if dtype.startswith("float"):
        numbers = np.array([0, 0.1, 1, 2.5, 7, 1e-3, 60000], dtype)
        numbers = np.concatenate([numbers, -numbers])
    else:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        numbers = np.unique(np.concatenate([np.arange(-9, 10).astype(dtype), np.array([least, most], dtype)]))
    a, b = (part.ravel() for part in np.meshgrid(numbers, numbers[numbers != 0]))
    if al.device().system:  # macOS's own quotients are promised for ordinary numbers only
        a, b = (part[(np.abs(a.astype(float)) < 1e9) & (np.abs(b.astype(float)) < 1e9)] for part in (a, b))
    if dtype.startswith("i"):
        is_too_large = (a == np.iinfo(dtype).min) & (b == -1)  # for the type
        a, b = a[~is_too_large], b[~is_too_large]
    x, y = graph.placeholder(a.shape, dtype), graph.placeholder(a.shape, dtype)
    quotient, left = graph.compile([x, y], [x // y, x % y])(a, b)
    with np.errstate(over="ignore"):
        expected = a // b
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(quotient[finite], expected[finite])
    assert quotient.dtype == a.dtype
    if not dtype.startswith("float"):
        np.testing.assert_array_equal(quotient * b + left, a)


def test_floor_division_by_zero_and_of_infinities(graph):
    a = np.float32([1, -1, 0, np.inf, -np.inf, np.nan, 1, -1, 1])
    b = np.float32([0, 0, 0, 2, 2, 2, np.inf, np.inf, -np.inf])
    x, y = graph.placeholder(a.shape), graph.placeholder(a.shape)
    with np.errstate(all="ignore"):
        expected = a // b
    np.testing.assert_array_equal(value_of(x // y, x, a, y, b), expected)
    (gradient,) = al.gradients(al.sum(x // 2.0), [x])
    np.testing.assert_array_equal(value_of(gradient, x, a), np.zeros(a.shape))


# ---- places as indices ----

PLACES = [
    [0, 1],
    [1, -1, 0],
    np.array([[0, 1], [1, 1]]),
    np.array(1),
    (slice(None), [2, 0]),
    (slice(None, None, -1), [2, 0], slice(1, 3)),
    (..., [4, -5]),
    ([0, 1], [2, 0]),
    ([[0], [1]], [2, 0, 1]),
    (slice(None), [1, 2], [3, 0]),
    (slice(None), [[1], [2]], [3, 0], None),
    (0, [1, 2]),
    ([1, 0], 2),
    (None, [1, 0]),
    ([1, 0], slice(1, None), None),
    (slice(1, None), [1, 2], 0, [4, 0]),
    VOLUME[..., 0, 0] > 60,
    (slice(None), [True, False, True]),
    (slice(None), np.array([True, False, True]), [3, 0]),
    ([0, 1], [2, 0], [3, 3], [1, 4]),
]


def entries_of(key):
    return key if isinstance(key, tuple) else (key,)


def is_places(entry):
    return isinstance(entry, (list, np.ndarray))


@pytest.mark.parametrize("key", PLACES, ids=lambda key: " ".join(str(key).split()))
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (None, 3, None, 5)], ids=str)
def test_indexing_by_places(key, shape, graph):
    x, expected = graph.placeholder(shape), VOLUME[key]
    np.testing.assert_array_equal(value_of(x[key], x, VOLUME), expected)
    if any(is_places(entry) and np.array(entry).dtype == bool for entry in entries_of(key)):
        return
    by_tensors = tuple(
        graph.constant(np.array(entry, np.int32 if i % 2 else np.int64)) if is_places(entry) else entry
        for i, entry in enumerate(entries_of(key))
    )
    np.testing.assert_array_equal(value_of(x[by_tensors], x, VOLUME), expected)
    (gradient,) = al.gradients(al.sum(x[key] * expected), [x])
    added = np.zeros_like(VOLUME)
    np.add.at(added, key, expected)
    np.testing.assert_array_equal(value_of(gradient, x, VOLUME), added)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "uint32"])
def test_indexing_by_tensors(dtype, graph):
    x, rows = graph.placeholder((None, 3)), graph.placeholder((None,), dtype)
    values = np.arange(15, dtype=np.float32).reshape(5, 3)
    given = np.array([4, 0, 1] if dtype.startswith("u") else [-1, 0, -4], dtype)
    step = graph.compile([x, rows], [x[rows], x[rows, 1], x[rows[0]]])
    for result, expected in zip(step(values, given), (values[given], values[given, 1], values[given[0]])):
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(step(values, np.array([5, 0, 1], dtype))[0][0], np.zeros(3))  # outside


def test_a_place_of_a_loop(graph):
    x = graph.placeholder((4, 2))
    total = al.for_loop(0, 4, lambda i, carried: carried + x[i] * (i + 1).astype("float32"), al.zeros_like(x[0]))
    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(value_of(total, x, values), np.float32([1, 2, 3, 4]) @ values)


@pytest.mark.parametrize(
    "key, kind, says",
    [
        (True, TypeError, "integers, slices, None, ... or arrays of places, got bool"),
        (2, ValueError, r"Index 2 is outside axis 0 of float32\(2, 3\)"),
        ((..., ...), ValueError, r"one \.\.\."),
        ([0.5], TypeError, "an array of float64"),
        ([[1], [1, 2]], TypeError, "integers in a list of places"),
        ([0, 2], ValueError, r"Index 2 is outside axis 0 of float32\(2, 3\)"),
        ((slice(None), np.array([0, -4])), ValueError, r"Index -4 is outside axis 1 of float32\(2, 3\)"),
        ([], TypeError, "an array of float64"),
        (np.zeros(2, bool), ValueError, "no empty tensors"),
        (np.zeros((2, 3, 1), bool), ValueError, "at most 2 indices"),
        (([0], None, [0]), ValueError, "neighbouring axes"),
        (slice(0, 1.5), TypeError, "integers as bounds"),
        (slice("a", None), TypeError, "integers as bounds"),
    ],
    ids=str,
)
def test_wrong_places(key, kind, says, x):
    with pytest.raises(kind, match=rf"^\[slice\] .*{says}.*; at \S*test_tensors\.py:\d+\.$"):
        x[key]


def test_places_of_the_wrong_kind(x):
    with pytest.raises(TypeError, match=r"^\[slice\] Expected integers as places, got float32\(2, 3\); at "):
        x[x]
    with pytest.raises(ValueError, match=r"^\[slice_update\] .*al\.scatter takes indices; at "):
        al.slice_update(x, ([0, 1],), 0.0)


# ---- functions ----


@pytest.mark.parametrize("name", ["log1p", "expm1"])
@pytest.mark.parametrize("dtype, bound", [("float32", 4e-7), ("float16", 1e-3), ("bfloat16", 8e-3)])
def test_exact_near_zero(name, dtype, bound, graph):
    if dtype == "bfloat16" and "13." in al.device().system:
        pytest.skip("macOS 14 brought bfloat16")
    tiny = np.float64([1e-30, 1e-20, 1e-8, 1e-7, 3e-5, 1e-3, 0.1, 0.49, 0.5, 0.51, 0.99, 1.0, 1.01, 3, 10])
    low = -tiny[tiny < 1] if name == "log1p" else np.append(-tiny, -80)
    numbers = np.sort(np.concatenate([tiny, low, [0, 60 if dtype == "float32" else 8]]))
    x = graph.placeholder(numbers.shape, dtype)
    given = numbers.astype(numpy_dtype(dtype))
    wide = given.astype(np.float64)
    expected, slope = (np.log1p(wide), 1 / (1 + wide)) if name == "log1p" else (np.expm1(wide), np.exp(wide))
    y = getattr(al, name)(x)
    value, gradient = graph.compile([x], [y, *al.gradients(al.sum(y), [x])])(given)
    assert value.dtype == given.dtype
    most = 6e4 if dtype == "float16" else 1e38
    kept = (np.abs(expected) < most) & (slope < most)
    tiniest = 1.2e-38 if dtype != "float16" else 6e-8
    np.testing.assert_allclose(value.astype(np.float64)[kept], expected[kept], rtol=bound, atol=tiniest)
    np.testing.assert_allclose(gradient.astype(np.float64)[kept], slope[kept], rtol=4 * bound, atol=tiniest)


@pytest.mark.parametrize(
    "name, given, expected, slopes",
    [
        ("log1p", [-1, np.inf, np.nan, -2, 3e38], [-np.inf, np.inf, np.nan, np.nan, np.log(3e38)], [np.inf, 0]),
        ("expm1", [-np.inf, np.inf, np.nan, 100, -200], [-1, np.inf, np.nan, np.inf, -1], [0, np.inf]),
    ],
)
def test_ends_of_the_exact_functions(name, given, expected, slopes, graph):
    x = graph.placeholder((5,))
    y = getattr(al, name)(x)
    value, gradient = graph.compile([x], [y, *al.gradients(al.sum(y), [x])])(np.float32(given))
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_array_equal(gradient[:2], slopes)
    assert np.isfinite(gradient[4])


def test_constants_like_a_tensor(graph):
    x = graph.placeholder((None, 2), "int16")
    given = np.int16([[1, 2], [3, 4], [5, 6]])
    fetched = graph.compile([x], [al.zeros_like(x), al.ones_like(x), al.full_like(x, 7), al.full_like(x, x[0])])(given)
    for value, expected in zip(fetched, (0, 1, 7, [1, 2])):
        np.testing.assert_array_equal(value, np.broadcast_to(np.int16(expected), (3, 2)))
        assert value.dtype == np.int16
    flags = al.cast(x, bool)
    for value, expected in zip(graph.compile([x], [al.zeros_like(flags), al.ones_like(flags)])(given), (False, True)):
        np.testing.assert_array_equal(value, np.full((3, 2), expected))
        assert value.dtype == bool
