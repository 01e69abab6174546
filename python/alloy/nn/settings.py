"""The settings of a model's call that a trainer makes, for all layers in it."""

from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from alloy._core import Tensor


class Settings(NamedTuple):
    """dtype: the type that layers make of ids and bytes. Layers compute in the type of their input. mask: which
    examples of the batch count, float32 (n,), or None: all (Layer.example_mask)."""

    dtype: str = "float32"
    mask: Tensor | None = None


_NONE = Settings()
_SETTINGS: ContextVar[Settings] = ContextVar("the settings of a model's call", default=_NONE)


@contextmanager
def calling(dtype: str, mask: Tensor | None):
    """Gives the settings to models that are called within the with statement."""
    token = _SETTINGS.set(Settings(dtype, mask))
    try:
        yield
    finally:
        _SETTINGS.reset(token)


def settings() -> Settings:
    """Returns the settings of the present call."""
    return _SETTINGS.get()
