"""The losses and metrics of a model's outputs, and their totals over batches."""

import functools
import itertools
import math
import operator
from numbers import Real
from typing import Any

from alloy import losses, metrics
from alloy._core import Graph, Tensor
from alloy.engine.arrays import require_all
from alloy.engine.structure import leaves
from alloy.graph.state import State
from alloy.losses.lookup import name_of
from alloy.losses.reduction import number_of
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.metrics import accumulate, accumulated
from alloy.metrics.metric import sum_over_processes
from alloy.ops import divide_no_nan, where
from alloy.ops.apply import require_tensor


class Measures:
    """loss: a name or a function of the model's whole result; or a dict or list with one for each output. Their sum,
    weighted by loss_weights if given, is minimized. metrics: names, functions and al.metrics.Metric; or a dict or list
    of these for each output."""

    def __init__(self, loss, given=(), loss_weights=None):
        self.loss = loss
        self._losses = {key: losses.get(one, "Trainer") for key, one in _outputs(loss)}
        if not self._losses:
            raise mistake("Trainer", f"Expected one loss or more, got {loss!r}")
        self._weights = dict(_outputs(loss_weights)) if loss_weights is not None else {}
        if loss_weights is not None and self._weights.keys() != self._losses.keys():
            raise mistake("Trainer", f"Expected a weight for each loss, got {loss_weights!r}")
        require_all("Trainer", "numbers as loss_weights", Real, self._weights.values())
        if None in self._weights or not all(math.isfinite(weight) for weight in self._weights.values()):
            raise mistake(
                "Trainer", f"Expected finite loss_weights beside several losses, by their outputs, got {loss_weights!r}"
            )
        self._metrics = {}  # name in the history: (output, metric)
        taken = {"loss", *map(_loss_name, self._losses)}
        for key, some in _outputs(given, of_lists=True):
            beside = self._losses.get(key, loss)
            for one in some:
                metric = metrics.get(one, beside if not isinstance(beside, (dict, list)) else None, "Trainer")
                name = metric.name if key is None else f"{key}_{metric.name}"
                names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
                self._metrics[next(free for free in names if free not in self._metrics and free not in taken)] = (
                    key,
                    metric,
                )

    @property
    def losses(self) -> list:
        """The loss functions of the outputs."""
        return list(self._losses.values())

    @property
    def names(self) -> list[str]:
        """The names of the loss functions and of the metrics."""
        return [*map(name_of, self._losses.values()), *self._metrics]

    def loss_of_each(self, predictions, targets):
        """Returns triples (loss, output, targets) of these structures of tensors or arrays."""
        return [
            (loss, _part(predictions, key, "outputs"), _part(targets, key, "targets"))
            for key, loss in self._losses.items()
        ]

    def greater_is_better(self, name: str) -> bool | None:
        """Returns whether greater values of a quantity in the history are better: False for losses; None: unknown."""
        name = name.removeprefix("val_")
        if name in self._metrics:
            return self._metrics[name][1].greater_is_better
        return False if name == "loss" or name.endswith("_loss") else None

    def sums_of(self, predictions, targets, weights, mask) -> dict:
        """Returns for each output two scalars: the sum of a batch's losses, and the divisor of their mean."""
        found = {}
        for key, (loss, output, target) in zip(self._losses, self.loss_of_each(predictions, targets)):
            value = loss(output, target)
            _require_examples_apart(value, output, target)
            given = _part(weights, key, "weights", optional=True)
            if given is not None:  # a negative weight makes the loss NaN
                given = where(given >= 0, given, math.nan)
            total, count = losses.sums(value, given, mask=mask)
            if getattr(value, "shape", None) == ():  # a batch's mean counts once for each example
                examples = number_of(leaves(predictions)[0], [0])
                total, count = total * examples, count * examples
            found[key] = total, count
        return found

    def losses_of(self, sums: dict) -> dict[str, Tensor]:
        """Returns the scalar "loss" that is minimized and, if it has several parts, each output's "NAME_loss"."""
        means = {key: divide_no_nan(*pair) for key, pair in sums.items()}
        if None in means:
            return {"loss": means[None]}
        weighted = (value * float(self._weights[key]) if self._weights else value for key, value in means.items())
        total = functools.reduce(operator.add, weighted)
        return {"loss": total, **{_loss_name(key): value for key, value in means.items()}}

    # ---- sums of the batches since the last restart, in variables of the graph ----

    def totals(self, graph: Graph, path: str) -> dict[str, State]:
        """Returns a new State for each loss and each metric."""
        return {name: State(graph, f"{path}/{name}") for name in (*map(_loss_name, self._losses), *self._metrics)}

    def add(self, totals: dict[str, State], sums: dict, predictions, targets, mask) -> None:
        """Adds a batch to the totals. sums: from sums_of."""
        for key, (total, count) in sums.items():
            accumulate(totals[_loss_name(key)], "total", total)
            accumulate(totals[_loss_name(key)], "count", count)
        for name, (key, metric) in self._metrics.items():
            metric.update(totals[name], _part(predictions, key, "outputs"), _part(targets, key, "targets"), mask)

    def combine(self, totals: dict[str, State]) -> None:
        """Makes the totals of all processes of each process's own."""
        for name, state in totals.items():
            combine = self._metrics[name][1].combine if name in self._metrics else sum_over_processes
            combine(state)

    def results(self, totals: dict[str, State]) -> dict[str, Tensor]:
        """Returns the values by their names in the history."""
        states = {key: totals[_loss_name(key)] for key in self._losses}
        sums = {key: [accumulated(state, part) for part in ("total", "count")] for key, state in states.items()}
        found = {name: metric.result(totals[name]) for name, (_, metric) in self._metrics.items()}
        for name, value in found.items():
            require_tensor(name, value)
        return self.losses_of(sums) | found


def _loss_name(key) -> str:
    """Returns the name of an output's loss in the history."""
    return "loss" if key is None else f"{key}_loss"


def _require_examples_apart(value, predictions, targets):
    """Raises ValueError if the loss pairs each example with all others: (n,) and (n, 1) broadcast to (n, n)."""
    first = leaves(value)[0]
    if not isinstance(first, Tensor) or not isinstance(predictions, Tensor) or not isinstance(targets, Tensor):
        return
    batch = (predictions.shape or (0,))[0]
    before = set(op.results[0] for op in first.graph.inspect(fetches=[predictions, targets]))
    for op in first.graph.inspect(fetches=[first]):
        shape = op.shapes[0] if op.results[0] not in before else None
        sides: list[Any] = [operand for operand in op.operands if operand.shape]
        if not shape or len(shape) < 2 or len(sides) != 2 or len(op.operands) != 2:
            continue
        low, high = sorted(sides, key=lambda side: len(side.shape))
        across = len(low.shape) == 1 < len(high.shape) == len(shape) and (low.shape[0], high.shape[0]) == (batch, batch)
        if across and shape[-1] == batch and high.shape[-1] == 1:
            raise mistake(
                "Trainer",
                f"Expected a loss of each example by itself, got {op.kind} of {describe(low)} and {describe(high)}, "
                f"which pairs each example with all others; use y[:, None] for a y of shape "
                "(n,), or give targets of shape (n, 1)",
            )


def _outputs(given, of_lists=False) -> list[tuple[Any, Any]]:
    """Returns pairs (output, given value); the output None is the model's whole result."""
    if isinstance(given, dict):
        pairs = given.items()
    elif isinstance(given, (list, tuple)) and (not of_lists or any(isinstance(one, (list, tuple)) for one in given)):
        pairs = enumerate(given)
    else:
        pairs = [(None, given)]
    one = not of_lists
    return [(key, some if one or isinstance(some, (list, tuple)) else [some]) for key, some in pairs]


def _part(structure, key, what, optional=False):
    """Returns the part of the structure that belongs to an output."""
    if key is None or (optional and not isinstance(structure, (dict, list, tuple))):
        return structure
    try:
        return structure[key]
    except (KeyError, IndexError, TypeError):
        known = list(structure) if isinstance(structure, dict) else None
        given = known if known is not None else f"{len(leaves(structure))} of no name"
        raise mistake(
            "Trainer", f"Expected {what} with {key!r}, for which there is a loss or metric, got {given}"
        ) from None
