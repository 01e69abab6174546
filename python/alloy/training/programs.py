"""What is compiled of a model, its measures and its optimizer: the training step, the evaluation and the prediction,
over the variables of one graph."""

import functools
import re
import threading
import weakref
from collections.abc import Mapping

import numpy as np

from alloy._core import OPTIMIZER, Update
from alloy.graph import Executable, Graph, Tensor, Variable
from alloy.graph.dtypes import is_float, is_half
from alloy.graph.location import mistake
from alloy.graph.scope import free_path, scope
from alloy.graph.state import State
from alloy.graph.structure import convert, leaves, paths, rebuild
from alloy.graph.text import describe
from alloy.nn.layer import form_of
from alloy.nn.padding import counting
from alloy.nn.precision import computing_in
from alloy.ops import cast, clamp, gather, is_finite, logical_and, where
from alloy.training.batches import Parts
from alloy.training.history import Measured
from alloy.training.measures import Measures

_MOST_CLASSES = 2**24  # for which there is a table of weights
_LOCKS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # by the model, which may have several trainers


def _one_at_a_time(method):
    """Threads take turns: what is made first is made once. What an exception leaves half made is forgotten."""

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
    """Everything is made when it is first needed, once for each form of the batches (Parts)."""

    def __init__(self, model, measures: Measures, optimizer, dtype: str, check_finite: bool):
        """dtype: that the model is given floats in. check_finite: whether a loss that is not finite ends the training;
        one whose optimizer skips such steps goes on."""
        self.model, self._measures, self._optimizer = model, measures, optimizer
        self._dtype = dtype
        self.skips = bool(getattr(optimizer, "skip_nonfinite", False) or getattr(optimizer, "loss_scale", None))
        self.stops = check_finite and not self.skips
        self._graph: Graph | None = None
        self._metrics = "metrics"  # what the names of the totals begin with
        self._progress: State | None = None
        self._placeholders: dict[tuple, Tensor] = {}
        self._form: tuple = ()  # of the model, when something was last built or asked for
        self._predicted: dict[tuple, object] = {}
        self._totals: dict[str, dict[str, State]] = {}
        self._requests: dict[tuple, tuple] = {}
        self._made: dict[tuple, Executable] = {}
        self._reports: dict[str, tuple[list[str], Executable]] = {}

    @property
    def graph(self) -> Graph:
        """The model's, or that of layers in it which have been called before; a new one if there is none yet."""
        if self._graph is None:
            known = (layer.graph for layer in self.model._tree() if layer.graph is not None)
            self._graph = next(known, None) or Graph()
        return self._graph

    @property
    def begun(self) -> bool:
        """Whether anything was made."""
        return self._progress is not None

    @property
    def progress(self) -> State:
        """Once anything was made: the steps of the epoch, the epochs, whether all losses were finite."""
        assert self._progress is not None
        return self._progress

    @property
    def lasting(self) -> list[Variable]:
        """What a training goes on with: all variables of the graph but the totals of evaluations, each of which begins
        anew."""
        return [
            variable for variable in self.graph.variables if not re.match(r"metrics(_\d+)?/evaluation/", variable.name)
        ]

    @_one_at_a_time
    def step(self, parts: Parts, class_weight: dict | None = None, together: int | None = None) -> Executable:
        """A training step, which adds what it measures to the totals. together: so many steps at once, of batches along
        a new first axis."""
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
        """Adds a batch to the totals of the evaluation."""
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
        """Fetches the leaves of what the model gives."""
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
                        act="called",
                    )
            self._made[key] = self.graph.compile(self._feeds(parts), predictions)
        return self._made[key]

    @_one_at_a_time
    def inference(self, parts: Parts | None) -> Executable:
        """A prediction whose fetches have names. parts: of examples; None: of the last ones."""
        if parts is None and not self._predicted:
            raise mistake("export", "Expected a model that has seen examples; call fit, or give some", act="called")
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
        """What the model gives in inference, tensors in their structure."""
        return self._predictions(parts)

    @_one_at_a_time
    def examples(self, parts: Parts):
        """The placeholders of examples, in their structure."""
        return self._tensors(parts)[0]

    @_one_at_a_time
    def _report(self, kind: str) -> tuple[list[str], Executable]:
        """Fetches how many steps the epoch has made, and whether their losses were finite, in front of the totals of
        that kind, which have these names."""
        if kind not in self._reports:
            found = self._measures.results(self._totals_of(kind))
            fetches = [self.progress["steps"], self.progress["sound"], *found.values()]
            self._reports[kind] = list(found), self.graph.compile([], fetches)
        return self._reports[kind]

    def read(self, kind: str) -> tuple[int, bool, Measured]:
        """How many steps the epoch has made, whether their losses were finite, and what was measured in "training" or
        "evaluation"."""
        names, executable = self._report(kind)
        steps, sound, *values = executable()
        numbers = (value.item() if value.ndim == 0 else value for value in values)
        return int(steps), bool(sound), Measured(zip(names, numbers))

    def quantities(self, validated: bool) -> dict[str, bool]:
        """The names of what an epoch gives the history, and whether each is a number."""
        names, executable = self._report("training")
        found = {name: value.shape in ((), None) for name, value in zip(names, executable.fetches[2:])}
        validation = {f"val_{name}": number for name, number in found.items()} if validated else {}
        return found | ({"skipped_steps": True} if self.skips else {}) | validation

    @_one_at_a_time
    def end_epoch(self) -> None:
        """The next epoch begins, and the totals anew."""
        if ("end of epoch",) not in self._made:
            state = self.progress
            state["steps"], state["epoch"] = 0, state["epoch"] + 1
            updates = [*state.updates(), *self._restarts("training")]
            self._made["end of epoch",] = self.graph.compile([], [], updates)
        self._made["end of epoch",]()

    @_one_at_a_time
    def restart(self, kind: str) -> None:
        """The totals of that kind, "training" or "evaluation", begin anew."""
        if ("restart", kind) not in self._made:
            self._made["restart", kind] = self.graph.compile([], [], self._restarts(kind))
        self._made["restart", kind]()

    @_one_at_a_time
    def swap(self) -> Executable:
        """Exchanges the values of the variables that are trainable now with their averages, or back."""
        trainable = tuple(variable for variable in self.model.variables if variable.trainable)
        if ("swap", trainable) not in self._made:
            self._made["swap", trainable] = self.graph.compile([], [], self._optimizer.swap(trainable))
        return self._made["swap", trainable]

    @_one_at_a_time
    def loss(self, parts: Parts) -> tuple[list[Tensor], Tensor]:
        """The feeds of batches and the loss as the training step computes it: to find out what is the matter with
        it."""
        x, y, weights, mask = self._tensors(parts)
        predictions = self._called(x, training=True, mask=mask)
        sums = self._measures.sums_of(predictions, y, weights, mask)
        return self._feeds(parts), self._measures.losses_of(sums)["loss"]

    # ---- how they are made ----

    def _build(self, parts: Parts) -> None:
        """The graph and the model's variables, also where layers were added to it."""
        self._form = form_of(self.model)
        self._predictions(parts)  # before any variable of the training, so that the model's come first
        if not self.begun:
            root = free_path(self.graph, "training", "")  # another trainer of the model may have the first one
            self._metrics = root.replace("training", "metrics")
            self._progress = State(self.graph, root)
            for name, start in (("epoch", 0), ("steps", 0), ("sound", True)):
                self._progress.setdefault(name, start)

    def _step(self, parts, weight_of, trainable):
        """(feeds, updates)"""
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
            raise mistake("fit", f"Expected a model with variables to train, got {given}", act="called")
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
        """The update where `taken` is true; else the variable keeps its value."""
        variable, value = update.variable, update.value
        kept = self.graph.apply("select", [taken, value, variable], {}, value.name, value.location)
        return self.graph.assign(variable, *kept)

    def _tensors(self, parts: Parts):
        """Placeholders in the structures of x, y, weights and mask; None where there is no such part."""
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
        """What the model gives of x, computed in the training's type. mask: of the examples that count."""
        if is_half(self._dtype):
            x = convert(lambda tensor: cast(tensor, self._dtype) if is_float(tensor.dtype) else tensor, x)
        with computing_in(self._dtype), counting(mask):
            return self.model(x, training=training)

    def _predictions(self, parts: Parts):
        x = Parts(parts.x)
        found = self._predicted.get((x, self._form))
        if found is None:
            found = self._called(self._tensors(x)[0])
            self._form = form_of(self.model)  # which the call may have changed
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
        """ValueError where a variable would stay as it is because the model does not know it."""
        known = set(self.model.variables)
        for op in self.graph.inspect(fetches=list(fetches)):
            for variable in op.results if op.kind == "variable" else ():
                if isinstance(variable, Variable) and variable.trainable and variable not in known:
                    raise mistake(
                        "fit",
                        f"Expected variables that the model knows, got {variable!r} of "
                        f"{variable.location}; make it in the layer's build (add_variable), keep it or its "
                        "layer in an attribute, or set its trainable to False",
                        act="called",
                    )


def _updates(totals, taken=None) -> list[Update]:
    return [update for state in totals.values() for update in state.updates(taken)]


def _weights_of_classes(class_weight) -> tuple[tuple[int, float], ...]:
    """Pairs of a class and its weight, in order."""
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
            act="called",
        )
    return tuple(sorted((int(one), float(weight)) for one, weight in given.items()))


def _weighted_by_class(weight_of, predictions, y, weights):
    """The weights of the examples times that of each one's class."""
    if weight_of is None:
        return weights
    if not isinstance(y, Tensor) or not y.dtype.startswith(("int", "uint")):
        raise mistake("fit", "Expected classes as integers (n,) as the only targets beside class_weight", act="called")
    greatest = weight_of[-1][0]
    scores = predictions.shape[-1] if isinstance(predictions, Tensor) and predictions.shape else None
    if scores is not None and greatest >= max(scores, 2):  # one score tells two classes apart
        raise mistake("fit", f"Expected class_weight for classes of {scores} scores, got {greatest}", act="called")
    table = np.ones(greatest + 1, np.float32)
    table[[one for one, _ in weight_of]] = [weight for _, weight in weight_of]
    of_each = gather(y.graph.constant(table), clamp(cast(y, "int32"), 0, greatest))
    # Others count once: classes beyond the table, and labels that are none, whose loss must show.
    of_each = where(logical_and(y >= 0, y <= greatest), of_each, 1.0)
    return of_each if weights is None else weights * of_each
