"""With one number of threads a training run gives the same bits every time, in one process and in the next."""

import os

import pytest

import alloy as al
from running import program

SCRIPT = """
import hashlib
import numpy as np
import alloy as al

rng = np.random.default_rng(0)
x_data = rng.normal(size=(48, 8, 8, 3)).astype(np.float32)
y_data = rng.integers(0, 10, 48).astype(np.int32)


def digest():
    model = al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same"), al.nn.BatchNorm(), al.nn.ReLU(), al.nn.MaxPool2D(),
        al.nn.Conv2D(32, 3, strides=2, padding="same"), al.nn.BatchNorm(), al.nn.ReLU(),
        al.nn.Conv2D(32, 3, padding="same"), al.nn.BatchNorm(), al.nn.Flatten(), al.nn.Dense(10), seed=0)
    trainer = al.Trainer(model, loss="softmax_cross_entropy", optimizer=al.Adam(1e-2))
    trainer.fit((x_data, y_data), epochs=3, batch_size=16, progress=False)
    return hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.variables)).hexdigest()


print(digest(), digest())
"""


@pytest.mark.skipif(al.device().kind == "gpu", reason="the same bits are promised of the portable device")
@pytest.mark.parametrize("threads", ["1", None])
def test_a_conv_net_with_batch_norm(threads):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = threads
    digests = [digest for _ in range(3) for digest in program(SCRIPT, env=environment).stdout.split()]
    assert len(digests) == 6 and len(set(digests)) == 1
