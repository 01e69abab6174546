"""PyTorch modules with their state dicts, an input and what they give for it, which
tests/python/nn/test_torch_weights.py holds al.load_torch against.

    python tests/goldens/torch_weights_reference.py     writes torch_weights.npz, with PyTorch, which no test needs

Of each case: state/NAME, the tensors of the state dict; x; y, which PyTorch computes in float64 in evaluation. Images
and sequences that convolutions are over have PyTorch's layout, the channels before the places."""

import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("torch_weights.npz")


def layers(nn):
    """The module of each case, and the shape of its input."""
    return {
        "linear": (nn.Linear(4, 3), (2, 4)),
        "linear without bias": (nn.Linear(4, 3, bias=False), (2, 5, 4)),
        "conv1d": (nn.Conv1d(4, 6, 3), (2, 4, 9)),
        "conv2d": (nn.Conv2d(4, 6, (3, 2)), (2, 4, 6, 5)),
        "conv2d groups": (nn.Conv2d(4, 6, 3, groups=2), (2, 4, 6, 5)),
        "conv3d": (nn.Conv3d(2, 3, (1, 2, 3)), (2, 2, 3, 4, 5)),
        "depthwise": (nn.Conv2d(3, 6, 3, groups=3), (2, 3, 5, 4)),
        "transposed": (nn.ConvTranspose2d(4, 6, (3, 2), groups=2), (2, 4, 3, 4)),
        "batch norm": (nn.BatchNorm2d(3), (4, 3, 2, 3)),
        "batch norm without gamma": (nn.BatchNorm1d(3, affine=False), (4, 3)),
        "layer norm": (nn.LayerNorm(6), (3, 4, 6)),
        "group norm": (nn.GroupNorm(3, 6), (2, 6, 4, 3)),
        "instance norm": (nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 5)),
        "rms norm": (nn.RMSNorm(6, eps=1e-6), (3, 4, 6)),
        "rnn": (nn.RNN(3, 4, batch_first=True), (2, 5, 3)),
        "lstm": (nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True), (2, 5, 3)),
        "lstm without bias": (nn.LSTM(3, 4, bias=False, batch_first=True), (2, 5, 3)),
        "gru": (nn.GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True), (2, 5, 3)),
        "gru without bias": (nn.GRU(3, 4, bias=False, batch_first=True), (2, 5, 3)),
        "flattened conv1d": (nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(12, 2)), (2, 2, 5)),
        "flattened conv3d": (nn.Sequential(nn.Conv3d(1, 2, 2), nn.Flatten(), nn.Linear(24, 2)), (2, 1, 3, 4, 3)),
        "flattened images": (nn.Sequential(nn.Flatten(), nn.Linear(24, 3)), (2, 2, 3, 4)),
        "flattened and normalised": (
            nn.Sequential(
                nn.Conv2d(1, 2, 2),
                nn.ReLU(),
                nn.Flatten(),
                nn.BatchNorm1d(12),
                nn.LayerNorm(12),
                nn.Dropout(),
                nn.Linear(12, 3),
            ),
            (2, 1, 3, 4),
        ),
        "decoder": (
            nn.Sequential(
                nn.Linear(3, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Unflatten(1, (2, 3, 4)), nn.ConvTranspose2d(2, 1, 2)
            ),
            (2, 3),
        ),
        "encoder and decoder": (
            nn.Sequential(nn.Conv2d(1, 2, 2), nn.Flatten(), nn.BatchNorm1d(12), nn.Unflatten(1, (2, 2, 3))),
            (2, 1, 3, 4),
        ),
    }


def models(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after)
            self.conv2, self.bn2 = nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)
            if stride > 1:
                self.downsample = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

        def forward(self, x):
            y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 4, 3, 1, 1, bias=False), nn.BatchNorm2d(4)
            self.blocks = nn.ModuleList([Block(4, 4, 1), Block(4, 6, 2)])
            self.fc = nn.Linear(24, 5)

        def forward(self, x):
            x = torch.relu(self.bn1(self.conv1(x)))
            for block in self.blocks:
                x = block(x)
            return self.fc(torch.flatten(nn.functional.max_pool2d(x, 2), 1))

    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(7, 4)
            self.lstm = nn.LSTM(4, 5, batch_first=True)
            self.head = nn.Linear(5, 3)

        def forward(self, ids):
            return self.head(self.lstm(self.embedding(ids))[0][:, -1])

    class Attention(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True, **options)
            self.other = nn.Linear(6, 5)

        def forward(self, x):
            memory = self.other(x) if self.attention.kdim == 5 else x
            return self.attention(x, memory, memory)[0]

    return {
        "resnet": (ResNet(), (2, 3, 8, 8)),
        "transformer": (nn.TransformerEncoderLayer(6, 2, 10, batch_first=True), (2, 4, 6)),
        "text": (Text(), "ids"),
        "attention": (Attention(bias=False), (2, 4, 6)),
        "attention to others": (Attention(kdim=5, vdim=5), (2, 4, 6)),
    }


IDS = np.array([[0, 3, 3, 6], [4, 0, 1, 2]], np.int32)  # of the embedding


def golden(torch, name, module, shape):
    random = np.random.RandomState(sum(map(ord, name)))
    arrays, module = {}, module.double().eval()
    for part, tensor in module.state_dict().items():
        if tensor.is_floating_point():
            low = 0.2 if "running_var" in part else -0.7
            value = random.uniform(low, 1, tensor.shape).astype(np.float32)
            tensor.copy_(torch.from_numpy(value))
        arrays[f"state/{part}"] = tensor.numpy().astype(np.float32) if tensor.is_floating_point() else tensor.numpy()
    x = IDS if shape == "ids" else random.uniform(-2, 2, shape).astype(np.float32)
    with torch.no_grad():
        y = module(torch.from_numpy(x).double() if x.dtype == np.float32 else torch.from_numpy(x).long())
    y = y[0] if isinstance(y, tuple) else y
    arrays |= {"x": x, "y": y.numpy().astype(np.float32)}
    return {f"{name}/{part}": array for part, array in arrays.items()}


if __name__ == "__main__":
    import torch

    made = {}
    for name, case in (layers(torch.nn) | models(torch)).items():
        made |= golden(torch, name, *case)
    np.savez_compressed(GOLDEN, **made)
