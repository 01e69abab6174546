import math

from alloy.graph.apply import require_tensor
from alloy.graph.arrays import as_integers
from alloy.graph.location import mistake
from alloy.graph.text import describe
from alloy.nn.layer import Layer
from alloy.ops import flatten, reshape


class Flatten(Layer):
    """Joins all axes but the first: (n, ...) becomes (n, m)."""

    def __init__(self):
        super().__init__()

    def forward(self, x, training):
        return flatten(x)


class Reshape(Layer):
    """Gives the elements of each example, in row-major order, another shape: (n, ...) becomes (n, *target_shape). One
    extent may be -1: it takes the rest. ValueError: the elements do not fit."""

    def __init__(self, target_shape):
        super().__init__()
        self.target_shape = as_integers("Reshape", "a target shape", target_shape)
        if self.target_shape.count(-1) > 1 or any(extent < 1 and extent != -1 for extent in self.target_shape):
            raise mistake("Reshape", f"Expected extents of 1 or more and at most one -1, got {target_shape!r}")

    def forward(self, x, training):
        require_tensor("Reshape", x)
        if not x.shape:
            raise mistake("Reshape", f"Expected a tensor of rank 1 or more, got {describe(x)}")
        batch, *rest = x.shape
        if batch is not None:
            return reshape(x, (batch, *self.target_shape))
        known = math.prod(extent for extent in self.target_shape if extent != -1)
        if None in rest:
            if -1 in self.target_shape:
                raise mistake("Reshape", f"Expected known extents behind the batch for a -1, got {describe(x)}")
        elif math.prod(rest) % known if -1 in self.target_shape else math.prod(rest) != known:
            raise mistake("Reshape", f"Expected examples of the shape {tuple(self.target_shape)}, got {describe(x)}")
        left = 1 if None in rest else math.prod(rest) // known
        return reshape(x, (-1, *(left if extent == -1 else extent for extent in self.target_shape)))
