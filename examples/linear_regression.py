"""Fits a line to noisy points, using a graph directly: one executable runs forward, backward and update.

python linear_regression.py --storage buffers"""

import argparse

import numpy as np

import alloy as al


def points(count, seed):
    """Returns points around y = 3 x - 0.5."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (count, 1)).astype(np.float32)
    return x, 3 * x - 0.5 + rng.normal(0, 0.05, x.shape).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--storage", default="variable", choices=["variable", "buffers"], help="of slope and offset")
    options = parser.parse_args(arguments)
    x_data, y_data = points(options.points, options.seed)

    # Each run feeds the placeholders; None is an extent that may differ from run to run.
    graph = al.Graph(storage=options.storage)
    x = graph.placeholder((None, 1), name="x")
    y = graph.placeholder((None, 1), name="y")

    # A variable is stored on the device. Computing with tensors only describes the step.
    slope = graph.variable(al.init.zeros((1, 1)), name="slope")
    offset = graph.variable(al.init.zeros((1,)), name="offset")
    loss = al.mean(al.square(x @ slope + offset - y))

    # compile() compiles it, with the gradients and the optimizer's updates. Each call is one dispatch.
    step = graph.compile(feeds=[x, y], fetches=[loss], updates=al.SGD(0.5).minimize(loss))
    for _ in range(options.steps):
        (error,) = step(x_data, y_data)

    print(f"loss {error:.4f}, y = {slope.numpy().item():.2f} x + {offset.numpy().item():.2f}")


if __name__ == "__main__":
    main()
