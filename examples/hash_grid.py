"""An image as a function of coordinates: the multiresolution hash grid (Mueller et al., 2022), compared with an MLP.

The hash grid keeps features in tables, one for each of several grids from coarse to fine, and interpolates between the
four nodes around a place. If a grid has more nodes than its table has rows, a hash selects a node's row: nodes
that collide share it. The MLP gets the two coordinates, without Fourier features.

It writes fit.png (the image and both results) and error.png (both errors against the seconds of training).

python hash_grid.py --seconds 60 --image flower.jpg"""

import argparse
import importlib.util
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import alloy as al

NODES = np.int32([[0, 0, 1, 1], [0, 1, 0, 1]])  # corners of a cell: y and x
PRIME = np.uint32(2654435761).view(np.int32)  # integers wrap around


class HashGrid(al.nn.Layer):
    """Maps places (n, 2) in [0, 1] to (n, levels * features)."""

    def __init__(self, levels=12, rows=2**14, features=2, coarsest=16, finest=640):
        super().__init__()
        self.features, self.rows = features, rows
        self.cells = np.int32(coarsest * (finest / coarsest) ** (np.arange(levels) / (levels - 1)) + 1e-6)
        self.lengths = np.minimum((self.cells + 1) ** 2, rows)  # of the tables, which follow each other

    def build(self, x):
        shape = int(self.lengths.sum()), self.features
        self.table = self.add_variable(x.graph, "table", lambda seed: al.init.uniform(shape, -1e-4, 1e-4, seed=seed))

    def forward(self, x, training):
        place = al.expand_dims(x, 2) * np.float32(self.cells)  # (n, 2, levels), in cells
        cell = al.floor(place)
        inside, node = al.expand_dims(place - cell, 3), al.expand_dims(al.cast(cell, al.int32), 3)
        weights = [al.where(at == 1, inside[:, i], 1.0 - inside[:, i]) for i, at in enumerate(NODES)]  # (n, levels, 4)
        rows = al.gather(self.table, self.row(*(node[:, i] + at for i, at in enumerate(NODES))))
        found = al.sum(rows * al.expand_dims(weights[0] * weights[1], 3), axis=2)  # (n, levels, features)
        return al.reshape(found, (-1, len(self.cells) * self.features))

    def row(self, y, x):
        """Returns the rows of the table for nodes (n, levels, 4)."""
        counted, hashed = y * (self.cells + 1)[:, None] + x, (x ^ (y * PRIME)) & np.int32(self.rows - 1)
        fits = (self.cells + 1) ** 2 <= self.rows
        first = np.int32(np.cumsum(self.lengths) - self.lengths)
        return al.where(fits[:, None], counted, hashed) + first[:, None]


def hash_grid():
    layers = [al.nn.Dense(32, activation="relu"), al.nn.Dense(32, activation="relu")]
    return al.nn.Sequential(HashGrid(), *layers, al.nn.Dense(3)), al.Adam(1e-2, eps=1e-15)


def mlp():
    return al.nn.Sequential(*(al.nn.Dense(128, activation="relu") for _ in range(4)), al.nn.Dense(3)), al.Adam(3e-3)


def picture(name, step):
    """Reads every step-th pixel of an image, (height, width, 3) in [0, 1]; looks for the file in scikit-learn too."""
    path = Path(name)
    if not path.exists():
        package = importlib.util.find_spec("sklearn").submodule_search_locations[0]
        path = Path(package, "datasets", "images", name)
    return np.float32(plt.imread(path)[::step, ::step, :3]) / 255


def fitted(model, optimizer, data, seconds, batch_size):
    """Returns the seconds and the root mean squared errors after each epoch, and the colours of all places."""
    trainer, taken, history = al.Trainer(model, "mean_squared_error", optimizer), 0.0, []
    while taken < seconds:
        begin = time.perf_counter()
        trainer.fit(data, epochs=1, batch_size=batch_size, progress=False)
        taken += time.perf_counter() - begin
        history.append((taken, trainer.evaluate(data, batch_size=2**14)["loss"] ** 0.5))
    return np.array(history), trainer.predict(data[0], batch_size=2**14)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default="china.jpg", help="a file, or china.jpg or flower.jpg of scikit-learn")
    parser.add_argument("--every", type=int, default=1, help="take one pixel of so many along each axis")
    parser.add_argument("--seconds", type=float, default=30, help="of training, of each of the two")
    parser.add_argument("--batch-size", type=int, default=2**12)
    options = parser.parse_args(arguments)

    image = picture(options.image, options.every)
    places = (np.indices(image.shape[:2]).reshape(2, -1).T + 0.5) / image.shape[:2]
    data = np.float32(places), image.reshape(-1, 3)

    curves, pictures = {}, {"image": image}
    for name, build in (("MLP", mlp), ("hash grid", hash_grid)):
        curves[name], colours = fitted(*build(), data, options.seconds, options.batch_size)
        pictures[name] = np.clip(colours, 0, 1).reshape(image.shape)
        print("{:9} error {:.4f} after {:.1f} s".format(name, *curves[name][-1, ::-1]))
    best = curves["MLP"][np.argmin(curves["MLP"][:, 1])]
    reached = curves["hash grid"][curves["hash grid"][:, 1] <= best[1], 0]
    if len(reached):
        print(f"the MLP's best error {best[1]:.4f}: MLP {best[0]:.1f} s, hash grid {reached[0]:.1f} s")

    figure, axes = plt.subplots(1, 3, figsize=(18, 4.5), layout="constrained")
    for axis, (name, shown) in zip(axes, pictures.items()):
        axis.imshow(shown)
        axis.set(title=name, xticks=[], yticks=[])
    figure.savefig("fit.png")
    figure, axis = plt.subplots(layout="constrained")
    for name, curve in curves.items():
        axis.loglog(*curve.T, label=name)
    axis.set(xlabel="seconds of training", ylabel="root mean squared error")
    axis.legend()
    figure.savefig("error.png")


if __name__ == "__main__":
    main()
