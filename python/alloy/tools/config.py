"""Reads, checks and writes the TOML file that describes a run. EXAMPLE shows one; every key is optional.

A value is a name, or a table of the name and its options. "FILE.py:FUNCTION" instead of a name is a function of the
user's. Paths are relative to the file."""

import json
import os
import sys
from pathlib import Path

import tomli_w

from alloy.messages.location import meant
from alloy.training.checkpoint import replace_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLE = """\
model = "mymodels.py:make"   # or "cnn", {name = "resnet18", classes = 3}
data = {name = "images", path = "photos", size = 64, normalize = true}
validation = 0.2             # the share of the examples, or another folder
loss = "softmax_cross_entropy"
metrics = ["accuracy", {name = "top_k_accuracy", k = 2}]
optimizer = {name = "adamw", lr = 2e-3, weight_decay = 0.01}
schedule = {name = "cosine", warmup = 0.1}   # steps, or the share of all
augmentation = ["random_flip", {name = "random_crop", padding = 4}]
epochs = 30
batch_size = 64
dtype = "float32"
seed = 0
threads = 2"""
PARTS = ("model", "data", "loss", "optimizer", "schedule")  # each a name, or a table with a name
LISTS = ("metrics", "augmentation")  # lists of names and tables
COUNTS = {"epochs": 1, "batch_size": 1, "seed": 0, "threads": 1}  # with their least values
# classes: their number or their names; input_shape: an example's. The data give both by default.
OTHERS = {"dtype": (str,), "validation": (int, float, str), "classes": (int, list), "input_shape": (list,)}
KEYS = (*PARTS[:2], "validation", *PARTS[2:], *LISTS, *COUNTS, "dtype", "classes", "input_shape")
MOST_IN_A_BATCH = 65536
_MOST_SHOWN = 100  # characters of a value in a message


def mistake(message: str, kind: type[Exception] = ValueError) -> Exception:
    return kind(f"[config] {message}.")


def read(path) -> dict:
    """Reads the settings in the file, or in config.toml of a directory, and makes their paths absolute.

    ValueError: it is no TOML, has an unknown key, or a value of the wrong kind. OSError: it cannot be read."""
    path = Path(path)
    path = path / "config.toml" if path.is_dir() else path
    if not path.is_file():
        raise mistake(f"Expected the file {path}, which is {'no file' if path.exists() else 'not there'}")
    with open(path, "rb") as file:
        content = file.read()
    try:
        given = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of too many digits, or too deep
        raise mistake(f"Expected a TOML file, got {path}: {str(error).rstrip('.')}") from None
    base = os.path.abspath(path.parent)
    return with_paths(checked(given, f" in {path}"), lambda inner: os.path.normpath(os.path.join(base, inner)))


def checked(given: dict, where: str = "") -> dict:
    """Returns the settings with a table for each name. where: " in FILE" for messages."""
    found = {}
    for key, value in given.items():
        if key not in KEYS:
            raise mistake(f"Expected keys among {', '.join(KEYS)}, got {key!r}{where}{meant(key, KEYS)}")
        if key in PARTS:
            value = _part(key, value, where)
        elif key in LISTS:
            value = [_part(key, each, where) for each in (value if isinstance(value, list) else [value])]
        elif key in COUNTS:
            _require(
                type(value) is int and value >= COUNTS[key], key, f"an integer from {COUNTS[key]} on", value, where
            )
        else:
            kinds = OTHERS[key]
            named = " or ".join({str: "a text", int: "an integer", float: "a number", list: "a list"}[k] for k in kinds)
            _require(isinstance(value, kinds) and value is not True and value is not False, key, named, value, where)
        found[key] = value
    size = found.get("batch_size", 1)
    _require(size <= MOST_IN_A_BATCH, "batch_size", f"up to {MOST_IN_A_BATCH}", size, where)
    return found


def _part(key, value, where) -> dict:
    table = {"name": value} if isinstance(value, str) else value
    good = isinstance(table, dict) and isinstance(table.get("name"), str) and table["name"]
    _require(good, key, 'a name, or a table {name = "...", ...}', value, where)
    return dict(table)


def _require(good, key, expected, value, where):
    if not good:
        text = json.dumps(value, ensure_ascii=False, default=str)
        text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        raise mistake(f"Expected {expected} as {key}, got {text}{where}")


def with_paths(settings: dict, change) -> dict:
    """Returns the settings with change(path) for each path."""

    def changed(part):
        file, colon, function = part["name"].rpartition(":")
        part = part | {"name": f"{change(file)}:{function}"} if is_users(part["name"]) else part
        return part | {"path": change(part["path"])} if isinstance(part.get("path"), str) else part

    found = dict(settings)
    for key in settings.keys() & {*PARTS}:
        found[key] = changed(settings[key])
    for key in settings.keys() & {*LISTS}:
        found[key] = [changed(part) for part in settings[key]]
    if isinstance(settings.get("validation"), str):
        found["validation"] = change(settings["validation"])
    return found


def is_users(name: str) -> bool:
    """Returns whether the name is a function in a user's file."""
    return ".py:" in name


def write(settings: dict, path) -> None:
    """Writes a file for `read`, completely or not at all."""
    base = os.path.abspath(os.path.dirname(path))
    relative = with_paths(settings, lambda inner: os.path.relpath(inner, base))
    table = {key: _written(relative[key]) for key in KEYS if relative.get(key) is not None}
    replace_file(path, tomli_w.dumps(table).encode())


def _written(value):
    """Returns the value for TOML: without None, with strings as keys, and with a name for a table of a name alone."""
    if isinstance(value, (list, tuple)):
        return [_written(item) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["name"]:
        return value["name"]
    return {str(key): _written(item) for key, item in value.items() if item is not None}
