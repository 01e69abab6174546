"""Products, inverses and parts of matrices, and distances between their rows."""

import math
import re
from typing import Any

import numpy as np

from alloy._core import Tensor
from alloy.engine.arrays import as_count, require_all
from alloy.engine.dtypes import is_float
from alloy.messages.location import mistake, typed_as
from alloy.messages.text import describe
from alloy.ops.apply import apply, as_tensor
from alloy.ops.elementwise import where
from alloy.ops.shape import (
    broadcast_to,
    coordinates,
    expand_dims,
    known_extent,
    known_shape,
    pad,
    reshape,
    squeeze,
    transpose,
)
from alloy.ops.table import equal, greater_equal, less_equal, multiply, sum

__all__ = ["band_part", "diag", "einsum", "hamming_distance", "inverse", "matmul", "outer", "tril", "triu"]


def matmul(a, b) -> Tensor:
    """Multiplies matrices over the last two axes; leading axes broadcast.

    a: (..., n, k), b: (..., k, m), result: (..., n, m), all float32. ValueError: the inner dimensions differ."""
    return apply("matmul", [a, b])


def einsum(subscripts: str, *tensors) -> Tensor:
    """Sums products as the subscripts say, as numpy.einsum: "ij,jk->ik" is a matrix product, "bii->b" a trace.

    Each tensor has a letter for each axis; all tensors but one may be arrays. Letters that are missing after the arrow
    are summed over; without an arrow the result has the letters that occur once, in alphabetical order. An ellipsis
    stands for the other axes, which broadcast. Tensors are multiplied from left to right. ValueError: the subscripts do
    not fit the tensors, or an extent that must be known is not."""
    if not isinstance(subscripts, str):
        raise mistake("einsum", f"Expected subscripts such as 'ij,jk->ik', got {subscripts!r}", TypeError)
    require_all("einsum", "tensors behind the subscripts", (Tensor, np.ndarray), tensors)
    graph = next((x.graph for x in tensors if isinstance(x, Tensor)), None)
    if graph is None:
        raise mistake("einsum", "Expected a tensor behind the subscripts; graph.constant makes one", TypeError)
    tensors = [as_tensor(graph, "einsum", x, "") for x in tensors]
    factors, result = _factors(subscripts, tensors)
    with typed_as("einsum"):
        done: Any = None
        for i, (x, axes) in enumerate(factors):
            kept = {*result, *(axis for _, others in factors[i + 1 :] for axis in others)}
            first = set() if done is None else {*done[1]}
            factor = _summed(x, axes, kept | first)
            done = factor if done is None else _summed(*_product(done, factor, kept), kept)
        y, axes = done
    order = [axes.index(axis) for axis in result]
    return y if order == sorted(order) else transpose(y, order)


def _factors(subscripts, tensors):
    """Returns pairs of a tensor and its axes, and the axes of the result: letters, and negative numbers for an
    ellipsis."""
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    sound = all(re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", term) for term in (*terms, result))
    if not sound or len(terms) != len(tensors):
        what = f"subscripts such as 'ij,jk->ik' of {len(tensors)} tensors"
        raise mistake("einsum", f"Expected {what}, got {subscripts!r}")
    factors, extents = [], {}
    for term, x in zip(terms, tensors):
        letters = term.replace("...", "")
        rank = -1 if x.shape is None else len(x.shape)
        rest = rank - len(letters)
        if rest < 0 or (rest > 0 and "..." not in term):
            raise mistake("einsum", f"Expected a letter for each axis, got {term!r} for {describe(x)}")
        axes = _axes(term, rest)
        for axis, extent in zip(axes, x.shape or ()):
            known = extents.setdefault(axis, extent) or extent
            if isinstance(axis, str) and extent is not None and known != extent:
                raise mistake("einsum", f"Expected one extent for {axis!r} of {subscripts!r}, got {known} and {extent}")
            extents[axis] = known
        factors.append((x, axes))
    letters = given.replace("...", "").replace(",", "")
    rest = len([axis for axis in extents if isinstance(axis, int)])
    if not arrow:
        result = "..." + "".join(sorted(letter for letter in {*letters} if letters.count(letter) == 1))
    elif rest and "..." not in result:
        raise mistake("einsum", f"Expected an ellipsis behind the arrow, too, got {subscripts!r}")
    axes = _axes(result, rest)
    if len({*axes}) != len(axes) or not {*axes} <= {*extents}:
        raise mistake("einsum", f"Expected letters of the tensors behind the arrow, each once, got {subscripts!r}")
    return factors, axes


def _axes(term, rest):
    before, _, behind = term.partition("...")
    return [*before, *range(-rest if "..." in term else 0, 0), *behind]


def _summed(x, axes, kept):
    """Takes the diagonal of an axis that occurs twice, and sums over axes that are not kept."""
    for axis in [axis for i, axis in enumerate(axes) if axis in axes[:i]]:
        i = axes.index(axis)
        k = axes.index(axis, i + 1)
        x = sum(where(equal(coordinates(x, i), coordinates(x, k)), x, 0), k)
        axes = axes[:k] + axes[k + 1 :]
    gone = [i for i, axis in enumerate(axes) if axis not in kept]
    return (sum(x, gone) if gone else x), [axis for axis in axes if axis in kept]


def _product(left, right, kept):
    """Joins two factors, by a matrix product if an axis of both is summed over."""
    (a, of_a), (b, of_b) = left, right
    summed = [axis for axis in of_a if axis in of_b and axis not in kept] if is_float(a.dtype) else []
    both = [axis for axis in of_a if axis in of_b and axis not in summed]
    rows, columns = ([axis for axis in own if axis not in both + summed] for own in (of_a, of_b))
    if not summed:
        a = expand_dims(
            transpose(a, [of_a.index(axis) for axis in both + rows]), range(len(of_a), len(of_a) + len(columns))
        )
        b = expand_dims(transpose(b, [of_b.index(axis) for axis in both + columns]), range(len(both), len(of_a)))
        return multiply(a, b), both + rows + columns
    y = matmul(_matrices(a, of_a, both, rows, summed), _matrices(b, of_b, both, summed, columns))
    if len(rows) > 1 or len(columns) > 1:
        extents = [x.shape[own.index(axis)] for x, own, some in ((a, of_a, rows), (b, of_b, columns)) for axis in some]
        return reshape(y, (*(y.shape or ())[: len(both)], *extents)), both + rows + columns
    gone = [axis for axis, some in ((-2, rows), (-1, columns)) if not some]
    return (squeeze(y, gone) if gone else y), both + rows + columns


def _matrices(x: Any, axes, both, rows, columns):
    """Returns x as matrices: first the axes of both factors, then the row axes joined, then the column axes joined."""
    x = transpose(x, [axes.index(axis) for axis in both + rows + columns])
    if len(rows) <= 1 and len(columns) <= 1:
        gone = [axis for axis, some in ((-2, rows), (-1, columns)) if not some]
        return expand_dims(x, gone) if gone else x
    n = len(both)
    groups = (x.shape[n : n + len(rows)], x.shape[n + len(rows) :])
    return reshape(x, (*x.shape[:n], *(None if None in group else math.prod(group) for group in groups)))


def band_part(x: Tensor, lower, upper) -> Tensor:
    """Sets elements of the matrices along the last two axes to zero outside a band. Their extents must be known.

    lower, upper: the number of diagonals that stay below and above the main one; negative: all. (-1, 0) keeps the lower
    triangle."""
    return apply("band_part", [x], {"lower": lower, "upper": upper})


def tril(x: Tensor, k=0) -> Tensor:
    """Gives the matrices along the last two axes, whose extents must be known, zeros above diagonal k.

    Diagonal 0 is the main one, 1 the one above it."""
    return where(less_equal(_diagonals("tril", x, k), 0), x, False)  # a zero of any type


def triu(x: Tensor, k=0) -> Tensor:
    """Sets elements of the matrices along the last two axes, whose extents must be known, to zero below diagonal k.

    Diagonal 0 is the main one, 1 the one above it."""
    return where(greater_equal(_diagonals("triu", x, k), 0), x, False)


def _diagonals(op, x, k):
    """Counts by how many diagonals each element is above diagonal k."""
    with typed_as(op):
        return coordinates(x, -1) - coordinates(x, -2) - as_count(op, "k", k, least=-(2**30), most=2**30)


def diag(x: Tensor, k=0) -> Tensor:
    """Gives of a matrix its diagonal k, of a vector the square matrix with x on diagonal k and zeros elsewhere.

    Diagonal 0 is the main one, 1 the one above it. The shape must be known."""
    extents = [known_extent("diag", x, axis) for axis in range(len(known_shape("diag", x)))]
    k = as_count("diag", "k", k, least=-(2**30), most=2**30)
    below, above = max(-k, 0), max(k, 0)
    if len(extents) == 1:
        with typed_as("diag"):
            main = band_part(broadcast_to(x, extents * 2), 0, 0)
            return pad(main, ((below, above), (above, below)), value=False)
    if len(extents) != 2:
        raise mistake("diag", f"Expected a vector or a matrix, got {describe(x)}")
    rows, columns = extents
    count = max(min(rows - below, columns - above), 0)
    first = below * columns + above
    return reshape(x, -1)[first : first + count * (columns + 1) : columns + 1]


def outer(a, b) -> Tensor:
    """Multiplies each element of a with each of b: (n,) and (m,) give (n, m); other shapes are flattened first. One of
    them may be an array. TypeError: the dtypes differ."""
    require_all("outer", "tensors or arrays", (Tensor, np.ndarray), [a, b])
    with typed_as("outer"):
        return multiply(a.reshape(-1, 1), b.reshape(1, -1))


def inverse(x: Tensor) -> Tensor:
    """Inverts the square matrices over the last two axes, by elimination with partial pivoting in float64. A singular
    matrix gives infinities and NaN, or numbers made of rounding errors. ValueError: the matrices are not square."""
    return apply("inverse", [x])


def hamming_distance(a, b, *, dtype="uint32") -> Tensor:
    """Counts the bits that differ between row i of a and row j of b.

    a: (..., m, k), b: (..., n, k), of one integer type; leading axes broadcast. Result: (..., m, n), of dtype uint16 or
    uint32. ValueError: the rows differ in length. TypeError: the dtypes differ or are others."""
    return apply("hamming_distance", [a, b], {"dtype": dtype})
