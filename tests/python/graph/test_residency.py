"""Nothing but batches and losses crosses to the device and back, in one dispatch a step."""

import os

import numpy as np
import pytest

import alloy as al
from alloy.tools.demo import cnn
from kinds import FAST, FRUGAL
from running import program

STEPS = 1000
COUNTS = ("dispatches", "compilations", "bytes_to_device", "bytes_from_device")


def since(before):
    now = al.stats()
    return [now[name] - before[name] for name in COUNTS]


@FAST
def test_a_thousand_steps_of_the_small_cnn(storage):
    x_data, y_data = al.data.digits()
    graph = al.Graph(storage=storage)
    x, y = graph.placeholder((None, 8, 8, 1)), graph.placeholder((None,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(cnn()(x), y))
    step = graph.compile([x, y], [loss], al.Adam().minimize(loss))

    before, before_on_device = al.stats(), al.device_stats()
    fed = fetched = 0
    for i in range(STEPS):
        rows = np.arange(i * 32, (i + 1) * 32) % len(x_data)
        batch = x_data[rows], y_data[rows]
        (value,) = step(*batch)
        fed += sum(array.nbytes for array in batch)
        fetched += value.nbytes
        if i == 0:
            first = since(before)
    totals = since(before)
    if before_on_device is not None:
        on_device = al.device_stats()
        assert [on_device[name] - before_on_device[name] for name in COUNTS] == totals

    initial = sum(variable.numpy().nbytes for variable in graph.variables)
    batch_bytes = fed // STEPS
    assert first == [1, 1, initial + batch_bytes, 4], (
        "the first step brings the variables' initial values to the device"
    )
    assert totals == [STEPS, 1, initial + fed, fetched]
    assert fetched == 4 * STEPS and fed == STEPS * batch_bytes
    assert value < 0.1, "it has learnt"


def test_reading_and_assigning_count_as_transfers(storage):
    graph = al.Graph(storage=storage)
    v = graph.variable(np.zeros(100, np.float32))
    v.numpy()
    before = al.stats()
    v.assign(np.ones(100, np.float32))
    assert since(before)[2:] == [400, 0]
    v.numpy()
    assert since(before)[2:] == [400, 400]


def test_a_shape_is_compiled_once():
    graph = al.Graph()
    x = graph.placeholder((None,))
    double = graph.compile([x], [x * 2])
    before = al.stats()
    for count in (3, 5, 3, 5, 3):
        np.testing.assert_array_equal(double(np.ones(count, np.float32))[0], np.full(count, 2))
    assert since(before)[:2] == [5, 2]


@FRUGAL
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")
def test_initial_values_are_only_on_the_device_after_the_first_run(storage):
    code = """
import sys
import numpy as np
import alloy as al

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

graph = al.Graph(storage=sys.argv[1])
size = 64 << 20
w = graph.variable(np.ones(size // 4, np.float32))
total = graph.compile(fetches=[al.sum(w)])
one = al.Graph()
one.compile(fetches=[al.sum(one.variable(np.ones(1, np.float32)))])()  # a device may need memory to begin
before = resident()
for step in (graph.compile(fetches=[al.sum(w)]), total):
    assert step()[0].item() == size // 4
print((resident() - before) / size, "abridged" in str(graph), graph.verify())
"""
    growth, *rest = program(code, storage).stdout.split()
    assert float(growth) < 0.5 and rest == ["True", "None"]
