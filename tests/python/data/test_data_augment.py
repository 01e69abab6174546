"""Random crops and flips, and normalisation: of single images and of batches, bytes and float32."""

import numpy as np
import pytest

from alloy.data import augment, from_arrays
from alloy.data.augment import mean_and_std, normalize, random_crop, random_flip


@pytest.fixture(params=["uint8", "float32"])
def images(request, rng):
    """(6, 8, 5, 3), without a zero."""
    return rng.integers(1, 256, (6, 8, 5, 3)).astype(request.param)


class Fixed:
    """A generator that draws what it is told."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def integers(self, low, high, shape):
        drawn = np.array(self.draws.pop(0))
        assert drawn.shape == shape and (low <= drawn).all() and (drawn < high).all()
        return drawn

    def random(self, count):
        drawn = np.array(self.draws.pop(0))
        assert drawn.shape == (count,)
        return drawn


PLACES = [[0, 0], [8, 4], [4, 2], [1, 3], [7, 0], [4, 4]]


def test_crops_are_windows_of_the_padded_images(images):
    padded = np.pad(images, ((0, 0), (4, 4), (2, 2), (0, 0)))
    cropped = random_crop(padding=(4, 2))(images, rng=Fixed(PLACES))
    assert cropped.shape == images.shape and cropped.dtype == images.dtype
    for crop, image, (top, left) in zip(cropped, padded, PLACES):
        np.testing.assert_array_equal(crop, image[top : top + 8, left : left + 5])
    np.testing.assert_array_equal(cropped[2], images[2])  # in the middle


def test_crops_of_another_size(images):
    cropped = random_crop((4, 5))(images, rng=Fixed([[i % 5, 0] for i in range(6)]))
    assert cropped.shape == (6, 4, 5, 3)
    for i in range(6):
        np.testing.assert_array_equal(cropped[i], images[i, i % 5 : i % 5 + 4])
    assert random_crop(3)(images, rng=np.random.default_rng(0)).shape == (6, 3, 3, 3)


def test_every_place_is_drawn():
    """Chi-squared with 24 degrees of freedom; 52 is exceeded with a probability of 0.0008."""
    image = np.arange(36, dtype=np.float32).reshape(1, 6, 6, 1)
    first = random_crop(2)(np.repeat(image, 5000, 0), rng=np.random.default_rng(1))[:, 0, 0, 0]
    counts = np.bincount(first.astype(int), minlength=36).reshape(6, 6)
    assert (counts[5] == 0).all() and (counts[:, 5] == 0).all()
    assert ((counts[:5, :5] - 200) ** 2 / 200).sum() < 52


def test_flips_mirror_images(images):
    flipped = random_flip()(images, rng=Fixed([0.1, 0.6, 0.49, 0.5, 0.9, 0.0]))
    assert flipped.dtype == images.dtype
    for i in range(6):
        np.testing.assert_array_equal(flipped[i], images[i, :, ::-1] if i in (0, 2, 5) else images[i])
    flipped = random_flip("vertical")(images, rng=Fixed([0.1, 0.6, 0.6, 0.6, 0.6, 0.6]))
    np.testing.assert_array_equal(flipped[0], images[0, ::-1])
    flipped = random_flip("horizontal_and_vertical")(
        images, rng=Fixed([0.1, 0.6, 0.1, 0.6, 0.6, 0.6], [0.1, 0.1, *[0.6] * 4])
    )
    np.testing.assert_array_equal(flipped[0], images[0, ::-1, ::-1])
    np.testing.assert_array_equal(flipped[1], images[1, ::-1])
    np.testing.assert_array_equal(flipped[2], images[2, :, ::-1])
    np.testing.assert_array_equal(flipped[3:], images[3:])


def test_half_of_the_images_are_flipped():
    image = np.float32([[[0], [1]]])
    flipped = random_flip()(np.repeat(image[None], 10000, 0), rng=np.random.default_rng(1))
    assert abs(flipped[:, 0, 0, 0].mean() - 0.5) < 0.02  # four standard deviations


def test_normalize(images):
    unit = 255 if images.dtype == np.uint8 else 1
    mean, std = np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.3, 0.4])
    found = normalize(mean, std)(images)
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found, (images.astype(np.float64) / unit - mean) / std, rtol=2e-6, atol=1e-6 * 255 / unit
    )
    np.testing.assert_allclose(
        normalize(0.5, 0.25)(images), (images.astype(np.float64) / unit - 0.5) / 0.25, rtol=2e-6, atol=1e-6 * 255 / unit
    )


@pytest.mark.parametrize("count", [1, 255, 256, 257, 700])
def test_mean_and_std(count, rng):
    images = (rng.normal(size=(count, 3, 2, 2)) * [1, 50] + [1000, 2]).astype(np.float32)
    mean, std = mean_and_std(images)
    exact = images.astype(np.float64)
    np.testing.assert_allclose(mean, exact.mean((0, 1, 2)), rtol=1e-12)
    np.testing.assert_allclose(std, exact.std((0, 1, 2)), rtol=1e-10)
    np.testing.assert_allclose(mean_and_std(from_arrays(images, np.arange(count)).batch(100)), (mean, std), rtol=1e-10)
    np.testing.assert_allclose(mean_and_std(from_arrays(images)), (mean, std), rtol=1e-10)
    whole = normalize(mean, std)(images)
    np.testing.assert_allclose(whole.mean((0, 1, 2)), 0, atol=1e-3)
    np.testing.assert_allclose(whole.std((0, 1, 2)), 1, rtol=1e-3)


def test_bytes_count_as_zero_to_one(rng):
    images = rng.integers(0, 256, (300, 2, 2, 1)).astype(np.uint8)
    mean, std = mean_and_std(images)
    np.testing.assert_allclose((mean[0], std[0]), (images.mean() / 255, images.std() / 255), rtol=1e-12)
    np.testing.assert_allclose(normalize(mean, std)(images).std(), 1, rtol=1e-5)


@pytest.mark.parametrize("function", [random_crop(padding=2), random_flip(), normalize(0.1, 0.2)])
def test_single_images_and_the_rest_of_an_example(function, images):
    before = images.copy()
    x, y, weight = function(images[0], 3, 0.5, rng=np.random.default_rng(7))
    assert x.shape == (8, 5, 3) and (y, weight) == (3, 0.5)
    np.testing.assert_array_equal(x, function(images[:1], rng=np.random.default_rng(7))[0])
    np.testing.assert_array_equal(images, before)


@pytest.mark.parametrize("batched", [False, True])
def test_maps_repeat(images, batched):
    def data():
        whole = from_arrays(images, np.arange(6)).shuffle(seed=1)
        whole = whole.batch(4) if batched else whole
        whole = whole.map(random_crop(padding=3), seed=1).map(random_flip(), seed=1).map(normalize(0.5, 0.1))
        return whole if batched else whole.batch(4)

    first, again = [list(data().epoch(e)) for e in (0, 0)], [list(data().epoch(e)) for e in (0, 1)]
    for (x, y), (x2, y2) in zip(first[0], again[0], strict=True):
        np.testing.assert_array_equal(x, x2)
        np.testing.assert_array_equal(y, y2)
    assert not np.array_equal(first[0][0][0], again[1][0][0])
    assert data().spec == (((None, 8, 5, 3), np.float32), ((None,), np.int32))
    assert "map(random_crop, seed=1).map(random_flip, seed=1).map(normalize)" in repr(data())


IMAGE = np.zeros((4, 4, 1), np.float32)


@pytest.mark.parametrize(
    "call, kind, says",
    [
        (
            lambda: random_crop()(IMAGE),
            TypeError,
            "[random_crop] Expected random numbers, which map(random_crop(...), seed=0)",
        ),
        (
            lambda: random_flip()({"x": IMAGE}),
            TypeError,
            "[random_flip] Expected images (height, width, channels) or a batch",
        ),
        (lambda: random_flip()(IMAGE[0], rng=1), TypeError, "as the first part, got (4, 1)"),
        (lambda: random_flip()(IMAGE.astype(int), rng=1), TypeError, "images of uint8 or float32, got int64"),
        (
            lambda: random_crop(5)(IMAGE, rng=1),
            ValueError,
            "Expected images of (5, 5) or more with padding (0, 0), got (4, 4)",
        ),
        (lambda: random_crop(0), ValueError, "[random_crop] Expected a size of 1 or more, got 0"),
        (lambda: random_crop(padding=-1), ValueError, "[random_crop] Expected a padding of 0 or more, got -1"),
        (lambda: random_crop((1, 2, 3)), ValueError, "a size for the rows and one for the columns, got (1, 2, 3)"),
        (
            lambda: random_flip("left"),
            ValueError,
            "a mode among 'horizontal', 'vertical', 'horizontal_and_vertical', got 'left'",
        ),
        (lambda: normalize(0, [1, 0]), ValueError, "[normalize] Expected a std above 0, got [1, 0]"),
        (lambda: normalize(np.nan, 1), ValueError, "[normalize] Expected a finite mean"),
        (lambda: normalize([1, 2], 1)(IMAGE), ValueError, "[normalize] Expected images of 2 channels, got 1"),
        (
            lambda: mean_and_std(IMAGE),
            ValueError,
            "[mean_and_std] Expected images (n, height, width, channels), got shape (4, 4, 1)",
        ),
    ],
)
def test_mistakes_are_named(call, kind, says):
    with pytest.raises(kind) as raised:
        call()
    assert says in str(raised.value) and "test_data_augment.py:" in str(raised.value)


def test_what_there_is():
    assert augment.__all__ == ["mean_and_std", "normalize", "random_crop", "random_flip"]
