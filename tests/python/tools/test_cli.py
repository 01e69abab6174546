"""The command, as its user runs it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import alloy as al
from alloy.messages.text import amount

KEPT = {"model.safetensors", "config.toml", "checkpoint.safetensors", "history.csv", "history.png"}


def test_train(tmp_path, alloy):
    done = alloy("train --epochs 1 --seed 3 --output out")
    first, *_, last = done.out.splitlines()
    assert re.fullmatch(r"test loss \d\.\d+, accuracy 0\.\d+", last) and float(last.split()[-1]) > 0.5
    assert re.fullmatch(r"epoch 1/1( +\w+ \d\.\d{4}){4}", first) and done.err == ""
    assert {path.name for path in (tmp_path / "out").iterdir()} == KEPT


def test_train_a_residual_network_on_cifar10(tmp_path, rng, alloy):
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        records = rng.integers(0, 256, (2, 3073), np.uint8)
        records[:, 0] %= 10
        records.tofile(tmp_path / name)
    done = alloy("train --model alloy.models:resnet18 --data alloy.data:cifar10 --path . --epochs 1 --batch-size 5")
    assert re.fullmatch(r"test loss [\d.e+]+, accuracy [01]\.?\d*", done.out.splitlines()[-1]), done.err
    assert (tmp_path / "runs" / "resnet18-cifar10" / "model.safetensors").stat().st_size > 4 * 11_181_642


def test_inspect(tmp_path, alloy):
    (tmp_path / "run.toml").write_text(
        'model = "alloy.models:resnet50"\ndata = "alloy.tools.demo:digits"\nsize = 32\nchannels = 3\n'
        'loss = "softmax_cross_entropy"\noptimizer = "adam"\n'
    )
    done = alloy("inspect run.toml --batch-size 2")
    rows = {row[0]: row for row in (line.split() for line in done.out.splitlines()) if row}
    assert re.search(r"^ +total +23,528,522 ", done.out, re.M)
    # 13x13 positions of 7x7 windows of 3 channels for 64 filters, and a matrix of 2048 by 10 with its bias.
    assert " ".join(rows["conv2d_0"][-3:]) == f"9,408 {amount(2 * 2 * 13 * 13 * 7 * 7 * 3 * 64)}"
    assert " ".join(rows["dense_0"][-3:]) == f"20,490 {amount(2 * 2 * 2048 * 10 + 2 * 10)}"
    assert " ".join(rows["stage3/block2/branch/conv2d_1"][1:5]) == "(2, 1, 1, 512)"
    if al.device().kind == "cpu":
        assert "training step" in done.out and float(rows["arena"][1]) > 0 and rows["arena"][2] == "MB"
    assert max(map(len, done.out.splitlines())) <= 80
    files = {path.name: path.read_text() for path in (tmp_path / "runs" / "resnet50").iterdir()}
    assert files.keys() == {"graph.svg", "graph.html"}
    assert files["graph.svg"].startswith("<svg") and "stage3" in files["graph.html"]
    assert "conv2d conv2d_0/conv2d, 6.36 M flops" in files["graph.html"]
    assert not re.search(r"typer|runpy|\w\.py:", files["graph.html"]), "places in no user's file"


def test_info(alloy):
    lines = alloy("info").out.splitlines()
    assert lines[0] == f"alloy {al.__version__}" and lines[1].startswith(f"device: {al.device().name}")
    assert not any(line.endswith(": 0") for line in lines)


# ---- what goes wrong ----

FILE = r"^alloy: Expected a directory to write into, got file(/x)?: [A-Z][a-z ]+\.\n$"


@pytest.mark.parametrize(
    "command, status, says",
    [
        ("train --output file", 1, FILE),
        ("train --output file/x", 1, FILE),
        ("train --output /proc/alloy", 1, "Expected a directory to write"),
        ("inspect --output file", 1, FILE),
        ("profile --trace file/x", 1, FILE.replace("(/x)?", "")),
        ("profile --trace .", 1, r"^alloy: .*Is a directory: '\.'\n$"),
        ("inspect --batch-size 1000000000", 2, "--batch-size"),
        (f"inspect --batch-size {2**70}", 2, "--batch-size"),
        ("profile --batch-size 0", 2, "--batch-size"),
        (f"profile --runs {10**12}", 2, "--runs"),
        ("profile --by nonsense", 2, "layer.*phase"),
        ("train --epochs 0", 2, "--epochs"),
        ("train --seed -1", 2, "--seed"),
        ("train --data alloy.data:cifar10 --path file", 1, "file/data_batch_1.bin"),
        ("train --data alloy.data:cifar10 --path none", 1, "none/data_batch_1.bin"),
        ("train --data alloy.data:cifar10", 1, "missing a required argument: 'path'"),
        ("train --path none", 1, "got 'path'"),
        ("train --model vgg", 1, "Expected model = \"FILE.py:FUNCTION\" in the settings, got 'vgg'"),
        ("train --dtype float8", 1, "bfloat16"),
        ("train --lr -1", 1, "lr"),
        ("trian", 2, "train"),
        ("info --loud", 2, "--loud"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence_before_anything_is_done(command, status, says, tmp_path, alloy):
    (tmp_path / "file").write_text("")
    done = alloy(command)
    assert done.status == status and done.out == "", done.err
    assert re.search(says, done.err, re.S) and "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_directory_that_is_missing_is_made_and_no_backend_is_needed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "alloy.tools.cli", "train", "--epochs", "1", "--output", "a/b"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=60,
        env={**os.environ, "MPLBACKEND": "junk"},
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == KEPT


def test_a_reader_may_leave(tmp_path):
    command = f"{sys.executable} -m alloy.tools.cli inspect | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("forward, 32 examples of 8x8x1") and done.stderr == ""


def test_a_working_directory_that_is_gone_costs_a_file_name(tmp_path):
    script = """
import os, tempfile
here = tempfile.mkdtemp()
os.chdir(here), os.rmdir(here)
import alloy as al
x = al.Graph().placeholder((2,))
print(x.location)
try:
    x + al.Graph().placeholder((3,))
except ValueError as error:
    print(error)
from alloy.tools import cli
import sys
sys.argv = ["alloy", "train", "--epochs", "1"]
cli.app()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[0] == "<string>:6" and "built at <string>:9" in done.stdout.splitlines()[1]
    assert (
        done.returncode == 1
        and done.stderr
        == "alloy: Expected a directory to write into, got runs/cnn-digits: No such file or directory.\n"
    )


def test_importing_the_package_imports_none_of_its_tools():
    slow = ("typer", "click", "rich", "matplotlib", "tqdm", "tomllib", "tomli_w", "PIL", "alloy.tools.drawing")
    script = f"import alloy, sys; print({{*sys.modules}} & {{*{slow!r}}}, end='')"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()"
