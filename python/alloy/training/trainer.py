"""The training loop: a dispatch for each step, and losses and metrics once an epoch. Owns the compiled programs and the
place in the training."""

import itertools
import math
import os
import re
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import contextmanager, suppress
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from alloy._core import DeviceError, Tensor
from alloy.data import Dataset
from alloy.distributed import processes
from alloy.engine.arrays import as_count, as_path, require_all
from alloy.engine.dtypes import is_half
from alloy.engine.structure import leaves, paths, rebuild
from alloy.measuring.replay import Replay
from alloy.messages.location import meant, mistake, warn_user
from alloy.messages.names import missing_attribute, renamed
from alloy.nn import Layer
from alloy.optimizers import named
from alloy.training import checkpoint
from alloy.training.batches import Feed, as_dataset, parts_of
from alloy.training.callbacks import Callback, Checkpoint, plain_state
from alloy.training.diagnosis import not_finite, require_sound_arrays, warn_of_lone_examples
from alloy.training.files import replace_file
from alloy.training.history import History
from alloy.training.input_profile import InputProfile, measured_input
from alloy.training.interrupts import uninterrupted
from alloy.training.measures import Measures
from alloy.training.programs import Programs
from alloy.training.progress import Progress
from alloy.training.rate_search import RateSearch, search

_FOREIGN = (".pt", ".pth", ".h5", ".keras", ".pb", ".tflite", ".mlmodel", ".mlpackage", ".safetensors")


# Steps between two comparisons of all processes' variables; one takes a quarter of a second for 25 million parameters.
_COMPARED = 1000
# Attributes that are set once.
_FIXED = ("model", "optimizer", "loss", "metrics", "loss_weights", "dtype", "check_finite")


class Trainer:
    """Trains a model (an al.nn.Layer).

    loss, metrics: names of al.losses and al.metrics, or functions of predictions and targets; metrics may also be
    al.metrics.Metric. If the model has several outputs, a dict or list, loss may be a dict or list with one for each
    output, and metrics with the metrics of each; loss_weights multiply the losses. Sample weights count in losses, not
    in metrics. The step's graph computes and sums all of them. The trainer reads the sums once an epoch (about once a
    second to show a bar, or to notice a loss that is not finite).

    optimizer: such as al.Adam(1e-3), or its name in small letters, for its defaults. seed: shuffles the examples. A
    model that was called before is trained in the graph of that call.

    dtype: "float16" or "bfloat16": the model gets its floats in that type, and computes in it; variables, losses and
    statistics stay float32. float16 needs an optimizer with loss_scale=al.LossScale(). precision: "float32" or "tf32",
    as of al.Graph; the default is that of the graph in which the model was called before, else "float32".

    check_finite: a loss that is NaN or infinite ends the training with FloatingPointError, which names the step and the
    first tensor that is not finite. That step and the steps in flight behind it change no variable of the model or the
    optimizer, and no moving average. Arrays that are not finite raise ValueError beforehand. An optimizer that skips
    such steps (skip_nonfinite, loss_scale) goes on instead, and the history counts them as "skipped_steps".

    steps_per_dispatch: runs so many training steps at once, with the same results. It saves the time between short
    steps. Several processes run one at a time.

    distributed: the processes that `alloy launch` started train together. Each runs the same script, computes its share
    of the rows of each batch, and gets the same variables: those of one process with the whole batches, but for
    rounding. All call fit, evaluate and save at the same places; the values of an epoch are over all processes, within
    an epoch a process's own. The first process shows the progress and writes checkpoints. sync_batch_norm: BatchNorm
    takes the statistics of whole batches instead of each process's rows; the moving averages are the processes' mean in
    any case.

    verify_every: computes every so many steps, the first one too, also by the reference, op by op, before they run
    (Executable.replay): a wrong kernel of the device ends the training with DeviceError, which names the op. Such a
    step takes seconds to minutes."""

    def __init__(
        self,
        model,
        loss,
        optimizer,
        metrics=(),
        *,
        loss_weights=None,
        dtype: str = "float32",
        precision: str | None = None,
        seed: int = 0,
        check_finite: bool = True,
        steps_per_dispatch: int = 1,
        distributed: bool = False,
        sync_batch_norm: bool = False,
        verify_every: int | None = None,
    ):
        require_all("Trainer", "a layer as the model", Layer, [model])
        self.model = model
        self.optimizer = named(optimizer)
        self._rank, self._ranks = (processes.rank(), processes.size()) if distributed else (0, 1)
        if self._ranks > 1 and not self.optimizer.distributed:
            processes.Optimizer(self.optimizer)
        self.seed = as_count("Trainer", "a seed", seed, least=0, most=math.inf)
        self.history = History()
        self.epoch = 0  # the number of epochs that have ended or were interrupted
        self.step = 0  # the number of steps that the present epoch has begun
        self.stop_training = False
        self.resumed = False  # True if the present fit goes on from a checkpoint
        self.steps_per_dispatch = as_count("Trainer", "steps_per_dispatch", steps_per_dispatch)
        self._verify_every = verify_every
        if verify_every is not None:
            as_count("Trainer", "verify_every", verify_every)
        if self._verify_every and self.steps_per_dispatch > 1:
            raise mistake("Trainer", "Expected one step in a dispatch beside verify_every, got steps_per_dispatch")
        if dtype != "float32" and not is_half(dtype):
            raise mistake("Trainer", f'Expected the dtype "float32", "bfloat16" or "float16", got {dtype!r}')
        if precision not in (None, "float32", "tf32"):
            raise mistake("Trainer", f'Expected the precision "float32" or "tf32", got {precision!r}')
        measures = Measures(loss, metrics, loss_weights)
        self._programs = Programs(
            model,
            measures,
            self.optimizer,
            dtype,
            precision,
            check_finite,
            self._rank,
            self._ranks,
            bool(sync_batch_norm) and self._ranks > 1,
        )
        self._check_finite = check_finite
        self._callbacks: list[Callback] = []
        self._fit_from = 0  # the present fit's first epoch
        self._batches: dict = {}  # the count, size and seed of the present fit's batches
        self._quantities: dict[str, bool] = {}  # Programs.quantities of the present fit
        self._running = {op: threading.Lock() for op in ("fit", "evaluate", "averaged_weights")}  # see _alone

    if not TYPE_CHECKING:  # or checkers would accept any name
        __getattr__ = missing_attribute

    def __setattr__(self, name, value):
        if "_running" in vars(self) and name in _FIXED:
            raise mistake("Trainer", f"Expected {name} to stay what it was; make another Trainer")
        if "_running" in vars(self) and name not in vars(self) and not hasattr(type(self), name):
            hint = renamed("Trainer", name) or meant(name, [*dir(type(self)), *vars(self), *_FIXED], 0.85)
            if hint:
                raise mistake("Trainer", f"A Trainer has no attribute {name} to set{hint}", AttributeError)
        object.__setattr__(self, name, value)

    # ---- training ----

    def fit(
        self,
        data,
        epochs: int = 1,
        batch_size: int | None = None,
        *,
        validation=None,
        callbacks=(),
        progress: bool = True,
        shuffle: bool = True,
        class_weight: dict | None = None,
        last_batch: str = "smaller",
        resume=None,
    ) -> History:
        """Trains, and returns the history of losses and metrics.

        data: a tuple (x, y) of arrays with one example in each row, or (x, y, weight) with the examples' weights; x and
        y may be tuples or dicts of arrays, for models of several inputs or outputs. Or an al.data.Dataset, which may
        have its own order and batches, or an object with __len__ and __getitem__ such as a data set of PyTorch.
        validation: such data, measured after each epoch.

        An epoch's values are means over its examples during the training; names with val_ are of the validation data
        after it. Another call goes on after the last epoch, with the order of the examples, too, and with a new
        history. batch_size: the default is 32; not for an al.data.Dataset with batches.

        class_weight: {class: weight} of its examples; 1 for other classes. last_batch: "smaller" has the examples that
        are left; "drop" leaves them out; "pad" fills the batch up with examples that do not count, so that only one
        size is compiled. progress: shows a bar for each epoch in a terminal or a notebook, and a line after it. resume:
        the path of a checkpoint. If the file exists, the fit that wrote it goes on, and ends as if it had not been
        interrupted; else a fit begins.

        ValueError: the arrays do not belong together, hold numbers that are not finite, or labels outside the
        classes. FloatingPointError: the loss is not finite (check_finite). KeyboardInterrupt (Ctrl-C) leaves the model
        as the last step left it."""
        if hasattr(epochs, "__len__") and not isinstance(epochs, str):
            raise mistake(
                "fit", "Expected examples and targets as one tuple, fit((x, y), epochs), got two arguments", TypeError
            )
        epochs = as_count("fit", "a number of epochs", epochs)
        of_validation = None if _is_batched(validation) else batch_size
        if _is_batched(data) and validation is not None and not _is_batched(validation):
            batch_size = None  # it is of the validation alone
        data = self._dataset("fit", data, batch_size, shuffle, last_batch)
        validation = None if validation is None else self._dataset("fit", validation, of_validation)
        callbacks = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
        require_all("fit", "callbacks, which are al.Callback", Callback, callbacks)
        parts = parts_of("fit", data)
        step = self._programs.step(parts, class_weight)
        warn_of_lone_examples(self.model, data)
        several = None
        if self.steps_per_dispatch > 1 and self._ranks == 1:
            several = self.steps_per_dispatch, self._programs.step(parts, class_weight, self.steps_per_dispatch)
        validate = None if validation is None else self._evaluation(validation)
        if self._running["averaged_weights"].locked():
            raise mistake("fit", "Expected a fit outside averaged_weights(), whose end would undo it")
        with self._alone("fit"):
            batches = {"count": data.length, "size": data.rows, "seed": self.seed}
            if self._ranks > 1:
                self._require_same(parts, batches | {"epochs": epochs, "data": data, "validation data": validation})
                data = self._own(data)
            self._begin(callbacks, resume, batches)
            self._quantities = self._programs.quantities(validation is not None)
            self._warn_of_rate(epochs, data.length)
            feed = Feed(data, step, self._ahead(), several, self._verify(step))
            shown = Progress(progress and self._rank == 0, epochs, self._fit_from, data.length)
            try:
                self._call("on_train_begin")
                while self.epoch < self._fit_from + epochs and not self.stop_training:
                    self._epoch(feed, data, validate, shown)
                self._call("on_train_end", logs={name: values[-1] for name, values in self.history.items()})
            except BaseException as error:
                self._left(error)
                raise
            finally:
                shown.close()
            return self.history

    def _verify(self, step):
        """Returns a function of a step's arrays that compares every so many steps with the reference, or None."""
        every = self._verify_every
        if every is None:
            return None
        replay, steps = Replay(step), itertools.count()

        def check(arrays):
            if next(steps) % every == 0:
                replay(arrays, {})

        return check

    @contextmanager
    def _alone(self, op):
        """Raises ValueError if such a call is running, in another thread or around this one: both would use the same
        totals."""
        if not self._running[op].acquire(blocking=False):
            raise mistake(op, f"Expected one {op} of a trainer at a time, got one in the midst of another")
        try:
            yield
        finally:
            self._running[op].release()

    def _begin(self, callbacks, resume, batches):
        """Begins the fit at a new epoch or at the checkpoint's place. batches: the count, size and seed of batches."""
        self._callbacks, self._batches = callbacks, batches
        for callback in callbacks:
            callback.trainer = self
        self.history = History()
        self.stop_training = False
        self._programs.restart("training")
        state = self._programs.progress.variables
        self.resumed = resume is not None and os.path.exists(as_path("fit", resume))
        if self._ranks > 1:
            self.resumed = processes.broadcast(self.resumed)
        if self.resumed:
            self._load(resume)
        if self._ranks > 1:
            lasting = self._programs.lasting
            checkpoint.assign_all(lasting, processes.broadcast(checkpoint.read_all(lasting)))
        if self.resumed:
            state["sound"].assign(np.bool_(True))  # a step whose loss was not finite changed nothing, and runs again
            self._follow_device()
            return
        self.epoch += self.step > 0
        self.step, self._fit_from = 0, self.epoch
        values = np.int32(self.epoch), np.int32(0), np.bool_(True)
        self._programs.graph.assign_variables([state[name] for name in ("epoch", "steps", "sound")], list(values))

    def _warn_of_rate(self, epochs, length):
        """Warns if a schedule reaches 0 before the last epoch begins."""
        left = self._fit_from + epochs - self.epoch
        if length is None or left < 2:
            return
        begin = self.optimizer.steps_made(self._programs.graph) - self.step

        def ended(epoch):
            return self.optimizer.rate_at(begin + epoch * length) == 0

        if not ended(left - 1):
            return
        low, high = -1, left - 1  # the schedule has ended when epoch `high` begins
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if ended(middle) else (middle, high)
        high += self.epoch - self._fit_from
        warn_user(
            f"[fit] The learning rate is 0 from epoch {high + 1} of {epochs} on. Schedules count steps, of which an "
            f"epoch has {length}: {epochs} epochs have {epochs * length}"
        )

    def _epoch(self, feed, data, validate, shown):
        """Runs the present epoch from the present step on."""
        self._call("on_epoch_begin", self.epoch)
        shown.begin(self.epoch + 1, self.step)
        logs, looked = _Logs(lambda: self._look(data, own=True)), time.monotonic()
        for steps, _, _ in feed.turns(self.epoch, self.step):
            self.step += steps
            if self.step % _COMPARED == 0:
                self._require_no_drift()
            self._call("on_train_batch_end", self.step - 1, logs=logs)
            now = time.monotonic()
            if now - looked > (0.2 if shown.bars else 1.0) and (shown.bars or self._programs.stops):
                shown.show(self.step, self._look(data, own=True))
                looked = time.monotonic()
        values = self._look(data)
        if self._programs.skips:
            skipped = self.optimizer.skipped(self._programs.graph)
            values["skipped_steps"] = skipped - int(np.sum(self.history.get("skipped_steps", 0)))
        if validate is not None:
            values |= {f"val_{name}": value for name, value in validate().items()}
        self._require_no_drift()
        with uninterrupted():  # the device, the history and all callbacks agree on the place
            self._programs.end_epoch()
            self.epoch, self.step = self.epoch + 1, 0
            self.history.add(values)
            shown.end(values)
            self._call("on_epoch_end", self.epoch - 1, logs=values)
            for callback in self._callbacks:
                if isinstance(callback, Checkpoint):
                    callback.save_if_due()
        if self._ranks > 1:  # if one stops, all do
            self.stop_training = processes.all_reduce(int(self.stop_training)) > 0

    def _call(self, moment, *arguments, logs=None):
        for callback in self._callbacks:
            if self._rank == 0 or not callback.by_first_process:
                getattr(callback, moment)(*arguments, logs)

    def _look(self, data, own=False) -> dict:
        """Reads the present epoch's values so far: of all processes, which all call it, or of this one.
        FloatingPointError: a loss was not finite."""
        steps, sound, values = self._programs.read("training", own)
        if not sound:
            raise self._not_finite(data, steps)
        return values

    def _not_finite(self, data, step):
        """Returns the error for that step of the present epoch, counted from 0."""
        when = f"step {step + 1} of epoch {self.epoch - self._fit_from + 1}"
        batch = None
        with suppress(Exception):  # a stream that can be read once
            batch = parts_of("fit", data, next(data.epoch(self.epoch, step)))
        return not_finite(self._programs, parts_of("fit", data), batch, when)

    def _left(self, error):
        """Sets the place to the device's last step, after an exception in a fit."""
        with suppress(DeviceError):
            self._follow_device()
            self._programs.progress.variables["sound"].assign(np.bool_(True))
            if isinstance(error, KeyboardInterrupt):
                for callback in self._callbacks:
                    if isinstance(callback, Checkpoint) and callback.monitor is None:
                        self.save(callback.path)

    def _follow_device(self):
        state = self._programs.progress.variables
        self.epoch, self.step = int(state["epoch"].numpy()), int(state["steps"].numpy())

    # ---- evaluation and prediction ----

    def evaluate(self, data, batch_size: int | None = None) -> dict[str, float]:
        """Returns the loss and the metrics over all examples of data, given as for fit."""
        return self._evaluation(self._dataset("evaluate", data, batch_size))()

    def _evaluation(self, data):
        """Returns a function that evaluates the data."""
        programs = self._programs
        if self._ranks > 1:
            data = data._every(self._rank, self._ranks)
        feed = Feed(data, programs.evaluation(parts_of("evaluate", data)), self._ahead())

        def evaluate():
            with self._alone("evaluate"):
                programs.restart("evaluation")
                for _ in feed.turns(0):
                    pass
                return programs.read("evaluation")[2]

        return evaluate

    def predict(self, x, batch_size: int | None = None) -> Any:
        """Returns the model's result for the rows of x: an array, or a structure of arrays.

        x: an array, a tuple or dict of arrays for a model of several inputs, or a data set; of its tuples (x, ...),
        predict takes the first part."""
        if isinstance(x, tuple) and self.model._last and isinstance(self.model._last.x, Tensor):
            expected = f"examples for the one input of the model, predict(x), got a tuple of {len(x)}"
            raise mistake("predict", f"Expected {expected}", TypeError)
        data = as_dataset("predict", x, batch_size)
        parts = parts_of("predict", data)
        try:
            step = self._programs.prediction(parts)
        except ValueError as error:
            known, given = leaves(self.model._last.x) if self.model._last else [], leaves(parts.x)
            if [len(tensor.shape or ()) for tensor in known] == [len(spec.shape) + 1 for spec in given]:
                raise ValueError(f"{str(error).rstrip('.')}; a single example is a row: x[None].") from None
            raise
        feed, found = Feed(data, step, self._ahead()), []
        for _, element, results in feed.turns(0):
            mask = parts_of("predict", data, element).mask
            found.append(list(results) if mask is None else [_unpadded(one, mask) for one in results])
        return rebuild(self._programs.outputs(parts), [np.concatenate(column) for column in zip(*found)])

    @contextmanager
    def averaged_weights(self):
        """Gives the trainable variables their averaged values (ema_decay of the optimizer) within a with statement, to
        evaluate, predict or save: `with trainer.averaged_weights(): trainer.evaluate(test)`."""
        self._require_training("averaged_weights")
        swap = self._programs.swap()
        with self._alone("averaged_weights"):
            swap()
            try:
                yield
            finally:
                swap()

    # ---- measuring ----

    def find_lr(
        self, data, batch_size: int | None = None, *, lowest: float = 1e-7, highest: float = 10.0, steps: int = 100
    ) -> RateSearch:
        """Looks for a learning rate by the range test of Smith (2017): trains for `steps` steps with rates that grow by
        a constant factor from lowest to highest, until the loss is 4 times its least value or not finite. The result
        has lrs, losses, a suggestion and plot(path). Afterwards all variables have their values from before.

        data: as for fit. ValueError: the optimizer's lr is a schedule, or the bounds are no range."""
        steps = as_count("find_lr", "a number of steps", steps, least=3)
        require_all("find_lr", "numbers as bounds", Real, [lowest, highest])
        optimizer, before = self.optimizer, self.optimizer.lr
        if not isinstance(before, Real):
            raise mistake("find_lr", "Expected an optimizer whose lr is a number, got a schedule")
        if not 0 < lowest < highest < math.inf:
            raise mistake("find_lr", f"Expected 0 < lowest < highest, got {lowest} and {highest}")
        data = self._own(self._dataset("find_lr", data, batch_size, shuffle=True))
        step = self._programs.step(parts_of("find_lr", data))

        def train(batch, lr):
            optimizer.lr = lr
            self._programs.restart("training")
            step(*leaves(batch)[: len(step.feeds)])
            _, sound, values = self._programs.read("training")
            return float(values["loss"]) if sound else math.nan

        with self._alone("fit"), self._unchanged():
            try:
                return search(data.epoch, train, float(lowest), float(highest), steps)
            finally:
                optimizer.lr = before

    def profile(self, data, batch_size: int | None = None, *, runs: int = 10):
        """Measures the kernels of a training step (Executable.profile) on the first batch of data. Afterwards all
        variables have their values from before."""
        data = self._own(self._dataset("profile", data, batch_size))
        step = self._programs.step(parts_of("profile", data))
        arrays = leaves(next(data.epoch(0)))
        with self._unchanged():
            return step.profile(*arrays, runs=runs)

    def profile_input(self, data, batch_size: int | None = None, *, batches: int = 50) -> InputProfile:
        """Measures how long batches take to load, steps to compute, and both together, as in fit. Afterwards all
        variables have their values from before."""
        data = self._own(self._dataset("profile_input", data, batch_size))
        count = as_count("profile_input", "a number of batches", batches)
        step = self._programs.step(parts_of("profile_input", data))
        with self._unchanged():
            return measured_input(data.take(count), step, self._ahead())

    @contextmanager
    def _unchanged(self):
        """Restores all variables at the end."""
        graph = self._programs.graph
        variables = graph.variables
        values = graph.read_variables(variables)
        try:
            yield
        finally:
            graph.assign_variables(variables, values)

    # ---- saving ----

    def __getstate__(self):
        raise mistake(
            "Trainer",
            "A trainer belongs to a graph and cannot be copied or pickled; use trainer.model, which can, or "
            "trainer.save(path) and fit(resume=path)",
            TypeError,
        )

    def save(self, path) -> None:
        """Writes the whole training into a safetensors file, for fit(..., resume=path): the variables of the model and
        the optimizer, its schedule's step, averages, loss scale, random states, the epoch's totals so far, the place in
        the data, the history, and the callbacks' states. As al.save, it writes the file completely or not at all.
        al.load(model, path) reads the model's variables from it. Of several processes the first one writes; in the
        midst of an epoch, its own totals stand for those of all."""
        self._require_training("save")
        if self._rank > 0:
            return
        checkpoint.write_training(
            path,
            self._programs.lasting,
            {
                "fit_from": self._fit_from,
                "stop_training": self.stop_training,
                "history": dict(self.history),
                "batches": self._batches,
                "callbacks": [plain_state(callback) for callback in self._callbacks],
            },
        )

    def export(self, path, x=None, *, rows: int | None = None) -> None:
        """Writes predict's computation into a file for al.load_executable, `alloy run` and MPSGraph programs
        (Executable.export), or, if the path ends in .onnx, into an ONNX file of opset 18 with the variables under their
        names (docs/onnx.md). The feeds are called x, or x/0, x/name and so on for several inputs; the fetches output,
        or output/0 and so on.

        x: examples of the shapes and types to export, as for predict; None: those of this trainer's last ones. rows:
        the number of rows in each call; None: any number. ValueError: there were no examples, or an op cannot be
        exported for any number of rows, or not to ONNX. OSError: as Executable.export."""
        path = as_path("export", path)
        if (suffix := os.path.splitext(path)[1]) in _FOREIGN:
            expected = "Expected a path that ends in .mpsgraphpackage or .onnx"
            raise mistake("export", f"{expected}, got {suffix}, another format")
        data = None if x is None else as_dataset("predict", x, 1)
        parts = None if data is None else parts_of("predict", data)
        count = None if rows is None else as_count("export", "a number of rows", rows)
        if suffix == ".onnx":
            from alloy.onnx.save import to_bytes  # slow to import, and an optional package

            given, found, applied = self._programs.recorded(parts)
            inputs = dict(zip(paths(given, "x"), leaves(given)))
            outputs = dict(zip(paths(found, "output"), leaves(found)))
            replace_file(path, to_bytes(inputs, outputs, applied, rows=count, model=self.model))
            return
        step = self._programs.inference(parts)
        if count is None:
            step.export(path)
            return
        step.export(path, *((count, *(feed.shape or ())[1:]) for feed in step.feeds))

    def _load(self, path) -> None:
        progress = {part: variable.name for part, variable in self._programs.progress.variables.items()}
        record: Any = None
        if self._rank == 0:
            record = checkpoint.read_training(
                path, self._programs.lasting, progress, self._batches, len(self._callbacks)
            )
        if self._ranks > 1:
            record = processes.shared(record)
        self._fit_from, self.stop_training = record["fit_from"], record["stop_training"]
        self.history = History(record["history"])
        for callback, state in zip(self._callbacks, record["callbacks"]):
            callback.state = state

    def _own(self, data):
        """Returns this process's share of the batches."""
        return data if self._ranks == 1 else data._shares(self._rank, self._ranks)

    def _require_same(self, parts, given):
        """Raises ValueError in all processes unless all train the same."""
        variables = [f"{v.name} {v.dtype} {v.shape}" for v in self._programs.lasting]
        rate = self.optimizer.lr
        names = {"count": "count of batches", "size": "size of batches"}
        processes.require_equal(
            "fit",
            {
                "model": type(self.model).__name__,
                "loss and metrics": ", ".join(self._programs.measures.names),
                "learning rate": str(float(rate) if isinstance(rate, Real) else type(rate).__name__),
                "optimizer": re.sub(r" at 0x\w+", "", repr(self.optimizer)),
                "variables": f"{len(variables)} of checksum {zlib.crc32(str(variables).encode())}",
                "examples": str(parts),
                "precision": self._programs.dtype,
                **{str(names.get(key, key)): re.sub(r", workers=\d+", "", str(value)) for key, value in given.items()},
            },
        )

    def _require_no_drift(self):
        """Raises RuntimeError in all processes if a variable differs between them."""
        if self._ranks == 1:
            return
        variables = self._programs.shared
        digests = [zlib.crc32(values.tobytes()) for values in checkpoint.read_all(variables)]
        found = processes.gathered(np.array(digests, np.int64))
        for variable, column in zip(variables, found.T):
            others = np.flatnonzero(column != column[0])
            if others.size:
                raise mistake(
                    "fit",
                    f"Expected the same values in all processes, got others of {variable.name} in rank {others[0]} "
                    "than in rank 0",
                    RuntimeError,
                )

    def _require_training(self, op):
        if not self._programs.begun:
            raise mistake(op, "Expected a training that has begun; call fit first")

    # ---- facts ----

    def greater_is_better(self, name: str) -> bool | None:
        """Returns whether greater values of a quantity in the history are better; None: unknown."""
        return self._programs.measures.greater_is_better(name)

    def _ahead(self):
        """Returns how many steps may be in flight while the host gathers the next batch: 1 keeps a device at work; on
        the host's own cores it would only slow the gathering down."""
        return 0 if self._programs.graph._is_on_host else 1

    def _dataset(self, op, data, batch_size, shuffle=False, last="smaller"):
        arrays = isinstance(data, (tuple, list))
        made = as_dataset(op, data, batch_size, seed=self.seed if shuffle else None, last=last)
        if arrays:
            require_sound_arrays(op, made, data, self._programs, self._check_finite and op == "fit")
        return made

    def __repr__(self):
        return f"<Trainer of {type(self.model).__name__} with {type(self.optimizer).__name__}, {self.epoch} epochs>"


class _Logs(Mapping):
    """The epoch's values, read from the device at each access."""

    def __init__(self, read):
        self._read = read

    def __getitem__(self, name):
        return self._read()[name]

    def __iter__(self):
        return iter(self._read())

    def __len__(self):
        return len(self._read())


def _is_batched(data) -> bool:
    return isinstance(data, Dataset) and data.batched


def _unpadded(result, mask):
    """Returns the rows of the examples, without padding."""
    if len(result) != len(mask):
        raise mistake("predict", f"Expected a row for each of {len(mask)} examples that are padded, got {len(result)}")
    return result[: int(mask.sum())]
