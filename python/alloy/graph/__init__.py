"""Graphs and their parts: tensors, variables, updates, executables."""

from alloy._core import Event, Executable, Graph, Op, Pending, Queue, Submission, Tensor, Update, Variable
from alloy.asynchronous import awaiting, queues  # noqa: F401  they complete the classes
from alloy.graph import executable, indexing, shown, tensor  # noqa: F401  they complete the classes
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
