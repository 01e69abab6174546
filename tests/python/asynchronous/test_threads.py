"""However many threads are set, and however few the system starts, results are right."""

import json
import os

import numpy as np
import pytest

import alloy as al
from running import program

pytestmark = pytest.mark.skipif(al.device().kind != "cpu", reason="only the portable CPU has threads")

# What goes to threads in different ways: large, stacked, thin and transposed products, convolutions and all their
# gradients, reductions; after what the test does first, and again after what it does later.
PROGRAM = """
import json, resource, sys
import numpy as np
import alloy as al
rng = np.random.default_rng(0)
def array(*shape): return rng.normal(size=shape).astype(np.float32)
%(before)s
graph = al.Graph()
pairs = [(array(600, 600), array(600, 600)), (array(8, 128, 128), array(8, 128, 128)),
         (array(2048, 64), array(64, 2048)), (array(2, 4096), array(4096, 700))]
fed, fetched, exact = [], [], []
for a, b in pairs:
    x, y = graph.placeholder(a.shape), graph.placeholder(b.shape)
    fed += [(x, a), (y, b)]
    fetched.append(x @ y)
    exact.append(a.astype(np.float64) @ b)
for channels in 3, 32:
    a, w = array(16, 12, 12, channels), array(3, 3, channels, 32)
    x, y = graph.placeholder(a.shape), graph.placeholder(w.shape)
    fed += [(x, a), (y, w)]
    convolved = al.conv2d(x, y, padding="valid")
    to_source, to_weights = al.gradients(al.sum(convolved), [x, y])
    fetched += [convolved, to_source, to_weights]
    windows = np.lib.stride_tricks.sliding_window_view(a.astype(np.float64), (3, 3), axis=(1, 2))
    exact.append(np.einsum("nhwcij,ijco->nhwo", windows, w))
    spread = np.zeros(a.shape)
    for i in range(3):
        for j in range(3):
            spread[:, i:i + 10, j:j + 10] += w[i, j].sum(1)
    exact.append(spread)
    exact.append(np.broadcast_to(windows.sum((0, 1, 2)).transpose(1, 2, 0)[..., None], w.shape))
x = fed[0][0]
fetched.append(al.variance(x, axis=(0,)))
exact.append(fed[0][1].astype(np.float64).var(0, keepdims=True))
run = graph.compile([x for x, _ in fed], fetched)
def error():
    results = run(*[a for _, a in fed])
    return max(float(np.abs(result - truth).max() / np.abs(truth).max()) for result, truth in zip(results, exact))
report = [al.threads(), error()]
%(after)s
print(json.dumps(report + [al.threads(), error()]))
"""


def results(environment, before="", after=""):
    code = PROGRAM % {"before": before, "after": after}
    done = program(code, env={**os.environ, **environment}, seconds=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def with_threads(numbers, compute):
    """The results of compute() with each number of threads."""
    before = al.threads()
    try:
        return [(al.set_threads(number), compute())[1] for number in numbers]
    finally:
        al.set_threads(before)


@pytest.mark.parametrize(
    "environment, before, after, first, then",
    [
        ({"OMP_THREAD_LIMIT": "1"}, "", "", 1, 1),
        ({"OMP_THREAD_LIMIT": "3"}, "al.set_threads(8)", "al.set_threads(2)", 3, 2),
        ({"OMP_NUM_THREADS": "3,2", "OMP_DYNAMIC": "true"}, "", "al.set_threads(5)", 3, 5),
        ({"OMP_NUM_THREADS": "100000"}, "", "al.set_threads(2)", 512, 2),
        ({"OMP_NUM_THREADS": "9" * 30}, "", "al.set_threads(2)", 512, 2),
        ({}, "al.set_threads(10**15)", "al.set_threads(2)", 512, 2),
    ],
    ids=str,
)
def test_products_and_gradients_are_right_with_any_threads(environment, before, after, first, then):
    threads, error, threads_then, error_then = results(environment, before, after)
    assert (threads, threads_then) == (first, then)
    assert max(error, error_then) < 1e-5


def test_no_more_threads_than_the_system_has_memory_for():
    limit = "resource.setrlimit(resource.RLIMIT_AS, (2_500_000_000,) * 2); al.set_threads(400)"
    # Without what the C library would reserve for each thread's small allocations.
    threads, error, *_ = results({"MALLOC_ARENA_MAX": "1"}, before=limit)
    assert threads == 400  # parts of the work, for any number of the system's threads
    assert error < 1e-5


@pytest.mark.parametrize(
    "shape, count, batch_dims", [((500, 200), 4000, 0), ((3, 70, 65), 900, 1), ((100_000,), 50_000, 0)]
)
def test_gather_and_its_gradient_are_exact_on_any_number_of_threads(shape, count, batch_dims, rng):
    """Whole numbers, so that sums are exact in any order; some indices lie outside."""
    x = rng.integers(-8, 8, shape).astype(np.float32)
    indices = rng.integers(-5, shape[batch_dims] + 5, (*shape[:batch_dims], count)).astype(np.int32)
    graph = al.Graph()
    source, places = graph.placeholder(x.shape), graph.placeholder(indices.shape, al.int32)
    taken = al.gather(source, places, axis=batch_dims, batch_dims=batch_dims)
    step = graph.compile([source, places], [taken, al.gradients(al.sum(taken * taken), [source])[0]])
    rows = x.reshape(-1, *shape[batch_dims:]), indices.reshape(-1, count)
    expected = np.zeros((len(rows[0]), count, *shape[batch_dims + 1 :])), np.zeros(rows[0].shape)
    for batch, (values, at) in enumerate(zip(*rows)):
        inside = (at >= 0) & (at < len(values))
        expected[0][batch][inside] = values[at[inside]]
        np.add.at(expected[1][batch], at[inside], 2 * values[at[inside]])
    for results in with_threads((1, 2, 3), lambda: step(x, indices)):
        for got, wanted in zip(results, expected):
            np.testing.assert_array_equal(got.ravel(), wanted.ravel())


@pytest.mark.parametrize("dtype", ["float32", "int16", "int64", "uint64"])
@pytest.mark.parametrize("shape, axis, k", [((3, 5000), 1, 700), ((2000, 7), 0, 40), ((5, 300), 1, 100)])
def test_order_is_that_of_numpy_on_any_number_of_threads(dtype, shape, axis, k, rng):
    """At sizes for each way of sorting; many elements are equal."""
    x = rng.integers(0 if dtype == "uint64" else -400, 400, shape).astype(dtype)
    x = x * np.asarray(2**40 if "64" in dtype else 1, x.dtype)
    graph = al.Graph()
    source = graph.placeholder(x.shape, dtype)
    wanted = al.argsort(source, axis=axis), al.top_k(source, k, axis=axis)[1], al.bottom_k(source, k, axis=axis)[0]
    step = graph.compile([source], wanted)
    up = np.argsort(x, axis, kind="stable")
    down = shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    first = (slice(None),) * axis + (slice(k),)
    for order, most, least in with_threads((1, 3), lambda: step(x)):
        np.testing.assert_array_equal(order, up)
        np.testing.assert_array_equal(most, down[first])
        np.testing.assert_array_equal(least, np.sort(x, axis)[first])


def test_running_totals_and_scattered_updates_do_not_depend_on_threads(rng):
    x, u = rng.normal(size=(40, 500, 300)).astype(np.float32), rng.normal(size=(40, 900, 300)).astype(np.float32)
    places = rng.integers(-1, 501, u.shape).astype(np.int32)
    graph = al.Graph()
    source, updates, at = graph.placeholder(x.shape), graph.placeholder(u.shape), graph.placeholder(u.shape, "int32")
    step = graph.compile(
        [source, updates, at],
        [
            al.cumsum(source, axis=1, reverse=True),
            al.put_along_axis(source, at, updates, 1, mode="add"),
            al.take_along_axis(source, at, 1),
        ],
    )
    results = with_threads((1, 2, 3), lambda: step(x, u, places))
    for others in results[1:]:
        for first, other in zip(results[0], others):
            np.testing.assert_array_equal(first, other)
    np.testing.assert_allclose(results[0][0], np.cumsum(x[:, ::-1].astype(float), 1)[:, ::-1], rtol=1e-5, atol=1e-4)
    inside = (places >= 0) & (places < 500)
    expected = np.take_along_axis(x, np.where(inside, places, 0), 1) * inside
    np.testing.assert_array_equal(results[0][2], expected)
    total = x.astype(float)
    i, _, j = np.ogrid[:40, :900, :300]
    np.add.at(total, (i, np.where(inside, places, 0), j), np.where(inside, u, 0))
    np.testing.assert_allclose(results[0][1], total, rtol=1e-5, atol=1e-4)
