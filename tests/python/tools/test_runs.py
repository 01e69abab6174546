"""Runs that files describe: what comes out of them, that they repeat to the bit, and what is wrong with a file."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import alloy as al
from alloy.tools import run as runs
from kinds import FAST, HALVES, HAS_PACKAGES

MINE = """
from pathlib import Path

import numpy as np

import alloy as al

HERE = Path(__file__).parent

class Net(al.nn.Layer):
    def __init__(self, units, classes):
        super().__init__()
        self.hidden = al.nn.Dense(units, activation="relu")
        self.drop = al.nn.Dropout(0.2)
        self.head = al.nn.Dense(classes)

    def forward(self, x, training):
        return self.head(self.drop(self.hidden(x, training), training), training)

def net(classes=3, units=8):
    return Net(units, classes)

def dense(outputs=1):
    return al.nn.Dense(outputs)

def flowers(path=HERE / "flowers.csv"):
    table = al.data.csv(path, "kind", categories=["kind", "colour"])
    x = (table.x - table.x.mean(0)) / table.x.std(0)
    return al.data.split(x, table.y)

def all_flowers():
    (x, y), (x_test, y_test) = flowers()
    return np.concatenate([x, x_test]), np.concatenate([y, y_test])

def photos(path, crop=0):
    data, names = al.data.image_folder(path, 8)
    data = data.map(al.data.augment.normalize(*al.data.augment.mean_and_std(data)))
    test = data.batch(4)
    crops = al.data.augment.random_crop(padding=crop)
    return data.shuffle(1).batch(4, workers=2).map(al.data.augment.random_flip(), seed=1).map(crops, seed=2), test

def line():
    x = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    y = x @ np.float32([[1], [2], [3], [4]])
    return (x, y), (x[:10], y[:10])

def unsplit():
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return (x, x.argmax(1).astype(np.int32)), None

def three():
    return al.data.from_iterator(lambda: [(np.ones(3, np.float32), 1)] * 3), None

def sequences():
    return (np.zeros((8, 5, 3), np.float32), np.zeros((8, 5), np.int32)), None

def error(predictions, targets):
    return al.mean(al.power(al.abs(predictions - targets), 2.0), axis=-1)

def top_two(logits, classes):
    return al.metrics.top_k_accuracy(logits, classes, k=2)

class Worst(al.metrics.RootMeanSquaredError):
    name = "worst"

class Plain(al.Optimizer):
    def __init__(self, lr=0.1):
        super().__init__(lr)

    def update(self, parameter, gradient, slots, step):
        return parameter - gradient * self.rate

def cosine(steps, lr=0.02):
    assert print("steps", steps) is None
    return al.AdamW(al.schedules.warmup(al.schedules.cosine(lr, steps - 2), 2))

def scaled():
    return al.Adam(loss_scale=al.LossScale(1024.0))

def fails():
    return undefined

def no_layer():
    return 3

def units_needed(units):
    return al.nn.Dense(units)
"""
FLOWERS = """
model = "mine.py:net"
units = 16
data = "mine.py:flowers"
loss = "softmax_cross_entropy"
metrics = ["accuracy", "mine.py:top_two", "confusion_matrix"]
optimizer = "adamw"
lr = 0.02
betas = [0.9, 0.99]
groups = {"*/bias" = {weight_decay = 0.0}}
epochs = 4
batch_size = 16
seed = 3
"""
BRIEF = 'model = "mine.py:net"\ndata = "mine.py:unsplit"\nloss = "softmax_cross_entropy"\noptimizer = "adam"\n'


@pytest.fixture
def place(tmp_path, rng):
    """A directory with functions, a table of flowers, and two files of runs."""
    (tmp_path / "mine.py").write_text(MINE)
    rows = ["length,width,colour,kind"]
    for i in range(120):
        kind = rng.integers(3)
        rows.append(
            f"{rng.normal(3 + kind, 0.3):.3f},{rng.normal(1000 - 100 * kind, 10):.3f},{('red', 'blue')[i % 2]},"
            f"{('rose', 'tulip', 'daisy')[kind]}"
        )
    (tmp_path / "flowers.csv").write_text("\n".join(rows))
    (tmp_path / "flowers.toml").write_text(FLOWERS)
    (tmp_path / "brief.toml").write_text(BRIEF)
    return tmp_path


def same_weights(one, other):
    first, second = (load_file(path / "model.safetensors") for path in (one, other))
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_a_run_of_ones_own_model_and_table(place, alloy):
    done = alloy("train flowers.toml")
    assert done.status == 0 and done.err == "", done.err
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == [f"epoch {i}/4" for i in (1, 2, 3, 4)]
    assert "val_top_two" in lines[0] and float(re.search(r"accuracy ([\d.]+)", lines[6])[1]) > 0.8
    run = place / "runs" / "flowers"
    assert {path.name for path in run.iterdir()} == {
        "model.safetensors", "config.toml", "checkpoint.safetensors", "history.csv", "history.png",
    }  # fmt: skip
    weights = load_file(run / "model.safetensors")
    assert {name: array.shape for name, array in weights.items() if "state" not in name} == {
        "hidden/weights": (4, 16), "hidden/bias": (16,), "head/weights": (16, 3), "head/bias": (3,),
    }  # fmt: skip
    evaluated = alloy("evaluate runs/flowers")
    assert evaluated.out.splitlines() == [line.removeprefix("test ") for line in lines[6:]]
    everything = alloy("evaluate runs/flowers mine.py:all_flowers")
    counts = re.findall(r"\d+", everything.out.split("confusion_matrix")[1])
    assert sum(map(int, counts)) == 120


def test_a_run_in_full_gives_the_same_bits(place, alloy):
    assert alloy("train flowers.toml --epochs 2 --lr 0.03").status == 0
    run, text = place / "runs" / "flowers", (place / "runs" / "flowers" / "config.toml").read_text()
    settings = runs.read(run)
    assert settings["epochs"] == 2 and settings["lr"] == 0.03 and settings["units"] == 16
    assert settings["model"] == f"{place}/mine.py:net" and '"../../mine.py:net"' in text
    assert al.threads() is None or settings["threads"] == al.threads()
    os.makedirs(place / "elsewhere")
    assert alloy("train runs/flowers/config.toml --output elsewhere/again").status == 0
    assert same_weights(run, place / "elsewhere" / "again")
    assert runs.read(place / "elsewhere" / "again") == settings
    assert alloy("train runs/flowers").status == 0, "a directory stands for its config.toml, and is where it goes"
    assert same_weights(run, place / "elsewhere" / "again")
    assert (run / "config.toml").read_text() == text
    assert alloy("train flowers.toml --epochs 2 --lr 0.03 --seed 4 --output other").status == 0
    assert not same_weights(run, place / "other")


def test_predictions(place, alloy):
    """Against NumPy, from the weights."""
    assert alloy("train flowers.toml").status == 0
    x = np.float32([[-1, 1, 1, -1], [0, 0, -1, 1], [1, -1, -1, 1]])
    np.save(place / "x.npy", x[:2])
    np.savez(place / "rest.npz", x=x[2:], y=x)
    done = alloy("predict runs/flowers x.npy rest.npz")
    assert done.status == 0, done.err
    lines = [line.split(",") for line in done.out.splitlines()]
    assert lines[0] == ["example", "class", "0", "1", "2"]
    assert [line[0] for line in lines[1:]] == ["x.npy:0", "x.npy:1", "rest.npz:0"]
    w = load_file(place / "runs" / "flowers" / "model.safetensors")
    logits = np.maximum(x @ w["hidden/weights"] + w["hidden/bias"], 0) @ w["head/weights"] + w["head/bias"]
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert np.allclose(np.float64([line[2:] for line in lines[1:]]), expected, atol=1e-4)
    assert [int(line[1]) for line in lines[1:]] == expected.argmax(1).tolist()
    assert alloy("predict runs/flowers x.npy rest.npz --output p.csv").out == ""
    assert (place / "p.csv").read_text() == done.out
    (place / "x.csv").write_text("a,b,c,d\n-1,1,1,-1\n0,0,-1,1\n")
    numbers = [line.split(",", 1)[1] for line in alloy("predict runs/flowers x.csv").out.splitlines()]
    assert numbers == [line.split(",", 1)[1] for line in done.out.splitlines()[:3]]


def test_images_from_folders(place, rng, alloy):
    Image = pytest.importorskip("PIL.Image")
    for k, name in enumerate(("dark", "light")):
        (place / "photos" / name).mkdir(parents=True)
        for i in range(10):
            pixels = (rng.random((9, 9, 3)) * 100 + 120 * k).astype(np.uint8)
            Image.fromarray(pixels).save(place / "photos" / name / f"{i}.png")
    (place / "photos.toml").write_text(
        'model = "alloy.tools.demo:cnn"\ndata = "mine.py:photos"\npath = "photos"\ncrop = 1\n'
        f'loss = "softmax_cross_entropy"\noptimizer = "adam"\nmetrics = ["accuracy"]\ndtype = "{HALVES[-1]}"\n'
    )
    first = alloy("train photos.toml --epochs 3")
    assert first.status == 0 and "val_accuracy 1.0000" in first.out.splitlines()[2], first.out + first.err
    assert alloy("train runs/photos --output again").status == 0
    assert same_weights(place / "runs" / "photos", place / "again")
    assert 'path = "../../photos"' in (place / "runs" / "photos" / "config.toml").read_text()
    exported = alloy("export runs/photos")
    if HAS_PACKAGES:
        assert exported.out.startswith("saved runs/photos/model.mpsgraphpackage\ninput   x "), exported.err
    else:
        assert "macOS 14 and newer have" in exported.err


def test_numbers_with_everything_of_ones_own(place, rng, alloy):
    (place / "line.toml").write_text(
        'model = "mine.py:dense"\ndata = "mine.py:line"\nloss = "mine.py:error"\noptimizer = "mine.py:Plain"\n'
        'metrics = ["root_mean_squared_error", "mine.py:Worst", "mine.py:error"]\nlr = 0.1\nepochs = 60\n'
    )
    done = alloy("train line.toml")
    assert done.status == 0 and "val_worst" in done.out and "val_error" in done.out, done.err
    x = rng.normal(size=(3, 4)).astype(np.float32)
    np.save(place / "x.npy", x)
    header, *lines = alloy("predict runs/line x.npy").out.split()
    assert header == "example,value_0"
    assert np.allclose([float(line.split(",")[1]) for line in lines], x @ [1, 2, 3, 4], atol=0.02)
    bare = (place / "line.toml").read_text().replace("mine.py:error", "mean_squared_error").replace("60", "1")
    (place / "bare.toml").write_text(bare)
    assert alloy("train bare.toml").status == 0


def test_data_without_a_validation(place, alloy):
    done = alloy("train --model mine.py:net --data mine.py:unsplit --epochs 2")
    assert done.status == 0 and "val_" not in done.out and "test" not in done.out, done.err
    assert runs.read(place / "runs" / "net-unsplit")["data"] == f"{place}/mine.py:unsplit"
    assert alloy("evaluate runs/net-unsplit").err.startswith("alloy: [config] Expected a run with validation data")


def test_a_schedule_over_all_steps(place, alloy):
    (place / "run.toml").write_text(BRIEF.replace('"adam"', '"mine.py:cosine"') + "epochs = 3\nbatch_size = 16\n")
    done = alloy("train run.toml")
    assert done.status == 0 and done.out.startswith("steps 9\n"), "3 epochs of 3 steps: " + done.err


def test_float16_with_a_loss_scale(place, alloy):
    (place / "run.toml").write_text(BRIEF.replace('"adam"', '"mine.py:scaled"') + 'epochs = 2\ndtype = "float16"\n')
    done = alloy("train run.toml")
    assert done.status == 0 and "skipped_steps 0" in done.out, done.err


# ---- interrupts and what goes on behind them ----


@FAST
def test_an_interrupted_run_ends_as_one_that_was_not(place, alloy):
    """Interrupted twice, at some moment, and resumed as the message says."""
    assert alloy("train flowers.toml --epochs 150 --output whole").status == 0
    arguments, interrupted = ["train", "flowers.toml", "--epochs", "150"], 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-m", "alloy.tools.cli", *arguments],
            cwd=place,
            text=True,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": str(al.threads() or 1)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout.readline().startswith("epoch")
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130), err
        interrupted += process.returncode == 130
        if process.returncode == 0:
            break
        said = err.splitlines()[-1]
        assert "Traceback" not in err
        assert said == "alloy: interrupted; alloy train runs/flowers/config.toml --resume goes on"
        arguments = said.partition("; alloy ")[2].removesuffix(" goes on").split()
    assert interrupted
    done = alloy("train runs/flowers/config.toml --resume")
    assert done.status == 0, done.err
    run, whole = place / "runs" / "flowers", place / "whole"
    assert same_weights(run, whole)
    # An interrupt between the last step of an epoch and its line may cost that line, and nothing else.
    lines, expected = ((path / "history.csv").read_text().splitlines() for path in (run, whole))
    assert [line for line in expected if line in lines] == lines and len(expected) - len(lines) <= interrupted


def test_what_is_resumed(place, alloy):
    assert alloy("train flowers.toml --epochs 2").status == 0
    run = place / "runs" / "flowers"
    more = alloy("train runs/flowers --epochs 5 --resume")
    assert [line.split("  ")[0] for line in more.out.splitlines()[:3]] == ["epoch 3/5", "epoch 4/5", "epoch 5/5"]
    assert alloy("train runs/flowers --resume").out.startswith("saved"), "nothing is left to do"
    other = alloy("train runs/flowers --batch-size 8 --resume")
    assert other.status == 1 and other.err == (
        "alloy: [config] Expected the settings that the run was begun with, got another batch_size; alloy train "
        "runs/flowers/config.toml --resume goes on with them.\n"
    )
    assert runs.read(run)["batch_size"] == 16
    anew = alloy("train runs/flowers --epochs 1")
    assert anew.out.startswith("epoch 1/1"), "without --resume it begins again"
    begun = alloy("train flowers.toml --resume --output fresh --epochs 1")
    assert begun.out.startswith("epoch 1/1"), "where nothing was saved it begins"


# ---- what is wrong ----


@pytest.mark.parametrize(
    "text, says",
    [
        ("epoch = 3", r"^\[config\] Expected settings among model, .*, got 'epoch'; the nearest is epochs\."),
        ("epochs = ", r"^\[config\] Expected a TOML file, got run\.toml: "),
        ("epochs = 0", r"^\[fit\] Expected a number of epochs of 1 or more, got 0"),
        ('epochs = "3"', r"^\[fit\] Expected a number of epochs as an integer, got '3'"),
        ('batch_size = "3"', r"^\[fit\] Expected a batch size as an integer, got '3'"),
        ("seed = -1", r"a seed of 0 or more, got -1"),
        ("threads = 1.5", r"^\[set_threads\] Expected a number of threads as an integer, got 1\.5"),
        pytest.param("metrics = " + "[" * 100_000, r"Expected a TOML file, got run\.toml: .*recursion", id="deep"),
        pytest.param("epochs = " + "1" * 5000, r"Expected a TOML file, got run\.toml: .*digits", id="digits"),
        ('dtype = "float8"', 'Expected the dtype "float32", "bfloat16" or "float16", got \'float8\''),
        ("model = 3", "Expected model = \"FILE.py:FUNCTION\" in the settings, got 3"),
        ('model = "cnn"', "Expected model = \"FILE.py:FUNCTION\" in the settings, got 'cnn'"),
        ("model", "Expected model = \"FILE.py:FUNCTION\" in the settings, got none"),
        ("loss", "Expected loss = \"FILE.py:FUNCTION\" in the settings, got none"),
        ('model = "nowhere.py:net"', r"Expected the file .*nowhere\.py, which is not there"),
        ('model = "nowhere:net"', "No module named 'nowhere'"),
        ('model = "mine.py:nett"', r"Expected a function of .*mine\.py, got 'nett'; the nearest is net"),
        ('model = "alloy.models:resnet19"', r"Expected a function of alloy\.models, got 'resnet19'; the nearest is"),
        ('model = "mine.py:fails"', r"NameError: name 'undefined' is not defined; at .*mine\.py:\d+\."),
        ('model = "mine.py:no_layer"', r"Expected a layer \(al\.nn\.Layer\) of '.*', got int"),
        ('model = "mine.py:units_needed"', r"settings for all that '.*' takes: missing a required argument: 'units'"),
        ("width = 3", r"Expected settings among .*, units, .*, got 'width'"),
        ('data = "mine.py:all_flowers"', r"Expected \(training data, validation data or None\) of|Expected"),
        ('data = "mine.py:no_layer"', r"Expected \(training data, validation data or None\) of '.*', got 3"),
        ('data = "mine.py:flowers"\npath = "none.csv"', r"\[csv\] Expected the file .*none\.csv, which is not there"),
        ('loss = "mse"', "use al.losses.mean_squared_error"),
        ('loss = "mine.py:erorr"', "got 'erorr'; the nearest is error"),
        ('metrics = ["f1scor"]', "the nearest is f1_score"),
        ('optimizer = "adamw2"', "the nearest is adamw"),
        ("learning_rate = 1.0", "Expected settings among .*, lr, betas, .*, got 'learning_rate'"),
        ("lr = 1e300", r"Expected lr of 0 or more that float32 can hold, got 1e\+300"),
        ("groups = [1, 2]", r"Expected groups as \{pattern or .*, got \[1, 2\]"),
        ("loss_scale = [1]", r"Expected an al\.LossScale"),
        ('optimizer = "mine.py:cosine"\ndata = "mine.py:three"', "missing a required argument: 'steps'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(text, says, place, alloy):
    """The settings of a run that works, but for those of the text; a text without a value leaves one out."""
    changed = [line.partition(" = ")[0] for line in text.splitlines()]
    kept = [line for line in BRIEF.splitlines() if line.partition(" = ")[0] not in changed]
    (place / "run.toml").write_text("\n".join([*kept, text if " = " in text else ""]))
    done = alloy("train run.toml")
    assert done.status == 1 and done.out == "" and not (place / "runs" / "run" / "model.safetensors").exists(), done.out
    assert done.err.startswith("alloy: ") and done.err.count("\n") == 1 and "alloy/tools" not in done.err
    assert re.search(says, done.err.removeprefix("alloy: ")), done.err


def test_what_fails_inside_of_numpy_has_no_place(place, alloy):
    text = BRIEF.replace("mine.py:net", "alloy.tools.demo:cnn").replace("mine.py:unsplit", "alloy.tools.demo:digits")
    (place / "run.toml").write_text(text + "classes = 1_000_000_000_000")
    assert re.fullmatch(r"alloy: MemoryError: [^;]*\n", alloy("train run.toml").err)


def test_a_file_of_an_editor_that_marks_its_encoding(tmp_path):
    (tmp_path / "run.toml").write_text("\ufeffepochs = 3\r\n", encoding="utf-8")
    assert runs.read(tmp_path / "run.toml") == {"epochs": 3}


@pytest.mark.parametrize(
    "command, file",
    [
        ("train flowers.toml --epochs 1 --resume", "runs/flowers/config.toml"),
        ("inspect flowers.toml --output drawn", "drawn/graph.svg"),
        ("predict runs/flowers x.npy --output predicted.csv", "predicted.csv"),
    ],
)
def test_a_full_disk_is_named_and_costs_no_settings(command, file, place, alloy, monkeypatch):
    assert alloy("train flowers.toml --epochs 1").status == 0
    before = (place / "runs" / "flowers" / "config.toml").read_text()
    np.save(place / "x.npy", np.ones((2, 4), np.float32))

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(type(place), "write_text", full)
    done = alloy(command)
    assert done.status == 1 and done.err.startswith("alloy: [Errno 28] No space left on device: '"), done.err
    assert f"{file}'" in done.err
    assert (place / "runs" / "flowers" / "config.toml").read_text() == before


def test_predictions_without_a_standard_output(place, alloy, monkeypatch):
    assert alloy("train flowers.toml --epochs 1").status == 0
    np.save(place / "x.npy", np.ones((2, 4), np.float32))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        done = alloy("predict runs/flowers x.npy")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    "command, says",
    [
        ("evaluate nowhere", r"Expected the directory of a training, with its config\.toml, got nowhere\."),
        ("evaluate runs/brief mine.py:nothing", r"Expected a function of mine\.py, got 'nothing'"),
        ("predict runs/brief none.npy", "Expected the file none.npy, which is not there"),
        ("predict runs/brief mine.py", r"Expected an \.npy, \.npz or \.csv file, got mine\.py"),
        ("predict runs/brief wrong.npy", r"Expected hidden/weights of float32 \(4, 8\), got float32 \(3, 8\)"),
        ("predict runs/brief damaged.npy", r"Expected an array in damaged\.npy, which cannot be read"),
        ("predict runs/brief two.npz", r"Expected one array or 'x' in two\.npz, got a, b"),
        ("predict runs/brief wrong.csv", r"\[csv\] Expected in column 'a'"),
        ("predict runs/brief x.npy --output /proc/x/y", "No such file or directory"),
        ("predict runs/words words.npy", r"Expected a model that gives \(n, columns\), got \(2, 5, 3\)"),
        ("train none.toml", r"Expected the file none\.toml, which is not there"),
        ("profile none.toml", r"Expected the file none\.toml, which is not there"),
    ],
)
def test_what_a_run_cannot_do(command, says, place, alloy):
    np.save(place / "x.npy", np.ones((2, 3), np.float32))
    np.save(place / "wrong.npy", np.ones((2, 4), np.float32))
    np.save(place / "words.npy", np.ones((2, 5, 3), np.float32))
    np.savez(place / "two.npz", a=np.ones(1), b=np.ones(1))
    (place / "damaged.npy").write_text("nothing")
    (place / "wrong.csv").write_text("a,b\none,2\n")
    (place / "words.toml").write_text(BRIEF.replace("unsplit", "sequences"))
    for name in ("brief", "words"):
        assert alloy(f"train {name}.toml").status == 0
    done = alloy(command)
    assert done.status == 1 and re.search(says, done.err) and done.err.count("\n") == 1, done.err


def test_a_file_is_written_as_it_is_read(tmp_path):
    settings = {
        "model": f"{tmp_path}/m.py:f",
        "text": 'quo"t\\ \t\u00e9\x7f\n',
        "yes": True,
        "deep": {"a b": [1, [2.5]], "loss": [f"{tmp_path}/sub/m.py:g"]},
        "path": str(tmp_path / "sub" / "x.csv"),
        "numbers": [1e-05, 1e300, 5e-324, 3],
        "metrics": ["accuracy", f"{tmp_path}/m.py:f"],
    }
    runs.write(settings, tmp_path / "config.toml")
    assert runs.read(tmp_path) == runs.read(tmp_path / "config.toml") == settings
    text = (tmp_path / "config.toml").read_text()
    assert 'path = "sub/x.csv"' in text and 'model = "m.py:f"' in text and '"sub/m.py:g"' in text


# ---- the other commands ----


def test_bench(place, alloy):
    done = alloy("bench flowers.toml --seconds 0.05 --batch-size 8")
    head, columns, training, inference = done.out.splitlines()
    assert head.startswith(f"net on {al.device().name} (") and head.endswith("batches of 8, float32")
    assert columns.split() == ["steps/s", "examples/s", "median", "quartiles", "runs"]
    for line, what in ((training, "training"), (inference, "inference")):
        found = re.fullmatch(what + r" +([\d,.]+) +([\d,.]+) +([\d.]+) ms +([\d.]+) ms to ([\d.]+) ms +([\d,]+)", line)
        steps, examples, median, low, high, runs = (float(part.replace(",", "")) for part in found.groups())
        assert low <= median <= high and runs >= 5
        assert steps == pytest.approx(1e3 / median, rel=0.02) and examples == pytest.approx(8 * steps, rel=0.02)
    assert list(place.glob("runs/*")) == []


def test_inspect_and_profile_of_ones_own_model(place, alloy):
    done = alloy("inspect flowers.toml")
    assert done.status == 0 and "forward, 16 examples of 4" in done.out, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert ["hidden", "(16,", "16)", "80"] in [row[:4] for row in rows]
    page = (place / "runs" / "net" / "graph.html").read_text()
    assert "<title>net</title>" in page and re.search(
        r"<title>matmul hidden/matmul, 2.05 k flops, [^<]*mine.py:\d+<", page
    )
    measured = alloy("profile flowers.toml --runs 2 --by layer")
    if al.device().kind == "cpu":
        assert measured.status == 0 and re.search("^hidden ", measured.out, re.M), measured.err
        assert max(map(len, measured.out.splitlines())) <= 80


@pytest.mark.parametrize(
    "name", ["", "train", "evaluate", "predict", "export", "run", "inspect", "profile", "bench", "info", "doctor"]
)
def test_help(name, alloy):
    done = alloy(f"{name} --help")
    lines = done.out.splitlines()
    assert done.status == 0 and done.err == "" and lines[0].startswith(f"Usage: alloy {name}".rstrip())
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines) and re.search(r" \.(\s|$)", done.out) is None
    assert "..." not in re.sub(r"^Usage: .*", "", done.out), "nothing is cut off"


def test_version(alloy):
    done = alloy("--version")
    assert (done.status, done.out) == (0, f"alloy {al.__version__}\n")
    assert alloy("").status == 2, "no command"


def test_the_example_of_the_help_is_a_run(place, alloy):
    (place / "run.toml").write_text(runs.EXAMPLE)
    with open(place / "mine.py", "a") as file:
        file.write(
            "\ndef network():\n    return al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(3))\n"
            "\ndef photos(path):\n    print(path)\n    return unsplit()\n"
        )
    done = alloy("train run.toml")
    assert done.status == 0 and done.out.startswith(f"{place}/photos\nepoch  1/30 ") and "top_two" in done.out, done.err
    text = re.sub(r"\s+", " ", alloy("train --help").out)
    assert re.sub(r"\s+", " ", runs.EXAMPLE) in text


def test_the_run_of_the_tutorial(tmp_path, alloy):
    text = (Path(__file__).parents[3] / "docs" / "tutorial.md").read_text()
    for kind, name in (("python", "mine.py"), ("toml", "run.toml")):
        (tmp_path / name).write_text(re.search(rf"^```{kind}\n# {re.escape(name)}\n(.*?)^```", text, re.M | re.S)[1])
    assert alloy("train run.toml").status == 0
    assert float(alloy("evaluate runs/run").out.split("accuracy ")[1]) > 0.9


def test_two_classes_and_one_logit(place, rng, alloy):
    """Against NumPy: the probability of the second class."""
    with open(place / "mine.py", "a") as file:
        file.write("\ndef two():\n    (x, y), _ = line()\n    return (x, np.float32(y > 0)), (x, np.float32(y > 0))\n")
    (place / "two.toml").write_text(
        'model = "mine.py:dense"\nloss = "binary_cross_entropy"\nmetrics = ["accuracy", "auc"]\nepochs = 3\n'
        'data = "mine.py:two"\noptimizer = "adam"\n'
    )
    done = alloy("train two.toml")
    assert done.status == 0 and "val_auc" in done.out, done.err
    x = rng.normal(size=(20, 4)).astype(np.float32)
    np.save(place / "x.npy", x)
    header, *lines = alloy("predict runs/two x.npy").out.split()
    assert header == "example,class,0,1"
    weights = load_file(place / "runs" / "two" / "model.safetensors")
    w, b = (next(array for name, array in weights.items() if name.endswith(end)) for end in ("weights", "bias"))
    expected = 1 / (1 + np.exp(-(x @ w + b)[:, 0]))
    found = [line.split(",") for line in lines]
    assert np.allclose(np.float64([line[2:] for line in found]), np.stack([1 - expected, expected], 1), atol=1e-5)
    assert [int(line[1]) for line in found] == (expected > 0.5).tolist()


def test_options_override_the_file(place, alloy):
    from alloy.tools.cli import _settings

    given = _settings(place / "flowers.toml", epochs=7, path="x.csv", model="mine.py:dense", data="alloy.data:mnist")
    assert (given["seed"], given["epochs"], given["path"]) == (3, 7, str(place / "x.csv"))
    assert (given["model"], given["data"]) == (f"{place}/mine.py:dense", "alloy.data:mnist")
    assert alloy("train flowers.toml --path none.csv").err.startswith(
        f"alloy: [csv] Expected the file {place}/none.csv"
    )
