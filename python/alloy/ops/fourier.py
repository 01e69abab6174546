"""Fourier transforms, with NumPy's meaning. They are computed in float64 line by line, for lengths with small prime
factors by these, for others as convolutions, so that any length takes n log n steps."""

from alloy._core import Tensor
from alloy.graph.apply import apply
from alloy.graph.arrays import as_integers
from alloy.graph.location import mistake

__all__ = ["fft", "ifft", "irfft", "rfft"]

_SCALINGS = {"backward": ("none", "size"), "ortho": ("unitary", "unitary"), "forward": ("size", "none")}


def fft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """The discrete Fourier transform over an axis or several: sums of x[k] e^(-2 pi i j k / n); complex64.

    x: complex64, or float32. norm: what is divided by n, the forward or the backward transform, or both by sqrt(n)
    ("ortho"). ValueError: x has no such axis, an axis is named twice, or there is no such norm."""
    return _transform("fft", x, axis, norm, inverse=False)


def ifft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """The inverse of fft with the same axes and norm: sums of x[k] e^(2 pi i j k / n), by default divided by n."""
    return _transform("fft", x, axis, norm, inverse=True, typed="ifft")


def rfft(x: Tensor, *, axis=-1, norm="backward") -> Tensor:
    """What fft gives of real numbers, without what are conjugates of the rest: along the last of the axes, whose
    length n must be known, n // 2 + 1 elements. x: float32."""
    return _transform("rfft", x, axis, norm, inverse=False)


def irfft(x: Tensor, *, axis=-1, norm="backward", odd=False) -> Tensor:
    """The inverse of rfft with the same axes and norm; float32. Of m elements along the last of the axes, whose number
    must be known, it makes 2 (m - 1), or with `odd` one more."""
    return _transform("irfft", x, axis, norm, inverse=True, odd=bool(odd))


def _transform(op, x, axis, norm, *, inverse, typed="", **more):
    if norm not in _SCALINGS:
        raise mistake(op, f"Expected a norm among {', '.join(_SCALINGS)}, got {norm!r}")
    attributes = {"axes": as_integers(op, "axes", axis), "inverse": inverse, "scaling": _SCALINGS[norm][inverse]}
    return apply(op, [x], attributes | more, typed=typed)
