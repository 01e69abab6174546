from alloy._core import Tensor
from alloy.engine.arrays import may_be_equal, require_all
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer


class Residual(Layer):
    """branch(x) + shortcut(x); the shortcut is x itself unless a layer is given (He et al., 2015). ValueError: the two
    have different shapes."""

    def __init__(
        self, branch: Layer, shortcut: Layer | None = None, *, seed: int | None = None, name: str | None = None
    ):
        super().__init__(branch, *([] if shortcut is None else [shortcut]), seed=seed, name=name)

    def forward(self, x, training):
        branch, *shortcut = self.layers
        y, beside = branch(x, training), shortcut[0](x, training) if shortcut else x
        require_all(self, "tensors from the branch and the shortcut", Tensor, [y, beside])
        if not may_be_equal(y.shape, beside.shape):
            raise mistake(self, f"Expected a branch that gives the shape of {describe(beside)}, got {describe(y)}")
        return y + beside
