"""Graphs and their parts: tensors, variables, updates, executables."""

from alloy._core import Event, Executable, Graph, Op, Pending, Queue, Submission, Tensor, Update, Variable
from alloy.asynchronous import queues, submission  # noqa: F401  these modules complete the classes
from alloy.graph import executable, graph, op, tensor  # noqa: F401
from alloy.graph.graph import gradients
from alloy.graph.loaded import LoadedExecutable, load_executable

__all__ = [
    "Event",
    "Executable",
    "Graph",
    "LoadedExecutable",
    "Op",
    "Pending",
    "Queue",
    "Submission",
    "Tensor",
    "Update",
    "Variable",
    "gradients",
    "load_executable",
]
