"""What al.device() says."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import alloy as al
from quirks import ROOT


def test_the_one_device():
    device = al.device()
    assert device.kind in ("cpu", "gpu") and device.name
    assert al.device(device.kind) == device
    assert isinstance(device.unified_memory, bool)
    # The portable device counts what it does; Apple's do not.
    assert (device.kind == "cpu") == (al.device_stats() is not None)
    if device.kind == "cpu":
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert 0 < device.memory <= machine and device.unified_memory


@pytest.mark.skipif(al.device().kind == "cpu", reason="the portable device tells")
def test_what_a_device_does_not_tell():
    graph = al.Graph()
    x = graph.placeholder((2,))
    step = graph.compile([x], [x * 2.0])
    assert step.memory_plan() is None and step.profile(np.float32([1, 2])) is None and al.threads() is None
    with pytest.raises(ValueError, match=r"\[profile\] Expected a number of runs of 1 or more, got 0"):
        step.profile(np.float32([1, 2]), runs=0)
    with pytest.raises(ValueError, match=r"\[set_threads\] Expected 1 or more threads, got 0"):
        al.set_threads(0)
    with pytest.raises(al.DeviceError, match=r"^\[set_threads\] .* has no choice of threads\.$"):
        al.set_threads(2)
    assert step(np.float32([1, 2]))[0].tolist() == [2, 4]


@pytest.mark.parametrize("kind", ["tpu", "CPU", "cpu:1", 0])
def test_another_device(kind):
    own = al.device().kind
    with pytest.raises(
        ValueError,
        match=rf"^\[device\] Expected '{own}', .*, got {re.escape(repr(kind))}; "
        r"called at .*test_device\.py:\d+\.$",
    ):
        al.device(kind)


@pytest.mark.skipif(al.device().kind != "cpu", reason="stands in for the portable device's functions")
@pytest.mark.parametrize(
    "extra, told", [({}, "3.0"), ({"ALLOY_TEST_NO_DEVICE": "1"}, "[device] This machine has no Metal device.")]
)
def test_a_machine_that_has_no_default_device(extra, told):
    """As some Macs for programs that are started over SSH: then all devices are asked for."""
    preloaded = ROOT / "build/editable/tests/libno_default_device.so"
    assert preloaded.exists(), "the target `tests` is not built"
    program = """if True:
        import alloy as al
        try:
            graph = al.Graph()
            print(graph.compile([], [graph.constant(1.0) + 2.0])()[0])
        except al.DeviceError as error:
            print(error)"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LD_PRELOAD": str(preloaded), **extra},
        capture_output=True,
        text=True,
    )
    assert ran.stdout.startswith(told), ran.stderr
