"""Training on arrays that are larger than memory: the files are mapped, and a batch reads only its rows.

First, the program writes the files in parts, as a program that produces data would.

python memory_map.py --examples 100000 --features 256"""

import argparse

import numpy as np

import alloy as al


def write(examples, features):
    """Writes x.npy and y.npy: numbers, and the sum of some of them."""
    rng = np.random.default_rng(0)
    x = np.lib.format.open_memmap("x.npy", "w+", np.float32, (examples, features))
    y = np.lib.format.open_memmap("y.npy", "w+", np.float32, (examples, 1))
    for first in range(0, examples, 10_000):
        part = rng.normal(size=x[first : first + 10_000].shape)
        x[first : first + 10_000], y[first : first + 10_000] = part, part[:, :4].sum(axis=1, keepdims=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args(arguments)

    write(options.examples, options.features)
    data = al.data.from_arrays(np.load("x.npy", mmap_mode="r"), np.load("y.npy", mmap_mode="r"))
    training, test = al.data.split(data, fraction=0.1)  # splitting a data set copies nothing
    trainer = al.Trainer(al.nn.Dense(1), "mean_squared_error", al.Adam(1e-2), metrics=["r2_score"])
    trainer.fit(training.shuffle(seed=0).batch(64), options.epochs, progress=False)
    print(f"test r2 {trainer.evaluate(test.batch(256))['r2_score']:.4f}")


if __name__ == "__main__":
    main()
