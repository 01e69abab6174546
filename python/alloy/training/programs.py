"""The executables of a training: the step, the evaluation and the prediction, over the variables of one graph."""

import functools
import re
import threading
import weakref
from collections.abc import Mapping

import numpy as np

from alloy._core import OPTIMIZER, Update
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
from alloy.training.batches import Parts
from alloy.training.history import Measured
from alloy.training.measures import Measures

_MOST_CLASSES = 2**24  # in a table of weights
_LOCKS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # by the model, which may have several trainers


def _one_at_a_time(method):
    """Lets threads take turns, so that each program is made once. An exception undoes changes of the states."""

    @functools.wraps(method)
    def locked(self, *args, **options):
        with _LOCKS.setdefault(self.model, threading.RLock()):
            try:
                return method(self, *args, **options)
            except BaseException:
                for state in self._states():
                    state.forget()
                raise

    return locked


class Programs:
    """Makes each program at its first use, once for each form of the batches (Parts)."""

    def __init__(self, model, measures: Measures, optimizer, dtype: str, check_finite: bool):
        """Makes nothing yet. dtype: the type of the model's float inputs. check_finite: a loss that is not finite ends
        the training, unless the optimizer skips such steps."""
        self.model, self._measures, self._optimizer = model, measures, optimizer
        self._dtype = dtype
        self.skips = bool(getattr(optimizer, "skip_nonfinite", False) or getattr(optimizer, "loss_scale", None))
        self.stops = check_finite and not self.skips
        self._graph: Graph | None = None
        self._metrics = "metrics"  # the prefix of the totals' names
        self._progress: State | None = None
        self._placeholders: dict[tuple, Tensor] = {}
        self._form: tuple = ()  # the model's form_of at the last build
        self._predicted: dict[tuple, object] = {}
        self._totals: dict[str, dict[str, State]] = {}
        self._requests: dict[tuple, tuple] = {}
        self._made: dict[tuple, Executable] = {}
        self._reports: dict[str, tuple[list[str], Executable]] = {}

    @property
    def graph(self) -> Graph:
        """The graph of the model or of its layers that have been called, else a new one."""
        if self._graph is None:
            known = (layer.graph for layer in self.model._tree() if layer.graph is not None)
            self._graph = next(known, None) or Graph()
        return self._graph

    @property
    def begun(self) -> bool:
        """True once a program was built."""
        return self._progress is not None

    @property
    def progress(self) -> State:
        """The epoch's steps, the epochs, and whether all losses were finite; needs `begun`."""
        assert self._progress is not None
        return self._progress

    @property
    def lasting(self) -> list[Variable]:
        """The variables that a resumed training needs: all of the graph but the totals of evaluations."""
        return [
            variable for variable in self.graph.variables if not re.match(r"metrics(_\d+)?/evaluation/", variable.name)
        ]

    @_one_at_a_time
    def step(self, parts: Parts, class_weight: dict | None = None, together: int | None = None) -> Executable:
        """Returns a training step, which adds its losses and metrics to the totals. together: the number of steps in
        one run, with their batches along a new first axis."""
        self._build(parts)
        weight_of = None if class_weight is None else _weights_of_classes(class_weight)
        trainable = tuple(variable for variable in self.model.variables if variable.trainable)
        key = "step", parts, self._form, weight_of, trainable
        if key not in self._requests:
            self._requests[key] = self._step(parts, weight_of, trainable)
        if (*key, together) not in self._made:
            feeds, updates = self._requests[key]
            self._made[(*key, together)] = self.graph.compile(feeds, [], updates, steps=together)
        return self._made[(*key, together)]

    @_one_at_a_time
    def evaluation(self, parts: Parts) -> Executable:
        """Returns a program that adds a batch to the evaluation's totals."""
        self._build(parts)
        key = "evaluation", parts, self._form
        if key not in self._made:
            x, y, weights, mask = self._tensors(parts)
            predictions = self._predictions(parts)
            sums = self._measures.sums_of(predictions, y, weights, mask)
            self._require_known(total for total, _ in sums.values())
            totals = self._totals_of("evaluation")
            self._measures.add(totals, sums, predictions, y, mask)
            self._made[key] = self.graph.compile(self._feeds(parts), [], _updates(totals))
        return self._made[key]

    @_one_at_a_time
    def prediction(self, parts: Parts) -> Executable:
        """Returns a program that fetches the leaves of the model's result."""
        parts = Parts(parts.x)
        self._build(parts)
        key = "prediction", parts, self._form
        if key not in self._made:
            predictions = leaves(self._predictions(parts))
            self._require_known(predictions)
            for tensor in predictions:
                if tensor.shape is not None and tensor.shape[:1] != (None,):
                    raise mistake(
                        "predict",
                        f"Expected outputs with a row for each example, got {describe(tensor)}; give it out while "
                        "training only",
                    )
            self._made[key] = self.graph.compile(self._feeds(parts), predictions)
        return self._made[key]

    @_one_at_a_time
    def inference(self, parts: Parts | None) -> Executable:
        """Returns a prediction with named fetches. parts: the examples' form; None: the last prediction's."""
        if parts is None and not self._predicted:
            raise mistake("export", "Expected a model that has seen examples; call fit, or give some")
        given: Parts = list(self._predicted)[-1][0] if parts is None else parts
        prediction = self.prediction(given)
        names = paths(self._predictions(given), "output")
        fetches = [
            self.graph.apply("identity", [tensor], {}, name, tensor.location)[0]
            for name, tensor in zip(names, prediction.fetches)
        ]
        return self.graph.compile(prediction.feeds, fetches)

    @_one_at_a_time
    def outputs(self, parts: Parts):
        """Returns the model's result in inference: tensors in their structure."""
        return self._predictions(parts)

    @_one_at_a_time
    def examples(self, parts: Parts):
        """Returns the examples' placeholders in their structure."""
        return self._tensors(parts)[0]

    @_one_at_a_time
    def _report(self, kind: str) -> tuple[list[str], Executable]:
        """Returns the names of the totals, and a program that fetches the epoch's steps, whether their losses were
        finite, and the totals."""
        if kind not in self._reports:
            found = self._measures.results(self._totals_of(kind))
            fetches = [self.progress["steps"], self.progress["sound"], *found.values()]
            self._reports[kind] = list(found), self.graph.compile([], fetches)
        return self._reports[kind]

    def read(self, kind: str) -> tuple[int, bool, Measured]:
        """Returns the epoch's steps, whether their losses were finite, and the values of kind "training" or
        "evaluation"."""
        names, executable = self._report(kind)
        steps, sound, *values = executable()
        numbers = (value.item() if value.ndim == 0 else value for value in values)
        return int(steps), bool(sound), Measured(zip(names, numbers))

    def quantities(self, validated: bool) -> dict[str, bool]:
        """Returns the names that an epoch adds to the history, and whether each is a number."""
        names, executable = self._report("training")
        found = {name: value.shape in ((), None) for name, value in zip(names, executable.fetches[2:])}
        validation = {f"val_{name}": number for name, number in found.items()} if validated else {}
        return found | ({"skipped_steps": True} if self.skips else {}) | validation

    @_one_at_a_time
    def end_epoch(self) -> None:
        """Begins the next epoch and restarts the totals."""
        if ("end of epoch",) not in self._made:
            state = self.progress
            state["steps"], state["epoch"] = 0, state["epoch"] + 1
            updates = [*state.updates(), *self._restarts("training")]
            self._made["end of epoch",] = self.graph.compile([], [], updates)
        self._made["end of epoch",]()

    @_one_at_a_time
    def restart(self, kind: str) -> None:
        """Restarts the totals of "training" or "evaluation"."""
        if ("restart", kind) not in self._made:
            self._made["restart", kind] = self.graph.compile([], [], self._restarts(kind))
        self._made["restart", kind]()

    @_one_at_a_time
    def swap(self) -> Executable:
        """Returns a program that exchanges the trainable variables' values with their averages."""
        trainable = tuple(variable for variable in self.model.variables if variable.trainable)
        if ("swap", trainable) not in self._made:
            self._made["swap", trainable] = self.graph.compile([], [], self._optimizer.swap(trainable))
        return self._made["swap", trainable]

    @_one_at_a_time
    def loss(self, parts: Parts) -> tuple[list[Tensor], Tensor]:
        """Returns the feeds and the training step's loss, to look for the cause of one that is not finite."""
        x, y, weights, mask = self._tensors(parts)
        predictions = self._called(x, training=True, mask=mask)
        sums = self._measures.sums_of(predictions, y, weights, mask)
        return self._feeds(parts), self._measures.losses_of(sums)["loss"]

    # ---- building ----

    def _build(self, parts: Parts) -> None:
        """Builds the model's variables, of layers added later as well, and the progress."""
        self._form = form_of(self.model)
        self._predictions(parts)  # before any variable of the training, so that the model's come first
        if not self.begun:
            root = free_path(self.graph, "training", "")  # another trainer of the model may have the first one
            self._metrics = root.replace("training", "metrics")
            self._progress = State(self.graph, root)
            for name, start in (("epoch", 0), ("steps", 0), ("sound", True)):
                self._progress.setdefault(name, start)

    def _step(self, parts, weight_of, trainable):
        """Returns (feeds, updates)."""
        x, y, weights, mask = self._tensors(parts)
        predictions = self._called(x, training=True, mask=mask)
        weights = _weighted_by_class(weight_of, predictions, y, weights)
        sums = self._measures.sums_of(predictions, y, weights, mask)
        loss, totals = self._measures.losses_of(sums)["loss"], self._totals_of("training")
        state, taken = self.progress, None
        self._require_known([loss])
        if not trainable:
            count = len(self.model.variables)
            given = f"{count} variables, none of which is trainable" if count else "none"
            raise mistake("fit", f"Expected a model with variables to train, got {given}")
        if self.stops or self.skips:
            with scope(self.graph, OPTIMIZER):
                taken = is_finite(loss)  # before the gradients, so that no update waits for it
                if self.stops:
                    taken = logical_and(state["sound"], taken)
        moved, others = self._optimizer.minimize(loss, list(trainable)), self.model.updates
        self._measures.add(totals, sums, predictions, y, mask)
        if self.stops and taken is not None:  # an optimizer that skips such steps holds its own updates back
            state["steps"] = state["steps"] + cast(taken, "int32")
            state["sound"] = taken
            moved = [self._held_back(update, taken) for update in moved]
        else:
            state["steps"] = state["steps"] + 1
        if taken is not None:
            others = [self._held_back(update, taken) for update in others]
        return self._feeds(parts), [*moved, *others, *_updates(totals, taken), *state.updates()]

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

    def _called(self, x, training=False, mask=None):
        """Returns the model's result for x, computed in the training's type. mask: the examples that count."""
        if is_half(self._dtype):
            x = convert(lambda tensor: cast(tensor, self._dtype) if is_float(tensor.dtype) else tensor, x)
        with calling(self._dtype, mask):
            return self.model(x, training=training)

    def _predictions(self, parts: Parts):
        x = Parts(parts.x)
        found = self._predicted.get((x, self._form))
        if found is None:
            found = self._called(self._tensors(x)[0])
            self._form = form_of(self.model)  # the call may have changed it
            self._predicted[x, self._form] = found
        return found

    def _totals_of(self, kind: str) -> dict[str, State]:
        if kind not in self._totals:
            self._totals[kind] = self._measures.totals(self.graph, f"{self._metrics}/{kind}")
        return self._totals[kind]

    def _restarts(self, kind: str) -> list[Update]:
        return [update for state in self._totals_of(kind).values() for update in state.restarts()]

    def _states(self) -> list[State]:
        totals = [state for some in self._totals.values() for state in some.values()]
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
