"""Trains a small convolutional network on 1,797 handwritten digits in several processes.

alloy launch -n 4 distributed.py   four processes, each with a quarter of every batch
python distributed.py              one process, with the same result but for rounding"""

import argparse

import alloy as al


def network():
    return al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same", activation="relu"),
        al.nn.MaxPool2D(),
        al.nn.Conv2D(32, 3, padding="same", activation="relu"),
        al.nn.Flatten(),
        al.nn.Dense(10),
        seed=0,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=60, help="examples of all processes in a step")
    options = parser.parse_args(arguments)

    training, test = al.data.split(*al.data.digits())  # the same arrays in each process
    model = network()
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(2e-3), metrics=["accuracy"], distributed=True)
    trainer.fit(training, options.epochs, options.batch_size)
    accuracy = trainer.evaluate(test)["accuracy"]  # all processes share the work, and all get the result
    if al.distributed.rank() == 0:
        al.save(model, "runs/distributed.safetensors")
        print(f"test accuracy {accuracy:.4f}, processes {al.distributed.size()}")


if __name__ == "__main__":
    main()
