"""Fits a line to noisy points, at the level of graphs: one executable runs forward, backward and update.

python linear_regression.py [variable|buffers]: what holds slope and offset between the steps."""

import sys

import numpy as np

import alloy as al

rng = np.random.default_rng(0)
x_data = rng.uniform(-1, 1, (256, 1)).astype(np.float32)
y_data = 3 * x_data - 0.5 + rng.normal(0, 0.05, x_data.shape).astype(np.float32)

graph = al.Graph(storage=sys.argv[1] if len(sys.argv) > 1 else "variable")
x = graph.placeholder((None, 1), name="x")
y = graph.placeholder((None, 1), name="y")
slope = graph.variable(al.init.zeros((1, 1)), name="slope")
offset = graph.variable(al.init.zeros((1,)), name="offset")
loss = al.mean(al.losses.mean_squared_error(x @ slope + offset, y))
step = graph.compile(feeds=[x, y], fetches=[loss], updates=al.SGD(0.5).minimize(loss))

for _ in range(100):
    (loss_value,) = step(x=x_data, y=y_data)
print(f"loss {loss_value:.4f}, y = {slope.numpy().item():.2f} x + {offset.numpy().item():.2f}")
