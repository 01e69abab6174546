from alloy.nn.affine import Affine
from alloy.ops import matmul


class Dense(Affine):
    """x @ weights + bias over the last axis: (..., features) becomes (..., units).

    weights: (features, units), bias: (units,)."""

    def __init__(self, units: int, *, use_bias: bool = True, seed: int | None = None):
        super().__init__(use_bias=use_bias, seed=seed)
        self.units = units

    def weights_shape(self, x):
        return self.known_features(x), self.units

    def product(self, x, weights):
        return matmul(x, weights)
