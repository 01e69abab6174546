from alloy.nn.layer import Layer


class Residual(Layer):
    """branch(x) + shortcut(x), where the shortcut is x itself unless a layer is given (He et al., 2015)."""

    def __init__(
        self, branch: Layer, shortcut: Layer | None = None, *, seed: int | None = None, name: str | None = None
    ):
        super().__init__(branch, *([] if shortcut is None else [shortcut]), seed=seed, name=name)

    def forward(self, x, training):
        branch, *shortcut = self.layers
        return branch(x, training) + (shortcut[0](x, training) if shortcut else x)
