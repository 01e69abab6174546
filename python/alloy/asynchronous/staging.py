"""Memory for the feeds of steps in flight."""

from typing import Any

import numpy as np

from alloy._core import Submission, as_shape
from alloy.engine.arrays import empty
from alloy.messages.location import mistake


class Staging:
    """Sets of arrays that take turns (Executable.staging): one is filled while steps in flight read the others in
    place.

        staging = step.staging((32, 64), (32,))
        for rows in batches:
            x, y = staging.arrays()             # free memory; waits for the step that read it last
            np.take(images, rows, 0, out=x)
            np.take(labels, rows, 0, out=y)
            result = staging.submit(x, y)       # reads x and y until it is done: do not write them"""

    def __init__(self, step, shapes):
        shapes = known_shapes("staging", step, shapes)
        self._step = step
        turns = step.graph.most_in_flight + 1
        self._sets = [[empty(shape, feed.dtype) for shape, feed in zip(shapes, step.feeds)] for _ in range(turns)]
        self._readers: list[Submission | None] = [None] * turns
        self._turn = 0

    def arrays(self) -> list[np.ndarray]:
        """Returns an array for each feed, with undefined contents, that no step reads any more."""
        self._turn = (self._turn + 1) % len(self._sets)
        if (reader := self._readers[self._turn]) is not None:
            reader.wait()
        return list(self._sets[self._turn])

    def submit(self, *arrays) -> Submission:
        """Starts the step on the arrays that arrays() returned last, or on their beginnings."""
        for array, mine in zip(arrays, self._sets[self._turn]):
            if not isinstance(array, np.ndarray) or not np.may_share_memory(array, mine):
                raise mistake("staging", "Expected the arrays that arrays() gave last, or parts of them")
        self._readers[self._turn] = submission = self._step._submit(True, None, *arrays)
        return submission


def known_shapes(op: str, step, feeds) -> list[Any]:
    """Returns the shapes of the step's feeds, by default of its placeholders. feeds: arrays or their shapes, in order.
    ValueError: a shape is not known in full."""
    shapes: list[Any] = [as_shape(getattr(feed, "shape", feed), op) for feed in feeds or step.feeds]
    if len(shapes) != len(step.feeds) or any(shape is None or None in shape for shape in shapes):
        raise mistake(op, f"Expected the known shapes of {len(step.feeds)} feeds, got {shapes}")
    return shapes
