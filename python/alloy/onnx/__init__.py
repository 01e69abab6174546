"""Models in ONNX files: load makes a layer of one, which trains and predicts; Trainer.export writes one. Imported when
al.onnx is first used; needs the package onnx."""

from typing import TYPE_CHECKING

from alloy.messages.names import of_module

try:
    import onnx as _  # noqa: F401
except ImportError:
    raise ImportError("[onnx] The package onnx 1.16 or newer is missing: pip install 'alloy-mpsgraph[onnx]'") from None

from alloy.onnx.model import Model, load

__all__ = ["Model", "load"]

if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
