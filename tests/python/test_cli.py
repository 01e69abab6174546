"""The command, as its user runs it, and the examples."""
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.py"))


def run(*command, cwd):
    return subprocess.run([sys.executable, *map(str, command)], cwd=cwd, capture_output=True, text=True,
                          check=True, timeout=300)


def test_train(tmp_path):
    done = run("-m", "alloy.cli", "train", "--epochs", 1, "--seed", 3, "--output", "out", cwd=tmp_path)
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"test accuracy [01]\.\d{3}", last) and float(last.split()[-1]) > 0.5
    assert "epoch 1/1" in done.stderr and "step/s" in done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"model.safetensors", "history.png"}


def test_info(tmp_path):
    assert run("-m", "alloy.cli", "info", cwd=tmp_path).stdout.startswith("alloy ")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example, tmp_path):
    last = run(example, cwd=tmp_path).stdout.splitlines()[-1]
    expected = {
        "linear_regression": r"loss 0\.00\d\d, y = (3\.0\d|2\.9\d) x \+ -0\.(5|4)\d",
        "digits": r"test accuracy 0\.9\d\d"}
    assert re.fullmatch(expected[example.stem], last)
