"""What a profile says of a step, and the choice of threads."""

import json
import os
import re

import numpy as np
import pytest

import alloy as al
from alloy.graph import peaks
from alloy.measuring.profile import Kernel, Peaks, Profile
from kinds import HALVES
from running import program

pytestmark = pytest.mark.skipif(
    al.device().kind != "cpu", reason="others tell no kernels and take no number of threads"
)


@pytest.fixture
def graph(storage):
    return al.Graph(storage=storage)


@pytest.fixture
def step(graph, rng):
    """Of w <- w - 0.5 w, by a product that is worth a kernel: (executable, feed, w)."""
    model = al.nn.Sequential(al.nn.Dense(48), al.nn.ReLU(), al.nn.Dense(1))
    x = graph.placeholder((16, 32), name="x")
    loss = al.mean(al.square(model(x, training=True)))
    w = graph.variable(np.float32([8, -8]), name="w")
    updates = al.SGD(0.1).minimize(loss, [v for v in model.variables if v.trainable]) + [graph.assign(w, w * 0.5)]
    return graph.compile([x], [loss], updates), rng.standard_normal((16, 32), np.float32), w


def test_kernels(step):
    executable, x, w = step
    profile = executable.profile(x, runs=3)
    assert profile.runs == 3
    assert w.numpy().tolist() == [0.5, -0.5], "one run before those that count"
    products = [kernel for kernel in profile.kernels if kernel.kind == "matmul"]
    # Forward, and backward for both weights and for the hidden layer.
    sizes = {"dense_0": [2 * 16 * 32 * 48] * 2, "dense_1": [2 * 16 * 48 * 1] * 3}
    for layer, flops in sizes.items():
        assert [kernel.flops for kernel in products if kernel.layer == layer] == flops
    assert {kernel.phase for kernel in profile.kernels} == {"forward", "backward", "update"}
    updated = {kernel.layer for kernel in profile.kernels if kernel.kind == "sgd"}
    assert updated == {"dense_0", "dense_1"}
    ends = [kernel.end for kernel in profile.kernels]
    assert ends == sorted(ends)
    for before, kernel in zip(profile.kernels, profile.kernels[1:]):
        assert before.end <= kernel.begin <= kernel.end
    for kernel in profile.kernels:
        assert 0 < kernel.end - kernel.begin <= kernel.total * (1 + 1e-9)
    assert profile.seconds == pytest.approx(sum(kernel.total for kernel in profile.kernels) / 3)
    assert len(profile.times) == 3 and sum(profile.times) == pytest.approx(3 * profile.seconds)


@pytest.mark.parametrize("shape", [(2, 3, 20, 16), (3, 20, 16)], ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_an_attention_and_its_gradients_are_two_kernels(shape, masked, graph, rng):
    feeds = [graph.placeholder(shape) for _ in range(3)]
    mask = np.tri(20, dtype=bool) if masked else None
    y = al.scaled_dot_product_attention(*feeds, attn_mask=mask)
    step = graph.compile(feeds, [y, *al.gradients(al.sum(al.square(y)), feeds)])
    kernels = step.profile(*rng.standard_normal((3, *shape), np.float32), runs=1).kernels
    kinds = [kernel.kind for kernel in kernels]
    assert kinds.count("scaled_dot_product_attention") == kinds.count("scaled_dot_product_attention_gradient") == 1
    assert not {"softmax", "matmul"} & set(kinds)


@pytest.mark.parametrize("dtype", ("float32", *HALVES))
def test_a_layer_with_dropout_never_holds_the_weights_of_an_attention(dtype, graph, rng):
    x = graph.placeholder((2, 20, 16))
    layer = al.nn.MultiHeadAttention(2, 8, dropout=0.2, use_causal_mask=True)
    loss = al.sum(al.square(al.cast(layer(al.cast(x, dtype), training=True), "float32")))
    step = graph.compile([x], [loss], al.SGD(0.1).minimize(loss) + layer.updates)
    kernels = step.profile(rng.standard_normal((2, 20, 16), np.float32), runs=1).kernels
    kinds = [kernel.kind for kernel in kernels]
    assert kinds.count("scaled_dot_product_attention") == kinds.count("scaled_dot_product_attention_gradient") == 1
    assert all(kernel.shape[-2:] != (20, 20) for kernel in kernels if kernel.shape[:1] == (2,))


def test_an_executable_is_as_before_after_a_profile(step):
    executable, x, w = step
    executable.profile(x, runs=1)
    executable(x)
    assert w.numpy().tolist() == [1, -1]
    assert [kernel.kind for kernel in executable.profile(x=x, runs=1).kernels]
    with pytest.raises(ValueError, match=r"\[profile\] Expected a number of runs of 1 or more, got 0"):
        executable.profile(x, runs=0)
    with pytest.raises(ValueError, match=r"\[executable\] Expected 1 feeds"):
        executable.profile(runs=1)
    assert w.numpy().tolist() == [0.25, -0.25]


@pytest.mark.parametrize("by", ["layer", "phase", "kind", "kernel"])
def test_table(step, by):
    executable, x, _ = step
    profile = executable.profile(x, runs=2)
    lines = profile.table(by).splitlines()
    assert lines[0].split()[0] == by
    end = lines.index(next(line for line in lines if line.startswith("a run: ")))
    keys = [line.split("  ")[0].strip() for line in lines[1 : end - 1]]
    expected = {
        "layer": {"dense_0", "dense_1", "relu_0"},
        "phase": {"forward", "backward", "update"},
        "kind": {"matmul", "sgd"},
        "kernel": {"matmul (16, 48)", "sgd (32, 48)"},
    }[by]
    assert expected <= set(keys)
    calls = [int(line[len(max(keys + ["all", by], key=len)) :].split()[0]) for line in lines[1:end]]
    assert sum(calls[:-1]) == calls[-1] == len(profile.kernels)
    median = re.fullmatch(r"a run: median ([\d.]+) ms, quartiles ([\d.]+) and ([\d.]+) ms, of 2", lines[end])
    low, middle, high = np.quantile(profile.times, [0.25, 0.5, 0.75])
    assert [float(number) for number in median.groups()] == pytest.approx(
        [1e3 * middle, 1e3 * low, 1e3 * high], abs=6e-4
    )
    assert all(len(line) <= 80 for line in lines)
    assert f"({len(keys) - 1} more)" in profile.table(by, most=1)


PEAKS = Peaks({"bfloat16": 4e12, "float32": 1e12}, ((1000, 1e-6), (5000, 2e-6), (10_000, 4e-6)))


@pytest.mark.parametrize(
    ("dtype", "flops", "moved", "seconds"),
    [
        ("float32", 8_000_000, 1000, 8e-6),
        ("bfloat16", 8_000_000, 1000, 2e-6),
        ("", 8_000_000, 1000, 8e-6),
        ("float32", 0, 10, 1e-6),  # no kernel is faster than the smallest copy
        ("float32", 0, 3000, 1.5e-6),
        ("float32", 1_000_000, 20_000, 8e-6),
    ],
)
def test_a_kernel_is_compared_with_a_product_and_a_copy(dtype, flops, moved, seconds):
    kernel = Kernel("", "matmul", (2, 2), dtype, flops, moved, total=4e-5, begin=0.0, end=1e-5)
    assert PEAKS.seconds(kernel) == pytest.approx(seconds)
    row = Profile((kernel,), (2e-5, 2e-5), PEAKS).table("kind").splitlines()[1]
    assert row.split()[-1] == f"{100 * seconds / 2e-5:.0f}"


def test_peaks_are_measured_once_in_the_types_of_the_products(graph, rng):
    x = graph.placeholder((32, 32))
    steps = [graph.compile([x], [al.cast(y @ y, "float32")]) for y in (x, al.cast(x, "float16"))]
    first, second = (step.profile(rng.standard_normal((32, 32), np.float32), runs=1) for step in steps)
    assert [kernel.dtype for kernel in first.kernels if kernel.flops] == ["float32"]
    assert first.peaks.flops.keys() == {"float32"} and first.peaks.flops["float32"] > 0
    # Processors without units for two bytes convert the factors.
    (dtype,) = {kernel.dtype for kernel in second.kernels if kernel.kind in ("matmul", "fused") and kernel.flops}
    assert dtype in ("float16", "float32") and second.peaks.flops[dtype] > 0
    sizes = [size for size, _ in first.peaks.copies]
    assert sizes == sorted(sizes) and sizes[0] == 8192 and all(seconds > 0 for _, seconds in first.peaks.copies)
    compiled = al.stats()["compilations"]
    assert steps[0].profile(rng.standard_normal((32, 32), np.float32), runs=1).peaks == first.peaks
    assert al.stats()["compilations"] == compiled


def test_peaks_are_measured_with_the_memory_that_there_is(graph, rng):
    x = graph.placeholder((8, 8))
    step = graph.compile([x], [al.exp(x)])
    peaks._copies.cache_clear()
    al.set_memory_limit(al.device_stats()["allocated_bytes"] + 2**20)
    try:
        profile = step.profile(rng.standard_normal((8, 8), np.float32), runs=1)
    finally:
        al.set_memory_limit(None)
        peaks._copies.cache_clear()
    assert [size for size, _ in profile.peaks.copies] == [2**13, 2**16, 2**19]


def test_trace(step, tmp_path):
    executable, x, _ = step
    profile = executable.profile(x, runs=1)
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["args"]["kind"] for event in events] == [kernel.kind for kernel in profile.kernels]
    for event, kernel in zip(events, profile.kernels):
        assert event["ph"] == "X" and event["cat"] == kernel.phase
        assert event["ts"] == pytest.approx(kernel.begin * 1e6)
        assert event["dur"] == pytest.approx((kernel.end - kernel.begin) * 1e6)
        share = profile.peaks.seconds(kernel) / (kernel.end - kernel.begin)
        assert event["args"]["% of peak"] == pytest.approx(100 * share)


@pytest.fixture
def threads():
    before = al.threads()
    yield before
    al.set_threads(before)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_steps_follow_the_count_of_threads(graph, rng, threads, count):
    x_data = rng.standard_normal((32, 12, 12, 8), np.float32)
    model = al.nn.Sequential(al.nn.Conv2D(16, 3), al.nn.BatchNorm(), al.nn.ReLU(), al.nn.Flatten(), al.nn.Dense(10))
    x = graph.placeholder(x_data.shape)
    run = graph.compile([x], [model(x, training=True)])
    (expected,) = run(x_data)
    al.set_threads(count)
    assert al.threads() == count
    changed, again = run(x_data)[0], run(x_data)[0]
    np.testing.assert_allclose(changed, expected, rtol=1e-4, atol=1e-5)
    assert changed.tobytes() == again.tobytes()


def test_omp_num_threads_has_the_last_word():
    told = program("import alloy as al; print(al.threads())", env={**os.environ, "OMP_NUM_THREADS": "3"})
    assert told.stdout == "3\n"


def test_what_is_fused_is_said(graph, rng):
    x = graph.placeholder((8, 8), name="x")
    dense = al.nn.Sequential(al.nn.Dense(8), al.nn.LayerNorm(), al.nn.ReLU())
    profile = graph.compile([x], [dense(x)]).profile(rng.standard_normal((8, 8), np.float32), runs=1)
    fused = [kernel for kernel in profile.kernels if kernel.kind == "fused" and kernel.name]
    assert fused and all(kernel.label == f"fused {kernel.name.split('/')[-1]}" for kernel in fused)
    for by in ("kind", "kernel"):
        assert all(kernel.label in profile.table(by) for kernel in fused)


def test_powers_of_constants_are_squares_and_reciprocals(graph):
    """Forward, and a square's backward: 2 x."""
    x = graph.placeholder((8, 8))
    for y, kind in (x**2, "square"), (x**-1.0, "reciprocal"), (al.gradients(al.sum(x**2), [x])[0], "multiply"):
        (kernel,) = graph.compile([x], [y]).profile(np.ones((8, 8), np.float32), runs=1).kernels
        assert kernel.kind == kind


def test_what_belongs_to_no_layer_and_shares_below_100():
    graph = al.Graph()
    x = graph.placeholder((64, 64))
    profile = graph.compile([x], [al.sum(x @ x)]).profile(np.ones((64, 64), np.float32), runs=3)
    lines = profile.table("layer").splitlines()
    assert lines[1].startswith("(outside layers)")
    rows = lines[1 : lines.index(next(line for line in lines if line.startswith("a run: ")))]
    shares = [float(line.split()[-4]) for line in rows]
    assert all(share <= 100 for share in shares) and shares[-1] == 100
