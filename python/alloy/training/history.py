"""What a training run has measured."""

import contextlib
import os
import sys
from pathlib import Path


class History(dict):
    """For each quantity ("loss", "accuracy", "val_loss", ...) its values, one for each epoch."""

    def add(self, values: dict[str, float]) -> None:
        for name, value in values.items():
            self.setdefault(name, []).append(value)

    def plot(self, path) -> None:
        """Writes an image with one panel for each quantity, of training and validation. The suffix gives the
        format."""
        _import_matplotlib()
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        quantities = [name for name in self if not name.startswith("val_")]
        figure = Figure(figsize=(5 * max(len(quantities), 1), 3.6), layout="constrained")
        for i, quantity in enumerate(quantities):
            axes = figure.add_subplot(1, len(quantities), i + 1, xlabel="epoch", title=quantity)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.grid(alpha=0.3)
            for name, label in ((quantity, "training"), (f"val_{quantity}", "validation")):
                if name in self:
                    axes.plot(range(1, len(self[name]) + 1), self[name], marker=".", label=label)
            axes.legend()
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)


def _import_matplotlib():
    """Also where MPLBACKEND names a backend that does not exist: a figure in a file needs none."""
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
