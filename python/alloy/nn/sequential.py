from alloy.nn.layer import Layer


class Sequential(Layer):
    """One layer after the other. seed: for every layer that has none of its own."""

    def __init__(self, *layers: Layer, seed: int = 0):
        super().__init__(seed=seed)
        self.layers = list(layers)
        for layer in layers:
            if layer.seed is None:
                layer.seed = seed

    @property
    def variables(self):
        # A layer that stands in two places has its variables once.
        return list(dict.fromkeys(variable for layer in self.layers for variable in layer.variables))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
