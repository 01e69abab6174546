"""Optimizers: the updates that a training step makes to variables. Formulas, names and defaults are those of
torch.optim."""

from alloy.messages.location import meant, mistake
from alloy.optimizers.adagrad import Adagrad
from alloy.optimizers.adam import Adam, AdamW
from alloy.optimizers.lion import Lion
from alloy.optimizers.loss_scale import LossScale
from alloy.optimizers.optimizer import Optimizer
from alloy.optimizers.rmsprop import RMSprop
from alloy.optimizers.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Lion", "LossScale", "Optimizer", "RMSprop"]

_NAMED = {kind.__name__.lower(): kind for kind in (SGD, Adagrad, Adam, AdamW, Lion, RMSprop)}


def named(optimizer):
    """Makes the optimizer of that name, in upper or lower case, with its defaults. An object with a method minimize is
    returned unchanged."""
    if isinstance(optimizer, str):
        if optimizer.lower() not in _NAMED:
            known = ", ".join(_NAMED)
            raise mistake(
                "Trainer", f"Expected an optimizer or a name ({known}), got {optimizer!r}{meant(optimizer, _NAMED)}"
            )
        return _NAMED[optimizer.lower()]()
    if isinstance(optimizer, type) or not callable(getattr(optimizer, "minimize", None)):
        given = (
            f"the class {optimizer.__name__}; write al.{optimizer.__name__}()"
            if isinstance(optimizer, type)
            else repr(optimizer)
        )
        raise mistake("Trainer", f"Expected an optimizer such as al.Adam(), got {given}", TypeError)
    return optimizer
