"""In which type a model computes. Layers compute in that of what they are given; this is for those that make floats of
what are none, such as ids and bytes."""

from contextlib import contextmanager
from contextvars import ContextVar

_DTYPE: ContextVar[str] = ContextVar("the type that models compute in", default="float32")


@contextmanager
def computing_in(dtype: str):
    """Models that are called meanwhile compute in float32, float16 or bfloat16."""
    before = _DTYPE.set(dtype)
    try:
        yield
    finally:
        _DTYPE.reset(before)


def compute_dtype() -> str:
    """In which type the model that is being called computes; Trainer(dtype=...) says so."""
    return _DTYPE.get()
