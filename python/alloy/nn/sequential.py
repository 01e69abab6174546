from alloy.nn.layer import Layer


class Sequential(Layer):
    """Applies one layer after the other. Layers may be added to `layers`, replaced or removed; tensors of earlier calls
    stay as they are."""

    def forward(self, x, training):
        for layer in self.layers:
            x = layer(x, training)
        return x
