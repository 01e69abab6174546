"""What a trainer calls between epochs."""

import math

from alloy.graph.arrays import as_count
from alloy.graph.location import meant, mistake
from alloy.training.checkpoint import save

_CALLED = ("begin", "epoch_end")


class Callback:
    """A subclass overrides what it needs. trainer.history holds the values so far; trainer.stop = True ends
    the training. TypeError: a method is named like one of the moments but is never called."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name in (name for name in vars(cls) if not name.startswith("_")):
            like = meant(name, _CALLED, cutoff=0.8)
            if name not in _CALLED and (like or name.startswith("on_") or name.endswith(("_begin", "_end"))):
                near = like or meant(name, _CALLED, cutoff=0)
                raise mistake(
                    cls.__name__.lower(),
                    f"Expected methods {' and '.join(_CALLED)}, got {name}, which nobody would call{near}",
                    TypeError,
                )

    def begin(self, trainer) -> None:
        """Before the first epoch."""

    def epoch_end(self, trainer) -> None:
        """After every epoch and its validation."""


class _Best(Callback):
    """Follows a quantity of the history. mode: "max" where the greatest value is best, "min" where the least is;
    "auto" knows that of what ends in "accuracy" or "loss"."""

    def __init__(self, monitor: str | None, mode: str):
        if mode not in ("auto", "min", "max"):
            raise mistake(type(self).__name__.lower(), f'Expected the mode "auto", "min" or "max", got {mode!r}')
        if mode == "auto" and monitor is not None and not monitor.endswith(("accuracy", "loss")):
            raise mistake(
                type(self).__name__.lower(),
                f'Expected mode="max" where the greatest {monitor} is best, or '
                'mode="min" where the least is; none was given',
            )
        self.monitor = monitor
        self.mode = mode
        self.epochs_since_best = 0

    def epoch_end(self, trainer):
        if self.monitor not in trainer.history:
            names = ", ".join(trainer.history)
            raise mistake("fit", f"Expected a quantity to monitor among {names}, got {self.monitor}", act="called")
        greatest = self.mode == "max" or (self.mode == "auto" and self.monitor.endswith("accuracy"))
        merits = [value if greatest else -value for value in trainer.history[self.monitor]]
        merits = [-math.inf if math.isnan(merit) else merit for merit in merits]
        self.epochs_since_best = len(merits) - 1 - merits.index(max(merits))


class EarlyStopping(_Best):
    """Stops when the monitored quantity has not improved for `patience` epochs, 1 or more.

    mode: "max" where the greatest value is best, "min" where the least is; "auto" knows that of what ends in
    "accuracy" or "loss", and ValueError asks for the mode of anything else."""

    def __init__(self, patience: int, monitor: str = "val_loss", mode: str = "auto"):
        super().__init__(monitor, mode)
        self.patience = as_count("earlystopping", "a patience", patience)

    def epoch_end(self, trainer):
        super().epoch_end(trainer)
        trainer.stop |= self.epochs_since_best >= self.patience


class Checkpoint(_Best):
    """Saves the model after every epoch, or, given a quantity to monitor, after every epoch that is the best
    so far; mode as for EarlyStopping."""

    def __init__(self, path, monitor: str | None = None, mode: str = "auto"):
        super().__init__(monitor, mode)
        self.path = path

    def epoch_end(self, trainer):
        if self.monitor is not None:
            super().epoch_end(trainer)
            if self.epochs_since_best > 0:
                return
        save(trainer.model, self.path)
