"""Complex numbers and their parts. Sums, differences, products, quotients, absolute values, means and equality are the
ops of those names. The gradient of a complex tensor is the gradient of its real part plus i times the gradient of its
imaginary part."""

from alloy._core import Tensor
from alloy.ops.apply import apply

__all__ = ["absolute_square", "complex", "conjugate", "imag", "planar", "real"]


def complex(real, imag) -> Tensor:
    """real + i imag, complex64, of float32 tensors that broadcast. One may be a number or an array."""
    return apply("complex", [real, imag])


def real(x: Tensor) -> Tensor:
    """Returns the real parts; a real x as it is."""
    return apply("real", [x])


def imag(x: Tensor) -> Tensor:
    """Returns the imaginary parts; zeros for a real x."""
    return apply("imag", [x])


def conjugate(x: Tensor) -> Tensor:
    """Negates the imaginary parts; returns a real x as it is."""
    return apply("conjugate", [x])


def absolute_square(x: Tensor) -> Tensor:
    """|x|^2, which is real."""
    return apply("absolute_square", [x])


def planar(x: Tensor) -> Tensor:
    """Puts the imaginary parts after the real parts along the last axis, which becomes twice as long; returns a real x
    unchanged."""
    return apply("planar", [x])
