"""The world that tests run in is stricter than the users': a warning is an error, and a test that leaks
fails."""

import gc
import shlex
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import alloy as al


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error")


def pytest_collection_finish(session):
    gc.freeze()  # what is imported by now stays: the collection after each test need not look at it


@pytest.fixture(autouse=True)
def no_leak(request):
    before = al.stats()["live_objects"]
    yield
    request.node.funcargs.clear()  # pytest would keep the values of the test's other fixtures
    gc.collect()
    assert al.stats()["live_objects"] <= before, "the test leaves graphs or executables behind"
    gc.freeze()  # pytest keeps reports of all tests; without this every collection is slower than the last


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def graph():
    return al.Graph()


@pytest.fixture(params=["variable", "buffers"])
def storage(request):
    """Each way in which a graph keeps its variables."""
    return request.param


@pytest.fixture
def alloy(tmp_path, monkeypatch, capsys):
    """The command, in an empty directory: alloy("train --epochs 1") gives its status, out and err. Arguments of its own
    are not split."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(command, *arguments):
        from alloy.tools import cli

        monkeypatch.setattr(sys, "argv", ["alloy", *shlex.split(command), *map(str, arguments)])
        status = 0
        try:
            cli.app()
        except SystemExit as end:
            status = end.code or 0
            if isinstance(status, str):  # as the interpreter does
                print(status, file=sys.stderr)
                status = 1
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    return run
