"""Measures the time of a model's steps on this machine."""

import time

import numpy as np

import alloy as al
from alloy.engine.structure import leaves
from alloy.messages.text import table
from alloy.training.batches import as_dataset, parts_of

_LEAST = 5  # runs


def measured(trainer: al.Trainer, batch, seconds: float) -> str:
    """Returns a table of a training step and of inference on the batch. Each runs for that many seconds, one after the
    other, after runs that do not count. A run ends when its results are there."""
    count = len(leaves(batch)[0])
    data = as_dataset("bench", batch, count)
    parts, arrays = parts_of("bench", data), [_placed(array) for array in leaves(next(data.epoch(0)))]
    inputs = arrays[: len(leaves(parts.x))]
    rows = [("", "steps/s", "examples/s", "median", "quartiles", "runs")]
    for what, step, feeds in (
        ("training", trainer._programs.step(parts), arrays),
        ("inference", trainer._programs.prediction(parts), inputs),
    ):
        low, median, high, runs = _times(lambda: step(*feeds), seconds)  # noqa: B023
        quartiles = f"{_milliseconds(low)} to {_milliseconds(high)}"
        rate, examples = (
            f"{number / median:,.3g}" if number / median < 100 else f"{number / median:,.0f}" for number in (1, count)
        )
        rows.append((what, rate, examples, _milliseconds(median), quartiles, f"{runs:,}"))
    return "\n".join(table(rows, numbers=(1, 2, 3, 4, 5), indent=0))


def _placed(array):
    placed = al.empty(array.shape, str(array.dtype))
    placed[...] = array
    return placed


def _times(run, seconds):
    """Returns (lower quartile, median, upper quartile, number of runs), after two runs and a tenth of the time."""
    times: list[float] = []
    for limit in (seconds / 10, seconds):
        times.clear()
        started = time.perf_counter()
        while len(times) < _LEAST or time.perf_counter() - started < limit:
            before = time.perf_counter()
            run()
            times.append(time.perf_counter() - before)
    return *np.quantile(times, [0.25, 0.5, 0.75]).tolist(), len(times)


def _milliseconds(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.1 else f"{1e3 * seconds:,.0f} ms"
