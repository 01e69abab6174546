"""Steps in files: what is exported, loaded and run elsewhere gives the same bits; what is no such file is refused."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import alloy as al
from alloy.tools.demo import cnn
from kinds import HALVES, HAS_PACKAGES
from peak import peak_kilobytes
from running import at_once, program

pytestmark = pytest.mark.skipif(not HAS_PACKAGES, reason="That system has no packages.")

RUN_ELSEWHERE = """
import sys
import numpy as np
import alloy as al
step = al.load_executable(sys.argv[1])
inputs = np.load(sys.argv[2])
for _ in range(int(sys.argv[4])):
    results = step(dict(inputs))
np.savez(sys.argv[3], *(each.astype(np.float32) if each.dtype.name == "bfloat16" else each for each in results))
"""


def elsewhere(path, inputs, folder, times=1):
    """What a process of its own gets from the file."""
    np.savez(folder / "in.npz", **inputs)
    program = [sys.executable, "-c", RUN_ELSEWHERE, path, folder / "in.npz", folder / "out.npz", times]
    subprocess.run([str(part) for part in program], check=True, timeout=120)
    return list(np.load(folder / "out.npz").values())


def same(one, other):
    return len(one) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other)
    )


def regression(storage="variable", rows=8, steps=None):
    """(graph, step) of Adam on a line; its feeds are not in the order of their creation."""
    graph = al.Graph(storage=storage)
    x, y = graph.placeholder((rows, 3), name="x"), graph.placeholder((rows, 1), name="y")
    w = graph.variable(al.init.glorot_uniform((3, 1), seed=0), name="w")
    loss = al.identity(al.mean(al.square(x @ w - y)))
    step = graph.compile([y, x], [loss, x, w], al.Adam(0.1).minimize(loss), steps=steps)
    return graph, step


def points(rng, rows=8, front=()):
    x = rng.normal(size=(*front, rows, 3)).astype(np.float32)
    return {"y": x[..., :1] * 2 - x[..., 1:2], "x": x}


def test_a_step_goes_on_in_another_process(storage, rng, tmp_path):
    _, step = regression(storage)
    batch = points(rng)
    for _ in range(3):
        step(batch)
    path = tmp_path / "step.mpsgraphpackage"
    step.export(path)
    (first,) = [elsewhere(path, batch, tmp_path)]
    assert same(first, step(batch))
    assert same(elsewhere(path, batch, tmp_path, times=3), [step(batch) for _ in range(2)][-1])


def test_names_and_shapes(tmp_path, rng):
    _, step = regression(rows=None)
    with pytest.raises(
        ValueError, match=r"^\[\w+\] The shape \(.*\) is open, with which .*; built at .*packages.py:\d+\.$"
    ):
        step.export(tmp_path / "open")
    step.export(tmp_path / "step", (8, 1), (8, 3))
    loaded = al.load_executable(tmp_path / "step")
    assert [(feed.name, feed.shape, feed.dtype) for feed in loaded.feeds] == [
        ("y", (8, 1), "float32"),
        ("x", (8, 3), "float32"),
    ]
    assert [fetch.shape for fetch in loaded.fetches] == [(), (8, 3), (3, 1)]
    assert [fetch.name for fetch in loaded.fetches][1:] == ["x", "w"]
    assert repr(loaded).startswith("<LoadedExecutable (y: float32(8, 1), x: float32(8, 3)) -> (")
    batch = points(rng)
    twin = al.load_executable(tmp_path / "step")
    assert same(loaded(batch["y"], x=batch["x"]), twin(**batch)) and same(loaded(batch), twin(batch["y"], batch["x"]))


def test_arrays_are_taken_as_steps_take_them(tmp_path):
    graph = al.Graph()
    x, n = graph.placeholder((None, 2), name="x"), graph.placeholder((None,), dtype="int32", name="n")
    graph.compile([x, n], [x + 1, n + 1, al.cast(n, "bool")]).export(tmp_path / "step")
    step = al.load_executable(tmp_path / "step")
    with pytest.warns(UserWarning, match="float64"):
        results = step(np.ones((3, 2)), np.arange(3))  # int64 whose numbers fit
    assert [result.dtype.name for result in results] == ["float32", "int32", "bool"]
    assert results[0].tolist() == [[2, 2]] * 3 and results[1].tolist() == [1, 2, 3]
    strided = np.zeros((4, 4), np.float32)[::2, ::2]
    assert step(strided, np.int32([5, 6]))[0].shape == (2, 2)
    assert step([[1, 2]], [3])[1].tolist() == [4]


@pytest.mark.parametrize(
    "arrays, by_name, error, says",
    [
        (1, {}, ValueError, r"Expected feeds for 'x' float32\(\?, 2\), 'n' int32\(\?,\), got 1 of them;"),
        (0, {"x": 0, "z": 0}, ValueError, r"got 1 of them and 'z';"),
        (2, {"n": 1}, ValueError, r"got 2 of them and 'n';"),
        (
            [np.zeros((3, 3), np.float32), np.zeros(3, np.int32)],
            {},
            ValueError,
            r"has shape \(\?, 2\) but was fed shape \(3, 3\); at",
        ),
        ([np.zeros((3, 2), np.int32), np.zeros(3, np.int32)], {}, TypeError, r"'x' is float32 but was given"),
        (
            [np.zeros((0, 2), np.float32), np.zeros(0, np.int32)],
            {},
            ValueError,
            r"'x' was fed shape \(0, 2\), .* no elem",
        ),
        ([np.zeros((3, 2), np.float32), np.float32([0.5])], {}, TypeError, r"'n' is int32"),
        ([np.zeros((3, 2), np.float32), np.zeros(4, np.int32)], {}, ValueError, r"\(3, 2\).*\(4, 1\)"),
    ],
)
def test_what_a_call_cannot_take(arrays, by_name, error, says, tmp_path):
    graph = al.Graph()
    x, n = graph.placeholder((None, 2), name="x"), graph.placeholder((None,), dtype="int32", name="n")
    graph.compile([x, n], [x + al.cast(al.expand_dims(n, 1), "float32")]).export(tmp_path / "step")
    step = al.load_executable(tmp_path / "step")
    good = [np.ones((3, 2), np.float32), np.arange(3, dtype=np.int32)]
    given = arrays if isinstance(arrays, list) else good[:arrays]
    with pytest.raises(error, match=says):
        step(*given, **{name: good[i] for name, i in by_name.items()})
    assert step(*good)[0].shape == (3, 2)


def test_several_steps_in_one_and_a_state_of_random_numbers(rng, tmp_path):
    _, step = regression(steps=4)
    step.export(tmp_path / "steps")
    batches = points(rng, front=(4,))
    assert same(al.load_executable(tmp_path / "steps")(batches), step(batches))
    graph = al.Graph()
    x = graph.placeholder((3,), name="x")
    state = graph.variable(al.random.state(5), name="state")
    drawn, following = al.random.normal(state, (3,))
    noisy = graph.compile([x], [x + drawn], [graph.assign(state, following)])
    noisy(np.zeros(3, np.float32))
    noisy.export(tmp_path / "noisy")
    loaded, zeros = al.load_executable(tmp_path / "noisy"), np.zeros(3, np.float32)
    assert same(loaded(zeros), noisy(zeros)) and same(loaded(zeros), noisy(zeros))


def test_steps_without_feeds_or_without_fetches(tmp_path, alloy):
    graph = al.Graph()
    count = graph.variable(np.float32([1, 2]), name="count")
    graph.compile([], [count], [graph.assign(count, count + 1)]).export("told")
    told = al.load_executable("told")
    assert told()[0].tolist() == [1, 2] and told()[0].tolist() == [2, 3]
    told.export("told")
    assert alloy("run told").out == "count float32(2,)\n[3. 4.]\n"
    graph.compile([], [], [graph.assign(count, count + 1)]).export("silent")
    assert al.load_executable("silent")() == []
    with pytest.raises(ValueError, match="Expected feeds for none, got 1 of them"):
        told(np.zeros(2, np.float32))


def test_loops_conditionals_and_every_type(rng, tmp_path):
    graph = al.Graph()
    x = graph.placeholder((4,), name="x")
    powers = al.for_loop(0, 5, lambda i, y: y * x, x)
    either = al.cond(al.sum(x) > 0, lambda: al.square(x), lambda: -x)
    types = [
        np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
    ]
    kept = [al.identity(graph.constant(rng.integers(0, 2, 300).astype(dtype))) for dtype in types]
    kept += [al.identity(graph.constant(np.float32([np.nan, np.inf, -0.0]))), al.cast(x, "float16")]
    step = graph.compile([x], [powers, either, *kept])
    step.export(tmp_path / "step")
    loaded = al.load_executable(tmp_path / "step")
    for sign in (1, -1):
        values = sign * rng.uniform(0.5, 1, 4).astype(np.float32)
        assert same(loaded(values), step(values))


@pytest.mark.parametrize(
    "shape, key, mask, is_whole",
    [
        ((2, 3, 4, 8), (2, 3, 5, 8), None, True),
        ((2, 3, 4, 8), (2, 3, 5, 8), (4, 5), True),
        ((2, 3, 4, 8), (2, 1, 5, 8), None, False),
        ((2, 3, 4, 8), (2, 3, 5, 8), (2, 1, 1, 1, 5), False),
        ((3, 4, 8), (3, 5, 8), None, False),
        ((None, 3, 4, 8), (None, 3, 5, 8), None, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_an_attention_is_one_op_of_a_system_that_has_it(shape, key, mask, is_whole, dtype, tmp_path):
    """Of batches of heads whose lengths are known. Elsewhere the file holds its parts, a softmax among them."""
    graph = al.Graph()
    feeds = [graph.placeholder(each, dtype) for each in (shape, key, key)]
    seen = None if mask is None else np.ones(mask, bool)
    graph.compile(feeds, [al.scaled_dot_product_attention(*feeds, attn_mask=seen)]).export(tmp_path / "step")
    has_selector = not al.device().system.startswith("macOS 14")
    assert (b"softmax" in (tmp_path / "step").read_bytes()) != (is_whole and has_selector)


# ---- models ----

N = al.nn
IMAGES, SEQUENCES, VOLUMES, ROWS, TOKENS = (8, 8, 4), (6, 8), (5, 6, 6, 4), (12,), (9,)
LAYERS = [
    (lambda: N.AvgPool1D(2), SEQUENCES),
    (lambda: N.AvgPool2D(3, strides=2, padding="same"), IMAGES),
    (lambda: N.BatchNorm(), IMAGES),
    (lambda: N.Conv1D(4, 3), SEQUENCES),
    (lambda: N.Conv2D(4, 3, padding="same", groups=2), IMAGES),
    (lambda: N.Conv3D(4, 3), VOLUMES),
    (lambda: N.ConvTranspose2D(4, 3, strides=2), IMAGES),
    (lambda: N.DepthwiseConv2D(3), IMAGES),
    (lambda: N.Embedding(20, 5), TOKENS),
    (lambda: N.GRU(4), SEQUENCES),
    (lambda: N.GlobalAvgPool(), IMAGES),
    (lambda: N.GlobalMaxPool(), IMAGES),
    (lambda: N.GroupNorm(2), IMAGES),
    (lambda: N.InstanceNorm(), IMAGES),
    (lambda: N.LSTM(4, return_sequences=True), SEQUENCES),
    (lambda: N.LayerNorm(), SEQUENCES),
    (lambda: N.MaxPool1D(2), SEQUENCES),
    (lambda: N.MaxPool2D(2), IMAGES),
    (lambda: N.MultiHeadAttention(2, 4), SEQUENCES),
    (lambda: N.RMSNorm(), SEQUENCES),
    (lambda: N.RNN(4), SEQUENCES),
    (lambda: N.Reshape((3, 4)), ROWS),
    (lambda: N.Resizing(4, 4), IMAGES),
    (lambda: N.UpSampling2D(2, interpolation="bilinear"), IMAGES),
    (lambda: N.ZeroPadding2D(1), IMAGES),
    (lambda: N.Sequential(N.Flatten(), N.Dense(5, activation="gelu"), N.Dropout(0.5), N.Softmax()), IMAGES),
]


@pytest.mark.parametrize("make, shape", LAYERS)
def test_a_model_takes_any_number_of_rows(make, shape, rng, tmp_path):
    x = rng.normal(size=(5, *shape)).astype(np.float32) if shape != TOKENS else rng.integers(0, 20, (5, 9), np.int32)
    trainer = al.Trainer(make(), "mean_squared_error", al.SGD(0.1))
    trainer.predict(x)
    trainer.export(tmp_path / "model")
    model = al.load_executable(tmp_path / "model")
    assert model.feeds == (("x", (None, *shape), x.dtype.name),) and model.fetches[0].name == "output"
    for count in (5, 1, 3):
        assert same(model(x[:count]), [trainer.predict(x[:count], batch_size=count)])


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_a_trained_model(dtype, rng, tmp_path):
    x, y = rng.normal(size=(64, 6, 6, 2)).astype(np.float32), rng.integers(0, 3, 64, np.int32)
    model = N.Sequential(N.Conv2D(4, 3), N.BatchNorm(), N.ReLU(), N.Flatten(), N.Dense(3))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(0.01), dtype=dtype)
    trainer.fit((x, y), epochs=2)
    trainer.export(tmp_path / "model")
    given = trainer.predict(x, batch_size=64)
    given = given.astype(np.float32) if dtype == "bfloat16" else given  # NumPy's files have no such type
    assert same(elsewhere(tmp_path / "model", {"x": x}, tmp_path), [given])
    # The file keeps what was; the model goes on.
    before = trainer.predict(x, batch_size=64)
    trainer.fit((x, y), epochs=1)
    loaded = al.load_executable(tmp_path / "model")
    assert same(loaded(x), [before]) and not same(loaded(x), [trainer.predict(x, batch_size=64)])


class Two(N.Layer):
    def __init__(self):
        super().__init__()
        self.head = N.Dense(2)

    def forward(self, x, training):
        both = self.head(al.concat([x["left"], x["right"]], axis=1), training)
        return {"sum": al.sum(both, axis=1), "both": both}


def test_several_inputs_and_outputs(rng, tmp_path):
    x = {"left": rng.normal(size=(4, 3)).astype(np.float32), "right": rng.normal(size=(4, 2)).astype(np.float32)}
    trainer = al.Trainer(Two(), {"sum": "mean_squared_error", "both": "mean_squared_error"}, al.SGD(0.1))
    with pytest.raises(ValueError, match="Expected a model that has seen examples; call fit, or give some"):
        trainer.export(tmp_path / "model")
    trainer.export(tmp_path / "model", x)
    model = al.load_executable(tmp_path / "model")
    assert [feed.name for feed in model.feeds] == ["x/left", "x/right"]
    assert [fetch.name for fetch in model.fetches] == ["output/sum", "output/both"]
    given = trainer.predict(x, batch_size=4)
    assert same(model({f"x/{name}": array for name, array in x.items()}), [given["sum"], given["both"]])
    trainer.export(tmp_path / "model", rows=2)
    assert [feed.shape for feed in al.load_executable(tmp_path / "model").feeds] == [(2, 3), (2, 2)]


@pytest.mark.parametrize("needed", [True, False])
def test_several_feeds_of_one_shape(needed, tmp_path):
    path = tmp_path / "difference.mpsgraphpackage"
    graph = al.Graph()
    x, y, other = (graph.placeholder((2,), name=name) for name in ("x", "y", "other"))
    graph.compile([other, y, x], [y - x, other if needed else y]).export(path)
    if al.device().system and path.is_file() and not needed:
        pytest.skip("A file does not tell of feeds that an imitation leaves out; a folder does.")
    loaded = al.load_executable(path)
    given = {"other": np.float32([7, 7]), "y": np.float32([3, 5]), "x": np.float32([1, 9])}
    for difference, second in (loaded(*given.values()), loaded(**given)):
        np.testing.assert_array_equal(difference, [2, -4])
        np.testing.assert_array_equal(second, [7, 7] if needed else [3, 5])


def test_constants_are_not_copied_more_often_than_needed(tmp_path, rng):
    """A file as large as its weights; loading takes as much memory again, and no text of them."""
    graph = al.Graph()
    x = graph.placeholder((None, 1000), name="x")
    weights = rng.normal(size=(1000, 1000)).astype(np.float32)
    table = graph.constant(weights)
    step = graph.compile([x], [x @ table, al.sum(table, axis=0), x @ graph.variable(weights, name="w")])
    step.export(tmp_path / "step")
    assert 8_000_000 < (tmp_path / "step").stat().st_size < 8_004_000
    if al.device_stats() is not None:
        before = al.device_stats()["allocated_bytes"]
        step = al.load_executable(tmp_path / "step")
        assert 4_000_000 <= al.device_stats()["allocated_bytes"] - before < 4_100_000
        del step
        assert al.device_stats()["allocated_bytes"] - before < 100_000


# ---- the command ----


@pytest.fixture
def trained(alloy, tmp_path, monkeypatch):
    """A directory of a run of one epoch, and what its model says of five digits."""
    assert alloy("train --epochs 1 --output run").status == 0
    x, _ = al.data.digits()
    np.save("x.npy", x[:5])
    model = cnn()
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam())
    trainer.predict(x[:5])
    al.load(model, "run/model.safetensors")
    return trainer.predict(x[:5], batch_size=5)


def test_the_command_exports_and_runs(alloy, trained):
    done = alloy("export run")
    assert done.status == 0 and done.err == "", done.err
    takes = "input   x                float32(?, 8, 8, 1)\noutput  output           float32(?, 10)\n"
    assert done.out == "saved run/model.mpsgraphpackage\n" + takes
    assert alloy("run run/model.mpsgraphpackage").out == takes
    assert alloy("export run/checkpoint.safetensors -o other.mpsgraphpackage").status == 0
    assert alloy("run run/model.mpsgraphpackage x.npy -o y.npy").status == 0
    assert alloy("run other.mpsgraphpackage x=x.npy --output y.npz").status == 0
    assert same([np.load("y.npy"), np.load("y.npz")["output"]], [trained, trained])
    printed = alloy("run other.mpsgraphpackage x.npy").out.splitlines()
    assert printed[0] == "output float32(5, 10)"
    assert np.allclose(np.fromstring(" ".join(printed[1:]).translate({91: 32, 93: 32}), sep=" "), trained.ravel())


def test_a_run_of_ones_own_data(alloy, tmp_path, rng):
    """Whose shape is only known when they are read."""
    (tmp_path / "mine.py").write_text(
        "import alloy as al, numpy as np\n"
        "def model():\n    return al.nn.Sequential(al.nn.Embedding(9, 4), al.nn.Flatten(), al.nn.Dense(2))\n"
        "def data():\n    return (np.zeros((20, 3), np.int32), np.zeros(20, np.int32)), None\n"
    )
    (tmp_path / "mine.toml").write_text(
        'model = "mine.py:model"\ndata = "mine.py:data"\nloss = "softmax_cross_entropy"\noptimizer = "sgd"\nlr = 0.1\n'
    )
    assert alloy("train mine.toml --output run").status == 0
    done = alloy("export run -o model")
    assert done.out.endswith("int32(?, 3)\noutput  output           float32(?, 2)\n"), done.err


@pytest.mark.parametrize(
    "command, says",
    [
        ("run missing x.npy", "No such file or directory: 'missing'"),
        ("run x.npy x.npy", "x.npy is no package of this framework"),
        ("run . x.npy", "is a directory; packages of this framework are files"),
        ("run step y.npy", "Expected the file y.npy, which is not there"),
        ("run step .", "Expected the file ., which is no file"),
        ("run step text.txt", "Expected an .npy, .npz or .csv file, got text.txt"),
        ("run step text.npy", "Expected an array in text.npy, which cannot be read"),
        ("run step z=x.npy", "Expected an input among 'x' float32(?, 2), 'other' float32(?,), got 'z'"),
        ("run step othr=x.npy", "got 'othr'; the nearest is other"),
        ("run step x.npy", "Expected files for 'x' float32(?, 2), 'other' float32(?,), got none for 'other'"),
        ("run step x.npy x=x.npy", "Expected each input once, got 'x' twice, the second time in x.npy"),
        ("run step x.npy x.npy x.npy", "Expected 2 inputs, got one more: x.npy"),
        ("run step xs.npz", "got none for 'other'"),
        ("run step many.npz", "Expected an input among"),
        ("run step x=many.npz", "Expected one array or 'x' in many.npz, got a, b"),
        ("run step x.npy other=x.npy", "'other' has shape (?,) but was fed shape (3, 2)"),
        ("run step -o out.npz", "got none for 'x', 'other'"),
        ("run step x.npy n.npy -o out.txt", "Expected an .npz file for 2 results to write, got out.txt"),
        ("run step x.npy n.npy -o out.npy", "Expected an .npz file for 2 results to write, got out.npy"),
        ("run step x.npy n.npy -o no/out.npz", "which is not there"),
        ("export missing", "Expected the directory of a training, with its config.toml, got missing"),
        ("export x.npy", "Expected the directory of a training, with its config.toml, got x.npy"),
    ],
)
def test_what_the_command_cannot_do(command, says, alloy, tmp_path):
    graph = al.Graph()
    x, other = graph.placeholder((None, 2), name="x"), graph.placeholder((None,), name="other")
    graph.compile([x, other], [x * al.expand_dims(other, 1), other]).export("step")
    np.save("x.npy", np.ones((3, 2), np.float32))
    np.save("n.npy", np.ones(3, np.float32))
    np.savez("xs.npz", x=np.ones((3, 2), np.float32))
    np.savez("many.npz", a=np.ones(1), b=np.ones(1))
    (tmp_path / "text.txt").write_text("text")
    (tmp_path / "text.npy").write_text("text")
    before = sorted(tmp_path.iterdir())
    done = alloy(command)
    assert done.status == 1 and done.out == "" and says in done.err and "Traceback" not in done.err, done.err
    assert sorted(tmp_path.iterdir()) == before
    assert alloy("run step x.npy n.npy -o out.npz").status == 0
    assert [array.shape for array in np.load("out.npz").values()] == [(3, 2), (3,)]
    (tmp_path / "x.csv").write_text("a,b\n1,1\n1,1\n1,1\n")
    assert alloy("run step x.csv n.npy -o other.npz").status == 0
    assert same([*np.load("other.npz").values()], [*np.load("out.npz").values()])


def test_what_is_no_place_no_device_and_no_copy(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = al.load_executable(exported)
    for call in step.export, al.load_executable, al.Graph().compile([], []).export:
        with pytest.raises(ValueError, match="Expected a path, got ''; at"):
            call("")
        with pytest.raises(ValueError, match=r"Expected a path of UTF-8, got b'a"):
            call(b"a\xff")
    with pytest.raises(TypeError, match="Expected the kind or the name of a device, got NoneType"):
        al.load_executable(exported, device=None)
    for copied in copy.copy, copy.deepcopy, pickle.dumps:
        with pytest.raises(TypeError, match="It cannot be copied or pickled; load the file again"):
            copied(step)
    with pytest.raises(TypeError, match=r"\[export\] Expected a path, got ndarray"):
        al.Trainer(al.nn.Dense(1), "hinge", "sgd").export(np.ones((2, 2), np.float32), "model")


def test_a_feed_of_any_name(tmp_path):
    graph = al.Graph()
    x, y = graph.placeholder((2,), name="self"), graph.placeholder((2,), name="path")
    graph.compile([x, y], [x - y]).export(tmp_path / "step")
    one = np.ones(2, np.float32)
    assert al.load_executable(tmp_path / "step")(**{"self": one * 3, "path": one})[0].tolist() == [2, 2]


def test_names_of_results(alloy):
    """Of results of one name, of none, and of one that np.savez keeps to itself."""
    graph = al.Graph()
    x = graph.placeholder((2,), name="file")
    graph.compile([x], [x, x, al.cast(x, "float16")]).export("step")
    np.save("x.npy", np.ones(2, np.float32))
    assert alloy("run step x.npy -o out.npz").status == 0
    arrays = dict(np.load("out.npz"))
    assert list(arrays)[:2] == ["file", "file_1"] and arrays["file"].tolist() == [1, 1] and len(arrays) == 3


@pytest.mark.skipif(al.device_stats() is None, reason="The device does not count.")
def test_each_shape_is_compiled_once(tmp_path):
    graph = al.Graph()
    x = graph.placeholder((None, 3), name="x")
    graph.compile([x], [al.square(x)]).export(tmp_path / "step")
    step = al.load_executable(tmp_path / "step")
    before = al.device_stats()["compilations"]
    for count in (4, 2, 4, 7, 2, 4):
        assert step(np.ones((count, 3), np.float32))[0].shape == (count, 3)
    assert al.device_stats()["compilations"] == before + 3


# ---- files ----


@pytest.fixture
def exported(tmp_path):
    path = tmp_path / "step.mpsgraphpackage"
    regression()[1].export(path)
    return path


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "is no package of this framework"),
        (b"PK\x03\x04" + bytes(100), "is no package of this framework"),
        (b"\x89ALLOY\r\n\x02" + bytes(40), "is a package of version 2 of the format; this framework reads version 1"),
    ],
)
def test_foreign_files(content, says, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        al.load_executable(tmp_path / "file")


def test_a_system_that_has_none_says_so(exported):
    if al.device().kind != "cpu":
        pytest.skip("Only the portable device imitates a system.")
    code = "import sys, alloy as al\nal.load_executable(sys.argv[1])"
    done = program(code, exported, env=os.environ | {"ALLOY_PRETEND": "macos13"})
    assert done.stderr.endswith(
        "DeviceError: [package] This system has no packages of executables; macOS 14 and newer have.\n"
    )


def test_relative_paths(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = al.load_executable(exported.name)
    with pytest.raises(OSError, match="No such file or directory"):
        step.export("missing/file")
    (tmp_path / "foreign").write_text("x")
    with pytest.raises(ValueError, match=r"/foreign is no package of this framework"):
        al.load_executable("foreign")


def test_places_that_are_no_files(exported, tmp_path):
    with pytest.raises(FileNotFoundError):
        al.load_executable(tmp_path / "missing")
    with pytest.raises(ValueError, match="is a directory"):
        al.load_executable(tmp_path)
    with pytest.raises(TypeError, match="Expected a path, got int"):
        al.load_executable(3)
    with pytest.raises(ValueError, match="device"):
        al.load_executable(exported, device="none")
    _, step = regression()
    with pytest.raises(OSError, match="No such file or directory"):
        step.export(tmp_path / "missing" / "file")
    with pytest.raises(OSError, match="is not a file"):
        step.export(tmp_path)
    with pytest.raises(ValueError, match="Expected 2 feeds"):
        step.export(exported, (8, 1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step.mpsgraphpackage"]


FULL = """
import os, resource, signal, sys
sys.path[:0] = sys.argv[2], os.path.dirname(sys.argv[2])
import alloy as al
from test_packages import regression
step = regression()[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    step.export(sys.argv[1])
except OSError as error:
    print(error)
"""
FOREVER = """
import os, sys
sys.path[:0] = sys.argv[2], os.path.dirname(sys.argv[2])
from test_packages import regression, points
import numpy as np
step, batch = regression()[1], points(np.random.default_rng(0))
while True:
    step(batch)
    step.export(sys.argv[1])
    print("saved", flush=True)
"""


def child(code, path, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, path, os.path.dirname(__file__)], text=True, stdout=subprocess.PIPE, **options
    )


def test_a_full_disk_leaves_the_old_file(exported, tmp_path):
    before = exported.read_bytes()
    told, _ = child(FULL, exported).communicate(timeout=120)
    assert told == f"[package] {exported} cannot be written: File too large.\n"
    assert exported.read_bytes() == before and list(tmp_path.iterdir()) == [exported]


def test_a_kill_leaves_a_whole_file(tmp_path, rng):
    path, batch = tmp_path / "step", points(rng)
    for delay in (0.0, 0.004, 0.009, 0.013):
        writer = child(FOREVER, path)
        assert writer.stdout.readline() == "saved\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=60)
        writer.stdout.close()
        assert len(al.load_executable(path)(batch)) == 3
        assert [each for each in tmp_path.iterdir() if not each.name.endswith(".part")] == [path]


def test_threads_and_runs_in_flight(rng, tmp_path):
    _, step = regression()
    batch = points(rng)
    flights = [step.submit(batch["y"], batch["x"]) for _ in range(5)]
    step.export(tmp_path / "step")
    flights[-1].wait()
    loaded = al.load_executable(tmp_path / "step")
    assert same(loaded(batch), step(batch))

    def run(i):
        for _ in range(50):
            result = loaded(batch)
            if i == 0:
                loaded.export(tmp_path / "again")
        return result

    results = at_once(run, range(4))
    for _ in range(200):
        last = step(batch)
    assert any(same(result, last) for result in results), "200 runs, one after the other"
    loaded.export(tmp_path / "again")
    assert same(al.load_executable(tmp_path / "again")(batch), step(batch))


def test_nothing_is_kept_of_what_is_gone(exported, rng):
    batch = points(rng)
    al.load_executable(exported)(batch)
    before = al.stats()["live_objects"]
    for _ in range(20):
        al.load_executable(exported)(batch)
    assert al.stats()["live_objects"] == before
    used = peak_kilobytes()
    for _ in range(300):
        al.load_executable(exported)(batch)
    assert peak_kilobytes() - used < 20_000
