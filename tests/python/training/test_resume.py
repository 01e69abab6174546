"""Trainings that are interrupted and go on: they end as if nothing had happened, to the bit."""

import errno
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from safetensors import safe_open

import alloy as al
from kinds import CHILDREN_COMPUTE, HALVES


def data(rng_seed=1, count=90):
    rng = np.random.default_rng(rng_seed)
    x = rng.normal(size=(count, 6)).astype("f")
    return x, (x[:, 0] * x[:, 1] > 0).astype("i4") + (x[:, 2] > 1)


def model(dropout=True):
    parts = [al.nn.Dense(12), al.nn.BatchNorm(), al.nn.ReLU(), al.nn.Dropout(0.3), al.nn.Dense(3)]
    return al.nn.Sequential(*parts, seed=5)


def everything(**options):
    """An optimizer that uses all that there is."""
    return al.AdamW(
        al.schedules.warmup(al.schedules.cosine(0.02, 40), 5),
        clip_norm=1.0,
        accumulate_steps=2,
        ema_decay=0.9,
        groups={"*/bias": {"weight_decay": 0.0}},
        **options,
    )


def fast():
    return al.SGD(0.8, momentum=0.9)


OPTIMIZERS = {
    "sgd": lambda: al.SGD(0.05, momentum=0.9),
    "everything": everything,
    "skipping": lambda: everything(skip_nonfinite=True),
    "lion": lambda: al.Lion(0.01),
}


def fit(optimizer, path=None, callbacks=(), epochs=4, resume=None, source=data, **options):
    trainer = al.Trainer(
        model(), "softmax_cross_entropy", optimizer(), ["accuracy", "confusion_matrix"], seed=3, **options
    )
    checkpoint = [] if path is None else [al.Checkpoint(path, every_steps=3)]
    history = trainer.fit(
        source() if callable(source) else source,
        epochs,
        16,
        validation=data(2, 30),
        callbacks=[*callbacks, *checkpoint],
        progress=False,
        resume=resume,
    )
    return trainer, history


def state(trainer):
    found = {v.name: v.numpy() for v in trainer.model.graph.variables}
    return {name: value for name, value in found.items() if not name.startswith("metrics/evaluation/")}


def assert_same(ours, theirs):
    assert list(ours[0]) == list(theirs[0])
    for name, value in ours[0].items():
        np.testing.assert_array_equal(value, theirs[0][name], name)
    assert list(ours[1]) == list(theirs[1])
    for name, values in ours[1].items():
        np.testing.assert_array_equal(values, theirs[1][name], name)


def assert_resumes(make, path, after, callbacks=lambda: [], **options):
    """A training that is interrupted after so many steps and resumed ends as one that was not; gives both trainers."""
    whole = fit(make, callbacks=callbacks(), **options)
    with pytest.raises(KeyboardInterrupt):
        fit(make, path, [*callbacks(), Interrupt(after)], **options)
    again = fit(make, path, [*callbacks(), Interrupt(-1)], resume=path, **options)
    assert_same((state(again[0]), again[1]), (state(whole[0]), whole[1]))
    return whole[0], again[0]


class Interrupt(al.Callback):
    """Ctrl-C after so many steps."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def on_train_batch_end(self, batch, logs=None):
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt


def streamed():
    x, y = data()
    return al.data.from_iterator(lambda: zip(x, y)).map(lambda x, y: (x * 2, y)).batch(16)


def augmented():
    def noisy(x, y, rng):
        return x + rng.normal(size=x.shape, scale=0.1).astype("f"), y

    return al.data.from_arrays(*data()).shuffle(seed=4).map(noisy, seed=1).batch(16, last="pad")


@pytest.mark.parametrize("after", [1, 5, 6, 13, 23])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_interrupted_training_ends_as_if_it_had_not_been(optimizer, after, tmp_path):
    path, make = tmp_path / "run.safetensors", OPTIMIZERS[optimizer]
    whole = fit(make)
    with pytest.raises(KeyboardInterrupt):
        fit(make, path, [Interrupt(after)])
    with pytest.raises(KeyboardInterrupt):
        fit(make, path, [Interrupt(2)] if after < 20 else [Interrupt(1)], resume=path)
    again = fit(make, path, [Interrupt(-1)], resume=path)
    assert_same((state(again[0]), again[1]), (state(whole[0]), whole[1]))
    finished = fit(make, path, [Interrupt(-1)], resume=path)
    assert_same((state(finished[0]), finished[1]), (state(whole[0]), whole[1]))


@pytest.mark.parametrize("source", [streamed, augmented])
@pytest.mark.parametrize("steps", [1, 4])
def test_the_place_in_the_data_is_resumed(source, steps, tmp_path):
    assert_resumes(everything, tmp_path / "run.safetensors", 3, source=source, steps_per_dispatch=steps)


@pytest.mark.parametrize("dtype", HALVES)
def test_mixed_precision_is_resumed(dtype, tmp_path):
    def make():
        return everything(loss_scale=al.LossScale(init_scale=2.0**24, growth_interval=4))

    whole, _ = assert_resumes(make, tmp_path / "run.safetensors", 7, dtype=dtype)
    scale = next(value for name, value in state(whole).items() if name.endswith("/loss_scale"))
    assert scale != 2.0**24, "it has moved"


def test_callbacks_know_what_they_knew(tmp_path):
    """Early stopping with the best weights, which lie before the interrupt."""

    def stopping():
        return [al.EarlyStopping("val_loss", patience=3, restore_best_weights=True)]

    _, history = fit(fast, callbacks=stopping(), epochs=30)
    epochs = len(history["loss"])
    assert epochs < 30 and np.argmin(history["val_loss"]) == epochs - 4
    assert_resumes(fast, tmp_path / "run.safetensors", 6 * epochs - 8, stopping, epochs=30)


def test_a_rate_that_fell_is_resumed(tmp_path):
    def plateau():
        return [al.ReduceLROnPlateau("loss", factor=0.5, patience=2, min_delta=1e9)]

    for trainer in assert_resumes(fast, tmp_path / "run.safetensors", 6 * 4 - 2, plateau, epochs=6):
        assert trainer.optimizer.lr == pytest.approx(0.2)


def test_logs_are_continued(tmp_path):
    path, log = tmp_path / "run.safetensors", tmp_path / "log.csv"
    fit(everything, callbacks=[al.CSVLogger(log)])
    whole = log.read_text()
    assert whole.splitlines()[0] == "epoch,loss,accuracy,val_loss,val_accuracy" and len(whole.splitlines()) == 5
    with pytest.raises(KeyboardInterrupt):
        fit(everything, path, [al.CSVLogger(log), Interrupt(15)])
    fit(everything, path, [al.CSVLogger(log), Interrupt(-1)], resume=path)
    assert log.read_text() == whole


def test_a_log_that_cannot_be_continued_stays_as_it_is(tmp_path, monkeypatch):
    path, log = tmp_path / "run.safetensors", tmp_path / "log.csv"
    with pytest.raises(KeyboardInterrupt):
        fit(everything, path, [al.CSVLogger(log), Interrupt(15)])
    before = log.read_text()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*log\.csv'"):
        fit(everything, path, [al.CSVLogger(log), Interrupt(-1)], resume=path)
    assert log.read_text() == before and len(before.splitlines()) > 1


# ---- killed ----

KILLED = """
    import os, random, signal, sys, time
    import numpy as np

    directory, kills = sys.argv[1], int(sys.argv[2])
    path, done = f"{directory}/run.safetensors", f"{directory}/done.npz"
    sys.path[:0] = os.path.dirname(sys.argv[3]), os.path.dirname(os.path.dirname(sys.argv[3]))
    import test_resume  # imports alloy; nothing is computed before the children are forked

    def train():
        trainer, history = test_resume.fit(test_resume.everything, path, resume=path, epochs=12)
        np.savez(f"{directory}/part.npz", **{k.replace("/", "|"): v for k, v in test_resume.state(trainer).items()},
                 **{f"history {k}": v for k, v in history.items()})
        os.rename(f"{directory}/part.npz", done)

    def child():
        pid = os.fork()
        if pid == 0:
            try:
                train()
            except BaseException as error:
                print(error, flush=True)
                os._exit(1)
            os._exit(0)
        return pid

    def result():
        found = dict(np.load(done))
        os.remove(done), os.remove(path)
        return found

    begun = time.time()
    assert os.waitstatus_to_exitcode(os.waitpid(child(), 0)[1]) == 0
    length, expected, left, finished = time.time() - begun, result(), kills, 0
    random.seed(0)
    while left or not finished:
        begun, resumed = time.time(), os.path.exists(path)
        pid = child()
        if left:
            time.sleep(random.uniform(0, length))
            os.kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, -9), code
        left -= code == -9
        if os.path.exists(done):
            if not resumed:  # the machine was slower when it measured the length
                length = min(length, time.time() - begun)
            found = result()
            assert found.keys() == expected.keys()
            for name, value in found.items():
                np.testing.assert_array_equal(value, expected[name], name)
            finished += 1
    print(f"{kills} kills, {finished} runs finished, {length:.2f} s each; left behind: {sorted(os.listdir(directory))}")
"""


@CHILDREN_COMPUTE
def test_killed_at_random_moments(tmp_path):
    """kill -9: no checkpoint is ever unreadable, and every run that is resumed ends as the one that was left alone."""
    kills = os.environ.get("ALLOY_KILLS", "10")
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), kills, __file__], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{kills} kills" in run.stdout


# ---- files that are none ----


def spoilt(path):
    """By what is wrong with it: the file's bytes, changed."""
    import safetensors.numpy

    good = path.read_bytes()
    size = int.from_bytes(good[:8], "little")
    header = json.loads(good[8 : 8 + size])
    tensors = safetensors.numpy.load(good)

    def with_header(change):
        changed = json.loads(json.dumps(header))
        change(changed)
        text = json.dumps(changed).encode()
        return len(text).to_bytes(8, "little") + text + good[8 + size :]

    def record(text):
        return safetensors.numpy.save(tensors, {"format": "alloy training 1", "record": text})

    first = next(name for name in header if name != "__metadata__")
    yield "truncated", good[: len(good) // 2]
    yield "empty", b""
    yield "text", b"hello, this is no checkpoint at all"
    yield "huge header", (2**62).to_bytes(8, "little") + good[8:]
    yield "offsets", with_header(lambda h: h[first].update(data_offsets=[0, 2**40]))
    yield "negative shape", with_header(lambda h: h[first].update(shape=[-4]))
    yield "dtype", with_header(lambda h: h[first].update(dtype="F32X"))
    yield "no record", safetensors.numpy.save(tensors)
    yield "another format", safetensors.numpy.save(tensors, {"format": "pt"})
    yield "record that is no JSON", record("{")
    yield "record of other things", record('{"fit_from": "0"}')
    yield "record too deep", record("[" * 100000)
    yield (
        "array that is missing",
        record(
            '{"fit_from": 0, "stop_training": false, "history": {}, "callbacks": [{"x": {"array": "callbacks/9"}}]}'
        ),
    )
    yield "missing", safetensors.numpy.save({k: v for k, v in tensors.items() if k != first}, header["__metadata__"])
    yield "unknown", safetensors.numpy.save({**tensors, "more": np.zeros(3)}, header["__metadata__"])
    yield "shape", safetensors.numpy.save({**tensors, first: np.zeros((7, 7), "f")}, header["__metadata__"])


def test_wrong_checkpoints_are_refused_and_change_nothing(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(everything, path, epochs=1)
    trainer, _ = fit(everything, epochs=1)
    before = state(trainer)
    for what, content in spoilt(path):
        wrong = tmp_path / "wrong.safetensors"
        wrong.write_bytes(content)
        with pytest.raises(ValueError, match=r"^\[load\] .*wrong\.safetensors.*; at .*\.py:\d+\.$"):
            trainer.fit(data(), 1, 16, progress=False, resume=wrong, callbacks=[al.Checkpoint(tmp_path / "x")])
            raise AssertionError(what)
        for name, value in state(trainer).items():
            if not name.startswith(("training/", "metrics/")):
                np.testing.assert_array_equal(value, before[name], f"{what}: {name}")
    with pytest.raises(ValueError, match=r"callbacks with which .* was saved, 1, got 0"):
        trainer.fit(data(), 1, 16, progress=False, resume=path)
    assert trainer.fit(data(), 1, 16, progress=False)["loss"]


def test_the_file_of_another_training_is_said_to_be_one(tmp_path):
    """Of another program in the same directory, or of this one before its model was changed."""
    path = tmp_path / "run.safetensors"

    def train(*layers):
        trainer = al.Trainer(al.nn.Sequential(*layers), "softmax_cross_entropy", al.Adam())
        trainer.fit(data(), callbacks=[al.Checkpoint(path)], resume=path, progress=False)

    train(al.nn.Dense(8), al.nn.Dense(3))
    hint = "; the file is of another model or optimizer: remove it, or give another path, to begin anew; at "
    with pytest.raises(ValueError, match=r"^\[load\] Expected dense_0/weights of float32 .*" + hint):
        train(al.nn.Dense(9), al.nn.Dense(3))
    with pytest.raises(ValueError, match=r"^\[load\] (\S+, ){3}\S+ and 2 more: missing from .*" + hint):
        train(al.nn.Dense(8), al.nn.Dense(3), al.nn.Dense(3))


def test_a_models_variables_are_taken_from_a_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    trainer, _ = fit(everything, path)
    graph, twin = al.Graph(), model()
    x = graph.placeholder((None, 6))
    y = twin(x)
    al.load(twin, path)
    for ours, theirs in zip(twin.variables, trainer.model.variables, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    np.testing.assert_array_equal(graph.compile([x], [y])(data()[0])[0], trainer.predict(data()[0], 90))
    with safe_open(path, "numpy") as file:
        assert any(name.startswith("optimizer/") for name in file.keys())


def test_a_checkpoint_that_cannot_be_written_is_known_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        fit(everything, tmp_path / "file" / "run.safetensors", [Interrupt(1)])
    for wrong in (tmp_path, tmp_path / ("x" * 250), "/dev/null"):
        with pytest.raises((OSError, ValueError)):
            fit(everything, wrong, [Interrupt(1)])
    fit(everything, tmp_path / "new" / "directory" / "run.safetensors", epochs=1)
    assert (tmp_path / "new" / "directory" / "run.safetensors").exists()


@pytest.mark.parametrize("path", [True, 3, ["run"]])
def test_a_checkpoint_that_is_no_path(path):
    with pytest.raises(TypeError, match=r"^\[fit\] Expected a path, got (bool|int|list); at "):
        fit(everything, resume=path)


def test_saving_before_training_is_refused(tmp_path):
    trainer = al.Trainer(model(), "softmax_cross_entropy", "adam")
    with pytest.raises(ValueError, match=r"^\[save\] Expected a training that has begun; call fit first"):
        trainer.save(tmp_path / "x")


class Interrupted(Exception):
    pass


def saved_at(path, step, source=data):
    """A checkpoint in the midst of an epoch."""

    class Leave(al.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == step:
                self.trainer.save(path)
                raise Interrupted

    with pytest.raises(Interrupted):
        fit(everything, callbacks=[Leave()], source=source)


@pytest.mark.parametrize(
    "change", [{"batch_size": 45}, {"batch_size": 15}, {"count": 40}, {"count": 200}, {"seed": 4}], ids=str
)
def test_the_midst_of_an_epoch_is_one_of_the_same_batches(change, tmp_path):
    path = tmp_path / "run.safetensors"
    saved_at(path, 3)
    trainer = al.Trainer(
        model(), "softmax_cross_entropy", everything(), ["accuracy", "confusion_matrix"], seed=change.get("seed", 3)
    )
    given, size = data(count=change.get("count", 90)), change.get("batch_size", 16)
    trainer.fit(given, 1, size, validation=data(2, 30), progress=False)
    before, place = state(trainer), (trainer.epoch, trainer.step)
    with pytest.raises(
        ValueError, match=r"^\[load\] Expected the batches with which .*run.safetensors was saved within .*, got .*; at"
    ):
        trainer.fit(given, 4, size, progress=False, resume=path, callbacks=[al.Callback()])
    for name, value in state(trainer).items():
        if not name.startswith(("training", "metrics")):
            np.testing.assert_array_equal(value, before[name], name)
    assert (trainer.epoch, trainer.step) == place
    assert len(trainer.fit(given, 1, size, progress=False)["loss"]) == 1


def test_a_checkpoint_beside_a_loss_that_is_not_finite_goes_on(tmp_path):
    """Where the file was written before the loss was looked at."""
    path = tmp_path / "run.safetensors"
    x, y = data()
    broken = x.copy()
    broken[40] = np.nan

    def batches(x):
        return al.data.from_arrays(x, y).batch(16)

    def trainer():
        return al.Trainer(model(), "softmax_cross_entropy", al.SGD(0.05), seed=3)

    with pytest.raises(FloatingPointError):
        trainer().fit(batches(broken), 2, progress=False, callbacks=[al.Checkpoint(path, every_steps=1)])
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="step 3 of epoch 1.*nan in row 8 of the batch"):
            trainer().fit(batches(broken), 2, progress=False, callbacks=[al.Checkpoint(tmp_path / "x")], resume=path)
    mended, whole = trainer(), trainer()
    found = mended.fit(batches(x), 2, progress=False, callbacks=[al.Checkpoint(tmp_path / "x")], resume=path)
    expected = whole.fit(batches(x), 2, progress=False)
    assert_same((state(mended), found), (state(whole), expected))


def test_the_learning_rate_is_that_of_the_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    trainer, _ = fit(lambda: al.SGD(0.1), epochs=1)
    trainer.optimizer.lr = 0.025
    trainer.save(path)
    again, _ = fit(lambda: al.SGD(0.1), epochs=2, resume=path)
    assert again.optimizer.lr == np.float32(0.025) and trainer.optimizer.lr == 0.025
    again.optimizer.lr = 0.5
    assert again.optimizer.lr == 0.5


@pytest.mark.parametrize(
    "change", [{"fit_from": -1}, {"fit_from": 9}, {"history": {"loss": ["a"]}}, {"fit_from": True}]
)
def test_a_record_of_impossible_values(change, tmp_path):
    import safetensors.numpy

    path = tmp_path / "run.safetensors"
    fit(everything, path, epochs=1)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    record = json.loads(metadata["record"]) | change
    path.write_bytes(
        safetensors.numpy.save(safetensors.numpy.load_file(path), metadata | {"record": json.dumps(record)})
    )
    with pytest.raises(ValueError, match="with a damaged record"):
        fit(everything, path, resume=path)


def test_logs_that_are_none(tmp_path):
    path, log = tmp_path / "run.safetensors", tmp_path / "log.csv"
    trainer, _ = fit(everything, callbacks=[al.Callback()], epochs=1)
    trainer.save(path)
    log.write_bytes(b"\xff\xfe\0")
    trainer = al.Trainer(model(), "softmax_cross_entropy", everything(), ["accuracy", "confusion_matrix"], seed=3)
    with pytest.raises(ValueError, match=r"^\[CSVLogger\] Expected a file of comma-separated values, got .*log\.csv"):
        trainer.fit(data(), 2, 16, validation=data(2, 30), progress=False, resume=path, callbacks=[al.CSVLogger(log)])
