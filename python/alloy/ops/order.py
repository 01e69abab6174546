"""Sorting and cumulative sums, products and extremes along an axis."""

import math

from alloy._core import Tensor
from alloy.engine.arrays import as_count, as_integers
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops.apply import apply, apply_all, require_tensor
from alloy.ops.elementwise import rounded_once, where
from alloy.ops.shape import axis_of, expand_dims, known_extent, known_shape, reshape, transpose
from alloy.ops.table import any, is_nan

__all__ = ["argsort", "bottom_k", "cummax", "cummin", "cumprod", "cumsum", "median", "sort", "top_k"]


def sort(x: Tensor, axis=-1, *, descending=False) -> Tensor:
    """Sorts the elements along the axis. NaN counts as the greatest, so that it comes last in ascending order, as in
    NumPy; its place on Apple's framework is not known."""
    return apply("sort", [x], {"axis": axis, "descending": bool(descending)})


def argsort(x: Tensor, axis=-1, *, descending=False) -> Tensor:
    """Returns the int32 positions along the axis from which sort takes the elements. Equal elements keep their order;
    on Apple's framework that is not known."""
    return apply("argsort", [x], {"axis": axis, "count": -1, "descending": bool(descending)})


def top_k(x: Tensor, k, axis=-1) -> tuple[Tensor, Tensor]:
    """Returns the k greatest elements along the axis in descending order, and their int32 positions. Of equal elements
    the first come first; NaN counts as the greatest.

    ValueError: there are fewer than k elements along the axis."""
    return _first("top_k", x, k, axis, True)


def bottom_k(x: Tensor, k, axis=-1) -> tuple[Tensor, Tensor]:
    """Returns the k least elements along the axis in ascending order, and their int32 positions. Of equal elements the
    first come first; NaN counts as the greatest.

    ValueError: there are fewer than k elements along the axis."""
    return _first("bottom_k", x, k, axis, False)


def median(x: Tensor, axis=None, *, keepdims: bool = False) -> Tensor:
    """Returns the middle element of the sorted ones along the axes, or the mean of the two in the middle.

    The gradient goes to these elements. If an element is NaN, the result is NaN.

    x: of a floating type, of known extents along the axes. axis: an axis or several; None means all. The reduced axes
    vanish, or stay with size 1 where keepdims. ValueError: x does not have the axis, or no element along it."""
    return rounded_once("median", lambda x: _median(x, axis, keepdims), x)


def _median(x, axis, keepdims):
    rank = len(known_shape("median", x))
    axes = [axis_of("median", x, i) for i in (range(rank) if axis is None else as_integers("median", "axes", axis))]
    count = math.prod(known_extent("median", x, i) for i in axes)
    if count == 0:
        raise mistake("median", f"Expected elements along the axes, got {describe(x)}")
    kept = [i for i in range(rank) if i not in axes]
    row = transpose(x, kept + axes)
    if len(axes) != 1:
        row = reshape(row, [*(x.shape[i] for i in kept), count])
    ascending = sort(row)
    low, high = ascending[..., (count - 1) // 2], ascending[..., count // 2]
    middle = where(any(is_nan(row), -1), float("nan"), low if count % 2 else low * 0.5 + high * 0.5)
    return expand_dims(middle, axes) if keepdims else middle


def _first(op, x, k, axis, descending):
    require_tensor(op, x)
    attributes = {"axis": axis, "count": as_count(op, "k", k), "descending": descending}
    values, places = apply_all("top_k", [x], attributes, typed=op)
    return values, places


def cumsum(x: Tensor, axis=-1, *, exclusive=False, reverse=False) -> Tensor:
    """Sums each element and all before it along the axis; with reverse, all after it. exclusive: leaves the element
    itself out, so that the first sum is 0."""
    return _cumulative("cumsum", "sum", x, axis, exclusive, reverse)


def cumprod(x: Tensor, axis=-1, *, exclusive=False, reverse=False) -> Tensor:
    """Multiplies each element and all before it along the axis; with reverse, all after it. exclusive: leaves the
    element itself out, so that the first product is 1. The gradient is right where elements are 0, too."""
    return _cumulative("cumprod", "product", x, axis, exclusive, reverse)


def cummin(x: Tensor, axis=-1, *, exclusive=False, reverse=False) -> Tensor:
    """Returns the least of each element and all before it along the axis, ignoring NaN; with reverse, all after it.
    exclusive: leaves the element itself out, so that the first is the greatest finite number of the type. The gradient
    goes to the least element, of equal ones to the nearest."""
    return _cumulative("cummin", "minimum", x, axis, exclusive, reverse)


def cummax(x: Tensor, axis=-1, *, exclusive=False, reverse=False) -> Tensor:
    """Returns the greatest of each element and all before it along the axis, ignoring NaN; with reverse, all after it.
    exclusive: leaves the element itself out, so that the first is the least finite number of the type. The gradient
    goes to the greatest element, of equal ones to the nearest."""
    return _cumulative("cummax", "maximum", x, axis, exclusive, reverse)


def _cumulative(function, operation, x, axis, exclusive, reverse):
    attributes = {"axis": axis, "operation": operation, "exclusive": bool(exclusive), "reverse": bool(reverse)}
    return apply("cumulative", [x], attributes, typed=function)
