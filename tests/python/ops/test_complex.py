"""Complex numbers from NumPy and back, what arithmetic means of them, and Fourier transforms against NumPy's."""

import numpy as np
import pytest

import alloy as al
from cases import HAS_COMPLEX
from running import run

pytestmark = pytest.mark.skipif(not HAS_COMPLEX, reason="that system has no complex numbers")


def numbers(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def close(given, expected, units=8):
    """To so many roundings of float32 of the greatest number."""
    expected = np.asarray(expected)
    assert given.shape == expected.shape
    scale = np.abs(expected).max(initial=1e-30)
    np.testing.assert_allclose(given, expected, rtol=0, atol=units * 2.0**-24 * scale)


def test_feeds_and_fetches_are_numpys(rng):
    z = numbers(rng, 3, 4)
    graph = al.Graph()
    x = graph.placeholder((None, 4), "complex64")
    assert x.dtype == al.complex64
    fetches = [x, al.transpose(x), x[1:, ::2], al.concat([x, x], axis=0), al.reshape(x, (2, -1)), al.real(x)]
    for value, expected in zip(
        graph.compile([x], fetches)(z), [z, z.T, z[1:, ::2], np.concatenate([z, z]), z.reshape(2, -1), z.real]
    ):
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(value, expected)
    with pytest.raises(TypeError, match="complex64.*float32"):
        graph.compile([x], [x])(z.real)
    with pytest.warns(UserWarning, match="complex128 and was cast to complex64"):
        np.testing.assert_array_equal(graph.compile([x], [x])(z.astype(np.complex128))[0], z)


def test_variables_and_constants_keep_their_parts(rng):
    z, w = numbers(rng, 2, 3), numbers(rng, 3)
    graph = al.Graph()
    v = graph.variable(w)
    step = graph.compile([], [graph.constant(z) * v], [graph.assign(v, v * 2j)])
    close(step()[0], z * w)
    np.testing.assert_array_equal(v.numpy(), w * 2j)


def test_numbers_of_python(rng):
    z = numbers(rng, 5)
    real = z.real
    y = run(lambda x: [x + 1j, 2 * x, (1 - 2j) * x, x / (3 + 4j), 1 / x, -x], z)
    for value, expected in zip(y, [z + 1j, 2 * z, (1 - 2j) * z, z / (3 + 4j), 1 / z, -z]):
        assert value.dtype == np.complex64
        close(value, expected)
    (y,) = run(lambda x: x * 1j + x, real)
    close(y, real * 1j + real)


def test_equality_choice_and_casts(rng):
    z = np.complex64([1 + 2j, 1 - 2j, 3, 3 + 1j])
    w = np.complex64([1 + 2j, 1 + 2j, 3, 4 + 1j])
    same, other, chosen, cast = run(
        lambda a, b: [
            al.equal(a, b),
            al.not_equal(a, b),
            al.where(al.equal(a, b), a, -b),
            al.cast(al.real(a), "complex64"),
        ],
        z,
        w,
    )
    np.testing.assert_array_equal(same, z == w)
    np.testing.assert_array_equal(other, z != w)
    np.testing.assert_array_equal(chosen, np.where(z == w, z, -w))
    np.testing.assert_array_equal(cast, z.real)
    assert cast.dtype == np.complex64


def test_absolute_values_and_quotients_neither_overflow_nor_vanish():
    z = np.complex64([3e30 + 4e30j, 3e-30 + 4e-30j, 0, 1e38, -5j, np.inf + 1j])
    length, quotient = run(lambda x: [al.abs(x), (3 + 4j) * 1e30 / (x * 1e0)], z)
    np.testing.assert_allclose(length, np.abs(z.astype(np.complex128)), rtol=1e-6)
    np.testing.assert_allclose(quotient[:1], [1], rtol=1e-6)


def test_gradient_of_an_absolute_value_at_zero_is_zero():
    z = np.complex64([0, 3 + 4j])
    (gradient,) = run(lambda x: al.gradients(al.sum(al.abs(x)), [x]), z)
    np.testing.assert_allclose(gradient, [0, 0.6 + 0.8j], rtol=1e-6)


def test_gradients_of_values_that_are_used_twice_add_up(rng):
    z = numbers(rng, 4)
    (gradient,) = run(lambda x: al.gradients(al.sum(al.real(x) * al.imag(x) + al.absolute_square(x)), [x]), z)
    close(gradient, (z.imag + 2 * z.real) + 1j * (z.real + 2 * z.imag))


def test_gradients_through_indices_and_open_shapes(rng):
    z, w = numbers(rng, 3, 2), numbers(rng, 2)
    graph = al.Graph()
    x, y = graph.placeholder((None, 2), "complex64"), graph.placeholder((2,), "complex64")
    taken = al.gather(x * y, np.int32([2, 0, 2]))
    gradients = al.gradients(al.sum(al.real(taken) * 2 - al.imag(taken)), [x, y])
    of_x, of_y = graph.compile([x, y], gradients)(z, w)
    counts = np.array([[1], [0], [2]])
    close(of_x, (2 - 1j) * np.conj(w) * counts)
    close(of_y, ((2 - 1j) * np.conj(z) * counts).sum(0))


def test_orders_of_complex_numbers_are_refused(rng):
    graph = al.Graph()
    x = graph.placeholder((2,), "complex64")
    for call in (lambda: x < x, lambda: al.exp(x), lambda: al.max(x), lambda: x @ x):
        with pytest.raises((TypeError, ValueError), match=r"complex64"):
            call()


LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 25, 30, 49, 61, 64, 67, 97, 100, 128, 134, 210, 243, 255, 256, 1000, 1009]


@pytest.mark.parametrize("n", [*LENGTHS, 2048, 4099, 10000])
def test_transforms_of_any_length(rng, n):
    """Lines are computed in float64, so that each number is as good as its rounding to float32, of the greatest."""
    z = numbers(rng, 3, n)
    forward, backward = run(lambda x: [al.fft(x), al.ifft(x)], z)
    wide = z.astype(np.complex128)
    close(forward, np.fft.fft(wide), 2)
    close(backward, np.fft.ifft(wide), 2)


@pytest.mark.parametrize("n", LENGTHS[1:])
def test_transforms_of_real_numbers(rng, n):
    x = rng.normal(size=(2, n)).astype(np.float32)
    half, back = run(lambda x: [al.rfft(x), al.irfft(al.rfft(x), odd=n % 2 == 1)], x)
    close(half, np.fft.rfft(x.astype(np.float64)), 2)
    close(back, x, 4)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("axes", [0, (1,), (0, 2), (-1, 0, 1)], ids=str)
def test_axes_and_norms(rng, axes, norm):
    z = numbers(rng, 4, 3, 6)
    over = (axes,) if isinstance(axes, int) else axes
    wide = z.astype(np.complex128)
    x = z.real.copy()
    values = run(
        lambda z, x: [
            al.fft(z, axis=axes, norm=norm),
            al.ifft(z, axis=axes, norm=norm),
            al.rfft(x, axis=axes, norm=norm),
            al.irfft(z, axis=axes, norm=norm),
        ],
        z,
        x,
    )
    expected = [
        np.fft.fftn(wide, axes=over, norm=norm),
        np.fft.ifftn(wide, axes=over, norm=norm),
        np.fft.rfftn(x.astype(np.float64), axes=over, norm=norm),
        np.fft.irfftn(wide, axes=over, norm=norm),
    ]
    for value, wanted in zip(values, expected):
        close(value, wanted)


def test_a_batch_of_any_size_is_transformed(rng):
    graph = al.Graph()
    x = graph.placeholder((None, 8))
    spectrum = graph.compile([x], [al.rfft(x)])
    for count in (1, 5):
        lines = rng.normal(size=(count, 8)).astype(np.float32)
        close(spectrum(lines)[0], np.fft.rfft(lines.astype(np.float64)))


def test_wrong_transforms(rng):
    graph = al.Graph()
    x, open_line = graph.placeholder((2, 8)), graph.placeholder((2, None))
    with pytest.raises(ValueError, match="Expected a norm among 'backward', 'ortho', 'forward', got 'none'"):
        al.fft(x, norm="none")
    with pytest.raises(ValueError, match="Axis 2 is outside"):
        al.rfft(x, axis=2)
    with pytest.raises(ValueError, match="one axis or more"):
        al.fft(x, axis=())
    with pytest.raises(ValueError, match="a known length"):
        al.rfft(open_line)
    with pytest.raises(ValueError, match="2 elements or more"):
        al.irfft(al.complex(x, x)[:, :1])
