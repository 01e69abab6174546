"""Predictions of a model as a table of comma-separated values."""

import csv
import io

import numpy as np

from alloy.tools.config import mistake

_CLASSES = ("softmax_cross_entropy", "categorical_hinge")


def table(settings: dict, labels: list, values: np.ndarray) -> str:
    """Returns CSV text with a row for each label: the likeliest class and the classes' probabilities, or the model's
    numbers. values: (labels, ...), the model's outputs. ValueError: an example's output has more than one axis."""
    loss, classes = settings["loss"]["name"], settings.get("classes")
    values = np.asarray(values, np.float64)
    columns = 1 if values.ndim == 1 else values.shape[1]
    if values.ndim > 2:
        raise mistake(f"Expected a model that gives (n, columns), got {values.shape}; Trainer.predict gives arrays")
    values = values.reshape(len(labels), columns)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if loss in _CLASSES or loss == "binary_cross_entropy" and columns == 1:
        count = max(columns, 2)
        names = classes if isinstance(classes, list) and len(classes) == count else [str(i) for i in range(count)]
        shares = _shares(values if loss in _CLASSES else np.hstack([np.zeros_like(values), values]))
        writer.writerow(["example", "class", *names])
        for label, row in zip(labels, shares):
            writer.writerow([label, names[row.argmax()], *(f"{share:.6g}" for share in row)])
        return text.getvalue()
    values, what = (
        ((1 + np.tanh(values / 2)) / 2, "probability") if loss == "binary_cross_entropy" else (values, "value")
    )
    writer.writerow(["example", *(f"{what}_{i}" for i in range(columns))])
    for label, row in zip(labels, values):
        writer.writerow([label, *(f"{value:.6g}" for value in row)])
    return text.getvalue()


def _shares(logits):
    exponentials = np.exp(logits - logits.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)
