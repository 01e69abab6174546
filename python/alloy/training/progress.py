"""The display of a running training: a bar for each epoch in a terminal or a notebook, and a line on the standard
output after each epoch. The bar goes to the standard error, in a notebook to the standard output: there the two are
boxes below each other, and the empty box of a finished bar would stay."""

import os
import sys
import textwrap

import numpy as np

from alloy.messages.notebook import in_notebook

_UNLIMITED = 10_000  # columns if the output is a file


class Progress:
    def __init__(self, shown: bool, epochs: int, first: int, steps: int | None):
        """Begins the display. first: the epochs that the trainer had made before. steps: the steps of an epoch, or None
        if not known."""
        self._shown, self._epochs, self._first, self._steps = shown, epochs, first, steps
        self._file = sys.stdout if in_notebook() else sys.stderr  # for the bar
        self.bars = shown and _is_screen(self._file)
        self._bar = None

    def begin(self, epoch: int, step: int) -> None:
        """Begins an epoch, counted from 1, at that step."""
        self._title = f"epoch {epoch - self._first:>{len(str(self._epochs))}}/{self._epochs}"
        if self.bars:
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._steps,
                initial=step,
                leave=False,
                dynamic_ncols=True,
                file=self._file,
                bar_format=f"{self._title}  {self._counter(step)}",
            )

    def show(self, step: int, values: dict) -> None:
        """Shows the values after that many steps of the epoch, as many as fit into one line."""
        if self._bar is None:
            return
        counter, texts = self._counter(step), [text.replace("{", "{{").replace("}", "}}") for text in _texts(values)]
        left = "{remaining} left" if self._steps is not None else "{elapsed}"
        bar = "|{bar:10}|" if self._steps is not None else ""
        widths = {left: 10, bar: 12}
        room = _columns(self._file) - len(self._title) - len(counter) - 3
        chosen = []
        for part in filter(None, [*texts[:1], left, *texts[1:2], bar, *texts[2:]]):  # the first ones matter most
            width = widths.get(part, len(part)) + 2
            if width > room:
                break
            room -= width
            chosen.append(part)
        text = "  ".join(
            part for part in (self._title, bar, counter, left, *texts) if part in (self._title, counter, *chosen)
        )
        self._bar.bar_format = text
        self._bar.update(step - self._bar.n)
        self._bar.refresh()

    def end(self, values: dict) -> None:
        """Prints the line of an epoch; if it does not fit into a terminal, two: for training and validation."""
        self.close()
        if not self._shown:
            return
        texts, width = _texts(values), _columns(sys.stdout)
        groups = [texts]
        if len("  ".join([self._title, *texts])) > width:
            validation = [text.startswith("val_") for text in texts]
            groups = [[text for text, of in zip(texts, validation) if of is part] for part in (False, True)]
        indent = " " * (len(self._title) + 2 if width >= 40 else 2)
        for start, group in zip([self._title, ""], groups):
            if group or start:
                line = "  ".join(text.replace(" ", "\0") for text in [start, *group] if text)
                filled = textwrap.fill(
                    line,
                    width,
                    initial_indent="" if start else indent,
                    subsequent_indent=indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                print(filled.replace("\0", " "), flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _counter(self, step):
        if self._steps is None:
            return f"{step} steps"
        return f"{step:>{len(str(self._steps))}}/{self._steps}"


def _texts(values):
    """Returns "NAME value" for each number among the values."""
    return [f"{name} {_text(value)}" for name, value in values.items() if np.ndim(value) == 0]


def _text(value):
    if isinstance(value, int):
        return str(value)
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3g}"


def _is_screen(file) -> bool:
    """Tells whether a terminal or a notebook shows the file while it is written."""
    return file is not None and file.isatty() or in_notebook()


def _columns(file) -> int:
    if not _is_screen(file):
        return _UNLIMITED
    try:
        return os.get_terminal_size(file.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        import shutil  # seldom needed

        return shutil.get_terminal_size().columns
