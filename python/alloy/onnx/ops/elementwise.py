"""Ops that compute each element by itself, and casts."""

import math

import numpy as np

from alloy import ops
from alloy.engine.dtypes import is_float, is_integer
from alloy.onnx.file import ELEMENTS
from alloy.onnx.node import supports


def _plain(**functions):
    for op, function in functions.items():
        supports(op)(lambda node, function=function: function(node.tensor(0)))


_plain(
    Abs=ops.abs,
    Acos=ops.acos,
    Acosh=ops.acosh,
    Asin=ops.asin,
    Asinh=ops.asinh,
    Atan=ops.atan,
    Atanh=ops.atanh,
    BitwiseNot=ops.bitwise_not,
    Ceil=ops.ceil,
    Cos=ops.cos,
    Cosh=ops.cosh,
    Erf=ops.erf,
    Exp=ops.exp,
    Floor=ops.floor,
    HardSwish=ops.hard_swish,
    Identity=ops.identity,
    IsNaN=ops.is_nan,
    Log=ops.log,
    Neg=ops.negative,
    Not=ops.logical_not,
    Reciprocal=ops.reciprocal,
    Round=ops.rint,
    Sigmoid=ops.sigmoid,
    Sign=ops.sign,
    Sin=ops.sin,
    Sinh=ops.sinh,
    Softplus=ops.softplus,
    Sqrt=ops.sqrt,
    Tan=ops.tan,
    Tanh=ops.tanh,
)


def _of_two(**functions):
    for op, function in functions.items():
        supports(op)(lambda node, function=function: function(node.tensor(0), node.tensor(1)))


_of_two(
    Add=ops.add,
    And=ops.logical_and,
    BitwiseAnd=ops.bitwise_and,
    BitwiseOr=ops.bitwise_or,
    BitwiseXor=ops.bitwise_xor,
    Div=ops.divide,
    Equal=ops.equal,
    Greater=ops.greater,
    GreaterOrEqual=ops.greater_equal,
    Less=ops.less,
    LessOrEqual=ops.less_equal,
    Mul=ops.multiply,
    Or=ops.logical_or,
    Sub=ops.subtract,
    Xor=ops.logical_xor,
)


@supports("Relu")
def relu(node):
    x = node.tensor(0)
    return ops.relu(x) if is_float(x.dtype) else ops.maximum(x, 0)


@supports("LeakyRelu")
def leaky_relu(node):
    x = node.floats(0)
    return ops.where(x < 0.0, x * node.attribute("alpha", 0.01), x)


@supports("PRelu")
def prelu(node):
    x, slope = node.tensor(0), node.tensor(1)
    return ops.where(x < 0, slope * x, x)


@supports("Elu")
def elu(node):
    return ops.elu(node.floats(0), node.attribute("alpha", 1.0))


@supports("Celu")
def celu(node):
    x, alpha = node.floats(0), node.attribute("alpha", 1.0)
    return ops.where(x > 0.0, x, ops.expm1(ops.minimum(x, 0.0) / alpha) * alpha)


@supports("Selu")
def selu(node):
    alpha, gamma = node.attribute("alpha", 1.6732632423543772), node.attribute("gamma", 1.0507009873554805)
    return ops.elu(node.floats(0), alpha) * gamma


@supports("Gelu")
def gelu(node):
    return ops.gelu(node.floats(0), approximate=node.word("approximate", "none", ("none", "tanh")))


@supports("Mish")
def mish(node):
    x = node.floats(0)
    return x * ops.tanh(ops.softplus(x))


@supports("HardSigmoid")
def hard_sigmoid(node):
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return ops.clamp(node.floats(0) * alpha + beta, 0.0, 1.0)


@supports("Softsign")
def softsign(node):
    x = node.floats(0)
    return x / (abs(x) + 1.0)


@supports("ThresholdedRelu")
def thresholded_relu(node):
    x = node.floats(0)
    return ops.where(x > node.attribute("alpha", 1.0), x, 0.0)


@supports("Shrink")
def shrink(node):
    x, bias, bound = node.floats(0), node.attribute("bias", 0.0), node.attribute("lambd", 0.5)
    return ops.where(x < -bound, x + bias, ops.where(x > bound, x - bias, 0.0))


@supports("Clip")
def clip(node):
    x = node.tensor(0)
    if not (node.has(1) or node.has(2)):
        return ops.identity(x)
    low = ops.reshape(node.tensor(1), ()) if node.has(1) else _least(x.dtype)
    high = ops.reshape(node.tensor(2), ()) if node.has(2) else _greatest(x.dtype)
    return ops.clamp(x, low, high)


def _least(dtype):
    return -math.inf if is_float(dtype) else int(np.iinfo(dtype).min)


def _greatest(dtype):
    return math.inf if is_float(dtype) else int(np.iinfo(dtype).max)


@supports("IsInf")
def is_inf(node):
    x = node.floats(0)
    negative, positive = node.flag("detect_negative", True), node.flag("detect_positive", True)
    found = ops.is_infinite(x)
    if not negative:
        found = ops.logical_and(found, x > 0.0)
    return found if positive else ops.logical_and(found, x < 0.0)


@supports("Pow")
def power(node):
    x, exponent = node.tensor(0), node.tensor(1)
    if is_integer(x.dtype) and is_float(exponent.dtype):
        return ops.cast(ops.power(ops.cast(x, exponent.dtype), exponent), x.dtype)
    if isinstance(node.inputs[1], np.ndarray) and node.inputs[1].size == 1:
        whole = float(node.inputs[1].reshape(()))
        if whole == 2:  # exporters write squares so; a square has a gradient for x below 0
            return (
                ops.square(x)
                if node.inputs[1].ndim == 0
                else ops.square(x) * ops.cast(ops.ones_like(exponent), x.dtype)
            )
        if whole == 0.5 and is_float(x.dtype) and node.inputs[1].ndim == 0:
            return ops.sqrt(x)
    return ops.power(x, ops.cast(exponent, x.dtype))


@supports("Mod")
def mod(node):
    return (ops.fmod if node.flag("fmod") else ops.mod)(node.tensor(0), node.tensor(1))


@supports("BitShift")
def bit_shift(node):
    word = node.attribute("direction", str)
    if word not in ("LEFT", "RIGHT"):
        raise node.wrong(f"Expected the direction LEFT or RIGHT, got {word!r}")
    return (ops.left_shift if word == "LEFT" else ops.right_shift)(node.tensor(0), node.tensor(1))


def _combined(node, function):
    first, *others = node.tensors()
    for other in others:
        first = function(first, other)
    return ops.identity(first) if not others else first


@supports("Sum")
def sum_of_all(node):
    return _combined(node, ops.add)


@supports("Mean")
def mean_of_all(node):
    return _combined(node, ops.add) / float(len(node.inputs))


@supports("Max")
def greatest(node):
    return _combined(node, ops.maximum_propagate_nan if is_float(node.tensor(0).dtype) else ops.maximum)


@supports("Min")
def least(node):
    return _combined(node, ops.minimum_propagate_nan if is_float(node.tensor(0).dtype) else ops.minimum)


@supports("Where")
def where(node):
    return ops.where(node.tensor(0), node.tensor(1), node.tensor(2))


def _cast_to(node, dtype):
    x = node.tensor(0)
    if dtype == "bool":
        return ops.not_equal(x, False) if x.dtype == "bool" else ops.not_equal(x, 0)
    return ops.identity(x) if x.dtype == dtype else ops.cast(x, dtype)


@supports("Cast", limits="double becomes float; no texts, complex numbers, or types of 8 or 4 bits but integers")
def cast(node):
    to = node.attribute("to", int)
    node.attribute("saturate", 1)  # of float8
    node.attribute("round_mode", "up")
    if to not in ELEMENTS:
        raise node.wrong(f"Expected a type of numbers to cast to, got number {to}")
    return _cast_to(node, ELEMENTS[to])


@supports("CastLike", limits="as Cast")
def cast_like(node):
    node.attribute("saturate", 1)
    node.attribute("round_mode", "up")
    return _cast_to(node, node.tensor(1).dtype)
