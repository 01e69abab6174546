"""What convolutions and pooling have in common: windows that move over height and width."""

from alloy.graph.arrays import as_integers
from alloy.graph.location import mistake


def window_attributes(op, strides, dilations, padding, data_layout) -> dict:
    """The attributes of an op whose window moves so, as al.conv2d describes them."""
    attributes = {
        "strides": pair(op, "strides", strides),
        "dilations": pair(op, "dilations", dilations),
        "data_layout": data_layout,
    }
    if padding in ("valid", "same"):
        return attributes | {"padding_style": padding, "padding": [0, 0, 0, 0]}
    try:
        (top, bottom), (left, right) = padding
    except (TypeError, ValueError):
        expected = '"valid", "same" or ((top, bottom), (left, right))'
        raise mistake(op, f"Expected the padding {expected}, got {padding!r}") from None
    explicit = as_integers(op, "a padding", [top, bottom, left, right])
    return attributes | {"padding_style": "explicit", "padding": explicit}


def pair(op, what, extents) -> list[int]:
    """An integer for the height and one for the width, of which a single one stands for both."""
    integers = as_integers(op, what, extents)
    return integers * 2 if len(integers) == 1 else integers
