"""Examples of layers, one for each name."""

import math

import numpy as np

import alloy as al

g = al.Graph()  # g.constant makes a tensor, g.run computes one

# al.nn.AvgPool1D
x = g.constant(np.float32([1, 3, 5, 9]).reshape(1, 4, 1))
assert g.run(al.nn.AvgPool1D(2)(x)).ravel().tolist() == [2, 7]

# al.nn.AvgPool2D
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 2, 4, 1))
assert g.run(al.nn.AvgPool2D(2)(x)).ravel().tolist() == [3.5, 5.5]

# al.nn.BatchNorm
x = g.constant([[1.0], [3.0]])  # mean 2, variance 1
norm = al.nn.BatchNorm(epsilon=1e-6)
assert np.allclose(g.run(norm(x, training=True)), [[-1], [1]])
assert np.allclose(g.run(norm(x)), [[1], [3]])  # the moving averages are still 0 and 1

# al.nn.Conv1D
x = g.placeholder((None, 100, 3))
assert al.nn.Conv1D(16, 5)(x).shape == (None, 96, 16)
assert al.nn.Conv1D(16, 5, padding="causal")(x).shape == (None, 100, 16)

# al.nn.Conv2D
images = g.placeholder((None, 28, 28, 1))
assert al.nn.Conv2D(16, 3, activation="relu")(images).shape == (None, 26, 26, 16)
assert al.nn.Conv2D(16, 3, strides=2, padding="same")(images).shape == (None, 14, 14, 16)

# al.nn.Conv3D
volumes = g.placeholder((None, 10, 28, 28, 1))
assert al.nn.Conv3D(16, 3)(volumes).shape == (None, 8, 26, 26, 16)

# al.nn.ConvTranspose2D
images = g.placeholder((None, 7, 7, 16))
assert al.nn.ConvTranspose2D(8, 3, strides=2, padding="same")(images).shape == (None, 14, 14, 8)

# al.nn.Dense
x = g.constant([[1.0, 2.0]])
dense = al.nn.Dense(3, activation="relu")
y = g.run(dense(x))
dense.weights.assign(np.float32([[1, 0, -1], [0, 1, -1]]))
assert y.shape == (1, 3) and g.run(dense(x)).tolist() == [[1, 2, 0]]

# al.nn.DepthwiseConv2D
images = g.placeholder((None, 28, 28, 8))
depthwise = al.nn.DepthwiseConv2D(3, padding="same")
assert depthwise(images).shape == (None, 28, 28, 8) and depthwise.weights.shape == (3, 3, 8, 1)

# al.nn.Dropout
x, dropout = g.constant(np.ones(1000, "float32")), al.nn.Dropout(0.5)
y = g.run(dropout(x, training=True))
assert set(y.tolist()) == {0, 2} and 400 < (y == 0).sum() < 600
assert g.run(dropout(x)).tolist() == [1] * 1000

# al.nn.ELU
x = g.constant([-1.0, 2.0])
assert np.allclose(g.run(al.nn.ELU()(x)), [1 / math.e - 1, 2])

# al.nn.Embedding
words = g.constant([[3, 5, 3]])
embedding = al.nn.Embedding(1000, 16)
y = g.run(embedding(words))
assert y.shape == (1, 3, 16) and (y[0, 0] == embedding.weights.numpy()[3]).all()

# al.nn.Flatten
images = g.placeholder((None, 8, 8, 3))
assert al.nn.Flatten()(images).shape == (None, 192)

# al.nn.GELU
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.nn.GELU()(x)), [0, (1 + math.erf(1 / math.sqrt(2))) / 2])

# al.nn.GRU
sequences = g.placeholder((None, 20, 8))
assert al.nn.GRU(32)(sequences).shape == (None, 32)  # the last state
assert al.nn.GRU(32, return_sequences=True)(sequences).shape == (None, 20, 32)

# al.nn.GlobalAvgPool
images = g.constant(np.float32([[1, 2], [3, 6]]).reshape(1, 2, 2, 1))
assert g.run(al.nn.GlobalAvgPool()(images)).tolist() == [[3]]

# al.nn.GlobalMaxPool
images = g.constant(np.float32([[1, 2], [3, 6]]).reshape(1, 2, 2, 1))
assert g.run(al.nn.GlobalMaxPool()(images)).tolist() == [[6]]

# al.nn.GroupNorm
x = g.constant([[1.0, 3.0, 10.0, 30.0]])  # two groups of two channels
assert np.allclose(g.run(al.nn.GroupNorm(2, epsilon=1e-6)(x)), [[-1, 1, -1, 1]])

# al.nn.HardSwish
x = g.constant([-3.0, 0.0, 3.0])
assert g.run(al.nn.HardSwish()(x)).tolist() == [0, 0, 3]

# al.nn.InstanceNorm
x = g.constant(np.float32([[1, 10], [3, 30]]).reshape(1, 2, 2))  # two places, two channels
assert np.allclose(g.run(al.nn.InstanceNorm(epsilon=1e-6)(x)), [[[-1, -1], [1, 1]]])

# al.nn.LSTM
sequences = g.placeholder((None, 20, 8))
assert al.nn.LSTM(32)(sequences).shape == (None, 32)  # the last state
assert al.nn.LSTM(32, bidirectional=True, return_sequences=True)(sequences).shape == (None, 20, 64)


# al.nn.Layer
class Scale(al.nn.Layer):
    def build(self, x):
        self.factor = self.add_variable(x.graph, "factor", lambda seed: al.init.ones(x.shape[-1:]))

    def forward(self, x, training):
        return x * self.factor


scale = Scale()
assert g.run(scale(g.constant([[1.0, 2.0]]))).tolist() == [[1, 2]] and scale.variables == [scale.factor]

# al.nn.LayerNorm
x = g.constant([[1.0, 3.0], [10.0, 30.0]])
assert np.allclose(g.run(al.nn.LayerNorm(epsilon=1e-6)(x)), [[-1, 1], [-1, 1]])

# al.nn.LeakyReLU
x = g.constant([-4.0, 2.0])
assert g.run(al.nn.LeakyReLU(0.25)(x)).tolist() == [-1, 2]

# al.nn.MaxPool1D
x = g.constant(np.float32([1, 3, 5, 9]).reshape(1, 4, 1))
assert g.run(al.nn.MaxPool1D(2)(x)).ravel().tolist() == [3, 9]

# al.nn.MaxPool2D
x = g.constant(np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 2, 4, 1))
assert g.run(al.nn.MaxPool2D(2)(x)).ravel().tolist() == [6, 8]

# al.nn.MultiHeadAttention
sequences, memory = g.placeholder((None, 20, 32)), g.placeholder((None, 50, 64))
attention = al.nn.MultiHeadAttention(4, 8, use_causal_mask=True)
assert attention(sequences).shape == (None, 20, 32)  # attends to itself
assert al.nn.MultiHeadAttention(4, 8)(sequences, value=memory).shape == (None, 20, 32)

# al.nn.RMSNorm
x = g.constant([[3.0, -3.0], [1.0, 7.0]])  # mean squares 9 and 25
assert np.allclose(g.run(al.nn.RMSNorm()(x)), [[1, -1], [0.2, 1.4]])

# al.nn.RNN
sequences = g.placeholder((None, 20, 8))
assert al.nn.RNN(32)(sequences).shape == (None, 32)  # the last state

# al.nn.ReLU
x = g.constant([-1.0, 0.0, 2.0])
assert g.run(al.nn.ReLU()(x)).tolist() == [0, 0, 2]

# al.nn.Rescaling
pixels = g.constant(np.uint8([0, 51, 255]))
assert np.allclose(g.run(al.nn.Rescaling(1 / 255)(pixels)), [0, 0.2, 1])

# al.nn.Reshape
x = g.placeholder((None, 64))
assert al.nn.Reshape((8, 8, -1))(x).shape == (None, 8, 8, 1)

# al.nn.Residual
x = g.constant([[-1.0, 2.0]])
assert g.run(al.nn.Residual(al.nn.ReLU())(x)).tolist() == [[-1, 4]]  # relu(x) + x

# al.nn.Resizing
images = g.placeholder((None, 28, 28, 3))
assert al.nn.Resizing(32, 32)(images).shape == (None, 32, 32, 3)

# al.nn.Sequential
model = al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(32, activation="relu"), al.nn.Dense(10))
assert model(g.placeholder((None, 8, 8, 1))).shape == (None, 10)
assert [v.shape for v in model.variables] == [(64, 32), (32,), (32, 10), (10,)]

# al.nn.SiLU
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.nn.SiLU()(x)), [0, 1 / (1 + 1 / math.e)])

# al.nn.Sigmoid
x = g.constant([0.0, math.log(3)])
assert np.allclose(g.run(al.nn.Sigmoid()(x)), [0.5, 0.75])

# al.nn.Softmax
x = g.constant([[0.0, math.log(3)]])
assert np.allclose(g.run(al.nn.Softmax()(x)), [[1 / 4, 3 / 4]])

# al.nn.Softplus
x = g.constant([0.0, 1000.0])
assert np.allclose(g.run(al.nn.Softplus()(x)), [math.log(2), 1000])

# al.nn.Tanh
x = g.constant([0.0, 1.0])
assert np.allclose(g.run(al.nn.Tanh()(x)), [0, math.tanh(1)])

# al.nn.UpSampling2D
images = g.constant(np.float32([[1, 2]]).reshape(1, 1, 2, 1))
assert g.run(al.nn.UpSampling2D(2)(images))[0, :, :, 0].tolist() == [[1, 1, 2, 2], [1, 1, 2, 2]]

# al.nn.ZeroPadding2D
images = g.constant(np.float32([[1, 2]]).reshape(1, 1, 2, 1))
padded = g.run(al.nn.ZeroPadding2D(1)(images))
assert padded[0, :, :, 0].tolist() == [[0, 0, 0, 0], [0, 1, 2, 0], [0, 0, 0, 0]]
