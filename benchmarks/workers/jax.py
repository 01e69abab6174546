"""JAX: a step is one jitted pure function, which may write the new parameters over the old ones (donation). XLA's flags
are the defaults: wider vectors, oneDNN and YNNPACK gain a few percent on one workload and lose more on another. On a
GPU, XLA itself makes CUDA graphs of a step's launches."""

import os

os.environ["JAX_PLATFORMS"] = os.environ.get("BENCH_DEVICE", "cpu")

import jax
import jax.numpy as jnp
from jax import lax

from serve import DEVICE, Session, serve
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
)


def _trainable_count(node):
    return 2 if isinstance(node.layer, BatchNorm) else len(node.values)


def trainable(nodes):
    """Returns the values that an optimizer updates, a tuple for each node."""
    return [
        tuple(map(trainable, node.values))
        if isinstance(node.layer, Residual)
        else tuple(map(jnp.array, node.values[: _trainable_count(node)]))
        for node in nodes
    ]


def moving(nodes):
    """Returns the moving averages."""
    return [
        tuple(map(moving, node.values))
        if isinstance(node.layer, Residual)
        else tuple(map(jnp.array, node.values[_trainable_count(node) :]))
        for node in nodes
    ]


def last_state(layer, values, x):
    """Returns the last state of a recurrent layer; one product serves the inputs of all steps."""
    weights, recurrent_weights, bias, *secondary = values
    sums = jnp.swapaxes(x @ weights.T + bias, 0, 1)
    zeros = jnp.zeros((len(x), layer.units))

    def lstm(carried, sums):
        state, cell = carried
        i, f, z, o = jnp.split(sums + state @ recurrent_weights.T, 4, 1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(z)
        return (jax.nn.sigmoid(o) * jnp.tanh(cell), cell), None

    def gru(state, sums):
        xz, xr, xo = jnp.split(sums, 3, 1)
        hz, hr, ho = jnp.split(state @ recurrent_weights.T, 3, 1)
        z, r = jax.nn.sigmoid(xz + hz), jax.nn.sigmoid(xr + hr)
        return z * state + (1 - z) * jnp.tanh(xo + r * (ho + secondary[0])), None

    if isinstance(layer, Gru):
        return lax.scan(gru, zeros, sums)[0]
    return lax.scan(lstm, (zeros, zeros), sums)[0][0]


def plain_attention(q, k, v, is_causal):
    scores = jnp.einsum("bqhf,bkhf->bhqk", q, k, preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
    if is_causal:
        scores = jnp.where(jnp.tri(q.shape[1], dtype=bool), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhf->bqhf", jax.nn.softmax(scores).astype(v.dtype), v)


ATTENTION = {"plain": plain_attention, "dot_product_attention": jax.nn.dot_product_attention}


def forward(layers, parameters, averages, x, training, variant):
    """Returns the result and the new averages. Layers compute in the type of x, norms in float32."""
    new = []
    for layer, values, old in zip(layers, parameters, averages):
        if not isinstance(layer, BatchNorm | LayerNorm | Residual):
            values = [value.astype(x.dtype) for value in values]
        match layer:
            case Conv(_, _, stride, padding):
                weights, *bias = values
                x = lax.conv_general_dilated(
                    x, weights, (stride, stride), padding.upper(), dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
                x = x + bias[0] if bias else x
            case BatchNorm():
                gamma, beta = values
                mean, variance = old
                wide = x.astype(jnp.float32)
                if training:
                    mean, variance = jnp.mean(wide, (0, 1, 2)), jnp.var(wide, (0, 1, 2))
                    old = tuple(
                        average * BATCH_NORM_MOMENTUM + statistic * (1 - BATCH_NORM_MOMENTUM)
                        for average, statistic in zip(old, (mean, variance))
                    )
                y = (wide - mean) * (gamma * lax.rsqrt(variance + BATCH_NORM_EPSILON)) + beta
                x = y.astype(x.dtype)
            case LayerNorm():
                gamma, beta = values
                wide = x.astype(jnp.float32)
                mean, variance = jnp.mean(wide, -1, keepdims=True), jnp.var(wide, -1, keepdims=True)
                x = ((wide - mean) * lax.rsqrt(variance + LAYER_NORM_EPSILON) * gamma + beta).astype(x.dtype)
            case Gelu():
                x = jax.nn.gelu(x, approximate=False)
            case ReLU():
                x = jax.nn.relu(x)
            case MaxPool(size, stride):
                x = lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), "VALID")
            case AvgPool(size):

                def sums(a):
                    return lax.reduce_window(a, 0.0, lax.add, (1, size, size, 1), (1, size, size, 1), "SAME")

                x = sums(x) / sums(jnp.ones_like(x))
            case Flatten():
                x = x.reshape(len(x), -1)
            case Mean():
                x = jnp.mean(x, 1)
            case Attention(heads, causal):
                *products, (weights, bias) = zip(values[::2], values[1::2])
                q, k, v = ((x @ weights + bias).reshape(*x.shape[:2], heads, -1) for weights, bias in products)
                x = ATTENTION[variant](q, k, v, is_causal=causal).reshape(x.shape) @ weights + bias
            case Dense():
                weights, bias = values
                x = x @ weights + bias
            case Lstm() | Gru():
                x = last_state(layer, values, x)
            case Residual(branch, shortcut):
                y, branch_averages = forward(branch, values[0], old[0], x, training, variant)
                x, shortcut_averages = forward(shortcut, values[1], old[1], x, training, variant)
                x, old = x + y, (branch_averages, shortcut_averages)
        new.append(old)
    return x, new


def variants(workload):
    return {"JAX jit": ["plain", "dot_product_attention"] if "Attention" in repr(workload.layers) else [""]}


def build(workload, column, variant, nodes, x, labels):
    if DEVICE == "cuda":
        jax.config.update("jax_default_matmul_precision", "tensorfloat32" if workload.tf32 else "highest")
    parameters, averages, x = trainable(nodes), moving(nodes), jnp.array(x)
    training = workload.optimizer is not None

    def model(parameters, averages, x):
        x = x.astype(jnp.bfloat16 if workload.mixed else jnp.float32)
        logits, averages = forward(workload.layers, parameters, averages, x, training, variant)
        return logits.astype(jnp.float32), averages

    if not training:
        predict = jax.jit(lambda *operands: model(*operands)[0])
        return Session(
            lambda x: predict(parameters, averages, x),
            [(x,)],
            lambda logits: logits,
            memory=lambda: memory(predict, parameters, averages, x),
        )
    name, rate = workload.optimizer
    update = {"sgd": sgd, "adam": adam}[name]

    def loss_of(parameters, averages, x, y):
        logits, averages = model(parameters, averages, x)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1)), averages

    def training_step(state, x, y):
        parameters, averages, moments = state
        (loss, averages), gradients = jax.value_and_grad(loss_of, has_aux=True)(parameters, averages, x, y)
        parameters, moments = update(parameters, gradients, moments, rate)
        return (parameters, averages, moments), loss

    compiled = jax.jit(training_step, donate_argnums=0)
    zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
    state = parameters, averages, (jnp.zeros(()), *zeros) if name == "adam" else ()

    def step(x, y):
        nonlocal state
        state, loss = compiled(state, x, y)
        return loss

    def finish(loss):
        if DEVICE == "cpu":  # a GPU computes all results before it copies the loss
            jax.block_until_ready(state)
        return loss

    batches = [(x, jnp.array(y)) for y in labels]
    return Session(step, batches, finish, memory=lambda: memory(compiled, state, *batches[0]))


def memory(function, *operands):
    """Returns the bytes of a call's operands, results and intermediate values."""
    found = function.lower(*operands).compile().memory_analysis()
    inputs, outputs = found.argument_size_in_bytes, found.output_size_in_bytes - found.alias_size_in_bytes
    return inputs + outputs + found.temp_size_in_bytes


def sgd(parameters, gradients, moments, rate):
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients), moments


def adam(parameters, gradients, moments, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    count, first, second = moments
    count += 1
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradients)
    rest1, rest2 = 1 - beta1**count, 1 - beta2**count
    parameters = jax.tree.map(
        lambda p, m, v: p - rate * (m / rest1) / (jnp.sqrt(v / rest2) + epsilon), parameters, first, second
    )
    return parameters, (count, first, second)


if __name__ == "__main__":
    serve({"JAX": jax.__version__}, variants, build)
