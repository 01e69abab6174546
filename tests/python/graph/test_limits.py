"""What cannot be had is refused in a sentence, and the object stays usable: too many axes or elements, more memory
than there is, numbers that a type cannot hold."""

import os
import re

import numpy as np
import pytest

import alloy as al
from running import program

MOST = 2**31 - 1


@pytest.mark.parametrize(
    "build",
    [
        lambda g, x: g.placeholder((1,) * 17),
        lambda g, x: g.variable(np.ones((1,) * 17, np.float32)),
        lambda g, x: g.constant(np.ones((1,) * 17, np.float32)),
        lambda g, x: al.broadcast_to(x, (1,) * 17),
        lambda g, x: al.reshape(x, (1,) * 17),
        lambda g, x: al.expand_dims(al.reshape(x, (1,) * 16), axis=(0,)),
    ],
)
def test_more_than_sixteen_axes_are_refused_where_they_are_built(build):
    graph = al.Graph()
    x = graph.placeholder((1,))
    with pytest.raises(ValueError, match=r"Expected at most 16 axes, got 17; built at .*test_limits\.py:\d+\.$"):
        build(graph, x)
    sixteen = al.reshape(x, (1,) * 16)
    assert graph.compile([x], [sixteen + 1.0])(np.float32([1]))[0].shape == (1,) * 16


def test_attributes_of_a_devices_passes_are_refused(graph):
    heads = [graph.placeholder((2, 3, 3, 4)) for _ in range(3)]
    op, scale = "scaled_dot_product_attention", {"scale": 0.5}
    with pytest.raises(TypeError, match=r"The attribute steps_first cannot be given here; built at mine\.py:1\.$"):
        graph.apply(op, heads, scale | {"steps_first": True}, "", "mine.py:1")
    with pytest.raises(ValueError, match="Expected 3 or 4 tensors, got 5"):
        graph.apply(op, [*heads, *heads[:2]], scale, "", "mine.py:1")


@pytest.mark.parametrize("shape", [(2**31,), (2**40,), (2**16, 2**15), (100_000, 100_000)], ids=str)
def test_two_to_the_31_elements_are_refused(shape, storage):
    graph = al.Graph(storage=storage)
    x = graph.placeholder((1,) * len(shape))
    one = np.ones(x.shape, np.float32)
    large = al.broadcast_to(x, shape)
    for fetch in (large, al.sum(large)):
        with pytest.raises(
            ValueError,
            match=rf"\[broadcast_to\].* has {np.prod(shape, dtype=object)} elements; at most {MOST} .*built at",
        ):
            graph.compile([x], [fetch])(one)
    assert graph.compile([x], [x + 1.0])(one)[0].ravel() == [2]


def test_a_plan_tells_of_memory_that_is_not_there():
    graph = al.Graph()
    x = graph.placeholder((None,))
    step = graph.compile([x], [x + 1.0])
    plan = step.memory_plan((MOST,))
    if plan is not None:
        assert plan.feeds == plan.results == 4 * MOST
    with pytest.raises(ValueError, match="elements"):
        step.memory_plan((2**31,))
    assert step(np.float32([1]))[0] == [2]


@pytest.mark.skipif(al.device().kind == "gpu", reason="Apple's devices have no limit")
def test_a_limit_of_memory_holds_and_nothing_is_lost(storage):
    graph = al.Graph(storage=storage)
    x = graph.placeholder((None,))
    v = graph.variable(np.ones(2**18, np.float32), "v")
    step = graph.compile([x], [x * 2.0 + al.sum(v)], updates=[graph.assign(v, v * 1.0)])
    assert step(np.ones(1, np.float32))[0] == 2 + 2**18
    limit = al.device_stats()["allocated_bytes"] + 2**21
    al.set_memory_limit(limit)
    try:
        for work in (
            lambda: step(np.ones(2**21, np.float32)),
            lambda: graph.variable(np.ones(2**21, np.float32), "w").numpy(),
        ):
            with pytest.raises(MemoryError, match=rf"al\.set_memory_limit allows {limit} bytes"):
                work()
            assert al.device_stats()["allocated_bytes"] <= limit
            assert step(np.ones(2, np.float32))[0][1] == 2 + 2**18
    finally:
        al.set_memory_limit(None)
    assert step(np.ones(2**21, np.float32))[0].shape == (2**21,)
    with pytest.raises(ValueError, match="a number of bytes of 0 or more, got -1"):
        al.set_memory_limit(-1)


LIMITED = """
import resource, sys
import numpy as np
import alloy as al
graph = al.Graph(storage=sys.argv[1])
x = graph.placeholder((None,))
v = graph.variable(np.zeros(2**24, np.float32), "v")     # 64 MiB
step = graph.compile([x], [al.sum(x)])
copies = [x * float(i) for i in range(40)]
large = graph.compile([x], [al.sum(sum(copies[1:], copies[0]) * copies[3] - al.max(x)), *copies])
step(np.ones(4, np.float32))
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (now + (150 << 20),) * 2)
refused = 0
for work in (v.numpy, lambda: v.assign(np.ones(2**24, np.float32)), lambda: v.assign(v.numpy()),
             lambda: graph.compile([x], [v * v + al.sum(x), al.exp(v), al.tanh(v)])(np.ones(1, np.float32)),
             lambda: large(np.ones(2**21, np.float32)),
             lambda: graph.variable(np.zeros(2**26, np.float32)).numpy()):
    try:
        work()
    except MemoryError as error:
        refused += bool(str(error))
    assert step(np.ones(4, np.float32))[0] == 4
print(refused)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")
def test_where_memory_lacks_it_is_a_memory_error_and_nothing_is_lost(storage):
    run = program(LIMITED, storage, seconds=120)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 3


# Each asks for a table, or a result, that no memory holds.
HUGE = """
import resource
import numpy as np
import alloy as al
graph, big = al.Graph(), 2**40
x, index, image = graph.placeholder((2, 3)), graph.placeholder((2,), "int32"), graph.placeholder((1, 2, 2, 1))
long = graph.placeholder((big,), "int8")
g, places = graph.placeholder((1, 1, 1, big), "int8"), graph.placeholder((1, 1, 1, big), "int32")
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20),) * 2)
for work in (lambda: al.resize(image, (big, 2)), lambda: al.resize(image, (2**62, 2), mode="nearest"),
             lambda: al.resize(image, (2**25, 2**25)), lambda: al.nn.UpSampling2D(big)(image),
             lambda: al.pad(x, big), lambda: al.pad(x, -big), lambda: al.pad(x, 2**62), lambda: al.pad(x, -2**63),
             lambda: al.pad(x, big, mode="edge"), lambda: al.pad(x, ((2**62, 2**62), (0, 0)), mode="wrap"),
             lambda: al.pad(x, big, mode="antiperiodic"), lambda: al.one_hot(index, big),
             lambda: al.one_hot(index, 2**62), lambda: al.coordinates(long, 0),
             lambda: al.band_part(al.reshape(long, (1, big)), 0, 0),
             lambda: al.split(long, big, axis=0), lambda: al.tile(x, (big, big)),
             lambda: al.im2col(image, window=2**20, padding=((2**21, 2**21),) * 2),
             lambda: al.im2col(image, window=1, padding=((2**22, 2**22),) * 2),
             lambda: al.max_unpool4d(g, places, g, window=(1, 1, 1, 1), indices="local_1d"),
             lambda: al.broadcast_to(x, (2**62, 2, 3)), lambda: al.empty((big, big)), lambda: al.init.zeros((big, big)),
             lambda: al.init.uniform((big, big), seed=0), lambda: al.nn.Embedding(big, big)(index)):
    try:
        work()
        print("made")
    except (ValueError, TypeError, MemoryError) as error:
        print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")
def test_huge_extents_are_refused_before_a_table_is_made():
    run = program(HUGE)
    assert run.returncode == 0, run.stderr
    said = run.stdout.splitlines()
    assert len(said) == HUGE.count("lambda:")
    assert [line for line in said if not re.fullmatch(r"\[\w+\] .*; (built )?at .*:\d+\.", line)] == []


FEEDS = {
    "call": lambda graph, x, value: graph.compile([x], [x])(value),
    "bind": lambda graph, x, value: graph.bind({x: value}),
    "assign": lambda graph, x, value: graph.variable(np.zeros(x.shape, x.dtype)).assign(value),
    "constant": lambda graph, x, value: graph.constant(value),
}


@pytest.mark.parametrize("entry", ["call", "bind", "assign"])
@pytest.mark.parametrize(
    "dtype, value",
    [
        ("int32", 3_000_000_000),
        ("int32", -(2**31) - 1),
        ("int8", 128),
        ("int8", -129),
        ("uint8", 256),
        ("uint8", -1),
        ("int16", 40_000),
        ("float32", 1e300),
        ("float32", -1e39),
        ("float16", 70_000.0),
    ],
    ids=str,
)
def test_python_numbers_that_the_type_cannot_hold_are_refused(entry, dtype, value):
    graph = al.Graph()
    x = graph.placeholder((2,), dtype)
    with pytest.raises(TypeError, match=rf"is {dtype}, which cannot hold {value!r}".replace("+", r"\+")):
        FEEDS[entry](graph, x, [1, value])


@pytest.mark.parametrize("entry", FEEDS)
def test_float64_arrays_keep_their_one_warning_and_may_not_become_infinite(entry):
    graph = al.Graph()
    x = graph.placeholder((3,))
    with pytest.warns(UserWarning, match=r"^\[\w+\] .* is float64 and was cast to float32\.$") as warnings:
        FEEDS[entry](graph, x, np.array([1.5, np.inf, np.nan]))
    assert [warning.filename for warning in warnings] == [__file__]
    with pytest.warns(UserWarning), pytest.raises(TypeError, match=r"is float32, which cannot hold 1e\+300"):
        FEEDS[entry](graph, x, np.array([1.5, 1e300, np.nan]))


@pytest.mark.parametrize("entry", FEEDS)
def test_infinities_and_nans_of_python_pass(entry):
    graph = al.Graph()
    FEEDS[entry](graph, graph.placeholder((3,)), [1, float("inf"), float("nan")])
