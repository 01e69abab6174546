"""Images in files, read by Pillow when needed."""

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from alloy.data.dataset import Dataset
from alloy.data.files import scaled, sentence
from alloy.data.sources import Items
from alloy.engine.arrays import as_pair, as_path

__all__ = ["image_folder"]

_ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}  # number of channels: Pillow's name


def image_folder(path, size=None, *, channels: int = 3, dtype: DTypeLike = np.float32):
    """Returns (data, names) of a folder with one folder of images for each class: a data set of (image, class), and the
    names of the classes: the folders' names, sorted.

    The examples come in the order of the classes and of the files' names; shuffle them. Images are (height, width,
    channels), and classes int32. Files are read when needed, by several threads with batch(..., workers=4).

    size: (height, width), or one number for both, to which images are stretched (bilinear; antialiased when they
    shrink). None leaves them as they are: then crop them to one size before batch. channels: 1 (grey), 3 (red, green,
    blue) or 4 (with opacity). dtype: float32, for values in [0, 1], or uint8, for bytes.

    ValueError: there are no folders, one is without images or holds other files (hidden ones are left out), or, when it
    is read, an image is damaged, or grey with more than 8 bits. ModuleNotFoundError: Pillow is missing."""
    try:
        import PIL.Image  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "[image_folder] Images are read by Pillow, which is missing: pip install Pillow"
        ) from None
    root = Path(as_path("image_folder", path))
    if not root.is_dir():
        raise ValueError(f"[image_folder] Expected the folder {root}, which is not there.")
    if channels not in _MODES:
        raise ValueError(f"[image_folder] Expected 1, 3 or 4 channels, got {channels!r}.")
    names = sorted(folder.name for folder in root.iterdir() if folder.is_dir() and not folder.name.startswith("."))
    if not names:
        raise ValueError(f"[image_folder] Expected a folder for each class in {root}, got none.")
    files = [(file, label) for label, name in enumerate(names) for file in _images_of(root / name)]
    extents = None if size is None else as_pair("image_folder", "a size", size)
    images = _Images(files, extents, _MODES[channels], scaled("image_folder", dtype))
    return Dataset(Items(images, op="image_folder")), names


def _images_of(folder):
    """Returns the images in a folder and in its subfolders."""
    inside = sorted(file for file in folder.rglob("*") if file.is_file())
    files = [file for file in inside if not any(part.startswith(".") for part in file.relative_to(folder).parts)]
    for file in files:
        if file.suffix.lower() not in _ENDINGS:
            raise ValueError(f"[image_folder] Expected images ({', '.join(_ENDINGS)}) in {folder}, got {file}.")
    if not files:
        raise ValueError(f"[image_folder] Expected images in {folder}, got none.")
    return files


class _Images:
    def __init__(self, files, size, mode, scale):
        self._files = files
        self._size = size
        self._mode = mode
        self._scale = scale

    def __len__(self):
        return len(self._files)

    def __getitem__(self, i):
        file, label = self._files[i]
        try:
            image = self._pixels(file)
        except Exception as error:  # Pillow's readers raise many kinds for damaged files
            raise ValueError(f"{file} is no whole image: {sentence(error)}") from error
        return self._scale(image), label

    def _pixels(self, file):
        from PIL import Image

        with Image.open(file) as image:
            if image.mode.startswith(("I", "F")):
                raise ValueError(f"it has more than 8 bits a channel (mode {image.mode})")
            image = image.convert(self._mode)
            if self._size is not None and image.size != self._size[::-1]:
                image = image.resize(self._size[::-1], Image.Resampling.BILINEAR)
            pixels = np.asarray(image)
        return pixels if pixels.ndim == 3 else pixels[..., None]
