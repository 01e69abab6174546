from collections.abc import Callable

from alloy.engine.arrays import as_count
from alloy.init import glorot_uniform
from alloy.nn.affine import Affine
from alloy.ops import matmul


class Dense(Affine):
    """activation(x @ weights + bias) over the last axis: (..., features) becomes (..., units).

    activation: a name such as "relu", a function of a tensor, a layer, or None. init: a function of al.init for the
    weights; the bias starts at 0. weights: (features, units), bias: (units,)."""

    def __init__(
        self,
        units: int,
        *,
        activation=None,
        use_bias: bool = True,
        init: Callable = glorot_uniform,
        seed: int | None = None,
    ):
        super().__init__(activation=activation, use_bias=use_bias, init=init, seed=seed)
        self.units = as_count(self, "units", units)

    def weights_shape(self, x):
        return self.known_features(x), self.units

    def product(self, x, weights):
        return matmul(x, weights)
