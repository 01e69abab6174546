"""A sweep of learning rates, in several processes side by side.

Processes are started by spawn, each computes with one thread, and a function of the module builds the model, so
no part of a graph passes from one process to another.

python sweep.py --processes 4"""

import argparse
import multiprocessing
import os

import alloy as al


def accuracy(lr, epochs):
    """Returns the accuracy of a training with this rate."""
    training, test = al.data.split(*al.data.digits())
    model = al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(32, activation="relu"), al.nn.Dense(10))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(lr), metrics=["accuracy"])
    trainer.fit(training, epochs, progress=False)
    return trainer.evaluate(test)["accuracy"]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rates", type=float, nargs="+", default=[1e-4, 1e-3, 1e-2, 1e-1])
    options = parser.parse_args(arguments)

    os.environ["OMP_NUM_THREADS"] = "1"  # inherited by the processes
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        found = pool.starmap(accuracy, [(lr, options.epochs) for lr in options.rates])
    for lr, value in zip(options.rates, found):
        print(f"rate {lr:g}  test accuracy {value:.3f}")


if __name__ == "__main__":
    main()
