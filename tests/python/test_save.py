"""Variables in files."""
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import alloy as al


def model(units=2):
    made = al.nn.Sequential(al.nn.Dense(units), al.nn.ReLU(), al.nn.Dense(1))
    made(al.Graph().placeholder((1, 3)))
    return made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_round_trip(path, rng):
    saved, loaded = model(), model()
    for variable in saved.variables:
        variable.assign(rng.normal(size=variable.shape).astype(np.float32))
    al.save(saved, path)
    assert list(path.parent.iterdir()) == [path]
    assert set(load_file(path)) == {"dense_0/weights", "dense_0/bias", "dense_1/weights", "dense_1/bias"}
    al.load(loaded, path)
    for a, b in zip(saved.variables, loaded.variables):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_some_variables_of_any_dtype(path):
    graph = al.Graph()
    variables = [graph.variable(np.int64([1, 2]), "i"), graph.variable(1.5, "f"), graph.variable([True], "b")]
    al.save(variables, path)
    for variable in variables:
        variable.assign(np.zeros(variable.shape, variable.dtype))
    al.load(variables, path)
    assert [v.numpy().tolist() for v in variables] == [[1, 2], 1.5, [True]]


@pytest.mark.parametrize("change, says",
                         [(lambda a: a.pop("dense_1/bias"), "dense_1/bias: missing from"),
                          (lambda a: a.update(more=np.zeros(1)), "more: unknown to the model"),
                          (lambda a: a.update({"dense_0/bias": np.zeros(3, np.float32)}),
                           r"dense_0/bias of float32 \(2,\), got float32 \(3,\)"),
                          (lambda a: a.update({"dense_0/bias": np.zeros(2, np.int32)}),
                           r"dense_0/bias of float32 \(2,\), got int32 \(2,\)")])
def test_a_file_of_something_else_changes_nothing(change, says, path):
    m = model()
    arrays = {variable.name: np.full(variable.shape, 7, np.float32) for variable in m.variables}
    change(arrays)
    save_file(arrays, path)
    before = [v.numpy() for v in m.variables]
    with pytest.raises(ValueError, match=rf"^\[load\] .*{says}.*; called at .*test_save\.py:\d+\.$"):
        al.load(m, path)
    for value, variable in zip(before, m.variables):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_a_failed_save_leaves_the_old_file(path, monkeypatch):
    al.save(model(), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        al.save(model(4), path)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_what_cannot_be_saved_or_loaded(path):
    graph = al.Graph()
    for variables, says in [(al.nn.Sequential(al.nn.Dense(1)), "none"),
                            ([graph.variable(0.0)], "different names"),
                            ([graph.variable(0.0, "a"), graph.variable(0.0, "a")], "different names")]:
        with pytest.raises(ValueError, match=rf"^\[save\] .*{says}"):
            al.save(variables, path)
    path.write_bytes(b"not a file of tensors")
    with pytest.raises(ValueError, match=r"^\[load\] Expected a safetensors file"):
        al.load(model(), path)
    with pytest.raises(FileNotFoundError):
        al.load(model(), path.with_name("missing"))
