"""The training loop: batches in, one dispatch a step, numbers out. Owns the graph of a model, its step and
its evaluation."""
import numpy as np

from alloy import losses, metrics
from alloy.arrays import as_array, empty
from alloy.graph import Executable, Graph
from alloy.history import History
from alloy.location import mistake
from alloy.progress import Progress
from alloy.table_ops import mean


class Trainer:
    """Trains a model (an al.nn.Layer) on arrays.

    loss: the name of a function of al.losses, or a function of predictions and targets that gives a tensor,
    whose mean is minimized. metrics: names of functions of al.metrics, or such functions. seed: of the order
    of the examples. A model that was called before is trained in the graph of that call."""

    def __init__(self, model, loss, optimizer, metrics=(), seed: int = 0):
        self.model = model
        self.optimizer = optimizer
        self.seed = seed
        self.history = History()
        self.stop = False
        self._measures = {"loss": _function(losses, loss)} | dict(_named_metric(metric) for metric in metrics)
        self._x = self._y = self._predictions = None
        self._executables: dict[tuple, Executable] = {}

    def fit(self, data, epochs: int, batch_size: int = 32, validation=None, callbacks=(),
            progress: bool = True, shuffle: bool = True) -> History:
        """Trains on data, a tuple (x, y) of arrays with one example in each row, and returns what it
        measured.

        The values of an epoch are means over its examples while the model was learning; those that begin with
        val_ are of the validation data (a tuple as data) after it. The last batch of an epoch may be smaller
        than the others."""
        data = _examples("fit", data, batch_size)
        validation = None if validation is None else _examples("fit", validation, batch_size)
        step = self._executable("step", data)
        order = np.random.default_rng(self.seed)
        self.history = History()
        self.stop = False
        for callback in callbacks:
            callback.begin(self)
        shown = Progress(epochs, -(-len(data[0]) // batch_size), progress)
        for epoch in range(1, epochs + 1):
            rows = order.permutation(len(data[0])) if shuffle else None
            with shown.epoch(epoch):
                values = self._run(step, _batches(data, batch_size, rows), shown)
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
        return self._evaluate(_examples("evaluate", data, batch_size), batch_size)

    def predict(self, x, batch_size: int = 32) -> np.ndarray:
        """The model's values for the rows of x."""
        data = _examples("predict", (x,), batch_size)
        run = self._executable("predict", data)
        return np.concatenate([run(*batch)[0] for batch in _batches(data, batch_size)])

    def _evaluate(self, data, batch_size):
        return self._run(self._executable("evaluate", data), _batches(data, batch_size))

    def _run(self, executable, batches, shown=None):
        """The means over all examples of what the executable fetches of each batch."""
        total, seen = np.zeros(len(self._measures)), 0
        for batch in batches:
            total += len(batch[0]) * np.array([value.item() for value in executable(*batch)])
            seen += len(batch[0])
            if shown is not None:
                shown.step(dict(zip(self._measures, total / seen)))
        return dict(zip(self._measures, (total / seen).tolist()))

    def _executable(self, kind, data):
        """Of one graph and its variables: the training step (one for each choice of what is trainable), the
        evaluation, the prediction."""
        self._build(data)
        training = kind == "step"
        trainable = [variable for variable in self.model.variables if variable.trainable and training]
        key = kind, *trainable
        if key not in self._executables:
            predictions = self.model(self._x, training) if training else self._predictions
            feeds, fetches, updates = [self._x], [predictions], []
            if kind != "predict":
                feeds = [self._x, self._y]
                fetches = [mean(measure(predictions, self._y)) for measure in self._measures.values()]
            if training:
                updates = self.optimizer.minimize(fetches[0], trainable) + self.model.updates
            self._executables[key] = self._x.graph.compile(feeds, fetches, updates)
        return self._executables[key]

    def _build(self, data):
        if self._x is None:
            x = (self.model.graph or Graph()).placeholder((None, *data[0].shape[1:]), data[0].dtype, name="x")
            self._predictions = self.model(x)
            self._x = x
        if self._y is None and len(data) > 1:
            self._y = self._x.graph.placeholder((None, *data[1].shape[1:]), data[1].dtype, name="y")


def _examples(op, data, batch_size):
    """The arrays of data, with one row for each example in all of them."""
    if not isinstance(data, (tuple, list)) or len(data) != (1 if op == "predict" else 2):
        raise mistake(op, f"Expected a tuple (x, y) of arrays, got {type(data).__name__}", TypeError,
                      "called")
    arrays = [as_array(op, array) for array in data]
    counts = [array.shape[0] if array.ndim else 0 for array in arrays]
    if min(counts) < 1 or min(counts) != max(counts):
        raise mistake(op, f"Expected arrays of one or more examples each, as many in all, got shapes "
                      f"{', '.join(str(array.shape) for array in arrays)}", act="called")
    if batch_size < 1:
        raise mistake(op, f"Expected a batch size of 1 or more, got {batch_size}", act="called")
    return arrays


def _batches(arrays, batch_size, rows=None):
    """The examples of these rows, in their order; by default of all of them, in place. A batch of chosen rows
    lasts until the next one."""
    count = len(arrays[0])
    if rows is None:
        for start in range(0, count, batch_size):
            yield [array[start:start + batch_size] for array in arrays]
        return
    memory = [empty((min(batch_size, count), *array.shape[1:]), array.dtype) for array in arrays]
    for start in range(0, count, batch_size):
        chosen = rows[start:start + batch_size]
        yield [_take(array, chosen, batch[:len(chosen)]) for array, batch in zip(arrays, memory)]


def _take(array, rows, out):
    if array.flags.c_contiguous:
        return np.take(array, rows, axis=0, out=out, mode="clip")  # by default it would fill a copy of out first
    out[...] = array[rows]  # np.take would pack the whole array first
    return out


def _function(module, given):
    if callable(given):
        return given
    name = module.__name__.rpartition(".")[2]
    function = getattr(module, given, None) if not given.startswith("_") else None
    if getattr(function, "__module__", None) != module.__name__:
        raise mistake("trainer", f"Expected a function or a name of al.{name}, got {given!r}")
    return function


def _named_metric(given):
    function = _function(metrics, given)
    return function.__name__, function
