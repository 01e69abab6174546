"""Trainings of several processes: they end as those of one process."""

import subprocess
import sys

import numpy as np
import pytest

import alloy as al
from alloy.tools import launch

# Networks without kinks, whose roundings do not grow; data whose batches have a smaller last one.
NETWORKS = """
nn, rng = al.nn, np.random.default_rng(0)
count = 110
labels = rng.integers(0, 4, count)
rows = rng.normal(size=(count, 6, 8)).astype(np.float32)
images = rng.normal(size=(count, 8, 8, 3)).astype(np.float32)

class Transformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attention, self.norm = nn.MultiHeadAttention(2, 4), nn.LayerNorm()
        self.hidden, self.back, self.out = nn.Dense(16, activation="gelu"), nn.Dense(8), nn.Dense(4)

    def forward(self, x, training):
        x = self.norm(x + self.attention(x))
        return self.out(al.mean(x + self.back(self.hidden(x)), axis=1))

def mlp(*behind):
    return nn.Sequential(nn.Dense(16, activation="tanh"), *behind, nn.Dense(4))

def cnn():
    conv = nn.Conv2D(6, 3, use_bias=False), nn.BatchNorm(), nn.Conv2D(6, 3, activation="tanh")
    return nn.Sequential(*conv, nn.Flatten(), nn.Dense(4))

def trained(model, x, optimizer, epochs=10, data=None, options={}, **fit):
    options = dict(metrics=["accuracy"], sync_batch_norm=True) | options
    trainer = al.Trainer(model, "softmax_cross_entropy", optimizer, distributed=True, **options)
    batches = dict(batch_size=24) if not isinstance(data, al.data.Dataset) else dict()
    return trainer.fit((x, labels) if data is None else data, epochs, progress=False, **batches, **fit)

def outcome(model, history):
    state = {v.name: v.numpy().ravel().tolist() for v in model.variables}
    return {"history": {key: np.ravel(values).tolist() for key, values in history.items()}, "state": state}
"""


def require_equal(found, alone, bound=1e-5):
    assert found.keys() == alone.keys()
    for key, expected in alone.items():
        if isinstance(expected, dict):
            require_equal(found[key], expected, bound)
        else:
            assert np.allclose(found[key], expected, rtol=bound, atol=bound, equal_nan=True), key


@pytest.fixture
def as_alone(launched):
    """Requires that so many processes tell the same as one, except rounding: of 1e-5 or a bound."""

    def require(code, processes, bound=1e-5, **options):
        (alone,) = launched(1, NETWORKS + code)
        for number in processes:
            told = launched(number, NETWORKS + code, **options)
            for found in told:
                require_equal(found | {"rank": 0}, alone, bound)
            assert all(found | {"rank": 0} == told[0] for found in told)

    return require


def test_processes_train_as_one(as_alone):
    code = """
models = {
    "mlp": (mlp(), rows[:, 0], al.Adam(1e-2)),
    "cnn": (cnn(), images, al.SGD(0.05, momentum=0.9)),
    "lstm": (nn.Sequential(nn.LSTM(12), nn.Dense(4)), rows, al.Adam(1e-2)),
    "transformer": (Transformer(), rows, al.SGD(0.05)),
}
told = {}
for name, (model, x, optimizer) in models.items():
    history = trained(model, x, optimizer, validation=(x[:50], labels[:50]))
    told[name] = outcome(model, history)
for optimizer in (
    al.SGD(0.1, momentum=0.9, nesterov=True), al.AdamW(1e-3), al.RMSprop(1e-3), al.Adagrad(1e-2), al.Lion(1e-3),
    al.SGD(0.1, clip_norm=0.1), al.SGD(0.1, clip_value=0.01), al.Adam(1e-2, accumulate_steps=2, ema_decay=0.9),
    al.Adam(al.schedules.cosine(1e-2, 50)), al.SGD(0.1, loss_scale=al.LossScale()),
):
    model = mlp()
    history = trained(model, rows[:, 0], optimizer)
    told[f"{type(optimizer).__name__} {len(told)}"] = outcome(model, history)
tell(**told)
"""
    as_alone(code, (2, 3, 4))


def test_large_gradients_travel_in_shared_memory_or_while_others_are_computed(as_alone):
    """Of 9 MB each in two layers. Several steps in a dispatch are several exchanges."""
    code = """
model = nn.Sequential(*(nn.Dense(1500, activation="tanh") for _ in range(3)), nn.Dense(4))
history = trained(model, rows[:, 0], al.SGD(0.1), 1, options=dict(steps_per_dispatch=3))
values = [v.numpy().astype(np.float64) for v in model.variables]
norms = [float(np.linalg.norm(value)) for value in values]
tell(loss=history["loss"], norms=norms, some=[number for value in values for number in value.ravel()[-50:].tolist()])
"""
    as_alone(code, (2,))
    as_alone(code, (3,), by_messages=True)


def test_gradients_of_a_resnet_with_statistics_of_all(launched):
    """Its kinks let roundings grow from step to step, so one step is compared."""
    code = """
x = np.random.default_rng(0).normal(size=(24, 16, 16, 3)).astype(np.float32)
model = al.models.resnet18(4, (16, 16, 3))
before = [v.numpy() for v in model.variables]
history = trained(model, x, al.SGD(1.0), 1, (x, labels[:24]))
changes = [v.numpy() - old for v, old in zip(model.variables, before)]
norms = [float(np.linalg.norm(change.astype(np.float64))) for change in changes]
tell(loss=history["loss"], norms=norms, some=[change.ravel()[:20].tolist() for change in changes])
"""
    (alone,) = launched(1, NETWORKS + code)
    for found in launched(2, NETWORKS + code):
        assert found["loss"] == pytest.approx(alone["loss"], rel=1e-5)
        assert found["norms"] == pytest.approx(alone["norms"], rel=1e-4)
        for one, other, norm in zip(found["some"], alone["some"], alone["norms"]):
            assert one == pytest.approx(other, abs=1e-4 * norm)


def test_weights_padding_and_metrics_mean_the_same(as_alone):
    code = """
weights = np.random.default_rng(1).uniform(0, 2, count).astype(np.float32)
told = {}
for name, last, shares, classes in (("pad", "pad", None, {0: 3.0, 2: 0.5}), ("weights", "smaller", weights, None)):
    model = mlp(nn.BatchNorm())
    data = (rows[:, 0], labels) if shares is None else (rows[:, 0], labels, shares)
    fit = dict(class_weight=classes, last_batch=last)
    metrics = dict(metrics=["accuracy", al.metrics.F1Score()])
    history = trained(model, rows[:, 0], al.SGD(0.1), 3, data, metrics, **fit)
    told[name] = outcome(model, history)
targets = rows[:, 0, :2] + 100
model = nn.Sequential(nn.Dense(8, activation="tanh"), nn.Dense(2))
trainer = al.Trainer(model, "mean_squared_error", al.SGD(1e-3), ["r2_score"], distributed=True)
history = trainer.fit((rows[:, 0], targets), 3, 24, validation=(rows[:5, 0], targets[:5]), progress=False)
told["r2"] = outcome(model, history) | trainer.evaluate((rows[:, 0], targets), 10)
tell(**told)
"""
    as_alone(code, (3,))


def test_each_process_may_keep_its_own_statistics(launched):
    """The moving averages are the mean of all processes', and the same in each."""
    code = """
model = mlp(nn.BatchNorm())
history = trained(model, rows[:, 0], al.SGD(0.1), 2, options=dict(sync_batch_norm=False))
tell(**outcome(model, history))
"""
    told = launched(2, NETWORKS + code)
    assert told[0]["state"] == told[1]["state"] and told[0]["history"] == told[1]["history"]


def test_dropout_differs_between_processes(launched):
    code = """
class Mask(nn.Layer):
    def __init__(self):
        super().__init__()
        self.drop, self.dense = nn.Dropout(0.5), nn.Dense(4)

    def forward(self, x, training):
        kept = self.drop(al.ones_like(x))
        if training:
            self.leave(self.seen, kept)
        return self.dense(x)

    def build(self, x):
        self.seen = self.add_variable(x.graph, "seen", lambda seed: np.zeros((12, 8), np.float32), trainable=False)

model = Mask()
from alloy.training.trainer import Trainer
Trainer._require_no_drift = lambda self: None  # "seen" differs
from alloy.training.programs import Programs
Programs._averaged = lambda self, updates: updates
seen = []
keeps = al.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(model.seen.numpy().tolist()))
trained(model, rows[:48, 0], al.SGD(0.1), 1, (rows[:48, 0], labels[:48]), callbacks=[keeps])
tell(seen=seen)
"""
    seen = [mask for values in launched(2, NETWORKS + code) for mask in values["seen"]]
    assert len({str(mask) for mask in seen}) == 4  # in two steps
    assert {value for mask in seen for row in mask for value in row} == {0, 2}


def test_dropout_goes_on_alike_where_processes_have_unequal_shares(launched):
    """The batches of 24 have shares of 8, the last one, of 14, has shares of 5, 5 and 4."""
    code = """
model = mlp(nn.Dropout(0.5))
trained(model, rows[:, 0], al.SGD(0.1), 3)
tell(state=[v.numpy().tolist() for v in model.variables])
"""
    told = launched(3, NETWORKS + code)
    assert all(values["state"] == told[0]["state"] for values in told)


@pytest.mark.parametrize("optimizer", ["al.SGD(0.1)", "al.SGD(0.1, skip_nonfinite=True)"])
def test_a_loss_that_is_not_finite_ends_or_skips_in_all(optimizer, launched):
    code = f"""
x = rows[:, 0].copy()
stream = al.data.from_arrays(x, labels).batch(24)
x[3 * 24 + 1] = np.nan  # in a row of rank 1
model = mlp()
try:
    history = trained(model, x, {optimizer}, 1, stream)
    tell(skipped=history["skipped_steps"], **outcome(model, history))
except FloatingPointError as error:
    tell(said=str(error))
"""
    told = launched(2, NETWORKS + code)
    if "skip" in optimizer:
        assert told[0]["skipped"] == [1] and told[0]["state"] == told[1]["state"]
    else:
        assert "The loss of another process's examples is not finite in step 4 of epoch 1" in told[0]["said"]
        assert "The loss is nan in step 4 of epoch 1, which changed nothing: expected finite numbers" in told[1]["said"]


def test_another_number_of_processes_resumes(launched, tmp_path):
    """The whole training by one process; its first half by two, its second by three."""
    code = """
model = mlp()
history = trained(model, rows[:, 0], al.Adam(1e-2), EPOCHS, callbacks=[al.Checkpoint(FILE)], resume=FILE)
tell(**outcome(model, history))
"""

    def run(processes, epochs, file):
        return launched(processes, f"EPOCHS, FILE = {epochs}, {file!r}\n" + NETWORKS + code)

    (alone,) = run(1, 4, "alone.safetensors")
    run(2, 2, "shared.safetensors")
    for found in run(3, 4, "shared.safetensors"):
        require_equal(found | {"rank": 0}, alone)


REFUSED = {
    "x = x[: 72 + 24 * rank]": "the same count of batches in all processes, got 3 in rank 0 and 4 in rank 1",
    "x = x[: 95 + rank]": "the same data in all processes, got <Dataset from_arrays(95 of (float32(8,), int32()))",
    "validation = x[: 48 + rank], labels[: 48 + rank]": (
        "the same validation data in all processes, got <Dataset from_arrays(48 of (float32(8,), int32()))"
    ),
    "options = dict(seed=rank)": "the same seed in all processes, got 0 in rank 0 and 1 in rank 1",
    "options = dict(dtype='bfloat16' if rank else 'float32')": "the same precision in all processes, got float32 in",
    "model = mlp(*[nn.Dense(3)] * rank)": "the same variables in all processes, got 13 of checksum",
    "epochs = 1 + rank": "the same epochs in all processes, got 1 in rank 0 and 2 in rank 1",
    "optimizer = al.SGD(0.1 * (rank + 1))": "the same learning rate in all processes, got 0.1 in rank 0 and 0.2",
    "optimizer = al.SGD(0.1, momentum=0.5 * rank)": (
        "the same optimizer in all processes, got SGD(lr=0.1) in rank 0 and SGD(lr=0.1, momentum=0.5) in rank 1"
    ),
    "loss = ['softmax_cross_entropy', doubled][rank]": (
        "the same loss and metrics in all processes, got softmax_cross_entropy in rank 0 and doubled in rank 1"
    ),
    "batch = 1": "Expected batches of 2 or more examples for 2 processes, got 1 in one",
    "x, batch = al.data.from_iterator(lambda: [(rows[:9, 0], labels[:9])], batched=True), None": (
        "Expected batches that batch(size) makes of examples, to divide them among processes"
    ),
}


def test_processes_that_differ_are_refused(launched):
    code = f"""
def doubled(predictions, targets):
    return 2 * al.losses.softmax_cross_entropy(predictions, targets)

said = []
for change in {list(REFUSED)}:
    x, model, optimizer, epochs, batch, options = rows[:96, 0], mlp(), al.SGD(0.1), 1, 24, dict()
    validation, loss = None, 'softmax_cross_entropy'
    exec(change)
    data = (x, labels[: len(x)]) if isinstance(x, np.ndarray) else x
    try:
        trainer = al.Trainer(model, loss, optimizer, distributed=True, **options)
        trainer.fit(data, epochs, batch, validation=validation)
        said.append("nothing")
    except ValueError as error:
        said.append(str(error))
tell(said=said, sum=al.distributed.all_reduce(1))
"""
    for values in launched(2, NETWORKS + code):
        assert values["sum"] == 2
        for said, expected in zip(values["said"], REFUSED.values(), strict=True):
            assert expected in said


def test_a_search_for_a_rate_is_that_of_one_process(as_alone):
    code = """
trainer = al.Trainer(mlp(), "softmax_cross_entropy", al.SGD(0.1), distributed=True)
found = trainer.find_lr((rows[:96, 0], labels[:96]), 24, lowest=1e-3, highest=1.0, steps=12)
tell(losses=np.asarray(found.losses).tolist(), suggestion=float(found.suggestion))
"""
    as_alone(code, (2,))


def test_all_stop_where_one_stops(launched):
    code = """
class Stops(al.Callback):
    def on_epoch_end(self, epoch, logs):
        self.trainer.stop_training = rank == 1 and epoch == 1

tell(epochs=len(trained(mlp(), rows[:, 0], al.SGD(0.1), 5, callbacks=[Stops()])["loss"]))
"""
    assert [values["epochs"] for values in launched(2, NETWORKS + code)] == [2, 2]


def test_a_drift_of_variables_names_the_variable(launched):
    code = """
class Drifts(al.Callback):
    def on_epoch_end(self, epoch, logs):
        if rank == 1:
            model.variables[2].assign(model.variables[2].numpy() + 1e-6)

model = mlp()
trained(model, rows[:, 0], al.SGD(0.1), 2, callbacks=[Drifts()])
"""
    done = launched(2, NETWORKS + code, fails=True)
    assert "[fit] Expected the same values in all processes, got others of dense_1/weights in rank 1" in done.stderr


def test_a_drift_is_noticed_in_the_midst_of_a_long_epoch(launched):
    code = """
class Drifts(al.Callback):
    def on_train_batch_end(self, batch, logs):
        if (rank, batch) == (1, 200):
            model.variables[0].assign(model.variables[0].numpy() + 1e-6)

model = al.nn.Sequential(al.nn.Dense(1))
trainer = al.Trainer(model, "mean_squared_error", al.SGD(1e-3), distributed=True)
x = np.ones((5000, 2), np.float32)
try:
    trainer.fit((x, x[:, :1]), 1, 2, callbacks=[Drifts()], progress=False)
except RuntimeError as error:
    tell(said=str(error), step=trainer.step)
"""
    for values in launched(2, code):
        assert (
            "[fit] Expected the same values in all processes, got others of dense_0/weights in rank" in values["said"]
        )
        assert 1000 <= values["step"] < 2000


def test_one_process_trains_as_without_the_word():
    states = []
    for options in ({}, {"distributed": True, "sync_batch_norm": True}):
        model = al.nn.Sequential(al.nn.Dense(4), al.nn.BatchNorm(), al.nn.Dense(1))
        trainer = al.Trainer(model, "mean_squared_error", al.Adam(1e-2), **options)
        x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
        trainer.fit((x, x[:, :1]), 2, 8, progress=False)
        states.append([v.numpy().tobytes() for v in model.variables])
    assert states[0] == states[1]


def test_a_run_of_the_command_writes_its_files_once(tmp_path):
    command = [sys.executable, "-m", "alloy.tools.cli", "train", "--epochs", "2", "--output", "run", "--seed", "1"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=120)
    alone = (tmp_path / "run/history.csv").read_text()
    mpirun = [launch.launcher(), "-n", "2", *command, "--distributed"]
    done = subprocess.run(
        mpirun, env=launch.environment(2, 1), cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout.count("saved in run") == 1, done.stderr
    assert "distributed = true" in (tmp_path / "run/config.toml").read_text()
    shared = (tmp_path / "run/history.csv").read_text()
    rows = [[float(number) for line in text.splitlines()[1:] for number in line.split(",")] for text in (alone, shared)]
    assert len(rows[0]) == len(rows[1]) > 4 and rows[1] == pytest.approx(rows[0], rel=0.1)
