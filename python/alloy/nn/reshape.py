import math

from alloy.engine.arrays import as_choice, as_integers
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.ops import flatten, reshape, transpose
from alloy.ops.apply import require_tensor


class _InOrder(Layer):
    """order: "channels_last", the elements as they lie, or "channels_first": PyTorch's, in which (n, ..., channels) is
    (n, channels, ...)."""

    def __init__(self, order):
        super().__init__()
        self.order = as_choice(self, "an order", order, ("channels_last", "channels_first"))

    def turned(self, x, *axes):
        """Returns x with the axes after the batch in the order `axes`; for "channels_last" x itself."""
        return x if self.order == "channels_last" or len(axes) < 2 else transpose(x, (0, *axes))

    def in_order(self, x):
        last = len(x.shape or ()) - 1
        return self.turned(x, last, *range(1, last))


class Flatten(_InOrder):
    """Joins all axes but the first: (n, ...) becomes (n, m).

    order: "channels_last" puts the first place's channels first, then the second place's; "channels_first" puts the
    first channel's places first, as PyTorch's Flatten does."""

    def __init__(self, *, order: str = "channels_last"):
        super().__init__(order)

    def forward(self, x, training):
        require_tensor(self, x)
        return flatten(self.in_order(x))


class Reshape(_InOrder):
    """Reshapes each example: (n, ...) becomes (n, *target_shape). One extent may be -1: the rest. ValueError: the
    elements do not fit.

    order: "channels_last", row-major as x is. "channels_first" reads and writes the elements in PyTorch's order, (n,
    channels, ...); x and the result still have the channels last."""

    def __init__(self, target_shape, *, order: str = "channels_last"):
        super().__init__(order)
        self.target_shape = as_integers(self, "a target shape", target_shape)
        if self.target_shape.count(-1) > 1 or any(extent < 1 and extent != -1 for extent in self.target_shape):
            raise mistake(self, f"Expected extents of 1 or more and at most one -1, got {target_shape!r}")

    def forward(self, x, training):
        require_tensor(self, x)
        if not x.shape:
            raise mistake(self, f"Expected a tensor of rank 1 or more, got {describe(x)}")
        batch, *rest = x.shape
        target = self.target_shape
        if batch is None:
            batch, known = -1, math.prod(extent for extent in target if extent != -1)
            if None in rest:
                if -1 in target:
                    raise mistake(self, f"Expected known extents behind the batch for a -1, got {describe(x)}")
            elif math.prod(rest) % known if -1 in target else math.prod(rest) != known:
                raise mistake(self, f"Expected examples of the shape {tuple(target)}, got {describe(x)}")
            left = 1 if None in rest else math.prod(rest) // known
            target = [left if extent == -1 else extent for extent in target]
        if self.order == "channels_first":
            target = [*target[-1:], *target[:-1]]
        y = reshape(self.in_order(x), (batch, *target))
        return self.turned(y, *range(2, len(target) + 1), 1)
