"""The table of ONNX's ops: a function for each that is supported, the reason for each that is refused."""

from alloy.onnx.node import SUPPORTED
from alloy.onnx.ops import (  # noqa: F401  they enter their ops
    control,
    convolution,
    elementwise,
    indices,
    matrices,
    normalization,
    quantization,
    random,
    recurrent,
    reduction,
    shape,
)
from alloy.onnx.ops.refused import REFUSED

__all__ = ["REFUSED", "SUPPORTED"]
