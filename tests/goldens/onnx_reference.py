"""Small networks as ONNX files, made by the exporters of PyTorch and of Keras, with what PyTorch and Keras compute,
which tests/python/onnx/test_onnx_models.py holds al.onnx against.

    python tests/goldens/onnx_reference.py     writes onnx/*.onnx and onnx/results.npz, with torch, onnxscript and keras

No test needs these. Of each network: x and t, examples and targets; y, its outputs in inference; trained, the same
after 10 steps of gradient descent of rate RATE on the mean squared error of all examples, in training mode; and losses,
those of the steps. All are computed in float64. Weights and shapes are random. Normalisations over batches move their
variances by the batch's own, as ONNX defines, where PyTorch's modules take n - 1 for n."""

import os
import pathlib
import warnings

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import onnx
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).with_name("onnx")
STEPS, RATE = 10, 0.03


class Norm(nn.BatchNorm2d):
    """Moves the variance by the batch's own."""

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance, self.momentum)
        y = (x - mean[:, None, None]) / torch.sqrt(variance + self.eps)[:, None, None]
        return y * self.weight[:, None, None] + self.bias[:, None, None]


class Block(nn.Module):
    def __init__(self, before, after, stride, activation, norm):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, after, 3, stride, 1, bias=False), norm(after)
        self.conv2, self.bn2 = nn.Conv2d(after, after, 3, 1, 1, bias=False), norm(after)
        self.activation = activation
        self.shortcut = nn.Conv2d(before, after, 1, stride) if stride > 1 or before != after else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(self.activation(self.bn1(self.conv1(x)))))
        return self.activation(y + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, random, norm):
        super().__init__()
        activation = [nn.GELU(), nn.SiLU(), nn.Tanh()][random.integers(3)]
        wide = int(random.integers(4, 8))
        self.stem, self.norm = nn.Conv2d(3, wide, 3, 1, 1), norm(wide)
        self.pool = [nn.AvgPool2d(2), nn.Identity()][random.integers(2)]
        self.blocks = nn.Sequential(Block(wide, wide, 1, activation, norm), Block(wide, 2 * wide, 2, activation, norm))
        self.activation, self.head = activation, nn.Linear(2 * wide, 3)

    def forward(self, x):
        x = self.blocks(self.pool(self.activation(self.norm(self.stem(x)))))
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class Transformer(nn.Module):
    def __init__(self, random, norm):
        super().__init__()
        heads = int(random.choice([2, 4]))
        self.steps, wide = 6, 4 * heads
        self.embedding, self.places = nn.Embedding(11, wide), nn.Embedding(self.steps, wide)
        layer = nn.TransformerEncoderLayer(
            wide, heads, 2 * wide, 0.0, "gelu", batch_first=True, norm_first=bool(random.integers(2))
        )
        self.layers = nn.TransformerEncoder(layer, int(random.integers(1, 3)), enable_nested_tensor=False)
        self.head = nn.Linear(wide, 5)
        self.is_causal = bool(random.integers(2))

    def forward(self, ids):
        x = self.embedding(ids) + self.places(torch.arange(self.steps, device=ids.device))
        mask = torch.full((self.steps, self.steps), -1e4, dtype=x.dtype).triu(1) if self.is_causal else None
        return self.head(self.layers(x, mask, is_causal=self.is_causal))


class Recurrent(nn.Module):
    def __init__(self, random, norm, kind):
        super().__init__()
        wide, layers, both = int(random.integers(4, 8)), int(random.integers(1, 3)), bool(random.integers(2))
        self.cell = kind(3, wide, layers, batch_first=True, bidirectional=both)
        self.head = nn.Linear(wide * (1 + both), 2)

    def forward(self, x):
        states, _ = self.cell(x)
        return self.head(states[:, -1])


def lstm(random, norm):
    return Recurrent(random, norm, nn.LSTM)


def gru(random, norm):
    return Recurrent(random, norm, nn.GRU)


def examples(kind, random):
    if kind == "transformer":
        return random.integers(0, 11, (4, 6)), random.normal(size=(4, 6, 5))
    if kind == "resnet":
        return random.normal(size=(4, 3, 6, 6)), random.normal(size=(4, 3))
    return random.normal(size=(4, 5, 3)), random.normal(size=(4, 2))


# The kind of network, the exporter and the opset of each file of PyTorch's.
TORCH = {
    "resnet-13": (ResNet, "resnet", False, 13),
    "resnet-17": (ResNet, "resnet", False, 17),
    "resnet-dynamo-18": (ResNet, "resnet", True, 18),
    "resnet-dynamo-20": (ResNet, "resnet", True, 20),
    "transformer-14": (Transformer, "transformer", False, 14),
    "transformer-17": (Transformer, "transformer", False, 17),
    "transformer-dynamo-18": (Transformer, "transformer", True, 18),
    "transformer-dynamo-22": (Transformer, "transformer", True, 22),
    "lstm-13": (lstm, "lstm", False, 13),
    "lstm-17": (lstm, "lstm", False, 17),
    "lstm-dynamo-18": (lstm, "lstm", True, 18),
    "gru-15": (gru, "gru", False, 15),
    "gru-dynamo-18": (gru, "gru", True, 18),
}


def strip(path):
    """Removes notes and nodes' names: the exporters write the lines of their programs, and every tensor's shape."""
    model = onnx.load(path)
    for part in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for node in model.graph.node:
        node.ClearField("name")
    for tensor in model.graph.initializer:
        tensor.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    onnx.save(model, path)


def torch_results(name, seed):
    make, kind, dynamo, opset = TORCH[name]
    path = FOLDER / f"torch-{name}.onnx"
    torch.manual_seed(seed)
    model = make(np.random.default_rng(seed), nn.BatchNorm2d).eval()
    with torch.no_grad():  # exporters would merge tensors of equal values, such as those of fresh normalisations
        for value in [*model.parameters(), *(b for b in model.buffers() if b.is_floating_point())]:
            value += 0.1 * torch.rand_like(value)
    x, t = examples(kind, np.random.default_rng(seed + 1))
    given = torch.tensor(x) if x.dtype.kind == "i" else torch.tensor(x, dtype=torch.float32)
    options = {"opset_version": opset, "input_names": ["x"], "output_names": ["y"], "dynamo": dynamo}
    if dynamo:
        options |= {"dynamic_shapes": ({0: torch.export.Dim("batch")},), "external_data": False}
        options |= {"optimize": kind != "resnet"}  # which would fold normalisations into convolutions
    else:
        options |= {"dynamic_axes": {"x": {0: "batch"}, "y": {0: "batch"}}}
        options |= {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    torch.onnx.export(model, (given,), path, **options)
    strip(path)
    again = make(np.random.default_rng(seed), Norm)
    again.load_state_dict(model.state_dict())
    again = again.double().eval()
    x = given.double() if given.is_floating_point() else given
    t, found = torch.tensor(t, dtype=torch.float32).double(), {}
    found["x"], found["t"], found["y"] = given.numpy(), t.float().numpy(), again(x).detach().numpy()
    optimizer, losses = torch.optim.SGD(again.parameters(), RATE), []
    again.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((again(x) - t) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    found["losses"] = np.array(losses)
    found["trained"] = again.eval()(x).detach().numpy()
    return {f"torch-{name}/{key}": value for key, value in found.items()}


def keras_models():
    layers = keras.layers
    # Keras folds normalisations over batches, and cannot export LayerNormalization over PyTorch.
    inputs = layers.Input((6, 6, 3))
    x = layers.Conv2D(6, 3, padding="same", activation="silu")(inputs)
    y = layers.Conv2D(6, 3, padding="same", activation="gelu")(x)
    y = layers.AveragePooling2D(2)(layers.Conv2D(6, 1, activation="tanh")(x + y))
    resnet = keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling2D()(y)))
    ids = layers.Input((6,), dtype="int32")
    x = layers.Embedding(11, 8)(ids)
    x = x + layers.MultiHeadAttention(2, 4)(x, x)
    x = x + layers.Dense(8)(layers.Dense(16, activation="gelu")(x))
    transformer = keras.Model(ids, layers.Dense(5)(x))
    sequences = layers.Input((5, 3))
    lstm = keras.Model(sequences, layers.Dense(2)(layers.LSTM(6)(layers.LSTM(5, return_sequences=True)(sequences))))
    gru = keras.Model(sequences, layers.Dense(2)(layers.GRU(6)(sequences)))
    return {"resnet": resnet, "transformer": transformer, "lstm": lstm, "gru": gru}


def keras_results(kind, model, again, seed):
    path = FOLDER / f"keras-{kind}.onnx"
    random = np.random.default_rng(seed)
    model.set_weights([w + 0.1 * random.normal(size=w.shape).astype(w.dtype) for w in model.get_weights()])
    x, t = examples(kind, random)
    x = np.moveaxis(x, 1, -1) if kind == "resnet" else x
    x, t = x.astype(np.int32 if x.dtype.kind == "i" else np.float32), t.astype(np.float32)
    model(x)  # or export refuses it
    model.export(str(path), format="onnx", verbose=False)
    strip(path)
    again.set_weights([w.astype(np.float64) for w in model.get_weights()])
    found = {"x": x, "t": t, "y": np.asarray(again(x, training=False).detach())}
    again.compile(keras.optimizers.SGD(RATE), "mean_squared_error")
    found["losses"] = np.array([again.train_on_batch(x, t.astype(np.float64)) for _ in range(STEPS)])
    found["trained"] = np.asarray(again(x, training=False).detach())
    return {f"keras-{kind}/{key}": value for key, value in found.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    results = {}
    for seed, name in enumerate(TORCH):
        results |= torch_results(name, 10 * seed)
    keras.utils.set_random_seed(0)
    single = keras_models()
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    double = keras_models()
    for seed, kind in enumerate(single):
        results |= keras_results(kind, single[kind], double[kind], 1000 + seed)
    np.savez_compressed(FOLDER / "results.npz", **results)
    print(sum(path.stat().st_size for path in FOLDER.iterdir()), "bytes")
