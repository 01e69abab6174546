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
    found = []
    return found if _collect(spec, element, found) else None


def _collect(spec, element, found) -> bool:
    if isinstance(spec, Spec):
        shape, dtype = spec
        if isinstance(element, (tuple, dict)) or not (
            element.dtype == dtype or (dtype == np.int64 and element.dtype == np.int32)
        ):
            return False
        given = element.shape
        if given != shape and not (
            len(given) == len(shape) and all(extent is None or extent == had for extent, had in zip(shape, given))
        ):
            return False
        found.append(element)
        return True
    if isinstance(spec, tuple):
        return (
            isinstance(element, tuple)
            and len(element) == len(spec)
            and all(_collect(part, given, found) for part, given in zip(spec, element))
        )
    return (
        isinstance(element, dict)
        and element.keys() == spec.keys()
        and all(_collect(part, element[key], found) for key, part in spec.items())
    )
