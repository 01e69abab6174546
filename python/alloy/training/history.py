"""The measured values of a training run."""

import contextlib
import io
import math
import os
import sys
from pathlib import Path

import numpy as np

from alloy.messages.location import meant, mistake
from alloy.messages.notebook import Picture, in_notebook
from alloy.training.files import said_of


class Measured(dict):
    """Measured values by name."""

    def __missing__(self, name):
        near = meant(name, self) if isinstance(name, str) else ""
        raise mistake("history", f"Expected a quantity among {', '.join(self) or 'none'}, got {name!r}{near}", KeyError)

    def __format__(self, form):
        if form == "":
            return str(self)
        raise mistake("history", f"Expected one quantity, got all of {', '.join(self)}; [name] takes one", TypeError)


class History(Measured):
    """The values of each quantity ("loss", "accuracy", "val_loss", ...), one for each epoch."""

    def add(self, values: dict[str, float]) -> None:
        for name, value in values.items():
            self.setdefault(name, []).append(value)

    def plot(self, path=None):
        """Writes an image with one panel for each quantity, of training and validation. The suffix gives the format.
        Values that are not finite leave a gap, and arrays are left out. Without a path it gives the image to a
        notebook: `history.plot()` at the end of a cell.

        ValueError: there are no numbers to plot, matplotlib does not know the suffix, or there is no path outside of a
        notebook."""
        drawn = {name: values for name, values in self.items() if values and not any(map(np.ndim, values))}
        names = list(dict.fromkeys(name.removeprefix("val_") for name in drawn))
        if not names:
            raise mistake("plot", "Expected a history with numbers to plot, got none; fit gives one for each epoch")
        columns = len(names) if len(names) <= 3 else 2 if len(names) == 4 else min(4, math.ceil(math.sqrt(len(names))))
        rows = math.ceil(len(names) / columns)

        def draw(figure):
            for i, name in enumerate(names):
                axes = figure.add_subplot(rows, columns, i + 1)
                _panel(axes, name, drawn)
                if i + columns >= len(names):
                    axes.set_xlabel("epoch")
                if i == 0 and any(f"val_{name}" in drawn for name in names):
                    axes.legend()

        return save_figure((max(4 * columns, 5), 3 * rows), draw, path, "history.plot")


def save_figure(size, draw, path, typed: str):
    """Writes an image of that size in inches, which draw(figure) draws; without a path, gives it to a notebook. typed:
    the called method."""
    if path is None and not in_notebook():
        raise mistake("plot", f'Expected a path, as {typed}("{typed.split(".")[0]}.png"), got none')
    _import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    if path is None:
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=80)
        return Picture("image/png", content.getvalue())
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with said_of(path):
        figure.savefig(path, dpi=120)
    return None


def _panel(axes, name, drawn):
    """Draws one quantity."""
    from matplotlib.ticker import MaxNLocator

    axes.set_title(name)
    axes.grid(alpha=0.3)
    longest = 1
    for series, label, colour in ((name, "training", "C0"), (f"val_{name}", "validation", "C1")):
        if series in drawn:
            values = np.array(drawn[series], np.float64)
            values[~np.isfinite(values)] = np.nan
            longest = max(longest, len(values))
            axes.plot(
                range(1, len(values) + 1), values, marker="." if len(values) < 50 else "", color=colour, label=label
            )
            if np.isnan(values).all():
                axes.set_title(f"{name} (no finite value of the {label})")
    axes.set_xlim(*((0.5, 1.5) if longest == 1 else (1 - 0.02 * longest, longest * 1.02)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _import_matplotlib():
    """Imports matplotlib, even if MPLBACKEND names a backend that does not exist: a figure in a file needs none."""
    if "matplotlib" in sys.modules:
        return
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = backend
