"""PyTorch, eager and compiled, and on a GPU also eager as a CUDA graph of the whole step; there compiled steps are CUDA
graphs, too. The variants are known ways to make it faster: channels-last images for convolutions, the fused optimizers,
on a GPU max-autotune; the fastest one counts."""

import numpy as np
import torch

from serve import DEVICE, THREADS, Session, serve
from workloads import (
    BATCH_NORM_EPSILON,
    BATCH_NORM_MOMENTUM,
    LAYER_NORM_EPSILON,
    Attention,
    AvgPool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Gelu,
    Gru,
    LayerNorm,
    Lstm,
    MaxPool,
    Mean,
    ReLU,
    Residual,
    same_padding,
)

torch.set_num_threads(THREADS)
torch.set_num_interop_threads(1)  # steps run one after the other, so nothing runs beside one


class Add(torch.nn.Module):
    def __init__(self, branch, shortcut):
        super().__init__()
        self.branch, self.shortcut = branch, shortcut

    def forward(self, x):
        return self.branch(x) + self.shortcut(x)


class Last(torch.nn.Module):
    """Returns the last state of a recurrent layer."""

    def __init__(self, layer, features):
        super().__init__()
        kind = torch.nn.LSTM if isinstance(layer, Lstm) else torch.nn.GRU
        self.cell = kind(features, layer.units, batch_first=True)

    def forward(self, x):
        return self.cell(x)[0][:, -1]


class MeanOfSteps(torch.nn.Module):
    def forward(self, x):
        return x.mean(1)


class SelfAttention(torch.nn.Module):
    """One product makes queries, keys and values."""

    def __init__(self, features, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.input, self.output = torch.nn.Linear(features, 3 * features), torch.nn.Linear(features, features)

    def forward(self, x):
        q, k, v = self.input(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(y.transpose(1, 2).flatten(2))


class Mixed(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        with torch.autocast(DEVICE, torch.bfloat16):
            return self.model(x.bfloat16()).float()


def module_of(node):
    nn, values = torch.nn, node.values
    match node.layer:
        case Conv(filters, size, stride, padding, bias):
            before, after = same_padding(node.input_shape[0], size, stride) if padding == "same" else (0, 0)
            module = nn.Conv2d(node.input_shape[2], filters, size, stride, before if before == after else 0, bias=bias)
            fill(module.weight, values[0].transpose(3, 2, 0, 1))
            if bias:
                fill(module.bias, values[1])
            if before != after:
                module = nn.Sequential(nn.ZeroPad2d((before, after, before, after)), module)
        case BatchNorm():
            module = nn.BatchNorm2d(node.input_shape[2], BATCH_NORM_EPSILON, 1 - BATCH_NORM_MOMENTUM)
            for tensor, value in zip((module.weight, module.bias, module.running_mean, module.running_var), values):
                fill(tensor, value)
        case LayerNorm():
            module = nn.LayerNorm(node.input_shape[-1], LAYER_NORM_EPSILON)
            fill(module.weight, values[0])
            fill(module.bias, values[1])
        case Gelu():
            module = nn.GELU()
        case ReLU():
            module = nn.ReLU(inplace=True)
        case MaxPool(size, stride):
            module = nn.MaxPool2d(size, stride)
        case AvgPool(size) if max(node.input_shape[:2]) <= size:
            # One window. PyTorch 2.11 compiles AvgPool2d of that wrongly for a GPU, fused with the op before it.
            module = nn.AdaptiveAvgPool2d(1)
        case AvgPool(size):
            module = nn.AvgPool2d(size, ceil_mode=True, count_include_pad=False)
        case Flatten():
            module = nn.Flatten()
        case Mean():
            module = MeanOfSteps()
        case Attention(heads, causal):
            module = SelfAttention(node.input_shape[-1], heads, causal)
            *inputs, output = values[::2]
            *input_biases, output_bias = values[1::2]
            fill(module.input.weight, np.concatenate(inputs, 1).T)
            fill(module.input.bias, np.concatenate(input_biases))
            fill(module.output.weight, output.T)
            fill(module.output.bias, output_bias)
        case Dense(units):
            module = nn.Linear(node.input_shape[-1], units)
            fill(module.weight, values[0].T)
            fill(module.bias, values[1])
        case Lstm(units) | Gru(units):
            module = Last(node.layer, node.input_shape[1])
            order = torch.arange(len(values[0]))
            if isinstance(node.layer, Gru):
                order = torch.cat([order[units : 2 * units], order[:units], order[2 * units :]])  # reset first
            for name, value in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"), values):
                fill(getattr(module.cell, name), value[order.numpy()])
            fill(module.cell.bias_hh_l0, np.zeros(len(order), np.float32))  # a GRU's second bias starts with zeros too
        case Residual():
            branch, shortcut = map(sequential, values)
            module = Add(branch, shortcut)
    return module


def fill(tensor, value):
    with torch.no_grad():
        tensor.copy_(torch.from_numpy(value))


def sequential(nodes):
    modules = []
    for before, node in zip([None, *nodes], nodes):
        if before and isinstance(before.layer, Flatten) and len(before.input_shape) == 3:
            node = node._replace(values=(channels_first_rows(node.values[0], before.input_shape), node.values[1]))
        modules.append(module_of(node))
    return torch.nn.Sequential(*modules)


def channels_first_rows(weights, shape):
    """Returns the rows in the order of a flattened channels-first image."""
    height, width, channels = shape
    return weights.reshape(height, width, channels, -1).transpose(2, 0, 1, 3).reshape(len(weights), -1)


class Captured:
    """A step as CUDA graphs, one for each batch, which read the batches in place. The first call runs the step by
    itself, which lets libraries choose their algorithms, and captures it afterwards."""

    def __init__(self, step, batches):
        self._step, self._batches = step, batches
        self._stream, self._graphs = torch.cuda.Stream(), {}
        self.peak_bytes = 0

    def __call__(self, *batch):
        if self._graphs:
            graph, result = self._graphs[id(batch[-1])]
            graph.replay()
            return result
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            first = self._step(*batch)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        # One graph may write over the results of the other: each is read before the next one begins.
        pool = torch.cuda.graph_pool_handle()
        for each in self._batches:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=self._stream):
                result = self._step(*each)
            self._graphs[id(each[-1])] = graph, result
        self.peak_bytes = torch.cuda.max_memory_allocated()
        return first


def peak_bytes(step, batch):
    """Returns the peak of the memory in use while a step runs that is not captured."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    step(*batch)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def variants(workload):
    images = len(workload.input_shape) == 3
    deep = len(workload.layers) > 20 and workload.optimizer
    if DEVICE == "cuda":
        formats = ["", " channels_last"] if images else [""]
        optimizers = ["", "fused"] if workload.optimizer else [""]
        captured = [optimizers[-1] + name for name in formats]
        # "fused" compiles the forward and the backward pass, the others the whole step.
        compiled = captured if deep else [*captured, "", f"{optimizers[-1]} max-autotune"]
        eager = [name + kind for kind in formats for name in optimizers]
        columns = {"PyTorch eager": eager, "PyTorch graph": captured, "PyTorch compile": compiled}
        return {column: list(dict.fromkeys(map(str.strip, names))) for column, names in columns.items()}
    eager = ["", "fused"] if workload.optimizer else [""]
    compiled = [""]
    if images:
        eager += [f"{name} channels_last".strip() for name in eager]
        compiled += ["channels_last"]
    if deep:
        # Each takes half a minute to compile; channels-last is as fast, or faster by some percent.
        compiled = ["channels_last"]
    return {"PyTorch eager": eager, "PyTorch compile": compiled}


def build(workload, column, variant, nodes, x, labels):
    before = torch.cuda.memory_allocated() if DEVICE == "cuda" else 0
    model, x = sequential(nodes).to(DEVICE), torch.from_numpy(x).to(DEVICE)
    if DEVICE == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = workload.tf32
        torch.backends.cudnn.benchmark = True
    if workload.mixed:
        model = Mixed(model)
    if x.ndim == 4:
        x = x.permute(0, 3, 1, 2).contiguous()
    if "channels_last" in variant:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    compiled, captured = column == "PyTorch compile", DEVICE == "cuda" and column != "PyTorch eager"
    mode = "max-autotune-no-cudagraphs" if "max-autotune" in variant else None

    def close():
        if compiled:
            torch._dynamo.reset()  # otherwise the next workload counts as a recompilation
        if DEVICE == "cuda":
            torch.cuda.empty_cache()

    def session(step, batches):
        step = Captured(step, batches) if captured else step

        def memory():
            return (step.peak_bytes if captured else peak_bytes(step, batches[0])) - before

        return Session(step, batches, lambda result: result.cpu(), close, memory)

    if compiled:
        from torch import _dynamo, _inductor  # takes seconds and megabytes that eager work does not need

        # The whole step in one graph, with gradients and update, is up to four times as fast as a compiled forward pass
        # with its backward() and optimizer.
        _dynamo.config.trace_autograd_ops = True
        _dynamo.config.allow_rnn = True
        if DEVICE == "cpu":
            _inductor.config.cpp_wrapper = True  # 5 to 20 % faster steps, with less Python in them
        else:
            _inductor.config.layout_optimization = False  # the variants choose
    if workload.optimizer is None:
        model.eval()
        # Freezing: weights become constants, folded and packed for oneDNN.
        freezing = {"options": {"freezing": True}} if DEVICE == "cpu" else {"mode": mode}
        predict = torch.compile(model, dynamic=False, **freezing) if compiled else model

        @torch.inference_mode()
        def infer(x):
            return predict(x)

        return session(infer, [(x,)])

    loss_function, parameters = torch.nn.CrossEntropyLoss(), list(model.parameters())
    name, rate = workload.optimizer
    if compiled and "fused" not in variant:
        update = {"sgd": sgd, "adam": adam}[name](parameters, rate)

        @torch.compile(dynamic=False, fullgraph=True, mode=mode)
        def step(x, y):
            loss = loss_function(model(x), y)
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                update(gradients)
            return loss.detach()
    else:
        optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[name](
            parameters,
            rate,
            fused="fused" in variant or None,
            **({"capturable": True} if captured and name == "adam" else {}),
        )

        def forward(x, y):
            return loss_function(model(x), y)

        if compiled:
            forward = torch.compile(forward, dynamic=False, fullgraph=True, mode=mode)

        def step(x, y):
            optimizer.zero_grad()
            loss = forward(x, y)
            loss.backward()
            optimizer.step()
            return loss.detach()

    return session(step, [(x, torch.from_numpy(y).long().to(DEVICE)) for y in labels])


def sgd(parameters, rate):
    def update(gradients):
        for parameter, gradient in zip(parameters, gradients):
            parameter.sub_(rate * gradient)

    return update


def adam(parameters, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Computes the same as torch.optim.Adam, which breaks a compiled graph."""
    first, second = ([torch.zeros_like(parameter) for parameter in parameters] for _ in range(2))
    count = torch.zeros((), device=DEVICE)

    def update(gradients):
        count.add_(1)
        rest1, rest2 = 1 - beta1**count, 1 - beta2**count
        for parameter, m, v, gradient in zip(parameters, first, second, gradients):
            m.lerp_(gradient, 1 - beta1)
            v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            parameter.sub_(rate / rest1 * m / ((v / rest2).sqrt() + epsilon))

    return update


if __name__ == "__main__":
    serve({"PyTorch": torch.__version__}, variants, build)
