"""Trainer.export to ONNX, against onnx.reference and against al.onnx.load."""

import os

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import alloy as al
from alloy.onnx.save import to_bytes
from alloy.onnx.writer import WRITTEN
from alloy.onnx.written import NOT_WRITTEN
from alloy.ops.apply import recorded
from cases import all_cases, sample

nn = al.nn
SEQUENCE = (4, 5, 6)


class Block(nn.Layer):
    """A transformer's block, after an embedding."""

    def __init__(self):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(11, 8), nn.MultiHeadAttention(2, 4, use_causal_mask=True)
        self.norms = [nn.LayerNorm(), nn.LayerNorm()]
        self.wide, self.narrow, self.head = nn.Dense(16, activation="gelu"), nn.Dense(8), nn.Dense(5)

    def forward(self, x, training):
        x = self.embedding(x)
        x = x + self.attention(self.norms[0](x))
        return self.head(x + self.narrow(self.wide(self.norms[1](x))))


def cnn():
    conv = nn.Conv2D(4, 3, padding="same", strides=2), nn.BatchNorm(), nn.ReLU()
    more = nn.DepthwiseConv2D(3), nn.BatchNorm(), nn.GELU(), nn.AvgPool2D(2), nn.UpSampling2D(2)
    return nn.Sequential(*conv, *more, nn.MaxPool2D(2, padding="same"), nn.Flatten(), nn.Dense(3))


def lstm():
    return nn.Sequential(nn.LSTM(5, layers=2, bidirectional=True, return_sequences=True), nn.LSTM(3), nn.Dense(2))


def decoder():
    transposed = nn.ConvTranspose2D(3, 3, strides=2, padding="same")
    return nn.Sequential(nn.Dense(24), nn.Reshape((2, 3, 4)), transposed, nn.Softmax())


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Dense(8, activation="tanh"), nn.Dropout(0.3), nn.Dense(3)), (4, 6)),
    "cnn": (cnn, (4, 9, 9, 2)),
    "decoder": (decoder, (4, 6)),
    "lstm": (lstm, SEQUENCE),
    "gru": (
        lambda: nn.Sequential(nn.GRU(5, return_sequences=True), nn.GRU(4, reset_after=False), nn.Dense(2)),
        SEQUENCE,
    ),
    "rnn": (lambda: nn.Sequential(nn.RNN(5, bidirectional=True), nn.Dense(2)), SEQUENCE),
    "transformer": (Block, (4, 6)),
    "group norm": (lambda: nn.Sequential(nn.Conv1D(4, 2), nn.GroupNorm(2), nn.SiLU(), nn.GlobalMaxPool()), SEQUENCE),
    "resnet18": (lambda: al.models.resnet18(3), (2, 32, 32, 3)),
}


def trained(make, shape, rng):
    """(trainer, x) after a few steps, so that moving averages are not what they were."""
    model = make()
    is_ids = isinstance(model, Block)
    x = rng.integers(0, 11, shape).astype(np.int32) if is_ids else rng.normal(size=shape).astype(np.float32)
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.01))
    outputs = trainer.predict(x)
    trainer.fit((x, np.zeros_like(outputs)), epochs=2, batch_size=shape[0], progress=False)
    return trainer, x


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path, rng):
    trainer, x = trained(*MODELS[name], rng)
    path = tmp_path / "model.onnx"
    trainer.export(path)
    expected = trainer.predict(x)
    file = onnx.load(path)
    onnx.checker.check_model(file, full_check=True)
    assert [each.version for each in file.opset_import] == [18]
    names = {tensor.name for tensor in file.graph.initializer}
    assert names >= {variable.name for variable in trainer.model.variables if "state" not in variable.name}
    session = ReferenceEvaluator(file)
    for rows in (len(x), 1):  # the batch is open
        (found,) = session.run(None, {"x": x[:rows]})
        np.testing.assert_allclose(found, expected[:rows], rtol=1e-5, atol=1e-5)
    kinds = [node.op_type for node in file.graph.node]
    normalized = sum(isinstance(layer, nn.BatchNorm) for layer in trainer.model._tree())
    cells = {"lstm": ["LSTM"] * 5, "gru": ["GRU"] * 2, "rnn": ["RNN"] * 2}.get(name, [])
    assert kinds.count("BatchNormalization") == normalized
    momenta = [a.f for node in file.graph.node for a in node.attribute if a.name == "momentum"]
    np.testing.assert_allclose(momenta, [0.99] * normalized)
    assert [kind for kind in kinds if kind in ("LSTM", "GRU", "RNN")] == cells
    again = al.onnx.load(path)
    layer = al.Trainer(again, "mean_squared_error", al.SGD(0.01))
    np.testing.assert_allclose(layer.predict(x), expected, rtol=1e-5, atol=1e-5)
    layer.export(tmp_path / "again.onnx")
    for node in onnx.load(tmp_path / "again.onnx").graph.node:
        assert all(a.f > 0.98 for a in node.attribute if a.name == "momentum")
    (found,) = ReferenceEvaluator(str(tmp_path / "again.onnx")).run(None, {"x": x})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_every_op_is_written_or_not():
    names = {row["name"] for row in al.op_table()}
    assert not {*WRITTEN} & {*NOT_WRITTEN}
    assert {*WRITTEN} | {*NOT_WRITTEN} == names, "see python/alloy/onnx/written.py"


BY_OP: dict = {}
for _case in all_cases():
    BY_OP.setdefault(_case.op, []).append(_case)
# A position outside gives 0 here, and anything in ONNX; other cases are beyond onnx.reference.
_UNLIKE = ("gather", "gather_nd", "gather_along_axis", "scatter_nd_update", "scatter_along_axis", "scatter")
_BEYOND = ("pad_edges cut", "rnn plain")


def written(build, arrays, refused=False):
    """(what ONNX computes, what Alloy computes); refused: None for an op that is not written."""
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    with recorded() as applied:
        result = build(*feeds)
    inputs = {f"x{i}": feed for i, feed in enumerate(feeds)}
    try:
        content = to_bytes(inputs, {"y": result}, applied)
    except ValueError as error:
        assert refused and str(error).startswith("[export] Expected ops that ONNX can express, got "), error
        return None
    onnx.checker.check_model(content, full_check=True)
    session = ReferenceEvaluator(onnx.load_from_string(content))
    (found,) = session.run(None, {f"x{i}": array for i, array in enumerate(arrays)})
    return np.asarray(found), *graph.compile(feeds, [result])(*arrays)


@pytest.mark.parametrize("op", [op for op in BY_OP if op not in _UNLIKE])
def test_op(op, rng):
    """An op that is refused in one form may be written in another."""
    count = 0
    for case in BY_OP[op]:
        dtype = next(dtype for dtype in ("float32", "uint32", *case.dtypes) if dtype in case.dtypes)
        arrays = sample(case, dtype, rng)
        if max(array.size for array in arrays) > 1000 or str(case).startswith(_BEYOND):
            continue
        pair = written(case.build, arrays, refused=True)
        if pair is None:
            continue
        found, expected = pair
        assert found.dtype == expected.dtype, case
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=str(case))
        count += 1
    assert count or op in NOT_WRITTEN or op in ("max_pool4d", "avg_pool4d")  # of which below


@pytest.mark.parametrize("mode", ["set", "add", "multiply", "minimum", "maximum"])
def test_positions(mode, rng):
    x, y = rng.normal(size=(2, 4, 3)).astype(np.float32), rng.normal(size=(2, 4, 3)).astype(np.float32)
    places, tuples = (
        rng.permuted(np.tile(np.arange(4), (2, 3, 1)), axis=2).transpose(0, 2, 1),
        np.array([[1, 0], [0, 3]]),
    )
    builds = [
        lambda x, y: al.put_along_axis(x, places, y, 1, mode=mode),
        lambda x, y: al.scatter_nd(x, tuples, y[0, :2], mode=mode),
        lambda x, y: al.scatter(x, np.array([1]), y[:1], mode=mode),
        lambda x, y: al.take_along_axis(x, places, 1),
        lambda x, y: al.gather_nd(x, tuples),
        lambda x, y: al.gather(x, [2, 0], 1),
        lambda x, y: al.gather(x, places[:, :, 0], 1, batch_dims=1),
    ]
    for build in builds:
        found, expected = written(build, [x, y])
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("pool", [al.max_pool4d, al.avg_pool4d])
def test_pools_over_four_axes(pool, rng):
    x = rng.normal(size=(2, 6, 7, 6)).astype(np.float32)
    pads = ((0, 0), (1, 0), (1, 1), (0, 0))
    for window, padding, ceil in (
        ((1, 2, 3, 1), pads, False),
        ((1, 2, 3, 1), pads, True),
        ((1, 1, 2, 2), "same", False),
    ):
        found, expected = written(lambda x: pool(x, window=window, padding=padding, ceil_mode=ceil), [x])
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert written(lambda x: pool(x, window=2), [x], refused=True) is None


def dense(rng, **options):
    trainer = al.Trainer(nn.Sequential(nn.Dense(3)), "mean_squared_error", "sgd", **options)
    return trainer, rng.normal(size=(4, 5)).astype(np.float32)


def test_rows_and_examples(tmp_path, rng):
    """Examples may be given instead of a training; rows closes the batch."""
    trainer, x = dense(rng)
    with pytest.raises(
        ValueError, match=r"^\[export\] Expected a model that has seen examples; call fit, or give some; at"
    ):
        trainer.export(tmp_path / "model.onnx")
    for rows, dims in ((None, ("batch", 0)), (7, ("", 7))):
        trainer.export(tmp_path / "model.onnx", x, rows=rows)
        graph = onnx.load(tmp_path / "model.onnx").graph
        for value in (*graph.input, *graph.output):
            dim = value.type.tensor_type.shape.dim[0]
            assert (dim.dim_param, dim.dim_value) == dims
    assert os.listdir(tmp_path) == ["model.onnx"]  # and no file of an attempt


class Several(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(2), nn.Embedding(4, 2)

    def forward(self, x, training):
        y = self.a(x["numbers"]) + self.b(x["ids"])
        return {"sum": y, "both": (al.relu(y), x["numbers"])}


def test_several(tmp_path, rng):
    x = {"numbers": rng.normal(size=(4, 5)).astype(np.float32), "ids": np.array([3, 0, 1, 7], np.int32)}
    trainer = al.Trainer(Several(), {"sum": "mean_squared_error"}, "sgd")
    expected = trainer.predict(x)
    trainer.export(tmp_path / "model.onnx")
    session = ReferenceEvaluator(str(tmp_path / "model.onnx"))
    assert session.output_names == ["output/sum", "output/both/0", "output/both/1"]
    # An id outside gives NaN.
    inside = {f"x/{name}": array[:3] for name, array in x.items()}
    for found, theirs in zip(session.run(None, inside), (expected["sum"], *expected["both"])):
        np.testing.assert_allclose(found, theirs[:3], rtol=1e-5, atol=1e-6)
    assert np.isnan(expected["sum"][3]).all()


def test_16_bits(tmp_path, rng):
    trainer, x = dense(rng, dtype="float16")
    expected = trainer.predict(x)
    trainer.export(tmp_path / "model.onnx")
    (found,) = ReferenceEvaluator(str(tmp_path / "model.onnx")).run(None, {"x": x})
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.astype(np.float32), expected.astype(np.float32), atol=1e-2)


class Refused(nn.Layer):
    """A layer of one op."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, training):
        return self.function(x)


REFUSED = {
    "atan2": (lambda x: al.atan2(x, 1.0), "ONNX has no such op"),
    "cumulative": (al.cumprod, "of a product"),
    "random": (lambda x: al.random.normal(x.graph.constant(al.random.state(0)), x)[0], "its numbers would be"),
    "if_else": (lambda x: al.cond(x[0, 0] > 0, lambda: x, lambda: -x), "loops and conditions are not written"),
    "lstm": (lambda x: al.lstm(x[None], al.zeros((4, 1)) + x[:4, :1])[1][0], "its other results are not written"),
}


@pytest.mark.parametrize("op", REFUSED)
def test_refusals(op, tmp_path):
    function, why = REFUSED[op]
    trainer = al.Trainer(Refused(function), "mean_squared_error", "sgd")
    x = np.zeros((4, 4), np.float32)
    said = (
        rf"^\[export\] Expected ops that ONNX can express, got {op}, built at .*test_onnx_export.py:\d+; {why}.*; at "
    )
    with pytest.raises(ValueError, match=said + r"tests/python/onnx/test_onnx_export.py:\d+\.$"):
        trainer.export(tmp_path / "model.onnx", x)
    assert os.listdir(tmp_path) == []
