"""Trainer.export to ONNX, against onnx.reference and against al.onnx.load."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import alloy as al

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
    transposed = nn.Conv2DTranspose(3, 3, strides=2, padding="same")
    return nn.Sequential(nn.Dense(24), nn.Reshape((2, 3, 4)), transposed, nn.Softmax())


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Dense(8, activation="tanh"), nn.Dropout(0.3), nn.Dense(3)), (4, 6)),
    "cnn": (cnn, (4, 9, 9, 2)),
    "decoder": (decoder, (4, 6)),
    "lstm": (lstm, SEQUENCE),
    "gru": (lambda: nn.Sequential(nn.GRU(5, return_sequences=True), nn.GRU(4, reset_after=False), nn.Dense(2)), SEQUENCE),
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
    again = al.onnx.load(path)
    layer = al.Trainer(again, "mean_squared_error", al.SGD(0.01))
    np.testing.assert_allclose(layer.predict(x), expected, rtol=1e-5, atol=1e-5)
    layer.export(tmp_path / "again.onnx")
    (found,) = ReferenceEvaluator(tmp_path / "again.onnx").run(None, {"x": x})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
