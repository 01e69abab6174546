"""Building and running graphs: Python's operators, indexing, feeds, state, and the mistakes a user can
make."""

import inspect
import re

import numpy as np
import pytest

import alloy as al
from running import at_once, program, value_of

FLOATS = np.arange(6, dtype=np.float32).reshape(2, 3)


def here(lines_below=0):
    return f"test_graph.py:{inspect.currentframe().f_back.f_lineno + lines_below}"


@pytest.fixture
def x(graph):
    return graph.placeholder((2, 3), name="x")


# ---- operators and indexing ----


@pytest.mark.parametrize("function", [lambda x: x + 0.0, lambda x: 0.0 + x, lambda x: x - -0.0, lambda x: x * 1.0])
def test_neutral_elements_and_the_sign_of_zero(function, x):
    zeros = np.float32([[-0.0, 0.0, 1.0], [-1.0, np.inf, np.nan]])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(1 / value_of(function(x), x, zeros), 1 / function(zeros))


def test_a_sum_is_not_negative_zero(x):
    balanced = np.float32([[1, -1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(value_of(1 / al.sum(-x, axis=1), x, balanced).ravel(), [np.inf, np.inf])


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (1, 2),
        (0, -1),
        slice(None),
        slice(1, None),
        (slice(None), slice(0, 2)),
        (slice(None), slice(None, None, -1)),
        (slice(None), slice(2, 0, -1)),
        (slice(None), slice(-1, -9, -2)),
        (..., 1),
        (0, ...),
        None,
        (None, 0, None, slice(1, 3), None),
        (..., None),
        (),
        (slice(None), slice(1, -1)),
        np.int64(1),
    ],
    ids=str,
)
def test_indexing(key, x):
    tensor = x[key]
    assert tensor.shape == FLOATS[key].shape
    np.testing.assert_array_equal(value_of(tensor, x, FLOATS), FLOATS[key])


def test_indexing_of_unknown_dimensions(graph):
    x = graph.placeholder((None, 3))
    last = x[-1, ::-1]
    assert last.shape == (3,)
    np.testing.assert_array_equal(value_of(last, x, FLOATS), FLOATS[-1, ::-1])


def test_a_tensor_is_not_a_value(x):
    with pytest.raises(TypeError, match=rf"float32\(2, 3\).*{re.escape(here(1))}"):
        bool(x)
    assert len(x) == 2
    assert x in [x] and x not in [x + 0] and len({x, x}) == 1


def test_scalars_take_the_dtype_of_the_tensor(graph, x):
    assert (x + 1).dtype == "float32"
    i = graph.placeholder((2,), al.int64)
    np.testing.assert_array_equal(value_of(i * 3.0, i, [1, 2]), [3, 6])
    with pytest.raises(TypeError, match=r"^\[multiply\] .*int64, which cannot hold 0\.5"):
        i * 0.5
    assert al.where(x > 0, 1.0, 0.0).dtype == "float32"
    assert al.where(x > 0, 1, 0).dtype == "int32"


# ---- values that come from Python ----


def test_constants(graph):
    for given, dtype in [
        ([1, 2], "int32"),
        (1.5, "float32"),
        ([True], "bool"),
        (np.arange(3), "int64"),
        ([[1.0]], "float32"),
        (np.float32(3), "float32"),
        (np.uint8([200]), "uint8"),
    ]:
        tensor = graph.constant(given)
        assert tensor.dtype == dtype
        np.testing.assert_array_equal(value_of(tensor), given)


def test_float64_is_cast_with_one_warning(graph, x):
    wide = FLOATS.astype(np.float64)
    for use in (graph.constant, graph.variable, lambda array: x + array):
        with pytest.warns(UserWarning, match="float64") as warned:
            assert use(wide).dtype == "float32"
        assert [w.filename for w in warned] == [__file__]
    step = graph.compile([x], [x + 1])
    with pytest.warns(UserWarning, match="float64") as warned:
        np.testing.assert_array_equal(step(wide)[0], FLOATS + 1)
    assert len(warned) == 1


def test_arrays_in_any_layout(graph, x):
    step = graph.compile([x], [x * 1])
    for array in (
        np.asfortranarray(FLOATS),
        FLOATS.T.copy().T,
        np.repeat(FLOATS, 2, 0)[::2],
        FLOATS.tolist(),
        FLOATS[:, ::-1][:, ::-1],
    ):
        np.testing.assert_array_equal(step(array)[0], FLOATS)


def test_dlpack(graph, x):
    class Foreign:
        """An array of another library, as far as its interface goes."""

        def __dlpack__(self, **options):
            return FLOATS.__dlpack__(**options)

        def __dlpack_device__(self):
            return FLOATS.__dlpack_device__()

    np.testing.assert_array_equal(value_of(x * 2, x, Foreign()), 2 * FLOATS)
    np.testing.assert_array_equal(value_of(graph.constant(Foreign())), FLOATS)


def test_results_are_fresh(graph, x):
    step = graph.compile([x], [x, x * 2])
    first, second = step(FLOATS), step(FLOATS + 1)
    np.testing.assert_array_equal(first[0], FLOATS)
    np.testing.assert_array_equal(second[1], 2 * FLOATS + 2)
    first[0][:] = -1
    np.testing.assert_array_equal(step(FLOATS)[0], FLOATS)


# ---- state ----


def test_variables(graph, x):
    v = graph.variable(FLOATS, name="v")
    step = graph.compile([x], [al.sum(v)], [graph.assign(v, v + x)])
    assert step(FLOATS)[0] == 15, "a fetch sees the value before the update"
    np.testing.assert_array_equal(v.numpy(), 2 * FLOATS)
    v.assign(-FLOATS)
    np.testing.assert_array_equal(v.numpy(), -FLOATS)
    assert step(FLOATS)[0] == -15
    np.testing.assert_array_equal(v.numpy(), np.zeros_like(FLOATS))
    assert graph.variables == [v] and v.name == "v" and v.trainable and isinstance(v, al.Variable)


def test_a_variable_has_one_update_in_a_step(graph):
    v, w = graph.variable([1.0], name="v"), graph.variable([2.0])
    loss, kept = al.sum(v * w), graph.assign(w, w + 1)
    graph.compile([], [], [kept, kept])()  # one update, named twice
    assert w.numpy() == 3
    for updates, name in [
        (al.SGD(0.1).minimize(loss) + al.SGD(0.1).minimize(loss), " 'v'"),
        ([graph.assign(v, v), kept, graph.assign(v, v + 1)], " 'v'"),
        ([kept, graph.assign(w, w)], ""),
    ]:
        place = r"\S*test_graph\.py:\d+"
        with pytest.raises(
            ValueError,
            match=rf"^\[assign\] The variable{name} has another update, built at ({place}|the same line); "
            rf"built at {place}\.$",
        ):
            graph.compile([], [], updates)


def test_two_executables_share_variables(graph):
    v = graph.variable(0.0)
    count, read = graph.compile([], [], [graph.assign(v, v + 1)]), graph.compile([], [v])
    for expected in (1, 2, 3):
        count()
        assert read()[0] == expected


def test_an_executable_outlives_its_graph():
    def build():
        graph = al.Graph()
        v = graph.variable(1.0)
        return graph.compile([], [v], [graph.assign(v, v * 2)])

    step = build()
    assert [step()[0] for _ in range(3)] == [1, 2, 4]


def test_the_text_of_a_graph(graph, x):
    al.relu(x)
    assert "relu" in str(graph) and "float32(2, 3)" in str(graph)


# ---- mistakes; the graph is usable after each ----


def test_wrong_shape_when_building(graph, x):
    says = rf"^\[add\] Shapes \(2, 3\) and \(2, 4\) do not broadcast; built at .*{re.escape(here(2))}\.$"
    with pytest.raises(ValueError, match=says):
        x + graph.placeholder((2, 4))
    np.testing.assert_array_equal(value_of(x + 1, x, FLOATS), FLOATS + 1)


def test_another_graphs_tensors(graph, x):
    other = al.Graph()
    theirs = other.variable(FLOATS, name="theirs")
    for mistake in (
        lambda: x + theirs,
        lambda: graph.compile([x], [theirs]),
        lambda: al.SGD(1).minimize(al.sum(x), [theirs]),
        lambda: al.gradients(al.sum(x), [theirs]),
        lambda: graph.assign(theirs, x),
        lambda: graph.compile([x], [x], [other.assign(theirs, theirs * 2)]),
        lambda: al.concat([x, theirs], axis=0),
    ):
        with pytest.raises(ValueError, match=r"^\[\w+\] .*another graph.*; built at .*test_graph\.py:\d+\.$"):
            mistake()
    np.testing.assert_array_equal(value_of(x + 1, x, FLOATS), FLOATS + 1)


def test_a_loss_of_several_elements(x):
    with pytest.raises(ValueError, match=r"one element.*\(2, 3\)"):
        al.SGD(1).minimize(x * x.graph.variable(FLOATS))


def test_illegal_attributes(x):
    image, weights = al.reshape(x, (1, 2, 3, 1)), np.ones((1, 1, 1, 1), np.float32)
    for mistake, kind, says in [
        (lambda: al.max_pool2d(image, window="a"), TypeError, "a window of integers, got 'a'"),
        (lambda: al.max_pool2d(image, strides=1.5), TypeError, r"strides of integers, got 1\.5"),
        (lambda: al.transpose(x, (0, 0.5)), TypeError, r"integers, got \(0, 0\.5\)"),
        (lambda: al.max_pool2d(image, padding="full"), ValueError, "'full'"),
        (lambda: al.max_pool2d(image, padding=3), ValueError, "got 3"),
        (lambda: al.max_pool2d(image, window=0), ValueError, r"positive .*\(0, 0\)"),
        (lambda: al.max_pool2d(image, data_layout="CHWN"), ValueError, "NHWC NCHW"),
        (lambda: al.conv2d(image, weights, strides=(1, 2, 3)), ValueError, r"2 positive strides.*\(1, 2, 3\)"),
        (lambda: al.conv2d(image, np.ones((1, 1, 1, 3), np.float32), groups=2), ValueError, "groups"),
    ]:
        with pytest.raises(kind, match=rf"^\[\w+\] .*{says}.*; (built )?at .*test_graph\.py:\d+\.$"):
            mistake()


def test_one_graph_in_many_threads(graph, x):
    """As the documentation of Graph has it: runs, compilations, reads and assignments at the same time."""
    total, kept = graph.variable(0.0, "total"), graph.variable(FLOATS, "kept")
    y = al.sum(x * kept)
    count = graph.compile([x], [y], [graph.assign(total, total + 1.0)])
    wrong = []

    def work(number):
        for i in range(25):
            if count(FLOATS)[0] != 55 or count.submit(FLOATS)[0] != 55:
                wrong.append((number, i, "count"))
            if graph.compile([x], [y, x])(FLOATS)[0] != 55 or graph.run(y, {"x": FLOATS}) != 55:
                wrong.append((number, i, "compile"))
            kept.assign(FLOATS)
            if not np.array_equal(graph.read_variables([total, kept])[1], FLOATS):
                wrong.append((number, i, "read"))

    at_once(work, range(4))
    assert wrong == [] and total.numpy() == 200


def test_import_is_light():
    heavy = ["matplotlib", "safetensors", "typer", "tqdm", "sklearn", "importlib.metadata"]
    code = f"import sys, alloy; print([name for name in {heavy} if name in sys.modules])"
    assert program(code).stdout == "[]\n"
