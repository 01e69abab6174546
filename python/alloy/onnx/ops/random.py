"""Random numbers, which are Alloy's: other ones than those of other programs, anew in each training step."""

from alloy import ops, random
from alloy.onnx.file import ELEMENTS
from alloy.onnx.node import supports

_LIMITS = "the numbers are Alloy's, and seeds do not count"


def _dtype(node, default):
    number = node.attribute("dtype", 0)
    if number and number not in ELEMENTS:
        raise node.wrong(f"Expected a type of numbers, got number {number}")
    return ELEMENTS[number] if number else default


def _numbers(node):
    """Returns the function that draws, and its options."""
    node.attribute("seed", 0.0)
    if "Normal" in node.op:
        return random.normal, {"mean": node.attribute("mean", 0.0), "stddev": node.attribute("scale", 1.0)}
    return random.uniform, {"low": node.attribute("low", 0.0), "high": node.attribute("high", 1.0)}


@supports("RandomNormal", "RandomUniform", limits=_LIMITS)
def drawn(node):
    shape, dtype = node.integers("shape"), _dtype(node, "float32")
    if not shape:
        raise node.wrong("Expected a shape")
    draw, options = _numbers(node)
    return ops.cast(node.model.random(draw, shape, **options), dtype)


@supports("RandomNormalLike", "RandomUniformLike", limits=_LIMITS)
def drawn_like(node):
    x = node.tensor(0)
    draw, options = _numbers(node)
    return ops.cast(node.model.random(draw, ops.cast(x, "float32"), **options), _dtype(node, x.dtype))


@supports("Bernoulli", limits=_LIMITS)
def bernoulli(node):
    x = node.floats(0)
    node.attribute("seed", 0.0)
    wide = ops.cast(x, "float32")
    return ops.cast(node.model.random(random.bernoulli, wide, wide), _dtype(node, x.dtype))
