"""The type that a model computes in. Layers compute in the type of their input; layers that make floats of ids or bytes
ask here."""

from contextlib import contextmanager
from contextvars import ContextVar

_DTYPE: ContextVar[str] = ContextVar("the type that models compute in", default="float32")


@contextmanager
def computing_in(dtype: str):
    """Lets models that are called meanwhile compute in float32, float16 or bfloat16."""
    before = _DTYPE.set(dtype)
    try:
        yield
    finally:
        _DTYPE.reset(before)


def compute_dtype() -> str:
    """Returns the type that the called model computes in, from Trainer(dtype=...)."""
    return _DTYPE.get()
