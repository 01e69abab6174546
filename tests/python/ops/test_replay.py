"""Runs compared with the reference: every op passes, and one wrong number of any op is found."""

import numpy as np
import pytest

import alloy as al
from alloy.measuring.replay import Replay
from cases import all_cases, sample

# The reference tells nothing of these.
UNKNOWN = {"random", "native", "all_reduce", "call"}


def step_of(case, arrays):
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    return graph.compile(feeds, [case.build(*feeds)])


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_op_gives_what_the_reference_says(case, rng):
    dtypes = [dtype for dtype in case.dtypes if dtype.startswith(("float", "bfloat", "int"))]
    for dtype in dtypes[:1] + dtypes[-1:]:
        arrays = sample(case, dtype, rng)
        step_of(case, arrays).replay(*arrays)


def wrong(replay, kind):
    """Lets the device give one wrong number for each op of a kind."""
    step = replay._step

    def changed(*arrays, **by_label):
        values = [value.copy() for value in step(*arrays, **by_label)]
        numbers = dict(zip(replay._tensors, values))
        for op in replay._ops:
            if op.kind == kind:
                last = numbers[op.results[0]].reshape(-1)[-1:]
                last[...] = ~last if last.dtype == bool else last + 1
        return values

    replay._step = changed


def test_a_wrong_number_is_found_and_its_op_named(rng):
    graph = al.Graph()
    x, y = graph.placeholder((None, 6, 6, 2)), graph.placeholder((None,), "int32")
    model = al.nn.Sequential(al.nn.Conv2D(4, 3, activation="tanh"), al.nn.BatchNorm(), al.nn.Flatten(), al.nn.Dense(3))
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = graph.compile([x, y], [loss], updates=[*al.Adam(1e-3).minimize(loss), *model.updates])
    arrays = rng.normal(size=(5, 6, 6, 2)).astype(np.float32), rng.integers(0, 3, 5).astype(np.int32)
    replay = Replay(step)
    before = [variable.numpy().tobytes() for variable in graph.variables]
    replay(arrays, {})
    assert [variable.numpy().tobytes() for variable in graph.variables] == before
    kinds = {op.kind for op in replay._ops if op.operands} - UNKNOWN
    assert {"conv2d", "matmul", "variance", "tanh", "softmax_cross_entropy", "adam", "conv2d_weights_gradient"} <= kinds
    for kind in sorted(kinds):
        replay = Replay(step)
        wrong(replay, kind)
        with pytest.raises(
            al.DeviceError, match=rf"^\[replay\] The device's {kind} differs from the reference: .* at "
        ):
            replay(arrays, {})


def test_a_training_ends_at_the_wrong_kernel(monkeypatch):
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    model = al.nn.Sequential(al.nn.Dense(4, activation="relu"), al.nn.Dense(1))
    trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.1), verify_every=2)
    trainer.fit((x, x[:, :1]), 1, 8, progress=False)
    call, calls = Replay.__call__, []

    def at_the_third(self, arrays, by_label):
        calls.append(trainer.step)
        if len(calls) == 3:
            wrong(self, "relu")
        call(self, arrays, by_label)

    monkeypatch.setattr(Replay, "__call__", at_the_third)
    with pytest.raises(al.DeviceError, match=r"The device's relu differs from the reference: expected .* at \(7, 3\)"):
        trainer.fit((x, x[:, :1]), 1, 8, progress=False)
    assert calls == [0, 2, 4]
    with pytest.raises(ValueError, match="one step in a dispatch beside verify_every"):
        al.Trainer(model, "mean_squared_error", "sgd", verify_every=2, steps_per_dispatch=2)
    with pytest.raises(ValueError, match="verify_every of 1 or more, got 0"):
        al.Trainer(model, "mean_squared_error", "sgd", verify_every=0)
