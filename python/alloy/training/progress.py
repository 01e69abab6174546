"""What a training run shows on the terminal."""

import time
from contextlib import contextmanager


class Progress:
    """A bar for each epoch, with the time of a step, the time left until the last epoch's end, and values."""

    def __init__(self, epochs: int, steps: int, shown: bool):
        """steps: of one epoch."""
        self._epochs, self._steps, self._shown = epochs, steps, shown
        self._started = time.time()
        self._done = 0

    @contextmanager
    def epoch(self, number: int):
        """Around the epoch of that number, from 1, and its validation."""
        from tqdm import tqdm

        with tqdm(
            total=self._steps,
            desc=f"epoch {number}/{self._epochs}",
            disable=not self._shown,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]",
        ) as self._bar:
            self._begun = time.time()
            yield

    def step(self, values: dict[str, float]) -> None:
        """After a step, with the means of the epoch so far."""
        if not self._shown:
            return
        self._done += 1
        now = time.time()
        milliseconds = 1e3 * (now - self._begun) / (self._bar.n + 1)
        left = (now - self._started) / self._done * (self._epochs * self._steps - self._done)
        self._times = f"{milliseconds:.4g} ms/step, {self._bar.format_interval(left)} left"
        self.show(values, refresh=False)
        self._bar.update()

    def show(self, values: dict[str, float], refresh: bool = True) -> None:
        """The values in the place of those before."""
        if self._shown:
            texts = [self._times, *(f"{name}={value:.4f}" for name, value in values.items())]
            self._bar.set_postfix_str(", ".join(texts), refresh)
