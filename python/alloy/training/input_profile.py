"""The time to load batches beside the steps that read them."""

import time
from dataclasses import dataclass

from alloy.data import Dataset
from alloy.engine.structure import leaves
from alloy.graph import Executable
from alloy.training.batches import Feed


@dataclass(frozen=True, repr=False)
class InputProfile:
    """Mean times of a batch in seconds."""

    batches: int
    load: float  # to load a batch, with nothing beside it
    step: float  # to compute a step on a loaded batch
    both: float  # to do both, as fit does
    waited: float  # the part of `both` in which the training waited for a batch

    def __repr__(self):
        greater = max(self.load, self.step)
        return (
            f"{1e3 * self.load:.3f} ms to load a batch, {1e3 * self.step:.3f} ms for a step, {1e3 * self.both:.3f} ms "
            f"for both together ({self.both / greater:.2f} of the greater one), of which {1e3 * self.waited:.3f} ms "
            f"are waiting for input; means of {self.batches} batches"
        )


def measured_input(data: Dataset, step: Executable, ahead: int) -> InputProfile:
    arrays = leaves(next(data.epoch(0)))
    step(*arrays)  # compiled
    count = 0
    before = time.perf_counter()
    for load in data.loads(1):
        load()
        count += 1
    load = (time.perf_counter() - before) / count
    before = time.perf_counter()
    for _ in range(count):
        step(*arrays)
    computing = (time.perf_counter() - before) / count
    feed = Feed(data, step, ahead)
    before = time.perf_counter()
    for _ in feed.turns(2):
        pass
    return InputProfile(count, load, computing, (time.perf_counter() - before) / count, feed.waited / count)
