"""Examples to predict for, from files or a function, and predictions as a table of comma-separated values."""

import csv
import io
import os

import numpy as np

import alloy as al
from alloy.data.files import existing
from alloy.tools import run
from alloy.tools.packages import array


def rows(source: str) -> np.ndarray:
    """Returns the examples of an .npy, .npz or .csv file, or of FILE.py:FUNCTION."""
    if run.is_function(source):
        return np.asarray(run.function(source)())
    path, suffix = existing("predict", source), os.path.splitext(source)[1].lower()
    if suffix == ".csv":
        return al.data.csv(path).x
    if suffix == ".npy":
        return array("predict", path)
    if suffix != ".npz":
        raise ValueError(f"[predict] Expected an .npy, .npz or .csv file, or FILE.py:FUNCTION, got {path}.")
    arrays = al.data.npz(path)
    if "x" not in arrays and len(arrays) != 1:
        raise ValueError(f"[predict] Expected an array 'x' in {path}, got {', '.join(arrays)}.")
    return arrays["x"] if "x" in arrays else next(iter(arrays.values()))


def table(loss, labels: list, values: np.ndarray) -> str:
    """Returns CSV text with a row for each label: the likeliest class and the classes' probabilities, or the model's
    numbers. values: (labels, ...), the model's outputs. ValueError: an example's output has more than one axis."""
    values = np.asarray(values, np.float64)
    if values.ndim > 2:
        shape = f"(n, columns), got {values.shape}"
        raise ValueError(f"[predict] Expected a model that gives {shape}; Trainer.predict gives arrays.")
    values = values.reshape(len(labels), -1)
    if loss == "binary_cross_entropy":
        values = (1 + np.tanh(values / 2)) / 2
        if values.shape[1] == 1:  # of the second of two classes
            values, loss = np.hstack([1 - values, values]), "classes"
    elif loss in ("softmax_cross_entropy", "categorical_hinge"):
        powers = np.exp(values - values.max(1, keepdims=True))
        values, loss = powers / powers.sum(1, keepdims=True), "classes"
    columns = range(values.shape[1])
    what = "probability" if loss == "binary_cross_entropy" else "value"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["example", *(["class", *columns] if loss == "classes" else [f"{what}_{i}" for i in columns])])
    for label, row in zip(labels, values):
        chosen = [row.argmax()] if loss == "classes" else []
        writer.writerow([label, *chosen, *(f"{value:.6g}" for value in row)])
    return text.getvalue()
