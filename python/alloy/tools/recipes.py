"""The built-in models of the command, and their default settings."""

import alloy as al


def small_cnn(seed: int = 0, classes: int = 10) -> al.nn.Sequential:
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


MODELS = {"cnn": small_cnn, "resnet18": al.models.resnet18, "resnet50": al.models.resnet50}

_RESIDUAL = {
    # After the few hundred steps of the digits, averages of momentum 0.99 would still remember the beginning.
    "model": {"momentum": 0.97},
    "digits": {"size": 32, "channels": 3},
    "epochs": 15,
    "optimizer": {"name": "adam", "lr": 2e-3},
    "schedule": {"name": "polynomial", "warmup": 0.1, "start_factor": 0.0},
}
# model, digits: options; the others are settings.
RECIPES = {
    "cnn": {"epochs": 30, "optimizer": {"name": "adam", "lr": 2e-3}},
    "resnet18": _RESIDUAL,
    "resnet50": _RESIDUAL,
}
DEFAULTS = {
    "model": {"name": "cnn"},
    "data": {"name": "digits"},
    "loss": {"name": "softmax_cross_entropy"},
    "optimizer": {"name": "adam"},
    "epochs": 10,
    "batch_size": 32,
    "dtype": "float32",
    "seed": 0,
}


def complete(given: dict) -> dict:
    """Adds the missing settings."""
    found = DEFAULTS | given
    recipe = RECIPES.get(found["model"]["name"], {})
    for key in recipe.keys() & {"epochs", "optimizer"}:
        found[key] = given.get(key, recipe[key])
    if "schedule" in recipe and not given.keys() & {"schedule", "optimizer"}:
        found["schedule"] = recipe["schedule"]
    found["model"] = {"name": found["model"]["name"], **recipe.get("model", {}), **found["model"]}
    if found["data"]["name"] == "digits":
        found["data"] = {"name": "digits", **recipe.get("digits", {}), **found["data"]}
    if found["loss"]["name"] == "softmax_cross_entropy":
        found.setdefault("metrics", [{"name": "accuracy"}])
    return found
