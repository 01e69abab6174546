"""Products of matrices, and Fourier transforms."""

import numpy as np

from alloy import ops
from alloy.onnx.node import supports, volume


@supports("MatMul", limits="floats")
def matmul(node):
    return product(node.floats(0), node.floats(1))


def product(a, b, multiply=ops.matmul):
    """Returns NumPy's matmul: a vector is a row on the left and a column on the right."""
    rows, columns = len(a.shape) == 1, len(b.shape) == 1
    y = multiply(ops.expand_dims(a, 0) if rows else a, ops.expand_dims(b, 1) if columns else b)
    gone = [axis for axis, is_gone in ((-2, rows), (-1, columns)) if is_gone]
    return ops.squeeze(y, gone) if gone else y


@supports("Gemm", limits="floats")
def gemm(node):
    a, b = node.floats(0), node.floats(1)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    a = ops.transpose(a) if node.flag("transA") else a
    b = ops.transpose(b) if node.flag("transB") else b
    y = ops.matmul(a, b)
    y = y if alpha == 1 else y * alpha
    if not node.has(2):
        return y
    return y + (node.floats(2) if beta == 1 else node.floats(2) * beta)


@supports("Einsum")
def einsum(node):
    return ops.einsum(node.attribute("equation", str), *node.tensors())


@supports("DFT", limits="the length must be that of the axis; the last axis is of real numbers or pairs")
def dft(node):
    x, inverse, onesided = node.floats(0), node.flag("inverse"), node.flag("onesided")
    rank = len(x.shape)
    axis = node.attribute("axis", 1) if node.opset < 20 else int(node.number(2, -2))
    axis = node.axis(x, axis)
    if node.number(1, node.extent(x, axis)) != node.extent(x, axis) or axis == rank - 1:
        raise node.wrong("Expected the length of the axis")
    is_real = node.extent(x, rank - 1) == 1
    if onesided and (inverse or not is_real):
        raise node.wrong("Expected real numbers for onesided")
    if onesided:
        y = ops.rfft(ops.squeeze(x, -1), axis=axis)
    else:
        y = ops.complex(x[..., 0], x[..., 0] * 0.0) if is_real else ops.complex(x[..., 0], x[..., 1])
        y = ops.ifft(y, axis=axis) if inverse else ops.fft(y, axis=axis)
    return ops.stack([ops.real(y), ops.imag(y)], -1)


def _window(op, *weights):
    @supports(op, limits="the size must be known")
    def window(node):
        size, periodic = int(node.number(0)), node.flag("periodic", True)
        if node.attribute("output_datatype", 1) != 1:
            raise node.wrong("Expected float")
        if not 0 < size <= 2**20:
            raise node.wrong(f"Expected a size from 1 to {2**20}, got {size}")
        angle = 2 * np.pi * np.arange(size) / (size if periodic else max(size - 1, 1))
        terms = [(-1) ** i * weight * np.cos(i * angle) for i, weight in enumerate(weights)]
        return node.graph.constant(np.sum(terms, axis=0, dtype=np.float32))


_window("HannWindow", 0.5, 0.5)
_window("HammingWindow", 25 / 46, 21 / 46)
_window("BlackmanWindow", 0.42, 0.5, 0.08)


@supports("AffineGrid", limits="the size must be known")
def affine_grid(node):
    theta, size, corners = node.floats(0), node.known(1), node.flag("align_corners")
    node.places(max(volume(size[2:]), *size))  # refuses what no memory holds
    axes = []
    for extent in size[2:]:
        if corners:
            axes.append(np.linspace(-1, 1, extent) if extent > 1 else np.zeros(1))
        else:
            axes.append((np.arange(extent) * 2 + 1) / extent - 1)
    grid = np.stack([*np.meshgrid(*axes, indexing="ij")][::-1] + [np.ones(size[2:])], -1).astype(np.float32)
    points = node.graph.constant(grid.reshape(-1, grid.shape[-1]))
    y = ops.matmul(points, ops.transpose(theta, (0, 2, 1)))
    return ops.reshape(y, (-1, *size[2:], len(axes)))
