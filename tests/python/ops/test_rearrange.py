"""What cuts, repeats, turns around and moves elements: with dimensions that only a run knows, with NaN, by key."""

import numpy as np
import pytest

import alloy as al
from running import run


def numbers(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def with_minus_1(x):
    y = x.copy()
    y[::2, 1] = -1
    return y


OPEN = [  # what is open, the op, what it means
    ((None, None), lambda x: al.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3))),
    ((None, 4), lambda x: al.tile(x, (1, 2)), lambda x: np.tile(x, (1, 2))),
    ((None, None), lambda x: al.interleave([x, -x, x], axis=0), lambda x: np.stack([x, -x, x], 1).reshape(-1, 4)),
    ((None, None), lambda x: al.stack([x, -x], axis=1), lambda x: np.stack([x, -x], 1)),
    ((None, None), al.flip, np.flip),
    ((None, None), lambda x: al.repeat(x, 3, axis=0), lambda x: np.repeat(x, 3, axis=0)),
    ((None, 4), lambda x: al.repeat(x, 2), lambda x: np.repeat(x, 2)),
    ((None, 4), lambda x: al.roll(x, -1, axis=1), lambda x: np.roll(x, -1, axis=1)),
    ((None, None), lambda x: al.outer(x, x[0]), lambda x: np.outer(x, x[0])),
    ((None, 4), lambda x: al.median(x, axis=1), lambda x: np.median(x, axis=1).astype(np.float32)),
    ((None, None), lambda x: al.count_nonzero(x, axis=1), lambda x: np.count_nonzero(x, axis=1).astype(np.int32)),
    ((None, None), lambda x: al.masked_fill(x, x > 5, 0), lambda x: np.where(x > 5, np.float32(0), x)),
    ((None, None), lambda x: al.isclose(x, 5, atol=3), lambda x: np.isclose(x, 5, atol=3)),
    ((None, 4), lambda x: al.split(x, 2, axis=1)[1], lambda x: x[:, 2:]),
    ((None, 4), lambda x: al.coordinates(x, axis=1), lambda x: np.indices(x.shape, np.int32)[1]),
    ((None, None), lambda x: al.slice_update(x, np.s_[::2, 1], -1), with_minus_1),
    ((None, None), lambda x: al.space_to_batch(x, (2,), axis=(1,)), lambda x: np.concatenate([x[:, ::2], x[:, 1::2]])),
    ((None, None), lambda x: al.batch_to_space(x, (3,), axis=(1,)),
     lambda x: np.stack(np.split(x, 3), 2).reshape(2, 12)),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(OPEN)))
def test_dimensions_may_be_open(case):
    shape, build, reference = OPEN[case]
    x = numbers(6, 4)
    (y,) = run(build, x, shapes=[shape])
    expected = reference(x)
    assert y.shape == expected.shape and y.dtype == expected.dtype
    np.testing.assert_array_equal(y, expected)


def test_flatten_of_open_dimensions():
    (y,) = run(al.flatten, numbers(2, 3, 4), shapes=[(None, None, 4)])
    np.testing.assert_array_equal(y, numbers(2, 12))


def test_gradient_of_a_tile_of_open_dimensions():
    def build(x, g):
        return al.gradients(al.sum(al.tile(x, (2, 3)) * g), [x])

    x, g = numbers(2, 3), numbers(4, 9)
    (dx,) = run(build, x, g, shapes=[(None, None), (None, None)])
    np.testing.assert_array_equal(dx, g.reshape(2, 2, 3, 3).sum((0, 2)))


@pytest.mark.parametrize(
    "build",
    [
        lambda x: al.split(x, 2, axis=0),
        lambda x: al.split(x, (1, 2), axis=0),
        lambda x: al.coordinates(x, axis=0),
        lambda x: al.band_part(x, 1, 1),
    ],
)
def test_where_an_extent_must_be_known_it_says_so(build):
    x = al.Graph().placeholder((None, 4))
    with pytest.raises(
        ValueError, match=r"The extent along axis 0 must be known when the op is added, got shape \(\?, 4\)"
    ):
        build(x)


@pytest.mark.parametrize("key", [np.s_[1], np.s_[:, 1:3], np.s_[::-1, -1], np.s_[..., None, ::2], np.s_[()]])
def test_slice_update_is_an_assignment_by_key(key):
    x = numbers(3, 4)
    expected = x.copy()
    update = -numbers(*x[key].shape)
    expected[key] = update
    (y,) = run(lambda x, u: al.slice_update(x, key, u), x, update)
    np.testing.assert_array_equal(y, expected)


def test_nothing_is_left_of_what_is_replaced():
    """NaN neither, in the value, nor in what flows back."""
    x, update = numbers(3, 4), np.float32([[7, np.nan]])
    x[1, 1:3] = np.nan
    weights = numbers(3, 4)

    def build(x, u):
        y = al.slice_update(x, np.s_[1:2, 1:3], u)
        return [y, *al.gradients(al.sum(y * weights), [x, u])]

    y, dx, du = run(build, x, update)
    expected = x.copy()
    expected[1, 1:3] = update
    np.testing.assert_array_equal(y, expected)
    outside = np.ones((3, 4), bool)
    outside[1, 1:3] = False
    np.testing.assert_array_equal(dx, weights * outside)
    np.testing.assert_array_equal(du, weights[1:2, 1:3])


def test_nan_outside_a_band_becomes_0():
    x = np.full((4, 4), np.nan, np.float32)
    (y,) = run(lambda x: al.band_part(x, 0, 0), x)
    np.testing.assert_array_equal(np.isnan(y), np.eye(4, dtype=bool))


def test_bits():
    x = np.float32([[0, -0.0, 1, np.inf], [1e-40, -2.5, 3e38, np.nan]])
    words, back, halves = run(
        lambda x: [al.bitcast(x, "uint32"), al.bitcast(al.bitcast(x, "uint8"), "float32"), al.bitcast(x, "uint16")], x
    )
    np.testing.assert_array_equal(words, x.view(np.uint32))
    np.testing.assert_array_equal(back.view(np.uint32), x.view(np.uint32))
    np.testing.assert_array_equal(halves, x.view(np.uint16))
    with pytest.raises(TypeError, match="bool"):
        al.bitcast(al.Graph().placeholder((2,), "uint8"), "bool")


def test_what_changes_nothing_is_an_op_of_its_own():
    """So that it has its own name, not its operand's."""
    graph = al.Graph()
    x = graph.placeholder((2, 3), name="x")
    y = al.tile(x, (1, 1))
    assert x.name == "x" and not y == x
