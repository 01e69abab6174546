"""Arrays for placeholders: by position, by label, and bound to the graph."""
import inspect
import re

import numpy as np
import pytest

import alloy as al

X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.int32([5, 7])


def here(lines_below=0):
    return f"test_feeds.py:{inspect.currentframe().f_back.f_lineno + lines_below}"


@pytest.fixture
def graph():
    return al.Graph()


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
    for values in (step(X, Y), step(inputs=X, labels=Y), step(labels=Y, inputs=X), step(X, labels=Y),
                   step(**{"labels": [5, 7]}, inputs=X.tolist())):
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
    with pytest.raises(TypeError, match=r"'labels', built at .*, is int32 but was given an array of float32"):
        step(X, labels=np.float32([1, 2]))
    with pytest.raises(ValueError, match=r"'inputs' has shape \(\?, 3\) but was fed shape \(2,\)"):
        step(inputs=Y.astype(np.float32), labels=Y)


def test_a_label_of_two_placeholders(graph, x):
    line, other = here(), graph.placeholder((None, 3), name="inputs")
    both, one = graph.compile([x, other], [x + other]), graph.compile([other], [other])
    with pytest.raises(ValueError,
                       match=rf"'inputs' of .*{re.escape(line)}, got 'inputs', which is that of 2\.$"):
        both(inputs=X)
    np.testing.assert_array_equal(both(X, X)[0], 2 * X)
    np.testing.assert_array_equal(one(inputs=X)[0], X)
    with pytest.raises(ValueError, match=r"^\[bind\] .*, which is that of 2\.$"):
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
    steps = [graph.compile([x, y], [], al.SGD(0.1).minimize(al.mean(al.square(x @ w - y)), [w]))
             for w in (given, bound)]
    targets = np.float32([[1], [2]])
    for _ in range(5):
        steps[0](X, targets)
    graph.bind({x: X, y: targets})
    for _ in range(5):
        steps[1]()
    np.testing.assert_array_equal(bound.numpy(), given.numpy())


def test_wrong_bindings(graph, step, x):
    other = al.Graph().placeholder((2,), name="theirs")
    for mistake, kind, says in [
        ({"input": X}, ValueError, r"^\[bind\] Expected .* 'inputs' of .*, 'labels' of .*, got 'input'\.$"),
        ({"": X}, ValueError, r"^\[bind\] .*, got ''\.$"),
        ({x: X[:, :2]}, ValueError,
         r"^\[placeholder\] .*'inputs' has shape \(\?, 3\) but was fed shape \(2, 2\); built at"),
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
