"""Fits the polynomials of InverseNormal in csrc/portable/cpu/random/random.cpp, and prints them.

The number z that a standard normal one is below with probability p is (2p - 1) P(w), with w = -log(4p (1 - p)): P is a
polynomial of w below 5, of sqrt(w) up to 4.2 and another one up to 9.4, which is farther out than float32 reaches. The
relative error is evened out over each piece by weighted least squares at Chebyshev's nodes. Needs SciPy."""

import numpy as np
from scipy.special import ndtri

PIECES = [("kMiddle", 1e-9, 5.0, 9, False), ("kTail", 5**0.5, 4.2, 9, True), ("kFar", 4.2, 9.4, 8, True)]


def nodes(low, high, count=1500):
    return (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)


def probability(w):
    """The lower p with -log(4p (1 - p)) = w."""
    q = np.exp(-w)
    return q / (2 * (1 + np.sqrt(1 - q)))


def fit(low, high, degree, is_root):
    """(coefficients of powers of the distance from the middle, the middle, the greatest relative error)"""
    t = nodes(low, high)
    p = probability(t**2 if is_root else t)
    y = ndtri(p) / (2 * p - 1)
    middle, half = (low + high) / 2, (high - low) / 2
    scaled = np.polynomial.chebyshev.chebvander((t - middle) / half, degree) / y[:, None]
    weights = np.ones(len(t))
    for _ in range(200):
        c = np.linalg.lstsq(scaled * weights[:, None], weights, rcond=None)[0]
        error = np.abs(scaled @ c - 1)
        weights *= 0.5 + error / error.max()
        weights /= weights.mean()
    return np.polynomial.chebyshev.cheb2poly(c) / half ** np.arange(degree + 1), middle, error.max()


if __name__ == "__main__":
    for name, *piece in PIECES:
        coefficients, middle, error = fit(*piece)
        print(f"{name}, around {middle}, within {error:.1e}:", *(float(np.float32(c)) for c in coefficients))
