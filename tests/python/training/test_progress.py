"""What a training shows in terminals of several widths, in files and in notebooks; and the plot of its history."""

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
import tty
import types

import numpy as np
import pytest

import alloy as al
from alloy.training.progress import Progress

VALUES = {"loss": 0.21785, "accuracy": 0.9284, "top_k_accuracy": 0.9931}
VALIDATION = {f"val_{name}": value for name, value in VALUES.items()}


class Screen:
    """A terminal that is so wide: a file to write into, and what was written there."""

    def __init__(self, columns):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        tty.setraw(slave)
        self.file = os.fdopen(slave, "w")

    def read(self) -> str:
        self.file.flush()
        os.set_blocking(self._master, False)
        found = b""
        while True:
            try:
                part = os.read(self._master, 65536)
            except (BlockingIOError, OSError):
                return found.decode()
            found += part

    def close(self):
        self.file.close()
        os.close(self._master)


@pytest.fixture
def screen():
    opened = []

    def make(columns):
        opened.append(Screen(columns))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def an_epoch(steps=45, values=VALUES, validation=VALIDATION, epochs=30):
    shown = Progress(True, epochs, 0, steps)
    shown.begin(9, 0)
    for step in range(1, 46, 11):
        shown.show(step, values)
    shown.end(values | validation)


@pytest.mark.parametrize("columns", [200, 80, 60, 40])
@pytest.mark.parametrize("steps", [45, 100_000, None])
def test_a_terminal(columns, steps, screen, monkeypatch):
    terminal = screen(columns)
    monkeypatch.setattr(sys, "stderr", terminal.file)
    monkeypatch.setattr(sys, "stdout", terminal.file)
    an_epoch(steps)
    *bars, last = re.split(r"\r", terminal.read())
    assert all(len(bar.rstrip()) < columns for bar in bars), "in one line"
    full = [bar for bar in bars if "loss 0.2178" in bar or "loss 0.2179" in bar]
    assert all(re.match("epoch  9/30  ", bar) for bar in bars if bar.strip())
    assert full and ("accuracy 0.9284" in full[-1] or columns < 80)
    assert ("█" in full[-1]) == (columns >= 80 and steps == 45)
    assert all(re.search(r"(\d\.\d{4}|left|\d\d:\d\d|\d steps|/\d+) *$", bar) for bar in bars if bar.strip()), (
        "whole words"
    )
    lines = last.splitlines()
    assert all(len(line) <= columns for line in lines) and not bars[-1].strip(), "the bar is gone"
    assert " ".join(" ".join(lines).split()) == "epoch 9/30 " + " ".join(
        f"{name} {value:.4f}" for name, value in (VALUES | VALIDATION).items()
    )
    if columns == 80:
        assert [line.split()[0] for line in lines] == ["epoch", "val_loss"]


def test_loss_and_accuracy_fit_into_80_columns(screen, monkeypatch):
    terminal = screen(80)
    monkeypatch.setattr(sys, "stdout", terminal.file)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    few = {"loss": 1.48, "accuracy": 0.64}
    an_epoch(values=few, validation={f"val_{name}": value for name, value in few.items()})
    assert terminal.read() == "epoch  9/30  loss 1.4800  accuracy 0.6400  val_loss 1.4800  val_accuracy 0.6400\n"


def test_a_file_gets_one_plain_line(screen, monkeypatch):
    """Also where the bars are seen: alloy train > log."""
    for stderr in (io.StringIO(), screen(60).file):
        log = io.StringIO()
        monkeypatch.setattr(sys, "stdout", log)
        monkeypatch.setattr(sys, "stderr", stderr)
        an_epoch()
        assert log.getvalue().count("\n") == 1 and "\r" not in log.getvalue()
        assert log.getvalue().endswith("val_top_k_accuracy 0.9931\n")
        assert not isinstance(stderr, io.StringIO) or stderr.getvalue() == ""


def test_a_narrow_terminal_breaks_lines_between_values(screen, monkeypatch):
    terminal = screen(20)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "stdout", terminal.file)
    an_epoch(values={"loss": 0.5, "accuracy": 0.25}, validation={"val_loss": 0.75})
    assert terminal.read() == "epoch  9/30\n  loss 0.5000\n  accuracy 0.2500\n  val_loss 0.7500\n"


@pytest.fixture
def notebook(monkeypatch):
    """A shell as of a notebook, in whose cell 3 this file stands."""
    shell = type("ZMQInteractiveShell", (), {})()
    cells = {__file__: ("Cell", "In[3]")}
    shell.compile = types.SimpleNamespace(format_code_name=cells.get)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, version_info=(9, 0)))


def test_a_notebook(notebook, monkeypatch):
    """Bars and lines are in one box: an empty one of the bar would stay before each line."""
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("COLUMNS", "80")
    an_epoch()
    assert "loss 0.2178" in out.getvalue() and err.getvalue() == ""
    left = "\n".join(line.rpartition("\r")[2] for line in out.getvalue().split("\n"))
    assert left.startswith("epoch  9/30  loss 0.2") and len(left.splitlines()) == 2


def test_messages_name_the_cell_of_a_notebook(notebook):
    x = al.Graph().placeholder((3,), name="x")
    with pytest.raises(ValueError, match=r"; built at In\[3\]:\d+\.$"):
        x.reshape(5, 5)
    assert re.fullmatch(r"In\[3\]:\d+", x.location)


def test_pictures_in_a_notebook(notebook):
    plot = al.History(loss=[2.0, 1.0]).plot()
    assert plot._repr_mimebundle_()["image/png"].startswith(b"\x89PNG")
    drawing = al.draw(al.relu(al.Graph().placeholder((3,))))
    assert drawing._repr_mimebundle_()["image/svg+xml"].startswith("<svg")


def test_pictures_elsewhere_need_a_path():
    with pytest.raises(ValueError, match=r'^\[plot\] Expected a path, as history.plot\("history.png"\), got none'):
        al.History(loss=[1.0]).plot()
    with pytest.raises(ValueError, match=r"^\[draw\] Expected a path that ends with .html or .svg, got None"):
        al.draw(al.relu(al.Graph().placeholder((3,))))


def test_odd_values(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    values = {"a": float("nan"), "b": float("inf"), "c": 1e-9, "d": 123456.0, "e": 3, "f": np.zeros((2, 2)), "{g}": 0.0}
    an_epoch(values=values, validation={})
    assert out.getvalue() == "epoch  9/30  a nan  b inf  c 1e-09  d 1.23e+05  e 3  {g} 0.0000\n"


def test_nothing_is_shown(capsys):
    shown = Progress(False, 3, 0, 10)
    shown.begin(1, 0)
    shown.show(3, VALUES)
    shown.end(VALUES)
    assert capsys.readouterr() == ("", "")


# ---- the plot of a history ----


def size(path):
    """The width and the height of a PNG, by its head."""
    return struct.unpack(">II", path.read_bytes()[16:24])


def history(count, epochs=5):
    names = [f"quantity_{i}" for i in range(count)]
    return al.History(
        {name: list(np.linspace(1, 0.1, epochs)) for name in [*names, *(f"val_{name}" for name in names)]}
    )


@pytest.mark.parametrize("count, columns, rows", [(1, 1, 1), (3, 3, 1), (4, 2, 2), (5, 3, 2), (9, 3, 3), (16, 4, 4)])
def test_a_plot_is_a_grid(count, columns, rows, tmp_path):
    history(count).plot(tmp_path / "h.png")
    assert size(tmp_path / "h.png") == (120 * max(4 * columns, 5), 120 * 3 * rows)


def texts(path):
    """What is written in an SVG of matplotlib, which names it in comments."""
    return re.findall(r"<!-- (.*?) -->", path.read_text())


def test_one_epoch_has_one_tick(tmp_path):
    al.History(loss=[0.5], val_loss=[0.6]).plot(tmp_path / "h.svg")
    found = texts(tmp_path / "h.svg")
    assert "1" in found and not {"0.95", "0.945", "1.05"} & {*found}
    assert {"loss", "epoch", "training", "validation"} <= {*found}


def test_what_cannot_be_plotted(tmp_path):
    for empty in (al.History(), al.History(loss=[]), al.History(confusion_matrix=[np.eye(2)])):
        with pytest.raises(ValueError, match=r"^\[plot\] Expected a history with numbers to plot, got none"):
            empty.plot(tmp_path / "h.png")
    assert not list(tmp_path.iterdir())
    al.History(loss=[1.0, float("nan"), float("inf"), 0.5], val_loss=[float("nan")] * 4, f=[np.eye(2)] * 4).plot(
        tmp_path / "h.svg"
    )
    assert "loss (no finite value of the validation)" in texts(tmp_path / "h.svg")
    al.History(val_auc=[0.5, 0.6]).plot(tmp_path / "only" / "h.svg")
    assert "auc" in texts(tmp_path / "only" / "h.svg")
