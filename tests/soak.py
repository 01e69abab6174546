"""Trains for 100,000 steps and requires that memory stays within 2 MB: python tests/soak.py [--steps N]

Eight threads train: one by a Trainer with a checkpoint every 1,000 steps, one with 500 batch sizes, one that makes 200
graphs and drops them, five with a graph of their own. The first half fills caches; the greatest resident memory of the
second half counts against it. glibc keeps memory for each thread, which says nothing of Alloy: all get theirs from one
place, and what is free is given back before memory is read."""

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import threading
import time

import numpy as np

import alloy as al

THREADS, SHAPES, GRAPHS, MOST_GROWTH = 8, 500, 200, 2 * 2**20


def resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def made():
    """Returns a step of a small network, which takes any batch."""
    graph = al.Graph()
    x, y = graph.placeholder((None, 16)), graph.placeholder((None,), "int32")
    model = al.nn.Sequential(al.nn.Dense(32, activation="tanh"), al.nn.Dense(4))
    loss = al.mean(al.losses.softmax_cross_entropy(model(x), y))
    return graph.compile([x, y], [loss], updates=al.Adam(1e-3).minimize(loss))


def batch(size):
    rng = np.random.default_rng(size)
    return rng.normal(size=(size, 16)).astype(np.float32), rng.integers(0, 4, size).astype(np.int32)


def train(steps, folder):
    x, y = batch(8000)
    model = al.nn.Sequential(al.nn.Dense(32, activation="tanh"), al.nn.Dense(4))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(1e-3))
    keeps = al.Checkpoint(os.path.join(folder, "soak.safetensors"), every_steps=1000)
    trainer.fit((x, y), max(1, steps // 1000), 8, callbacks=[keeps], progress=False)


def change_shapes(steps):
    step = made()
    fed = [batch(1 + size) for size in range(SHAPES)]
    for i in range(steps):
        step(*fed[i % SHAPES])


def change_graphs(steps):
    for _ in range(GRAPHS):
        step, fed = made(), batch(8)
        for _ in range(steps // GRAPHS):
            step(*fed)


def repeat(steps):
    step, fed = made(), batch(8)
    for _ in range(steps):
        step(*fed)


def all_of(steps, folder) -> None:
    """Makes so many steps in the threads."""
    each = steps // THREADS
    works = [lambda: train(each, folder), lambda: change_shapes(each), lambda: change_graphs(each)]
    works += [lambda: repeat(each)] * (THREADS - len(works))
    failed = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit(f"{len(failed)} threads failed")


def main():
    parser = argparse.ArgumentParser(description="Trains for long and watches memory.")
    parser.add_argument("--steps", type=int, default=100_000)
    steps, began, seen = parser.parse_args().steps, time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        for part in range(10):
            all_of(steps // 10, folder)
            seen.append(resident())
            print(f"{(part + 1) * steps // 10:>9,} steps {seen[-1] / 2**20:8.1f} MiB", flush=True)
    growth = max(seen[5:]) - max(seen[:5])
    print(
        f"{time.monotonic() - began:.0f} s; the second half needed {max(0, growth) / 2**20:.2f} MiB more than the first"
    )
    sys.exit(growth > MOST_GROWTH)


if __name__ == "__main__":
    if os.environ.get("MALLOC_ARENA_MAX") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"MALLOC_ARENA_MAX": "1"})
    main()
