"""What grows with use is bounded: batch sizes, compilations, graphs; and what is not used any more is given back."""

import gc
import os
import textwrap

import numpy as np
import pytest

import alloy as al
from kinds import FAST
from running import program

RESIDENT = """
import gc, sys
import numpy as np
import alloy as al

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
"""


def output(code):
    run = program(RESIDENT + textwrap.dedent(code), seconds=200)
    assert run.returncode == 0, run.stderr
    return [float(word) for word in run.stdout.split()]


counted = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")


@FAST
@counted
def test_hundreds_of_batch_sizes_take_little_more_than_the_largest():
    before, largest, all_of_them = output("""
    graph = al.Graph()
    x, y = graph.placeholder((None, 28, 28, 1)), graph.placeholder((None,), al.int32)
    model = al.nn.Sequential(al.nn.Conv2D(8, 3), al.nn.ReLU(), al.nn.MaxPool2D(2), al.nn.Flatten(), al.nn.Dense(32),
                             al.nn.ReLU(), al.nn.Dense(10))
    loss = al.mean(al.losses.softmax_cross_entropy(model(x), y))
    step = graph.compile([x, y], [loss], al.Adam().minimize(loss))
    images, labels = np.random.default_rng(0).random((1000, 28, 28, 1), np.float32), np.zeros(1000, np.int32)
    print(resident())
    step(images, labels)
    print(resident())
    for count in range(999, 0, -5):
        step(images[:count], labels[:count])
    print(resident())
    """)
    assert all_of_them - before <= 1.5 * (largest - before)


@counted
@FAST
def test_a_thousand_compilations_beside_a_large_constant():
    before, after = output("""
    graph = al.Graph()
    constant, x = graph.constant(np.ones(5_000_000, np.float32)), graph.placeholder((1,))
    def run():
        assert graph.compile([x], [al.sum(constant * x)])(np.float32([1]))[0] == 5_000_000
    for _ in range(3): run()
    print(resident())
    for _ in range(1000): run()
    print(resident())
    """)
    assert after - before < 20e6


@counted
@FAST
def test_graphs_that_are_gone_leave_nothing():
    before, after = output("""
    def run():
        graph = al.Graph()
        x, w = graph.placeholder((100, 100)), graph.variable(np.ones((100, 100), np.float32))
        loss = al.sum(al.tanh(x @ w))
        graph.compile([x], [loss], al.Adam().minimize(loss))(np.ones((100, 100), np.float32))
    for _ in range(50): run()
    print(resident())
    for _ in range(400): run()
    print(resident())
    """)
    assert after - before < 20e6


def device_bytes():
    stats = al.device_stats()
    if stats is None:
        pytest.skip("the device does not count")
    return stats["allocated_bytes"]


def test_a_dropped_executable_gives_its_memory_back():
    graph = al.Graph()
    x = graph.placeholder((None, 64))
    small = graph.compile([x], [al.softmax(al.softmax(x, axis=-1), axis=-1)])
    small(np.ones((10, 64), np.float32))
    before = device_bytes()
    large = graph.compile([x], [al.softmax(al.softmax(x * 2.0, axis=-1), axis=-1)])
    large(np.ones((1000, 64), np.float32))
    assert device_bytes() > before + 2 * 4 * 64 * 1000
    del large
    gc.collect()
    small(np.ones((10, 64), np.float32))
    assert device_bytes() == before


def test_shapes_take_turns_in_one_memory():
    graph = al.Graph()
    x, w = graph.placeholder((None, 300)), graph.variable(np.eye(300, dtype=np.float32))
    step = graph.compile([x], [al.softmax(al.tanh(x) @ w, axis=-1)])
    plan = step.memory_plan((200, 300))
    rng, before = np.random.default_rng(0), device_bytes()
    step(np.zeros(200 * 300 + 1, np.float32)[1:].reshape(200, 300))  # copied: it is not page-aligned
    most = device_bytes() - before
    assert plan is not None and most == plan.total - plan.variables - plan.constants
    for _ in range(30):
        batch = rng.normal(size=(int(rng.integers(1, 201)), 300)).astype(np.float32)
        value = np.exp(np.tanh(batch.astype(np.float64)))
        np.testing.assert_allclose(step(batch)[0], value / value.sum(-1, keepdims=True), rtol=1e-5)
        assert device_bytes() - before <= most


def test_variables_keep_their_values_when_a_graph_is_begun_anew(storage):
    graph = al.Graph(storage=storage)
    x = graph.placeholder((None,))
    total, steps = graph.variable(np.float32(0), "total"), graph.variable(np.int32(0), "steps")
    deep = x
    for _ in range(100):
        deep = deep * 1.0 + 0.0
    add = graph.compile(
        [x], [al.sum(deep)], [graph.assign(total, total + al.sum(deep)), graph.assign(steps, steps + 1)]
    )
    read = graph.compile([], [total])
    reasons = al.stats()["compiled_for"]
    expected = 0
    for count in range(1, 200):
        add(np.ones(count, np.float32))
        expected += count
        if count % 20 == 0:
            assert read()[0] == expected == total.numpy() and steps.numpy() == count
    now = al.stats()
    counted = {reason: now["compiled_for"][reason] - reasons[reason] for reason in reasons}
    assert counted["graph renewed"] > 0 and counted["first"] >= 2 and counted["evicted"] == 0
    assert counted["new shapes"] == 198


def test_what_was_not_used_for_long_is_compiled_again():
    graph = al.Graph()
    x = graph.placeholder((None,))
    step = graph.compile([x], [x + 1.0])
    before = al.stats()
    for _ in range(2):
        for count in range(1, 41):
            assert (step(np.zeros(count, np.float32))[0] == 1).all()
    now = al.stats()
    assert now["compiled_for"]["evicted"] - before["compiled_for"]["evicted"] == 40
    assert now["live_steps"] - before["live_steps"] == 32
    del step
    gc.collect()
    assert al.stats()["live_steps"] == before["live_steps"]
