from alloy.nn.layer import Layer


class Sequential(Layer):
    """One layer after the other."""

    def forward(self, x, training):
        for layer in self.layers:
            x = layer(x, training)
        return x
