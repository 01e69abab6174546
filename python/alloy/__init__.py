"""Alloy trains neural networks on Apple's MPSGraph, the whole step in one compiled graph."""

from alloy import data, init, losses, metrics, models, nn, schedules
from alloy._core import DeviceError, device_stats, op_table, stats
from alloy.arrays import empty
from alloy.callbacks import Callback, Checkpoint, EarlyStopping
from alloy.checkpoint import load, save
from alloy.device import Device, device, devices, set_threads, threads
from alloy.dtypes import bfloat16, bool_, float16, float32, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from alloy.graph import Executable, Graph, Op, Submission, Tensor, Update, Variable, gradients
from alloy.history import History
from alloy.ops import (
    avg_pool2d,
    broadcast_to,
    cast,
    clamp,
    concat,
    conv2d,
    expand_dims,
    flatten,
    log_softmax,
    matmul,
    max_pool2d,
    one_hot,
    reshape,
    select,
    softmax,
    squeeze,
    stack,
    stop_gradient,
    transpose,
)
from alloy.optimizers import SGD, Adam
from alloy.table_ops import *  # noqa: F403  one function for each row of the op table
from alloy.table_ops import __all__ as _table_ops
from alloy.trainer import Trainer

__all__ = [
    "Adam",
    "Callback",
    "Checkpoint",
    "Device",
    "DeviceError",
    "EarlyStopping",
    "Executable",
    "Graph",
    "History",
    "Op",
    "SGD",
    "Submission",
    "Tensor",
    "Trainer",
    "Update",
    "Variable",
    "avg_pool2d",
    "broadcast_to",
    "cast",
    "clamp",
    "concat",
    "conv2d",
    "expand_dims",
    "flatten",
    "gradients",
    "log_softmax",
    "matmul",
    "max_pool2d",
    "one_hot",
    "reshape",
    "select",
    "softmax",
    "squeeze",
    "stack",
    "stop_gradient",
    "transpose",
    "bfloat16",
    "bool_",
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
    "save",
    "schedules",
    "set_threads",
    "stats",
    "threads",
    *_table_ops,
]


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version  # slow to import, and seldom asked

        return version("alloy-mpsgraph")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
