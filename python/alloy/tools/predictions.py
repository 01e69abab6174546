"""What a model says of examples, as a table of comma-separated values."""

import csv

import numpy as np

_CLASSES = ("softmax_cross_entropy", "categorical_hinge")


def write(file, settings: dict, labels: list, values: np.ndarray) -> None:
    """A row for each label: of classes the likeliest one and the probability of each, otherwise what the model gives.
    values: of the model, one row for each label."""
    loss, classes = settings["loss"]["name"], settings.get("classes")
    values = np.float64(values).reshape(len(labels), -1)
    writer = csv.writer(file, lineterminator="\n")
    if loss in _CLASSES:
        named = isinstance(classes, list) and len(classes) == values.shape[1]
        names = classes if named else [str(i) for i in range(values.shape[1])]
        exponentials = np.exp(values - values.max(1, keepdims=True))
        shares = exponentials / exponentials.sum(1, keepdims=True)
        writer.writerow(["example", "class", *names])
        for label, row in zip(labels, shares):
            writer.writerow([label, names[row.argmax()], *(f"{share:.6g}" for share in row)])
        return
    if loss == "binary_cross_entropy":
        values = 1 / (1 + np.exp(-values))
    writer.writerow(["example", *(f"{_WHAT.get(loss, 'value')}_{i}" for i in range(values.shape[1]))])
    for label, row in zip(labels, values):
        writer.writerow([label, *(f"{value:.6g}" for value in row)])


_WHAT = {"binary_cross_entropy": "probability"}
