"""The run of `alloy train` without a file: a small convolutional network, and handwritten digits."""

import alloy as al

SETTINGS = {
    "model": "alloy.tools.demo:cnn",
    "data": "alloy.tools.demo:digits",
    "loss": "softmax_cross_entropy",
    "metrics": ["accuracy"],
    "optimizer": "adam",
    "lr": 2e-3,
    "epochs": 30,
}


def cnn(seed: int = 0, classes: int = 10) -> al.nn.Sequential:
    """Makes a small convolutional network for images of 8x8 pixels and more."""
    return al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same"),
        al.nn.ReLU(),
        al.nn.Conv2D(32, 3, padding="same"),
        al.nn.ReLU(),
        al.nn.MaxPool2D(),
        al.nn.Flatten(),
        al.nn.Dense(64),
        al.nn.ReLU(),
        al.nn.Dense(classes),
        seed=seed,
    )


def digits(size: int = 8, channels: int = 1):
    """Returns the digits for training, and a fifth of them for validation."""
    return al.data.split(*al.data.digits(size, channels))
