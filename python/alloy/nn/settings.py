"""The settings of a model's call that a trainer makes, for all layers in it."""

from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from alloy._core import Tensor


class Settings(NamedTuple):
    """dtype: the type that layers make of ids and bytes. Layers compute in the type of their input. mask: which
    examples of the batch count, float32 (n,), or None: all (Layer.example_mask). rank: the process's, for random
    numbers of its own, or None: it trains alone. synchronized: statistics of a batch are over all processes."""

    dtype: str = "float32"
    mask: Tensor | None = None
    rank: int | None = None
    synchronized: bool = False


_NONE = Settings()
_SETTINGS: ContextVar[Settings] = ContextVar("the settings of a model's call", default=_NONE)


@contextmanager
def calling(*given, **named):
    """Gives Settings to models that are called within the with statement."""
    token = _SETTINGS.set(Settings(*given, **named))
    try:
        yield
    finally:
        _SETTINGS.reset(token)


def settings() -> Settings:
    """Returns the settings of the present call."""
    return _SETTINGS.get()
