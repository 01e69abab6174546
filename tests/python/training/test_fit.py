"""What a trainer does with models of several inputs and outputs, weights, last batches, types, loaders and callbacks,
against the same computed by hand."""

import functools
import signal
import threading
import time
import types
import warnings

import numpy as np
import pytest

import alloy as al
from alloy.training import batches
from kinds import HALVES

W = np.float32([[1], [-2], [0.5]])


def linear(count=20, seed=0):
    x = np.random.default_rng(seed).normal(size=(count, 3)).astype("f")
    return x, (x @ W + 3).astype("f")


def dense():
    return al.nn.Sequential(al.nn.Dense(1))


def fit_by_hand(x, y, batches, weights=None, rate=0.1, start=None, divide_by=None):
    """SGD on the squared error of a linear model."""
    w, b = (value.astype(float) for value in start)
    for rows in batches:
        scale = np.ones(len(rows)) if weights is None else weights[rows]
        residual = (x[rows] @ w + b - y[rows]) * scale[:, None]
        count = len(rows) if divide_by is None else divide_by(rows)
        w, b = w - rate * 2 * x[rows].T @ residual / count, b - rate * 2 * residual.sum(0) / count
    return w, b


def fitted(data, batch_size, epochs=2, **options):
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1))
    trainer.predict(np.zeros((1, 3), "f"))
    start = [v.numpy() for v in trainer.model.variables]
    size = None if getattr(data, "batched", False) else batch_size
    history = trainer.fit(data, epochs, size, shuffle=False, progress=False, **options)
    return start, [v.numpy() for v in trainer.model.variables], history


def assert_close(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


# ---- last batches and weights ----


def rows_of(count, size, epochs=2):
    return [np.arange(i, min(i + size, count)) for i in range(0, count, size)] * epochs


@pytest.mark.parametrize("last", ["smaller", "drop", "pad"])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_last_batch(last, steps):
    x, y = linear(20)
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1), steps_per_dispatch=steps)
    trainer.predict(x[:1])
    start = [v.numpy() for v in trainer.model.variables]
    history = trainer.fit((x, y), 2, 6, shuffle=False, progress=False, last_batch=last)
    batches = [rows for rows in rows_of(20, 6) if last != "drop" or len(rows) == 6]
    assert_close([v.numpy() for v in trainer.model.variables], fit_by_hand(x, y, batches, start=start))
    # The loss of the second epoch, by hand: each example before the step that it is in.
    values, w, b = [], *fit_by_hand(x, y, batches[: len(batches) // 2], start=start)
    for rows in batches[len(batches) // 2 :]:
        values.extend(np.square(x[rows] @ w + b - y[rows]).ravel())
        w, b = fit_by_hand(x, y, [rows], start=(w, b))
    assert history["loss"][1] == pytest.approx(np.mean(values), rel=1e-4)


def test_sample_weights_add_as_in_keras():
    """The sum of weighted losses is divided by the number of examples."""
    x, y = linear(20)
    weights = np.random.default_rng(1).uniform(0, 3, 20).astype("f")
    start, found, _ = fitted((x, y, weights), 6)
    assert_close(found, fit_by_hand(x, y, rows_of(20, 6), weights, start=start))
    start, found, _ = fitted((x, y, weights), 6, last_batch="pad")
    assert_close(found, fit_by_hand(x, y, rows_of(20, 6), weights, start=start))


def test_class_weights():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 4)).astype("f"), rng.integers(0, 4, 24).astype("i4")
    weights = {1: 3.0, 2: 0.0}
    results = []
    for how in ("classes", "examples"):
        model = al.nn.Sequential(al.nn.Dense(4, seed=1))
        trainer = al.Trainer(model, "softmax_cross_entropy", al.SGD(0.5), ["accuracy"])
        each = np.float32([weights.get(int(label), 1.0) for label in y])
        data, options = ((x, y), {"class_weight": weights}) if how == "classes" else ((x, y, each), {})
        history = trainer.fit(data, 3, 8, progress=False, **options)
        results.append([history["loss"], history["accuracy"], *(v.numpy() for v in model.variables)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    with pytest.raises(ValueError, match=r"^\[fit\] Expected classes as integers .* beside class_weight"):
        fitted(linear(), 5, class_weight={0: 1.0})
    classes = ({}, {-1: 2.0}, {"cat": 2.0}, {True: 2.0}, {10**12: 2.0}, [1, 2], "ab")
    values = (-1.0, np.nan, np.inf, 1e39, "a", None, True, np.ones(2))
    for wrong in (*classes, *({0: value} for value in values)):
        with pytest.raises(ValueError, match=r"^\[fit\] Expected class_weight as \{class: weight\}, .*, got"):
            trainer.fit((x, y), 1, progress=False, class_weight=wrong)
    made = []
    for same in ({1: 3.0, 2: 0.0}, {2: 0, np.int64(1): np.float32(3)}):
        trainer.fit((x, y), 1, 8, progress=False, class_weight=same)
        made.append(len(trainer._programs._made))
    assert made[0] == made[1], "equal weights share a program"
    with pytest.raises(ValueError, match=r"^\[fit\] Expected class_weight for classes of 4 scores, got 4; at "):
        trainer.fit((x, y), 1, progress=False, class_weight={0: 1.0, 4: 2.0})


@pytest.mark.parametrize("label", [-1, 4])
def test_class_weights_hide_no_label_outside_the_classes(label):
    x, y = np.zeros((6, 2), "f"), np.int32([0, 1, 2, label, 0, 1])
    trainer = al.Trainer(al.nn.Sequential(al.nn.Dense(4)), "softmax_cross_entropy", "sgd")
    with pytest.raises(FloatingPointError, match=rf"expected labels from 0 to 3, .* got {label} in row 1 of the batch"):
        trainer.fit(al.data.from_arrays(x, y).batch(2), 1, progress=False, class_weight={1: 2.0})


def test_metrics_leave_padding_out():
    """20 examples in batches of 6: the last one is padded."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 4)).astype("f"), rng.integers(0, 3, 20).astype("i4")
    trainer = al.Trainer(
        al.nn.Sequential(al.nn.Dense(3)), "softmax_cross_entropy", "sgd", ["accuracy", "confusion_matrix"]
    )
    padded = al.data.from_arrays(x, y).batch(6, last="pad")
    found, whole = trainer.evaluate(padded), trainer.evaluate((x, y), 20)
    classes = trainer.predict(x).argmax(1)
    matrix = np.zeros((3, 3))
    np.add.at(matrix, (y, classes), 1)
    for values in (found, whole):
        assert values["accuracy"] == pytest.approx(np.mean(classes == y))
        np.testing.assert_array_equal(values["confusion_matrix"], matrix)
    assert found["loss"] == pytest.approx(whole["loss"], rel=1e-6)
    np.testing.assert_allclose(trainer.predict(padded), trainer.predict(x), rtol=1e-5, atol=1e-6)
    mapped = padded.map(lambda x, y, mask: (x * 1, y, mask))
    assert trainer.evaluate(mapped)["loss"] == found["loss"]
    np.testing.assert_array_equal(trainer.predict(mapped), trainer.predict(padded))
    part = al.data.split(padded, fraction=1)[0]
    assert trainer.predict(part).shape == (6 * 3 - (4 if part[len(part) - 1][2].sum() < 6 else 0), 3)


def test_batch_norm_leaves_padding_out():
    """An epoch whose last batch is padded gives the weights and averages of one whose last batch is smaller."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(22, 3, 3, 4)).astype("f"), rng.integers(0, 3, 22).astype("i4")
    found = []
    for last in ("smaller", "pad"):
        model = al.nn.Sequential(
            al.nn.Conv2D(4, 2), al.nn.BatchNorm(momentum=0.5), al.nn.ReLU(), al.nn.Flatten(), al.nn.BatchNorm(),
            al.nn.Dense(3), seed=1,
        )  # fmt: skip
        trainer = al.Trainer(model, "softmax_cross_entropy", al.SGD(0.1))
        trainer.fit((x, y), 2, 6, last_batch=last, shuffle=False, progress=False)
        found.append([variable.numpy() for variable in model.variables])
    for smaller, padded in zip(*found, strict=True):
        np.testing.assert_allclose(padded, smaller, rtol=1e-4, atol=1e-5)


def test_a_layer_of_ones_own_knows_the_examples_that_count():
    class Centred(al.nn.Dense):
        def forward(self, x, training):
            mask = self.example_mask
            seen.append((training, mask is not None))
            return super().forward(x, training)

    seen, (x, y) = [], linear()
    al.Trainer(Centred(1), "mean_squared_error", "sgd").fit(
        (x, y), 1, 6, last_batch="pad", validation=(x, y), progress=False
    )
    assert (True, True) in seen and (False, True) not in seen


@pytest.mark.parametrize(
    "loss, y, says",
    [
        (
            "binary_cross_entropy",
            np.float32([[0, 1], [1, -1], [0, 0]]),
            r"expected targets from 0 to 1, got -1\.0 in row 1",
        ),
        ("softmax_cross_entropy", np.float32([[0, 1], [1, 1], [0, 1]]), r"expected probabilities .* in row 1"),
        ("softmax_cross_entropy", np.float32([[0, 1], [2, -1], [0, 1]]), r"expected probabilities .* in row 1"),
    ],
)
def test_a_step_of_targets_that_the_loss_does_not_take_changes_nothing(loss, y, says):
    trainer = al.Trainer(al.nn.Dense(2), loss, "sgd")
    trainer.predict(np.ones((1, 3), "f"))
    before = [variable.numpy() for variable in trainer.model.variables]
    with pytest.raises(FloatingPointError, match=says):
        trainer.fit(al.data.from_arrays(np.ones((3, 3), "f"), y).batch(3), 1, progress=False)
    for variable, value in zip(trainer.model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_negative_weights_in_batches_are_named():
    x, y = linear()
    data = al.data.from_arrays(x, y, -np.ones(20, "f")).batch(5)
    with pytest.raises(FloatingPointError, match=r"expected weights of 0 or more, got -1\.0 in row 0"):
        al.Trainer(dense(), "mean_squared_error", "sgd").fit(data, 1, progress=False)


def test_metrics_follow_the_ignored_label_of_the_loss():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)).astype("f"), rng.integers(-1, 3, 40).astype("i4")
    loss = functools.partial(al.losses.softmax_cross_entropy, ignore_index=-1)
    trainer = al.Trainer(al.nn.Dense(3), loss, "sgd", ["accuracy", "confusion_matrix"])
    found, right = trainer.evaluate((x, y), 7), trainer.predict(x).argmax(1) == y
    assert found["accuracy"] == pytest.approx(right[y >= 0].mean())
    assert found["confusion_matrix"].sum() == (y >= 0).sum()


def test_a_schedule_that_ends_too_early_is_told():
    x, y = linear()
    with pytest.warns(UserWarning, match=r"rate is 0 from epoch 3 of 5 on\. .* an epoch has 4: 5 epochs have 20"):
        al.Trainer(dense(), "mean_squared_error", al.SGD(al.schedules.cosine(0.01, 8))).fit(
            (x, y), 5, 5, progress=False
        )
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(al.schedules.cosine(0.01, 20)))
    for _ in range(2):
        trainer.fit((x, y), 2, 5, progress=False)
    warm = al.SGD(al.schedules.warmup(al.schedules.cosine(0.01, 8), 2, 0.0))
    with pytest.warns(UserWarning, match=r"rate is 0 from epoch 4 of 5 on"):
        al.Trainer(dense(), "mean_squared_error", warm).fit((x, y), 5, 5, progress=False)
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(al.schedules.cosine(0.01, 4), accumulate_steps=2))
    trainer.fit((x, y), 1, 5, progress=False)
    with pytest.warns(UserWarning, match=r"rate is 0 from epoch 2 of 3 on"):
        trainer.fit((x, y), 3, 5, progress=False)


def test_a_loss_may_compare_examples_with_each_other():
    def contrast(p, t):
        scores = p @ al.transpose(p)
        return al.mean(al.square(scores - al.sum(al.square(p), axis=1)), axis=1)

    x, y = linear()
    al.Trainer(al.nn.Dense(3), contrast, "sgd").fit((x, y), 1, 5, progress=False)


def test_outputs_without_examples_are_refused():
    class Two(al.nn.Dense):
        def forward(self, x, training):
            return {"y": super().forward(x, training), "mean": al.mean(x, axis=0)}

    trainer, (x, y) = al.Trainer(Two(1), {"y": "mean_squared_error"}, "sgd"), linear()
    trainer.fit((x, {"y": y}), 1, progress=False)
    with pytest.raises(
        ValueError, match=r"^\[predict\] Expected outputs with a row for each example, got float32\(3,\)"
    ):
        trainer.predict(x)


@pytest.mark.parametrize("function", [lambda x, y, mask: (x, y), lambda x, y, mask: x, lambda x, y, mask: (x, mask, y)])
def test_a_map_keeps_the_mask_of_padding(function):
    x, y = linear()
    data = al.data.from_arrays(x, y).batch(6, last="pad").map(function)
    trainer = al.Trainer(dense(), "mean_squared_error", "sgd")
    for use in (trainer.fit, trainer.evaluate, trainer.predict):
        with pytest.raises(
            ValueError,
            match=r'^\[map\] Expected the mask of last="pad" as the last part of the result for a batch, got',
        ):
            use(data)


# ---- structures ----


class Two(al.nn.Layer):
    """Two inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.left, self.right = al.nn.Dense(1, seed=1), al.nn.Dense(3, seed=2)

    def forward(self, x, training):
        sum = x["a"] + al.cast(x["b"], "float32")
        return {"value": self.left(sum, training), "class": self.right(sum, training)}


def two_inputs(count=30):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(count, 3)).astype("f"), rng.integers(0, 5, (count, 3)).astype("uint8")
    total = a + b
    return {"a": a, "b": b}, {"value": total @ W, "class": total.argmax(1).astype("i4")}


def test_several_inputs_outputs_and_losses():
    x, y = two_inputs()
    trainer = al.Trainer(
        Two(),
        {"value": "mean_squared_error", "class": "softmax_cross_entropy"},
        al.Adam(0.02),
        metrics={"class": ["accuracy"], "value": "mean_absolute_error"},
        loss_weights={"value": 0.5, "class": 2.0},
    )
    history = trainer.fit((x, y), 60, 8, validation=(x, y), progress=False)
    names = ["loss", "value_loss", "class_loss", "class_accuracy", "value_mean_absolute_error"]
    assert list(history) == names + [f"val_{name}" for name in names]
    np.testing.assert_allclose(
        history["loss"], 0.5 * np.array(history["value_loss"]) + 2 * np.array(history["class_loss"]), rtol=1e-5
    )
    assert history["loss"][-1] < 0.2 * history["loss"][0] and history["val_class_accuracy"][-1] > 0.8
    found = trainer.predict(x, 7)
    assert found.keys() == {"value", "class"} and found["class"].shape == (30, 3)
    values = trainer.evaluate((x, y))
    assert values["value_loss"] == pytest.approx(np.square(found["value"] - y["value"]).mean(), rel=1e-4)
    assert values["class_accuracy"] == pytest.approx(np.mean(found["class"].argmax(1) == y["class"]))
    weights = {"value": np.zeros(30, "f"), "class": np.ones(30, "f")}
    assert trainer.evaluate((x, y, weights))["value_loss"] == 0


def test_a_loss_of_all_outputs_together():
    x, y = two_inputs()

    def both(predictions, targets):
        return al.losses.mean_squared_error(predictions["value"], targets["value"])

    trainer = al.Trainer(Two(), both, al.Adam(0.05))
    trainer.model.right.trainable = False
    history = trainer.fit((x, y), 40, 8, progress=False)
    assert list(history) == ["loss"] and history["loss"][-1] < 0.3 * history["loss"][0]


@pytest.mark.parametrize(
    "loss, says",
    [
        (
            {"value": "mean_squared_error", "klass": "softmax_cross_entropy"},
            r"outputs with 'klass'.*got \['value', 'class",
        ),
        (["mean_squared_error", "softmax_cross_entropy"], r"outputs with 0"),
    ],
)
def test_losses_of_outputs_that_do_not_exist(loss, says):
    with pytest.raises(ValueError, match=rf"^\[Trainer\] Expected {says}"):
        al.Trainer(Two(), loss, "sgd").fit(two_inputs(), 1, progress=False)


# ---- data sets of all kinds ----


class Squares:
    """As a data set of PyTorch."""

    def __init__(self, count=20):
        self.x, self.y = linear(count)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        if not 0 <= i < len(self.x):
            raise IndexError
        return self.x[i], self.y[i]


def test_all_kinds_of_data_train_alike():
    x, y = linear(20)
    batches = [(x[i : i + 6], y[i : i + 6]) for i in range(0, 20, 6)]
    sources = [
        (x, y),
        Squares(),
        al.data.from_arrays(x, y).batch(6),
        al.data.from_items(Squares()).batch(6, workers=3),
        al.data.from_iterator(lambda: iter(batches), batched=True),
        al.data.from_iterator(lambda: zip(x, y)).batch(6),
    ]
    results = [fitted(source, 6) for source in sources]
    for _, found, history in results[1:]:
        for ours, theirs in zip(found, results[0][1]):
            np.testing.assert_array_equal(ours, theirs)
        assert history == results[0][2]


def test_a_generator_that_is_read_twice_says_so():
    x, y = linear(6)
    with pytest.raises(ValueError, match=r"a fresh iterator for each epoch, got an iterator, which has been read once"):
        fitted(al.data.from_iterator(pair for pair in zip(x, y)).batch(3), 3, epochs=2)


def test_errors_of_loaders_reach_the_caller_and_threads_end():
    def broken(x, y):
        if broken.count == 7:
            raise RuntimeError("the disk is gone")
        broken.count += 1
        return x, y

    before = threading.active_count()
    for _ in range(3):
        broken.count = 0
        with pytest.raises(ValueError, match="the disk is gone"):
            fitted(al.data.from_arrays(*linear(40)).map(broken).batch(4), 4)
    broken.count = 100

    class Stop(al.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyError("mine")

    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            fitted(al.data.from_arrays(*linear(40)).map(broken).batch(4), 4, callbacks=[Stop()])
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


@pytest.mark.parametrize("moment", ["start", "end"])
def test_an_interrupt_beside_the_input_thread_leaves_no_thread(moment, monkeypatch):
    """Ctrl-C while the thread starts, or while it is told to end."""

    class Thread(threading.Thread):
        def start(self):
            super().start()
            if moment == "start":
                signal.raise_signal(signal.SIGINT)

    class Event(threading.Event):
        def set(self):
            if moment == "end":
                signal.raise_signal(signal.SIGINT)
            super().set()

    trainer, (x, y) = al.Trainer(dense(), "mean_squared_error", "sgd"), linear()
    data = al.data.from_arrays(x, y).map(lambda x, y: (x, y)).batch(2)
    trainer.fit(data, 1, progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(batches, "threading", types.SimpleNamespace(Thread=Thread, Event=Event))
        with pytest.raises(KeyboardInterrupt):
            trainer.fit(data, 1, progress=False)
    assert not [thread for thread in threading.enumerate() if thread.name == "alloy input"]
    assert trainer.fit(data, 1, progress=False)["loss"]


def test_the_next_batch_is_loaded_while_a_step_computes():
    """What the loader sees: it is asked for batch i + 1 before the step of batch i has ended."""
    ended, asked = [], []

    def watched(x, y):
        asked.append(len(ended))
        return x, y

    class Watch(al.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(0.02)
            ended.append(batch)

    x, y = linear(40)
    fitted(al.data.from_arrays(x, y).batch(4).map(watched), 4, epochs=1, callbacks=[Watch()])
    assert all(done < i for i, done in enumerate(asked[2:], 1)), asked


def test_profile_of_the_input():
    def slow(x, y):
        time.sleep(0.025)  # an example; a step takes less than a millisecond
        return x, y

    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1))
    trainer.fit(linear(40), 1, 4, progress=False)
    before = [v.numpy() for v in trainer.model.variables]
    profile = trainer.profile_input(al.data.from_arrays(*linear(40)).map(slow).batch(4), batches=5)
    assert profile.batches == 5 and profile.load > 0.1 > profile.step and profile.waited <= profile.both
    assert "means of 5 batches" in str(profile)
    for value, variable in zip(before, trainer.model.variables):
        np.testing.assert_array_equal(variable.numpy(), value, "nothing was trained")


# ---- one dispatch ----


def test_a_step_with_everything_is_one_dispatch():
    """Metrics, schedule, clipping, averages, loss scaling and checks: an epoch of n steps has n dispatches more than
    one of none, but for what reads its values."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 8)).astype("f"), rng.integers(0, 3, 64).astype("i4")
    optimizer = al.AdamW(
        al.schedules.warmup(al.schedules.cosine(0.01, 500), 5), clip_norm=1.0, clip_value=0.5, ema_decay=0.99,
        accumulate_steps=2, loss_scale=al.LossScale(),
    )  # fmt: skip
    model = al.nn.Sequential(al.nn.Dense(8), al.nn.BatchNorm(), al.nn.ReLU(), al.nn.Dropout(0.1), al.nn.Dense(3))
    trainer = al.Trainer(
        model, "softmax_cross_entropy", optimizer, ["accuracy", "auc", "confusion_matrix"], dtype="float16"
    )
    counts = []
    for size in (2, 4, 8, 2, 4, 8):
        before = al.stats()["dispatches"]
        trainer.fit((x, y), 2, size, progress=False)
        counts.append(al.stats()["dispatches"] - before)
    counts = counts[3:]
    assert counts[0] - counts[1] == 2 * 16 and counts[1] - counts[2] == 2 * 8, counts
    assert counts[2] - 2 * 8 <= 10, "what begins a fit, two rates of its schedule among it, and ends two epochs"


# ---- types ----


@pytest.mark.parametrize("dtype", HALVES)
def test_mixed_precision(dtype):
    """Activations of two bytes, variables of four; it learns as float32 does."""
    (x, y), test = al.data.split(*al.data.digits())
    results = {}
    for kind in ("float32", dtype):
        model = al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(32), al.nn.ReLU(), al.nn.Dense(10))
        scale = al.LossScale() if kind == "float16" else None
        trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(2e-3, loss_scale=scale), ["accuracy"], dtype=kind)
        history = trainer.fit((x, y), 8, progress=False)
        results[kind] = trainer.evaluate(test)["accuracy"]
        assert all(v.dtype == "float32" for v in model.variables)
        assert ("skipped_steps" in history) == (kind == "float16")
        assert trainer.predict(test[0]).dtype == al.engine.dtypes.numpy_dtype(kind)
    assert results[dtype] > 0.9 and abs(results[dtype] - results["float32"]) < 0.02


def test_mixed_precision_of_ids_and_bytes():
    """Layers that make floats of what are none make those of the training."""
    seen = []

    class Watch(al.nn.Layer):
        def forward(self, x, training):
            seen.append(x.dtype)
            return x

    rng = np.random.default_rng(0)
    for source, first in [
        (rng.integers(0, 256, (16, 5), "uint8"), lambda: al.nn.Rescaling(1 / 255)),
        (rng.integers(0, 9, (16, 5), "int32"), lambda: al.nn.Embedding(9, 4)),
    ]:
        for dtype in ("float32", HALVES[-1]):
            model = al.nn.Sequential(first(), Watch(), al.nn.Flatten(), al.nn.Dense(3))
            trainer = al.Trainer(model, "softmax_cross_entropy", "adam", dtype=dtype)
            trainer.fit((source, rng.integers(0, 3, 16, "int32")), 2, 8, progress=False)
            assert set(seen) == {dtype}
            seen.clear()


def test_skipped_steps_are_counted_and_do_not_end_the_training():
    x, y = linear(40)
    bad = y.copy()
    bad[[5, 17]] = np.inf
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1, skip_nonfinite=True), check_finite=False)
    history = trainer.fit((x, bad), 3, 4, shuffle=False, progress=False)
    assert history["skipped_steps"] == [2, 2, 2]
    good = [rows for rows in rows_of(40, 4, 3) if not {5, 17} & set(rows.tolist())]
    twin = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1))
    twin.predict(x[:1])
    assert_close(
        [v.numpy() for v in trainer.model.variables],
        fit_by_hand(x, y, good, start=[v.numpy() for v in twin.model.variables]),
    )
    assert np.isfinite(history["loss"]).all()


def test_averaged_weights():
    x, y = linear(40)
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1, ema_decay=0.9))
    with pytest.raises(ValueError, match=r"^\[averaged_weights\] Expected a training that has begun"):
        with trainer.averaged_weights():
            pass
    trainer.fit((x, y), 1, 4, progress=False)
    plain = [v.numpy() for v in trainer.model.variables]
    loss = trainer.evaluate((x, y))["loss"]
    with trainer.averaged_weights():
        averaged = [v.numpy() for v in trainer.model.variables]
        assert trainer.evaluate((x, y))["loss"] > loss
    for a, b, v in zip(plain, averaged, trainer.model.variables):
        np.testing.assert_array_equal(v.numpy(), a)
        assert not np.array_equal(a, b)


def test_two_trainers_of_one_model(tmp_path):
    """Made before its first call, they train it by turns; each has a place, totals and an optimizer of its own."""
    x, y = linear(40)
    model = dense()
    one, two = (al.Trainer(model, "mean_squared_error", al.SGD(rate)) for rate in (0.1, 0.01))
    alone = al.Trainer(dense(), "mean_squared_error", al.SGD(0.1))
    expected = [*alone.fit((x, y), 1, 8, progress=False)["loss"]]
    alone.optimizer.lr = 0.01
    expected += alone.fit((x, y), 1, 8, progress=False)["loss"]
    first = one.fit((x, y), 1, 8, progress=False)["loss"]
    two.epoch = 1  # the second epoch's order
    assert [*first, *two.fit((x, y), 1, 8, progress=False)["loss"]] == expected
    assert len({v.name for v in model.graph.variables}) == len(model.graph.variables)
    two.save(tmp_path / "two.safetensors")
    al.load(model, tmp_path / "two.safetensors")


# ---- callbacks ----


def test_moments_of_callbacks():
    calls = []

    class Note(al.Callback):
        def on_train_begin(self, logs=None):
            calls.append("begin")

        def on_train_end(self, logs=None):
            calls.append(("end", sorted(logs)))

        def on_epoch_begin(self, epoch, logs=None):
            calls.append(("epoch", epoch))

        def on_train_batch_end(self, batch, logs=None):
            calls.append((batch, round(logs["loss"], 3) > 0, len(logs), list(logs)))

        def on_epoch_end(self, epoch, logs=None):
            calls.append(("epoch end", epoch, logs["loss"] == self.trainer.history["loss"][-1]))

    seen = []
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.01))
    lambdas = al.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append((epoch, list(logs))))
    trainer.fit(linear(12), 2, 8, progress=False, callbacks=[Note(), lambdas])
    epoch = [(0, True, 1, ["loss"]), (1, True, 1, ["loss"])]
    assert calls == [
        "begin", ("epoch", 0), *epoch, ("epoch end", 0, True), ("epoch", 1), *epoch, ("epoch end", 1, True),
        ("end", ["loss"]),
    ]  # fmt: skip
    assert seen == [(0, ["loss"]), (1, ["loss"])]
    trainer.fit(linear(12), 1, 8, progress=False, callbacks=[lambdas])
    assert seen[-1][0] == 2, "epochs count on"


def test_best_weights_are_restored():
    x, y = linear(40)
    best = {}

    class Spoil(al.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 2:
                best.update({v.name: v.numpy() for v in self.trainer.model.variables})
            if epoch >= 2:
                self.trainer.model.variables[1].assign(np.float32([50.0]))

    stopping = al.EarlyStopping("loss", patience=2, restore_best_weights=True)
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.05))
    history = trainer.fit((x, y), 20, 8, progress=False, callbacks=[stopping, Spoil()])
    assert len(history["loss"]) == 5
    for v in trainer.model.variables:
        np.testing.assert_array_equal(v.numpy(), best[v.name])


def test_the_end_of_a_fit_is_called_where_it_ended():
    ended = []
    trainer = al.Trainer(dense(), "mean_squared_error", al.SGD(0.05))

    def fail(epoch, logs):
        raise KeyError(epoch)

    note = al.LambdaCallback(on_train_end=ended.append)
    with pytest.raises(KeyError):
        trainer.fit(linear(), 2, progress=False, callbacks=[note, al.LambdaCallback(on_epoch_end=fail)])
    assert ended == []
    trainer.fit(linear(), 1, progress=False, callbacks=[note])
    assert [list(logs) for logs in ended] == [["loss"]]


def test_what_tensorboard_reads(tmp_path):
    """The events in the files that it shows."""
    import struct

    from tensorboardX.proto.event_pb2 import Event

    x, y = linear()
    *_, history = fitted((x, y), 8, epochs=3, validation=(x, y), callbacks=[al.TensorBoard(tmp_path)])
    for part, name in (("train", "loss"), ("validation", "val_loss")):
        (file,) = (tmp_path / part).iterdir()
        content, found = file.read_bytes(), []
        while content:
            (size,) = struct.unpack("<Q", content[:8])  # then a checksum, the event, a checksum
            event, content = Event.FromString(content[12 : 12 + size]), content[16 + size :]
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
        assert found == [(i, "epoch_loss", np.float32(value)) for i, value in enumerate(history[name])]


def test_tensorboard_without_its_package(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"^\[tensorboard\] The package tensorboardX is missing: pip install"):
        fitted(linear(), 8, callbacks=[al.TensorBoard(tmp_path)])


class Failing:
    """Whatever calls it: an exception at the call of that number, and then none."""

    def __init__(self, at):
        self.left = at

    def __call__(self):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", range(1, 7))
def test_what_could_not_be_built_leaves_nothing_behind(at):
    """Exceptions in a user's metric, optimizer and schedule, beside another form of data than that of the next fit."""
    tick = Failing(at)

    class Momentum(al.Optimizer):
        def begin(self, state, step):
            state.setdefault("begun", 0.0)
            state["begun"] = state["begun"] + 1.0
            tick()

        def update(self, parameter, gradient, slots, step):
            slots["m"] = slots["m"] * 0.9 + gradient
            tick()
            return parameter - slots["m"] * self.rate

    class Sum(al.metrics.Metric):
        def update(self, totals, predictions, targets, weights):
            al.metrics.accumulate(totals, "sum", al.sum(predictions))
            tick()

        def result(self, totals):
            return al.metrics.accumulated(totals, "sum")

    def rate(step):
        tick()
        return step * 0.0 + 0.1

    def trainer():
        optimizer = Momentum(rate, accumulate_steps=2, ema_decay=0.9)
        return al.Trainer(dense(), "mean_squared_error", optimizer, [Sum(), "mean_absolute_error"])

    x, y = linear()
    used, fresh = trainer(), trainer()
    with pytest.raises(KeyboardInterrupt):
        used.fit((x, y, np.ones(20, "f")), 1, 7, validation=(x, y), progress=False)
    tick.left = 0
    start = [variable.numpy() for variable in used.model.variables]
    fresh.predict(x)
    for variable, value in zip(fresh.model.variables, start, strict=True):
        variable.assign(value)
    histories = [each.fit((x, y), 3, 7, validation=(x, y), progress=False, shuffle=False) for each in (used, fresh)]
    assert histories[0] == histories[1] and used.evaluate((x, y)) == fresh.evaluate((x, y))


def test_predictions_have_rows():
    class Whole(al.nn.Layer):
        def forward(self, x, training):
            return al.sum(x)

    class Flat(al.nn.Layer):
        def forward(self, x, training):
            return al.reshape(x, (-1,))

    x, _ = linear()
    with pytest.raises(
        ValueError, match=r"^\[predict\] Expected outputs with a row for each example, got float32\(\); give"
    ):
        al.Trainer(Whole(), "mean_squared_error", "sgd").predict(x)
    trainer = al.Trainer(Flat(), "mean_squared_error", "sgd")
    np.testing.assert_array_equal(trainer.predict(x, 8), x.ravel())
    with pytest.raises(ValueError, match=r"^\[predict\] Expected a row for each of 8 examples that are padded, got 24"):
        trainer.predict(al.data.from_arrays(x).batch(8, last="pad"))


def test_a_batch_of_one_example_warns_where_it_has_no_variance():
    x = np.ones((9, 4), np.float32)
    model = al.nn.Sequential(al.nn.BatchNorm(), al.nn.Dense(1))
    trainer = al.Trainer(model, "mean_squared_error", "sgd")
    with pytest.warns(UserWarning, match=r"^\[fit\] A batch has one example, .*: batchnorm_0 gives its beta for any"):
        trainer.fit((x, x[:, :1]), batch_size=4, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.fit((x, x[:, :1]), batch_size=4, progress=False, last_batch="drop")
        trainer.fit((x, x[:, :1]), batch_size=5, progress=False)


def test_a_tuple_of_examples_is_predicted_together():
    class Sum(al.nn.Layer):
        def forward(self, x, training):
            return x[0] + x[1]

    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(al.Trainer(Sum(), "hinge", "sgd").predict((a, 2 * a), 2), 3 * a)
