"""The programs in examples/, in small form: each runs as its user runs it, and learns."""

import importlib.util
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import alloy as al
from alloy.tools import launch
from kinds import HAS_BFLOAT16

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PYTORCH = np.load(ROOT / "tests" / "goldens" / "transfer.npz")


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs an example with these arguments in an empty directory, and gives the lines that it prints."""
    monkeypatch.chdir(tmp_path)

    def call(name, *arguments):
        module(name).main([str(argument) for argument in arguments])
        return capsys.readouterr().out.splitlines()

    return call


def number(line, name):
    return float(re.search(rf"{name} (-?[\d.]+)", line)[1])


def test_every_example_has_a_test():
    source = pathlib.Path(__file__).read_text()
    for example in [*EXAMPLES, *(ROOT / "examples").glob("*.mm")]:
        assert f'"{example.stem}"' in source or f"example_{example.stem}" in source, example.stem
        assert len(example.read_text().splitlines()) <= 120, "an example is read from top to bottom"


def test_linear_regression(storage, run):
    """Against the least squares of the same points."""
    (line,) = run("linear_regression", "--storage", storage, "--points", 200, "--seed", 3)
    x, y = module("linear_regression").points(200, 3)
    (slope, offset), (error,), *_ = np.linalg.lstsq(np.hstack([x, np.ones_like(x)]), y[:, 0], rcond=None)
    assert line == f"loss {error / 200:.4f}, y = {slope:.2f} x + {offset:.2f}"


def test_digits(run, tmp_path):
    """Interrupted after two epochs and resumed, it ends as if it had not been."""
    whole = run("digits", "--epochs", 4, "--checkpoint", "whole.safetensors", "--model", "a.safetensors")
    assert number(whole[-1], "test accuracy") > 0.9
    run("digits", "--epochs", 2, "--resume")
    resumed = run("digits", "--epochs", 4, "--resume", "--model", "b.safetensors")
    assert [line[:9] for line in resumed if line.startswith("epoch")] == ["epoch 3/4", "epoch 4/4"]
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def write_cifar10(directory, rng):
    """Small files of the data set's format, with images of two classes: bright above, or bright below."""
    for name, count in [*((f"data_batch_{i}", 16) for i in range(1, 6)), ("test_batch", 20)]:
        classes = np.arange(count, dtype=np.uint8) % 2
        images = rng.integers(0, 100, (count, 3, 2, 16, 32), dtype=np.uint8)
        images[np.arange(count), :, classes] += 100
        (directory / f"{name}.bin").write_bytes(np.hstack([classes[:, None], images.reshape(count, -1)]).tobytes())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"][: 1 + HAS_BFLOAT16])
def test_resnet_on_cifar10(dtype, run, tmp_path, rng):
    write_cifar10(tmp_path, rng)
    size = ("--blocks", 1, "--width", 4, "--batch-size", 16, "--epochs", 12)
    lines = run("resnet_cifar10", tmp_path, *size, "--lr", 0.05, "--dtype", dtype)
    assert number(lines[-1], "test accuracy") > 0.9


def test_language_model(run, tmp_path):
    """It writes what it has read again and again, which needs to look further back than one character."""
    (tmp_path / "text.txt").write_text("she sells seashells... " * 60)
    size = ("--context", 24, "--width", 32, "--heads", 2, "--blocks", 1, "--dropout", 0, "--sample", 46)
    lines = run("language_model", "text.txt", *size, "--epochs", 25, "--batch-size", 16, "--lr", 1e-2)
    assert number(lines[-2], "accuracy") > 0.9
    assert "she sells seashells... " in lines[-1][24:]


def test_language_model_of_a_text_that_is_too_short(run, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("short")
    with pytest.raises(SystemExit):
        run("language_model", "text.txt")
    assert "at least 65 are needed" in capsys.readouterr().err


def test_custom_optimizer(run):
    adam, own = run("custom_optimizer", "--epochs", 4)
    assert adam.startswith("Adam ") and own.startswith("AdaBelief ")
    assert number(adam, "accuracy") > 0.9 and number(own, "accuracy") > 0.9


def test_custom_optimizer_against_its_formula(rng):
    made = module("custom_optimizer").AdaBelief(0.1, betas=(0.8, 0.9), eps=1e-4)
    given = rng.normal(size=(5, 3)).astype(np.float32)
    graph = al.Graph()
    gradient, weights = graph.placeholder((3,)), graph.variable(np.ones(3, np.float32), name="w")
    step = graph.compile([gradient], updates=made.apply([(gradient, weights)]))
    w, m, s = np.ones(3), np.zeros(3), np.zeros(3)
    for t, g in enumerate(given.astype(np.float64), 1):
        step(given[t - 1])
        m = 0.8 * m + 0.2 * g
        s = 0.9 * s + 0.1 * (g - m) ** 2 + 1e-4
        w = w - 0.1 * m / (1 - 0.8**t) / (np.sqrt(s / (1 - 0.9**t)) + 1e-4)
        np.testing.assert_allclose(weights.numpy(), w, rtol=1e-5, atol=1e-6)


def test_custom_loop(run):
    lines = run("custom_loop", "--epochs", 4)
    assert len(lines) == 4 and number(lines[-1], "test accuracy") > 0.93
    assert number(lines[-1], "loss") < number(lines[0], "loss")


def test_transfer(run, tmp_path):
    """The frozen body stays what PyTorch made, and the head learns."""
    state = {name: PYTORCH[name] for name in PYTORCH.files if name != "features"}
    save_file(state, tmp_path / "digits04.safetensors")
    (line,) = run("transfer", "digits04.safetensors", "--examples", 60, "--epochs", 40, "--model", "model.safetensors")
    assert number(line, "test accuracy") > 0.85
    saved = load_file(tmp_path / "model.safetensors")
    for ours, foreign in module("transfer").NAMES.items():
        if "conv" in ours:
            assert np.array_equal(saved[f"{ours}/weights"], state[f"{foreign}.weight"].transpose(2, 3, 1, 0))
        else:
            assert np.array_equal(saved[f"{ours}/moving_mean"], state[f"{foreign}.running_mean"])


def test_transferred_features_are_those_of_pytorch(tmp_path):
    example = module("transfer")
    state = {name: PYTORCH[name] for name in PYTORCH.files if name != "features"}
    save_file(state, tmp_path / "body.safetensors")
    model = example.Network(5)
    graph = al.Graph()
    x = graph.placeholder((None, 8, 8, 1))
    model(x)
    al.load_torch(model.body, tmp_path / "body.safetensors", example.NAMES, skip=["fc.*"])
    (features,) = graph.compile([x], [model.body(x)])(al.data.digits()[0][:6])
    np.testing.assert_allclose(features, PYTORCH["features"], rtol=1e-4, atol=1e-5)


def test_gan(run):
    """The points that it makes are on the ring."""
    (line,) = run("gan", "--steps", 1500)
    assert abs(number(line, "radius") - 2) < 0.3 and number(line, "spread") < 0.5


def test_vae(run):
    """Its images are nearer to the digits than the mean image is, whose cross entropy counts the same pixels."""
    line, *image = run("vae", "--epochs", 8)
    (images, _), (test, _) = al.data.split(*al.data.digits())
    mean = np.clip(images.mean(0, dtype=np.float64), 1e-6, 1 - 1e-6)
    entropy = -(test * np.log(mean) + (1 - test) * np.log(1 - mean)).sum(axis=(1, 2, 3)).mean()
    assert number(line, "pixels") < entropy - 2 and number(line, "codes") > 1
    assert len(image) == 8 and {len(row) for row in image} == {16}


def test_segmentation(run):
    (line,) = run("segmentation", "--epochs", 8, "--images", 200)
    assert number(line, "IoU") > 0.7


def test_dice_and_iou(rng):
    """Against sets of pixels."""
    example = module("segmentation")
    logits, masks = rng.normal(size=(3, 4, 5, 1)).astype("f"), (rng.random((3, 4, 5, 1)) < 0.5).astype("f")
    g = al.Graph()
    x, y = g.placeholder((None, 4, 5, 1)), g.placeholder((None, 4, 5, 1))
    dice, iou = g.run([example.dice(x, y), example.iou(x, y)], {x: logits, y: masks})
    for i in range(3):
        p, truth = 1 / (1 + np.exp(-logits[i].astype(np.float64))), masks[i] > 0
        assert dice[i] == pytest.approx(1 - (2 * p[truth].sum() + 1) / (p.sum() + truth.sum() + 1), rel=1e-5)
        assert iou[i] == pytest.approx(((logits[i] > 0) & truth).sum() / ((logits[i] > 0) | truth).sum(), rel=1e-6)


def test_dqn(run):
    """It walks straight to the end."""
    assert run("dqn", "--episodes", 60, "--length", 6) == ["steps 5 of 5 that are needed"]


def test_memory_map(run, tmp_path):
    """The sum of four features, from files of the size that was asked for."""
    (line,) = run("memory_map", "--examples", 4000, "--features", 16)
    assert number(line, "r2") > 0.9
    assert np.load(tmp_path / "x.npy", mmap_mode="r").shape == (4000, 16)


def test_sweep(monkeypatch):
    """Processes give what this one computes."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    program = [sys.executable, ROOT / "examples" / "sweep.py", "--processes", "1", "--epochs", "1", "--rates", "0.01"]
    line = subprocess.run(program, check=True, capture_output=True, text=True, timeout=60).stdout
    assert number(line, "accuracy") == pytest.approx(module("sweep").accuracy(0.01, 1), abs=1e-3)


def test_distributed(tmp_path):
    """Two processes end as one."""
    program, accuracies = (ROOT / "examples" / "distributed").with_suffix(".py"), []
    for processes in (1, 2):
        command = launch.command(processes, str(program), ["--epochs", "3"])
        environment = launch.environment(processes, 1)
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert f", processes {processes}\n" in done.stdout, done.stderr
        accuracies.append(number(done.stdout.splitlines()[-1].partition(",")[0], "accuracy"))
    assert accuracies[0] > 0.9 and accuracies[1] == pytest.approx(accuracies[0], abs=0.006)  # two of 359 images


def test_cross_validation(run):
    *lines, best = run("cross_validation", "--folds", 2, "--epochs", 3)
    assert len(lines) == 4
    assert 0.9 < max(number(line, "accuracy") for line in lines) == number(best, "accuracy")


@pytest.mark.skipif(al.device().kind != "cpu" or bool(al.device().system), reason="It is built for this framework.")
def test_run_package(tmp_path, alloy):
    """A program without Python, and the command, give the bits of the trainer."""
    program = ROOT / "build/editable/tests/example_run_package"
    assert program.exists(), "the target `tests` is not built"
    training, test = al.data.split(*al.data.digits())
    model = al.nn.Sequential(al.nn.Conv2D(8, 3, activation="relu"), al.nn.Flatten(), al.nn.Dense(10))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(3e-3))
    trainer.fit(training, epochs=1)
    trainer.export("model.mpsgraphpackage")
    images = np.ascontiguousarray(test[0])
    images.tofile("images.f32")
    np.save("images.npy", images)
    shape = "x".join(map(str, images.shape))
    command = [str(program), "model.mpsgraphpackage", shape, "images.f32", "scores.f32"]
    subprocess.run(command, check=True, timeout=60)
    assert alloy("run model.mpsgraphpackage images.npy -o scores.npy").status == 0
    scores = trainer.predict(images, batch_size=len(images))
    assert np.fromfile("scores.f32", np.float32).tobytes() == scores.tobytes() == np.load("scores.npy").tobytes()
    (tmp_path / "model.mpsgraphpackage").write_bytes(b"something else")
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and refused.stderr.endswith(
        "model.mpsgraphpackage is no package of this framework.\n"
    )


def test_hash_grid(run, tmp_path):
    """It is nearer to the image after a second than the MLP ever is."""
    mlp, grid, ratio = run("hash_grid", "--every", 12, "--seconds", 1, "--batch-size", 512)
    assert number(grid, "error") < 0.7 * number(mlp, "error")
    assert ratio.startswith("the MLP's best error")
    for name in ("fit.png", "error.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_hash_grid_against_its_formula(rng):
    """Each place by itself: of each level the four rows around it, by counting or by a hash, weighted by areas."""
    layer = module("hash_grid").HashGrid(levels=3, rows=64, features=2, coarsest=5, finest=40)
    graph = al.Graph()
    x = graph.placeholder((None, 2))
    step = graph.compile([x], [layer(x)])
    table = rng.normal(size=layer.table.shape).astype(np.float32)
    layer.table.assign(table)
    places = rng.random((50, 2)).astype(np.float32)
    (found,) = step(places)
    first = 0
    for level, cells in enumerate((5, 14, 40)):
        rows = min((cells + 1) ** 2, 64)
        for place, features in zip(places, found):
            y, x = place * np.float32(cells)
            total = np.zeros(2)
            for i, j in itertools.product((int(y), int(y) + 1), (int(x), int(x) + 1)):
                row = i * (cells + 1) + j if rows < 64 else (j ^ (i * 2654435761)) % 64
                total += (1 - abs(i - y)) * (1 - abs(j - x)) * table[first + row]
            np.testing.assert_allclose(features[2 * level : 2 * level + 2], total, rtol=1e-4, atol=1e-5)
        first += rows
