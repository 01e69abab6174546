"""Alloy trains neural networks on Apple's MPSGraph, the whole step in one compiled graph."""

from alloy import data, init, losses, metrics, models, nn, random, schedules
from alloy._core import DeviceError, device_stats, op_table, stats
from alloy.device import Device, device, devices, set_threads, threads
from alloy.graph import Executable, Graph, Op, Submission, Tensor, Update, Variable, gradients
from alloy.graph.arrays import empty
from alloy.graph.dtypes import (
    bfloat16,
    bool_,
    complex64,
    float16,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from alloy.ops import *  # noqa: F403
from alloy.ops import __all__ as _ops
from alloy.optimizers import *  # noqa: F403
from alloy.optimizers import __all__ as _optimizers
from alloy.training.callbacks import *  # noqa: F403
from alloy.training.callbacks import __all__ as _callbacks
from alloy.training.checkpoint import load, save
from alloy.training.history import History
from alloy.training.trainer import Trainer

__all__ = [
    "Device",
    "DeviceError",
    "Executable",
    "Graph",
    "History",
    "Op",
    "Submission",
    "Tensor",
    "Trainer",
    "Update",
    "Variable",
    "gradients",
    "bfloat16",
    "bool_",
    "complex64",
    "float16",
    "float32",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "data",
    "device",
    "device_stats",
    "devices",
    "empty",
    "init",
    "load",
    "losses",
    "metrics",
    "models",
    "nn",
    "op_table",
    "random",
    "save",
    "schedules",
    "set_threads",
    "stats",
    "threads",
    *_callbacks,
    *_ops,
    *_optimizers,
]


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version  # slow to import, and seldom asked

        return version("alloy-mpsgraph")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
