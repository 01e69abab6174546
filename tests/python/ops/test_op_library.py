"""Ops of libraries in C: their values and gradients, where they cut a step, what they refuse, and libraries that are
not as they should be."""

import inspect
import itertools
import pathlib
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import alloy as al
from kinds import CHILDREN_COMPUTE, HALVES, PLANS_FOR_A_CPU
from running import at_once

ROOT = pathlib.Path(__file__).parents[3]
SOURCES = ROOT / "tests" / "op_libraries"
INCLUDE = al.OpLibrary.include
X = np.float32([[-2, 0.5, 3], [0.25, -1, 1.5]])


def compiled(source, target, *macros):
    compiler = "c++" if source.suffix == ".cpp" else "cc"
    options = ["-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}"]
    subprocess.run([compiler, *options, *(f"-D{macro}" for macro in macros), source, "-o", target], check=True)
    return target


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="session")
def ops(folder):
    return al.load_op_library(compiled(SOURCES / "trial.c", folder / "trial.so"))


@pytest.fixture(scope="session")
def smooth(folder):
    return al.load_op_library(compiled(ROOT / "examples" / "smooth_ops.c", folder / "smooth_ops.so"))


@pytest.fixture
def built(tmp_path):
    """Compiles the library with these macros, another file each time."""
    numbers = itertools.count()
    return lambda *macros: compiled(SOURCES / "trial.c", tmp_path / f"{next(numbers)}.so", *macros)


def dispatches(call):
    before = al.stats()["dispatches"]
    call()
    return al.stats()["dispatches"] - before


# ---- values ----


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (None, None), None], ids=str)
def test_values(ops, shape):
    graph = al.Graph()
    x = graph.placeholder(shape)
    y = ops.negate(x)
    assert (y.dtype, y.shape) == ("float32", shape)
    step = graph.compile([x], [y, y * 2.0])
    for x in X, X[:1].copy(), X + 1:
        if shape is None or shape[0] is None or shape[0] == len(x):
            np.testing.assert_array_equal(step(x), [-x, -2 * x])


DTYPES = ["bool", "float32", *HALVES, *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_of_elements(ops, dtype):
    array = np.array([[1, 0], [3, 1]]).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    graph = al.Graph()
    x = graph.placeholder((None, 2), dtype)
    (found,) = graph.compile([x], [ops.copy(x)])(array)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves(ops, dtype):
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    y = ops.negate(al.cast(x, dtype)) * 3.0
    (of_x,) = al.gradients(al.sum(y), [x])
    y, of_x = graph.compile([x], [al.cast(y, "float32"), of_x])(X)
    np.testing.assert_array_equal(y, -3 * X)
    np.testing.assert_array_equal(of_x, np.full(X.shape, -3))


def test_no_axes_and_many(ops):
    graph = al.Graph()
    for shape in [(), (1,), (2, 1, 3, 1, 2, 1)]:
        x = graph.placeholder(shape)
        given = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) + 1
        np.testing.assert_array_equal(graph.run(ops.negate(x), {x: given}), -given)


def test_several_operands_and_results(ops, rng):
    graph = al.Graph()
    a, b, n = graph.placeholder((None,)), graph.placeholder((None,)), graph.placeholder((4,), al.int32)
    product, following, total = ops.mixed(a, b, n)
    assert (following.dtype, following.shape, total.shape) == ("int32", (4,), ())
    both = al.gradients(al.sum(product * 2.0) + 5.0 * total, [a, b])
    one = al.gradients(total, [a, b])
    step = graph.compile([a, b, n], [product, following, total, *both, *one])
    for length in 3, 1, 1000:
        x, y = rng.normal(size=(2, length)).astype(np.float32)
        found = step(x, y, np.int32([1, 2, 3, -1]))
        expected = [x * y, [2, 3, 4, 0], x.sum(dtype=float), 2 * y + 5, 2 * x, np.ones(length), np.zeros(length)]
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [0, 1, 3, 20])
def test_the_example(smooth, rng, width):
    """Against the matrix of the moving average."""
    n = 9
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width
    matrix = near / near.sum(1, keepdims=True)
    graph = al.Graph()
    x = graph.placeholder((None, n))
    y = smooth.smooth(x, np.int32(width))
    g = rng.normal(size=n).astype(np.float32)
    crosses, count = smooth.crossings(x)
    step = graph.compile([x], [y, *al.gradients(al.sum(y * g), [x]), crosses, count])
    given = rng.normal(size=(5, n)).astype(np.float32)
    y, of_x, crosses, count = step(given)
    np.testing.assert_allclose(y, given @ matrix.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_x, np.broadcast_to(g @ matrix, of_x.shape), rtol=1e-5, atol=1e-6)
    expected = np.diff(given < 0, axis=1, prepend=(given < 0)[:, :1])
    np.testing.assert_array_equal(crosses, expected)
    np.testing.assert_array_equal(count, expected.sum(1))


def test_the_example_is_built_by_the_command_that_it_names():
    source = (ROOT / "examples" / "smooth_ops.c").read_text()
    page = (ROOT / "docs" / "guides" / "custom_ops.md").read_text()
    (command,) = re.findall(r"^ +(gcc .*)$", source, re.M)
    assert command.replace("smooth_ops", "hypot") in page


# ---- where a step is cut ----


def network(negate, storage):
    """A step in which negate stands at all sorts of places: what it gives, its feeds."""
    graph = al.Graph(storage=storage)
    rng = np.random.default_rng(0)
    x, y, unused = graph.placeholder((None, 4)), graph.placeholder((None, 3)), graph.placeholder((2,))
    w = graph.variable(rng.normal(size=(4, 3)).astype(np.float32), name="w")
    v = graph.variable(rng.normal(size=(3,)).astype(np.float32), name="v")
    count = graph.variable(np.float32(0), name="count", trainable=False)
    apart = graph.variable(np.float32([1, 2]), name="apart", trainable=False)
    hidden = negate(x @ w)  # of what is computed
    again = negate(negate(hidden)) + negate(v)  # of such a result, twice; of a variable
    fed = negate(x)  # of a feed
    fixed = negate(graph.constant(np.float32([1, -2, 3])))
    branch = al.cond(al.sum(hidden) > 0.0, lambda: hidden * 2.0, lambda: hidden - fixed)
    loop = al.for_loop(0, 3, lambda i, s: s * 0.5 + al.tanh(again), branch)
    loss = al.mean(al.square(loop - y)) + al.mean(al.exp(fed)) + al.sum(al.square(v))
    whole = negate(loss) * 2.0  # of everything
    counted = graph.assign(count, negate(count) * -1.0 + 1.0)
    moved = graph.assign(apart, al.flip(apart, axis=0))  # of nothing of that
    updates = [*al.Adam(0.05).minimize(loss - whole), counted, moved]
    fetches = [loss, whole, hidden, again, fed, fixed, x, branch, loop, x + 1.0, w, loss, *al.gradients(whole, [x, v])]
    return graph.compile([x, unused, y], fetches, updates), [w, v, count, apart]


def test_a_step_is_what_it_would_be_in_one_piece(ops, rng, storage):
    """Batch after batch, of other sizes, too, in flight and not, and with what it leaves behind. Parts are fused in
    other ways, so that a sum may be rounded otherwise."""
    whole, variables = network(al.negative, storage)
    cut, others = network(ops.negate, storage)
    for turn, length in enumerate((5, 5, 1, 16, 5, 16)):
        given = [rng.normal(size=shape).astype(np.float32) for shape in [(length, 4), (2,), (length, 3)]]
        expected, found = whole(*given), cut.submit(*given) if turn % 2 else cut(*given)
        for one, other in zip(expected, found):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
        for one, other in zip(variables, others):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6, atol=1e-7)
    assert others[2].numpy() == 6


def test_how_often_it_is_cut(ops):
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    y = ops.negate(x * 2.0)
    calls = {1: x * 2.0, 2: y + 1.0, 3: ops.negate(y + 1.0) * 2.0}
    for count, fetch in calls.items():
        step = graph.compile([x], [fetch])
        assert dispatches(lambda: step(X)) == count
    # One directly behind another, or beside it, costs no dispatch.
    chain = graph.compile([x], [ops.negate(ops.negate(x * 2.0)) * 3.0, ops.negate(x) * 2.0])
    assert dispatches(lambda: np.testing.assert_array_equal(chain(X)[0], 6 * X)) == 2
    # What no fetch needs is not called.
    assert dispatches(lambda: graph.compile([x], [x + 1.0])(X)) == 1
    assert dispatches(lambda: graph.compile([x], [x + al.cast(al.reshape(y, (6,))[0] * 0.0, "float32")])(X)) == 2


def test_an_error_leaves_the_variables(ops, storage):
    graph = al.Graph(storage=storage)
    x = graph.placeholder((3,), name="x")
    w, n = graph.variable(np.float32([1, 2, 3]), name="w"), graph.variable(np.float32(0), name="n")
    checked = ops.positive(x * w)
    fetches = [checked * 2.0]
    step = graph.compile([x], fetches, [graph.assign(w, w * 2.0), graph.assign(n, n + al.sum(checked))])
    said = r"^\[trial.positive\] Expected numbers of 0 or more, got -{}; built at .*:\d+\. No variable has changed.$"
    good, bad = np.float32([1, 1, 1]), np.float32([1, -2, 1])
    for turn in range(3):
        np.testing.assert_array_equal(step(good)[0], 2 * w.numpy() / 2)
        before = w.numpy(), n.numpy()
        with pytest.raises(al.DeviceError, match=said.format(8 * 2**turn)):
            step(bad)
        with pytest.raises(al.DeviceError, match="trial.positive"):
            step.submit(bad)
        assert all(np.array_equal(one, other) for one, other in zip(before, (w.numpy(), n.numpy())))
    assert w.numpy().tolist() == [8, 16, 24] and n.numpy() == 6 * 7
    other = graph.compile([x], [checked + 0.0])
    with pytest.raises(al.DeviceError, match=r"got -16; built at .*:\d+\.$"):
        other(np.float32([1, -1, 1]))


def test_steps_in_flight(ops):
    """Among others that are, and that write what it reads."""
    graph = al.Graph()
    w = graph.variable(np.float32([1]), name="w")
    x = graph.placeholder((1,))
    plain = graph.compile([x], [w + x], [graph.assign(w, w * 2.0 + x)])
    cut = graph.compile([x], [ops.negate(w) * x], [graph.assign(w, ops.negate(w * x) + 7.0)])
    flights, expected, now = [], [], np.float32(1)
    for i in range(20):
        x = np.float32([i % 3])
        flights.append((cut if i % 4 == 1 else plain).submit(x))
        expected.append(-now * x if i % 4 == 1 else now + x)
        now = -now * x + 7 if i % 4 == 1 else now * 2 + x
        x[:] = 99  # the step has its own
    np.testing.assert_array_equal([flight[0] for flight in flights], expected)
    assert w.numpy() == now


def test_large_arrays_that_are_lent(ops):
    graph = al.Graph()
    x = graph.placeholder((None, 1024))
    step = graph.compile([x], [ops.negate(al.square(x)) + x, ops.negate(x)])
    given = al.empty((64, 1024))
    for i in range(3):
        given[:] = i + 2
        first, second = step(given)
        assert (first == given - given**2).all() and (second == -given).all()


def test_in_a_layer_that_is_trained(smooth, rng):
    """Its targets are what it gives with other weights, which it learns to imitate."""

    class Smoothed(al.nn.Layer):
        def build(self, x):
            self.weights = self.add_variable(x.graph, "weights", lambda seed: np.zeros((4, 6), np.float32))

        def forward(self, x, training):
            return smooth.smooth(x @ self.weights, np.int32(1))

    near = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1
    x = rng.normal(size=(96, 4)).astype(np.float32)
    y = np.float32(x @ rng.normal(size=(4, 6)) @ (near / near.sum(1, keepdims=True)).T)
    trainer = al.Trainer(Smoothed(), "mean_squared_error", al.Adam(0.05), metrics=["mean_absolute_error"])
    trainer.fit((x, y), epochs=150, batch_size=32, progress=False)
    assert trainer.evaluate((x, y))["loss"] < 1e-3 < np.mean(y**2)
    profile = trainer.profile((x, y))
    if profile is not None:  # the device can be asked; what runs on the host is measured there
        assert {"smooth_ops.smooth", "smooth_ops.smooth_gradient"} <= {kernel.kind for kernel in profile.kernels}


@PLANS_FOR_A_CPU
def test_a_profile_has_ops_of_libraries_among_the_kernels(ops):
    graph = al.Graph()
    x = graph.placeholder((16, 16))
    step = graph.compile([x], [ops.negate(x @ x) @ x])
    profile = step.profile(np.ones((16, 16), np.float32))
    if profile is not None:  # the device can be asked
        assert [kernel.kind for kernel in profile.kernels] == ["matmul", "trial.negate", "matmul"]


def test_what_can_be_asked_of_a_step(ops):
    graph = al.Graph()
    x = graph.placeholder((None, 3), name="x")
    y = ops.negate(x * 2.0) + 1.0
    graph.verify({x: (4, 3)}, [y])
    (op,) = [op for op in graph.inspect({x: (4, 3)}, [y]) if op.kind == "native"]
    assert op.bytes == 2 * 4 * 3 * 4 and "test_op_library" in op.location
    step = graph.compile([x], [y])
    assert step.memory_plan((4, 3)) is None
    assert "function = trial.negate" in str(graph)


# ---- threads and processes ----


def test_threads(ops, rng):
    """Of one step and of graphs of their own."""
    graph = al.Graph()
    x = graph.placeholder((None,))
    shared = graph.compile([x], [ops.negate(x * 2.0) + 1.0])

    def work(seed):
        own = al.Graph()
        y = own.placeholder((None,))
        step = own.compile([y], [ops.negate(ops.negate(y) * 3.0) * 2.0])
        for i in range(20):
            given = np.random.default_rng(seed + i).normal(size=1 + i % 3).astype(np.float32)
            np.testing.assert_array_equal(shared(given)[0], -2 * given + 1)
            np.testing.assert_array_equal(step(given)[0], 6 * given)

    at_once(work, range(0, 400, 100))


FORK = """
import os, sys
import numpy as np
import alloy as al

ops = al.load_op_library(sys.argv[1])
graph = al.Graph()
x = graph.placeholder((2,))
step = graph.compile([x], [ops.negate(x) * 2.0])
given = np.float32([1, 2])
if os.fork() == 0:  # of a process that has not used the device
    os._exit(0 if step(given)[0].tolist() == [-2, -4] else 1)
assert os.wait()[1] == 0
assert step(given)[0].tolist() == [-2, -4]
if os.fork() == 0:
    try:
        step(given)
    except al.DeviceError as error:
        os._exit(0 if "forked child" in str(error) else 2)
    os._exit(1)
assert os.wait()[1] == 0
"""


@CHILDREN_COMPUTE
def test_forked_processes(ops):
    subprocess.run([sys.executable, "-c", FORK, ops.path], check=True)


# ---- what is refused ----


def test_arguments(ops):
    graph = al.Graph()
    x = graph.placeholder((2,))
    cases = [
        (lambda: ops.negate(), TypeError, "[trial.negate] Expected a tensor among the operands, got none"),
        (lambda: ops.negate(x, x), ValueError, "[trial.negate] Expected 1 operands, got 2; built at "),
        (lambda: ops.mixed(x, x, x), ValueError, "[trial.mixed] Expected float32, float32 and int32; built at "),
        (lambda: ops.rule_fails(x), ValueError, "[trial.rule_fails] The library's rule failed and does not say why"),
        (lambda: al.gradients(al.sum(ops.copy(x)), [x]), ValueError, "[trial.copy] The op has no gradient; built at "),
        (lambda: ops.no_type(x), ValueError, "[trial.no_type] The library's rule gave the type 99"),
        (lambda: ops.nothing(x), ValueError, "[trial.nothing] The library's rule gave the type -1"),
        (lambda: ops.many_axes(x), ValueError, "[trial.many_axes] The library's rule gave 17 axes"),
        (lambda: ops.few_axes(x), ValueError, "[trial.few_axes] The library's rule gave -2 axes"),
        (lambda: ops.negative(x), ValueError, "[trial.negative] The library's rule gave the extent -5"),
        (lambda: ops.huge(x), ValueError, "[trial.huge] The result float32(1152921504606846976,) is larger than any"),
        (lambda: ops.unknown(x), ValueError,
         "[trial.unknown] The library's rule gave float32(?,) for operands of known shapes"),
        (lambda: al.gradients(al.sum(ops.steep(x)), [x]), ValueError,
         "[trial.steep] Expected gradient 0 of trial.steep_gradient to be float32(2,), got float32(1,)"),
        (lambda: ops.nagate, AttributeError, "has no op nagate; the nearest is negate; it has negate, "),
        (lambda: ops.negate(2.0), TypeError, "[trial.negate] Expected a tensor among the operands, got float"),
    ]  # fmt: skip
    for call, kind, said in cases:
        with pytest.raises(kind) as error:
            call()
        assert said in str(error.value)
        assert "test_op_library.py:" in str(error.value)
    assert graph.run(ops.negate(x), {x: np.float32([1, 2])}).tolist() == [-1, -2]
    empty = ops.empty(x)
    with pytest.raises(ValueError, match="has no elements"):
        graph.run(empty, {x: np.float32([1, 2])})


def test_second_derivatives_fail_where_the_library_has_none(ops):
    graph = al.Graph()
    x = graph.placeholder((2,))
    (first,) = al.gradients(al.sum(al.square(ops.negate(x))), [x])
    with pytest.raises(ValueError, match=r"\[trial.twice_gradient\] The library's rule failed and does not say why"):
        al.gradients(al.sum(first), [x])


def test_functions_that_fail(ops):
    graph = al.Graph()
    x = graph.placeholder((2,))
    for op, said in (ops.fails, "The library's function failed and does not say why"), (ops.fails_at_length, "x" * 512):
        step = graph.compile([x], [op(x)])
        for _ in range(2):
            with pytest.raises(al.DeviceError) as error:
                step(np.float32([1, 2]))
            assert f"] {said}; built at" in str(error.value)


def test_a_library_that_throws(folder):
    library = al.load_op_library(compiled(SOURCES / "throwing.cpp", folder / "throwing.so"))
    graph = al.Graph()
    x = graph.placeholder((2,))
    step = graph.compile([x], [library.throws(x)])
    for _ in range(2):
        with pytest.raises(al.DeviceError, match=r"^\[throwing.throws\] No luck today; built at "):
            step(np.float32([1, 2]))
    with pytest.raises(al.DeviceError, match="failed and does not say why"):
        graph.compile([x], [library.throws_a_number(x)])(np.float32([1, 2]))
    with pytest.raises(ValueError, match=r"\[throwing.throws\] Expected at most two axes; built at "):
        library.throws(graph.placeholder((1, 1, 1)))


@pytest.mark.parametrize("where", ["loop", "conditional", "steps"])
def test_not_within_loops_and_conditionals(ops, where):
    graph = al.Graph()
    x = graph.placeholder((3,))
    y = x * 2.0
    if where == "loop":
        y = al.for_loop(0, 2, lambda i, y: ops.negate(y), y)
    elif where == "conditional":
        y = al.cond(al.sum(y) > 0.0, lambda: ops.negate(y), lambda: y)
    else:
        y = ops.negate(y)
    steps, shape = (2, (2, 3)) if where == "steps" else (None, (3,))
    step = graph.compile([x], [y], steps=steps)
    said = r"^\[trial.negate\] The op cannot run in a loop or a conditional"
    for _ in range(2):
        with pytest.raises(ValueError, match=said):
            step(np.ones(shape, np.float32))
    assert graph.compile([x], [x * 2.0])(np.ones(3, np.float32))[0].tolist() == [2, 2, 2]


@pytest.mark.parametrize("trainer", [{"steps_per_dispatch": 2}], ids=str)
def test_a_trainer_of_several_steps_says_so(ops, trainer, rng):
    class Negated(al.nn.Layer):
        def forward(self, x, training):
            return ops.negate(x)

    model = al.nn.Sequential(al.nn.Dense(1), Negated())
    data = rng.normal(size=(8, 2)).astype(np.float32), rng.normal(size=(8, 1)).astype(np.float32)
    with pytest.raises(ValueError, match="nor in several steps of one dispatch"):
        al.Trainer(model, "mean_squared_error", al.SGD(0.1), **trainer).fit(data, 1, 2, progress=False)


# ---- libraries ----


def test_help(ops):
    assert repr(ops).startswith("<OpLibrary trial of negate, ")
    assert ops.negate.__doc__ == "-x." and ops.copy.__doc__ == "The op trial.copy."
    assert list(inspect.signature(ops.mixed).parameters) == ["x0", "x1", "x2"]
    assert {"negate", "mixed", "name", "path"} <= set(dir(ops)) and ops.name == "trial"


def test_loaded_twice(ops, tmp_path, monkeypatch):
    monkeypatch.chdir(pathlib.Path(ops.path).parent)
    for path in ops.path, pathlib.Path(ops.path), "trial.so":
        again = al.load_op_library(path)
        graph = al.Graph()
        x = graph.placeholder((1,))
        assert graph.run(again.negate(ops.negate(x)), {x: np.float32([3])}) == [3]
    link = tmp_path / "link.so"
    link.symlink_to(ops.path)
    assert al.load_op_library(link).name == "trial"


def test_a_library_that_has_been_compiled_anew_since(tmp_path):
    path = tmp_path / "anew.so"
    ops = al.load_op_library(compiled(SOURCES / "trial.c", path, 'NAME="anew"'))
    path.unlink()
    compiled(SOURCES / "trial.c", path, 'NAME="newer"')
    with pytest.raises(ValueError, match=r"Expected the file .*anew.so as it was when it was loaded, .*; at"):
        al.load_op_library(path)
    graph = al.Graph()
    x = graph.placeholder((1,))
    assert graph.run(ops.negate(x), {x: np.float32([3])}) == [-3]


def test_a_library_that_does_not_speak_utf_8(tmp_path):
    source = tmp_path / "latin.c"
    source.write_text(r"""
#include <alloy/op_library.h>
#include <string.h>
static int rule(const AlloyTensor* in, AlloyTensor* out, char* message) {
  out[0] = in[0];
  if (in[0].axes == 2) strcpy(message, "caf\xe9 caf\xc3\xa9 \xed\xa0\x80 \xe2");
  return in[0].axes == 2;
}
static int compute(const AlloyTensor* in, AlloyTensor* out, char* message) {
  strcpy(message, "gr\xfc\xdf");
  return in == 0 || out == 0 || 1;
}
static const AlloyOp ops[] = {{"f", "na\xefve", 1, 1, rule, compute, 0}};
static const AlloyOpLibrary library = {ALLOY_OP_LIBRARY_VERSION, 1, "latin", ops};
const AlloyOpLibrary* alloy_op_library(void) { return &library; }
""")
    ops = al.load_op_library(compiled(source, tmp_path / "latin.so"))
    assert ops.f.__doc__ == "na?ve"
    graph = al.Graph()
    with pytest.raises(ValueError, match=r"^\[latin.f\] caf\? café \?\?\? \?; built at"):
        ops.f(graph.placeholder((2, 2)))
    x = graph.placeholder((2,))
    with pytest.raises(al.DeviceError, match=r"^\[latin.f\] gr\?\?; built at"):
        graph.run(ops.f(x), {x: np.ones(2, np.float32)})


def test_two_libraries_with_the_same_ops(ops, built):
    other = al.load_op_library(built('NAME="other"'))
    graph = al.Graph()
    x = graph.placeholder((2,))
    y = other.negate(ops.negate(x) * 2.0) * 3.0
    assert graph.run(y, {x: np.float32([1, 2])}).tolist() == [6, 12]
    assert "trial.negate" in str(graph) and "other.negate" in str(graph)


# fmt: off
LIBRARIES = [
    (['NAME="trial"'], r"a library of another name than those that are loaded, got 'trial' of .*0.so, which"),
    (["VERSION=2"], r"a library of ops of version 1, got .*0.so, which is of version 2; compile it with this Alloy's"),
    (["VERSION=0"], ".* which is of version 0"),
    (["NO_ENTRY"], r"a library of ops, got .*0.so, which has no function alloy_op_library"),
    (["NO_TABLE"], r".* whose alloy_op_library gives NULL"),
    (['NAME=""'], r"a name of the library of letters, digits and underscores, got another one"),
    (["NAME=NULL"], r"a name of the library"),
    (['NAME="a.b"'], r"a name of the library"),
    (['NAME="a"', 'MORE={"negate",NULL,1,1,like_first,copied,NULL}'], r"ops of different names, got two of 'negate'"),
    (['NAME="b"', "MORE={NULL,NULL,1,1,like_first,copied,NULL}"], r"a name of op 21 of letters"),
    (['NAME="c"', 'MORE={"x",NULL,1,1,NULL,copied,NULL}'], r"the functions rule and compute of the op 'x', got NULL"),
    (['NAME="d"', 'MORE={"x",NULL,1,1,like_first,NULL,NULL}'], r"the functions rule and compute of the op 'x'"),
    (['NAME="e"', 'MORE={"x",NULL,0,1,like_first,copied,NULL}'],
     r"1 to 64 inputs and results of the op 'x', got 0 and 1"),
    (['NAME="f"', 'MORE={"x",NULL,1,65,like_first,copied,NULL}'], r"1 to 64 inputs and results of the op 'x'"),
    (['NAME="g"', 'MORE={"x",NULL,1,1,like_first,copied,"y"}'],
     r"an op of the library as the gradient of 'x', got 'y'"),
    (['NAME="h"', 'MORE={"x",NULL,1,1,like_first,copied,"copy"}'],
     r"the op 'copy', the gradient of 'x', to take 3 inputs .* at most 1 results, got 1 and 1"),
]
# fmt: on


@pytest.mark.parametrize("macros, said", LIBRARIES, ids=[" ".join(macros) for macros, _ in LIBRARIES])
def test_libraries_that_are_refused(ops, built, macros, said):
    path = built(*macros)
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"^\[load_op_library\] Expected {said}.*; at .*\.py:\d+\.$"):
            al.load_op_library(path)


def test_what_was_refused_can_be_compiled_anew(tmp_path):
    path = tmp_path / "later.so"
    compiled(SOURCES / "trial.c", path, "VERSION=3", 'NAME="later"')
    with pytest.raises(ValueError, match="version 3"):
        al.load_op_library(path)
    path.unlink()
    compiled(SOURCES / "trial.c", path, 'NAME="later"')
    assert al.load_op_library(path).name == "later"


def test_files_that_are_no_libraries(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^\[load_op_library\] There is no file .*none.so; at .*\.$"):
        al.load_op_library(tmp_path / "none.so")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        al.load_op_library(tmp_path)
    for contents in b"", b"no library", (ROOT / "README.md").read_bytes():
        (tmp_path / "text.so").write_bytes(contents)
        with pytest.raises(ValueError, match=r"Expected a shared library, got .*text.so, which cannot be loaded: "):
            al.load_op_library(tmp_path / "text.so")
    with pytest.raises(ValueError, match=r"\[load_op_library\] Expected a path of UTF-8, got b'a"):
        al.load_op_library(b"a\xff.so")
    with pytest.raises(TypeError, match=r"\[load_op_library\] Expected a path, got int"):
        al.load_op_library(3)


def test_a_graph_that_names_what_is_not_loaded():
    graph = al.Graph()
    x = graph.placeholder((2,))
    with pytest.raises(ValueError, match=r"\[nowhere.op\] No library that is loaded has this op"):
        graph.apply("native", [x], {"function": "nowhere.op"}, "", "here.py:1")


def test_the_header_is_plain_c(tmp_path):
    for name, options in ("a.c", ["-std=c99"]), ("a.cpp", ["-std=c++11"]):
        (tmp_path / name).write_text("#include <alloy/op_library.h>\n")
        compiler = "c++" if name.endswith("cpp") else "cc"
        strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{INCLUDE}"]
        subprocess.run([compiler, *options, *strict, tmp_path / name], check=True)
