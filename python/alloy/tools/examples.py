"""The examples of a run, from `data` and `validation` of its settings, and files to predict for."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

import alloy as al
from alloy.messages.location import meant
from alloy.tools.call import found, options, users
from alloy.tools.config import is_users, mistake

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_SHARED = ("validation", "normalize", "workers")


@dataclass
class Examples:
    """train, test: (x, y) in arrays, or an al.data.Dataset; test may be None. names: the classes' names, or None.
    options: the options of the data, completed."""

    train: Any
    test: Any = None
    names: list | None = None
    options: dict | None = None


def digits(size=8, channels=1):
    return Examples(al.data.digits(size, channels))


def cifar10(path, dtype="float32"):
    return Examples(*al.data.cifar10(path, np.dtype(dtype)))


def mnist(path, dtype="float32"):
    return Examples(*al.data.mnist(path, np.dtype(dtype)))


def npz(path, x="x", y="y", x_test=None, y_test=None):
    arrays = {name: _single(array) for name, array in al.data.npz(path).items()}
    for name in (x, y, x_test, y_test):
        if name is not None and name not in arrays:
            raise mistake(f"Expected an array {name!r} in {path}, got {', '.join(arrays)}{meant(name, arrays)}")
    test = None if x_test is None or y_test is None else (arrays[x_test], arrays[y_test])
    return Examples((arrays[x], arrays[y]), test)


def _single(array):
    return array.astype(np.float32) if array.dtype == np.float64 else array


def csv(path, target, columns=None, categories=(), delimiter=",", header=True, missing=None):
    number = (lambda name: name) if header else int  # keys of a table in TOML are texts
    if isinstance(categories, dict):
        categories = {number(name): names for name, names in categories.items()}
    elif isinstance(categories, (str, int)):
        categories = [categories]
    table = al.data.csv(
        path, target, columns=columns, categories=categories, delimiter=delimiter, header=header, missing=missing
    )
    known = {}
    for name in categories:
        titles = [title for title in map(str, table.columns) if title.startswith(f"{name}=")]
        known[name] = table.classes if name == target else [title.removeprefix(f"{name}=") for title in titles]
    chosen = list(dict.fromkeys(_column(title, known) for title in table.columns))
    y = table.y[:, None] if table.y is not None and table.classes is None else table.y
    return Examples((table.x, y), names=table.classes, options={"columns": chosen, "categories": known})


def _column(title, categories):
    return next((name for name in categories if str(title).startswith(f"{name}=")), title)


def images(path, size=None, channels=3, dtype="float32"):
    data, names = al.data.image_folder(path, size, channels=channels, dtype=np.dtype(dtype))
    return Examples(data, names=names)


READERS = {"digits": digits, "cifar10": cifar10, "mnist": mnist, "npz": npz, "csv": csv, "images": images}
# Known without reading: the shape of an example for these options, with 10 classes.
SHAPES = {
    "digits": lambda size=8, channels=1: [size, size, channels],
    "cifar10": lambda **_: [32, 32, 3],
    "mnist": lambda **_: [28, 28, 1],
}


def read(settings: dict) -> tuple[Examples, dict]:
    """Returns the examples, and the settings completed from them: classes, input_shape, options of the data."""
    part, share = settings["data"], settings.get("validation")
    if is_users(part["name"]):
        given = users(part["name"])(**options("data", part, users(part["name"])))
        if not isinstance(given, tuple) or len(given) != 2:
            raise mistake(f"Expected (training data, validation data or None) of {part['name']!r}, got {given!r:.80}")
        examples = Examples(*given)
    else:
        examples = _read(part)
        settings = settings | {"data": part | (examples.options or {})}
        _require_names(examples, settings.get("classes"), part.get("path"))
        if isinstance(share, str):
            other = _read(settings["data"] | {"path": share})
            _require_names(other, examples.names, share)
            examples.test = other.train
        elif examples.test is None and share != 0:
            examples.train, examples.test = _split(examples.train, 0.2 if share is None else share)
            settings["validation"] = 0.2 if share is None else share
    examples, settings = _normalized(examples, settings)
    counted = examples.names or _classes(examples.train, examples.test)
    if settings["loss"]["name"] == "binary_cross_entropy":
        examples.train, examples.test = _in_a_column(examples.train), _in_a_column(examples.test)
    known = 10 if part["name"] in SHAPES else None
    shape, classes = _shape(examples.train), known or counted
    if shape is not None and settings.get("input_shape", shape) != shape:
        raise mistake(f"Expected the examples' shape {shape} as input_shape, got {settings['input_shape']}")
    return examples, {"classes": classes, "input_shape": shape} | settings


def _require_names(examples, names, path):
    """Raises a ValueError if the classes of a folder or a table have other names than the run's."""
    if examples.names is not None and isinstance(names, list) and examples.names != names:
        raise mistake(f"Expected the classes {', '.join(names)} in {path}, got {', '.join(examples.names)}")


def _read(part) -> Examples:
    reader = found("data", part, READERS)
    own = {key: value for key, value in part.items() if key not in _SHARED}
    if "path" in own and reader is digits:
        raise mistake(
            f"Expected data that are read from a path, got the path {own['path']} for digits, which need none"
        )
    for key in ("path", "dtype"):
        if key in own and not isinstance(own[key], str):
            raise mistake(f"Expected a text as {key} of the data, got {own[key]!r}")
    if reader is not digits and "path" not in own:
        raise mistake(f'Expected a path for {part["name"]}: --path, or data = {{name = "{part["name"]}", path = ...}}')
    return reader(**options("data", own, reader))


def _split(data, share):
    if isinstance(data, al.data.Dataset):
        return al.data.split(data, fraction=share)
    x, y = data
    return al.data.split(x, y, share)


def _shape(data):
    """Returns the shape of an example, or None if it is not one array."""
    if isinstance(data, al.data.Dataset):
        first = data.spec[0] if isinstance(data.spec, tuple) else None
        shape = list(getattr(first, "shape", ())) or None
        return shape[1:] if shape and data.batched else shape
    return list(np.shape(data[0])[1:]) if isinstance(data, tuple) and isinstance(data[0], np.ndarray) else None


def _in_a_column(data):
    """Turns classes 0 and 1 into numbers (n, 1), for the comparison with single logits."""
    if isinstance(data, al.data.Dataset) and not data.batched:
        return data.map(lambda x, y, *rest: (x, np.float32(y).reshape(-1), *rest))
    if isinstance(data, tuple) and isinstance(data[1], np.ndarray) and data[1].ndim == 1:
        return (data[0], data[1].astype(np.float32)[:, None], *data[2:])
    return data


def _classes(*parts):
    """Returns the number of classes if targets are integers, one for each example."""
    targets = [part[1] for part in parts if isinstance(part, tuple) and len(part) > 1]
    if not targets or not all(isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iu" for y in targets):
        return None
    return int(max(y.max() for y in targets)) + 1


# ---- normalization ----


def _normalized(examples, settings):
    """Normalizes each place of the training data's last axis to mean 0 and standard deviation 1, if `normalize` is set,
    and writes both into the settings."""
    given = settings["data"].get("normalize")
    if not given:
        return examples, settings
    if given is True:
        mean, std = _mean_and_std(examples.train)
        given = {"mean": mean.tolist(), "std": np.where(std > 0, std, 1.0).tolist()}
    elif not isinstance(given, dict) or given.keys() != {"mean", "std"} or not _are_moments(given):
        raise mistake(f"Expected normalize = true or {{mean = [...], std = [...]}} of numbers, got {given!r}")
    settings = settings | {"data": settings["data"] | {"normalize": given}}
    examples.train, examples.test = (
        part if part is None else _changed(part, given) for part in (examples.train, examples.test)
    )
    return examples, settings


def _are_moments(given):
    """Tells whether means and deviations are finite numbers, and the deviations above 0."""
    parts = [value if isinstance(value, list) else [value] for value in given.values()]
    if not all(type(number) in (int, float) for part in parts for number in part):
        return False
    return bool(np.isfinite(np.concatenate(parts)).all() and np.min(given["std"]) > 0)


def _mean_and_std(data):
    if isinstance(data, al.data.Dataset):
        return al.data.augment.mean_and_std(data)
    rows = data[0].reshape(-1, data[0].shape[-1]).astype(np.float64) / (255 if data[0].dtype == np.uint8 else 1)
    return rows.mean(0), rows.std(0)


def _changed(data, normalize):
    if isinstance(data, al.data.Dataset):
        return data.map(lambda x, *rest: (normalized(x, normalize), *rest))
    return (normalized(data[0], normalize), *data[1:])


def normalized(x, normalize):
    """(x - mean) / std in float32; bytes count as values from 0 to 1."""
    mean, std = (np.float32(normalize[key]) for key in ("mean", "std"))
    return (x.astype(np.float32) / np.float32(255 if x.dtype == np.uint8 else 1) - mean) / std


# ---- files to predict for ----


def rows(settings: dict, path) -> tuple[list[str], np.ndarray]:
    """Returns (names of the rows, the rows) of a file: an image, .npy, .npz or .csv, made like the run's data.
    ValueError: it is something else, or does not fit the run."""
    part, suffix = settings["data"], os.path.splitext(path)[1].lower()
    if not os.path.isfile(path):
        raise mistake(f"Expected the file {path}, which is {'no file' if os.path.exists(path) else 'not there'}")
    if suffix in IMAGES:
        x = _image(settings, path)[None]
    elif suffix == ".npz":
        arrays = al.data.npz(path)
        name = part.get("x", "x")
        if name not in arrays and len(arrays) > 1:
            raise mistake(f"Expected an array {name!r} in {path}, got {', '.join(arrays)}")
        x = arrays.get(name, next(iter(arrays.values()), None))
    elif suffix == ".npy":
        x = array(path)
    elif suffix == ".csv":
        x = _table(part, path)
    else:
        raise mistake(f"Expected an image ({', '.join(IMAGES)}), .npy, .npz or .csv, got {path}")
    x = _of_shape(x, settings.get("input_shape"), path)
    x = normalized(x, part["normalize"]) if part.get("normalize") else x
    return [path] if suffix in IMAGES else [f"{path}:{i}" for i in range(len(x))], x


def array(path) -> np.ndarray:
    """Reads an .npy file. ValueError: it is damaged, or holds something else."""
    try:
        return np.load(path, allow_pickle=False)
    except Exception as error:  # damaged files raise many kinds
        raise mistake(f"Expected an array in {path}, which cannot be read: {str(error).rstrip('.')}") from None


def sample(settings: dict) -> np.ndarray | tuple | dict:
    """Returns examples for the model of a run: zeros if shape and type are known without the data."""
    part, shape = settings["data"], settings.get("input_shape")
    if shape is not None and part["name"] in READERS and part["name"] != "npz":
        is_float = part.get("normalize") or part["name"] in ("csv", "digits")
        return np.zeros((1, *shape), np.float32 if is_float else np.dtype(part.get("dtype", "float32")))
    examples, _ = read(settings)
    if isinstance(examples.train, tuple):
        return examples.train[0][:1]
    data = examples.train if examples.train.batched else examples.train.batch(1)
    return next(data.epoch(0))[0]


def _of_shape(x, shape, path):
    """Returns rows of examples; a single example becomes one row."""
    if shape is None:
        return x
    x = x[None] if x.shape == tuple(shape) else x
    x = x[..., None] if x.shape[1:] == tuple(shape[:-1]) and shape[-1:] == [1] else x  # images without channels
    if x.shape[1:] != tuple(shape) or not len(x):
        wanted = "(" + ", ".join(["n", *map(str, shape)]) + ")"
        raise mistake(f"Expected examples of shape {wanted}, got {x.shape} in {path}")
    return _single(x)


def _table(part, path):
    if part["name"] != "csv":
        return al.data.csv(path).x
    target, categories = part["target"], dict(part.get("categories") or {})
    categories = {name: names for name, names in categories.items() if name != str(target)}
    return csv(path, None, part["columns"], categories, **{k: part[k] for k in _FORMAT if k in part}).train[0]


_FORMAT = ("delimiter", "header", "missing")


def _image(settings, path):
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Images are read by Pillow, which is missing: pip install Pillow.") from None
    shape = settings.get("input_shape")
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    if shape is None or len(shape) != 3 or shape[2] not in modes:
        raise mistake(f"Expected a run over images to predict for {path}, got one over examples of shape {shape}")
    try:
        with Image.open(path) as image:
            image = image.convert(modes[shape[2]])
            if None not in shape and image.size != (shape[1], shape[0]):
                image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR)
            pixels = np.asarray(image).reshape(*image.size[::-1], shape[2])
    except Exception as error:  # Pillow's readers raise many kinds for damaged files
        raise mistake(f"Expected an image, got {path}: {str(error).rstrip('.')}") from None
    return pixels if settings["data"].get("dtype") == "uint8" else pixels / np.float32(255)
