"""TensorFlow: a Keras model whose step is one tf.function, with XLA and without, and without oneDNN (run.py starts a
process of its own for that); the fastest one counts."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

from serve import THREADS, Session, serve
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

tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def apply(nodes, x, made):
    """Applies the layers to x; adds each layer with its values to `made`."""
    for node in nodes:
        match node.layer:
            case Conv(filters, size, stride, padding, bias):
                layer = keras.layers.Conv2D(filters, size, stride, padding, use_bias=bias)
            case BatchNorm():
                layer = keras.layers.BatchNormalization(momentum=BATCH_NORM_MOMENTUM, epsilon=BATCH_NORM_EPSILON)
            case LayerNorm():
                layer = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON)
            case Gelu():
                layer = keras.layers.Activation("gelu")
            case ReLU():
                layer = keras.layers.ReLU()
            case MaxPool(size, stride):
                layer = keras.layers.MaxPooling2D(size, stride)
            case AvgPool(size):
                layer = keras.layers.AveragePooling2D(size, padding="same")
            case Flatten():
                layer = keras.layers.Flatten()
            case Mean():
                layer = keras.layers.GlobalAveragePooling1D()
            case Attention(heads, causal):
                layer = keras.layers.MultiHeadAttention(heads, node.input_shape[-1] // heads)
                x = layer(x, x, use_causal_mask=causal)
                made.append((layer, node.values))
                continue
            case Dense(units):
                layer = keras.layers.Dense(units)
            case Lstm(units):
                layer = keras.layers.LSTM(units)
            case Gru(units):
                layer = keras.layers.GRU(units)
            case Residual():
                branch, shortcut = node.values
                x = keras.layers.Add()([apply(branch, x, made), apply(shortcut, x, made)])
                continue
        x = layer(x)
        made.append((layer, node.values))
    return x


def values_for(layer, values):
    """Returns the values in Keras's form: of attention with an axis of heads, of recurrent layers transposed, with both
    biases of a GRU in one array."""
    if not isinstance(layer, keras.layers.RNN):
        return [value.reshape(weights.shape) for value, weights in zip(values, layer.weights)]
    weights, recurrent_weights, bias, *secondary = values
    if secondary:
        bias = np.stack([bias, np.concatenate([np.zeros(2 * len(secondary[0]), np.float32), secondary[0]])])
    return [weights.T, recurrent_weights.T, bias]


def build(workload, column, variant, nodes, x, labels):
    keras.config.set_dtype_policy("mixed_bfloat16" if workload.mixed else "float32")
    images, made = keras.Input(workload.input_shape, batch_size=len(x)), []
    model = keras.Model(images, keras.ops.cast(apply(nodes, images, made), "float32"))
    for layer, values in made:
        layer.set_weights(values_for(layer, values))
    x, compile = tf.constant(x), tf.function(jit_compile=variant == "XLA")
    if workload.optimizer is None:
        predict = compile(lambda x: model(x, training=False))
        return Session(predict, [(x,)], lambda logits: logits.numpy())
    name, rate = workload.optimizer
    optimizer = {"sgd": lambda: keras.optimizers.SGD(rate), "adam": lambda: keras.optimizers.Adam(rate, epsilon=1e-8)}[
        name
    ]()
    optimizer.build(model.trainable_variables)

    @compile
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    return Session(step, [(x, tf.constant(y)) for y in labels], lambda loss: loss.numpy())


if __name__ == "__main__":
    # XLA uses its own kernels, with oneDNN or without.
    variants = [""] if os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "0" else ["", "XLA"]
    serve({"TensorFlow": tf.__version__, "Keras": keras.__version__}, lambda workload: {"TensorFlow": variants}, build)
