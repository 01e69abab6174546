"""Measures how far loading batches and computing steps overlap, if loading waits as long as a step computes.

    python benchmarks/input.py

Prints for each kind of loader the time of a batch, of a step, and of both as Trainer.fit does them, and how that
compares with the greater of the two."""

import statistics
import time

import numpy as np

import alloy as al

BATCH, BATCHES, ROUNDS = 64, 40, 5


def main():
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCH * BATCHES, 1024)).astype(np.float32)
    y = random.integers(0, 10, len(x)).astype(np.int32)
    layers = [layer for _ in range(4) for layer in (al.nn.Dense(1024), al.nn.ReLU())]
    trainer = al.Trainer(al.nn.Sequential(*layers, al.nn.Dense(10)), "softmax_cross_entropy", al.Adam(1e-4))
    trainer.fit((x, y), 1, BATCH, progress=False)
    arrays = al.data.from_arrays(x, y)
    pause = trainer.profile_input(arrays.batch(BATCH), batches=BATCHES).step

    def batch_waits(x, y):
        time.sleep(pause)
        return x, y

    def example_waits(x, y):
        time.sleep(pause / BATCH)
        return x, y

    def stream():
        for first in range(0, len(x), BATCH):
            time.sleep(pause)
            yield x[first : first + BATCH], y[first : first + BATCH]

    loaders = {
        "arrays": arrays.batch(BATCH),
        "a function that waits for each batch": arrays.batch(BATCH).map(batch_waits),
        "one that waits for each example, 4 workers": arrays.map(example_waits).batch(BATCH, workers=4),
        "an iterator that waits for each batch": al.data.from_iterator(stream, batched=True),
    }
    print(f"{'':44}{'batch':>10}{'step':>10}{'both':>10}  both / greater")
    for name, data in loaders.items():
        found = [trainer.profile_input(data, batches=BATCHES) for _ in range(ROUNDS)]
        load, step, both = (statistics.median(getattr(one, part) for one in found) for part in ("load", "step", "both"))
        ratio = statistics.median(one.both / max(one.load, one.step) for one in found)
        print(f"{name:44}{1e3 * load:7.2f} ms{1e3 * step:7.2f} ms{1e3 * both:7.2f} ms{ratio:12.2f}")


if __name__ == "__main__":
    main()
