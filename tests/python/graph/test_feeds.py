"""Arrays for placeholders: by position, by label, and bound to the graph; read in place or copied."""

import copy
import inspect
import mmap
import pickle
import re

import numpy as np
import pytest

import alloy as al
from kinds import READS_HOST_MEMORY
from running import at_once, program

X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.int32([5, 7])


def here(lines_below=0):
    return f"test_feeds.py:{inspect.currentframe().f_back.f_lineno + lines_below}"


@pytest.fixture
def x(graph):
    return graph.placeholder((None, 3), name="inputs")


@pytest.fixture
def y(graph):
    return graph.placeholder((2,), al.int32, name="labels")


@pytest.fixture
def step(graph, x, y):
    return graph.compile([x, y], [x, y])


def assert_fetched(values, x=X, y=Y):
    np.testing.assert_array_equal(values[0], x)
    np.testing.assert_array_equal(values[1], y)


# ---- by label ----


def test_by_position_and_label(step):
    for values in (
        step(X, Y),
        step(inputs=X, labels=Y),
        step(labels=Y, inputs=X),
        step(X, labels=Y),
        step(**{"labels": [5, 7]}, inputs=X.tolist()),
    ):
        assert_fetched(values)


def test_any_text_is_a_label(graph):
    names = ["self", "x y", "größe"]
    placeholders = [graph.placeholder((), name=name) for name in names]
    step = graph.compile(placeholders, placeholders)
    values = step(**{name: np.float32(i) for i, name in enumerate(names)})
    assert [value.item() for value in values] == [0, 1, 2]


def test_wrong_labels(graph, step, x):
    known = r"'inputs' of .*test_feeds\.py:\d+, 'labels' of .*test_feeds\.py:\d+"
    for mistake, says in [
        (lambda: step(X, label=Y), rf"one placeholder among {known}, got 'label'"),
        (lambda: step(inputs=X), rf"2 feeds \({known}\), got 1 without 'labels' of"),
        (lambda: step(labels=Y), r"got 1 without 'inputs' of"),
        (lambda: step(), r"got 0 without 'inputs' of"),
        (lambda: step(X, Y, labels=Y), r"got 'labels' of .* twice"),
        (lambda: step(X, inputs=X), r"got 'inputs' of .* twice"),
        (lambda: step(X, Y, X), r"2 feeds .*, got 3"),
        (lambda: graph.compile()(a=1), "among none, got 'a'"),
        (lambda: graph.compile([graph.placeholder(())])(**{"": 1}), r"among float32\(\) of .*, got ''"),
    ]:
        with pytest.raises(ValueError, match=rf"^\[executable\] Expected .*{says}.*\.$"):
            mistake()
        assert_fetched(step(X, Y))


def test_a_label_of_two_placeholders(graph, x):
    line, other = here(), graph.placeholder((None, 3), name="inputs")
    both, one = graph.compile([x, other], [x + other]), graph.compile([other], [other])
    with pytest.raises(ValueError, match=rf"'inputs' of .*{re.escape(line)}, got 'inputs', the name of 2\.$"):
        both(inputs=X)
    np.testing.assert_array_equal(both(X, X)[0], 2 * X)
    np.testing.assert_array_equal(one(inputs=X)[0], X)
    with pytest.raises(ValueError, match=r"^\[bind\] .*, the name of 2\.$"):
        graph.bind({"inputs": X})
    graph.bind({other: 3 * X})
    np.testing.assert_array_equal(both(X)[0], 4 * X)


# ---- bound to the graph ----


def test_bound_arrays_may_be_left_out(graph, step, x, y):
    graph.bind({"labels": Y})
    assert_fetched(step(X))
    assert_fetched(step(inputs=X))
    graph.bind({x: X})
    assert_fetched(step())
    np.testing.assert_array_equal(graph.compile([x], [x * 2])()[0], 2 * X)


def test_what_a_call_is_given_comes_first(graph, step):
    graph.bind({"inputs": X, "labels": Y})
    assert_fetched(step(X + 1), X + 1)
    assert_fetched(step(labels=Y + 1), X, Y + 1)
    assert_fetched(step(X + 1, labels=Y + 1), X + 1, Y + 1)
    assert_fetched(step())


def test_another_array_and_none(graph, step):
    graph.bind({"inputs": X, "labels": Y})
    graph.bind({"inputs": X[:1]})
    assert_fetched(step(), X[:1])
    graph.bind({"inputs": None})
    with pytest.raises(ValueError, match=r"got 0 without 'inputs' of"):
        step()
    assert_fetched(step(X))
    graph.bind({"inputs": None})
    graph.bind({})


def test_a_copy_is_bound(graph, step):
    changing = X.copy()
    graph.bind({"inputs": changing, "labels": [5, 7]})
    changing[:] = -1
    assert_fetched(step())
    with pytest.warns(UserWarning, match=r"'inputs'.* float64") as warned:
        graph.bind({"inputs": X.astype(np.float64)})
    assert [w.filename for w in warned] == [__file__]
    assert_fetched(step())


def test_bindings_live_as_long_as_an_executable():
    def build():
        graph = al.Graph()
        x = graph.placeholder((3,), name="x")
        graph.bind({x: np.float32([1, 2, 3])})
        return graph.compile([x], [x])

    np.testing.assert_array_equal(build()()[0], [1, 2, 3])


def test_training_on_bound_data(graph):
    """The same steps as with the arrays in the call."""
    x, y = graph.placeholder((None, 3), name="x"), graph.placeholder((None, 1), name="y")
    given, bound = (graph.variable(np.ones((3, 1), np.float32)) for _ in range(2))
    steps = [
        graph.compile([x, y], [], al.SGD(0.1).minimize(al.mean(al.square(x @ w - y)), [w])) for w in (given, bound)
    ]
    targets = np.float32([[1], [2]])
    for _ in range(5):
        steps[0](X, targets)
    graph.bind({x: X, y: targets})
    for _ in range(5):
        steps[1]()
    np.testing.assert_array_equal(bound.numpy(), given.numpy())


def test_wrong_bindings(graph, step, x):
    other, narrow = al.Graph().placeholder((2,), name="theirs"), X[:, :2]
    for mistake, kind, says in [
        ({"input": X}, ValueError, r"^\[bind\] Expected .* 'inputs' of .*, 'labels' of .*, got 'input'\.$"),
        ({"": X}, ValueError, r"^\[bind\] .*, got ''\.$"),
        (
            {x: narrow},
            ValueError,
            r"^\[placeholder\] .*'inputs' has shape \(\?, 3\) but was fed shape \(2, 2\); built at",
        ),
        ({"inputs": X[0]}, ValueError, r"but was fed shape \(3,\)"),
        ({"labels": [1.5, 2]}, TypeError, r"^\[placeholder\] 'labels', built at .*, is int32 but was given"),
        ({"labels": "text"}, TypeError, "array of <U4"),
        ({x * 2: X}, ValueError, r"^\[multiply\] Only a placeholder can be fed"),
        ({other: Y}, TypeError, "is float32 but was given an array of int32"),
        ({other: Y.astype(np.float32)}, ValueError, "The placeholder belongs to another graph"),
        ({1: X}, TypeError, r"^\[bind\] Expected a placeholder or its name, got int\.$"),
        ([X], TypeError, r"^\[bind\] Expected a dictionary .*, got list\."),
    ]:
        arrays = {"labels": Y, **mistake} if isinstance(mistake, dict) else mistake
        with pytest.raises(kind, match=says):
            graph.bind(arrays)
        with pytest.raises(ValueError, match="got 0 without 'inputs' of"):
            step()
        with pytest.raises(ValueError, match="got 1 without 'labels' of"):
            step(X)


# ---- page-aligned arrays ----

PAGE = 1 << 16  # of any machine: a multiple of its own
LARGE = (100, 131)  # not a whole number of pages


@pytest.fixture
def either(storage):
    return al.Graph(storage=storage)


def at_page(values):
    array = al.empty(values.shape, values.dtype)
    array[...] = values
    return array


def off_page(values):
    memory = al.empty((1 + values.size,), values.dtype)[1:].reshape(values.shape)
    memory[...] = values
    return memory


def copied(step, *arrays):
    """What the step gives, and the bytes that went to the device for it, as engine and device count them."""
    before, before_on_device = al.stats(), al.device_stats()
    values = step(*arrays)
    count = al.stats()["bytes_to_device"] - before["bytes_to_device"]
    if before_on_device is not None:
        assert al.device_stats()["bytes_to_device"] - before_on_device["bytes_to_device"] == count
    return values, count


@pytest.mark.parametrize(
    "shape, dtype",
    [
        ((2, 3), "float32"),
        ((1,), "int32"),
        ((0, 3), "float32"),
        ((3, 0), "bool"),
        (LARGE, "float16"),
        (LARGE, al.int64),
        ([7], np.uint8),
        ((0,), np.int8),
        ((1 << 20,), np.dtype("int16")),
        ((5,), bool),
    ],
)
def test_an_empty_array_is_an_array_like_others(shape, dtype):
    array = al.empty(shape, dtype)
    assert type(array) is np.ndarray and array.shape == tuple(shape) and array.dtype == np.dtype(dtype)
    assert array.ctypes.data % mmap.PAGESIZE == 0 and array.flags.carray
    values = np.arange(array.size).reshape(shape).astype(dtype)
    array[...] = values
    for other in (array, array.copy(), copy.deepcopy(array), pickle.loads(pickle.dumps(array)), array.view()):
        np.testing.assert_array_equal(other, values)
    part = array[:1].T
    del array, other
    np.testing.assert_array_equal(part, values[:1].T)
    assert al.empty((), dtype).shape == () and al.empty(3, dtype).shape == (3,)


def test_empty_arrays_are_float32_and_each_its_own():
    arrays = [al.empty((1000,)) for _ in range(50)]
    for i, array in enumerate(arrays):
        array[...] = i
    assert [array.sum() for array in arrays] == [1000 * i for i in range(50)]
    assert arrays[0].dtype == np.float32


def test_a_forked_process_has_its_own_contents():
    code = """
import os
import alloy as al
array = al.empty((1000,))
array[...] = 1
child = os.fork()
if child == 0:
    array[...] = 2
    os._exit(0)
os.waitpid(child, 0)
print(array.sum())
"""
    assert program(code).stdout == "1000.0\n"


@pytest.mark.parametrize(
    "shape, dtype, kind, says",
    [
        ((None, 3), "float32", ValueError, r"Expected a shape of integers, got \(None, 3\)"),
        (None, "float32", ValueError, "Expected a shape of integers, got None"),
        ((-1,), "float32", ValueError, "Expected dimensions of 0 or more"),
        (2.5, "float32", TypeError, "Expected a shape"),
        ((1,), "float", TypeError, "Expected an element type"),
        ((1,), object, TypeError, "Expected an element type"),
    ],
)
def test_what_empty_refuses(shape, dtype, kind, says):
    with pytest.raises(kind, match=rf"^\[empty\] {says}.*test_feeds\.py:\d+\.$"):
        al.empty(shape, dtype)


@READS_HOST_MEMORY
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_an_array_is_copied_once_or_not_at_all(either, dtype, rng):
    x, y = either.placeholder(LARGE, dtype), either.placeholder((131,), dtype)
    step = either.compile([x, y], [x * x - y, y])
    for place, whole in ((at_page, 0), (off_page, 1), (at_page, 0), (off_page, 1), (off_page, 1), (at_page, 0)):
        values, small = (rng.integers(-99, 99, shape).astype(dtype) for shape in (LARGE, 131))
        results, count = copied(step, place(values), place(small))
        assert count == whole * values.nbytes + small.nbytes
        np.testing.assert_array_equal(results[0], values * values - small)
        np.testing.assert_array_equal(results[1], small)


@READS_HOST_MEMORY
def test_slices_that_begin_at_a_page(either):
    """Of one array, of any length, one beside the other."""
    memory = al.empty((8, PAGE // 4))
    memory[...] = np.arange(memory.size).reshape(memory.shape) % 1000
    x, y = either.placeholder((None, None)), either.placeholder((None,))
    step = either.compile([x, y], [al.sum(x), y + 1])
    for rows, flat in (
        (slice(0, 3), memory[3]),
        (slice(2, 8), memory[2]),
        (slice(7, 8), memory.ravel()[-PAGE // 4 :]),
        (slice(0, 1), memory[1, :9001]),
        (slice(4, 6), memory[5, : PAGE // 8 + 1]),
    ):
        (total, more), count = copied(step, memory[rows], flat)
        assert count == 0
        assert total == pytest.approx(memory[rows].sum(dtype=np.float64), rel=1e-5)
        np.testing.assert_array_equal(more, flat + 1)
    for other in (memory[:, : PAGE // 8], memory[:, 1:], memory.T, memory[::2], memory[::-1]):
        total, more = step(other, memory[0])
        assert total == pytest.approx(other.sum(dtype=np.float64), rel=1e-5)


@READS_HOST_MEMORY
def test_results_are_no_part_of_what_was_fed(either):
    """A fetch that is the placeholder itself, a view of it, and what could be computed in its place."""
    x = either.placeholder(LARGE)
    step = either.compile([x], [x, al.reshape(x, (-1,)), al.stop_gradient(x), al.relu(x), x])
    given = at_page(np.linspace(-1, 1, 13100, dtype=np.float32).reshape(LARGE))
    expected = given.copy()
    results, count = copied(step, given)
    assert count == 0 and not any(np.shares_memory(result, given) for result in results)
    np.testing.assert_array_equal(given, expected)
    given[...] = 7
    for result in (*results[:3], results[4]):
        np.testing.assert_array_equal(result.reshape(LARGE), expected)
    np.testing.assert_array_equal(results[3], np.maximum(expected, 0))
    results[0][...] = results[4][...] = 8
    assert (given == 7).all()


def test_variables_are_no_part_of_what_was_fed(either):
    x = either.placeholder(LARGE)
    same, flat, total, assigned = (
        either.variable(np.zeros(shape, np.float32)) for shape in (LARGE, (13100,), LARGE, LARGE)
    )
    step = either.compile(
        [x],
        [assigned + 0],
        [either.assign(same, x), either.assign(flat, al.reshape(x, (-1,))), either.assign(total, total + x)],
    )
    given = al.empty(LARGE)
    for i in range(1, 5):
        given[...] = i
        assigned.assign(given)
        step(given)
        given[...] = np.nan
        for variable, value in ((same, i), (flat, i), (total, i * (i + 1) / 2), (assigned, i)):
            np.testing.assert_array_equal(variable.numpy(), np.full(variable.shape, value))


def test_arrays_that_are_gone(either):
    """Memory that the next array may lie in again, or that is not there any more."""
    x = either.placeholder((None, 131))
    step = either.compile([x], [x * 2])
    for i in range(30):
        array = (at_page, off_page)[i % 3 == 2](np.full((100 + i % 2, 131), i, np.float32))
        (result,) = step(array)
        del array
        np.testing.assert_array_equal(result, np.full((100 + i % 2, 131), 2 * i))


@READS_HOST_MEMORY
def test_one_array_for_two_placeholders(either):
    x, y = either.placeholder(LARGE), either.placeholder((131, 100))
    step = either.compile([x, y], [x @ y])
    values = np.arange(13100, dtype=np.float32).reshape(LARGE) % 7
    array = at_page(values)
    (product,), count = copied(step, array, array.reshape(131, 100))
    assert count == 0
    np.testing.assert_array_equal(product, values @ values.reshape(131, 100))


@READS_HOST_MEMORY
def test_a_file_that_may_only_be_read(either, tmp_path):
    path = tmp_path / "values"
    values = np.linspace(-2, 2, 13100, dtype=np.float32)
    values.tofile(path)
    mapped = np.memmap(path, np.float32, "r", shape=LARGE)
    x = either.placeholder(LARGE)
    w = either.variable(np.zeros(LARGE, np.float32))
    results, count = copied(either.compile([x], [x, al.relu(x), -x], al.SGD(1.0).apply([(x, w)])), mapped)
    assert count == values.nbytes + 8, "the initial value of w, the rate and the step"
    for result, expected in zip((*results, w.numpy()), (values, np.maximum(values, 0), -values, -values)):
        np.testing.assert_array_equal(result, expected.reshape(LARGE))
    np.testing.assert_array_equal(np.fromfile(path, np.float32), values)


def test_one_executable_in_many_threads(either):
    x = either.placeholder((None, 131))
    step = either.compile([x], [al.sum(x, axis=1), x])
    wrong = []

    def work(number):
        arrays = [at_page(np.full((100 + number % 2, 131), 10 * number + i, np.float32)) for i in range(3)]
        for i in range(60):
            array = off_page(arrays[i % 3]) if i % 7 == 0 else arrays[i % 3]
            total, same = step(array)
            if not ((total == 131 * array[:, 0]).all() and np.array_equal(same, arrays[i % 3])):
                wrong.append((number, i))

    at_once(work, range(4))
    assert wrong == []


@READS_HOST_MEMORY
def test_wrong_types_at_a_page(either):
    x, half = either.placeholder(LARGE, name="x"), either.placeholder(LARGE, al.float16)
    step = either.compile([x], [x + 1])
    values = np.ones(LARGE)
    with pytest.warns(UserWarning, match="float64"):
        results = step(at_page(values.view(np.int64)).view(np.float64))
    np.testing.assert_array_equal(results[0], values + 1)
    with pytest.raises(TypeError, match="'x', built at .*, is float32 but was given an array of float16"):
        step(al.empty(LARGE, al.float16))
    halves = al.empty(LARGE, al.float16)
    halves[...] = 0.5
    np.testing.assert_array_equal(either.compile([half], [half + half])(halves)[0], 2 * halves)
    with pytest.raises(ValueError, match=r"shape \(100, 131\) but was fed shape \(131, 100\)"):
        step(al.empty(LARGE[::-1]))
    results, count = copied(step, at_page(values.astype(np.float32)))
    assert count == 0
    np.testing.assert_array_equal(results[0], values + 1)
