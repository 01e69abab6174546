"""The CUDA device where there is no GPU: its texts, compiled by NVIDIA's compiler, and runs on an imitated GPU."""

import collections
import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

from imitated_gpu import needs_imitation, with_imitation
from quirks import ROOT
from running import program

pytestmark = needs_imitation
# Where each function of a text begins; those that others call come first.
FUNCTION = re.compile(r'(?=__device__ inline void inner_|extern "C" __global__)')
CALL = re.compile(r"  (inner_\w+)\(p \+")
# The options of csrc/portable/cuda/nvrtc.cpp.
OPTIONS = "--std=c++17 --ftz=true --prec-div=true --prec-sqrt=true --device-int128 -w".split()
OPTIONS.append("--device-as-default-execution-space")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """The texts of all ops: what functions share, and these functions."""
    folder = tmp_path_factory.mktemp("texts")
    environment = with_imitation(folder / "cache", IMITATED_CUDA_TEXTS=str(folder))
    subprocess.run(
        [sys.executable, str(ROOT / "tests/python/device/cuda_texts.py")], env=environment, check=True, timeout=300
    )
    found = collections.defaultdict(set)
    for path in folder.glob("*.cu"):
        begin, *functions = FUNCTION.split(path.read_text())
        found[begin].update(functions)
    assert sum(map(len, found.values())) > 400
    return {begin: different(functions) for begin, functions in found.items()}


def different(functions):
    """Without functions of merged launches that call, with other numbers, what the others call."""
    called, kept = set(), []
    for function in sorted(functions, key=len, reverse=True):
        calls = set(CALL.findall(function))
        if function.startswith("__device__") or not calls or not calls <= called:
            kept.append(function)
            called |= calls if function.startswith("extern") else set()
    return kept


@pytest.fixture(scope="module")
def nvrtc():
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else [pathlib.Path(place) for place in spec.submodule_search_locations]
    found = [path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.1[23]")]
    if not found:
        pytest.skip("NVRTC is not installed")
    for needed in found[0].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(needed))
    return ctypes.CDLL(str(found[0]))


def messages_of(nvrtc, text, architecture):
    """What the compiler says, or an empty text."""
    made, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(made), text.encode(), b"alloy.cu", 0, None, None) == 0
    # Code is only made, not improved, which would take three times the time.
    options = [option.encode() for option in (f"--gpu-architecture={architecture}", "--Ofast-compile=max", *OPTIONS)]
    nvrtc.nvrtcCompileProgram(made, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(made, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(made, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(made))
    return log.value.decode()


# Machine code for one architecture; for the others the compiler's first half, which reads the texts. Without
# ALL_ARCHITECTURES it reads those with instructions of their own.
@pytest.mark.parametrize("architecture", ["sm_90", "compute_80", "compute_100"])
def test_every_text_compiles(texts, nvrtc, architecture):
    for begin, functions in texts.items():
        if architecture != "sm_90" and "mma.sync" not in begin and "ALL_ARCHITECTURES" not in os.environ:
            continue
        text = begin + "".join(sorted(functions))
        assert messages_of(nvrtc, text, architecture) == ""


STEP = """
    import numpy as np
    import alloy as al
    assert al.device().kind == "cuda"
    graph = al.Graph()
    x = graph.placeholder((70, 40))
    w = graph.variable(np.ones((40, 3), np.float32))
    y = al.softmax(x @ w)
    loss = al.mean(al.square(y - 0.5))
    step = al.Adam(0.1).minimize(loss)
    train = graph.compile([x], [loss], updates=step)
    data = np.random.default_rng(0).normal(size=(70, 40)).astype(np.float32)
    losses = [float(train(data)[0]) for _ in range(5)]
    assert losses == sorted(losses)[::-1], losses
    print("end")
"""


def test_a_training_step_and_its_compiled_code_in_files(tmp_path):
    for _ in range(2):
        done = program(STEP, env=with_imitation(tmp_path), seconds=120)
        assert (done.stdout, done.stderr) == ("end\n", "")
        files = {path: path.read_bytes() for path in (tmp_path / "alloy").iterdir()}
        assert files
    # What is damaged is compiled again.
    damaged = next(iter(files))
    damaged.write_bytes(files[damaged][:-1])
    assert program(STEP, env=with_imitation(tmp_path), seconds=120).stdout == "end\n"
    assert {path: len(path.read_bytes()) for path in files} == {path: len(data) for path, data in files.items()}


LONG = """
    import numpy as np
    import alloy as al
    def computed(device, build, *arrays):
        graph = al.Graph(device=device)
        feeds = [graph.placeholder(array.shape) for array in arrays]
        return graph.compile(feeds, build(*feeds))(*arrays)
    x = np.random.default_rng(0).integers(-50, 50, (40, 600)).astype(np.float32)
    x.flat[::37] = np.nan  # equal numbers keep their order, and NaN comes last
    for cpu, cuda in zip(*(computed(device, lambda x: [al.argsort(x), al.argsort(x, axis=0)], x)
                           for device in ("cpu", "cuda"))):
        np.testing.assert_array_equal(cpu, cuda)
    # More updates than are looked through one by one, and indices outside.
    indices = np.arange(1800, dtype=np.int32) % 53 - 1
    def gathered(table):
        return al.gradients(al.sum(al.square(al.gather(table, table.graph.constant(indices), axis=0))), [table])
    table = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    (cpu,), (cuda,) = (computed(device, gathered, table) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(cpu, cuda, rtol=1e-5)
    def normalized(x, scale):
        y = (x - al.mean(x, axis=-1, keepdims=True)) * al.rsqrt(al.variance(x, axis=-1, keepdims=True) + 1e-5) * scale
        return [y, *al.gradients(al.sum(al.square(y)), [x, scale])]
    x, scale = np.nan_to_num(x), np.linspace(1, 2, 600, dtype=np.float32)
    for cpu, cuda in zip(*(computed(device, normalized, x, scale) for device in ("cpu", "cuda"))):
        np.testing.assert_allclose(cpu, cuda, rtol=1e-5, atol=1e-5 * abs(cpu).max())
    print("end")
"""


def test_long_rows_and_lines_and_many_updates(tmp_path):
    done = program(LONG, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_what_is_computed_in_one_kernel(tmp_path):
    command = [sys.executable, str(ROOT / "tests/python/device/cuda_fused.py")]
    done = subprocess.run(command, env=with_imitation(tmp_path), capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_inspect_counts_launches_and_bytes(tmp_path):
    """A step of the digits network takes 32 images of 8 x 8 and 32 classes, 8,320 bytes, and is one launch."""
    command = [sys.executable, "-m", "alloy.tools.cli", "inspect"]
    done = subprocess.run(
        command, env=with_imitation(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[lines.index(["work", "of", "a", "run"]) + 1] == ["launches", "1"], done
    assert ["to", "the", "GPU", "8.32", "kB"] in lines and ["from", "the", "GPU", "0", "B"] in lines


PRODUCTS = """
    import numpy as np
    import alloy as al
    def computed(a, b, **others):
        graph = al.Graph(**others)
        feeds = [graph.placeholder(array.shape) for array in (a, b)]
        return graph.compile(feeds, [feeds[0] @ feeds[1]])(a, b)[0]
    draw = np.random.default_rng(0).normal
    # Tiles of each size, with rows of four numbers and others.
    for rows, inner, columns in [(70, 36, 67), (70, 1001, 68), (70, 1030, 66), (1500, 20, 1300), (1408, 20, 1536)]:
        a, b = (draw(size=shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
        a[1, 2], a[2, 3], a[3, 0], b[0, 5] = np.inf, np.nan, 3.4e38, 0.25
        with np.errstate(invalid="ignore"):
            exact, sizes = a.astype(np.float64) @ b, np.abs(a).astype(np.float64) @ np.abs(b)
        exact[3, np.abs(exact[3]) > np.finfo(np.float32).max] = np.nan  # the order of the sum decides
        for precision, error in ((None, 1e-6), ("tf32", 1e-3)):
            y = computed(a, b, **({} if precision is None else {"precision": precision}))
            known = ~np.isnan(exact)
            assert np.isnan(y[2]).all() and np.array_equal(y[1], exact[1].astype(np.float32))
            known[1] = False
            assert (np.abs(y[known] - exact[known]) <= error * sizes[known]).all()
    print("end")
"""


def test_products_are_as_exact_as_floats(tmp_path):
    done = program(PRODUCTS, env=with_imitation(tmp_path), seconds=240)
    assert (done.stdout, done.stderr) == ("end\n", "")


ONE_LAUNCH = """
    import ctypes
    import numpy as np
    import alloy as al
    launches = ctypes.CDLL("libcuda.so.1").imitated_launches
    for layers, shape in (([al.nn.Dense(8), al.nn.ReLU(), al.nn.Dense(4)], (16, 6)),
                          ([al.nn.Conv2D(8, 3), al.nn.ReLU(), al.nn.Flatten(), al.nn.Dense(70)], (40, 8, 8, 3))):
        model, graph = al.nn.Sequential(*layers), al.Graph()
        x, y = graph.placeholder(shape), graph.placeholder(shape[:1], al.int32)
        loss = al.mean(al.losses.softmax_cross_entropy(model(x), y))
        step = graph.compile([x, y], [loss], al.Adam().minimize(loss))
        images, labels = np.ones(shape, np.float32), np.zeros(shape[0], np.int32)
        step(images, labels)
        before, known = launches(), al.device_stats()
        for _ in range(3): step(images, labels)
        step.submit(images, labels)[0].item()
        moved = {name: value - known[name] for name, value in al.device_stats().items()}
        assert launches() - before == moved["launches"] == 4, (launches() - before, moved)
        # Batches and losses cross the bus, and nothing else.
        assert moved["bytes_to_device"] == 4 * (images.nbytes + labels.nbytes), moved
        assert moved["bytes_from_device"] == 4 * 4 and moved["allocated_bytes"] == 0, moved
    print("end")
"""


def test_a_training_step_is_one_launch(tmp_path):
    done = program(ONE_LAUNCH, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


LOOPS = """
    import numpy as np
    import alloy as al
    def launched(step, *arrays):
        step(*(0 * array for array in arrays))
        before = al.device_stats()["launches"]
        results = step(*arrays)
        return results, al.device_stats()["launches"] - before
    rng = np.random.default_rng(0)
    x, big, w = (rng.normal(size=shape).astype(np.float32) for shape in ((3, 5), (60, 700), (700, 700)))
    w /= 30
    # Loops in a loop, the second one without a turn; launches of many blocks; what loops read before they begin, and
    # what is read behind them.
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape) for array in (x, big, w)]
    inner = lambda i, y: al.for_loop(1, 4, lambda j, z: al.tanh(z) * al.cast(i + j, "float32") + feeds[0], y)
    outer = lambda i, y: al.for_loop(5, 5, lambda j, z: z * 2.0, inner(i, y) * 0.5)
    y = al.for_loop(0, 4, outer, feeds[0] * 2.0)
    z = al.for_loop(0, 3, lambda i, z: al.tanh(z @ feeds[2]) + feeds[1], feeds[1] - 1.0)
    sums, rows = al.scan(lambda carry, row: (carry + row, carry * row), feeds[0][0], feeds[0])
    results, launches = launched(graph.compile(feeds, [y + 1.0, z, al.sum(z), sums, rows]), x, big, w)
    inputs = [array.astype(np.float64) for array in (x, big, w)]
    exact, expected = inputs[0] * 2, inputs[1] - 1
    for i in range(4):
        for j in range(1, 4): exact = np.tanh(exact) * (i + j) + inputs[0]
        exact = exact * 0.5
    for i in range(3): expected = np.tanh(expected @ inputs[2]) + inputs[1]
    before = np.concatenate([inputs[0][:1], inputs[0][:1] + np.cumsum(inputs[0], axis=0)])
    wanted = [exact + 1, expected, expected.sum(), before[3], before[:3] * inputs[0]]
    for result, one in zip(results, wanted): np.testing.assert_allclose(result, one, rtol=2e-4, atol=2e-5)
    assert launches == 1, launches
    # Only the loop reads a feed.
    graph = al.Graph()
    feed = graph.placeholder(w.shape)
    y = al.for_loop(0, 2, lambda i, y: y @ feed, graph.constant(np.ones((2, 700), np.float32)))
    (result,), launches = launched(graph.compile([feed], [y]), w)
    np.testing.assert_allclose(result, np.ones((2, 700)) @ inputs[2] @ inputs[2], rtol=1e-4, atol=1e-4)
    assert launches == 1, launches
    # The host counts where only a run knows how often, and very long loops.
    for count, known in ((7, False), (10_001, True)):
        graph = al.Graph()
        n = graph.placeholder((), al.int32)
        begin = graph.constant([2.0, 3.0]) + al.cast(n, "float32")
        y = al.for_loop(0, count if known else n, lambda i, y: y + 1.0, begin)
        (result,), launches = launched(graph.compile([n], [y]), np.int32(count))
        assert launches > count and result.tolist() == [2 * count + 2, 2 * count + 3], (launches, result)
    # Every turn draws other numbers.
    graph = al.Graph()
    draw = lambda state, _: al.random.normal(state, (4,))[::-1]
    _, drawn = al.scan(draw, graph.constant(al.random.state(1)), length=6)
    (numbers,), launches = launched(graph.compile([], [drawn]))
    assert launches == 1 and len(np.unique(numbers)) == 24, (launches, numbers)
    # Several steps in one launch equal as many launches.
    images, labels = rng.normal(size=(5, 16, 6)).astype(np.float32), rng.integers(0, 4, (5, 16)).astype(np.int32)
    outcomes = []
    for together in (None, 5):
        graph, model = al.Graph(), al.nn.Sequential(al.nn.Dense(8), al.nn.BatchNorm(), al.nn.ReLU(), al.nn.Dense(4))
        x, y = graph.placeholder((16, 6)), graph.placeholder((16,), al.int32)
        loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
        step = graph.compile([x, y], [loss], al.Adam(0.1).minimize(loss) + model.updates, steps=together)
        if not outcomes: first = graph.read_variables(graph.variables)
        else: graph.assign_variables(graph.variables, first)
        before = al.device_stats()["launches"]
        if together: losses = step(images, labels)[0]
        else: losses = np.stack([step(*batch)[0] for batch in zip(images, labels)])
        assert al.device_stats()["launches"] - before == (1 if together else 5)
        outcomes.append([losses, *graph.read_variables(graph.variables)])
    for one, other in zip(*outcomes): np.testing.assert_array_equal(one, other)
    print("end")
"""


def test_a_loop_of_known_length_is_one_launch(tmp_path):
    done = program(LOOPS, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


CONDITIONALS = """
    import numpy as np
    import alloy as al
    rng = np.random.default_rng(0)
    graph = al.Graph()
    x, wide = graph.placeholder((6, 5)), graph.placeholder((90, 96))
    w, count = graph.variable(np.ones((5, 5), np.float32)), graph.variable(np.zeros((), np.float32))
    positive, is_large = al.sum(x) > 0, al.max(x) > 1.0
    y = al.cond(positive, lambda: al.tanh(x @ w), lambda: x * 2.0 - 1.0)
    z = al.cond(is_large, lambda: al.cond(al.min(x) < -1.0, lambda: y + 1.0, lambda: y - 1.0), lambda: y * 3.0)
    sums = lambda: al.broadcast_to(al.sum(wide, axis=1), (90, 90))
    square = al.cond(is_large, lambda: wide @ al.transpose(wide), sums)
    turns = al.for_loop(0, 3, lambda i, v: al.cond(al.sum(v) > 9, lambda: v - 4.0, lambda: v + 1.0 + x), y)
    updates = [graph.assign(w, al.cond(positive, lambda: w * 1.5, lambda: w)), graph.assign(count, count + 1.0)]
    step = graph.compile([x, wide], [y, z, square, turns, al.sum(z)], updates=updates)
    now, taken = np.ones((5, 5)), set()
    for turn in range(16):
        a = (rng.normal(size=(6, 5)) * rng.uniform(0.2, 1.5) + rng.uniform(-0.3, 0.3)).astype(np.float32)
        b = rng.normal(size=wide.shape).astype(np.float32)
        before = al.device_stats()["launches"]
        results = step(a, b)
        assert al.device_stats()["launches"] - before == 1
        exact, other = a.astype(float), b.astype(float)
        of_y = np.tanh(exact @ now) if a.sum() > 0 else exact * 2 - 1
        of_z = (of_y + 1 if a.min() < -1 else of_y - 1) if a.max() > 1 else of_y * 3
        product = other @ other.T if a.max() > 1 else np.broadcast_to(other.sum(1), (90, 90))
        looped = of_y
        for _ in range(3): looped = looped - 4 if looped.sum() > 9 else looped + 1 + exact
        for result, wanted in zip(results, (of_y, of_z, product, looped, of_z.sum())):
            np.testing.assert_allclose(result, wanted, rtol=2e-4, atol=2e-4)
        if a.sum() > 0: now = now * 1.5
        np.testing.assert_allclose(w.numpy(), now, rtol=1e-5)
        taken.add((a.sum() > 0, a.max() > 1, a.min() < -1))
    assert count.numpy() == 16 and len(taken) > 4, taken
    print("end")
"""


def test_a_conditional_is_part_of_the_launch(tmp_path):
    done = program(CONDITIONALS, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


# More feeds and results than one launch copies, and than launches that become one do.
MANY = """
    import numpy as np
    import alloy as al
    graph, count = al.Graph(), 450
    feeds = [graph.placeholder((5,)) for _ in range(count)]
    variables = [graph.variable(np.zeros(5, np.float32)) for _ in range(count)]
    updates = [graph.assign(v, x) for v, x in zip(variables, feeds)]
    step = graph.compile(feeds, [x + 1.0 for x in feeds], updates=updates)
    for turn in range(1, 3):
        given = [np.full(5, 1000 * turn + i, np.float32) for i in range(count)]
        for x, y, v in zip(given, step(*given), graph.read_variables(variables)):
            np.testing.assert_array_equal(y, x + 1)
            np.testing.assert_array_equal(v, x)
    print("end")
"""


def test_a_step_of_hundreds_of_feeds(tmp_path):
    done = program(MANY, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


# A run may read its feeds while the run before is at work, but not those that this writes.
FED_WITH_RESULTS = """
    import numpy as np
    import alloy as al
    graph = al.Graph()
    x, unit = graph.placeholder((16, 16)), graph.variable(np.eye(16, dtype=np.float32))
    step = graph.compile([x], [(x @ unit) @ unit + 1.0])
    run = step.submit(np.zeros((16, 16), np.float32))
    for _ in range(2999):
        run = step.submit(run.pending())
    assert (run[0] == 3000).all(), run[0]
    print("end")
"""


def test_results_are_fed_to_the_next_run(tmp_path):
    done = program(FED_WITH_RESULTS, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


# NVRTC ends the process where memory lacks.
LIMITED = """
    import resource
    import numpy as np
    import alloy as al
    graph = al.Graph()
    x = graph.placeholder((4,))
    step, other = graph.compile([x], [x * 2.0]), graph.compile([x], [al.exp(x)])
    data = np.ones(4, np.float32)
    step(data)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * 4096
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + (100 << 20), limits[1]))
    try:
        other(data)
    except MemoryError as error:
        print(error)
    assert step(data)[0][0] == 2
    resource.setrlimit(resource.RLIMIT_AS, limits)
    assert abs(other(data)[0][0] - np.e) < 1e-5
"""


def test_where_memory_lacks_nothing_is_compiled(tmp_path):
    done = program(LIMITED, env=with_imitation(tmp_path), seconds=120)
    assert (done.stdout, done.stderr) == ("Memory is exhausted.\n", "")


FORKED = """
    import os
    import numpy as np
    import alloy as al
    graph = al.Graph()
    x = graph.placeholder((2,))
    step = graph.compile([x], [x + 1.0])
    step(np.float32([1, 2]))
    def another_graph():
        graph = al.Graph()
        graph.compile([], [graph.constant(1.0) + 1.0])()
    for work in (lambda: step(np.float32([1, 2])), another_graph):
        if os.fork() == 0:
            try:
                work()
            except al.DeviceError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
"""


def test_handlers_are_called_in_order_while_steps_are_in_flight(tmp_path):
    command = [ROOT / "build/editable/tests/facade_asynchronous", "steps_bounded_by_a_semaphore"]
    done = subprocess.run(command, env=with_imitation(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_forked_child_is_refused(tmp_path):
    done = program(FORKED, env=with_imitation(tmp_path), seconds=120)
    assert done.stdout.count("cannot be used in a forked child") == 2, done.stdout + done.stderr


GPUS = """
    import threading
    import numpy as np
    import alloy as al
    assert [(one.kind, one.number) for one in al.devices()] == [("cuda", 1), ("cuda", 0), ("cpu", 0)], al.devices()
    assert al.Graph()._device == "cuda:1" and al.device("cuda:0") == al.devices()[1] == al.device("Imitated GPU")
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(16, 6)).astype(np.float32), rng.integers(0, 4, 16).astype(np.int32)
    graphs, steps = [al.Graph(device=device) for device in ("cuda:0", "cuda:1", "cpu")], []
    for graph in graphs:
        model = al.nn.Sequential(al.nn.Dense(8), al.nn.ReLU(), al.nn.Dense(4))
        x, y = graph.placeholder((16, 6)), graph.placeholder((16,), al.int32)
        loss = al.mean(al.losses.softmax_cross_entropy(model(x), y))
        steps.append(graph.compile([x, y], [loss], al.Adam(0.1).minimize(loss)))
        graph.assign_variables(graph.variables, graphs[0].read_variables(graphs[0].variables))
    losses = [[] for _ in steps]
    def train(step, out):
        out += [step.submit(images, labels) for _ in range(20)]
    threads = [threading.Thread(target=train, args=pair) for pair in zip(steps, losses)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    first, second, on_cpu = [[float(submission[0]) for submission in of] for of in losses]
    assert first == second
    np.testing.assert_allclose(first, on_cpu, rtol=1e-5)
    # Steps of one GPU follow steps of another one, and take no memory of it.
    def doubled(device):
        graph = al.Graph(device=device)
        x = graph.placeholder((4,))
        return graph.compile([x], [x * 2.0])
    event, ones = al.Event(), np.ones(4, np.float32)
    queues = [al.Queue(device=device) for device in ("cuda:0", "cuda:1")]
    behind = doubled("cuda:1").submit(ones, queue=queues[1], wait_for=(event, 1))
    before = doubled("cuda:0").submit(ones, queue=queues[0], signal=(event, 1))
    assert behind[0].tolist() == before[0].tolist() == [2] * 4
    try: doubled("cuda:1").submit(before.pending(0))
    except ValueError as error: assert "is on Imitated GPU, but the graph is on Imitated GPU (1)" in str(error), error
    else: raise AssertionError("no error")
    print("end")
"""


def test_several_gpus_have_numbers(tmp_path):
    several = {"IMITATED_GPUS": "2", "ALLOY_DEVICE": "cuda:1"}
    done = program(GPUS, env=with_imitation(tmp_path) | several, seconds=120)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_a_gpu_that_is_not_there(tmp_path):
    code = "import alloy as al; print([(one.kind, one.number) for one in al.devices()])"
    done = program(code, env=with_imitation(tmp_path) | {"ALLOY_DEVICE": "cuda:1"})
    reason = "No GPU of compute capability 8.0 or later has this number."
    said = f"ALLOY_DEVICE is cuda:1, but there is no such device: {reason}\n"
    assert (done.stdout, done.stderr) == ("[('cpu', 0)]\n", said)


def test_the_cpu_stays_the_default(tmp_path):
    code = "import alloy as al; print(*(device.kind for device in al.devices()))"
    environment = with_imitation(tmp_path)
    assert program(code, env=environment).stdout == "cuda cpu\n"
    del environment["ALLOY_DEVICE"]
    assert program(code, env=environment).stdout == "cpu cuda\n"


def test_who_computes_on_the_cpu_never_asks_the_driver(tmp_path):
    code = """
    import os
    import alloy as al
    graph = al.Graph()
    x = graph.placeholder((2,))
    print(graph.compile([x], [x + 1.0])([1, 2])[0].tolist())
    print("libcuda" in open("/proc/self/maps").read(), [device.kind for device in al.devices()])"""
    environment = with_imitation(tmp_path)
    del environment["ALLOY_DEVICE"]
    assert program(code, env=environment).stdout == "[2.0, 3.0]\nFalse ['cpu', 'cuda']\n"


def test_without_a_driver(tmp_path):
    code = "import alloy as al; print(*(device.kind for device in al.devices()))"
    environment = with_imitation(tmp_path, LD_LIBRARY_PATH="")
    done = program(code, env=environment)
    if "cuda" in done.stdout:
        pytest.skip("there is a GPU")
    assert done.stdout == "cpu\n"
    assert done.stderr == "ALLOY_DEVICE is cuda, but there is no such device: The library libcuda.so.1 is missing.\n"
    del environment["ALLOY_DEVICE"]
    assert program(code, env=environment).stderr == ""


def test_a_thread_may_compile_while_the_process_ends(tmp_path):
    code = """
        import threading, time
        import numpy as np
        import alloy as al
        graph, gate = al.Graph(), al.Event()
        x, v = graph.placeholder((4,)), graph.variable(np.zeros(4, np.float32))
        step = graph.compile([x], [v + x], [graph.assign(v, v + 1.0)])
        step.submit(np.ones(4, np.float32), wait_for=(gate, 1))
        threading.Thread(target=v.numpy, daemon=True).start()  # compiles a graph that reads the variable
        time.sleep(0.1)
        print("end")
        """
    done = program(code, env=with_imitation(tmp_path), seconds=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
