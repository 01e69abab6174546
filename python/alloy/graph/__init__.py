"""A graph and what it is made of: tensors, variables, updates, executables."""

from alloy._core import Executable, Graph, Op, Submission, Tensor, Update, Variable
from alloy.graph import executable, indexing, shown, tensor  # noqa: F401  they add methods to the engine's classes
from alloy.graph.graph import gradients

__all__ = ["Executable", "Graph", "Op", "Submission", "Tensor", "Update", "Variable", "gradients"]
