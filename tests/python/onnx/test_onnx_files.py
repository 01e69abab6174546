"""What al.onnx.load makes of files: layers, their variables and training; and its answer to files that it refuses."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import alloy as al
from running import program

FOLDER = pathlib.Path(__file__).parents[2] / "goldens" / "onnx"
F = np.float32


def info(name, shape=("n", 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(path, nodes, inputs=None, outputs=("y",), opset=20, **tensors):
    """Writes nodes, pairs of an op's arguments for make_node, and tensors by name."""
    made = [helper.make_node(op, given, results, **attributes) for op, given, results, attributes in nodes]
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()]
    inputs = [info("x")] if inputs is None else inputs
    graph = helper.make_graph(made, "g", inputs, [info(name, None) for name in outputs], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    path.write_bytes(model.SerializeToString())
    return model


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.onnx"


def test_variables(file, rng):
    """Weights are variables under their names; numbers by themselves, integers and statistics are not trained."""
    weights, mean = rng.normal(size=(3, 2)).astype(F), np.zeros(2, F)
    nodes = [
        ("MatMul", ["x", "fc.weight"], ["a"], {}),
        ("Mul", ["a", "factor"], ["b"], {}),
        ("Mul", ["b", "factors"], ["c"], {}),
        ("BatchNormalization", ["c", "gamma", "beta", "mean", "variance"], ["y"], {}),
    ]
    tensors = {"fc.weight": weights, "factor": F(2), "factors": np.full(1, 3, F), "gamma": np.ones(2, F)}
    write(file, nodes, **tensors, beta=mean, mean=mean, variance=np.ones(2, F))
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, 3))
    y = model(x)
    trainable = {variable.name: variable.trainable for variable in model.variables}
    assert trainable == {"fc.weight": True, "gamma": True, "beta": True, "mean": False, "variance": False}
    array = rng.normal(size=(4, 3)).astype(F)
    np.testing.assert_allclose(graph.run(y, {x: array}), array @ weights * 6 / np.sqrt(1 + F(1e-5)), rtol=1e-5)
    again = al.onnx.load(file)  # whose names are taken
    again(x)
    assert [variable.name for variable in again.variables][0] == "model_0/fc.weight"


def test_statistics(file, rng):
    """ONNX's momentum is the share of the old value."""
    names = ["x", "gamma", "beta", "mean", "variance"]
    write(
        file,
        [("BatchNormalization", names, ["y"], {"momentum": 0.75, "epsilon": 1e-3})],
        inputs=[info("x", ("n", 3, 2))],
        gamma=np.full(3, 2, F),
        beta=np.ones(3, F),
        mean=np.full(3, 0.5, F),
        variance=np.full(3, 4, F),
    )
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, 3, 2))
    y = model(x, training=True)
    array = rng.normal(size=(5, 3, 2)).astype(F)
    (found,) = graph.compile([x], [y], model.updates)(array)
    mean, variance = array.mean((0, 2)), array.var((0, 2))
    expected = (array - mean[:, None]) / np.sqrt(variance[:, None] + 1e-3) * 2 + 1
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    moved = {variable.name: variable.numpy() for variable in model.variables}
    np.testing.assert_allclose(moved["mean"], 0.75 * 0.5 + 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(moved["variance"], 0.75 * 4 + 0.25 * variance, rtol=1e-5)
    model.trainable = False
    frozen = graph.run([model(x, training=True), model(x)], {x: array})
    assert frozen[0].tobytes() == frozen[1].tobytes()


def test_padding_does_not_count(file, rng):
    """Of examples that only fill up a batch."""
    names = ["a", "gamma", "beta", "mean", "variance"]
    nodes = [("MatMul", ["x", "w"], ["a"], {}), ("BatchNormalization", names, ["y"], {})]
    zeros, ones = np.zeros(2, F), np.ones(2, F)
    write(file, nodes, w=rng.normal(size=(3, 2)).astype(F), gamma=ones, beta=zeros, mean=zeros, variance=ones)
    x, found = rng.normal(size=(7, 3)).astype(F), []
    for last_batch in ("smaller", "pad"):
        trainer = al.Trainer(al.onnx.load(file), "mean_squared_error", al.SGD(0.1))
        trainer.fit((x, x[:, :2]), epochs=2, batch_size=4, last_batch=last_batch, progress=False)
        found.append(al.state(trainer.model))
    for name, array in found[0].items():
        np.testing.assert_allclose(found[1][name], array, rtol=1e-4, atol=1e-4)  # a batch of 3 is not smooth


def test_dropout(file, rng):
    nodes = [("Dropout", ["x", "ratio"], ["y", "kept"], {})]
    write(file, nodes, [info("x", (None, 1000))], ("y", "kept"), ratio=F(0.25))
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((2, 1000))
    array = np.ones((2, 1000), F)
    y, kept = graph.run(list(model(x).values()), {x: array})
    assert kept.all() and (y == 1).all()
    made = model(x, training=True)
    step = graph.compile([x], [made["y"], made["kept"]], model.updates)
    (first, kept), (second, _) = step(array), step(array)
    np.testing.assert_allclose(first, np.where(kept, 1 / 0.75, 0), rtol=1e-6)
    assert 0.7 < kept.mean() < 0.8 and (first != second).any()


def test_random_numbers(file):
    nodes = [
        ("RandomNormal", [], ["a"], {"shape": [4, 500], "mean": 2.0, "scale": 3.0}),
        ("RandomUniform", [], ["b"], {"shape": [4, 500], "low": -1.0, "high": 3.0}),
        ("RandomNormalLike", ["x"], ["c"], {}),
        ("RandomUniformLike", ["x"], ["d"], {}),
        ("Bernoulli", ["x"], ["e"], {"dtype": TensorProto.INT32}),
    ]
    write(file, nodes, [info("x", (None, 500))], "abcde")
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((4, 500))
    a, b, c, d, e = graph.run(list(model(x).values()), {x: np.full((4, 500), 0.3, F)})
    means = [a.mean(), b.mean(), c.mean(), d.mean(), e.mean(), a.std()]
    np.testing.assert_allclose(means, [2, 1, 0, 0.5, 0.3, 3], atol=0.15)
    assert e.dtype == np.int32


def test_a_branch(file):
    branches = [
        helper.make_graph([helper.make_node(op, ["x", "two"], [op])], op, [], [info(op, None)]) for op in ("Add", "Mul")
    ]
    nodes = [
        ("Shape", ["x"], ["shape"], {}),
        ("Gather", ["shape", "one"], ["extent"], {}),
        ("Equal", ["extent", "three"], ["is_three"], {}),
        ("If", ["is_three"], ["y"], {"then_branch": branches[0], "else_branch": branches[1]}),
    ]
    write(file, nodes, [info("x", (None, None))], two=F(2), one=np.int64(1), three=np.int64(3))
    model, graph = al.onnx.load(file), al.Graph()
    for extent, expected in ((3, 7), (4, 10)):
        x = graph.placeholder((None, extent))
        assert (graph.run(model(x), {x: np.full((2, extent), 5, F)}) == expected).all()


def test_several_inputs_and_outputs(file, rng):
    nodes = [("Add", ["a", "b"], ["sum"], {}), ("Sub", ["a", "b"], ["difference"], {})]
    write(file, nodes, [info("a"), info("b")], ("sum", "difference"))
    model, graph = al.onnx.load(file), al.Graph()
    a, b = graph.placeholder((None, 3)), graph.placeholder((None, 3))
    arrays = rng.normal(size=(2, 4, 3)).astype(F)
    for x in ({"b": b, "a": a}, (a, b)):
        found = model(x)
        assert list(found) == ["sum", "difference"]
        values = graph.run(list(found.values()), {a: arrays[0], b: arrays[1]})
        np.testing.assert_allclose(values, [arrays[0] + arrays[1], arrays[0] - arrays[1]], rtol=1e-6)
    with pytest.raises(
        ValueError, match=r"^\[Model\] Expected a tensor for each input of .*'a', 'b'\], got 1 tensors; at"
    ):
        model(a)
    with pytest.raises(ValueError, match=r"^\[Model\] Expected a tensor for each input .* of the names \['a'\]; at"):
        model({"a": a})
    with pytest.raises(
        ValueError, match=r"^\[Model\] Expected float32\(\?, 3\) as the input 'b' of .*, got float32\(4,\)"
    ):
        model((a, graph.placeholder((4,))))


def test_extents_that_only_a_run_knows(file, rng):
    """Two of them in a reshape: batch and steps."""
    nodes = [
        ("Shape", ["x"], ["shape"], {}),
        ("Slice", ["shape", "zero", "two"], ["first"], {}),
        ("Concat", ["first", "heads"], ["target"], {"axis": 0}),
        ("Reshape", ["x", "target"], ["split"], {}),
        ("Transpose", ["split"], ["turned"], {"perm": [0, 2, 1, 3]}),
        ("Expand", ["bias", "target"], ["wide"], {}),
        ("Transpose", ["wide"], ["other"], {"perm": [0, 2, 1, 3]}),
        ("Add", ["turned", "other"], ["y"], {}),
    ]
    write(
        file,
        nodes,
        [info("x", ("n", "steps", 6))],
        zero=np.array([0]),
        two=np.array([2]),
        heads=np.array([2, 3]),
        bias=np.arange(3, dtype=F),
    )
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, None, 6))
    y = model(x)
    for shape in ((2, 4, 6), (3, 5, 6)):
        array = rng.normal(size=shape).astype(F)
        expected = (array.reshape(*shape[:2], 2, 3) + np.arange(3, dtype=F)).transpose(0, 2, 1, 3)
        np.testing.assert_allclose(graph.run(y, {x: array}), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "target, expected",
    [
        (["n", "rest"], (-1, 96)),  # the batch stays, and so the rest is known
        (["n12", "rest"], (-1, 8)),  # it does not
        (["rest", "n"], (96, -1)),
        (["n", "two", "rest"], (-1, 2, 48)),
        (["n12", "two", "rest"], (-1, 2, 4)),
        (["keep", "rest"], (-1, 96)),
    ],
)
def test_a_reshape_with_a_rest(target, expected, file, rng):
    nodes = [
        ("Relu", ["x"], ["a"], {}),
        ("Shape", ["x"], ["shape"], {}),
        ("Slice", ["shape", "zero", "one"], ["n"], {}),
        ("Mul", ["n", "twelve"], ["n12"], {}),
        ("Concat", target, ["target"], {"axis": 0}),
        ("Reshape", ["a", "target"], ["y"], {}),
    ]
    numbers = {"zero": 0, "one": 1, "two": 2, "twelve": 12, "rest": -1, "keep": 0}
    write(file, nodes, [info("x", ("n", 12, 8))], **{name: np.array([number]) for name, number in numbers.items()})
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, 12, 8))
    y = model(x)
    if "n12" not in target:
        assert y.shape == tuple(None if extent == -1 else extent for extent in expected)
    for rows in (1, 5):
        array = rng.normal(size=(rows, 12, 8)).astype(F)
        shape = [rows if each == "n" else extent for each, extent in zip(target, expected)]
        assert graph.run(y, {x: array}).tobytes() == np.maximum(array, 0).reshape(shape).tobytes()


def test_lengths_of_sequences(file, rng):
    """Each row is as the sequence of its own length by itself, in both directions; zeros follow."""
    w, r, b = (rng.normal(size=shape).astype(F) for shape in ((2, 16, 3), (2, 16, 4), (2, 32)))
    options = {"hidden_size": 4, "direction": "bidirectional"}
    lengths = np.array([5, 2, 3], np.int32)
    write(
        file,
        [("LSTM", ["x", "w", "r", "b", "n"], ["y", "h", "c"], options)],
        [info("x", (None, None, 3)), info("n", (None,), TensorProto.INT32)],
        ("y", "h", "c"),
        w=w,
        r=r,
        b=b,
    )
    model, graph = al.onnx.load(file), al.Graph()
    x, n = graph.placeholder((5, 3, 3)), graph.placeholder((3,), "int32")
    array = rng.normal(size=(5, 3, 3)).astype(F)
    y, h, c = graph.run(list(model({"x": x, "n": n}).values()), {x: array, n: lengths})
    for row, length in enumerate(lengths):
        alone = graph.placeholder((length, 1, 3))
        found = model({"x": alone, "n": graph.constant(np.array([length], np.int32))})
        expected = graph.run(list(found.values()), {alone: array[:length, row : row + 1]})
        for mine, theirs in zip((y[:length, :, row], h[:, row], c[:, row]), expected):
            np.testing.assert_allclose(mine, theirs.squeeze(2 if theirs.ndim == 4 else 1), rtol=1e-5, atol=1e-6)
        assert (y[length:, :, row] == 0).all()


def test_pooling_by_a_norm(file, rng):
    """onnx.reference has no GlobalLpPool."""
    write(file, [("GlobalLpPool", ["x"], ["y"], {"p": 3})], [info("x", (None, 2, 3, 4))])
    graph, array = al.Graph(), rng.normal(size=(2, 2, 3, 4)).astype(F)
    x = graph.placeholder((None, 2, 3, 4))
    expected = (np.abs(array) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
    np.testing.assert_allclose(graph.run(al.onnx.load(file)(x), {x: array}), expected, rtol=1e-5)


def test_halves(file, rng):
    """Variables are float32 whatever the file has, and computed with in the file's type."""
    weights = rng.normal(size=(3, 2)).astype(np.float16)
    write(file, [("MatMul", ["x", "w"], ["y"], {})], [info("x", ("n", 3), TensorProto.FLOAT16)], w=weights)
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, 3))
    y = model(x)
    assert y.dtype == "float16" and model.variables[0].dtype == "float32"
    array = rng.normal(size=(4, 3)).astype(F)
    np.testing.assert_allclose(graph.run(y, {x: array}), array @ weights.astype(F), atol=1e-2)


def test_doubles(file, rng):
    weights = rng.normal(size=(3, 2))
    nodes = [("MatMul", ["x", "w"], ["a"], {}), ("Cast", ["a"], ["y"], {"to": TensorProto.DOUBLE})]
    write(file, nodes, [info("x", ("n", 3), TensorProto.DOUBLE)], w=weights)
    model, graph = al.onnx.load(file), al.Graph()
    x = graph.placeholder((None, 3))
    assert model(x).dtype == "float32"


def test_tensors_in_another_file(file, rng):
    weights = rng.normal(size=(3, 50)).astype(F)
    model = write(file, [("MatMul", ["x", "w"], ["y"], {})], w=weights)
    onnx.save(model, file, save_as_external_data=True, location="weights.bin", size_threshold=0)
    graph = al.Graph()
    x = graph.placeholder((None, 3))
    model = al.onnx.load(file)
    model(x)
    assert model.variables[0].numpy().tobytes() == weights.tobytes()
    (file.parent / "weights.bin").unlink()
    with pytest.raises(
        ValueError, match=r"^\[onnx.load\] Expected the elements of the tensor 'w' in 'weights.bin' bes"
    ):
        al.onnx.load(file)


def test_a_layer_among_others(file, rng):
    """A trainer trains it with other layers, saves it; copies have the values."""
    write(file, [("MatMul", ["x", "w"], ["y"], {})], w=rng.normal(size=(3, 4)).astype(F))
    body = al.onnx.load(file)
    model = al.nn.Sequential(body, al.nn.ReLU(), al.nn.Dense(1))
    x = rng.normal(size=(32, 3)).astype(F)
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.1))
    before = trainer.predict(x)
    trainer.fit((x, x[:, :1]), epochs=3, progress=False)
    assert body.variables[0].name == "model_0/w"
    expected = trainer.predict(x)
    assert np.abs(before - expected).max() > 0.01
    al.save(model, file.parent / "model.safetensors")
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other = al.Trainer(again, "mean_squared_error", al.SGD(0.1))
        np.testing.assert_allclose(other.predict(x), expected, rtol=1e-6, atol=1e-6)
    frozen = al.onnx.load(file)
    frozen.trainable = False
    frozen(al.Graph().placeholder((None, 3)))
    assert not frozen.variables[0].trainable


# ---- what is refused ----


def change(model, **values):
    for name, value in values.items():
        setattr(model, name, value)


def with_opset(model, version):
    model.opset_import[0].version = version


def with_function(model):
    model.functions.append(helper.make_function("own", "twice", ["a"], ["b"], [], [helper.make_opsetid("", 20)]))


def with_domain(model):
    model.graph.node[0].domain = "com.microsoft"


def with_sparse(model):
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, helper.make_tensor("i", 7, [1], [0]), [4]))


def with_texts(model):
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def with_op(op, inputs=("x",)):
    def changed(model):
        node = model.graph.node[0]
        node.op_type = op
        node.input[:] = inputs

    return changed


def with_attribute(model):
    model.graph.node[0].attribute.append(helper.make_attribute("slope", 1.0))


WRONG = {
    "old": (
        lambda m: with_opset(m, 12),
        r"Expected an opset from 13 to 22, got 12 in .*; onnx.version_converter.*18\) co",
    ),
    "new": (lambda m: with_opset(m, 23), r"Expected an opset from 13 to 22, got 23 in .*, 22\) converts most models"),
    "no opset": (lambda m: m.ClearField("opset_import"), "Expected one version of ONNX's ops in .*, got 0"),
    "function": (with_function, r"Expected nodes of ONNX's ops, got the function 'twice' in .*inline_local_functions"),
    "domain": (with_domain, "Expected ONNX's own ops in .*, got the node 'y' of MatMul of the domain 'com.microsoft'"),
    "sparse": (with_sparse, "Expected dense tensors, got the sparse one 's' in "),
    "texts": (with_texts, "Expected tensors of numbers as inputs of .*, got string as 'x'"),
    "unknown op": (with_op("MatMal"), "Expected ops of opset 20, got the node 'y' of MatMal in "),
    "later op": (
        lambda m: (with_opset(m, 19), with_op("Gelu")(m)),
        "Expected ops of opset 19, got the node 'y' of Gelu",
    ),
    "refused op": (
        with_op("NonZero"),
        "Expected ops that are supported, got the node 'y' of NonZero; the shape of its",
    ),
    "inputs": (with_op("MatMul"), "Expected 2 inputs of the node 'y' of MatMul, got 1"),
    "unsorted": (with_op("MatMul", ("x", "z")), "Expected 'z', which the node 'y' of MatMul takes, made before it"),
    "attribute": (
        with_attribute,
        "Expected no attribute 'slope', which ONNX does not define, of the node 'y' of MatMul",
    ),
}


@pytest.mark.parametrize("damage, said", WRONG.values(), ids=WRONG)
def test_refusals(damage, said, file):
    model = write(file, [("MatMul", ["x", "w"], ["y"], {})], w=np.ones((3, 2), F))
    damage(model)
    file.write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=rf"^\[onnx.load\] {said}.*; at tests/python/onnx/test_onnx_files.py:\d+\.$"):
        al.onnx.load(file)


def test_no_onnx_file(file):
    file.write_bytes(b"\x80\x04 no such file")
    with pytest.raises(ValueError, match=r"^\[onnx.load\] Expected an ONNX file, got .*, which holds no graph; at"):
        al.onnx.load(file)
    with pytest.raises(FileNotFoundError, match="nowhere.onnx"):
        al.onnx.load(file.parent / "nowhere.onnx")
    with pytest.raises(IsADirectoryError):
        al.onnx.load(file.parent)
    with pytest.raises(TypeError, match=r"^\[onnx.load\] "):
        al.onnx.load(3)


def test_a_call_that_does_not_fit(file):
    write(file, [("MatMul", ["x", "w"], ["y"], {})], [info("x", None)], w=np.ones((3, 2), F))
    with pytest.raises(
        ValueError, match=r"^\[onnx\] Cannot build the node 'y' of MatMul: \[matmul\] .*; at tests[^;]*\.$"
    ):
        al.onnx.load(file)(al.Graph().placeholder((2, 4)))


def test_damaged_files():
    """Each gets a layer or a sentence. ALLOY_MUTANTS: the number of files."""
    count = os.environ.get("ALLOY_MUTANTS", "200")
    command = [sys.executable, pathlib.Path(__file__).with_name("onnx_mutants.py"), count]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + int(count))
    assert done.returncode == 0, done.stderr[-200:]
    assert "took" not in done.stdout and done.stdout.rstrip().endswith(", 0 wrong"), done.stdout


def test_without_the_package():
    code = """
        import sys
        import alloy as al
        assert "onnx" not in sys.modules and "google.protobuf" not in sys.modules
        sys.modules["onnx"] = None
        try:
            al.onnx
        except ImportError as error:
            print(error)
    """
    said = "[onnx] The package onnx 1.16 or newer is missing: pip install 'alloy-mpsgraph[onnx]'\n"
    assert program(code).stdout == said
