"""ONNX's ops against onnx.reference, an implementation of their definitions in NumPy."""

import make_onnx_table
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_cases import CASES, Known

import alloy as al
from alloy.onnx.file import REFUSED
from alloy.onnx.ops import SUPPORTED


def value_info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model_of(case, opset):
    """(the file's bytes, arrays by input)"""
    names, fed, held = [], {}, []
    for i, operand in enumerate(case.operands):
        names.append("" if operand is None else f"x{i}")
        if isinstance(operand, Known):
            held.append(numpy_helper.from_array(operand.array(), f"x{i}"))
        elif operand is not None:
            fed[f"x{i}"] = operand
    attributes = {
        key: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for key, value in case.attributes.items()
    }
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, **attributes)
    inputs = [value_info(name, array) for name, array in fed.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, []) for name in outputs]
    graph = helper.make_graph([node], "g", inputs, results, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), fed


def run(model, fed, tmp_path, training=False):
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    layer, graph = al.onnx.load(path), al.Graph()
    feeds = {name: graph.placeholder(array.shape, array.dtype) for name, array in fed.items()}
    if not feeds:
        feeds = {"": graph.placeholder(())}
        fed = {"": np.float32(0)}
    found = layer(feeds if fed != {"": 0} else feeds, training)
    found = found if isinstance(found, dict) else {"y0": found}
    return graph.run(list(found.values()), {feeds[name]: fed[name] for name in feeds})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_op(case, tmp_path):
    if case.op == "DFT" and al.device().system.startswith("macOS 13"):
        pytest.skip("that system has no complex numbers")
    for opset in case.opsets:
        model, fed = model_of(case, opset)
        if not fed:  # a layer has an input
            model.graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, [1]))
            fed = {"unused": np.zeros(1, np.float32)}
        if not onnx.defs.get_schema(case.op, opset).deprecated:
            onnx.checker.check_model(model)
        expected = ReferenceEvaluator(model).run(None, fed)
        found = run(model, fed, tmp_path)
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected):
            theirs = np.asarray(theirs)
            assert mine.shape == theirs.shape, (opset, mine.shape, theirs.shape)
            assert mine.dtype == theirs.dtype, (opset, mine.dtype, theirs.dtype)
            np.testing.assert_allclose(mine, theirs, rtol=case.tolerance, atol=case.tolerance)


def test_every_op_of_onnx_is_supported_or_refused():
    known = {s.name for s in onnx.defs.get_all_schemas_with_history() if not s.domain and s.since_version <= 22}
    assert not {*SUPPORTED} & {*REFUSED}
    assert {*SUPPORTED} | {*REFUSED} == known


def test_every_supported_op_has_a_case():
    elsewhere = {"If", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli"}
    assert {case.op for case in CASES} | elsewhere == {*SUPPORTED}


def test_the_tables_of_the_docs():
    assert make_onnx_table.PAGE.read_text() == make_onnx_table.page(), "run python tests/python/onnx/make_onnx_table.py"
