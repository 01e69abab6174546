"""Alloy trains neural networks on Apple's MPSGraph, the whole step in one compiled graph.

    import alloy as al

A training with layers:

    model = al.nn.Sequential(al.nn.Dense(64), al.nn.ReLU(), al.nn.Dense(10))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(1e-3), metrics=["accuracy"])
    trainer.fit((images, classes), epochs=10)
    al.save(model, "model.safetensors")

A step by hand:

    graph = al.Graph()
    x, y = graph.placeholder((None, 2)), graph.placeholder((None, 1))
    w = graph.variable(al.init.glorot_uniform((2, 1), seed=0), name="w")
    loss = al.mean(al.square(x @ w - y))
    step = graph.compile([x, y], [loss], al.SGD(0.1).minimize(loss))
    (error,) = step(points, values)

Names by subject; help(al.nn), help(al.Graph) or help(al.conv2d) tells more:

graphs          Graph, Tensor, Variable, Executable, Update, Op, gradients, empty
steps in flight Submission, Pending, Queue, Event
files of steps  load_executable, LoadedExecutable
training        Trainer, History, save, load, state, load_torch
callbacks       Callback, Checkpoint, CSVLogger, EarlyStopping, LambdaCallback, ReduceLROnPlateau, TensorBoard
optimizers      SGD, Adam, AdamW, Adagrad, Lion, RMSprop, LossScale, Optimizer for your own; al.schedules
layers          al.nn, al.models
losses          al.losses, al.metrics
data            al.data
processes       al.distributed
scikit-learn    al.sklearn: Classifier, Regressor
ONNX            al.onnx: load; Trainer.export writes
drawings        draw
first values    al.init; random numbers in a graph: al.random
devices         device, devices, Device, DeviceError, set_memory_limit,
                set_threads, threads
libraries       load_op_library, OpLibrary: your own ops in C
numbers         stats, device_stats, op_table, and an Executable's profile() and memory_plan()
element types   float32, float16, bfloat16, int8 to int64, uint8 to uint64, bool_, complex64

Functions of tensors, which are also methods where NumPy has them as methods (x.sum(axis), x.reshape(2, 3)):

creation        zeros, ones, full, eye, arange, linspace, zeros_like,
                ones_like, full_like
arithmetic      add, subtract, multiply, divide, floor_divide, mod, fmod,
                power, negative, abs, sign, square, sqrt, rsqrt, reciprocal,
                divide_no_nan, absolute_square
functions       exp, exp2, exp10, expm1, log, log2, log10, log1p, sin, cos,
                tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh,
                acosh, atanh, erf
rounding        floor, ceil, round, rint, trunc, clamp, minimum, maximum,
                minimum_propagate_nan, maximum_propagate_nan
comparison      equal, not_equal, less, less_equal, greater, greater_equal,
                isclose, is_nan, is_infinite, is_finite, signbit, where,
                masked_fill, logical_and, logical_or, logical_xor,
                logical_not, logical_nand, logical_nor, logical_xnor
bits            bitwise_and, bitwise_or, bitwise_xor, bitwise_not,
                left_shift, right_shift, population_count, hamming_distance
reduction       sum, mean, median, variance, std, prod, max, min, norm,
                logsumexp, count_nonzero, max_propagate_nan,
                min_propagate_nan, all, any, argmax, argmin, cumsum, cumprod,
                cummax, cummin
activation      relu, leaky_relu, elu, gelu, silu, softplus, sigmoid,
                hard_sigmoid, hard_swish, softmax, log_softmax,
                relu_gradient, sigmoid_gradient
shape           reshape, flatten, transpose, squeeze, expand_dims,
                broadcast_to, concat, stack, split, interleave, tile, repeat,
                pad, flip, roll, slice_update, coordinates, cast, bitcast
indices         gather, gather_nd, take_along_axis, scatter, scatter_nd,
                put_along_axis, one_hot, sort, argsort, top_k, bottom_k
matrices        matmul, einsum, outer, inverse, diag, tril, triu, band_part
images          conv2d, conv3d, conv2d_transpose, depthwise_conv2d,
                depthwise_conv3d, im2col, col2im, max_pool2d, avg_pool2d,
                max_pool4d, avg_pool4d, l2_pool4d, max_pool4d_with_indices,
                max_unpool4d, resize, depth_to_space, space_to_depth,
                batch_to_space, space_to_batch
sequences       lstm, gru, rnn, scaled_dot_product_attention
complex         complex, real, imag, conjugate, planar, fft, ifft, rfft,
                irfft
control         cond, for_loop, while_loop, scan, identity, stop_gradient
own             custom_gradient
small types     quantize, dequantize, dequantize_lut"""

from typing import TYPE_CHECKING

from alloy import data, distributed, init, losses, metrics, models, nn, random, schedules
from alloy._core import DeviceError
from alloy.device import *  # noqa: F403
from alloy.device import __all__ as _device
from alloy.engine.arrays import empty
from alloy.engine.dtypes import *  # noqa: F403
from alloy.engine.dtypes import __all__ as _dtypes
from alloy.graph import *  # noqa: F403
from alloy.graph import __all__ as _graph
from alloy.interop.torch_weights import load_torch
from alloy.messages.names import missing_name
from alloy.op_library import OpLibrary, load_op_library
from alloy.ops import *  # noqa: F403
from alloy.ops import __all__ as _ops
from alloy.optimizers import *  # noqa: F403
from alloy.optimizers import __all__ as _optimizers
from alloy.tools.draw import draw
from alloy.training.callbacks import *  # noqa: F403
from alloy.training.callbacks import __all__ as _callbacks
from alloy.training.checkpoint import load, save, state
from alloy.training.history import History
from alloy.training.trainer import Trainer

__all__ = [
    "DeviceError",
    "History",
    "OpLibrary",
    "Trainer",
    "data",
    "distributed",
    "draw",
    "empty",
    "init",
    "load",
    "load_op_library",
    "load_torch",
    "losses",
    "metrics",
    "models",
    "nn",
    "random",
    "save",
    "schedules",
    "state",
    *_callbacks,
    *_device,
    *_dtypes,
    *_graph,
    *_ops,
    *_optimizers,
]


__version__: str  # below


if not TYPE_CHECKING:  # or checkers would accept any name

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version  # slow to import, and seldom asked

            return version("alloy-mpsgraph")
        if name in ("onnx", "sklearn"):
            from importlib import import_module

            return import_module(f"alloy.{name}")
        return missing_name(__name__, name)

    class _Names(list):
        """help(alloy) prints all that is `in` __all__, 2,000 lines; with this it prints the text above."""

        def __contains__(self, name):
            return False

    __all__ = _Names(__all__)


def __dir__():
    return list(__all__)
