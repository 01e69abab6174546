"""What a trainer calls between epochs."""
from alloy.checkpoint import save
from alloy.location import mistake


class Callback:
    """A subclass overrides what it needs. trainer.history holds the values so far; trainer.stop = True ends
    the training."""

    def begin(self, trainer) -> None:
        """Before the first epoch."""

    def epoch_end(self, trainer) -> None:
        """After every epoch and its validation."""


class _Best(Callback):
    """Follows a quantity of the history: the greatest is best of an accuracy, the least of anything else."""

    def __init__(self, monitor: str | None):
        self.monitor = monitor
        self.epochs_since_best = 0

    def epoch_end(self, trainer):
        if self.monitor not in trainer.history:
            names = ", ".join(trainer.history)
            raise mistake("fit", f"Expected a quantity to monitor among {names}, got {self.monitor}",
                          act="called")
        values = trainer.history[self.monitor]
        best = (max if self.monitor.endswith("accuracy") else min)(values)
        self.epochs_since_best = len(values) - 1 - values.index(best)


class EarlyStopping(_Best):
    """Stops when the monitored quantity has not improved for `patience` epochs, 1 or more."""

    def __init__(self, patience: int, monitor: str = "val_loss"):
        super().__init__(monitor)
        self.patience = patience

    def epoch_end(self, trainer):
        super().epoch_end(trainer)
        trainer.stop |= self.epochs_since_best >= self.patience


class Checkpoint(_Best):
    """Saves the model after every epoch, or, given a quantity to monitor, after every epoch that is the best
    so far."""

    def __init__(self, path, monitor: str | None = None):
        super().__init__(monitor)
        self.path = path

    def epoch_end(self, trainer):
        if self.monitor is not None:
            super().epoch_end(trainer)
            if self.epochs_since_best > 0:
                return
        save(trainer.model, self.path)
