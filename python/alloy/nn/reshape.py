import math

from alloy.graph.apply import require_tensor
from alloy.graph.arrays import as_integers
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.nn.layer import Layer
from alloy.ops import flatten, reshape, transpose


class _InOrder(Layer):
    """order: "channels_last", the elements as they lie, or "channels_first": PyTorch's, in which (n, ..., channels) is
    (n, channels, ...)."""

    def __init__(self, order):
        super().__init__()
        if order not in ("channels_last", "channels_first"):
            expected = 'the order "channels_last" or "channels_first"'
            raise mistake(self._kind(), f"Expected {expected}, got {order!r}")
        self.order = order

    def turned(self, x, *axes):
        """x with its axes behind the batch, counted from 1, in this order."""
        return x if self.order == "channels_last" or len(axes) < 2 else transpose(x, (0, *axes))

    def in_order(self, x):
        last = len(x.shape or ()) - 1
        return self.turned(x, last, *range(1, last))


class Flatten(_InOrder):
    """All axes but the first made one: (n, ...) becomes (n, m).

    order: of the m elements. "channels_first" puts all places of the first channel before those of the second, as a
    Flatten of PyTorch does; "channels_last" all channels of the first place before those of the second."""

    def __init__(self, *, order: str = "channels_last"):
        super().__init__(order)

    def forward(self, x, training):
        require_tensor("Flatten", x)
        return flatten(self.in_order(x))


class Reshape(_InOrder):
    """The elements of each example in row-major order under another shape: (n, ...) becomes (n, *target_shape), in
    which one extent may be -1: what is left. ValueError: the elements do not fit.

    order: of the elements. "channels_first" takes them from (n, channels, ...) to such a target, as PyTorch does; x and
    the result have the channels last all the same."""

    def __init__(self, target_shape, *, order: str = "channels_last"):
        super().__init__(order)
        self.target_shape = as_integers("Reshape", "a target shape", target_shape)
        if self.target_shape.count(-1) > 1 or any(extent < 1 and extent != -1 for extent in self.target_shape):
            raise mistake("Reshape", f"Expected extents of 1 or more and at most one -1, got {target_shape!r}")

    def forward(self, x, training):
        require_tensor("Reshape", x)
        if not x.shape:
            raise mistake("Reshape", f"Expected a tensor of rank 1 or more, got {describe(x)}")
        batch, *rest = x.shape
        target = self.target_shape
        if batch is None:
            batch, known = -1, math.prod(extent for extent in target if extent != -1)
            if None in rest:
                if -1 in target:
                    raise mistake("Reshape", f"Expected known extents behind the batch for a -1, got {describe(x)}")
            elif math.prod(rest) % known if -1 in target else math.prod(rest) != known:
                raise mistake("Reshape", f"Expected examples of the shape {tuple(target)}, got {describe(x)}")
            left = 1 if None in rest else math.prod(rest) // known
            target = [left if extent == -1 else extent for extent in target]
        if self.order == "channels_first":
            target = [*target[-1:], *target[:-1]]
        y = reshape(self.in_order(x), (batch, *target))
        return self.turned(y, *range(2, len(target) + 1), 1)
