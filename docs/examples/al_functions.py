"""Examples of the functions of tensors, one for each name."""

import math

import numpy as np

import alloy as al

g = al.Graph()  # g.constant makes a tensor, g.run computes one

# al.zeros
assert al.zeros((2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]

# al.ones
assert al.ones(3, "int32").tolist() == [1, 1, 1]

# al.full
assert al.full((2, 2), 7).tolist() == [[7, 7], [7, 7]]

# al.eye
assert al.eye(2).tolist() == [[1, 0], [0, 1]]
assert al.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]

# al.arange
assert al.arange(4).tolist() == [0, 1, 2, 3]
assert al.arange(1, 2, 0.25).tolist() == [1, 1.25, 1.5, 1.75]

# al.linspace
assert al.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]

# al.zeros_like
x = g.constant([1.0, 2.0, 3.0])
assert g.run(al.zeros_like(x)).tolist() == [0, 0, 0]

# al.ones_like
x = g.placeholder((None, 2))
assert g.run(al.ones_like(x), {x: np.zeros((3, 2), "float32")}).shape == (3, 2)

# al.full_like
x = g.constant([1.0, 2.0, 3.0])
assert g.run(al.full_like(x, 5)).tolist() == [5, 5, 5]

# al.add
x = g.constant([1.0, 2.0])
assert g.run(al.add(x, 10)).tolist() == g.run(x + 10).tolist() == [11, 12]

# al.subtract
x = g.constant([1.0, 2.0])
assert g.run(al.subtract(x, 1)).tolist() == g.run(x - 1).tolist() == [0, 1]

# al.multiply
x = g.constant([1.0, 2.0])
assert g.run(al.multiply(x, x)).tolist() == g.run(x * x).tolist() == [1, 4]

# al.divide
x = g.constant([1.0, 2.0])
assert g.run(al.divide(x, 4)).tolist() == g.run(x / 4).tolist() == [0.25, 0.5]

# al.floor_divide
x = g.constant([7, -7])
assert g.run(al.floor_divide(x, 2)).tolist() == g.run(x // 2).tolist() == [3, -4]

# al.mod
x = g.constant([7, -7])
assert g.run(al.mod(x, 3)).tolist() == g.run(x % 3).tolist() == [1, 2]

# al.fmod
x = g.constant([7.0, -7.0])
assert g.run(al.fmod(x, 3)).tolist() == [1, -1]

# al.power
x = g.constant([2.0, 3.0])
assert np.allclose(g.run(al.power(x, 2)), [4, 9]) and np.allclose(g.run(x**2), [4, 9])

# al.negative
x = g.constant([1.0, -2.0])
assert g.run(al.negative(x)).tolist() == g.run(-x).tolist() == [-1, 2]

# al.abs
x = g.constant([1.0, -2.0])
assert g.run(al.abs(x)).tolist() == [1, 2]

# al.sign
x = g.constant([3.0, -2.0, 0.0])
assert g.run(al.sign(x)).tolist() == [1, -1, 0]

# al.square
x = g.constant([3.0, -2.0])
assert g.run(al.square(x)).tolist() == [9, 4]

# al.sqrt
x = g.constant([9.0, 2.0])
assert np.allclose(g.run(al.sqrt(x)), [3, 1.4142136])

# al.rsqrt
x = g.constant([4.0, 16.0])
assert np.allclose(g.run(al.rsqrt(x)), [1 / 2, 1 / 4])

# al.reciprocal
x = g.constant([4.0, -0.5])
assert g.run(al.reciprocal(x)).tolist() == [0.25, -2]

# al.divide_no_nan
a, b = g.constant([6.0, 6.0]), g.constant([3.0, 0.0])
assert g.run(al.divide_no_nan(a, b)).tolist() == [2, 0]

# al.absolute_square
z = al.complex(g.constant([3.0]), g.constant([4.0]))
assert g.run(al.absolute_square(z)).tolist() == [25]

# al.exp
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.exp(x)), [1, math.e])

# al.exp2
x = g.constant([3.0, -1.0])
assert g.run(al.exp2(x)).tolist() == [8, 0.5]

# al.exp10
x = g.constant([2.0, -1.0])
assert np.allclose(g.run(al.exp10(x)), [100, 0.1])

# al.expm1
x = g.constant([1e-10, 1.0])
assert np.allclose(g.run(al.expm1(x)), [1e-10, math.e - 1], atol=0)

# al.log
x = g.constant([1.0, math.e])
assert np.allclose(g.run(al.log(x)), [0, 1])

# al.log2
x = g.constant([8.0, 0.5])
assert g.run(al.log2(x)).tolist() == [3, -1]

# al.log10
x = g.constant([1000.0, 0.1])
assert np.allclose(g.run(al.log10(x)), [3, -1])

# al.log1p
x = g.constant([1e-10, math.e - 1])
assert np.allclose(g.run(al.log1p(x)), [1e-10, 1], atol=0)

# al.sin
x = g.constant([0.0, math.pi / 2])
assert np.allclose(g.run(al.sin(x)), [0, 1])

# al.cos
x = g.constant([0.0, math.pi])
assert np.allclose(g.run(al.cos(x)), [1, -1])

# al.tan
x = g.constant([0.0, math.pi / 4])
assert np.allclose(g.run(al.tan(x)), [0, 1])

# al.asin
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.asin(x)), [0, math.pi / 2])

# al.acos
x = g.constant([1.0, -1.0])
assert np.allclose(g.run(al.acos(x)), [0, math.pi])

# al.atan
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.atan(x)), [0, math.pi / 4])

# al.atan2
y, x = g.constant([1.0, -1.0]), g.constant([-1.0, 0.0])
assert np.allclose(g.run(al.atan2(y, x)), [3 * math.pi / 4, -math.pi / 2])

# al.sinh
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.sinh(x)), [0, (math.e - 1 / math.e) / 2])

# al.cosh
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.cosh(x)), [1, (math.e + 1 / math.e) / 2])

# al.tanh
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.tanh(x)), [0, math.tanh(1)])

# al.asinh
x = g.constant([0.0, math.sinh(1)])
assert np.allclose(g.run(al.asinh(x)), [0, 1])

# al.acosh
x = g.constant([1.0, math.cosh(1)])
assert np.allclose(g.run(al.acosh(x)), [0, 1])

# al.atanh
x = g.constant([0.0, math.tanh(1)])
assert np.allclose(g.run(al.atanh(x)), [0, 1])

# al.erf
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.erf(x)), [0, math.erf(1)])

# al.floor
x = g.constant([1.7, -1.2])
assert g.run(al.floor(x)).tolist() == [1, -2]

# al.ceil
x = g.constant([1.2, -1.7])
assert g.run(al.ceil(x)).tolist() == [2, -1]

# al.round
x = g.constant([0.5, 1.5, -2.5])
assert g.run(al.round(x)).tolist() == [1, 2, -3]

# al.rint
x = g.constant([0.5, 1.5, -2.5])
assert g.run(al.rint(x)).tolist() == [0, 2, -2]

# al.trunc
x = g.constant([1.7, -1.7])
assert g.run(al.trunc(x)).tolist() == [1, -1]

# al.clamp
x = g.constant([-3.0, 0.5, 3.0])
assert g.run(al.clamp(x, -1, 1)).tolist() == [-1, 0.5, 1]

# al.minimum
x = g.constant([1.0, 5.0, math.nan])
assert g.run(al.minimum(x, 3)).tolist() == [1, 3, 3]

# al.maximum
x = g.constant([1.0, 5.0, math.nan])
assert g.run(al.maximum(x, 3)).tolist() == [3, 5, 3]

# al.minimum_propagate_nan
x = g.constant([1.0, 5.0, math.nan])
assert np.array_equal(g.run(al.minimum_propagate_nan(x, 3)), [1, 3, math.nan], equal_nan=True)

# al.maximum_propagate_nan
x = g.constant([1.0, 5.0, math.nan])
assert np.array_equal(g.run(al.maximum_propagate_nan(x, 3)), [3, 5, math.nan], equal_nan=True)

# al.equal
a, b = g.constant([1, 2, 3]), g.constant([1, 0, 3])
assert g.run(al.equal(a, b)).tolist() == [True, False, True]  # a == b asks if both are the same tensor

# al.not_equal
x = g.constant([1, 2, 3])
assert g.run(al.not_equal(x, 2)).tolist() == [True, False, True]

# al.less
x = g.constant([1, 2, 3])
assert g.run(al.less(x, 2)).tolist() == g.run(x < 2).tolist() == [True, False, False]

# al.less_equal
x = g.constant([1, 2, 3])
assert g.run(al.less_equal(x, 2)).tolist() == g.run(x <= 2).tolist() == [True, True, False]

# al.greater
x = g.constant([1, 2, 3])
assert g.run(al.greater(x, 2)).tolist() == g.run(x > 2).tolist() == [False, False, True]

# al.greater_equal
x = g.constant([1, 2, 3])
assert g.run(al.greater_equal(x, 2)).tolist() == g.run(x >= 2).tolist() == [False, True, True]

# al.isclose
x = g.constant([1.0, 1.000001, 1.1])
assert g.run(al.isclose(x, 1)).tolist() == [True, True, False]

# al.is_nan
x = g.constant([1.0, math.nan, math.inf])
assert g.run(al.is_nan(x)).tolist() == [False, True, False]

# al.is_infinite
x = g.constant([1.0, math.nan, -math.inf])
assert g.run(al.is_infinite(x)).tolist() == [False, False, True]

# al.is_finite
x = g.constant([1.0, math.nan, math.inf])
assert g.run(al.is_finite(x)).tolist() == [True, False, False]

# al.signbit
x = g.constant([1.0, -1.0, -0.0])
assert g.run(al.signbit(x)).tolist() == [0, 1, 1]

# al.where
x = g.constant([-1.0, 2.0])
assert g.run(al.where(x > 0, x, 0)).tolist() == [0, 2]

# al.masked_fill
x = g.constant([1.0, 2.0, 3.0])
assert g.run(al.masked_fill(x, x > 2, -9)).tolist() == [1, 2, -9]

# al.logical_and
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_and(a, b)).tolist() == [True, False, False, False]

# al.logical_or
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_or(a, b)).tolist() == [True, True, True, False]

# al.logical_xor
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_xor(a, b)).tolist() == [False, True, True, False]

# al.logical_not
a = g.constant([True, False])
assert g.run(al.logical_not(a)).tolist() == [False, True]

# al.logical_nand
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_nand(a, b)).tolist() == [False, True, True, True]

# al.logical_nor
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_nor(a, b)).tolist() == [False, False, False, True]

# al.logical_xnor
a, b = g.constant([True, True, False, False]), g.constant([True, False, True, False])
assert g.run(al.logical_xnor(a, b)).tolist() == [True, False, False, True]

# al.bitwise_and
x = g.constant([0b1100])
assert g.run(al.bitwise_and(x, 0b1010)).tolist() == [0b1000]

# al.bitwise_or
x = g.constant([0b1100])
assert g.run(al.bitwise_or(x, 0b1010)).tolist() == [0b1110]

# al.bitwise_xor
x = g.constant([0b1100])
assert g.run(al.bitwise_xor(x, 0b1010)).tolist() == [0b0110]

# al.bitwise_not
x = g.constant([0, 5])
assert g.run(al.bitwise_not(x)).tolist() == [-1, -6]

# al.left_shift
x = g.constant([1, 3])
assert g.run(al.left_shift(x, 2)).tolist() == [4, 12]

# al.right_shift
x = g.constant([12, -8])
assert g.run(al.right_shift(x, 2)).tolist() == [3, -2]

# al.population_count
x = g.constant([0, 7, 8])
assert g.run(al.population_count(x)).tolist() == [0, 3, 1]

# al.hamming_distance
a, b = g.constant([[0b00, 0b11]]), g.constant([[0b01, 0b11], [0b11, 0b00]])
assert g.run(al.hamming_distance(a, b)).tolist() == [[1, 4]]

# al.sum
x = g.constant([[1.0, 2.0], [3.0, 4.0]])
assert g.run(al.sum(x)) == 10
assert g.run(al.sum(x, axis=0)).tolist() == g.run(x.sum(0)).tolist() == [4, 6]

# al.mean
x = g.constant([[1.0, 2.0], [3.0, 4.0]])
assert g.run(al.mean(x)) == 2.5
assert g.run(al.mean(x, axis=1, keepdims=True)).tolist() == [[1.5], [3.5]]

# al.median
x = g.constant([[5.0, 1.0, 2.0], [9.0, 8.0, 7.0]])
assert g.run(al.median(x, axis=1)).tolist() == [2, 8]
assert g.run(al.median(x)) == 6

# al.variance
x = g.constant([1.0, 3.0])
assert g.run(al.variance(x)) == 1

# al.std
x = g.constant([1.0, 5.0])
assert g.run(al.std(x)) == 2

# al.prod
x = g.constant([2.0, 3.0, 4.0])
assert g.run(al.prod(x)) == 24

# al.max
x = g.constant([[1.0, 5.0], [4.0, 2.0]])
assert g.run(al.max(x, axis=1)).tolist() == [5, 4]

# al.min
x = g.constant([[1.0, 5.0], [4.0, 2.0]])
assert g.run(al.min(x, axis=1)).tolist() == [1, 2]

# al.norm
x = g.constant([[3.0, 4.0], [5.0, 12.0]])
assert np.allclose(g.run(al.norm(x, axis=1)), [5, 13])

# al.logsumexp
x = g.constant([1000.0, 1000.0])
assert np.allclose(g.run(al.logsumexp(x)), 1000 + math.log(2))

# al.count_nonzero
x = g.constant([0.0, 3.0, 0.0, -1.0])
assert g.run(al.count_nonzero(x)) == 2

# al.max_propagate_nan
x = g.constant([[1.0, 2.0], [3.0, math.nan]])
assert np.array_equal(g.run(al.max_propagate_nan(x, axis=1)), [2, math.nan], equal_nan=True)

# al.min_propagate_nan
x = g.constant([[1.0, 2.0], [3.0, math.nan]])
assert np.array_equal(g.run(al.min_propagate_nan(x, axis=1)), [1, math.nan], equal_nan=True)

# al.all
x = g.constant([[True, True], [True, False]])
assert g.run(al.all(x, axis=1)).tolist() == [True, False]

# al.any
x = g.constant([[False, True], [False, False]])
assert g.run(al.any(x, axis=1)).tolist() == [True, False]

# al.argmax
x = g.constant([[1.0, 9.0, 3.0], [4.0, 2.0, 4.0]])
assert g.run(al.argmax(x)).tolist() == [1, 0]

# al.argmin
x = g.constant([[1.0, 9.0, 3.0], [4.0, 2.0, 4.0]])
assert g.run(al.argmin(x, axis=0)).tolist() == [0, 1, 0]

# al.cumsum
x = g.constant([1.0, 2.0, 3.0])
assert g.run(al.cumsum(x)).tolist() == [1, 3, 6]
assert g.run(al.cumsum(x, exclusive=True)).tolist() == [0, 1, 3]

# al.cumprod
x = g.constant([2.0, 3.0, 4.0])
assert g.run(al.cumprod(x)).tolist() == [2, 6, 24]

# al.cummax
x = g.constant([1.0, 3.0, 2.0])
assert g.run(al.cummax(x)).tolist() == [1, 3, 3]

# al.cummin
x = g.constant([3.0, 1.0, 2.0])
assert g.run(al.cummin(x)).tolist() == [3, 1, 1]

# al.relu
x = g.constant([-1.0, 0.0, 2.0])
assert g.run(al.relu(x)).tolist() == [0, 0, 2]

# al.leaky_relu
x = g.constant([-4.0, 2.0])
assert g.run(al.leaky_relu(x, 0.25)).tolist() == [-1, 2]

# al.elu
x = g.constant([-1.0, 2.0])
assert np.allclose(g.run(al.elu(x)), [1 / math.e - 1, 2])

# al.gelu
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.gelu(x)), [0, (1 + math.erf(1 / math.sqrt(2))) / 2])

# al.silu
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.silu(x)), [0, 1 / (1 + 1 / math.e)])

# al.softplus
x = g.constant([0.0, 1000.0])
assert np.allclose(g.run(al.softplus(x)), [math.log(2), 1000])

# al.sigmoid
x = g.constant([0.0, math.log(3)])
assert np.allclose(g.run(al.sigmoid(x)), [0.5, 0.75])

# al.hard_sigmoid
x = g.constant([-3.0, 0.0, 3.0])
assert g.run(al.hard_sigmoid(x)).tolist() == [0, 0.5, 1]

# al.hard_swish
x = g.constant([-3.0, 0.0, 3.0])
assert g.run(al.hard_swish(x)).tolist() == [0, 0, 3]

# al.softmax
x = g.constant([[0.0, math.log(3)]])
assert np.allclose(g.run(al.softmax(x)), [[1 / 4, 3 / 4]])

# al.log_softmax
x = g.constant([[0.0, math.log(3)]])
assert np.allclose(g.run(al.log_softmax(x)), [[math.log(1 / 4), math.log(3 / 4)]])

# al.relu_gradient
gradient, x = g.constant([5.0, 5.0]), g.constant([-1.0, 2.0])
assert g.run(al.relu_gradient(gradient, x)).tolist() == [0, 5]

# al.sigmoid_gradient
gradient, x = g.constant([8.0]), g.constant([0.0])
assert np.allclose(g.run(al.sigmoid_gradient(gradient, x)), [8 / 4])

# al.reshape
x = g.constant([1, 2, 3, 4, 5, 6])
assert g.run(al.reshape(x, (2, -1))).tolist() == g.run(x.reshape(2, 3)).tolist() == [[1, 2, 3], [4, 5, 6]]

# al.flatten
x = g.placeholder((None, 8, 8, 1))
assert al.flatten(x).shape == (None, 64)

# al.transpose
x = g.constant([[1, 2, 3], [4, 5, 6]])
assert g.run(al.transpose(x)).tolist() == g.run(x.T).tolist() == [[1, 4], [2, 5], [3, 6]]
assert al.transpose(g.placeholder((2, 3, 4)), (0, 2, 1)).shape == (2, 4, 3)

# al.squeeze
x = g.placeholder((1, 3, 1))
assert al.squeeze(x).shape == (3,) and al.squeeze(x, axis=0).shape == (3, 1)

# al.expand_dims
x = g.placeholder((3, 4))
assert al.expand_dims(x, 1).shape == (3, 1, 4)

# al.broadcast_to
x = g.constant([1, 2])
assert g.run(al.broadcast_to(x, (3, 2))).tolist() == [[1, 2], [1, 2], [1, 2]]

# al.concat
a, b = g.constant([[1, 2]]), g.constant([[3, 4]])
assert g.run(al.concat([a, b], axis=0)).tolist() == [[1, 2], [3, 4]]

# al.stack
a, b = g.constant([1, 2]), g.constant([3, 4])
assert g.run(al.stack([a, b])).tolist() == [[1, 2], [3, 4]]

# al.split
x = g.constant([1, 2, 3, 4, 5])
first, second = al.split(x, 2)
assert g.run(first).tolist() == [1, 2, 3] and g.run(second).tolist() == [4, 5]

# al.interleave
a, b = g.constant([1, 2]), g.constant([3, 4])
assert g.run(al.interleave([a, b], axis=0)).tolist() == [1, 3, 2, 4]

# al.tile
x = g.constant([1, 2])
assert g.run(al.tile(x, (2,))).tolist() == [1, 2, 1, 2]

# al.repeat
x = g.constant([1, 2])
assert g.run(al.repeat(x, 2)).tolist() == [1, 1, 2, 2]

# al.pad
x = g.constant([1, 2, 3])
assert g.run(al.pad(x, 1)).tolist() == [0, 1, 2, 3, 0]
assert g.run(al.pad(x, [(2, 0)], mode="reflect")).tolist() == [3, 2, 1, 2, 3]

# al.flip
x = g.constant([[1, 2], [3, 4]])
assert g.run(al.flip(x, axis=1)).tolist() == [[2, 1], [4, 3]]

# al.roll
x = g.constant([1, 2, 3])
assert g.run(al.roll(x, 1)).tolist() == [3, 1, 2]

# al.slice_update
x = g.constant([0, 0, 0, 0])
assert g.run(al.slice_update(x, np.s_[1:3], 5)).tolist() == [0, 5, 5, 0]

# al.coordinates
x = g.constant([[7, 7, 7], [7, 7, 7]])
assert g.run(al.coordinates(x, axis=1)).tolist() == [[0, 1, 2], [0, 1, 2]]

# al.cast
x = g.constant([1.7, -1.7])
assert g.run(al.cast(x, "int32")).tolist() == g.run(x.astype("int32")).tolist() == [1, -1]

# al.bitcast
x = g.constant([1.0])
assert g.run(al.bitcast(x, "int32")).tolist() == [0x3F800000]

# al.gather
x = g.constant([[1, 2], [3, 4], [5, 6]])
assert g.run(al.gather(x, [2, 0])).tolist() == [[5, 6], [1, 2]]
assert g.run(al.gather(x, [1], axis=1)).tolist() == [[2], [4], [6]]

# al.gather_nd
x = g.constant([[1, 2], [3, 4]])
assert g.run(al.gather_nd(x, np.int32([[0, 1], [1, 0]]))).tolist() == [2, 3]

# al.take_along_axis
x = g.constant([[1, 2, 3], [4, 5, 6]])
assert g.run(al.take_along_axis(x, np.int32([[2], [0]]), axis=1)).tolist() == [[3], [4]]

# al.scatter
x, updates = g.constant([1, 2, 3]), g.constant([10, 20])
assert g.run(al.scatter(x, np.int32([0, 2]), updates)).tolist() == [10, 2, 20]
assert g.run(al.scatter((3,), np.int32([1, 1]), updates, mode="add")).tolist() == [0, 30, 0]

# al.scatter_nd
x, updates = g.constant([[1, 2], [3, 4]]), g.constant([10, 20])
assert g.run(al.scatter_nd(x, np.int32([[0, 1], [1, 0]]), updates)).tolist() == [[1, 10], [20, 4]]

# al.put_along_axis
x, updates = g.constant([[1, 2, 3], [4, 5, 6]]), g.constant([[10], [20]])
assert g.run(al.put_along_axis(x, np.int32([[2], [0]]), updates, axis=1)).tolist() == [[1, 2, 10], [20, 5, 6]]

# al.one_hot
labels = g.constant([1, 0])
assert g.run(al.one_hot(labels, 3)).tolist() == [[0, 1, 0], [1, 0, 0]]

# al.sort
x = g.constant([3, 1, 2])
assert g.run(al.sort(x)).tolist() == [1, 2, 3]
assert g.run(al.sort(x, descending=True)).tolist() == [3, 2, 1]

# al.argsort
x = g.constant([30, 10, 20])
assert g.run(al.argsort(x)).tolist() == [1, 2, 0]

# al.top_k
x = g.constant([10.0, 40.0, 20.0, 30.0])
values, places = g.run(al.top_k(x, 2))
assert values.tolist() == [40, 30] and places.tolist() == [1, 3]

# al.bottom_k
x = g.constant([10.0, 40.0, 20.0, 30.0])
values, places = g.run(al.bottom_k(x, 2))
assert values.tolist() == [10, 20] and places.tolist() == [0, 2]

# al.matmul
a, b = g.constant([[1.0, 2.0], [3.0, 4.0]]), g.constant([[1.0], [10.0]])
assert g.run(al.matmul(a, b)).tolist() == g.run(a @ b).tolist() == [[21], [43]]

# al.einsum
a, b = g.constant([[1.0, 2.0], [3.0, 4.0]]), g.constant([[1.0, 0.0], [0.0, 1.0]])
assert g.run(al.einsum("ij,ij->i", a, b)).tolist() == [1, 4]
assert g.run(al.einsum("ii", a)) == 5  # the trace

# al.outer
a, b = g.constant([1.0, 2.0]), g.constant([3.0, 4.0, 5.0])
assert g.run(al.outer(a, b)).tolist() == [[3, 4, 5], [6, 8, 10]]

# al.inverse
x = g.constant([[2.0, 0.0], [0.0, 4.0]])
assert g.run(al.inverse(x)).tolist() == [[0.5, 0], [0, 0.25]]

# al.diag
x = g.constant([[1, 2], [3, 4]])
assert g.run(al.diag(x)).tolist() == [1, 4]
assert g.run(al.diag(g.constant([1, 2]))).tolist() == [[1, 0], [0, 2]]

# al.tril
x = g.constant([[1, 2], [3, 4]])
assert g.run(al.tril(x)).tolist() == [[1, 0], [3, 4]]

# al.triu
x = g.constant([[1, 2], [3, 4]])
assert g.run(al.triu(x)).tolist() == [[1, 2], [0, 4]]

# al.band_part
x = g.constant(np.ones((3, 3)).astype("int32"))
assert g.run(al.band_part(x, 1, 0)).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]

# al.conv2d
image, weights = g.constant(np.ones((1, 3, 3, 1), "float32")), np.ones((2, 2, 1, 5), "float32")
y = g.run(al.conv2d(image, weights))
assert y.shape == (1, 2, 2, 5) and (y == 4).all()  # four pixels under each window

# al.conv3d
volume, weights = g.constant(np.ones((1, 3, 3, 3, 1), "float32")), np.ones((2, 2, 2, 1, 5), "float32")
y = g.run(al.conv3d(volume, weights))
assert y.shape == (1, 2, 2, 2, 5) and (y == 8).all()

# al.conv2d_transpose
x, weights = g.constant(np.float32([1, 2]).reshape(1, 1, 2, 1)), np.ones((1, 2, 1, 1), "float32")
assert g.run(al.conv2d_transpose(x, weights)).ravel().tolist() == [1, 3, 2]

# al.depthwise_conv2d
image = g.constant(np.ones((1, 2, 2, 3), "float32"))
weights = np.ones((2, 2, 3, 1), "float32") * np.float32([1, 2, 3]).reshape(3, 1)
assert g.run(al.depthwise_conv2d(image, weights)).tolist() == [[[[4, 8, 12]]]]

# al.depthwise_conv3d
volume = g.constant(np.ones((1, 2, 2, 2, 3), "float32"))
weights = np.ones((2, 2, 2, 3), "float32") * np.float32([1, 2, 3])
assert g.run(al.depthwise_conv3d(volume, weights)).ravel().tolist() == [8, 16, 24]

# al.im2col
image = g.constant(np.arange(6, dtype="float32").reshape(1, 2, 3, 1))
assert g.run(al.im2col(image, window=2)).tolist() == [[[0, 1, 3, 4], [1, 2, 4, 5]]]

# al.col2im
image = g.constant(np.ones((1, 2, 3, 1), "float32"))
columns = al.im2col(image, window=2)
assert g.run(al.col2im(columns, image, window=2))[0, :, :, 0].tolist() == [[1, 2, 1], [1, 2, 1]]

# al.max_pool2d
image = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 2, 4, 1))
assert g.run(al.max_pool2d(image)).ravel().tolist() == [6, 8]

# al.avg_pool2d
image = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 2, 4, 1))
assert g.run(al.avg_pool2d(image)).ravel().tolist() == [3.5, 5.5]

# al.max_pool4d
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 1, 2, 4))
assert g.run(al.max_pool4d(x, window=(1, 1, 2, 2))).ravel().tolist() == [6, 8]

# al.avg_pool4d
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 1, 2, 4))
assert g.run(al.avg_pool4d(x, window=(1, 1, 2, 2))).ravel().tolist() == [3.5, 5.5]

# al.l2_pool4d
x = g.constant(np.float32([3, 4, 5, 12]).reshape(1, 1, 1, 4))
assert np.allclose(g.run(al.l2_pool4d(x, window=(1, 1, 1, 2))).ravel(), [5, 13])

# al.max_pool4d_with_indices
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 1, 2, 4))
y, places = g.run(al.max_pool4d_with_indices(x, window=(1, 1, 2, 2)))
assert y.ravel().tolist() == [6, 8] and places.ravel().tolist() == [5, 7]

# al.max_unpool4d
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 1, 2, 4))
y, places = al.max_pool4d_with_indices(x, window=(1, 1, 2, 2))
back = al.max_unpool4d(y, places, x, window=(1, 1, 2, 2))
assert g.run(back)[0, 0].tolist() == [[0, 0, 0, 0], [0, 6, 0, 8]]

# al.resize
image = g.constant(np.float32([[1, 2], [3, 4]]).reshape(1, 2, 2, 1))
y = g.run(al.resize(image, (2, 4), mode="nearest"))
assert y[0, :, :, 0].tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]

# al.depth_to_space
x = g.constant(np.float32([1, 2, 3, 4]).reshape(1, 1, 1, 4))
assert g.run(al.depth_to_space(x, 2))[0, :, :, 0].tolist() == [[1, 2], [3, 4]]

# al.space_to_depth
image = g.constant(np.float32([[1, 2], [3, 4]]).reshape(1, 2, 2, 1))
assert g.run(al.space_to_depth(image, 2)).tolist() == [[[[1, 2, 3, 4]]]]

# al.batch_to_space
x = g.constant([[1, 3], [2, 4]])
assert g.run(al.batch_to_space(x, (2,), axis=1)).tolist() == [[1, 2, 3, 4]]

# al.space_to_batch
x = g.constant([[1, 2, 3, 4]])
assert g.run(al.space_to_batch(x, (2,), axis=1)).tolist() == [[1, 3], [2, 4]]

# al.lstm
x, weights = g.constant(np.zeros((3, 1, 8), "float32")), g.constant(np.zeros((8, 2), "float32"))
h, c = g.run(al.lstm(x, weights, cell=np.ones((1, 2), "float32")))  # 3 steps, 1 sequence, 2 units
assert np.allclose(c[:, 0, 0], [1 / 2, 1 / 4, 1 / 8]) and h.shape == (3, 1, 2)  # gates of sigmoid(0) = 1/2

# al.gru
x, weights = g.constant(np.zeros((3, 1, 6), "float32")), g.constant(np.zeros((6, 2), "float32"))
h = g.run(al.gru(x, weights, state=np.ones((1, 2), "float32")))  # 3 steps, 1 sequence, 2 units
assert np.allclose(h[:, 0, 0], [1 / 2, 1 / 4, 1 / 8])  # gates of sigmoid(0) = 1/2

# al.rnn
x, weights = g.constant(np.ones((3, 1, 1), "float32")), g.constant([[2.0]])
assert g.run(al.rnn(x, weights)).ravel().tolist() == [1, 3, 7]  # h = relu(1 + 2 h)

# al.scaled_dot_product_attention
query = key = g.constant(np.zeros((1, 2, 4), "float32"))  # every key is as similar as the others
value = g.constant([[[2.0, 0.0], [4.0, 6.0]]])
assert np.allclose(g.run(al.scaled_dot_product_attention(query, key, value)), [[[3, 3], [3, 3]]])

# al.complex
z = al.complex(g.constant([1.0]), g.constant([2.0]))
assert g.run(z).tolist() == [1 + 2j]

# al.real
z = al.complex(g.constant([1.0]), g.constant([2.0]))
assert g.run(al.real(z)).tolist() == [1]

# al.imag
z = al.complex(g.constant([1.0]), g.constant([2.0]))
assert g.run(al.imag(z)).tolist() == [2]

# al.conjugate
z = al.complex(g.constant([1.0]), g.constant([2.0]))
assert g.run(al.conjugate(z)).tolist() == [1 - 2j]

# al.planar
z = al.complex(g.constant([1.0, 3.0]), g.constant([2.0, 4.0]))
assert g.run(al.planar(z)).tolist() == [1, 3, 2, 4]

# al.fft
x = g.constant([1.0, 0.0, 0.0, 0.0])
assert np.allclose(g.run(al.fft(x)), [1, 1, 1, 1])

# al.ifft
x = g.constant([1.0, 2.0, 3.0, 4.0])
assert np.allclose(g.run(al.ifft(al.fft(x))), [1, 2, 3, 4])

# al.rfft
x = g.constant([1.0, 1.0, 1.0, 1.0])
assert np.allclose(g.run(al.rfft(x)), [4, 0, 0])

# al.irfft
x = g.constant([1.0, 2.0, 3.0, 4.0])
assert np.allclose(g.run(al.irfft(al.rfft(x))), [1, 2, 3, 4])

# al.cond
x = g.placeholder(())
y = al.cond(x > 0, lambda: x * 2, lambda: x - 1)
assert g.run(y, {x: 3}) == 6 and g.run(y, {x: -3}) == -4

# al.for_loop
doubled = al.for_loop(0, 5, lambda index, value: value * 2, g.constant(1.0))
assert g.run(doubled) == 32

# al.while_loop
first_above = al.while_loop(lambda value: value < 100, lambda value: value * 2, g.constant(1.0))
assert g.run(first_above) == 128

# al.scan
x = g.constant([1.0, 2.0, 3.0])
last, sums = al.scan(lambda total, each: (total + each, total + each), 0.0, x)
assert g.run(last) == 6 and g.run(sums).tolist() == [1, 3, 6]

# al.identity
x = g.constant([1, 2])
assert g.run(al.identity(x)).tolist() == [1, 2]

# al.stop_gradient
x = g.constant(3.0)
(slope,) = al.gradients(x * al.stop_gradient(x), [x])
assert g.run(slope) == 3  # of x * x it would be 6


# al.custom_gradient
@al.custom_gradient
def twice_as_fast(x):
    return x, lambda gradient: gradient * 2


x = g.constant([1.0, 1.0])
assert g.run(al.gradients(al.sum(twice_as_fast(x)), [x])[0]).tolist() == [2, 2]

# al.quantize
x = g.constant([0.5, -1.0, 1000.0])
assert g.run(al.quantize(x, 0.5)).tolist() == [1, -2, 127]

# al.dequantize
x = g.constant(np.int8([1, -2, 127]))
assert g.run(al.dequantize(x, 0.5)).tolist() == [0.5, -1, 63.5]

# al.dequantize_lut
x, table = g.constant(np.uint8([[0, 2, 255]])), np.arange(256, dtype="float32") / 2
assert g.run(al.dequantize_lut(x, table.reshape(1, 1, 256))).tolist() == [[0, 1, 127.5]]  # one block of 1 row
