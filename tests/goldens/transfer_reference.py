"""A network that PyTorch has trained on the digits 0 to 4: what examples/transfer.py begins with.

    python tests/goldens/transfer_reference.py DIGITS     writes transfer.npz, with PyTorch, which no test needs

DIGITS: digits.csv.gz of scikit-learn. The file has the state dict by PyTorch's names, and the features that the
network's body gives of the first six digits, in PyTorch's order: (n, channels * height * width)."""

import gzip
import pathlib
import sys

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("transfer.npz")


def main(path):
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
            self.bn1 = torch.nn.BatchNorm2d(16)
            self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
            self.fc = torch.nn.Linear(128, 5)

        def features(self, x):
            x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
            return torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)

        def forward(self, x):
            return self.fc(self.features(x))

    with gzip.open(path, "rt") as file:
        rows = torch.tensor(np.loadtxt(file, delimiter=",", dtype=np.float32))
    images, classes = rows[:, :-1].reshape(-1, 1, 8, 8) / 16, rows[:, -1].long()
    known = classes < 5
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(20):
        order = torch.randperm(int(known.sum()))
        for rows in order.split(64):
            loss = torch.nn.functional.cross_entropy(network(images[known][rows]), classes[known][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    network.eval()
    with torch.no_grad():
        features = network.features(images[:6])
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    np.savez_compressed(GOLDEN, features=features.numpy(), **state)


if __name__ == "__main__":
    main(sys.argv[1])
