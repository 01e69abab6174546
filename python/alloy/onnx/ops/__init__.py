"""The table of ONNX's ops: a function for each that is supported (alloy.onnx.file has the others, with the reasons)."""

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

__all__ = ["SUPPORTED"]
