"""The executables of a training: the step, the evaluation and the prediction, over the variables of one graph."""

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from alloy._core import OPTIMIZER, Update
from alloy.distributed import all_reduce
from alloy.engine.dtypes import is_float, is_half
from alloy.engine.scope import free_path, scope
from alloy.engine.structure import convert, leaves, paths, rebuild
from alloy.graph import Executable, Graph, Tensor, Variable
from alloy.graph.state import State
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import form_of
from alloy.nn.settings import calling
from alloy.ops import cast, clamp, gather, is_finite, logical_and, where
from alloy.ops.apply import Applied, recorded
from alloy.training.batches import Parts
from alloy.training.history import Measured
from alloy.training.measures import Measures

_MOST_CLASSES = 2**24  # in a table of weights
_BUILDING = threading.RLock()  # two trainers, or threads that predict, may build in one graph


class Programs:
    """Makes each program at its first use, once for each form of the batches (Parts)."""

    def __init__(
        self,
        model,
        measures: Measures,
        optimizer,
        dtype: str,
        precision: str | None,
        check_finite: bool,
        rank: int = 0,
        ranks: int = 1,
        sync_batch_norm: bool = False,
    ):
        """Makes nothing yet. dtype: the type of the model's float inputs. precision: that of the graph; None takes any.
        check_finite: a loss that is not finite ends the training, unless the optimizer skips such steps. rank, ranks:
        this process's number, and the number of processes that train together."""
        self.model, self.measures, self._optimizer = model, measures, optimizer
        self.dtype, self._precision = dtype, precision
        self._rank, self.ranks, self._synchronized = rank, ranks, sync_batch_norm
        self.skips = bool(getattr(optimizer, "skip_nonfinite", False) or getattr(optimizer, "loss_scale", None))
        self.stops = check_finite and not self.skips
        self._graph: Graph | None = None
        self._placeholders: dict[tuple, Tensor] = {}
        self._made: dict[tuple, Any] = {}  # by key: see _once

    def _once(self, *key, make: Callable):
        """Returns the result of make() for the key, which it calls at the first use. Threads take turns. An exception
        undoes changes of the states."""
        with _BUILDING:
            if key not in self._made:
                try:
                    self._made[key] = make()
                except BaseException:
                    for state in self._states():
                        state.forget()
                    raise
            return self._made[key]

    @property
    def graph(self) -> Graph:
        """The graph of the model or of its layers that have been called, else a new one."""
        if self._graph is None:
            known = (layer.graph for layer in self.model._tree() if layer.graph is not None)
            graph = next(known, None) or Graph(precision=self._precision or "float32")
            if self._precision not in (None, graph.precision):
                raise mistake(
                    "Trainer",
                    f'Expected the precision "{graph.precision}" of the graph in which the model was called, got '
                    f'"{self._precision}"',
                )
            self._graph = graph
        return self._graph

    @property
    def begun(self) -> bool:
        """True once a program was built."""
        return ("progress",) in self._made

    @property
    def progress(self) -> State:
        """The epoch's steps, the epochs, and whether all losses were finite; needs `begun`."""
        return self._made["progress",]

    @property
    def lasting(self) -> list[Variable]:
        """The variables that a resumed training needs: all of the graph but the totals of evaluations."""
        return [
            variable for variable in self.graph.variables if not re.match(r"metrics(_\d+)?/evaluation/", variable.name)
        ]

    @property
    def shared(self) -> list[Variable]:
        """The variables that are the same in all processes: all lasting ones but the totals."""
        return [variable for variable in self.lasting if not re.match(r"metrics(_\d+)?/", variable.name)]

    def step(self, parts: Parts, class_weight: dict | None = None, together: int | None = None) -> Executable:
        """Returns a training step, which adds its losses and metrics to the totals. together: the number of steps in
        one run, with their batches along a new first axis."""
        self._build(parts)
        weight_of = None if class_weight is None else _weights_of_classes(class_weight)
        trainable = self._trainable()
        key = "step", parts, form_of(self.model), weight_of, trainable
        feeds, updates = self._once(*key, make=lambda: self._step(parts, weight_of, trainable))
        return self._once(*key, together, make=lambda: self.graph.compile(feeds, [], updates, steps=together))

    def evaluation(self, parts: Parts) -> Executable:
        """Returns a program that adds a batch to the evaluation's totals."""
        self._build(parts)
        return self._once("evaluation", parts, form_of(self.model), make=lambda: self._evaluation(parts))

    def _evaluation(self, parts):
        x, y, weights, mask = self._tensors(parts)
        predictions, totals = self.outputs(parts), self._totals("evaluation")
        sums = self.measures.sums_of(predictions, y, weights, mask)
        self._require_known(total for total, _ in sums.values())
        self.measures.add(totals, sums, predictions, y, mask)
        return self.graph.compile(self._feeds(parts), [], _updates(totals))

    def prediction(self, parts: Parts) -> Executable:
        """Returns a program that fetches the leaves of the model's result."""
        parts = Parts(parts.x)
        self._build(parts)
        return self._once("prediction", parts, form_of(self.model), make=lambda: self._prediction(parts))

    def _prediction(self, parts):
        predictions = leaves(self.outputs(parts))
        self._require_known(predictions)
        for tensor in predictions:
            if tensor.shape is not None and tensor.shape[:1] != (None,):
                expected = f"outputs with a row for each example, got {describe(tensor)}"
                raise mistake("predict", f"Expected {expected}; give it out while training only")
        return self.graph.compile(self._feeds(parts), predictions)

    def inference(self, parts: Parts | None) -> Executable:
        """Returns a prediction with named fetches. parts: the examples' form; None: the last prediction's."""
        given = self._known(parts)
        prediction = self.prediction(given)
        with _BUILDING:
            fetches = [
                self.graph.apply("identity", [tensor], {}, name, tensor.location)[0]
                for name, tensor in zip(paths(self.outputs(given), "output"), prediction.fetches)
            ]
            return self.graph.compile(prediction.feeds, fetches)

    def _known(self, parts: Parts | None) -> Parts:
        """Returns the examples' form; for None the last prediction's."""
        known = [key[1] for key in self._made if key[0] == "outputs"]
        if parts is None and not known:
            raise mistake("export", "Expected a model that has seen examples; call fit, or give some")
        return known[-1] if parts is None else parts

    def recorded(self, parts: Parts | None) -> tuple[Any, Any, list[Applied]]:
        """Returns placeholders of the examples, the model's result for them in inference, and the ops that it applied.
        parts: as in inference."""
        given = Parts(self._known(parts).x)
        self.outputs(given)  # makes the variables
        with _BUILDING, recorded() as applied:
            x = self._tensors(given)[0]
            return x, self._called(x), applied

    def outputs(self, parts: Parts):
        """Returns the model's result in inference: tensors in their structure."""
        with _BUILDING:
            x = Parts(parts.x)
            if ("outputs", x, form_of(self.model)) not in self._made:
                found = self._called(self._tensors(x)[0])
                self._made["outputs", x, form_of(self.model)] = found  # the call may have changed the form
            return self._made["outputs", x, form_of(self.model)]

    def examples(self, parts: Parts):
        """Returns the examples' placeholders in their structure."""
        return self._tensors(parts)[0]

    def _report(self, kind: str, own: bool = False) -> tuple[list[str], Executable]:
        """Returns the names of the totals, and a program that fetches the epoch's steps, whether their losses were
        finite, and the totals. own: those of this process alone."""

        def make():
            totals = self._totals(kind)
            if self.ranks > 1 and not own:
                self.measures.combine(totals)
            found = self.measures.results(totals)
            for state in totals.values():
                state.forget()
            fetches = [self.progress["steps"], self.progress["sound"], *found.values()]
            return list(found), self.graph.compile([], fetches)

        return self._once("report", kind, own or self.ranks == 1, make=make)

    def read(self, kind: str, own: bool = False) -> tuple[int, bool, Measured]:
        """Returns the epoch's steps, whether their losses were finite, and the values of kind "training" or
        "evaluation": over all processes, which all call it; or this process's own."""
        names, executable = self._report(kind, own)
        steps, sound, *values = executable()
        numbers = (value.item() if value.ndim == 0 else value for value in values)
        return int(steps), bool(sound), Measured(zip(names, numbers))

    def quantities(self, validated: bool) -> dict[str, bool]:
        """Returns the names that an epoch adds to the history, and whether each is a number."""
        names, executable = self._report("training")
        found = {name: value.shape in ((), None) for name, value in zip(names, executable.fetches[2:])}
        validation = {f"val_{name}": number for name, number in found.items()} if validated else {}
        return found | ({"skipped_steps": True} if self.skips else {}) | validation

    def end_epoch(self) -> None:
        """Begins the next epoch and restarts the totals."""

        def make():
            state = self.progress
            state["steps"], state["epoch"] = 0, state["epoch"] + 1
            return self.graph.compile([], [], [*state.updates(), *self._restarts("training")])

        self._once("end of epoch", make=make)()

    def restart(self, kind: str) -> None:
        """Restarts the totals of "training" or "evaluation"."""
        self._once("restart", kind, make=lambda: self.graph.compile([], [], self._restarts(kind)))()

    def swap(self) -> Executable:
        """Returns a program that exchanges the trainable variables' values with their averages."""
        trainable = self._trainable()
        return self._once("swap", trainable, make=lambda: self.graph.compile([], [], self._optimizer.swap(trainable)))

    def loss(self, parts: Parts) -> tuple[list[Tensor], Tensor]:
        """Returns the feeds and the training step's loss, of this process's examples, to look for the cause of one that
        is not finite."""
        with _BUILDING:
            x, y, weights, mask = self._tensors(parts)
            predictions = self._called(x, training=True, mask=mask, exchanges=False)
            sums = self.measures.sums_of(predictions, y, weights, mask)
            return self._feeds(parts), self.measures.losses_of(sums)["loss"]

    # ---- building ----

    def _build(self, parts: Parts) -> None:
        """Builds the model's variables, of layers added later as well, and the progress."""
        self.outputs(parts)  # before any variable of the training, so that the model's come first
        self._once("progress", make=self._progress)

    def _progress(self) -> State:
        state = State(self.graph, free_path(self.graph, "training", ""))  # another trainer may have the first path
        for name, start in (("epoch", 0), ("steps", 0), ("sound", True)):
            state.setdefault(name, start)
        return state

    def _trainable(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.model.variables if variable.trainable)

    def _step(self, parts, weight_of, trainable):
        """Returns (feeds, updates)."""
        x, y, weights, mask = self._tensors(parts)
        predictions = self._called(x, training=True, mask=mask)
        weights = _weighted_by_class(weight_of, predictions, y, weights)
        sums = self.measures.sums_of(predictions, y, weights, mask)
        loss, totals = self.measures.losses_of(sums)["loss"], self._totals("training")
        state, taken = self.progress, None
        self._require_known([loss])
        minimized = loss
        if self.ranks > 1:  # this process's share of the mean over all examples; the optimizer takes the mean
            counts = all_reduce([count for _, count in sums.values()])
            shares = {key: (total, count) for (key, (total, _)), count in zip(sums.items(), counts)}
            share = self.measures.losses_of(shares)["loss"]
            loss, minimized = all_reduce(share), share * float(self.ranks)
        if not trainable:
            count = len(self.model.variables)
            given = f"{count} variables, none of which is trainable" if count else "none"
            raise mistake("fit", f"Expected a model with variables to train, got {given}")
        if self.stops or self.skips:
            with scope(self.graph, OPTIMIZER):
                taken = is_finite(loss)  # before the gradients, so that no update waits for it
                if self.stops:
                    taken = logical_and(state["sound"], taken)
        moved, others = self._optimizer.minimize(minimized, list(trainable)), self._averaged(self.model.updates)
        self.measures.add(totals, sums, predictions, y, mask)
        if self.stops and taken is not None:  # an optimizer that skips such steps holds its own updates back
            state["steps"] = state["steps"] + cast(taken, "int32")
            state["sound"] = taken
            moved = [self._held_back(update, taken) for update in moved]
        else:
            state["steps"] = state["steps"] + 1
        if taken is not None:
            others = [self._held_back(update, taken) for update in others]
        return self._feeds(parts), [*moved, *others, *_updates(totals, taken), *state.updates()]

    def _averaged(self, updates: list[Update]) -> list[Update]:
        """Returns the updates; variables of floats, such as moving averages, get the mean over all processes."""
        others = [update for update in updates if not is_float(update.variable.dtype)]
        floats = [update for update in updates if is_float(update.variable.dtype)]
        if self.ranks == 1 or not floats:
            return updates
        totals = all_reduce([update.value for update in floats])
        return others + [
            self.graph.assign(update.variable, total * (1.0 / self.ranks)) for update, total in zip(floats, totals)
        ]

    def _held_back(self, update: Update, taken: Tensor) -> Update:
        """Returns the update; where `taken` is false, the variable keeps its value."""
        variable, value = update.variable, update.value
        kept = self.graph.apply("select", [taken, value, variable], {}, value.name, value.location)
        return self.graph.assign(variable, *kept)

    def _tensors(self, parts: Parts):
        """Returns placeholders in the structures of x, y, weights and mask; None for a part that is missing."""
        return [
            None if part is None else rebuild(part, self._placeholders_of(what, part))
            for what, part in zip(("x", "y", "weights", "mask"), parts)
        ]

    def _feeds(self, parts: Parts) -> list[Tensor]:
        return [tensor for part in self._tensors(parts) if part is not None for tensor in leaves(part)]

    def _placeholders_of(self, what, structure):
        for path, spec in zip(paths(structure, what), leaves(structure)):
            if (path, spec) not in self._placeholders:
                taken = any(known == path for known, _ in self._placeholders)
                name = f"{path}_{len(self._placeholders)}" if taken else path
                self._placeholders[path, spec] = self.graph.placeholder(spec.shape, spec.dtype, name)
            yield self._placeholders[path, spec]

    def _called(self, x, training=False, mask=None, exchanges=True):
        """Returns the model's result for x, computed in the training's type. mask: the examples that count. exchanges:
        False for a program that one process may run alone."""
        if is_half(self.dtype):
            x = convert(lambda tensor: cast(tensor, self.dtype) if is_float(tensor.dtype) else tensor, x)
        rank = self._rank if training and self.ranks > 1 else None
        with calling(self.dtype, mask, rank, self._synchronized and training and exchanges):
            return self.model(x, training=training)

    def _totals(self, kind: str) -> dict[str, State]:
        root = self.progress.path.replace("training", "metrics")
        return self._once("totals", kind, make=lambda: self.measures.totals(self.graph, f"{root}/{kind}"))

    def _restarts(self, kind: str) -> list[Update]:
        return [update for state in self._totals(kind).values() for update in state.restarts()]

    def _states(self) -> list[State]:
        totals = [state for key, made in self._made.items() if key[0] == "totals" for state in made.values()]
        return [*totals, self.progress] if self.begun else totals

    def _require_known(self, fetches) -> None:
        """Raises ValueError for a trainable variable that the model does not know: it would not be trained."""
        known = set(self.model.variables)
        for op in self.graph.inspect(fetches=list(fetches)):
            for variable in op.results if op.kind == "variable" else ():
                if isinstance(variable, Variable) and variable.trainable and variable not in known:
                    raise mistake(
                        "fit",
                        f"Expected variables that the model knows, got {variable!r} of "
                        f"{variable.location}; make it in the layer's build (add_variable), keep it or its "
                        "layer in an attribute, or set its trainable to False",
                    )


def _updates(totals, taken=None) -> list[Update]:
    return [update for state in totals.values() for update in state.updates(taken)]


def _weights_of_classes(class_weight) -> tuple[tuple[int, float], ...]:
    """Returns pairs (class, weight) in order."""
    given = class_weight if isinstance(class_weight, Mapping) else {}
    sound = all(
        isinstance(one, (int, np.integer))
        and 0 <= one < _MOST_CLASSES
        and isinstance(weight, (int, float, np.integer, np.floating))
        and not isinstance(one, bool)
        and not isinstance(weight, bool)
        and 0 <= weight <= float(np.finfo(np.float32).max)
        for one, weight in given.items()
    )
    if not given or not sound:
        raise mistake(
            "fit",
            "Expected class_weight as {class: weight}, a dict of classes from 0 on and numbers of 0 or more, got "
            f"{class_weight!r}",
        )
    return tuple(sorted((int(one), float(weight)) for one, weight in given.items()))


def _weighted_by_class(weight_of, predictions, y, weights):
    """Returns the examples' weights times their classes' weights."""
    if weight_of is None:
        return weights
    if not isinstance(y, Tensor) or not y.dtype.startswith(("int", "uint")):
        raise mistake("fit", "Expected classes as integers (n,) as the only targets beside class_weight")
    greatest = weight_of[-1][0]
    scores = predictions.shape[-1] if isinstance(predictions, Tensor) and predictions.shape else None
    if scores is not None and greatest >= max(scores, 2):  # one score tells two classes apart
        raise mistake("fit", f"Expected class_weight for classes of {scores} scores, got {greatest}")
    table = np.ones(greatest + 1, np.float32)
    table[[one for one, _ in weight_of]] = [weight for _, weight in weight_of]
    of_each = gather(y.graph.constant(table), clamp(cast(y, "int32"), 0, greatest))
    # Classes beyond the table have weight 1; so have wrong labels, whose loss must show.
    of_each = where(logical_and(y >= 0, y <= greatest), of_each, 1.0)
    return of_each if weights is None else weights * of_each
