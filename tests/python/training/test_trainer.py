"""The training loop."""

import re
import threading

import numpy as np
import pytest

import alloy as al
from kinds import PLANS_FOR_A_CPU, READS_HOST_MEMORY
from running import at_once


@pytest.fixture(autouse=True, params=[0, 1], ids=["waiting", "ahead"])
def ahead(request, monkeypatch):
    """Whether a trainer waits for each step, as on the host's cores, or has one in flight, as elsewhere."""
    monkeypatch.setattr(al.Trainer, "_ahead", staticmethod(lambda: request.param))
    return request.param


def linear_data(count, rng):
    x = rng.normal(size=(count, 3)).astype(np.float32)
    return x, (x @ np.float32([[1], [-2], [0.5]]) + 3).astype(np.float32)


def trainer(loss="mean_squared_error", optimizer=None, **options):
    return al.Trainer(al.nn.Sequential(al.nn.Dense(1)), loss, optimizer or al.SGD(0.1), **options)


def test_fit_learns_and_reports(rng, capsys):
    t = trainer()
    history = t.fit(linear_data(100, rng), epochs=20, batch_size=16, validation=linear_data(30, rng))
    assert set(history) == {"loss", "val_loss"} and len(history["loss"]) == len(history["val_loss"]) == 20
    assert history["loss"][0] > 1 and history["val_loss"][-1] < 1e-4
    np.testing.assert_allclose(t.model.variables[0].numpy(), [[1], [-2], [0.5]], atol=0.02)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20, "where there is no terminal, a plain line an epoch"
    assert re.fullmatch(r"epoch 20/20  loss \S+  val_loss \S+", lines[-1])
    trainer().fit(linear_data(10, rng), epochs=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_means_weigh_every_example_alike(rng):
    x, y = linear_data(10, rng)
    t = trainer(metrics=[lambda predictions, targets: al.mean(predictions)])
    assert t.predict(x, batch_size=4).shape == (10, 1)
    predictions = t.predict(x)
    for batch_size in (3, 4, 10, 99):
        values = t.evaluate((x, y), batch_size)
        assert values["loss"] == pytest.approx(np.square(predictions - y).mean(), rel=1e-5)
        assert values["<lambda>"] == pytest.approx(predictions.mean(), rel=1e-4)


def test_both_sizes_of_a_step_are_compiled_once(rng):
    x, y = linear_data(5, rng)
    t = trainer()
    t.predict(x[:1])
    before = al.stats()["compilations"]
    t.fit((x, y), epochs=3, batch_size=3, shuffle=False, progress=False)
    assert al.stats()["compilations"] - before == 2 + 3, "and what begins a fit, looks and ends an epoch"


@READS_HOST_MEMORY
@pytest.mark.parametrize("layout", ["packed", "transposed", "read-only"])
def test_batches_are_the_shuffled_examples(layout, rng, ahead):
    """Two epochs of 3 steps equal six steps by hand in the order of the seed."""
    x = rng.normal(size=(300, 110)).astype(np.float32)
    x = {"packed": x.T.copy(), "transposed": x.T, "read-only": x.T.copy()}[layout]
    x.flags.writeable = layout != "read-only"
    y = rng.normal(size=(110, 1)).astype(np.float32)
    t = trainer(optimizer=al.SGD(0.01), seed=3)
    t.predict(x[:1])
    weights, bias = (v.numpy().astype(np.float64) for v in t.model.variables)
    before = al.stats()["bytes_to_device"]
    t.fit((x, y), epochs=2, batch_size=40, progress=False)
    sent = al.stats()["bytes_to_device"] - before
    for epoch in range(2):
        rows = np.random.default_rng([3, epoch]).permutation(110)
        for batch in (rows[:40], rows[40:80], rows[80:]):
            slope = 2 * (x[batch] @ weights + bias - y[batch]) / len(batch)
            weights, bias = weights - 0.01 * x[batch].T @ slope, bias - 0.01 * slope.sum(0)
    np.testing.assert_allclose(t.model.variables[0].numpy(), weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(t.model.variables[1].numpy(), bias, rtol=1e-4, atol=1e-5)
    assert sent < 2 * y.nbytes + 100, "only targets, which are few bytes, and single numbers are copied"


def test_seeded_order(rng):
    data = linear_data(50, rng)
    runs = [trainer(seed=seed).fit(data, epochs=2, progress=False)["loss"] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_evaluation_changes_nothing(rng):
    data = linear_data(8, rng)
    t = trainer(optimizer=al.Adam())
    t.fit(data, epochs=1, progress=False)
    before = [v.numpy() for v in t.model.variables]
    t.evaluate(data)
    t.predict(data[0])
    for value, variable in zip(before, t.model.variables):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_training_and_evaluation_of_batch_norm(rng):
    """Two executables over the same variables: the moving averages are those of the batches in their order,
    and predictions use them."""
    x, y = linear_data(40, rng)
    norm, dense = al.nn.BatchNorm(momentum=0.8), al.nn.Dense(1)
    t = al.Trainer(al.nn.Sequential(norm, dense), "mean_squared_error", al.SGD(0.0))
    t.fit((x, y), epochs=3, batch_size=10, shuffle=False, progress=False)
    mean, variance = np.zeros(3), np.ones(3)
    for start in [0, 10, 20, 30] * 3:
        batch = x[start : start + 10].astype(float)
        mean, variance = 0.8 * mean + 0.2 * batch.mean(0), 0.8 * variance + 0.2 * batch.var(0)
    np.testing.assert_allclose(norm.variables[2].numpy(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.variables[3].numpy(), variance, rtol=1e-5)
    expected = (x - mean) / np.sqrt(variance + 0.001) @ dense.variables[0].numpy()
    np.testing.assert_allclose(t.predict(x), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(t.predict(x[:1]), expected[:1], rtol=1e-5, atol=1e-5)
    assert t.evaluate((x, y))["loss"] == pytest.approx(np.square(expected - y).mean(), rel=1e-5)


def test_a_model_that_has_its_graph_already(rng, ahead):
    model = al.nn.Sequential(al.nn.Dense(1))
    graph = al.Graph()
    model(graph.placeholder((1, 3)))
    t = al.Trainer(model, "mean_squared_error", al.SGD(0.1))
    t.fit(linear_data(8, rng), epochs=1, progress=False)
    assert [v.name for v in graph.variables if not v.name.startswith(("training/", "metrics/", "optimizer/"))] == [
        "dense_0/weights",
        "dense_0/bias",
    ]


def test_early_stopping(rng):
    data = linear_data(32, rng)
    history = trainer(optimizer=al.SGD(0.0)).fit(
        data, 10, validation=data, callbacks=[al.EarlyStopping(patience=3)], progress=False
    )
    assert len(history["loss"]) == 4
    history = trainer().fit(data, 10, callbacks=[al.EarlyStopping(patience=3, monitor="loss")], progress=False)
    assert len(history["loss"]) == 10


def test_checkpoints(rng, tmp_path):
    data = linear_data(32, rng)
    t = trainer()

    class Spoil(al.Callback):
        """After the first epoch every further one is worse."""

        def on_train_begin(self, logs=None):
            self.seen = []

        def on_epoch_end(self, epoch, logs=None):
            assert epoch == len(self.seen) and logs == {"loss": self.trainer.history["loss"][-1]}
            self.seen.append([v.numpy() for v in self.trainer.model.variables])
            self.trainer.model.variables[1].assign(np.float32([1e3 * len(self.seen)]))

    spoil = Spoil()
    t.fit(
        data,
        3,
        callbacks=[
            spoil,
            al.Checkpoint(tmp_path / "last.safetensors"),
            al.Checkpoint(tmp_path / "best.safetensors", "loss"),
        ],
        progress=False,
    )
    al.load(t.model, tmp_path / "last.safetensors")
    assert t.model.variables[1].numpy() == [3e3]
    al.load(t.model, tmp_path / "best.safetensors")
    assert t.model.variables[1].numpy() == [1e3]
    np.testing.assert_array_equal(t.model.variables[0].numpy(), spoil.seen[0][0])


# fmt: off
WRONG = [  # of fit, and of a trainer, beside the mistakes in test_newcomer.py
    ({"data": (np.zeros((0, 3), "f"), np.zeros((0, 1), "f"))}, ValueError,
     r"\[fit\] .*one or more examples.*\(0, 3\), float32\(0, 1\)"),
    ({"data": (np.zeros((4, 3), "f"),)}, TypeError, r"\[fit\] .*\(x, y\)"),
    ({"data": (1, 2, 3)}, ValueError, r"\[fit\] .*one or more examples each.*int32\(\), int32\(\), int32\(\)"),
    ({"data": (np.zeros((4, 0), "f"), np.zeros((4, 1), "f"))}, ValueError,
     r"\[placeholder\] The shape \(4, 0\) has no elements"),
    ({"epochs": -3}, ValueError, r"\[fit\] .*got -3"),
    ({"batch_size": 2.0}, TypeError, r"\[fit\] .*batch size as an integer"),
    ({"last_batch": "keep"}, ValueError, r"\[batch\] .*last among 'smaller', 'drop', 'pad', got 'keep'"),
    ({"loss": "cross_entropy"}, ValueError, r"\[Trainer\] .*'cross_entropy'"),
    ({"metrics": [3]}, TypeError, r"\[Trainer\] .*name of al.metrics, got 3"),
    ({"optimizer": 3}, TypeError, r"\[Trainer\] .*optimizer such as al.Adam\(\), got 3"),
]
# fmt: on


@pytest.mark.parametrize("arguments, kind, says", WRONG)
def test_wrong_arguments(arguments, kind, says, rng):
    of_fit = {"data": linear_data(4, rng), "epochs": 1, "progress": False}
    of_trainer = {name: arguments[name] for name in arguments.keys() & {"loss", "metrics", "optimizer"}}
    with pytest.raises(kind, match=rf"^{says}.*; (built )?at .*test_trainer\.py:\d+\.$"):
        trainer(**of_trainer).fit(**of_fit | {name: arguments[name] for name in arguments.keys() - of_trainer})


@pytest.mark.parametrize("value", ["a", None, float("nan"), float("inf")])
def test_wrong_min_delta(value):
    with pytest.raises((TypeError, ValueError), match=r"^\[EarlyStopping\] Expected .*min_delta"):
        al.EarlyStopping("loss", min_delta=value)


def test_wrong_labels_leave_the_model_usable(rng):
    x, y = linear_data(8, rng)
    t = trainer()
    with pytest.raises(ValueError, match=r"^\[mean_squared_error\]"):
        t.fit((x, y[:, 0]), epochs=1, progress=False)
    assert t.predict(x).shape == (8, 1)


def test_history_plot(tmp_path):
    history = al.History(loss=[3, 2, 1], val_loss=[3, 2.5, 2], accuracy=[0.1, 0.5, 0.9], val_accuracy=[0.1, 0.4, 0.7])
    history.plot(tmp_path / "new" / "history.png")
    assert (tmp_path / "new" / "history.png").read_bytes().startswith(b"\x89PNG")


# ---- numbers that are none ----


class Exploding(al.nn.Layer):
    """exp of a sum, behind a batch norm: infinite for large x."""

    def __init__(self):
        super().__init__()
        self.norm, self.dense = al.nn.BatchNorm(), al.nn.Dense(1)

    def forward(self, x, training):
        return self.dense(self.norm(x, training), training) * al.exp(al.sum(x, axis=-1, keepdims=True))


@pytest.mark.parametrize(
    "optimizer",
    [lambda: al.SGD(1e-5), lambda: al.Adam(), lambda: al.Adam(al.schedules.polynomial(0.1, 9))],
    ids=["sgd", "adam", "scheduled"],
)
def test_a_loss_that_is_not_finite_changes_nothing(storage, optimizer, rng):
    x, y = linear_data(24, rng)
    graph, model = al.Graph(storage=storage), Exploding()
    model(graph.placeholder((1, 3)))
    t = al.Trainer(model, "mean_squared_error", optimizer())
    t.fit((x, y), 2, batch_size=8, shuffle=False, progress=False)
    before = {v.name: v.numpy() for v in graph.variables}
    assert len(before) > 6
    x[9] = 100
    twin = x[:8].copy(), y[:8].copy()
    with pytest.raises(
        FloatingPointError,
        match=r"^\[fit\] The loss is (inf|nan) in step 1 of epoch 1, which changed nothing: the first "
        r"tensor that is not finite, in 1 of 8 elements, is float32\(\?, 1\) of exp, built at .*test_trainer\.py:\d+; "
        r"at .*test_trainer\.py:\d+\.$",
    ):
        t.fit((x[8:16], y[8:16]), 1, batch_size=8, shuffle=False, progress=False)
    for v in graph.variables:
        np.testing.assert_array_equal(v.numpy(), before[v.name], err_msg=v.name)
    t.fit(twin, 1, batch_size=8, shuffle=False, progress=False)
    assert all(np.isfinite(v.numpy()).all() for v in graph.variables)
    assert not np.array_equal(model.variables[0].numpy(), before["norm/gamma"])


class Distance(al.nn.Layer):
    def __init__(self):
        super().__init__()
        self.dense = al.nn.Dense(4)

    def forward(self, x, training):
        a, b = (self.dense(part, training) for part in x)
        return al.sqrt(al.sum(al.square(a - b), axis=-1, keepdims=True))


def test_what_may_have_made_a_loss_that_is_not_finite_is_said(rng):
    x = rng.normal(size=(64, 3)).astype(np.float32)
    t = al.Trainer(Distance(), "mean_squared_error", "sgd")
    with pytest.raises(
        FloatingPointError, match=r"'dense/weights', built at [^;]*; an earlier step may have .* al.sqrt's at 0"
    ):
        t.fit(((x, x), np.zeros((64, 1), np.float32)), progress=False)
    model = al.nn.Sequential(al.nn.Embedding(5, 3), al.nn.Flatten(), al.nn.Dense(2))
    t = al.Trainer(model, "softmax_cross_entropy", "sgd")
    with pytest.raises(FloatingPointError, match=r"'embedding_0/select', built at [^;]*; ids outside 0 to 4 give NaN"):
        t.fit((np.arange(8)[:, None], np.zeros(8, np.int32)), progress=False)


def test_steps_behind_one_that_is_not_finite_change_nothing_either(rng):
    """They are in flight before its loss is read. Afterwards training goes on."""
    x, y = linear_data(40, rng)
    finite = trainer(optimizer=al.SGD(1e-3))
    finite.fit((x[:16], y[:16]), 1, batch_size=8, shuffle=False, progress=False)
    x[17] = 1e30
    t = trainer(optimizer=al.SGD(1e-3))
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="in step 3 of epoch 1"):
            t.fit((x, y), 1, batch_size=8, shuffle=False, progress=False)
        for ours, expected in zip(t.model.variables, finite.model.variables):
            np.testing.assert_array_equal(ours.numpy(), expected.numpy())
        finite.fit((x[:16], y[:16]), 1, batch_size=8, shuffle=False, progress=False)


def test_training_goes_on_after_an_interrupt_beside_a_loss_that_is_not_finite(rng):
    """The interrupt comes before anybody has read that loss."""
    x, y = linear_data(40, rng)
    bad = x.copy()
    bad[9:] = 1e30

    def interrupted(x, y, rng, seen=[]):  # noqa: B006
        seen.append(len(x))
        if len(seen) == 5:
            raise KeyboardInterrupt
        return x, y

    t = trainer(optimizer=al.SGD(0.1))
    data = al.data.from_arrays(bad, y).batch(8).map(interrupted, seed=0)
    with pytest.raises(KeyboardInterrupt):
        t.fit(data, 1, progress=False)
    assert t.step == 1, "what the device has made"
    history = t.fit((x, y), 20, batch_size=8, progress=False)
    assert history["loss"][-1] < 1e-3 * history["loss"][0]


@PLANS_FOR_A_CPU
def test_the_checked_step_is_the_step(rng):
    """Bit for bit, with three kernels more."""
    x, y = rng.normal(size=(64, 8, 8, 1)).astype(np.float32), rng.integers(0, 10, 64).astype(np.int32)
    values, kernels = [], []
    for check in (True, False):
        model = al.nn.Sequential(
            al.nn.Conv2D(8, 3),
            al.nn.BatchNorm(),
            al.nn.ReLU(),
            al.nn.Flatten(),
            al.nn.Dense(64),
            al.nn.ReLU(),
            al.nn.Dense(10),
        )
        t = al.Trainer(model, "softmax_cross_entropy", al.Adam(), check_finite=check)
        t.fit((x, y), 3, 16, progress=False)
        values.append([v.numpy() for v in model.variables])
        profile = t.profile((x, y), 16, runs=1)
        for variable, value in zip(model.variables, values[-1]):
            np.testing.assert_array_equal(variable.numpy(), value, "profiling trains nothing")
        kernels.append(profile and len(profile.kernels))
    for a, b in zip(*values):
        np.testing.assert_array_equal(a, b)
    assert kernels[0] is None or kernels[0] <= kernels[1] + 3


def test_diverging_ends_with_a_sentence(rng):
    with pytest.raises(FloatingPointError, match=r"^\[fit\] The loss is (inf|nan) in step \d+ of epoch \d+"):
        trainer(optimizer=al.SGD(1e4)).fit(linear_data(64, rng), 50, progress=False)
    history = trainer(optimizer=al.SGD(1e4), check_finite=False).fit(linear_data(64, rng), 50, progress=False)
    assert not np.isfinite(history["loss"][-1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("which", ["examples", "targets"])
def test_data_that_is_not_finite(which, value, rng):
    data = linear_data(8, rng)
    data[which == "targets"][5] = value
    with pytest.raises(ValueError, match=rf"^\[fit\] Expected finite numbers as {which}, got {value} in row 5"):
        trainer().fit(data, 1, progress=False)
    with pytest.raises(ValueError, match=rf"^\[fit\] Expected finite numbers as {which}, got {value} in row 5"):
        trainer().fit(linear_data(8, rng), 1, validation=data, progress=False)


@pytest.mark.parametrize("label", [3, -1, 99])
def test_labels_outside_the_classes(label, rng):
    x, y = rng.normal(size=(8, 3)).astype(np.float32), np.int32([0, 1, 2, 0, 1, label, 0, 1])
    t = al.Trainer(al.nn.Sequential(al.nn.Dense(3)), "softmax_cross_entropy", al.SGD(0.1))
    for use in (
        lambda: t.fit((x, y), 1, progress=False),
        lambda: t.evaluate((x, y)),
        lambda: t.fit((x, y * 0), 1, validation=(x, y), progress=False),
    ):
        with pytest.raises(
            ValueError, match=rf"Expected labels from 0 to 2, of the model's 3 classes, got {label} in row 5"
        ):
            use()


# ---- what goes on, and what is noticed ----


def test_fits_go_on_where_the_last_one_ended(rng):
    """The order of the examples, the optimizer's state and the schedule's step: two fits are one."""
    data = linear_data(50, rng)
    values = []
    for epochs in ((4,), (1, 1, 2)):
        t = trainer(optimizer=al.Adam(al.schedules.polynomial(0.1, 30)))
        histories = [t.fit(data, count, batch_size=8, progress=False)["loss"] for count in epochs]
        values.append([*np.concatenate(histories), *np.concatenate([v.numpy().ravel() for v in t.model.variables])])
    np.testing.assert_array_equal(values[0], values[1])


@pytest.mark.parametrize("optimizer", [al.SGD, al.Adam])
def test_the_learning_rate_may_be_set_between_fits(optimizer, rng):
    """Like steps of an optimizer that had that rate from the beginning, and without compiling anything."""
    data = linear_data(16, rng)
    t = trainer(optimizer=optimizer(0.5))
    t.optimizer.lr = 0.0
    assert t.optimizer.lr == 0
    t.fit(data, 1, batch_size=16, shuffle=False, progress=False)
    before = [v.numpy() for v in t.model.variables]
    t.fit(data, 1, batch_size=16, shuffle=False, progress=False)  # beginning a fit and
    t.optimizer.lr = 7  # assigning a variable are compiled when they are first done
    compilations = al.stats()["compilations"]
    t.optimizer.lr = 0.25
    for _ in range(2):
        t.fit(data, 1, batch_size=16, shuffle=False, progress=False)
    assert al.stats()["compilations"] == compilations
    twin = trainer(optimizer=optimizer(0.0))
    twin.fit(data, 2, batch_size=16, shuffle=False, progress=False)
    for v, value in zip(twin.model.variables, before):
        np.testing.assert_array_equal(v.numpy(), value)
    twin.optimizer.lr = np.float32(0.25)
    twin.fit(data, 2, batch_size=16, shuffle=False, progress=False)
    for ours, others, value in zip(t.model.variables, twin.model.variables, before):
        np.testing.assert_array_equal(ours.numpy(), others.numpy())
        assert not np.array_equal(ours.numpy(), value)
    if optimizer is al.SGD:
        x, y = data
        weights = before[0].astype(float)
        slope = 2 * x.T @ (x @ weights + before[1] - y) / 16
        one = trainer(optimizer=al.SGD(7.0))
        one.optimizer.lr = 0.25
        one.fit(data, 1, batch_size=16, shuffle=False, progress=False)
        np.testing.assert_allclose(one.model.variables[0].numpy(), weights - 0.25 * slope, rtol=1e-4, atol=1e-5)


def test_a_variable_that_the_model_does_not_know(rng):
    class Hidden(al.nn.Layer):
        def forward(self, x, training):
            return x * x.graph.variable(np.float32([1]), "hidden")

    with pytest.raises(
        ValueError,
        match=r"^\[fit\] Expected variables that the model knows, got <Variable 'hidden_0/hidden' "
        r"float32\(1,\)> of .*test_trainer\.py:\d+; make it in the layer's build",
    ):
        al.Trainer(Hidden(), "mean_squared_error", al.SGD()).fit((np.ones((2, 1), np.float32),) * 2, 1, progress=False)


def test_metrics_have_names_of_their_own(rng):
    def loss(predictions, targets):
        return al.mean(predictions) * 0 + 5

    import functools

    t = trainer(
        metrics=[
            lambda p, y: al.mean(p) * 0 + 1,
            lambda p, y: al.mean(p) * 0 + 2,
            loss,
            functools.partial(al.losses.mean_squared_error),
        ]
    )
    values = t.evaluate(linear_data(8, rng))
    assert list(values) == ["loss", "<lambda>", "<lambda>_1", "loss_1", "mean_squared_error"]
    assert [values[name] for name in ("<lambda>", "<lambda>_1", "loss_1")] == [1, 2, 5]
    assert values["mean_squared_error"] == pytest.approx(values["loss"])


def test_accuracy_beside_binary_cross_entropy(rng):
    x = rng.normal(size=(64, 2)).astype(np.float32)
    for y in ((x[:, :1] > 0), x > 0):
        t = al.Trainer(
            al.nn.Sequential(al.nn.Dense(y.shape[1])), "binary_cross_entropy", al.SGD(0.0), metrics="accuracy"
        )
        values = t.evaluate((x, y.astype(np.float32)))
        assert values["accuracy"] == pytest.approx(np.mean((t.predict(x) > 0) == y)) and values["accuracy"] < 1


def test_the_rate_falls_on_a_plateau():
    """The rates of Keras's ReduceLROnPlateau, counted by hand."""
    nan = float("nan")
    for options, values, rates in (
        ({"patience": 2}, [3, 2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.5, 0.25]),
        ({"patience": 0}, [3, 3, 3, 1, 1], [1, 0.5, 0.25, 0.25, 0.125]),
        ({"patience": 1, "cooldown": 2}, [3, 3, 3, 3, 3, 3], [1, 0.5, 0.5, 0.25, 0.25, 0.125]),
        ({"patience": 1, "min_lr": 0.4}, [3, 3, 3, nan], [1, 0.5, 0.4, 0.4]),
        ({"patience": 1, "min_lr": 2.0}, [3, 3, 3], [1, 1, 1]),
        ({"patience": 2, "mode": "max"}, [1, 2, 3, 3, 2], [1, 1, 1, 1, 0.5]),
        ({"patience": 1, "min_delta": 0.5}, [3, 2.6, 2.4, 1], [1, 0.5, 0.5, 0.5]),
    ):
        callback = al.ReduceLROnPlateau("loss", factor=0.5, **options)
        callback.trainer = trainer(optimizer=al.SGD(1.0))
        callback.on_train_begin()
        found = []
        for epoch, value in enumerate(values):
            callback.on_epoch_end(epoch, {"loss": value})
            found.append(callback.trainer.optimizer.lr)
        assert found == pytest.approx(rates), options
    with pytest.raises(ValueError, match=r"^\[ReduceLROnPlateau\] Expected an optimizer whose lr is a number"):
        callback.trainer = trainer(optimizer=al.SGD(al.schedules.cosine(0.1, 9)))
        callback.on_train_begin()
    with pytest.raises(ValueError, match=r"^\[ReduceLROnPlateau\] Expected a factor of 0 or more and below 1, got 1"):
        al.ReduceLROnPlateau(factor=1)


def test_a_search_for_a_rate(rng, tmp_path):
    """Of a square, whose gradient is known: w <- w (1 - 2 lr), of which the loss is w^2 before the step."""
    x = np.ones((8, 1), np.float32)
    model = al.nn.Dense(1, use_bias=False, init=al.init.ones)
    t = al.Trainer(model, "mean_squared_error", al.SGD(0.5, momentum=0.0))
    t.fit((x, 0 * x), 1, 8, progress=False)
    model.variables[0].assign(np.ones((1, 1), "f"))
    before = {v.name: v.numpy() for v in model.graph.variables}
    found = t.find_lr((x, 0 * x), 8, lowest=1e-3, highest=1e3, steps=61)
    np.testing.assert_allclose(found.lrs, 1e-3 * 10 ** (np.arange(len(found.lrs)) / 10), rtol=1e-6)
    weights = np.cumprod([1.0, *(1 - 2 * found.lrs)])
    np.testing.assert_allclose(found.losses, weights[: len(found.losses)] ** 2, rtol=1e-4, atol=1e-12)
    assert 30 < len(found.lrs) < 61, "it ends where the loss has grown too much"
    smoothed, total = [], 0.0
    for i, loss in enumerate(found.losses, 1):
        total = 0.9 * total + 0.1 * loss
        smoothed.append(total / (1 - 0.9**i))
    np.testing.assert_allclose(found.smoothed, smoothed, rtol=1e-6)
    assert found.suggestion == pytest.approx(found.lrs[np.argmin(smoothed)] / 10)
    after = {v.name: v.numpy() for v in model.graph.variables}
    assert t.optimizer.lr == 0.5 and before.keys() <= after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    found.plot(tmp_path / "rates.png")
    assert (tmp_path / "rates.png").read_bytes()[:4] == b"\x89PNG"
    for wrong, says in (
        ({"lowest": 1.0, "highest": 0.1}, "Expected 0 < lowest < highest, got 1.0 and 0.1"),
        ({"lowest": 1e30, "highest": 1e38}, "Expected a finite loss with the lowest rate, 1e[+]30, for 3 steps"),
    ):
        with pytest.raises(ValueError, match=rf"^\[find_lr\] {says}"):
            t.find_lr((x, 0 * x), 8, **wrong)


def test_monitored_quantities_have_a_direction(rng, tmp_path):
    data = linear_data(32, rng)
    for mode, stops in (("max", 3), ("min", 10)):
        t = trainer(metrics=[al.losses.mean_squared_error])
        stopping = al.EarlyStopping("mean_squared_error", patience=2, mode=mode)
        t.fit(data, 10, callbacks=[stopping], progress=False)
        assert len(t.history["loss"]) == stops
    for make in (
        lambda **options: al.EarlyStopping("val_r2", **options),
        lambda **options: al.Checkpoint(tmp_path / "x", "f1", **options),
    ):
        with pytest.raises(ValueError, match="Expected a mode among 'auto', 'min', 'max', got 'best'"):
            make(mode="best")
        callback = make()
        callback.trainer = trainer()
        callback.on_train_begin()
        with pytest.raises(ValueError, match=r'Expected mode="max" where the greatest (val_r2|f1) is best'):
            callback.on_epoch_end(0, {"val_r2": 1.0, "f1": 2.0})
        callback = make(mode="max")
    for wrong, says in (
        (al.EarlyStopping("val_loss"), "among loss, auc, confusion_matrix, got val_loss; give fit validation data"),
        (al.Checkpoint(tmp_path / "x", "acu"), "among loss, auc, confusion_matrix, got acu; the nearest is auc"),
    ):
        t = al.Trainer(al.nn.Dense(2), "softmax_cross_entropy", "sgd", ["auc", "confusion_matrix"])
        with pytest.raises(ValueError, match=rf"^\[fit\] Expected a quantity to monitor {says}"):
            t.fit((data[0], np.int32(data[1][:, 0] > 0)), 2, callbacks=[wrong], progress=False)
        assert t.epoch == 0 and t.greater_is_better("auc")
    stopping = al.EarlyStopping("loss", patience=1)
    stopping.trainer = trainer()
    stopping.on_train_begin()
    for epoch, (loss, stopped) in enumerate([(3.0, False), (2.0, False), (float("nan"), True)]):
        stopping.on_epoch_end(epoch, {"loss": loss})
        assert stopping.trainer.stop_training == stopped, "NaN is worse than any number"


@pytest.mark.parametrize(
    "name, near",
    [
        ("epoch_end", "at"),
        ("on_batch_end", "the nearest is on_train_batch_end"),
        ("on_epoch_ends", "the nearest is on_epoch_end"),
        ("on_something", "the nearest is on_"),
    ],
)
def test_misspelt_callbacks(name, near):
    with pytest.raises(
        TypeError, match=rf"^\[Mine\] Expected methods among .*, got {name}, which is never called; {near}"
    ):
        type("Mine", (al.Callback,), {name: lambda self, logs=None: None})
    with pytest.raises(TypeError, match=rf"^\[LambdaCallback\] Expected functions by .*, got {name}"):
        al.LambdaCallback(**{name: print})
    type("Fine", (al.Callback,), {"on_epoch_end": lambda *given: None, "legend": 1, "_on_end": 2, "save": 3})


def test_a_trainer_does_one_thing_at_a_time(rng):
    """Two fits at once, or two evaluations, would share the totals and the place in the data."""
    data = linear_data(12, rng)
    t = trainer()
    calls = []

    class Again(al.Callback):
        def on_epoch_end(self, epoch, logs=None):
            calls.append(self.trainer.evaluate(data)["loss"])  # beside a fit it may be evaluated
            self.trainer.fit(data, progress=False)

    with pytest.raises(ValueError, match=r"^\[fit\] Expected one fit of a trainer at a time.*test_trainer\.py:\d+\.$"):
        t.fit(data, 3, progress=False, callbacks=[Again()])
    assert len(calls) == 1 and t.epoch == 1
    inner = al.data.from_arrays(*data).map(lambda x, y: (x * t.evaluate(data)["loss"], y)).batch(4, workers=2)
    with pytest.raises(ValueError, match=r"Expected one evaluate of a trainer at a time"):
        t.evaluate(inner)
    assert len(t.fit(data, 2, progress=False)["loss"]) == 2 and t.evaluate(data)["loss"] < calls[0]


def test_a_model_may_change_between_fits(rng):
    x, y = linear_data(12, rng)
    model = al.nn.Sequential(al.nn.Dense(1, activation="sigmoid"))
    t = al.Trainer(model, "mean_squared_error", al.SGD(0.1), seed=0)
    t.fit((x, y), 2, 4, progress=False)
    compiled = len(t._programs._made)
    t.fit((x, y), 2, 4, progress=False)
    assert len(t._programs._made) == compiled, "the same model is compiled once"
    model.layers.append(al.nn.Dense(1))
    t.fit((x, y), 40, 4, progress=False)
    assert len(model.variables) == 4 and t.evaluate((x, y))["loss"] == pytest.approx(
        np.square(t.predict(x) - y).mean(), rel=1e-5
    )
    kept = model.variables[0].numpy()
    model.layers[0] = al.nn.Dense(1)
    assert not np.allclose(t.predict(x), 0) and len(model.variables) == 4 and model.variables[0].shape == kept.shape
    t.fit((x, y), 2, 4, progress=False)
    dropping = al.nn.Sequential(al.nn.Dropout(0.9), al.nn.Dense(1))
    t = al.Trainer(dropping, "mean_squared_error", al.SGD(0.0))
    first = t.fit((x, y), 2, 12, progress=False)["loss"]
    dropping.layers[0].rate = 0.0
    later = t.fit((x, y), 2, 12, progress=False)["loss"]
    assert first[0] != first[1] and later[0] == later[1], "without dropout all steps of a rate of 0 are alike"


@pytest.mark.parametrize("name", ["model", "optimizer", "loss", "metrics", "dtype", "check_finite"])
def test_what_a_trainer_is_made_of_stays(name):
    t = trainer()
    with pytest.raises(ValueError, match=rf"^\[Trainer\] Expected {name} to stay what it was; make another Trainer"):
        setattr(t, name, "adam")
    t.steps_per_dispatch, t.stop_training, t.mine = 2, False, 3


def test_a_callback_needs_no_constructor(rng, tmp_path):
    class Mine(al.Callback):
        def __init__(self, name):
            self.name = name

    path = tmp_path / "run.safetensors"
    for _ in range(2):
        trainer().fit(linear_data(4, rng), 1, progress=False, callbacks=[Mine("a"), al.Checkpoint(path)], resume=path)


@pytest.mark.parametrize(
    "state, says",
    [
        ({"x": object()}, "x of object"),
        ({"x": [1, {2}]}, "x/1 of set"),
        ({"x": np.array(["a"])}, "x of <U1"),
        ([1], "of list"),
    ],
)
def test_the_state_of_a_callback_must_be_plain(state, says, rng, tmp_path):
    class Mine(al.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.state = state

    t = trainer()
    callbacks = [Mine(), al.Checkpoint(tmp_path / "x")]
    with pytest.raises(TypeError, match=rf"^\[save\] Expected .* as the state of Mine, got {re.escape(says)}; at"):
        t.fit(linear_data(4, rng), progress=False, callbacks=callbacks)
    assert not (tmp_path / "x").exists() and t.fit(linear_data(4, rng), progress=False)["loss"]


def test_a_metric_without_a_tensor_as_its_result(rng):
    class Mine(al.metrics.Metric):
        def update(self, totals, predictions, targets, weights):
            pass

        def result(self, totals):
            return 3.0

    with pytest.raises(TypeError, match=r"^\[mine\] Expected a tensor, got float"):
        trainer(metrics=[Mine()]).fit(linear_data(4, rng), progress=False)


@pytest.mark.parametrize(
    "loss_weights", [2.0, {"a": "x"}, {"a": float("nan")}, {"b": 1.0}, {"a": 1.0, "b": 1.0}, [1.0]]
)
def test_wrong_loss_weights(loss_weights):
    loss = "mean_squared_error" if loss_weights == 2.0 else {"a": "mean_squared_error"}
    with pytest.raises((TypeError, ValueError), match=r"^\[Trainer\] Expected .*(weight|loss_weights).*, got"):
        trainer(loss, loss_weights=loss_weights)


def test_averages_are_put_back_whatever_happens_meanwhile(rng):
    x, y = linear_data(12, rng)
    model = al.nn.Sequential(al.nn.Dense(2), al.nn.Dense(1))
    t = al.Trainer(model, "mean_squared_error", al.SGD(0.1, ema_decay=0.5))
    t.fit((x, y), 3, progress=False)
    before = [v.numpy() for v in model.variables]
    with t.averaged_weights():
        model.layers[0].trainable = False
        with pytest.raises(
            ValueError, match=r"^\[averaged_weights\] Expected one averaged_weights of a trainer at a time"
        ):
            with t.averaged_weights():
                pass
        with pytest.raises(ValueError, match=r"^\[fit\] Expected a fit outside averaged_weights\(\)"):
            t.fit((x, y), progress=False)
        assert not np.array_equal(model.variables[0].numpy(), before[0])
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)

    class Averaged(al.Callback):
        def on_epoch_end(self, epoch, logs=None):
            with self.trainer.averaged_weights():
                self.trainer.evaluate((x, y))

    t.fit((x, y), 2, progress=False, callbacks=[Averaged()])


def test_threads_that_use_a_trainer_first(rng):
    data = linear_data(12, rng)
    for _ in range(5):
        t = trainer(metrics=["r2_score"])
        start = threading.Barrier(4)
        actions = [lambda t=t: t.fit(data, 2, progress=False), lambda t=t: t.evaluate(data)]
        actions += [lambda t=t: t.predict(data[0])] * 2
        at_once(lambda action, start=start: (start.wait(), action()), actions)
        assert len(t.model.variables) == 2
        names = [v.name for v in t.model.graph.variables]
        assert len(set(names)) == len(names) and not any(name.startswith(("training_", "metrics_")) for name in names)
        actions.clear()


def test_validation_data_is_looked_at_before_training(rng):
    steps = []
    callback = al.LambdaCallback(on_train_batch_end=lambda batch, logs: steps.append(batch))
    t = trainer()
    for wrong in ((np.zeros((4, 5), "f"), np.zeros((4, 1), "f")), (np.zeros((4, 3), "f"), np.zeros((4, 2), "f"))):
        with pytest.raises(ValueError, match="Expected"):
            t.fit(linear_data(8, rng), validation=wrong, callbacks=[callback], progress=False)
    assert not steps and t.epoch == 0
