"""Reads the feeds of an exported executable from files, and writes its results to files."""

import io
import os
import zipfile

import numpy as np

import alloy as al
from alloy.data.files import existing, sentence
from alloy.messages.location import meant
from alloy.messages.text import describe, type_text
from alloy.training.checkpoint import replace_file


def inputs(executable: al.LoadedExecutable, given: list[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of the feeds by name, for texts FILE and NAME=FILE: an .npy file, or an .npz file, whose
    arrays are named like the feeds. A file without a name goes to the first free feed. ValueError: a feed is missing,
    given twice, or unknown; a file is none of these."""
    names, found = [feed.name for feed in executable.feeds], {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or os.path.exists(text):
            name, path = None, text
        for key, value in _read(path, name, names, found):
            if key not in names:
                raise _mistake(f"Expected an input among {_listed(executable)}, got {key!r}{meant(key, names)}")
            if key in found:
                raise _mistake(f"Expected each input once, got {key!r} twice, the second time in {path}")
            found[key] = value
    missing = [repr(name) for name in names if name not in found]
    if missing:
        raise _mistake(f"Expected files for {_listed(executable)}, got none for {', '.join(missing)}")
    return found


def array(op: str, path) -> np.ndarray:
    """Reads an .npy file. ValueError: it is damaged, or holds something else; op: the message begins with it."""
    try:
        return np.load(path, allow_pickle=False)
    except Exception as error:  # damaged files raise many kinds
        raise ValueError(f"[{op}] Expected an array in {path}, which cannot be read: {sentence(error)}.") from None


def _mistake(said):
    return ValueError(f"[run] {said}.")


def _listed(executable):
    return ", ".join(f"{feed.name!r} {describe(feed)}" for feed in executable.feeds) or "no inputs"


def _read(path, name, names, found):
    """Returns pairs of a feed and its array."""
    existing("run", path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in (".npy", ".npz"):
        raise _mistake(f"Expected an .npy or .npz file, got {path}")
    free = [each for each in names if each not in found]
    if suffix == ".npy":
        if name is None and not free:
            raise _mistake(f"Expected {len(names)} input{'s' * (len(names) != 1)}, got one more: {path}")
        return [(free[0] if name is None else name, array("run", path))]
    arrays = al.data.npz(path)
    if name is None:
        return list(zip(names, arrays.values())) if len(arrays) == len(names) == 1 else list(arrays.items())
    if len(arrays) != 1 and name not in arrays:
        raise _mistake(f"Expected one array or {name!r} in {path}, got {', '.join(arrays) or 'none'}")
    return [(name, arrays.get(name, next(iter(arrays.values()), None)))]


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
