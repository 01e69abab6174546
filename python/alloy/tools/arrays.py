"""Arrays in files: what the commands give a model to compute with, and what they write of its results."""

import csv
import io
import os
import zipfile

import numpy as np

import alloy as al
from alloy.data.files import existing, sentence
from alloy.messages.location import meant
from alloy.messages.text import describe, type_text
from alloy.training.files import replace_file


def only(op: str, path: str, name: str) -> np.ndarray:
    """Returns the array of that name in a file, or its only one. op: the messages of errors begin with it."""
    arrays = _read(op, path)
    if name not in arrays and len(arrays) != 1:
        raise ValueError(f"[{op}] Expected one array or {name!r} in {path}, got {', '.join(arrays) or 'none'}.")
    return arrays[name] if name in arrays else next(iter(arrays.values()))


def _read(op, path) -> dict[str, np.ndarray]:
    """Returns the arrays of an .npz file by name, or that of an .npy or .csv file by the name ""."""
    existing(op, path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".npz":
        return al.data.npz(path)
    if suffix == ".csv":
        return {"": al.data.csv(path).x}
    if suffix != ".npy":
        raise ValueError(f"[{op}] Expected an .npy, .npz or .csv file, got {path}.")
    try:
        return {"": np.load(path, allow_pickle=False)}
    except Exception as error:  # damaged files raise many kinds
        raise ValueError(f"[{op}] Expected an array in {path}, which cannot be read: {sentence(error)}.") from None


# ---- of an exported model ----


def inputs(executable: al.LoadedExecutable, given: list[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of the feeds by name, for texts FILE and NAME=FILE. A single array without a name goes to the
    first free feed. ValueError: a feed is missing, given twice, or unknown; a file cannot be read."""
    names, found = [feed.name for feed in executable.feeds], {}
    listed = ", ".join(f"{feed.name!r} {describe(feed)}" for feed in executable.feeds) or "no inputs"
    for text in given:
        name, equals, path = text.partition("=")
        if equals and not os.path.exists(text):
            arrays = {name: only("run", path, name)}
        else:
            path, arrays = text, _read("run", text)
            if "" in arrays or len(arrays) == len(names) == 1:
                free = [each for each in names if each not in found]
                if not free:
                    raise _mistake(f"Expected {len(names)} input{'s' * (len(names) != 1)}, got one more: {path}")
                arrays = dict(zip(free, arrays.values()))
        for key, value in arrays.items():
            if key not in names:
                raise _mistake(f"Expected an input among {listed}, got {key!r}{meant(key, names)}")
            if key in found:
                raise _mistake(f"Expected each input once, got {key!r} twice, the second time in {path}")
            found[key] = value
    missing = [repr(name) for name in names if name not in found]
    if missing:
        raise _mistake(f"Expected files for {listed}, got none for {', '.join(missing)}")
    return found


def _mistake(said):
    return ValueError(f"[run] {said}.")


def require_place(path: str, count: int) -> None:
    """Raises a ValueError if no file of that many results can have that name or place."""
    suffix, folder = os.path.splitext(path)[1].lower(), os.path.dirname(os.path.abspath(path))
    if suffix not in (".npy", ".npz") or suffix == ".npy" and count != 1:
        expected = "an .npy or .npz file" if count == 1 else f"an .npz file for {count} results"
        raise _mistake(f"Expected {expected} to write, got {path}")
    if not os.path.isdir(folder):
        raise _mistake(f"Expected a directory to write into, got {folder}, which is not there")


def write(path: str, named: dict[str, np.ndarray]) -> None:
    """Writes the results as a file of arrays, which appears complete or not at all; bfloat16, which such files lack, as
    float32."""
    named = {
        name: result.astype(np.float32) if result.dtype.name == "bfloat16" else result for name, result in named.items()
    }
    content = io.BytesIO()
    if path.lower().endswith(".npy"):
        (result,) = named.values()
        np.save(content, result)
    else:
        with zipfile.ZipFile(content, "w") as archive:  # np.savez takes no array called file
            for name, result in named.items():
                with archive.open(f"{name}.npy", "w") as member:
                    np.save(member, result)
    replace_file(path, content.getvalue())


def named(executable: al.LoadedExecutable, results: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the results by name; an empty or repeated name gets the result's number."""
    out = {}
    for i, (fetch, result) in enumerate(zip(executable.fetches, results)):
        out[fetch.name if fetch.name and fetch.name not in out else f"{fetch.name or 'result'}_{i}"] = result
    return out


def ports(executable: al.LoadedExecutable) -> str:
    """Returns a line for each input and output."""
    of_each = [("input", executable.feeds), ("output", executable.fetches)]
    return "\n".join(f"{what:<8}{port.name:<16} {describe(port)}".rstrip() for what, some in of_each for port in some)


def text(results: dict[str, np.ndarray]) -> str:
    """Returns the results for people, each below its name."""
    shown = []
    for name, result in results.items():
        shown.append(f"{name} {type_text(result.dtype.name, result.shape)}")
        shown.append(np.array2string(result, threshold=400, max_line_width=80))
    return "\n".join(shown)


# ---- of a run's model ----


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
