"""The training loop."""
import re

import numpy as np
import pytest

import alloy as al


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
    bar = capsys.readouterr().err
    assert "epoch 20/20" in bar and "loss=" in bar and "7/7" in bar
    assert re.search(r"\[\d\d:\d\d, [\d.]+ ms/step, 00:00 left, loss=", bar)
    trainer().fit(linear_data(10, rng), epochs=1, progress=False)
    assert capsys.readouterr().err == ""


def test_means_weigh_every_example_alike(rng):
    x, y = linear_data(10, rng)
    t = trainer(metrics=[lambda predictions, targets: al.mean(predictions)])
    assert t.predict(x, batch_size=4).shape == (10, 1)
    predictions = t.predict(x)
    for batch_size in (3, 4, 10, 99):
        values = t.evaluate((x, y), batch_size)
        assert values["loss"] == pytest.approx(np.square(predictions - y).mean(), rel=1e-5)
        assert values["<lambda>"] == pytest.approx(predictions.mean(), rel=1e-4)


def test_the_last_smaller_batch_is_used(rng):
    """One epoch of 2 steps equals two steps by hand; the second compilation is the smaller batch's."""
    x, y = linear_data(5, rng)
    t = trainer()
    t.predict(x[:1])
    weights, bias = (v.numpy() for v in t.model.variables)
    before = al.stats()["compilations"]
    t.fit((x, y), epochs=3, batch_size=3, shuffle=False, progress=False)
    assert al.stats()["compilations"] - before == 2
    for _ in range(3):
        for rows in (slice(0, 3), slice(3, 5)):
            slope = 2 * (x[rows] @ weights + bias - y[rows]) / len(x[rows])
            weights, bias = weights - 0.1 * x[rows].T @ slope, bias - 0.1 * slope.sum(0)
    np.testing.assert_allclose(t.model.variables[0].numpy(), weights, rtol=1e-4)
    np.testing.assert_allclose(t.model.variables[1].numpy(), bias, rtol=1e-4)


@pytest.mark.parametrize("layout", ["packed", "transposed", "read-only"])
def test_batches_are_the_shuffled_examples(layout, rng):
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
    sent, order = al.stats()["bytes_to_device"] - before, np.random.default_rng(3)
    for _ in range(2):
        rows = order.permutation(110)
        for batch in (rows[:40], rows[40:80], rows[80:]):
            slope = 2 * (x[batch] @ weights + bias - y[batch]) / len(batch)
            weights, bias = weights - 0.01 * x[batch].T @ slope, bias - 0.01 * slope.sum(0)
    np.testing.assert_allclose(t.model.variables[0].numpy(), weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(t.model.variables[1].numpy(), bias, rtol=1e-4, atol=1e-5)
    assert sent == 2 * y.nbytes + 4, "only targets, which are few bytes, and the learning rate are copied"


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
        batch = x[start:start + 10].astype(float)
        mean, variance = 0.8 * mean + 0.2 * batch.mean(0), 0.8 * variance + 0.2 * batch.var(0)
    np.testing.assert_allclose(norm.variables[2].numpy(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.variables[3].numpy(), variance, rtol=1e-5)
    expected = (x - mean) / np.sqrt(variance + 0.001) @ dense.variables[0].numpy()
    np.testing.assert_allclose(t.predict(x), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(t.predict(x[:1]), expected[:1], rtol=1e-5, atol=1e-5)
    assert t.evaluate((x, y))["loss"] == pytest.approx(np.square(expected - y).mean(), rel=1e-5)


def test_variables_that_are_not_trainable_stay(rng):
    t = trainer()
    t.predict(np.zeros((1, 3), np.float32))
    weights, bias = t.model.variables
    weights.trainable, before = False, weights.numpy()
    t.fit(linear_data(8, rng), epochs=1, progress=False)
    np.testing.assert_array_equal(weights.numpy(), before)
    assert bias.numpy() != 0


def test_a_model_that_has_its_graph_already(rng):
    model = al.nn.Sequential(al.nn.Dense(1))
    graph = al.Graph()
    model(graph.placeholder((1, 3)))
    t = al.Trainer(model, "mean_squared_error", al.SGD(0.1))
    t.fit(linear_data(8, rng), epochs=1, progress=False)
    assert [v.name for v in graph.variables] == ["dense_0/weights", "dense_0/bias", "optimizer/learning_rate"]


def test_early_stopping(rng):
    data = linear_data(32, rng)
    history = trainer(optimizer=al.SGD(0.0)).fit(data, 10, validation=data, callbacks=[
        al.EarlyStopping(patience=3)], progress=False)
    assert len(history["loss"]) == 4
    history = trainer().fit(data, 10, callbacks=[al.EarlyStopping(patience=3, monitor="loss")],
                            progress=False)
    assert len(history["loss"]) == 10
    with pytest.raises(ValueError, match=r"^\[fit\] .*among loss, got val_loss"):
        trainer().fit(data, 2, callbacks=[al.EarlyStopping(patience=3)], progress=False)


def test_checkpoints(rng, tmp_path):
    data = linear_data(32, rng)
    t = trainer()

    class Spoil(al.Callback):
        """After the first epoch every further one is worse."""

        def begin(self, trainer):
            self.seen = []

        def epoch_end(self, trainer):
            self.seen.append([v.numpy() for v in trainer.model.variables])
            trainer.model.variables[1].assign(np.float32([1e3 * len(self.seen)]))

    spoil = Spoil()
    t.fit(
        data, 3, callbacks=[
            spoil,
            al.Checkpoint(tmp_path / "last.safetensors"),
            al.Checkpoint(tmp_path / "best.safetensors", "loss")], progress=False)
    al.load(t.model, tmp_path / "last.safetensors")
    assert t.model.variables[1].numpy() == [3e3]
    al.load(t.model, tmp_path / "best.safetensors")
    assert t.model.variables[1].numpy() == [1e3]
    np.testing.assert_array_equal(t.model.variables[0].numpy(), spoil.seen[0][0])


@pytest.mark.parametrize("data, kind, says",
                         [((np.zeros((0, 3), np.float32), np.zeros(
                             (0, 1), np.float32)), ValueError, r"one or more examples.*\(0, 3\), \(0, 1\)"),
                          ((np.zeros((4, 3), np.float32), np.zeros(
                              (5, 1), np.float32)), ValueError, r"as many in all.*\(4, 3\), \(5, 1\)"),
                          (np.zeros((4, 3), np.float32), TypeError, "got ndarray"),
                          ((np.zeros((4, 3), np.float32),), TypeError, r"\(x, y\)")])
def test_wrong_data(data, kind, says):
    with pytest.raises(kind, match=rf"^\[fit\] .*{says}.*; called at .*test_trainer\.py:\d+\.$"):
        trainer().fit(data, epochs=1)


@pytest.mark.parametrize("arguments, given", [({"loss": "cross_entropy"}, "cross_entropy"),
                                              ({"loss": "square"}, "square"), ({"metrics": ["acc"]}, "acc")])
def test_wrong_names(arguments, given):
    with pytest.raises(ValueError, match=rf"^\[trainer\] .*'{given}'; built at .*test_trainer\.py:\d+\.$"):
        trainer(**arguments)


def test_wrong_batch_size(rng):
    with pytest.raises(ValueError, match="batch size of 1 or more, got 0"):
        trainer().fit(linear_data(4, rng), epochs=1, batch_size=0)


def test_wrong_labels_leave_the_model_usable(rng):
    x, y = linear_data(8, rng)
    t = trainer()
    with pytest.raises(ValueError, match=r"^\[mean_squared_error\]"):
        t.fit((x, y[:, 0]), epochs=1, progress=False)
    assert t.predict(x).shape == (8, 1)


def test_history_plot(tmp_path):
    history = al.History(loss=[3, 2, 1], val_loss=[3, 2.5, 2], accuracy=[0.1, 0.5, 0.9], val_accuracy=[
        0.1, 0.4, 0.7])
    history.plot(tmp_path / "new" / "history.png")
    assert (tmp_path / "new" / "history.png").read_bytes().startswith(b"\x89PNG")
