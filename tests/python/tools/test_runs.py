"""Runs that files describe: what comes out of them, that they repeat to the bit, and what is wrong with a file."""

import errno
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load_file

import alloy as al
from alloy.tools import config
from alloy.tools.run import claimed
from kinds import FAST, HALVES

MODELS = """
import alloy as al

class Net(al.nn.Layer):
    def __init__(self, units, classes):
        super().__init__()
        self.hidden = al.nn.Dense(units, activation="relu")
        self.drop = al.nn.Dropout(0.2)
        self.head = al.nn.Dense(classes)

    def forward(self, x, training):
        return self.head(self.drop(self.hidden(x, training), training), training)

def net(classes, units=8):
    return Net(units, classes)

def line():
    return al.nn.Dense(1)

def data():
    import numpy as np
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return (x, x.argmax(1).astype(np.int32)), None

def error(predictions, targets, power=2.0):
    return al.mean(al.power(al.abs(predictions - targets), power), axis=-1)

class Plain(al.Optimizer):
    def __init__(self, lr=0.1):
        super().__init__(lr)

    def update(self, parameter, gradient, slots, step):
        return parameter - gradient * self.rate

def fails():
    return undefined

def no_layer():
    return 3
"""
FLOWERS = """
model = {name = "mymodels.py:net", units = 16}
data = {name = "csv", path = "flowers.csv", target = "kind", categories = ["kind", "colour"], normalize = true}
loss = {name = "softmax_cross_entropy", label_smoothing = 0.05}
metrics = ["accuracy", {name = "top_k_accuracy", k = 2}, "confusion_matrix"]
optimizer = {name = "adamw", lr = 0.02, betas = [0.9, 0.99], groups = {"*/bias" = {weight_decay = 0.0}}}
schedule = {name = "cosine", warmup = 0.1}
epochs = 4
batch_size = 16
seed = 3
"""


@pytest.fixture
def place(tmp_path, rng):
    """A directory with models, a table of flowers, and images."""
    (tmp_path / "mymodels.py").write_text(MODELS)
    rows = ["length,width,colour,kind"]
    for i in range(120):
        kind = rng.integers(3)
        rows.append(
            f"{rng.normal(3 + kind, 0.3):.3f},{rng.normal(1000 - 100 * kind, 10):.3f},{('red', 'blue')[i % 2]},"
            f"{('rose', 'tulip', 'daisy')[kind]}"
        )
    (tmp_path / "flowers.csv").write_text("\n".join(rows))
    (tmp_path / "flowers.toml").write_text(FLOWERS)
    return tmp_path


def same_weights(one, other):
    first, second = (load_file(path / "model.safetensors") for path in (one, other))
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_a_run_of_ones_own_model_and_table(place, alloy):
    done = alloy("train flowers.toml")
    assert done.status == 0 and done.err == "", done.err
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == [f"epoch {i}/4" for i in (1, 2, 3, 4)]
    assert "val_top_k_accuracy" in lines[0] and float(re.search(r"accuracy ([\d.]+)", lines[6])[1]) > 0.8
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
    everything = alloy("evaluate runs/flowers flowers.csv")
    counts = re.findall(r"\d+", everything.out.split("confusion_matrix")[1])
    assert sum(map(int, counts)) == 120


def test_a_run_in_full_gives_the_same_bits(place, alloy):
    assert alloy("train flowers.toml --epochs 2 --lr 0.03").status == 0
    run, text = place / "runs" / "flowers", (place / "runs" / "flowers" / "config.toml").read_text()
    settings = config.read(run)
    assert settings["epochs"] == 2 and settings["optimizer"]["lr"] == 0.03
    assert settings["classes"] == ["daisy", "rose", "tulip"] and settings["input_shape"] == [4]
    assert settings["model"] == {"name": f"{place}/mymodels.py:net", "units": 16, "classes": 3}
    assert settings["schedule"] == {"name": "cosine", "warmup": 1, "steps": 11}, "of 12 steps"
    table = np.loadtxt(place / "flowers.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    train = np.random.default_rng(0).permutation(120)[24:]
    assert np.allclose(settings["data"]["normalize"]["mean"][:2], table[train].mean(0), rtol=1e-6)
    assert np.allclose(settings["data"]["normalize"]["std"][:2], table[train].std(0), rtol=1e-6)
    os.makedirs(place / "elsewhere")
    assert alloy("train runs/flowers/config.toml --output elsewhere/again").status == 0
    assert same_weights(run, place / "elsewhere" / "again")
    assert config.read(place / "elsewhere" / "again") == settings
    assert alloy("train runs/flowers").status == 0, "a directory stands for its config.toml, and is where it goes"
    assert same_weights(run, place / "elsewhere" / "again")
    assert (run / "config.toml").read_text() == text
    assert alloy("train flowers.toml --epochs 2 --lr 0.03 --seed 4 --output other").status == 0
    assert not same_weights(run, place / "other")


def test_predictions_of_rows_of_a_table(place, alloy):
    assert alloy("train flowers.toml").status == 0
    table = al.data.csv(place / "flowers.csv", "kind", categories=["kind", "colour"])
    (place / "new.csv").write_text("colour,width,length\nblue,1000,3.0\nred,900,4.0\nred,800,5.0\n")
    done = alloy("predict runs/flowers new.csv")
    assert done.status == 0, done.err
    lines = [line.split(",") for line in done.out.splitlines()]
    assert lines[0] == ["example", "class", "daisy", "rose", "tulip"]
    assert [line[:2] for line in lines[1:]] == [["new.csv:0", "rose"], ["new.csv:1", "tulip"], ["new.csv:2", "daisy"]]
    shares = np.float64([line[2:] for line in lines[1:]])
    assert np.allclose(shares.sum(1), 1, atol=1e-5)
    # By hand: the weights, in NumPy.
    settings, w = config.read(place / "runs" / "flowers"), load_file(place / "runs" / "flowers" / "model.safetensors")
    x = np.float64([[3, 1000, 1, 0], [4, 900, 0, 1], [5, 800, 0, 1]])
    assert table.columns == ["length", "width", "colour=blue", "colour=red"]
    x = (x - settings["data"]["normalize"]["mean"]) / settings["data"]["normalize"]["std"]
    logits = np.maximum(x @ w["hidden/weights"] + w["hidden/bias"], 0) @ w["head/weights"] + w["head/bias"]
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert np.allclose(shares, expected, atol=1e-4)
    assert alloy("predict runs/flowers new.csv --output p.csv").out == ""
    assert (place / "p.csv").read_text() == done.out


def test_images_from_folders(place, rng, alloy):
    Image = pytest.importorskip("PIL.Image")
    for k, name in enumerate(("dark", "light")):
        (place / "photos" / name).mkdir(parents=True)
        for i in range(10):
            pixels = (rng.random((9, 9, 3)) * 100 + 120 * k).astype(np.uint8)
            Image.fromarray(pixels).save(place / "photos" / name / f"{i}.png")
    (place / "photos.toml").write_text(
        'data = {name = "images", path = "photos", size = 8, workers = 2, normalize = true}\n'
        'augmentation = ["random_flip", {name = "random_crop", padding = 1}]\n'
        'validation = "photos"\nbatch_size = 4\n'
        f'dtype = "{HALVES[-1]}"\n'
    )
    first = alloy("train photos.toml --epochs 3")
    assert first.status == 0 and "val_accuracy 1.0000" in first.out.splitlines()[2], first.out + first.err
    assert alloy("train runs/photos --output again").status == 0
    assert same_weights(place / "runs" / "photos", place / "again")
    done = alloy("predict runs/photos photos/dark/0.png photos/light/3.png")
    assert [line.split(",")[:2] for line in done.out.splitlines()] == [
        ["example", "class"], ["photos/dark/0.png", "dark"], ["photos/light/3.png", "light"],
    ]  # fmt: skip


def test_numbers_in_arrays_with_everything_of_ones_own(place, rng, alloy):
    x = rng.normal(size=(60, 4)).astype(np.float32)
    y = x @ np.float32([[1], [2], [3], [4]])
    np.savez(place / "line.npz", x=x, y=y)
    np.save(place / "x.npy", x[:3])
    (place / "line.toml").write_text(
        'model = "mymodels.py:line"\ndata = {name = "npz", path = "line.npz"}\n'
        'loss = {name = "mymodels.py:error", power = 2.0}\nmetrics = ["root_mean_squared_error"]\n'
        'optimizer = {name = "mymodels.py:Plain", lr = 0.1}\nepochs = 60\nvalidation = 10\n'
    )
    done = alloy("train line.toml")
    assert done.status == 0, done.err
    values = np.float64([line.split(",")[1] for line in alloy("predict runs/line x.npy line.npz").out.split()[1:]])
    assert np.allclose(values, np.concatenate([y[:3], y])[:, 0], atol=0.02)


def test_data_of_ones_own(place, alloy):
    done = alloy("train --model mymodels.py:net --data mymodels.py:data --epochs 2")
    assert done.status == 0 and "val_" not in done.out and "test" not in done.out, done.err
    assert config.read(place / "runs" / "net-data")["classes"] == 3
    assert alloy("evaluate runs/net-data").err.startswith("alloy: [config] Expected a run with validation data")


@pytest.mark.parametrize(
    "schedule",
    [
        '{name = "one_cycle"}',
        '{name = "step", step_size = 3, gamma = 0.5}',
        '{name = "piecewise", boundaries = [2], values = [0.01, 0.001]}',
        '{name = "exponential", gamma = 0.9, warmup = 2, start_factor = 0.0}',
    ],
)
def test_schedules(schedule, place, alloy):
    (place / "run.toml").write_text(
        f'model = "mymodels.py:net"\ndata = "mymodels.py:data"\nepochs = 3\nschedule = {schedule}'
    )
    done = alloy("train run.toml")
    assert done.status == 0, done.err


def test_float16_with_a_loss_scale(place, alloy):
    (place / "run.toml").write_text(
        'model = "mymodels.py:net"\ndata = "mymodels.py:data"\nepochs = 2\ndtype = "float16"\n'
        'optimizer = {name = "adam", loss_scale = {init_scale = 1024.0}}\n'
    )
    done = alloy("train run.toml")
    assert done.status == 0 and "skipped_steps 0" in done.out, done.err


# ---- interrupts and what goes on behind them ----


def command(place, *arguments):
    return [sys.executable, "-m", "alloy.tools.cli", *arguments]


@FAST
def test_an_interrupted_run_ends_as_one_that_was_not(place, alloy):
    """Interrupted twice, at some moment, and resumed as the message says."""
    assert alloy("train flowers.toml --epochs 150 --output whole").status == 0
    arguments, interrupted = ["train", "flowers.toml", "--epochs", "150"], 0
    for _ in range(2):
        process = subprocess.Popen(
            command(place, *arguments),
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
    with pytest.warns(UserWarning, match=r"learning rate is 0 from epoch 3 of 5 on\. Schedules count steps"):
        more = alloy("train runs/flowers --epochs 5 --resume")
    assert [line.split("  ")[0] for line in more.out.splitlines()[:3]] == ["epoch 3/5", "epoch 4/5", "epoch 5/5"]
    assert alloy("train runs/flowers --resume").out.startswith("saved"), "nothing is left to do"
    other = alloy("train runs/flowers --batch-size 8 --resume")
    assert other.status == 1 and other.err == (
        "alloy: [config] Expected the settings that the run was begun with, got another batch_size; alloy train "
        "runs/flowers/config.toml --resume goes on with them.\n"
    )
    assert config.read(run)["batch_size"] == 16
    anew = alloy("train runs/flowers --epochs 1")
    assert anew.out.startswith("epoch 1/1"), "without --resume it begins again"
    begun = alloy("train flowers.toml --resume --output fresh --epochs 1")
    assert begun.out.startswith("epoch 1/1"), "where nothing was saved it begins"


# ---- what is wrong ----


@pytest.mark.parametrize(
    "text, says",
    [
        ("epoch = 3", r"^\[config\] Expected keys among model, .*, got 'epoch' in run.toml; the nearest is epochs\."),
        ("epochs = ", r"Expected a TOML file, got run\.toml: "),
        ("epochs = 0", "Expected an integer from 1 on as epochs, got 0 in run.toml"),
        ("epochs = true", "Expected an integer from 1 on as epochs, got true"),
        ('epochs = "3"', 'Expected an integer from 1 on as epochs, got "3"'),
        ("batch_size = 100000", "Expected up to 65536 as batch_size"),
        ("seed = -1", "Expected an integer from 0 on as seed"),
        ("threads = 1.0", "Expected an integer from 1 on as threads"),
        pytest.param("metrics = " + "[" * 100_000, r"Expected a TOML file, got run\.toml: .*recursion", id="deep"),
        pytest.param("epochs = " + "1" * 5000, r"Expected a TOML file, got run\.toml: .*digits", id="digits"),
        ("metrics = " + "[" * 150 + "]" * 150, r'as metrics, got \[{100}\.\.\. in run\.toml'),
        ("dtype = 16", "Expected a text as dtype, got 16"),
        ('dtype = "float8"', 'Expected the dtype "float32", "bfloat16" or "float16", got \'float8\''),
        ("model = 3", r'Expected a name, or a table \{name = "\.\.\."'),
        ("model = {units = 3}", r'Expected a name, or a table .* got {"units": 3}'),
        ('model = "resnet"', "cnn, resnet18, resnet50 or FILE.py:FUNCTION, got 'resnet'; the nearest is resnet50"),
        ('model = {name = "cnn", width = 3}', "Expected the options seed, classes for model 'cnn', got 'width'"),
        ('model = "nowhere.py:net"', r"Expected the file of '.*nowhere\.py:net', which is not there"),
        ('model = "mymodels.py:nett"', r"Expected a function of .*mymodels.py, got 'nett'; the nearest is net"),
        ('model = "mymodels.py:fails"', r"NameError: name 'undefined' is not defined; at .*mymodels\.py:\d+\."),
        ('model = "mymodels.py:no_layer"', r"Expected a layer \(al\.nn\.Layer\) of '.*', got int"),
        ('data = "cifar"', "digits, cifar10, mnist, npz, csv, images or FILE.py:FUNCTION, got 'cifar'; the nearest is"),
        ('data = "csv"', 'Expected a path for csv: --path, or data = {name = "csv", path = ...}'),
        ('data = {name = "csv", path = "flowers.csv"}', "Expected target for data 'csv', as in data = {name"),
        ('data = {name = "csv", path = "flowers.csv", target = "kin"}', "a column 'kin' in .*; the nearest is kind"),
        ('data = {name = "digits", sizes = 3}', "the options size, channels .*, got 'sizes'; the nearest is size"),
        ('data = {name = "npz", path = "none.npz"}', r"\[npz\] Expected the file .*none\.npz, which is not there"),
        ('data = {name = "digits", normalize = 3}', r"Expected normalize = true or \{mean"),
        ('data = {name = "digits", normalize = {mean = ["a"], std = [1]}}', r"Expected normalize = .* of numbers, got"),
        ('data = {name = "digits", normalize = {mean = [nan], std = [1]}}', r"Expected normalize = .* of numbers, got"),
        ('data = {name = "digits", normalize = {mean = [0], std = [0]}}', r"Expected normalize = .* of numbers, got"),
        ('data = {name = "digits", path = "x"}', "got the path .*/x for digits, which need none"),
        ('data = {name = "npz", path = 3}', "Expected a text as path of the data, got 3"),
        ('data = {name = "mnist", path = ".", dtype = 3}', "Expected a text as dtype of the data, got 3"),
        ("input_shape = [3, 3, 1]", r"Expected the examples' shape \[8, 8, 1\] as input_shape, got \[3, 3, 1\]"),
        ("validation = 2.0", "Expected a fraction between 0 and 1"),
        ('validation = "elsewhere"', "got the path .*/elsewhere for digits, which need none"),
        ('loss = "mse"', "use al.losses.mean_squared_error"),
        ('loss = {name = "huber", deltas = 2}', "Expected the options delta for loss 'huber', got 'deltas'"),
        ('metrics = ["f1scor"]', "the nearest is f1_score"),
        ('optimizer = "adamw2"', "the nearest is adamw"),
        ('optimizer = {name = "adam", learning_rate = 1.0}', "lr"),
        ('schedule = "cosin"', "got 'cosin'; the nearest is cosine"),
        ('optimizer = {name = "adam", lr = 1e300}', r"Expected lr of 0 or more that float32 can hold, got 1e\+300"),
        ('optimizer = {name = "adam", groups = [1, 2]}', r"Expected groups as \{pattern or .*, got \[1, 2\]"),
        ('optimizer = {name = "adam", loss_scale = [1]}', r"Expected loss_scale = true or \{init_scale"),
        ('model = {name = "cnn", seed = "a"}', r"^\[Sequential\] Expected a seed as an integer, got 'a'"),
        ('schedule = {name = "cosine", warmup = "a"}', "Expected warmup in steps, or as a share .*, got 'a'"),
        ('schedule = {name = "cosine", warmup = 1.5}', "Expected warmup in steps, or as a share .*, got 1.5"),
        ('schedule = {name = "cosine", warmup = nan}', "Expected warmup in steps, or as a share .*, got nan"),
        ('schedule = {name = "step"}', "Expected step_size for schedule 'step'"),
        ('schedule = {name = "cosine", gamma = 2}', "got 'gamma'"),
        ('augmentation = "random_flop"', "got 'random_flop'; the nearest is random_flip"),
        ('augmentation = [{name = "random_flip", mode = "up"}]', "Expected the mode"),
        ('[model]\nname = "cnn"\n[model.more]\nx = 1', "got 'more'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(text, says, place, alloy):
    (place / "run.toml").write_text(text)
    done = alloy("train run.toml")
    assert done.status == 1 and done.out == "" and not (place / "runs").exists(), done.out
    assert done.err.startswith("alloy: ") and done.err.count("\n") == 1 and "alloy/tools" not in done.err
    assert re.search(says, done.err.removeprefix("alloy: ")), done.err


def test_what_fails_inside_of_numpy_has_no_place(place, alloy):
    (place / "run.toml").write_text("classes = 1_000_000_000_000")
    assert re.fullmatch(r"alloy: MemoryError: [^;]*\n", alloy("train run.toml").err)


def test_a_file_of_an_editor_that_marks_its_encoding(tmp_path):
    (tmp_path / "run.toml").write_text("\ufeffepochs = 3\r\n", encoding="utf-8")
    assert config.read(tmp_path / "run.toml") == {"epochs": 3}


def test_a_directory_is_of_one_training_at_a_time(place, alloy):
    (place / "here").mkdir()
    with claimed(place / "here"):
        refused = alloy("train flowers.toml --output here")
    assert refused.status == 1 and list((place / "here").iterdir()) == []
    assert "Expected a directory in which no other training runs, got here" in refused.err
    assert alloy("train flowers.toml --output here --epochs 1").status == 0


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
        ("predict runs/flowers none.png", "Expected the file none.png, which is not there"),
        ("predict runs/flowers mymodels.py", r"Expected an image \(.*\), \.npy, \.npz or \.csv, got mymodels\.py"),
        ("predict runs/flowers wrong.npy", r"Expected examples of shape \(n, 4\), got \(2, 3\) in wrong\.npy"),
        ("predict runs/flowers damaged.npy", r"Expected an array in damaged\.npy, which cannot be read"),
        ("predict runs/flowers damaged.png", r"Expected a run over images to predict for damaged\.png"),
        ("predict runs/flowers wrong.csv", r"\[csv\] Expected a column 'length' in wrong\.csv"),
        ("predict runs/flowers x.npy --output /proc/x/y", "No such file or directory"),
        ("evaluate runs/flowers wrong.csv", r"\[csv\] Expected a column"),
        ("train none.toml", r"Expected the file none\.toml, which is not there"),
        ("profile none.toml", r"Expected the file none\.toml, which is not there"),
    ],
)
def test_what_a_run_cannot_do(command, says, place, alloy):
    run = place / "runs" / "flowers"
    run.mkdir(parents=True)
    config.write(
        {
            "model": {"name": f"{place}/mymodels.py:net"},
            "data": {"name": "csv", "path": f"{place}/flowers.csv", "target": "kind"}
            | {"columns": ["length", "width", "colour"]}
            | {"categories": {"kind": ["a", "b"], "colour": ["red", "blue"]}},
            "classes": ["a", "b"],
            "input_shape": [4],
        },
        run / "config.toml",
    )  # fmt: skip
    np.save(place / "wrong.npy", np.ones((2, 3), np.float32))
    np.save(place / "x.npy", np.ones((2, 4), np.float32))
    for name in ("damaged.npy", "damaged.png"):
        (place / name).write_text("nothing")
    (place / "wrong.csv").write_text("a,b\n1,2\n")
    if "/proc" in command:
        model = al.nn.Sequential(al.nn.Dense(2))
        model(al.Graph().placeholder((None, 4)))
        al.save(model, run / "model.safetensors")
        says = "hidden/bias|No such file"
    done = alloy(command)
    assert done.status == 1 and re.search(says, done.err) and done.err.count("\n") == 1, done.err


def test_a_file_is_written_as_it_is_read(tmp_path):
    settings = {
        "model": {"name": "cnn", "text": 'quo"t\\ \t\u00e9\x7f\n', "none": None, "yes": True}
        | {"deep": {"a b": [1, [2.5]]}},
        "data": {"name": "csv", "path": str(tmp_path / "sub" / "x.csv")},
        "optimizer": {"name": "adam", "lr": 1e-05, "big": 1e300, "small": 5e-324},
        "metrics": [{"name": "accuracy"}, {"name": f"{tmp_path}/m.py:f", "k": 2}],
        "validation": str(tmp_path / "other.csv"),
        "epochs": 3,
        "classes": ["a", "b"],
        "input_shape": [2, 3],
    }  # fmt: skip
    config.write(settings, tmp_path / "config.toml")
    del settings["model"]["none"]
    assert config.read(tmp_path) == config.read(tmp_path / "config.toml") == settings
    assert 'path = "sub/x.csv"' in (tmp_path / "config.toml").read_text()


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
        r'title="matmul hidden/matmul, 2.05 k flops, [^"]*mymodels.py:12"', page
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


def test_the_example_of_the_help_is_a_run(tmp_path, alloy):
    (tmp_path / "run.toml").write_text(config.EXAMPLE)
    settings = config.read(tmp_path / "run.toml")
    assert set(config.KEYS) - set(settings) == {"classes", "input_shape"}
    assert settings["data"]["path"] == str(tmp_path / "photos")
    text = re.sub(r"\s+", " ", alloy("train --help").out)
    assert re.sub(r"\s+", " ", config.EXAMPLE) in text


def test_two_classes_and_one_logit(place, rng, alloy):
    """Against NumPy: the probability of the second class."""
    rows = [f"{rng.normal(2 * (i % 2)):.2f},{rng.normal():.2f},{('no', 'yes')[i % 2]}" for i in range(60)]
    (place / "two.csv").write_text("a,b,kind\n" + "\n".join(rows))
    (place / "two.toml").write_text(
        'model = "mymodels.py:linear"\nloss = "binary_cross_entropy"\nmetrics = ["accuracy", "auc"]\nepochs = 3\n'
        'data = {name = "csv", path = "two.csv", target = "kind", categories = "kind"}\n'
    )
    with open(place / "mymodels.py", "a") as file:
        file.write("\ndef linear(classes):\n    return al.nn.Dense(classes)\n")
    done = alloy("train two.toml")
    assert done.status == 0 and "val_auc" in done.out, done.err
    assert config.read(place / "runs" / "two")["model"]["classes"] == 1
    header, *lines = alloy("predict runs/two two.csv").out.split()
    assert header == "example,class,no,yes"
    weights = load_file(place / "runs" / "two" / "model.safetensors")
    w, b = (next(array for name, array in weights.items() if name.endswith(end)) for end in ("weights", "bias"))
    x = np.float64([row.split(",")[:2] for row in rows])
    expected = 1 / (1 + np.exp(-(x @ w + b)[:, 0]))
    found = [line.split(",") for line in lines]
    assert np.allclose(np.float64([line[3] for line in found]), expected, atol=1e-5)
    assert [line[1] for line in found] == ["yes" if share > 0.5 else "no" for share in expected]


def test_numbers_as_the_target_of_a_table(place, alloy):
    (place / "run.toml").write_text(
        'model = "mymodels.py:line"\nloss = "mean_squared_error"\nepochs = 60\noptimizer = {name = "adam", lr = 0.1}\n'
        'data = {name = "csv", path = "line.csv", target = "2", header = false, columns = [0, 1]}\n'
    )
    (place / "line.csv").write_text("\n".join(f"{i % 5},{i % 3},{2 * (i % 5) - (i % 3) + 1}" for i in range(60)))
    assert "Expected a column '2' in " in alloy("train run.toml").err, "without a header columns are numbers"
    text = (place / "run.toml").read_text().replace('"2"', "2")
    (place / "run.toml").write_text(text)
    done = alloy("train run.toml")
    assert done.status == 0 and float(done.out.split("test loss ")[1]) < 0.05, done.err
    header, first, *_ = alloy("predict runs/run line.csv").out.split()
    assert header == "example,value_0" and abs(float(first.split(",")[1]) - 1) < 0.5


def test_classes_of_other_names_and_predictions_of_sequences(place, rng, alloy):
    Image = pytest.importorskip("PIL.Image")
    for folder, names in (("one", "ab"), ("other", "bc")):
        for name in names:
            (place / folder / name).mkdir(parents=True)
            Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(place / folder / name / "1.png")
    (place / "run.toml").write_text('data = {name = "images", path = "one"}\nvalidation = "other"\nepochs = 1')
    assert "Expected the classes a, b in " in alloy("train run.toml").err
    (place / "run.toml").write_text('data = {name = "images", path = "one"}\nvalidation = "one"\nepochs = 1')
    assert alloy("train run.toml").status == 0
    assert "Expected the classes a, b in other, got b, c" in alloy("evaluate runs/run other").err
    with open(place / "mymodels.py", "a") as file:
        file.write(
            "\ndef sequences():\n    import numpy as np\n    x = np.zeros((8, 5, 3), np.float32)\n"
            "    return (x, np.zeros((8, 5), np.int32)), None\n"
        )
    (place / "words.toml").write_text(
        'model = {name = "mymodels.py:net", classes = 4}\ndata = "mymodels.py:sequences"\nepochs = 1'
    )
    assert alloy("train words.toml").status == 0
    np.save(place / "x.npy", np.zeros((2, 5, 3), np.float32))
    assert "Expected a model that gives (n, columns), got (2, 5, 4)" in alloy("predict runs/words x.npy").err


def test_arrays_in_float64_and_bytes(place, rng, alloy):
    np.savez(place / "a.npz", x=rng.normal(size=(30, 4)), y=rng.integers(0, 3, 30))
    done = alloy("train --model mymodels.py:net --data npz --path a.npz --epochs 1")
    assert done.status == 0 and done.err == "", "no warning"
    for name, count in (("train", 40), ("t10k", 12)):
        images = rng.integers(0, 256, (count, 28, 28), np.uint8)
        head = bytes([0, 0, 8, 3]) + np.array([count, 28, 28], ">u4").tobytes()
        (place / f"{name}-images-idx3-ubyte").write_bytes(head + images.tobytes())
        head = bytes([0, 0, 8, 1]) + np.array([count], ">u4").tobytes()
        (place / f"{name}-labels-idx1-ubyte").write_bytes(head + (np.arange(count) % 9).astype(np.uint8).tobytes())
    (place / "bytes.toml").write_text('data = {name = "mnist", path = ".", dtype = "uint8", normalize = true}')
    done = alloy("train bytes.toml --epochs 1")
    assert done.status == 0, done.err
    assert config.read(place / "runs" / "bytes")["classes"] == 10, "of the data set, not of those that occur"
    assert alloy("evaluate runs/bytes .").out == alloy("evaluate runs/bytes").out, "the test images of the directory"
    np.save(place / "x.npy", images[:2])
    np.save(place / "one.npy", images[0][..., None])
    two, one = (alloy(f"predict runs/bytes {name}.npy").out.split() for name in ("x", "one"))
    assert len(two) == 3 and two[1].split(",")[1:] == one[1].split(",")[1:], "with and without an axis of channels"


def test_what_options_change_and_what_they_leave(place, alloy):
    from alloy.tools.cli import _given

    residual = _given(None, model="resnet18", lr=0.01)
    assert residual["schedule"]["name"] == "polynomial" and residual["optimizer"] == {"name": "adam", "lr": 0.01}
    assert residual["model"] == {"name": "resnet18", "momentum": 0.97} and residual["data"]["size"] == 32
    run = place / "run"
    run.mkdir()
    config.write(
        {"data": {"name": "csv", "path": "x.csv"}, "classes": 3, "input_shape": [4], "seed": 5}, run / "config.toml"
    )
    kept = _given(run, epochs=7)
    assert (kept["classes"], kept["input_shape"], kept["seed"], kept["epochs"]) == (3, [4], 5, 7)
    for changed in (_given(run, data="digits"), _given(run, where="y.csv")):
        assert not changed.keys() & {"classes", "input_shape"} and changed["seed"] == 5, "what the other data had told"
    assert changed["data"] == {"name": "csv", "path": str(place / "y.csv")}
    assert _given(run, model="mymodels.py:net")["model"]["name"] == f"{place}/mymodels.py:net"
