"""Windows that move over several axes, for convolutions and pooling."""

from collections.abc import Sequence

from alloy.engine.arrays import as_integers
from alloy.messages.location import mistake

Extents = int | Sequence[int]  # one for all axes, or one for each
Padding = str | Sequence[int] | Sequence[Sequence[int]]  # a style, or numbers before and after each axis


def window_attributes(op, strides, dilations, padding, axes=2) -> dict:
    """Returns the attributes of an op whose window moves over `axes` axes, from the arguments that al.conv2d
    describes."""
    attributes = {
        "strides": per_axis(op, "strides", strides, axes),
        "dilations": per_axis(op, "dilations", dilations, axes),
    }
    if isinstance(padding, str) and padding in ("valid", "same"):
        return attributes | {"padding_style": padding, "padding": [0] * (2 * axes)}
    return attributes | {"padding_style": "explicit", "padding": explicit_padding(op, padding, axes)}


def explicit_padding(op, padding, axes) -> list[int]:
    """Returns the padding before and after each axis, one after the other."""
    try:
        pairs = [(before, after) for before, after in padding]
    except (TypeError, ValueError):
        pairs = []
    if len(pairs) != axes:
        sides = {2: "((top, bottom), (left, right))", 3: "((front, back), (top, bottom), (left, right))"}
        expected = f'"valid", "same" or {sides.get(axes, f"{axes} pairs (before, after)")}'
        raise mistake(op, f"Expected the padding {expected}, got {padding!r}")
    return as_integers(op, "a padding", [extent for pair in pairs for extent in pair])


def per_axis(op, what, extents, axes=2) -> list[int]:
    """Returns an integer for each axis; a single one stands for all."""
    integers = as_integers(op, what, extents)
    return integers * axes if len(integers) == 1 else integers
