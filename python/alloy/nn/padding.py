"""The mask of the examples of a training batch that count. `last_batch="pad"` fills the last batch up with examples
that must not change anything (Layer.example_mask)."""

from contextlib import contextmanager
from contextvars import ContextVar

from alloy._core import Tensor

_MASK: ContextVar[Tensor | None] = ContextVar("the mask of the batch that a model is called with", default=None)


@contextmanager
def counting(mask: Tensor | None):
    """Gives the mask to models called within the with statement: only examples with mask 1 count; None: all count."""
    before = _MASK.set(mask)
    try:
        yield
    finally:
        _MASK.reset(before)


def example_mask() -> Tensor | None:
    return _MASK.get()
