"""Layers, losses, optimizers and a training as users with a type checker write them
(tests/python/package/test_stubs.py)."""

import numpy as np

import alloy as al


class Block(al.nn.Layer):
    def __init__(self, units: int) -> None:
        super().__init__()
        self.inner = al.nn.Dense(units)
        self.outer = al.nn.Dense(2)

    def forward(self, x: al.Tensor, training: bool) -> al.Tensor:
        return self.outer(al.relu(self.inner(x, training)), training)


images: np.ndarray = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
classes = np.array([0, 1, 1, 0], np.int32)
model = al.nn.Sequential(Block(8), al.nn.ReLU())
trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(0.05), metrics=["accuracy"])
history = trainer.fit((images, classes), epochs=2, progress=False)
predictions: np.ndarray = trainer.predict(images)
variables: list[al.Variable] = model.variables

g = al.Graph()
x, y = g.placeholder((None, 2)), g.placeholder((None,), al.int32)
loss: al.Tensor = al.mean(al.losses.softmax_cross_entropy(al.nn.Dense(2)(x, training=True), y))
accuracy: al.Tensor = al.metrics.accuracy(al.nn.Dense(2)(x), y)
step = g.compile([x, y], [loss, accuracy], al.SGD(0.1).minimize(loss, [v for v in g.variables[:2]]))
step(images, classes)
(train, labels), (held_out, _) = al.data.split(images, classes, 0.25)
weights: np.ndarray = al.init.glorot_uniform((3, 4), seed=0)
