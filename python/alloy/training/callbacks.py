"""Callbacks: objects that a trainer calls while it trains."""

import csv
import io
import math
import os
from numbers import Real
from typing import Any

import numpy as np

from alloy.engine.arrays import as_choice, as_count, as_number, require_all
from alloy.engine.dtypes import STORED
from alloy.engine.structure import leaves, paths
from alloy.messages.location import meant, mistake
from alloy.training.files import replace_file, require_place, said_of

__all__ = ["CSVLogger", "Callback", "Checkpoint", "EarlyStopping", "LambdaCallback", "ReduceLROnPlateau", "TensorBoard"]


class Callback:
    """A subclass overrides the methods it needs, as in Keras. self.trainer is the trainer: trainer.history holds the
    values of the epochs so far, trainer.model.variables the variables, and trainer.stop_training = True ends the
    training.

    logs: the values by their names. In on_train_batch_end they are means of the epoch so far, and looking at one reads
    it from the device. epoch and batch count from 0; batch is the last one that has begun.

    state: a dict of numbers, strings, arrays of numbers, and lists and dicts of these, which checkpoints hold: keep
    everything there that must survive from epoch to epoch. by_first_process: True for a callback that writes files: of
    several processes, only the first calls its methods. TypeError: a method is named like one of these moments but is
    never called."""

    by_first_process: bool = False
    trainer: Any = None  # a Trainer, which imports this module: set by fit before it calls anything here
    state: dict

    def __new__(cls, *args, **options):
        self = super().__new__(cls)
        self.state = {}  # here, so that a subclass needs no constructor
        return self

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name in (name for name in vars(cls) if not name.startswith("_")):
            like = meant(name, _MOMENTS, cutoff=0.8)
            if name not in _MOMENTS and (like or name.startswith("on_") or name.endswith(("_begin", "_end"))):
                raise mistake(
                    cls.__name__,
                    f"Expected methods among {', '.join(_MOMENTS)}, got {name}, which is never called"
                    f"{like or meant(name, _MOMENTS, cutoff=0)}",
                    TypeError,
                )

    def on_train_begin(self, logs: Any = None) -> None:
        """Runs before the first epoch of a fit."""

    def on_train_end(self, logs: Any = None) -> None:
        """Runs after the last epoch; not after an exception, such as an interrupt."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Runs before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Runs after an epoch and its validation."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Runs after a dispatch of one training step or more."""


_MOMENTS = [name for name in vars(Callback) if name.startswith("on_")]


def plain_state(callback: Callback) -> dict:
    """Returns the callback's state. TypeError: it holds something that a checkpoint cannot."""
    state = callback.state
    found = zip(paths(state), leaves(state)) if isinstance(state, dict) else [("", state)]
    for path, leaf in found:
        array = leaf if isinstance(leaf, (np.ndarray, np.generic)) else None
        plain = leaf is None or isinstance(leaf, (bool, int, float, str))
        if not path or not (plain or (array is not None and str(array.dtype) in (*STORED.values(), "float64"))):
            given = type(leaf).__name__ if array is None else array.dtype
            raise mistake(
                "save",
                "Expected a dict of numbers, strings, arrays of numbers, and lists and dicts of these as the state of "
                f"{type(callback).__name__}, got {path + ' ' * bool(path)}of {given}",
                TypeError,
            )
    return state


class LambdaCallback(Callback):
    """Calls functions: LambdaCallback(on_epoch_end=lambda epoch, logs: print(logs["loss"]))."""

    def __init__(self, **functions):
        super().__init__()
        for name, function in functions.items():
            if name not in _MOMENTS or not callable(function):
                said = f"{name}{meant(name, _MOMENTS)}"
                raise mistake(self, f"Expected functions by {', '.join(_MOMENTS)}, got {said}", TypeError)
            vars(self)[name] = function


class _Best(Callback):
    """Keeps the best value of a quantity in the history. mode: "max" if the greatest is best, "min" if the least is;
    "auto" knows it for losses and for the metrics of al.metrics."""

    def __init__(self, monitor: str | None, mode: str, min_delta: float = 0.0):
        super().__init__()
        require_all(self, "a number as min_delta", Real, [min_delta])
        if not math.isfinite(min_delta):
            raise mistake(self, f"Expected a finite min_delta, got {min_delta}")
        self.monitor, self.min_delta = monitor, abs(min_delta)
        self.mode = as_choice(self, "a mode", mode, ("auto", "min", "max"))

    def on_train_begin(self, logs: Any = None):
        self.state = {"best": None, "waited": 0, **self.state} if self.trainer.resumed else {"best": None, "waited": 0}
        known, monitor = self.trainer._quantities, self.monitor
        if not known or monitor is None:
            return
        if monitor not in known:
            raise mistake(
                "fit",
                f"Expected a quantity to monitor among {', '.join(known)}, got {monitor}"
                f"{'; give fit validation data' if monitor.startswith('val_') else meant(monitor, known)}",
            )
        if not known[monitor]:
            raise mistake("fit", f"Expected a number to monitor, got {self.monitor}, which is an array", TypeError)
        self._greater_is_better(monitor)

    def improved(self, logs) -> bool:
        """Tells whether the quantity is better than ever before."""
        merit = float(logs[self.monitor]) * (1 if self._greater_is_better(str(self.monitor)) else -1)
        best = self.state["best"]
        better = not math.isnan(merit) and (best is None or merit > best + (self.min_delta if best is not None else 0))
        self.state |= {"best": merit if better else best, "waited": 0 if better else self.state["waited"] + 1}
        return better

    def _greater_is_better(self, monitor: str):
        if self.mode != "auto":
            return self.mode == "max"
        known = self.trainer.greater_is_better(monitor)
        if known is None:
            raise mistake(
                self,
                f'Expected mode="max" where the greatest {monitor} is best, or '
                'mode="min" where the least is; none was given',
            )
        return known


def _monitored(monitor, kind: str) -> str:
    if not isinstance(monitor, str):
        raise mistake(
            kind,
            f"Expected the name of a quantity to monitor, got {monitor!r}; a patience is given by name, patience=3",
            TypeError,
        )
    return monitor


class EarlyStopping(_Best):
    """Ends the training when the monitored quantity has not improved by more than min_delta for `patience` epochs.

    mode: "max" if the greatest value is best, "min" if the least is; "auto" knows the direction of losses and of
    al.metrics, and asks for the mode of anything else by a ValueError. restore_best_weights: gives the model the values
    of the best epoch at the end."""

    def __init__(
        self,
        monitor: str = "val_loss",
        *,
        min_delta: float = 0.0,
        patience: int = 0,
        mode: str = "auto",
        restore_best_weights: bool = False,
    ):
        super().__init__(_monitored(monitor, "EarlyStopping"), mode, min_delta)
        self.patience = as_count(self, "a patience", patience, least=0)
        self.restore_best_weights = restore_best_weights

    def on_epoch_end(self, epoch, logs: Any = None):
        variables = self.trainer.model.variables
        if self.improved(logs):
            if self.restore_best_weights:
                self.state["weights"] = variables[0].graph.read_variables(variables)
        elif self.state["waited"] >= max(self.patience, 1):
            self.trainer.stop_training = True

    def on_train_end(self, logs: Any = None):
        if "weights" in self.state:
            variables = self.trainer.model.variables
            variables[0].graph.assign_variables(variables, self.state["weights"])


class ReduceLROnPlateau(_Best):
    """Multiplies the learning rate by factor, down to min_lr at least, when the monitored quantity has not improved by
    more than min_delta for `patience` epochs. The next `cooldown` epochs do not count. Names and defaults are Keras's;
    mode is as in EarlyStopping.

    The rate must be a number, not a schedule: ValueError. A resumed fit continues with the rate of the checkpoint."""

    def __init__(
        self,
        monitor: str = "val_loss",
        *,
        factor: float = 0.1,
        patience: int = 10,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ):
        super().__init__(_monitored(monitor, "ReduceLROnPlateau"), mode, min_delta)
        self.factor = as_number(self, "a factor", factor, "of 0 or more and below 1")
        self.min_lr = as_number(self, "min_lr", min_lr, "of 0 or more that float32 can hold")
        self.patience = as_count(self, "a patience", patience, least=0)
        self.cooldown = as_count(self, "a cooldown", cooldown, least=0)

    def on_train_begin(self, logs: Any = None):
        super().on_train_begin(logs)
        self.state.setdefault("cooldown", 0)
        if not isinstance(rate := self.trainer.optimizer.lr, Real):
            raise mistake(self, f"Expected an optimizer whose lr is a number, got {type(rate).__name__}, a schedule")

    def on_epoch_end(self, epoch, logs: Any = None):
        state, optimizer = self.state, self.trainer.optimizer
        state["cooldown"] = max(state["cooldown"] - 1, 0)
        if self.improved(logs) or state["cooldown"]:
            state["waited"] = 0
        elif state["waited"] >= max(self.patience, 1):
            lr: Any = optimizer.lr
            optimizer.lr = max(lr * self.factor, min(self.min_lr, lr))
            state |= {"waited": 0, "cooldown": self.cooldown}


class Checkpoint(_Best):
    """Saves the whole training (Trainer.save) after every epoch, or, given a quantity to monitor, after each epoch that
    is the best so far; mode is as in EarlyStopping. every_steps: saves also after each such number of steps. Ctrl-C
    saves before it ends the training.

    `trainer.fit(..., resume=path)` continues from the file; al.load(model, path) reads the model's variables from
    it."""

    def __init__(self, path, monitor: str | None = None, *, mode: str = "auto", every_steps: int | None = None):
        super().__init__(monitor, mode)
        self.path = path
        self.every_steps = None if every_steps is None else as_count(self, "every_steps", every_steps)
        if monitor is not None and every_steps is not None:
            raise mistake(self, "Expected a quantity to monitor or every_steps, got both")
        self._saved = 0  # number of saves by every_steps in this epoch
        self._due = False

    def on_train_begin(self, logs: Any = None):
        super().on_train_begin(logs)
        require_place(self.path)

    def on_train_batch_end(self, batch, logs: Any = None):
        if self.every_steps is not None and (batch + 1) // self.every_steps > self._saved:
            self._saved = (batch + 1) // self.every_steps
            self.trainer.save(self.path)

    def on_epoch_begin(self, epoch, logs: Any = None):
        self._saved = 0

    def on_epoch_end(self, epoch, logs: Any = None):
        self._due = self.monitor is None or self.improved(logs)

    def save_if_due(self):
        """Saves after all callbacks have seen the end of the epoch, so that the file holds their newest states."""
        if self._due:
            self.trainer.save(self.path)
        self._due = False


class CSVLogger(Callback):
    """Writes a line of comma-separated values after each epoch into a file, whose first line has their names; arrays
    are left out. A resumed fit continues after the lines of its earlier epochs."""

    by_first_process = True

    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_train_begin(self, logs: Any = None):
        require_place(self.path)
        rows = []
        if self.trainer.resumed and os.path.exists(self.path):
            try:
                with open(self.path, newline="") as file:
                    rows = list(csv.reader(file))[: 1 + self.trainer.epoch]
            except (ValueError, csv.Error) as error:
                raise mistake(self, f"Expected a file of comma-separated values, got {self.path}: {error}") from None
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        replace_file(self.path, text.getvalue().encode())
        self._names = rows[0] if rows else None

    def on_epoch_end(self, epoch, logs: Any = None):
        values = {"epoch": epoch, **{name: value for name, value in logs.items() if np.ndim(value) == 0}}
        with said_of(self.path), open(self.path, "a", newline="") as file:
            writer = csv.writer(file)
            if self._names is None:
                self._names = list(values)
                writer.writerow(self._names)
            writer.writerow([values.get(name, "") for name in self._names])


class TensorBoard(Callback):
    """Writes the values of each epoch into a directory for TensorBoard, as Keras does: the training's into "train", the
    validation's into "validation". ImportError: the package tensorboardX is missing."""

    by_first_process = True

    def __init__(self, directory):
        super().__init__()
        self.directory = os.fspath(directory)
        self._writers = {}

    def on_train_begin(self, logs: Any = None):
        try:
            from tensorboardX import SummaryWriter  # pyright: ignore[reportMissingImports]  an optional package
        except ImportError:
            raise ImportError("[tensorboard] The package tensorboardX is missing: pip install tensorboardX") from None
        # Hides the values that the interrupted fit wrote after the checkpoint.
        step = self.trainer.epoch if self.trainer.resumed else None
        self._writers = {
            name: SummaryWriter(os.path.join(self.directory, name), purge_step=step) for name in ("train", "validation")
        }

    def on_epoch_end(self, epoch, logs: Any = None):
        for name, value in logs.items():
            if np.ndim(value) == 0:
                part = "validation" if name.startswith("val_") else "train"
                self._writers[part].add_scalar(f"epoch_{name.removeprefix('val_')}", value, epoch)
        for writer in self._writers.values():
            writer.flush()

    def on_train_end(self, logs: Any = None):
        for writer in self._writers.values():
            writer.close()
        self._writers = {}
