"""Complex numbers and their parts. Their sums, differences, products, quotients, absolute values, means and equality
are those of the ops of that name; the gradient of a complex tensor is that of its real part plus i times that of its
imaginary part."""

from alloy._core import Tensor
from alloy.graph.apply import apply

__all__ = ["absolute_square", "complex", "conjugate", "imag", "planar", "real"]


def complex(real, imag) -> Tensor:
    """complex64 numbers real + i imag, of tensors of float32 that broadcast. One may be a number or an array."""
    return apply("complex", [real, imag])


def real(x: Tensor) -> Tensor:
    """The real parts; of a real tensor x itself."""
    return apply("real", [x])


def imag(x: Tensor) -> Tensor:
    """The imaginary parts; of a real tensor zeros."""
    return apply("imag", [x])


def conjugate(x: Tensor) -> Tensor:
    """x with its imaginary parts negative; of a real tensor x itself."""
    return apply("conjugate", [x])


def absolute_square(x: Tensor) -> Tensor:
    """|x|^2, which is real."""
    return apply("absolute_square", [x])


def planar(x: Tensor) -> Tensor:
    """The real parts and then the imaginary ones along the last axis, of twice its length; of a real tensor x
    itself."""
    return apply("planar", [x])
