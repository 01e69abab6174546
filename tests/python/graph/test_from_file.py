"""Variables that begin with the values of a file, which is read when they are first needed."""

import os

import numpy as np
import pytest
from safetensors.numpy import save_file

import alloy as al
from kinds import READS_HOST_MEMORY
from peak import peak_kilobytes


@pytest.fixture
def graph(storage):
    return al.Graph(storage=storage)


@pytest.fixture
def files(tmp_path, rng):
    values = {
        "w": rng.normal(size=(3, 5)).astype("f"),
        "deep/b": rng.integers(-9, 9, (4,)).astype("i4"),
        "h": rng.normal(size=(2, 2)).astype("f2"),
        "one": np.float32(7),
    }
    save_file({k: np.asarray(v) for k, v in values.items()}, tmp_path / "all.safetensors")
    return tmp_path, values


@pytest.mark.parametrize("first", ["read", "run", "train", "assign", "verify"])
def test_values_are_those_of_the_file(first, files, graph):
    directory, values = files
    np.save(directory / "w.npy", values["w"])
    variables = {name: graph.variable(al.init.from_file(directory / "all.safetensors", name), name) for name in values}
    variables["npy"] = graph.variable(al.init.from_file(directory / "w.npy"), "npy")
    values = {**values, "npy": values["w"]}
    for name, variable in variables.items():
        assert variable.shape == np.shape(values[name]) and variable.dtype == np.asarray(values[name]).dtype.name
    if first == "run":
        (found,) = graph.compile([], [variables["w"] * 2.0])()
        np.testing.assert_array_equal(found, values["w"] * 2)
    if first == "train":
        graph.compile(
            [], [], al.SGD(1.0).minimize(al.sum(variables["w"] * variables["npy"]), [variables["w"], variables["npy"]])
        )()
        values = {**values, "w": values["w"] - values["w"], "npy": values["w"] - values["w"]}
    if first == "assign":
        variables["w"].assign(np.ones((3, 5), "f"))
        values = {**values, "w": np.ones((3, 5))}
    if first == "verify":
        graph.verify()
    for name, variable in variables.items():
        np.testing.assert_array_equal(variable.numpy(), values[name], name)


def test_a_layer_begins_with_a_file(files):
    directory, values = files
    layer = al.nn.Dense(5, init=lambda shape, seed: al.init.from_file(directory / "all.safetensors", "w"))
    x = al.Graph().placeholder((None, 3))
    (y,) = x.graph.compile([x], [layer(x)])(np.ones((2, 3), "f"))
    np.testing.assert_allclose(y, np.ones((2, 3)) @ values["w"], rtol=1e-5)


def test_verify_finds_what_is_no_number(files, graph):
    directory, values = files
    values["w"][1, 1] = np.nan
    np.save(directory / "w.npy", values["w"])
    graph.variable(al.init.from_file(directory / "w.npy"), "w")
    with pytest.raises(ValueError, match="finite numbers as the initial value of 'w', got 1 of 15"):
        graph.verify()


@pytest.mark.parametrize("change", ["rewritten", "replaced", "truncated", "removed"])
def test_a_file_that_changes_is_noticed(change, files, graph):
    directory, values = files
    path = directory / "w.npy"
    np.save(path, values["w"])
    variable = graph.variable(al.init.from_file(path), "w")
    if change == "rewritten":
        np.save(path, values["w"] + 1)
        os.utime(path, ns=(1, 1))
    if change == "replaced":
        np.save(directory / "other.npy", values["w"])
        os.replace(directory / "other.npy", path)
    if change == "truncated":
        os.truncate(path, 100)
    if change == "removed":
        os.remove(path)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^\[from_file\] .*w\.npy (has changed since|cannot be read)"):
            variable.numpy()
    variable.assign(values["w"] * 0)
    assert not variable.numpy().any()


def wrong(directory, values):
    np.save(directory / "wide.npy", values["w"].astype("f8"))
    np.save(directory / "columns.npy", np.asfortranarray(values["w"]))
    np.save(directory / "objects.npy", np.array([{}, 1], object), allow_pickle=True)
    np.save(directory / "short.npy", values["w"])
    os.truncate(directory / "short.npy", 140)
    (directory / "text").write_text("hello")
    return [
        (("wide.npy",), ValueError, "type that variables have, got float64"),
        (("columns.npy",), ValueError, "rows one after the other"),
        (("objects.npy",), ValueError, r"Expected a \.npy file of numbers"),
        (("short.npy",), ValueError, "short"),
        (("text",), ValueError, r"Expected a safetensors or \.npy file"),
        (("all.safetensors",), ValueError, "Expected the name of a tensor in .*, got None"),
        (("all.safetensors", "deep/c"), ValueError, "got 'deep/c'; the nearest is deep/b"),
        (("missing",), FileNotFoundError, "missing"),
    ]


def test_wrong_files(files):
    for given, kind, says in wrong(*files):
        with pytest.raises(kind, match=says):
            al.init.from_file(files[0] / given[0], *given[1:])


@READS_HOST_MEMORY
def test_the_host_keeps_no_copy(tmp_path):
    """Of 64 MiB, which only the device then has."""
    path = tmp_path / "large.npy"
    np.save(path, np.ones((16, 1 << 20), "f"))
    graph = al.Graph()
    before = peak_kilobytes()
    variable = graph.variable(al.init.from_file(path))
    assert peak_kilobytes() - before < 8 << 10, "it is not read yet"
    (total,) = graph.compile([], [al.sum(variable)])()
    assert total == 16 << 20
    assert peak_kilobytes() - before < 2.5 * (64 << 10)
