"""Activations: as layers, and as the argument `activation` of other layers."""

from alloy import ops
from alloy.messages.location import meant, mistake
from alloy.nn.layer import Layer

# The names that `activation` takes.
ACTIVATIONS = {
    "elu": ops.elu,
    "gelu": ops.gelu,
    "hard_sigmoid": ops.hard_sigmoid,
    "hard_swish": ops.hard_swish,
    "relu": ops.relu,
    "sigmoid": ops.sigmoid,
    "silu": ops.silu,
    "softmax": ops.softmax,
    "softplus": ops.softplus,
    "tanh": ops.tanh,
}
_INSTEAD = {
    "leaky_relu": "the layer al.nn.LeakyReLU(alpha)",
    "linear": "None",
    "gelu_tanh": "the layer al.nn.GELU(approximate=True)",
    "swish": "silu",
}


def activation_of(op: object, given):
    """Returns the function of a tensor for an argument `activation`: None, a name, a function or a layer."""
    if isinstance(given, type):
        raise mistake(
            op, f"Expected an activation, got the class {given.__name__}; write {given.__name__}()", TypeError
        )
    if given is None or callable(given):
        return given
    if not isinstance(given, str):
        raise mistake(op, f"Expected a name or a function as the activation, got {given!r}", TypeError)
    if given not in ACTIVATIONS:
        hint = f"; use {_INSTEAD[given]}" if given in _INSTEAD else meant(given, ACTIVATIONS)
        raise mistake(
            op, f"Expected a function or one of {', '.join(ACTIVATIONS)} as the activation, got {given!r}{hint}"
        )
    return ACTIVATIONS[given]


class Activation(Layer):
    """The base of activations. A subclass defines function(x)."""

    function = staticmethod(ops.identity)

    def __init__(self):
        super().__init__()

    def forward(self, x, training):
        self.require_floats(x)
        return self.function(x)


class ReLU(Activation):
    """max(x, 0), of any shape."""

    function = staticmethod(ops.relu)


class SiLU(Activation):
    """x / (1 + e^-x), of any shape; also known as swish."""

    function = staticmethod(ops.silu)


class Softplus(Activation):
    """log(1 + e^x), of any shape, without overflow."""

    function = staticmethod(ops.softplus)


class Tanh(Activation):
    """tanh(x), of any shape."""

    function = staticmethod(ops.tanh)


class Sigmoid(Activation):
    """1 / (1 + e^-x), the logistic function, of any shape."""

    function = staticmethod(ops.sigmoid)


class HardSwish(Activation):
    """x * min(max(x / 6 + 1/2, 0), 1), of any shape: Howard et al., 2019."""

    function = staticmethod(ops.hard_swish)


class LeakyReLU(Activation):
    """max(x, alpha * x), of any shape; the default alpha is Keras's."""

    def __init__(self, alpha=0.3):
        super().__init__()
        self.alpha = alpha

    def function(self, x):
        return ops.leaky_relu(x, self.alpha)


class ELU(Activation):
    """x if positive, else alpha (e^x - 1), of any shape: Clevert et al., 2015."""

    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def function(self, x):
        return ops.elu(x, self.alpha)


class GELU(Activation):
    """x (1 + erf(x / sqrt(2))) / 2, of any shape: Hendrycks and Gimpel, 2016.

    approximate: uses their formula x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 instead."""

    def __init__(self, *, approximate: bool = False):
        super().__init__()
        if not isinstance(approximate, bool):
            raise mistake(self, f"Expected approximate as True (by tanh) or False, got {approximate!r}", TypeError)
        self.approximate = approximate

    def function(self, x):
        return ops.gelu(x, approximate="tanh" if self.approximate else "none")


class Softmax(Activation):
    """e^x / sum(e^x) along the axis, computed without overflow. Losses take logits: a model in training needs no
    Softmax."""

    def __init__(self, *, axis: int = -1):
        super().__init__()
        self.axis = axis

    def function(self, x):
        return ops.softmax(x, axis=self.axis)
