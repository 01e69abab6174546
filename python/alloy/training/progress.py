"""What a training shows while it runs: in a terminal or a notebook a bar for each epoch, and in any case a line after
it."""

import shutil
import sys
import textwrap
import time

import numpy as np


class Progress:
    def __init__(self, shown: bool, epochs: int, first: int, steps: int | None):
        """first: epochs that the trainer had made before. steps: of an epoch, or None where they are not known."""
        self._shown, self._epochs, self._first, self._steps = shown, epochs, first, steps
        self.bars = shown and (sys.stderr.isatty() or _in_notebook())
        self._bar = None

    def begin(self, epoch: int, step: int) -> None:
        """An epoch, counted from 1, at that step."""
        self._title = f"epoch {epoch - self._first:>{len(str(self._epochs))}}/{self._epochs}"
        self._started, self._from = time.monotonic(), step
        if self.bars:
            from tqdm.auto import tqdm

            self._bar = tqdm(
                total=self._steps,
                initial=step,
                desc=self._title,
                leave=False,
                dynamic_ncols=True,
                bar_format="{desc} |{bar:12}| {n_fmt}/{total_fmt} {remaining} left{postfix}",
            )

    def show(self, step: int, values: dict) -> None:
        """The values after so many steps of the epoch."""
        self._step = step
        if self._bar is not None:
            self._bar.set_postfix_str("  ".join(_texts(values)), refresh=False)
            self._bar.update(step - self._bar.n)

    def end(self, values: dict) -> None:
        """The line of an epoch."""
        self.close()
        if self._shown:
            width = shutil.get_terminal_size().columns if self.bars else 10_000
            line = "  ".join([self._title, *(text.replace(" ", "\0") for text in _texts(values))])
            print(textwrap.fill(line, width, subsequent_indent="    ").replace("\0", " "), flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _texts(values):
    """The numbers among the values, with their names."""
    return [f"{name} {_text(value)}" for name, value in values.items() if np.ndim(value) == 0]


def _text(value):
    if isinstance(value, int):
        return str(value)
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3g}"


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
