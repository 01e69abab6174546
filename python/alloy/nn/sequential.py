from alloy.nn.layer import Layer


class Sequential(Layer):
    """One layer after the other. Layers may be added to `layers`, in it replaced or taken away; what calls have made
    before stays as it is."""

    def forward(self, x, training):
        for layer in self.layers:
            x = layer(x, training)
        return x
