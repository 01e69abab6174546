"""Steps in flight from Python: their values, their memory, what is said of misuse."""

import gc
import weakref

import numpy as np
import pytest

import alloy as al
from kinds import READS_HOST_MEMORY
from running import at_once


def running_sum(count=8, storage="variable"):
    """A step that adds its feed to a variable and gives the sum; large feeds are lent, small ones copied."""
    graph = al.Graph(storage=storage)
    x = graph.placeholder((count,), name="x")
    total = graph.variable(np.zeros(count, np.float32), name="total")
    return graph.compile([x], [total + x, al.sum(total + x)], [graph.assign(total, total + x)]), total


@pytest.mark.parametrize("count", [8, 1 << 15])
def test_a_step_in_flight_computes_what_a_call_computes(storage, count):
    step, total = running_sum(count, storage)
    batches = np.random.default_rng(0).integers(-9, 9, (20, count)).astype(np.float32)
    batch, flying = al.empty((count,)), []
    for row in batches:
        batch[...] = row
        flying.append(step.submit(batch))
        batch[...] = np.nan  # it has been copied
    assert [len(result) for result in flying] == [2] * 20
    for result, expected in zip(flying, batches.cumsum(0)):
        values, value = result
        np.testing.assert_array_equal(values, expected)
        assert value == expected.sum() and result[0] is values and result.done
    np.testing.assert_array_equal(total.numpy(), batches.sum(0))


@READS_HOST_MEMORY
@pytest.mark.parametrize("most", [1, 2, 5])
def test_staged_memory_is_read_where_it_lies_and_takes_turns(most):
    step, total = running_sum(1 << 15)
    step.graph.most_in_flight = most
    assert step.graph.most_in_flight == most
    staging = step.staging()
    step(np.zeros(1 << 15, np.float32))
    before, seen = al.stats()["bytes_to_device"], set()
    for value in range(20):
        (x,) = staging.arrays()
        x[...] = value
        seen.add(x.ctypes.data)
        staging.submit(x)
    np.testing.assert_array_equal(total.numpy(), np.full(1 << 15, 190, np.float32))
    assert al.stats()["bytes_to_device"] == before and len(seen) == most + 1


def test_a_smaller_last_batch():
    graph = al.Graph()
    x = graph.placeholder((None, 3))
    step = graph.compile([x], [al.sum(x)])
    staging = step.staging((4, 3))
    (x,) = staging.arrays()
    x[...] = 1
    whole = staging.submit(x)
    (x,) = staging.arrays()
    x[...] = 2
    part = staging.submit(x[:1])
    assert (whole[0], part[0]) == (12, 6)


@READS_HOST_MEMORY
def test_memory_of_the_user_is_let_go_of():
    """A large array that lies at a page may be kept for the next call, and no longer than its executable."""
    step, _ = running_sum(1 << 15)
    page = 1 << 16
    raw = np.ones((1 << 15) + page // 4, np.float32)
    first = -raw.ctypes.data % page // 4
    owner = weakref.ref(raw)
    step(raw[first : first + (1 << 15)])
    before = al.stats()["bytes_to_device"]
    for _ in range(2):
        step(raw[first : first + (1 << 15)])  # each time another array over the same memory
    assert al.stats()["bytes_to_device"] == before, "read where it lies"
    result = step.submit(raw[first : first + (1 << 15)])
    del raw
    assert result[0][0] == 4
    step(np.ones(1 << 15, np.float32))
    del result, step
    gc.collect()
    assert owner() is None


def test_results_that_nobody_reads_and_graphs_that_are_gone():
    for _ in range(50):
        step, _ = running_sum(1 << 12)
        for _ in range(3):
            result = step.submit(np.ones(1 << 12, np.float32))
    np.testing.assert_array_equal(result[0], np.full(1 << 12, 3, np.float32))


def test_threads_share_a_result():
    step, total = running_sum(1 << 15)
    results = [step.submit(np.ones(1 << 15, np.float32)) for _ in range(10)]
    seen = at_once(lambda _: [result[1].item() for result in results], range(4))
    assert seen == [[(i + 1) * float(1 << 15) for i in range(10)]] * 4


def test_calls_and_compilations_between():
    step, total = running_sum()
    ones = np.ones(8, np.float32)
    for i in range(1, 30, 3):
        result = step.submit(ones)
        assert step(ones)[1] == 8 * (i + 1)
        assert total.numpy()[0] == i + 1
        last = step.submit(ones)
        assert step.graph.compile([], [al.sum(total)])()[0] == 8 * (i + 2)
        assert result[1] == 8 * i and last[1] == 8 * (i + 2)


def test_mistakes():
    step, _ = running_sum()
    with pytest.raises(ValueError, match=r"\[staging\] Expected the known shapes of 1 feeds, got \[\(8,\), \(8,\)\]"):
        step.staging((8,), (8,))
    staging = step.staging()
    staging.arrays()
    with pytest.raises(ValueError, match=r"\[staging\] Expected the arrays that arrays\(\) gave last"):
        staging.submit(np.ones(8, np.float32))
    result = step.submit(np.ones(8, np.float32))
    with pytest.raises(IndexError):
        result[2]
    with pytest.raises(TypeError):
        al.Submission()
    with pytest.raises(AttributeError):
        result.other = 1
