"""Random changes of images during training: functions for Dataset.map. Each takes an image (height, width, channels) or
a batch of them, bytes or float32, and passes on the other parts of the example:

    data.batch(128).map(al.data.augment.random_crop(padding=4), seed=1).map(al.data.augment.random_flip(), seed=2)

Before batch they change single images; after it they change whole batches, which costs less. Each image of a batch has
random numbers of its own either way."""

import numpy as np

from alloy.data.dataset import Dataset
from alloy.engine.arrays import as_choice, as_pair
from alloy.engine.structure import leaves
from alloy.messages.location import mistake

__all__ = ["mean_and_std", "normalize", "random_crop", "random_flip"]

_FLIPS = {"horizontal": (2,), "vertical": (1,), "horizontal_and_vertical": (2, 1)}  # the axes of a batch


class _Images:
    """A function of images that passes on the other parts of the example."""

    draws = True

    def __call__(self, images, *rest, rng=None):
        if not isinstance(images, np.ndarray) or images.ndim not in (3, 4):
            given = getattr(images, "shape", type(images).__name__)
            expected = "images (height, width, channels) or a batch of them as the first part"
            raise mistake(self, f"Expected {expected}, got {given}", TypeError)
        if images.dtype not in (np.uint8, np.float32):
            raise mistake(self, f"Expected images of uint8 or float32, got {images.dtype}", TypeError)
        if self.draws and rng is None:
            raise mistake(
                self, f"Expected random numbers, which map({type(self).__name__}(...), seed=0) gives it", TypeError
            )
        changed = self.change(images if images.ndim == 4 else images[None], rng)
        changed = changed if images.ndim == 4 else changed[0]
        return (changed, *rest) if rest else changed

    def change(self, images: np.ndarray, rng) -> np.ndarray:
        """Changes images (n, height, width, channels)."""
        raise NotImplementedError


class random_crop(_Images):
    """Cuts a window at a random place out of each image, after adding `padding` zeros to each of its sides.

    size: (height, width) of the window, or one number for both; by default the size of the image. padding: one number
    for all sides, or (rows, columns). ValueError: an image is too small."""

    def __init__(self, size=None, *, padding=0):
        self.size = None if size is None else as_pair(self, "a size", size)
        self.padding = as_pair(self, "a padding", padding, 0)

    def change(self, images, rng):
        count, height, width, channels = images.shape
        rows, columns = self.padding
        size = self.size or (height, width)
        room = height + 2 * rows - size[0], width + 2 * columns - size[1]
        if min(room) < 0:
            given = f"with padding {self.padding}, got {(height, width)}"
            raise mistake(self, f"Expected images of {size} or more {given}")
        places = rng.integers(0, [extent + 1 for extent in room], (count, 2)).tolist()
        padded = np.zeros((height + 2 * rows, width + 2 * columns, channels), images.dtype)
        cropped = np.empty((count, *size, channels), images.dtype)
        for image, crop, (top, left) in zip(images, cropped, places):
            padded[rows : rows + height, columns : columns + width] = image
            crop[...] = padded[top : top + size[0], left : left + size[1]]
        return cropped


class random_flip(_Images):
    """Mirrors each image with a probability of 1/2.

    mode: "horizontal" exchanges left and right, "vertical" top and bottom, "horizontal_and_vertical" does each of them
    with a probability of 1/2."""

    def __init__(self, mode="horizontal"):
        self.mode = as_choice(self, "a mode", mode, _FLIPS)

    def change(self, images, rng):
        images = images.copy()
        for axis in _FLIPS[self.mode]:
            chosen = rng.random(len(images)) < 0.5
            backwards = np.arange(images.shape[axis])[::-1]
            images[chosen] = np.take(images[chosen], backwards, axis)
        return images


class normalize(_Images):
    """(images - mean) / std for each channel, in float32. Bytes are divided by 255 first.

    mean, std: a number, or one for each channel; mean_and_std(images) measures them. ValueError: a std is not above
    0."""

    draws = False

    def __init__(self, mean, std):
        self.mean, self.std = np.asarray(mean, np.float64), np.asarray(std, np.float64)
        if self.mean.ndim > 1 or self.std.ndim > 1 or not np.isfinite(self.mean).all():
            raise mistake(self, f"Expected a finite mean and a std for each channel, got {mean} and {std}")
        if not (np.isfinite(self.std).all() and (self.std > 0).all()):
            raise mistake(self, f"Expected a std above 0, got {std}")

    def change(self, images, rng):
        for each in (self.mean, self.std):
            if each.ndim and each.shape != images.shape[-1:]:
                raise mistake(self, f"Expected images of {len(each)} channels, got {images.shape[-1]}")
        unit = 255 if images.dtype == np.uint8 else 1
        scaled = images * np.float32(1 / (self.std * unit))
        scaled -= np.float32(self.mean / self.std)
        return scaled


def mean_and_std(images) -> tuple[np.ndarray, np.ndarray]:
    """Measures mean and standard deviation of each channel, two float64 arrays (channels,), for
    normalize(*mean_and_std(images)). Bytes are divided by 255 first.

    images: (n, height, width, channels), or a data set whose elements have images as their first part: its first epoch
    is measured."""
    parts = (leaves(element)[0] for element in images.epoch(0)) if isinstance(images, Dataset) else _parts(images)
    count, total, squares = 0, np.zeros(()), np.zeros(())
    for part in parts:
        rows = np.asarray(part).reshape(-1, np.shape(part)[-1]).astype(np.float64)
        rows /= 255 if part.dtype == np.uint8 else 1
        shift = rows.mean(0)  # parts are joined by Chan, Golub and LeVeque's formula, which loses no digits
        delta, fresh = shift - total, len(rows)
        squares = squares + ((rows - shift) ** 2).sum(0) + delta**2 * (count * fresh / (count + fresh))
        total = total + delta * (fresh / (count + fresh))
        count += fresh
    return total, np.sqrt(squares / count)


def _parts(images):
    images = np.asarray(images)
    if images.ndim != 4 or not images.size:
        raise mistake("mean_and_std", f"Expected images (n, height, width, channels), got shape {images.shape}")
    return (images[i : i + 256] for i in range(0, len(images), 256))
