"""A run: the training that a file in TOML describes, and its directory. EXAMPLE shows such a file: it names functions,
and its other settings go to the Trainer, to its fit, and to the functions."""

import importlib
import importlib.util
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

import alloy as al
from alloy.data.files import existing
from alloy.engine.structure import convert
from alloy.messages.location import meant
from alloy.optimizers import named as optimizer_named
from alloy.training.batches import as_dataset, parts_of
from alloy.training.files import replace_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLE = """\
model = "mine.py:network"         # FILE.py:FUNCTION, or MODULE:FUNCTION
data = "mine.py:photos"           # gives (training data, validation data)
loss = "softmax_cross_entropy"    # a name, or such a function
metrics = ["accuracy", "mine.py:top_two"]
optimizer = "adamw"               # a name, or a function that makes one
epochs = 30                       # these are as in al.Trainer and its fit
batch_size = 64
dtype = "float32"
seed = 0
threads = 2
path = "photos"                   # others are for the functions: photos(path)
lr = 2e-3                         # AdamW(lr)"""
_FUNCTIONS = ("model", "data", "optimizer")
_NOT_SET = (*_FUNCTIONS, "loss", "self", "validation", "callbacks", "resume")
_OF_TRAINER, _OF_FIT = (
    [name for name in inspect.signature(call).parameters if name not in _NOT_SET]
    for call in (al.Trainer, al.Trainer.fit)
)


# ---- settings ----


def read(path) -> dict:
    """Reads the settings in the file, or in config.toml of a directory, and makes their paths absolute.

    ValueError: it is no TOML. OSError: it cannot be read."""
    path = Path(path)
    path = existing("config", path / "config.toml" if path.is_dir() else path)
    try:
        given = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of too many digits, or too deep
        raise ValueError(f"[config] Expected a TOML file, got {path}: {str(error).rstrip('.')}.") from None
    return with_paths(given, lambda inner: os.path.normpath(os.path.join(os.path.abspath(path.parent), inner)))


def write(settings: dict, path) -> None:
    """Writes a file for `read`, completely or not at all."""
    base = os.path.abspath(os.path.dirname(path))
    replace_file(path, tomli_w.dumps(with_paths(settings, lambda inner: os.path.relpath(inner, base))).encode())


def with_paths(settings: dict, change) -> dict:
    """Returns the settings with change(path) for the setting `path`, and in each FILE.py:FUNCTION."""
    settings = convert(lambda value: change(value) if ".py:" in str(value) else value, settings)
    return settings | ({"path": change(settings["path"])} if isinstance(settings.get("path"), str) else {})


def is_function(value) -> bool:
    """Returns whether a setting names a function."""
    return isinstance(value, str) and ":" in value


def function(name: str) -> Callable:
    """Returns the function that FILE.py:FUNCTION or MODULE:FUNCTION names; runs the file once. ValueError: there is
    none. Exceptions of the file are passed on."""
    place, _, wanted = name.rpartition(":")
    module = _of_file(Path(place).resolve()) if place.endswith(".py") else importlib.import_module(place)
    known = {each: thing for each, thing in vars(module).items() if callable(thing) and each[:1] != "_"}
    if wanted not in known:
        raise ValueError(f"[config] Expected a function of {place}, got {wanted!r}{meant(wanted, known)}.")
    return known[wanted]


def _of_file(path):
    key = f"alloy_user_{path}"
    if key not in sys.modules:
        spec: Any = importlib.util.spec_from_file_location(key, existing("config", path))
        module = sys.modules[key] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.parent))  # for imports of files beside it
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[key]
            raise
    return sys.modules[key]


def _functions(settings) -> dict[str, Callable]:
    """Returns the functions of model, data and optimizer. ValueError: one is missing, or nothing takes a setting."""
    for key in (*_FUNCTIONS, "loss"):
        if key not in settings or key in ("model", "data") and not is_function(settings[key]):
            given = f"{settings[key]!r:.100}" if key in settings else "none"
            raise ValueError(f'[config] Expected {key} = "FILE.py:FUNCTION" in the settings, got {given}.')
    named = {key: settings[key] for key in _FUNCTIONS}
    found = {key: function(name) if is_function(name) else type(optimizer_named(name)) for key, name in named.items()}
    known = [*_FUNCTIONS, "loss", *_OF_TRAINER, *_OF_FIT, "threads"]
    known += [name for made in found.values() for name in _parameters(made) if name not in known]
    for key in settings:
        if key not in known:
            raise ValueError(f"[config] Expected settings among {', '.join(known)}, got {key!r}{meant(key, known)}.")
    return found


def _parameters(function) -> list[str]:
    """Returns the names of the parameters; those of a class are also those of its bases."""
    kinds = function.__mro__[:-1] if isinstance(function, type) else [function]
    found = [parameter for kind in kinds for parameter in inspect.signature(kind).parameters.values()]
    return [parameter.name for parameter in found if parameter.kind is not parameter.VAR_KEYWORD]


def _call(key, settings, **more):
    """Calls the function of model, data or optimizer with the settings that have the names of its parameters. more:
    settings that are not written down."""
    function, given = _functions(settings)[key], more | settings
    options = {name: given[name] for name in _parameters(function) if name in given}
    try:
        inspect.signature(function).bind(**options)
    except TypeError as error:
        raise ValueError(f"[config] Expected settings for all that {settings[key]!r} takes: {error}.") from None
    return function(**options)


def _measures(value):
    """Returns losses or metrics with the functions that they name; of a class, an object."""

    def measure(name):
        found = function(name) if is_function(name) else name
        return found() if isinstance(found, type) else found

    return convert(measure, value)


# ---- the training ----


@dataclass
class Run:
    """train, validation: data as for Trainer.fit; validation may be None."""

    settings: dict
    trainer: al.Trainer
    train: Any
    validation: Any


def made(settings: dict) -> Run:
    """Makes the run, and reads its data."""
    settings = threaded(settings)
    train, validation = data(settings)
    steps = None
    if "steps" in _parameters(_functions(settings)["optimizer"]):
        length = as_dataset("fit", train, batch_size(settings, train)).length
        steps = length and length * settings.get("epochs", 1)
    return Run(settings, _trainer(settings, steps), train, validation)


def data(settings: dict) -> tuple:
    """Reads (training data, validation data or None)."""
    given = _call("data", settings)
    if not isinstance(given, tuple) or len(given) != 2:
        what = f"(training data, validation data or None) of {settings['data']!r}"
        raise ValueError(f"[config] Expected {what}, got {given!r:.80}.")
    return given


def _trainer(settings, steps) -> al.Trainer:
    """Makes the trainer. steps: of the whole training, for an optimizer's function with such a parameter; or None."""
    model = _call("model", settings)
    if not isinstance(model, al.nn.Layer):
        raise TypeError(
            f"[config] Expected a layer (al.nn.Layer) of {settings['model']!r}, got {type(model).__name__}."
        )
    if model.seed is None and model.graph is None:
        model.seed = settings.get("seed", 0)
    optimizer = _call("optimizer", settings, **({} if steps is None else {"steps": steps}))
    options = {key: settings[key] for key in _OF_TRAINER if key in settings}
    options["metrics"] = _measures(options.get("metrics", []))
    return al.Trainer(model, _measures(settings["loss"]), optimizer, **options)


def threaded(settings: dict) -> dict:
    """Sets the number of threads that the settings name, or writes down the one that there is."""
    if "threads" in settings:
        with suppress(al.DeviceError):  # a device without threads runs the files of others
            al.set_threads(settings["threads"])
    return settings if al.threads() is None else settings | {"threads": al.threads()}


def of_fit(settings: dict) -> dict:
    """Returns the settings for Trainer.fit."""
    return {key: settings[key] for key in _OF_FIT if key in settings}


def batch_size(settings, rows) -> int | None:
    """Returns the run's batch size, or None for data that have batches of their own."""
    return None if isinstance(rows, al.data.Dataset) and rows.batched else settings.get("batch_size")


def batch(settings, train):
    """Returns the first batch of the training data. If there are too few examples for it, they are repeated."""
    batches = as_dataset("fit", train, batch_size(settings, train))
    found, rows = next(batches.epoch(0)), batches.rows
    return found if rows is None else convert(lambda array: np.resize(array, (rows, *array.shape[1:])), found)


# ---- the directory of a run ----


def place(path, settings: dict) -> Path:
    """Returns the directory of a run. path: its file or directory, or None."""
    if path is not None:
        file = path / "config.toml" if path.is_dir() else path
        return file.parent if file.name == "config.toml" else Path("runs", file.stem)
    return Path("runs", "-".join(name_of(settings[key]) for key in ("model", "data")))


def name_of(function: str) -> str:
    return str(function).rpartition(":")[2]


def prove(directory: Path) -> None:
    """Makes the directory if it is missing. ValueError: it is not writable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ValueError(f"Expected a directory to write into, got {directory}: {error.strerror}.") from None


def require_same(settings: dict, directory: Path) -> None:
    """Raises a ValueError if the run in the directory was begun with other settings; only epochs, threads and processes
    may differ."""
    path = directory / "config.toml"
    before = read(path) if path.is_file() else settings
    for key in {**settings, **before}:
        if key not in ("epochs", "threads", "distributed") and settings.get(key) != before.get(key):
            raise ValueError(
                f"[config] Expected the settings that the run was begun with, got another {key}; alloy train {path} "
                "--resume goes on with them."
            )


def settings_of(path: Path) -> dict:
    """Returns the settings of a training. path: its directory, or a file of weights in it."""
    directory = path.parent if path.is_file() else path
    if not (directory / "config.toml").is_file():
        raise ValueError(f"[config] Expected the directory of a training, with its config.toml, got {path}.")
    return threaded(read(directory))


def trained(op: str, path: Path, settings: dict, rows) -> al.Trainer:
    """Returns a trainer of the run's model with its learned weights. path: as for settings_of. op: "evaluate" or
    "predict". rows: data for it."""
    path = path / "model.safetensors" if path.is_dir() else path
    path = path if path.exists() else path.parent / "checkpoint.safetensors"
    if not path.exists():
        raise ValueError(f"[config] Expected model.safetensors of a training in {path.parent}, which is not there.")
    trainer = _trainer(settings, 1)
    trainer._programs.outputs(parts_of(op, as_dataset(op, rows, batch_size(settings, rows))))
    al.load(trainer.model, path)
    return trainer
