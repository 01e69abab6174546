"""Looking at a graph before it runs: what verify refuses, stages, costs and descriptions."""

import itertools
import platform
import re
import sys

import numpy as np
import pytest

import alloy as al
from alloy.measuring import inspection
from alloy.messages.text import amount
from alloy.tools.demo import cnn
from kinds import PLANS_FOR_A_CPU, READS_HOST_MEMORY

LINE = re.compile(r"\[\w+\] .*; built at .*test_inspection\.py:\d+\.")


def mistakes(graph, *request):
    """The lines of the report, each of which says where."""
    with pytest.raises(ValueError) as raised:
        graph.verify(*request)
    lines = str(raised.value).splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    return lines


def training_step(storage="variable"):
    """The graph of the small network, its feeds, predictions and loss, and the updates of Adam."""
    graph = al.Graph(storage=storage)
    x, y = graph.placeholder((None, 8, 8, 1)), graph.placeholder((None,), al.int32)
    predictions = cnn()(x)
    loss = al.mean(al.losses.softmax_cross_entropy(predictions, y))
    return graph, (x, y), predictions, loss, al.Adam().minimize(loss)


# ---- verify ----


def test_a_graph_without_mistakes():
    graph = al.Graph()
    assert graph.verify() is None
    x, unused = graph.placeholder((None, 3)), graph.placeholder((2,))
    v = graph.variable(np.ones((3, 2), np.float32))
    y = x @ v
    update = graph.assign(v, v * 2)
    v.assign(np.zeros((3, 2), np.float32))
    for request in (
        [[x, unused]],
        [[x], [y]],
        [[], [], [update]],
        [[x, unused], [y, v], [update]],
        [{x: (5, 3), unused: None}],
        [{x: None}, [y]],
        [{x: [None, 3]}, [y], [update]],
    ):
        assert graph.verify(*request) is None


def test_every_mistake_is_reported_at_its_line():
    graph, other, first = al.Graph(), al.Graph(), sys._getframe().f_lineno
    x = graph.placeholder((None, None), name="x")
    fed = graph.placeholder((None, 2), name="fed")
    unfed = graph.placeholder((), al.int32, name="unfed")
    w = graph.variable(np.float32([[1, np.nan, 2], [np.inf, 3, 4]]), "w")
    least = graph.variable(np.float32([np.inf, np.nan]), "least", trainable=False)
    product, total = x @ w, x + fed
    everything = [product, total, unfed, least, w]
    foreign = other.variable(0.0, "foreign")
    lines = mistakes(graph, {x: (4, 3), fed: (5, 3)}, [*everything, foreign])
    expected = [
        (r"\[variable\] The fetch belongs to another graph", 8),
        (r"\[variable\] Expected finite numbers as the initial value of 'w', got 2 of 6 elements that .*", 4),
        (r"\[variable\] Expected numbers as the initial value of 'least', got 1 of 2 elements that .*", 5),
        (r"\[placeholder\] The placeholder 'fed' has shape \(\?, 2\) but was fed shape \(5, 3\)", 2),
        (r"\[placeholder\] The placeholder 'unfed' of shape \(\) is needed but was not fed", 3),
        (r"\[matmul\] Inner dimensions differ: 3 of shape \(4, 3\) and 2 of shape \(2, 3\)", 6),
        (r"\[add\] Shapes \(4, 3\) and \(\?, 2\) do not broadcast", 6),
    ]
    assert len(lines) == len(expected), lines
    for line, (wanted, offset) in zip(lines, expected):
        assert re.fullmatch(rf"{wanted}; built at .*:{first + offset}\.", line), line
    assert mistakes(graph, [w], [w])[-1].startswith("[variable] Only a placeholder can be fed")
    assert "was fed twice" in mistakes(graph, [x, x], [x])[0]
    assert len(mistakes(graph)) == 5, "three placeholders without a feed, two variables"


def test_verify_accepts_what_runs():
    """Whatever the shapes: a step that verify accepts runs, and one that fails says one of verify's lines."""
    graph = al.Graph()
    x, y = graph.placeholder((None, None), name="x"), graph.placeholder((None,), name="y")
    w = graph.variable(np.ones((3, 2), np.float32))
    fours = al.reshape(x @ w + al.expand_dims(y, axis=-1), (-1, 4))
    update = graph.assign(w, al.gradients(al.sum(fours), [w])[0])
    step = graph.compile([x, y], [fours], [update])
    accepted = 0
    for rows, columns, count in itertools.product((0, 1, 2, 3, 4), (3, 5), (0, 1, 2, 4)):
        shapes = (rows, columns), (count,)
        try:
            step(*(np.ones(shape, np.float32) for shape in shapes))
        except ValueError as error:
            assert re.sub(", where .* are fed", "", str(error)) in mistakes(
                graph, dict(zip((x, y), shapes)), [fours], [update]
            )
        else:
            graph.verify(dict(zip((x, y), shapes)), [fours], [update])
            accepted += 1
    assert accepted == 6, "an even number of rows, of x, of y or of both"


def test_a_batch_that_does_not_fit_the_labels():
    graph, (x, y), _, loss, updates = training_step()
    assert graph.verify({x: (32, 8, 8, 1), y: (32,)}, [loss], updates) is None
    lines = mistakes(graph, {x: (32, 8, 8, 1), y: (16,)}, [loss], updates)
    assert lines[0].startswith(
        "[softmax_cross_entropy] The source has shape (32, 10) but the labels have shape (16, 10)"
    )


@pytest.mark.parametrize(
    "request_, says",
    [
        (lambda g, x: ([x], [1.0]), r"^\[verify\] Expected tensors to feed and fetch, got float"),
        (lambda g, x: ({x: ("a",)},), r"^\[verify\] Expected a shape of integers and None"),
        (lambda g, x: ([x], [x], [x]), r"^\[verify\] Expected updates, got Tensor"),
    ],
)
def test_what_verify_cannot_be_asked(request_, says):
    graph = al.Graph()
    with pytest.raises(TypeError, match=says):
        graph.verify(*request_(graph, graph.placeholder((None,))))


# ---- stages ----


def test_stages():
    graph, (x, y), _, loss, updates = training_step()
    for request in ([], [[loss]], [[loss], updates]):
        stages = graph.stages(*request)
        stage_of = {}
        for k, stage in enumerate(stages):
            assert stage
            for op in stage:
                needs = [stage_of[operand] for operand in op.operands]  # a KeyError where one comes later
                assert op.stage == k == max(needs, default=-1) + 1, op.kind
            stage_of |= {result: k for op in stage for result in op.results}
        assert loss in stage_of and set(graph.variables[:8]) <= set(stage_of)
    ops = [op for stage in stages for op in stage]
    assert sum(op.kind == "assign" for op in ops) == len(updates)
    assert [op.kind for op in graph.stages([x * 2])[1]] == ["multiply"]
    assert al.Graph().stages() == []


# ---- costs and descriptions ----


def test_costs_follow_the_batch():
    """Of the layers of the small network by their formulas; an op costs nothing known before the batch is."""
    graph = al.Graph()
    x = graph.placeholder((None, 8, 8, 1))
    logits = cnn()(x)
    for n in (1, 32):
        ops = graph.inspect({x: (n, 8, 8, 1)}, [logits])
        assert [op.flops for op in ops if op.kind == "conv2d"] == [2 * n * 64 * 16 * 9, 2 * n * 64 * 32 * 9 * 16]
        assert [op.flops for op in ops if op.kind == "matmul"] == [2 * n * 64 * 512, 2 * n * 10 * 64]
        assert [op.flops for op in ops if op.kind == "relu"] == [n * 64 * 16, n * 64 * 32, n * 64]
        matmul = next(op for op in ops if op.kind == "matmul")
        assert matmul.shapes == [(n, 64)] and matmul.bytes == 4 * (n * 512 + 512 * 64 + n * 64)
        assert matmul.results[0].shape == (None, 64) and isinstance(matmul.operands[1], al.Variable)
        assert re.search(r"test_inspection\.py:\d+$", matmul.location)
    unknown = {op.kind for op in graph.inspect([], [logits]) if op.flops is None}
    assert unknown == set("placeholder conv2d add relu max_pool2d reshape matmul".split())
    with pytest.raises(ValueError, match=r"has shape \(\?, 8, 8, 1\) but was fed shape \(3, 8, 8, 2\)"):
        graph.inspect({x: (3, 8, 8, 2)}, [logits])


def test_costs_of_resnet50():
    """Two operations for each weight of a convolution or product and each position that it is used at."""
    model = al.models.resnet50()
    ops = model.graph.inspect(fetches=[model(model.graph.placeholder((2, 32, 32, 3)))])
    uses, channels = 13 * 13 * 7 * 7 * 3 * 64, 64
    for filters, side, count in (64, 6, 3), (128, 3, 4), (256, 2, 6), (512, 1, 3):
        for block in range(count):
            shortcut = 4 * filters * channels if block == 0 else 0
            uses += side**2 * (channels * filters + 9 * filters**2 + 4 * filters**2 + shortcut)
            channels = 4 * filters
    found = sum(op.flops for op in ops if op.kind in ("conv2d", "matmul"))
    assert found == 2 * 2 * (uses + 2048 * 10)


def test_the_table_of_layers():
    graph = al.Graph()
    x = graph.placeholder((2, 3))
    block = al.nn.Residual(al.nn.Sequential(al.nn.Dense(5), al.nn.ReLU(), al.nn.Dense(3)), al.nn.Dense(3))
    y = al.sum(al.nn.Sequential(al.nn.ReLU(), block, al.nn.ReLU())(x))
    lines = inspection.by_layer(graph.inspect(fetches=[y])).splitlines()
    assert [line.split() for line in lines] == [
        row.split()
        for row in [
            "layer output parameters flops",
            "relu_0 (2, 3) 0 6",
            "residual_0 (2, 3) 0 6",
            f"residual_0/sequential_0/dense_0 (2, 5) 20 {2 * 2 * 15 + 10}",
            "residual_0/sequential_0/relu_0 (2, 5) 0 10",
            f"residual_0/sequential_0/dense_1 (2, 3) 18 {2 * 2 * 15 + 6}",
            f"residual_0/dense_0 (2, 3) 12 {2 * 2 * 9 + 6}",
            "relu_1 (2, 3) 0 6",
            "(outside layers) () 0 6",
            f"total 50 {6 + 6 + 70 + 10 + 66 + 42 + 6 + 6}",
        ]
    ]
    assert len({len(line) for line in lines}) == 1, "numbers end at the right"


def test_describe():
    graph = al.Graph()
    x = graph.placeholder((None, 30), name="x")
    w = graph.variable(np.ones((30, 50), np.float32), "w")
    seen = graph.variable(np.zeros(2, np.int64), "seen", trainable=False)
    y = al.relu(x @ w)
    updates = [graph.assign(seen, seen + 1)]
    # matmul 2 * 4 * 50 * 30, relu 4 * 50, add 2.
    assert (
        graph.describe({x: (4, 30)}, [y], updates)
        == """\
8 ops in 3 stages
placeholders
  x  float32(4, 30)
variables
  w     float32(30, 50)  6 kB
  seen  int64(2,)        16 B  not trainable
parameters: 1,500 (6 kB)
other state: 2 (16 B)
flops: 12.2 k
ops
  variable     2
  placeholder  1
  constant     1
  matmul       1
  add          1
  relu         1
  assign       1"""
    )
    assert "flops: 2, without 3 ops of unknown shape" in graph.describe([x], [y], updates)
    assert graph.describe(fetches=[y]).startswith("4 ops in 3 stages\nplaceholders\n  x  float32(?, 30)\n")
    assert al.Graph().describe().startswith("0 ops in 0 stages")


# ---- memory ----


def allocated():
    stats = al.device_stats()
    if stats is None:
        pytest.skip("the device does not count")
    return stats["allocated_bytes"]


@pytest.mark.parametrize("storage, arrays", [("variable", 1), ("buffers", 2)])
def test_the_memory_plan_is_what_the_device_allocates(storage, arrays, rng):
    graph, (x, y), predictions, loss, updates = training_step(storage)
    before = allocated()
    step = graph.compile([x, y], [loss, predictions], updates)
    plan = step.memory_plan((32, 8, 8, 1), [32])
    parameters = 9 * 16 + 16 + 9 * 16 * 32 + 32 + 512 * 64 + 64 + 64 * 10 + 10
    state = 4 * (3 * parameters + 2)
    assert plan.variables == arrays * (state + 4) + 4, "parameters, their moments, two corrections, step and rate"
    assert plan.feeds == 4 * (32 * 64 + 32) and plan.results == 4 * (1 + 320)
    taken = plan.variables + plan.feeds + plan.results + plan.arena + plan.scratch
    assert plan.total == taken + plan.constants
    held = allocated() - before - plan.variables  # constants, by a device that does not read them in the host's memory
    assert held == 0 if al.device().kind != "cuda" else plan.constants <= held < plan.constants + (16 << 8)
    batch = rng.random((32, 8, 8, 1), np.float32), np.zeros(32, np.int32)
    for _ in range(3):
        step(*batch)
    assert allocated() - before == taken + held, "the first run makes room for everything, the others for nothing"
    assert step.memory_plan(*batch) == plan and allocated() - before == taken + held
    sizes = [value.bytes for value in plan.at_peak]
    assert sizes == sorted(sizes, reverse=True) and sum(sizes) == sum(plan.purposes.values()) <= plan.arena
    assert sum(sizes) >= 4 * 512 * 64 + 4 * 32 * 512, "the largest gradient and what it was made of"
    assert all(value.bytes == 4 * np.prod(value.shape) for value in plan.at_peak)
    assert plan.layouts == 0, "weights that every step changes stay as they are"
    small = step.memory_plan((1, 8, 8, 1), (1,))
    assert small.variables == plan.variables and small.feeds == 4 * 65 and small.arena < plan.arena


@PLANS_FOR_A_CPU
def test_weights_that_no_run_changes_are_kept_in_the_order_of_their_kernels():
    model = al.models.resnet18()
    x = model.graph.placeholder((1, 32, 32, 3))
    before = allocated()
    predict = model.graph.compile([x], [model(x, training=False)])
    plan = predict.memory_plan()
    # Kernels for vectors of NEON take weights as they are.
    assert plan.layouts >= 4 * 9 * 512 * 512 or platform.machine() == "aarch64", "the largest convolution's"
    taken = plan.results + plan.arena + plan.scratch + plan.layouts
    assert allocated() - before == plan.variables and plan.total == taken + plan.variables + plan.feeds + plan.constants
    predict(al.empty((1, 32, 32, 3)))  # memory that the device reads where it lies
    predict(al.empty((1, 32, 32, 3)))
    copied = plan.feeds if plan.feeds < 32 << 10 else 0
    assert allocated() - before == plan.variables + taken + copied


@READS_HOST_MEMORY
def test_feeds_that_are_read_where_they_lie_take_no_memory_of_the_device():
    before = allocated()
    graph = al.Graph()
    x, y = graph.placeholder((64, 300)), graph.placeholder((300,))
    step = graph.compile([x, y], [al.sum(x * y)])
    plan = step.memory_plan()
    own = plan.results + plan.arena + plan.scratch
    assert plan.feeds == 4 * 65 * 300 and allocated() == before
    memory, weights = al.empty((64 * 300 + 1,)), np.ones(300, np.float32)
    memory[...] = 1
    at_page, off_page = memory[:-1].reshape(64, 300), memory[1:].reshape(64, 300)
    for batch, copies in ((at_page, 0), (at_page, 0), (off_page, 1), (at_page, 1), (off_page, 1)):
        step(batch, weights)
        assert allocated() - before == own + copies * batch.nbytes + weights.nbytes


@PLANS_FOR_A_CPU
def test_what_lives_at_the_peak():
    """The ReLU takes the place of its operand; it and the product behind it are more than those before."""
    allocated()
    graph = al.Graph()
    x = graph.placeholder((100, 10))
    layers = al.nn.Dense(10, use_bias=False), al.nn.ReLU(), al.nn.Dense(20, use_bias=False)
    plan = graph.compile([x], [al.sum(al.nn.Sequential(*layers)(x))]).memory_plan()
    assert [(value.name, value.shape, value.bytes, value.purpose) for value in plan.at_peak] == [
        ("dense_1/matmul", (100, 20), 8000, "activations"),
        ("relu_0/relu", (100, 10), 4000, "activations"),
    ]
    assert plan.arena == 125 * 64 + 63 * 64, "each rounded up to lines of the cache"


def test_purposes_of_a_training_step():
    model = al.models.resnet18()
    x, y = model.graph.placeholder((4, 32, 32, 3)), model.graph.placeholder((4,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    allocated()
    step = model.graph.compile([x, y], [loss], al.SGD(0.1).minimize(loss) + model.updates)
    plan = step.memory_plan()
    purposes = plan.purposes
    assert purposes["gradients"] > 0 and purposes["activations"] > 0
    assert all(value.name for value in plan.at_peak[:10])
    text = str(plan)
    assert amount(plan.total, "B") in text and amount(purposes["gradients"], "B") in text
    for value in plan.at_peak[:10]:
        assert value.name in text and amount(value.bytes, "B") in text


@pytest.mark.parametrize(
    "feeds, says",
    [
        ([], r"known shapes of 1 feeds, got \[\(None, 3\)\]"),
        ([(1, 3), (1, 3)], "1 feeds"),
        ([(1, 4)], r"\(\?, 3\) but was fed shape \(1, 4\)"),
        ([None], "known shapes"),
    ],
)
def test_what_memory_plan_cannot_be_asked(feeds, says):
    graph = al.Graph()
    x = graph.placeholder((None, 3))
    step = graph.compile([x], [x * 2])
    with pytest.raises(ValueError, match=says):
        step.memory_plan(*feeds)


def test_amounts_for_people():
    for count, text in {
        0: "0",
        7: "7",
        999: "999",
        1000: "1 k",
        12_202: "12.2 k",
        999_499: "999 k",
        999_600: "1 M",
        4_114_000_000: "4.11 G",
        283_000_000: "283 M",
        10**21: "1e+03 E",
    }.items():
        assert amount(count) == text.strip() and amount(count, "B") == (text + "B" if " " in text else text + " B")


def test_tables_fit_into_80_columns():
    rows = [("stage0/" * 20 + "end", "1"), ("short", "23,528,522")]
    lines = inspection.table(rows, numbers=(1,))
    assert [len(line) for line in lines] == [80, 80] and lines[0].endswith("e0/end           1") and "…" in lines[0]
    assert inspection.table([("a", "b")]) == ["  a  b"]


def test_values_that_are_alike_have_one_line():
    stored = inspection.Stored("optimizer/rate", "subtract", (), 4)
    plan = inspection.MemoryPlan(0, 0, 0, 0, 64, 0, 0, (inspection.Stored("a/b", "add", (2,), 8), stored, stored))
    assert str(plan).splitlines()[-3:] == [
        "the largest of 3 values at the peak",
        "  8 B  (2,)  a/b",
        "  4 B  ()    optimizer/rate, 2 times",
    ]
