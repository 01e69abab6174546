"""A run: the model, trainer and data of its settings, and its directory."""

import fcntl
import functools
import inspect
import os
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import alloy as al
from alloy.optimizers import named as optimizer_named
from alloy.tools import examples as data
from alloy.tools.call import found, options, users
from alloy.tools.config import is_users, mistake
from alloy.tools.recipes import MODELS
from alloy.training.batches import as_dataset, parts_of

SCHEDULES = {name: getattr(al.schedules, name) for name in al.schedules.__all__}
_AUGMENTATIONS = {name: getattr(al.data.augment, name) for name in ("random_crop", "random_flip", "normalize")}


@dataclass
class Run:
    """settings: complete, also from the data."""

    settings: dict
    examples: data.Examples
    trainer: al.Trainer
    train: Any  # the argument of Trainer.fit


def made(settings: dict) -> Run:
    """Makes the run, and reads its data."""
    settings = threaded(settings)
    examples, settings = data.read(settings)
    train, steps = _batches(examples.train, settings)
    settings = _scheduled(settings, steps)
    model, settings = model_of(settings)
    return Run(settings, examples, trainer_of(model, settings), train)


def threaded(settings: dict) -> dict:
    """Sets the number of threads that the settings name, or writes down the one that there is."""
    if al.threads() is None:
        return settings
    if "threads" in settings:
        al.set_threads(settings["threads"])
    return settings | {"threads": al.threads()}


def model_of(settings: dict) -> tuple[al.nn.Layer, dict]:
    """Returns the model, and the settings with its options. Its function is given seed, classes and input_shape if it
    has parameters of these names; for binary_cross_entropy one class stands for two."""
    part = settings["model"]
    function = found("model", part, MODELS)
    classes, takes = settings.get("classes"), inspect.signature(function).parameters
    count = len(classes) if isinstance(classes, list) else classes
    known = {"classes": 1 if count == 2 and settings["loss"]["name"] == "binary_cross_entropy" else count}
    known |= {"input_shape": settings.get("input_shape")}
    told = {key: value for key, value in known.items() if key in takes and key not in part and value is not None}
    seed = {"seed": settings["seed"]} if "seed" in takes and "seed" not in part else {}
    part = part | told
    model = function(**options("model", part | seed, function))
    if not isinstance(model, al.nn.Layer):
        raise mistake(f"Expected a layer (al.nn.Layer) of {part['name']!r}, got {type(model).__name__}", TypeError)
    if model.seed is None and model.graph is None:
        model.seed = settings["seed"]
    return model, settings | {"model": part}


def trainer_of(model, settings: dict) -> al.Trainer:
    loss = _function("loss", settings["loss"], al.losses.get)
    metrics = [_metric(part) for part in settings.get("metrics", [])]
    return al.Trainer(
        model, loss, _optimizer(settings), metrics=metrics, dtype=settings["dtype"], seed=settings["seed"]
    )


def _function(what, part, get):
    """Returns a loss or a metric: by its name alone, or with options."""
    function = users(part["name"]) if is_users(part["name"]) else get(part["name"])
    if len(part) == 1:
        return function if is_users(part["name"]) else part["name"]
    if isinstance(function, type):
        return function(**options(what, part, function))
    return functools.partial(function, **options(what, part, function, skip=2))


def _metric(part):
    def get(name):
        al.metrics.get(name)  # for the sentence about an unknown name
        return (al.metrics.CLASSES | al.metrics.FUNCTIONS | al.losses.LOSSES)[name]

    made = _function("metrics", part, get)
    return made() if isinstance(made, type) else made


def _optimizer_class(part):
    return users(part["name"]) if is_users(part["name"]) else type(optimizer_named(part["name"]))


def _optimizer(settings):
    part = settings["optimizer"]
    kind = _optimizer_class(part)
    given = options("optimizer", part, kind)
    scale = given.get("loss_scale")
    if scale:
        if scale is not True and not isinstance(scale, dict):
            raise mistake(f"Expected loss_scale = true or {{init_scale = ...}}, got {scale!r}")
        given["loss_scale"] = al.LossScale(**({} if scale is True else scale))
    else:
        given.pop("loss_scale", None)
    if "schedule" in settings:
        given["lr"] = _schedule(settings["schedule"], _rate(part))
    return kind(**given)


def _rate(part):
    """Returns the rate of the optimizer, or its default."""
    default = inspect.signature(_optimizer_class(part)).parameters.get("lr")
    rate = part.get("lr", None if default is None or default.default is default.empty else default.default)
    if rate is None:
        raise mistake(f"Expected lr for the optimizer {part['name']!r}")
    return rate


def _schedule(part, rate):
    own = {key: value for key, value in part.items() if key not in ("warmup", "start_factor")}
    function = found("schedule", part, SCHEDULES)
    takes_rate = next(iter(inspect.signature(function).parameters)) in ("lr", "max_lr")
    given = options("schedule", own, function, skip=takes_rate)
    schedule = function(rate, **given) if takes_rate else function(**given)
    if part.get("warmup"):
        start = {"start_factor": part["start_factor"]} if "start_factor" in part else {}
        schedule = al.schedules.warmup(schedule, part["warmup"], **start)
    return schedule


def _scheduled(settings, steps):
    """Returns the settings with the schedule's steps as numbers. By default a schedule takes the steps of the training
    after the warm-up. steps: the steps of an epoch, or None."""
    if "schedule" not in settings:
        return settings
    part = dict(settings["schedule"])
    function, warmup = found("schedule", part, SCHEDULES), part.get("warmup", 0)
    if isinstance(warmup, bool) or not isinstance(warmup, (int, float)) or not (0 <= warmup < 1 or warmup % 1 == 0):
        raise mistake(f"Expected warmup in steps, or as a share below 1 of all steps, got {warmup!r}")
    needs = "steps" in inspect.signature(function).parameters and "steps" not in part
    if steps is None and (needs or 0 < warmup < 1):
        raise mistake("Expected steps and warmup in steps for the schedule of data whose length is not known")
    total = None if steps is None else settings["epochs"] * steps
    if total is not None and 0 < warmup < 1:
        part["warmup"] = max(int(warmup * total), 1)
    if needs:
        part["steps"] = max(total - part.get("warmup", 0), 1)
    return settings | {"schedule": part}


def _batches(train, settings):
    """Returns (the training data, the steps of an epoch or None)."""
    size, seed = settings["batch_size"], settings["seed"]
    arrays = not isinstance(train, al.data.Dataset)
    if arrays and not settings.get("augmentation"):
        return train, -(-len(train[0]) // size) if isinstance(train, tuple) else None
    batches = al.data.from_arrays(*train) if arrays else train
    if not batches.batched:
        batches = batches.shuffle(seed) if batches.length is not None else batches
        batches = batches.batch(size, workers=settings["data"].get("workers", 1))
    for part in settings.get("augmentation", []):
        function = found("augmentation", part, _AUGMENTATIONS)
        if isinstance(function, type):
            function = function(**options("augmentation", part, function))
        elif len(part) > 1:
            function = functools.partial(function, **{k: v for k, v in part.items() if k != "name"})
        batches = batches.map(function, seed=seed)
    return batches, batches.length


def batch_size(settings, *given) -> int | None:
    """Returns the run's batch size; None if all data has batches of its own."""
    parts = [part for part in given if part is not None]
    return None if all(isinstance(part, al.data.Dataset) and part.batched for part in parts) else settings["batch_size"]


# ---- a batch alone, to look at a model ----


def sample(settings: dict) -> tuple[dict, al.Trainer, tuple]:
    """Returns (settings, trainer, (x, y)) with a batch: random numbers if the shapes are known without reading data."""
    settings = threaded(settings)
    part, count = settings["data"], settings["batch_size"]
    if part["name"] in data.SHAPES and "input_shape" not in settings:
        given = {key: value for key, value in part.items() if key in ("size", "channels")}
        settings = {"classes": 10} | settings | {"input_shape": data.SHAPES[part["name"]](**given)}
    classes, shape = settings.get("classes"), settings.get("input_shape")
    if classes and shape and settings["loss"]["name"] == "softmax_cross_entropy":
        random = np.random.default_rng(0)
        many = len(classes) if isinstance(classes, list) else classes
        batch = random.standard_normal((count, *shape), np.float32), random.integers(0, many, count, np.int32)
        settings = _scheduled(settings, 100)
        model, settings = model_of(settings)
        return settings, trainer_of(model, settings), batch
    run = made(settings)
    batches = run.train if isinstance(run.train, al.data.Dataset) else al.data.from_arrays(*run.train)
    batches = batches if batches.batched else batches.batch(count)
    return run.settings, run.trainer, next(batches.epoch(0))


# ---- the directory of a run ----


def prove(directory: Path) -> None:
    """Makes the directory if it is missing. ValueError: it is not writable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ValueError(f"Expected a directory to write into, got {directory}: {error.strerror}.") from None


@contextmanager
def claimed(directory: Path):
    """Locks the directory against other trainings. ValueError: one runs there."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise mistake(
                    f"Expected a directory in which no other training runs, got {directory}; --output names another"
                ) from None
        yield
    finally:
        os.close(descriptor)


def trained(op: str, place: Path, settings: dict, rows) -> al.Trainer:
    """Returns a trainer of the run's model with its learned weights. place: the run's directory, or a file of weights
    in it. op: "evaluate" or "predict". rows: data for Trainer."""
    path = place / "model.safetensors" if place.is_dir() else place
    path = path if path.exists() else place / "checkpoint.safetensors"
    if not path.exists():
        raise mistake(f"Expected model.safetensors of a training in {place}, which is not there")
    model, settings = model_of(settings)
    trainer = trainer_of(model, _scheduled(settings, 1))
    trainer._programs.outputs(parts_of(op, as_dataset(op, rows, batch_size(settings, rows))))
    al.load(model, path)
    return trainer
