"""Fourier transforms, with NumPy's meaning. Each line is computed in float64: by small prime factors of its length, or
as a convolution for other lengths, so that any length takes n log n steps."""

from alloy._core import Tensor
from alloy.engine.arrays import as_choice, as_integers
from alloy.ops.apply import apply

__all__ = ["fft", "ifft", "irfft", "rfft"]

_SCALINGS = {"backward": ("none", "size"), "ortho": ("unitary", "unitary"), "forward": ("size", "none")}


def fft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """sum(x[k] e^(-2 pi i j k / n)) over k, the discrete Fourier transform over an axis or several; complex64.

    x: complex64, or float32. norm: "forward" or "backward", the transform that is divided by n, or "ortho": both are
    divided by sqrt(n). ValueError: x has no such axis, an axis is named twice, or there is no such norm."""
    return _transform("fft", x, axis, norm, inverse=False)


def ifft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """sum(x[k] e^(2 pi i j k / n)) over k, by default divided by n: the inverse of fft with the same axes and norm."""
    return _transform("fft", x, axis, norm, inverse=True, typed="ifft")


def rfft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """Transforms real numbers as fft does, without the conjugate half: the last of the axes, whose length n must be
    known, has n // 2 + 1 elements. x: float32."""
    return _transform("rfft", x, axis, norm, inverse=False)


def irfft(x: Tensor, *, axis=-1, norm="backward", odd=False) -> Tensor:
    """Inverts rfft with the same axes and norm; float32. m elements along the last of the axes, whose number must be
    known, become 2 (m - 1), or with `odd` one more."""
    return _transform("irfft", x, axis, norm, inverse=True, odd=bool(odd))


def _transform(op, x, axis, norm, *, inverse, typed="", **more):
    scaling = _SCALINGS[as_choice(op, "a norm", norm, _SCALINGS)][inverse]
    attributes = {"axes": as_integers(op, "axes", axis), "inverse": inverse, "scaling": scaling}
    return apply(op, [x], attributes | more, typed=typed)
