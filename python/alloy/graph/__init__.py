"""A graph and what it is made of: tensors, variables, updates, executables."""

from alloy.graph import indexing, shown, tensor  # noqa: F401
from alloy.graph.executable import Executable, Submission
from alloy.graph.graph import Graph, Op, Update, Variable, gradients
from alloy.graph.tensor import Tensor

__all__ = ["Executable", "Graph", "Op", "Submission", "Tensor", "Update", "Variable", "gradients"]
