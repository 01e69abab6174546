"""The structure of elements, as a Spec for each array: shown, and compared. alloy.engine.structure takes structures
apart."""

from typing import NamedTuple

import numpy as np

from alloy.engine.structure import convert

__all__ = ["Spec"]


class Spec(NamedTuple):
    """The shape of an array of an element, with None for the number of examples in a batch, and its dtype."""

    shape: tuple
    dtype: np.dtype
    is_leaf = True  # for alloy.engine.structure

    def __str__(self):
        return f"{self.dtype}{str(self.shape).replace('None', '?')}"


def spec_of(element):
    """Returns the structure of an element, with Specs as leaves."""
    return convert(lambda leaf: Spec(leaf.shape, leaf.dtype), element)


def text(structure) -> str:
    """Shows the structure of an element, or of Specs, in messages: (float32(28, 28, 1), int32())."""
    if isinstance(structure, Spec):
        return str(structure)
    if isinstance(structure, tuple):
        return f"({', '.join(text(part) for part in structure)}{',' if len(structure) == 1 else ''})"
    if isinstance(structure, dict):
        return "{" + ", ".join(f"{key!r}: {text(part)}" for key, part in structure.items()) + "}"
    return str(Spec(structure.shape, structure.dtype))


def leaves_like(spec, element) -> list | None:
    """Returns the leaves of an element in the order of the spec, or None if the element has another structure, or a
    leaf has another shape (None fits any extent) or dtype (int32 fits int64)."""
    if isinstance(spec, Spec):
        return [element] if not isinstance(element, (tuple, dict)) and _fits(element, *spec) else None
    kind = dict if isinstance(spec, dict) else tuple
    if not isinstance(element, kind) or len(element) != len(spec):
        return None
    found = []
    for key, part in spec.items() if kind is dict else enumerate(spec):
        inner = None if kind is dict and key not in element else leaves_like(part, element[key])
        if inner is None:
            return None
        found += inner
    return found


def _fits(leaf, shape, dtype) -> bool:
    alike = leaf.dtype == dtype or (dtype == np.int64 and leaf.dtype == np.int32)
    extents = zip(shape, leaf.shape)
    return alike and leaf.ndim == len(shape) and all(extent in (None, given) for extent, given in extents)
