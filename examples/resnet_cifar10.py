"""Trains the residual network for CIFAR-10 of He et al. (2015, section 4.2) on the files of the data set.

The program downloads nothing: unpack the "binary version" of CIFAR-10 yourself. DIRECTORY holds data_batch_1.bin to
data_batch_5.bin and test_batch.bin.

python resnet_cifar10.py DIRECTORY                      20 layers
python resnet_cifar10.py DIRECTORY --blocks 9           56 layers
python resnet_cifar10.py DIRECTORY --dtype bfloat16     activations of 16 bits"""

import argparse

import numpy as np

import alloy as al


def convolution(filters, stride=1):
    """Returns a convolution without a bias, which the batch norm would cancel."""
    return al.nn.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False, init=al.init.he_normal)


def block(filters, stride, changes):
    """Two convolutions with a shortcut, which is the identity unless the shape changes."""
    branch = al.nn.Sequential(
        convolution(filters, stride), al.nn.BatchNorm(momentum=0.9), al.nn.ReLU(), convolution(filters),
        al.nn.BatchNorm(momentum=0.9),
    )  # fmt: skip
    shortcut = al.nn.Conv2D(filters, 1, strides=stride, use_bias=False) if changes else None
    return [al.nn.Residual(branch, shortcut), al.nn.ReLU()]


def resnet(blocks, width, seed):
    """Returns 6 * blocks + 2 layers: three stages; each doubles the channels and halves height and width."""
    layers = [convolution(width), al.nn.BatchNorm(momentum=0.9), al.nn.ReLU()]
    for stage in range(3):
        for i in range(blocks):
            first = stage > 0 and i == 0
            layers += block(width * 2**stage, 2 if first else 1, changes=first)
    return al.nn.Sequential(*layers, al.nn.GlobalAvgPool(), al.nn.Dense(10), seed=seed)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="where the files of CIFAR-10 are")
    parser.add_argument("--blocks", type=int, default=3, help="residual blocks in each of the three stages")
    parser.add_argument("--width", type=int, default=16, help="channels of the first stage")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.2, help="the greatest learning rate")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"], help="of the activations")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    # uint8 takes a quarter of the memory of float32; each batch is cast to floats.
    training, test = al.data.cifar10(options.directory, dtype=np.uint8)
    augment = al.data.augment
    normalize = augment.normalize(*augment.mean_and_std(training[0]))
    batches = al.data.from_arrays(*training).shuffle(seed=options.seed).batch(options.batch_size, last="drop")
    batches = batches.map(augment.random_crop(padding=4), seed=1).map(augment.random_flip(), seed=2).map(normalize)
    test = al.data.from_arrays(*test).batch(options.batch_size).map(normalize)

    optimizer = al.SGD(
        al.schedules.one_cycle(options.lr, options.epochs * len(batches)),
        momentum=0.9,
        nesterov=True,
        weight_decay=5e-4,
        groups={lambda variable: len(variable.shape) < 2: {"weight_decay": 0.0}},  # biases and norms
    )
    model = resnet(options.blocks, options.width, options.seed)
    trainer = al.Trainer(model, "softmax_cross_entropy", optimizer, metrics=["accuracy"], dtype=options.dtype)
    trainer.fit(batches, options.epochs, validation=test)
    print(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f}")


if __name__ == "__main__":
    main()
