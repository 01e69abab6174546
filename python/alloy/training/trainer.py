"""The training loop: batches in, one dispatch a step, numbers out. Owns the graph of a model, its step and
its evaluation."""

import itertools
import math

import numpy as np

from alloy import losses, metrics
from alloy.device import device
from alloy.graph import Executable, Graph
from alloy.graph.apply import require_all
from alloy.graph.arrays import as_count
from alloy.graph.location import mistake
from alloy.graph.scope import OPTIMIZER, scope
from alloy.graph.text import describe
from alloy.nn import Layer
from alloy.ops import equal, mean, sum, where
from alloy.training.batches import examples, run_batches
from alloy.training.callbacks import Callback
from alloy.training.history import History
from alloy.training.progress import Progress


class Trainer:
    """Trains a model (an al.nn.Layer) on arrays.

    loss: the name of a function of al.losses, or a function of predictions and targets that gives a tensor,
    whose mean is minimized. metrics: names of functions of al.metrics, or such functions; "accuracy" beside
    binary_cross_entropy is binary_accuracy. seed: of the order of the examples. A model that was called before is
    trained in the graph of that call.

    check_finite: a loss that is NaN or infinite ends the training with FloatingPointError. The step that gives it
    changes nothing: what it assigns (the model's variables, the optimizer's, moving averages) keeps its values from
    before, and the error names the first tensor that is not finite. Examples and targets that are not finite are
    refused beforehand: ValueError.

    steps_per_dispatch: so many training steps are made at once, with the results of single ones. It saves the time
    between steps, which matters where they are short."""

    def __init__(
        self, model, loss, optimizer, metrics=(), seed: int = 0, check_finite: bool = True, steps_per_dispatch: int = 1
    ):
        require_all("trainer", "a layer as the model", Layer, [model])
        if isinstance(optimizer, type) or not callable(getattr(optimizer, "minimize", None)):
            given = optimizer.__name__ if isinstance(optimizer, type) else repr(optimizer)
            raise mistake("trainer", f"Expected an optimizer such as al.Adam(), got {given}", TypeError)
        self.model = model
        self.optimizer = optimizer
        self.seed = seed
        self.history = History()
        self.stop = False
        self.check_finite = check_finite
        self.steps_per_dispatch = as_count("trainer", "steps_per_dispatch", steps_per_dispatch)
        self._measures = _measures(loss, [metrics] if isinstance(metrics, str) or callable(metrics) else metrics)
        self._order = np.random.default_rng(seed)
        self._x = self._y = self._predictions = self._sound = None
        self._executables: dict[tuple, Executable] = {}
        self._requests: dict[tuple, tuple] = {}  # what the executables of single steps were compiled from

    def fit(
        self,
        data,
        epochs: int,
        batch_size: int = 32,
        validation=None,
        callbacks=(),
        progress: bool = True,
        shuffle: bool = True,
    ) -> History:
        """Trains on data, a tuple (x, y) of arrays with one example in each row, and returns what it
        measured.

        The values of an epoch are means over its examples while the model was learning; those that begin with
        val_ are of the validation data (a tuple as data) after it. The last batch of an epoch may be smaller
        than the others. A further call goes on where the last one ended, with the order of the examples, too.

        ValueError: the arrays do not belong together, hold numbers that are not finite, or labels outside the
        classes. FloatingPointError: the loss is not finite (check_finite)."""
        epochs = as_count("fit", "a number of epochs", epochs, "called")
        data = self._examples("fit", data, batch_size, self.check_finite)
        validation = None if validation is None else self._examples("fit", validation, batch_size, self.check_finite)
        callbacks = list(callbacks)
        require_all("fit", "callbacks, which are al.Callback", Callback, callbacks)
        step = self._executable("step", data)
        self.history = History()
        self.stop = False
        for callback in callbacks:
            callback.begin(self)
        shown = Progress(epochs, -(-len(data[0]) // batch_size), progress)
        for epoch in range(1, epochs + 1):
            rows = self._order.permutation(len(data[0])) if shuffle else None
            with shown.epoch(epoch):
                try:
                    values = self._run(step, self._steps(step, data, batch_size, rows), shown, epoch)
                except BaseException:  # an interrupt, too: a loss that is not read yet may hold back every later step
                    if self._sound is not None:
                        self._sound.assign(True)
                    raise
                if validation is not None:
                    validated = self._evaluate(validation, batch_size)
                    values |= {f"val_{name}": value for name, value in validated.items()}
                    shown.show(values)
            self.history.add(values)
            for callback in callbacks:
                callback.epoch_end(self)
            if self.stop:
                break
        return self.history

    def evaluate(self, data, batch_size: int = 32) -> dict[str, float]:
        """The loss and the metrics of data, a tuple (x, y) of arrays, as means over its examples."""
        return self._evaluate(self._examples("evaluate", data, batch_size), batch_size)

    def predict(self, x, batch_size: int = 32) -> np.ndarray:
        """The model's values for the rows of x."""
        data = self._examples("predict", (x,), batch_size)
        run = self._executable("predict", data)
        return np.concatenate([result[0] for _, result in run_batches(run, data, batch_size, None, self._ahead())])

    def _evaluate(self, data, batch_size):
        executable = self._executable("evaluate", data)
        return self._run(executable, run_batches(executable, data, batch_size, None, self._ahead()))

    def _steps(self, step, data, batch_size, rows):
        """What run_batches gives of single steps, of which as many are made at once as can be."""
        together, count, first = self.steps_per_dispatch, len(data[0]), 0
        if together > 1 and count >= together * batch_size:
            rows = np.arange(count) if rows is None else rows
            first = count // (together * batch_size) * (together * batch_size)
            several = self._executable("step", data, together)
            groups = run_batches(several, data, together * batch_size, rows[:first], self._ahead(), together)
            for batches, results in groups:
                results = list(results)
                for i in range(together):
                    yield [array[i] for array in batches], [result[i] for result in results]
        if first < count:
            yield from run_batches(step, data, batch_size, rows if first == 0 else rows[first:], self._ahead())

    @staticmethod
    def _ahead():
        """How many steps are in flight behind the one that is read. On the host's own cores one would only be in the
        way of gathering the next batch; elsewhere the device has work while that is done."""
        return 0 if device().kind == "cpu" else 1

    def _run(self, executable, results, shown=None, epoch=None):
        """The means over all examples of what the executable fetches of each batch. results: what run_batches gives.
        epoch: of a training."""
        total, seen = np.zeros(len(self._measures)), 0
        for step, (batch, result) in enumerate(results, 1):
            values = [value.item() for value in result]
            if epoch is not None and self.check_finite and not math.isfinite(values[0]):
                raise self._not_finite(values[0], executable, batch, f"step {step} of epoch {epoch}")
            total += len(batch[0]) * np.array(values)
            seen += len(batch[0])
            if shown is not None:
                shown.step(dict(zip(self._measures, total / seen)))
        return dict(zip(self._measures, (total / seen).tolist()))

    def _not_finite(self, value, step, batch, when):
        """The error that names the first tensor on the way to the loss which is not finite."""
        loss = step.fetches[0]
        graph = loss.graph
        tensors = [
            (op, tensor)
            for op in graph.inspect(fetches=[loss])
            if op.kind != "constant"
            for tensor in op.results
            if tensor.dtype == "float32" and tensor.shape is not None
        ]
        faults = graph.compile(step.feeds, [sum(tensor - tensor) for _, tensor in tensors])(*batch)
        first = "no tensor on the way to it is, when it is computed again"
        for (op, tensor), fault in zip(tensors, faults):
            if fault != 0:
                (found,) = graph.compile(step.feeds, [tensor])(*batch)
                name = f" {op.name!r}" if op.name else ""
                wrong = np.size(found) - np.count_nonzero(np.isfinite(found))
                first = (
                    f"the first tensor that is not finite, in {wrong} of {np.size(found)} elements, is "
                    f"{describe(tensor)} of {op.kind}{name}, built at {op.location}"
                )
                break
        return mistake(
            "fit", f"The loss is {value} in {when}, which changed nothing: {first}", FloatingPointError, "called"
        )

    def _executable(self, kind, data, together=None):
        """Of one graph and its variables: the training step (one for each choice of what is trainable, or several
        together), the evaluation, the prediction."""
        self._build(data)
        training = kind == "step"
        trainable = [variable for variable in self.model.variables if variable.trainable and training]
        key = kind, together, *trainable
        if together is not None and key not in self._executables:
            step = self._requests[(kind, *trainable)]
            self._executables[key] = self._x.graph.compile(*step, steps=together)
        if key not in self._executables:
            predictions = self.model(self._x, training) if training else self._predictions
            feeds, fetches, updates = [self._x], [predictions], []
            if kind != "predict":
                feeds = [self._x, self._y]
                fetches = [mean(measure(predictions, self._y)) for measure in self._measures.values()]
            self._require_known(fetches)
            if training:
                with scope(self._x.graph, OPTIMIZER):
                    finite = equal(fetches[0] - fetches[0], 0.0)  # before the gradients, so that no update waits for it
                updates = [*self.optimizer.minimize(fetches[0], trainable), *self.model.updates]
                if self.check_finite:
                    updates = self._held_back(updates, finite)
            self._requests[(kind, *trainable)] = feeds, fetches, updates
            self._executables[key] = self._x.graph.compile(feeds, fetches, updates)
        return self._executables[key]

    def _held_back(self, updates, finite):
        """The updates where the loss is finite, and none where it is not; nor behind such a step, where others are in
        flight before that is known."""
        graph, flag, sound = self._x.graph, finite, []
        if self._ahead() or self.steps_per_dispatch > 1:
            with scope(graph, OPTIMIZER):
                if self._sound is None:
                    self._sound = graph.variable(True, name="sound", trainable=False)
                flag = where(self._sound, finite, False)
            sound = [graph.assign(self._sound, flag)]
        kept = []
        for update in updates:
            variable, value = update.variable, update.value
            kept.append(
                graph.assign(variable, *graph.apply("select", [flag, value, variable], {}, value.name, value.location))
            )
        return kept + sound

    def _require_known(self, fetches):
        """ValueError where a variable would stay as it is because the model does not know it."""
        known = set(self.model.variables)
        for op in self._x.graph.inspect(fetches=fetches):
            for variable in op.results if op.kind == "variable" else ():
                if variable.trainable and variable not in known:
                    raise mistake(
                        "fit",
                        f"Expected variables that the model knows, got {variable!r} of "
                        f"{variable.location}; make it in the layer's build (add_variable), keep it or its "
                        "layer in an attribute, or set its trainable to False",
                        act="called",
                    )

    def _examples(self, op, data, batch_size, finite=False):
        """The arrays of data, with one row for each example in all of them."""
        arrays = examples(op, data, batch_size)
        for array, what in zip(arrays, ("examples", "targets")):
            if finite and array.dtype.kind == "f" and not (math.isfinite(array.min()) and math.isfinite(array.max())):
                place = np.argwhere(~np.isfinite(array))[0]
                raise mistake(
                    op, f"Expected finite numbers as {what}, got {array[tuple(place)]} in row {place[0]}", act="called"
                )
        if len(arrays) > 1 and arrays[1].dtype.kind in "iu" and self._measures["loss"] is losses.softmax_cross_entropy:
            self._build(arrays)
            classes = (self._predictions.shape or (None,))[-1]
            wrong = (arrays[1] < 0) | (arrays[1] >= classes) if classes else np.False_
            if wrong.any():
                place = np.argwhere(wrong)[0]
                raise mistake(
                    op,
                    f"Expected labels from 0 to {classes - 1}, of the model's {classes} classes, got "
                    f"{arrays[1][tuple(place)]} in row {place[0]}",
                    act="called",
                )
        return arrays

    def _build(self, data):
        if self._x is None:
            x = (self.model.graph or Graph()).placeholder((None, *data[0].shape[1:]), data[0].dtype, name="x")
            self._predictions = self.model(x)
            self._x = x
        if self._y is None and len(data) > 1:
            self._y = self._x.graph.placeholder((None, *data[1].shape[1:]), data[1].dtype, name="y")


def _measures(loss, given):
    """Functions of predictions and targets by the names of what they give."""
    found = {"loss": _function(losses, loss)}
    for metric in given:
        function = _function(metrics, metric)
        if metric == "accuracy" and found["loss"] is losses.binary_cross_entropy:
            function = metrics.binary_accuracy
        name = metric if isinstance(metric, str) else _name(metric)
        names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
        found[next(free for free in names if free not in found)] = function
    return found


def _name(function):
    function = getattr(function, "func", function)  # of functools.partial
    return getattr(function, "__name__", type(function).__name__)


def _function(module, given):
    if callable(given) and not isinstance(given, type):
        return given
    name = module.__name__.rpartition(".")[2]
    names = module.__all__
    if not isinstance(given, str):
        raise mistake("trainer", f"Expected a function or a name of al.{name}, got {given!r}", TypeError)
    if given not in names:
        raise mistake("trainer", f"Expected a function or a name of al.{name} ({', '.join(names)}), got {given!r}")
    return getattr(module, given)
