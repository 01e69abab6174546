"""Numbers for each axis that windows of convolutions and pooling move along."""

from alloy.messages.location import mistake
from alloy.ops.windows import per_axis


def extents(op: object, what: str, value, axes: int = 2, least: int = 1) -> list[int]:
    """Returns an integer for each axis; a single one stands for all. ValueError: there are more or fewer, or one is
    below the least or beyond 32 bits."""
    found = per_axis(op, what, value, axes)
    if len(found) != axes or min(found) < least:
        several = "" if axes == 1 else f", or {axes} of them"
        raise mistake(op, f"Expected {what} of {least} or more{several}, got {value!r}")
    if max(found) >= 2**31:
        raise mistake(op, f"Expected {what} below 2**31, got {value!r}")
    return found


def padding_of_sequence(op: object, padding, styles: str):
    """Returns the padding of an image of height 1: a style, or pairs. ValueError: it is neither a text nor a pair."""
    if isinstance(padding, str):
        return padding
    if not isinstance(padding, (tuple, list)) or len(padding) != 2:
        raise mistake(op, f"Expected the padding {styles} or a pair (before, after), got {padding!r}")
    return (0, 0), tuple(padding)
