"""What al.device() says."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import alloy as al
from quirks import ROOT


def test_the_devices():
    devices = al.devices()
    assert al.device() == devices[0] and len({device.name for device in devices}) == len(devices)
    assert [al.device(f"{device.kind}:{device.number}") for device in devices] == devices
    for device in devices:
        assert device.kind and device.name and device.memory > 0 and isinstance(device.unified_memory, bool)
        assert al.device(device.name) == device and al.device(device.kind).kind == device.kind
    # The portable framework's count what they do; Apple's do not.
    assert (devices[0].kind == "gpu") == (al.device_stats() is None)
    if devices[0].kind != "gpu":
        cpu = al.device("cpu")
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert cpu in devices and cpu.memory <= machine and cpu.unified_memory


@pytest.mark.parametrize("device", al.devices(), ids=lambda device: device.kind)
def test_a_trainer_has_steps_in_flight_unless_they_take_the_hosts_cores(device):
    model = al.nn.Sequential(al.nn.Dense(1))
    model(al.Graph(device=device.name).placeholder((None, 2)))
    assert al.Trainer(model, "mean_squared_error", "sgd")._ahead() == (0 if device.kind == "cpu" else 1)


@pytest.mark.skipif(al.device().kind != "gpu", reason="the portable device tells")
def test_what_a_device_does_not_tell():
    graph = al.Graph()
    x = graph.placeholder((2,))
    step = graph.compile([x], [x * 2.0])
    assert step.memory_plan() is None and step.profile(np.float32([1, 2])) is None and al.threads() is None
    with pytest.raises(ValueError, match=r"\[profile\] Expected a number of runs of 1 or more, got 0"):
        step.profile(np.float32([1, 2]), runs=0)
    with pytest.raises(ValueError, match=r"\[set_threads\] Expected a number of threads of 1 or more, got 0"):
        al.set_threads(0)
    with pytest.raises(al.DeviceError, match=r"^\[set_threads\] .* has no choice of threads\.$"):
        al.set_threads(2)
    assert step(np.float32([1, 2]))[0].tolist() == [2, 4]


@pytest.mark.parametrize("kind", ["tpu", "CPU", "cpu:1", "cpu:00", 0])
def test_another_device(kind):
    own = al.device().kind
    with pytest.raises(
        ValueError,
        match=rf"^\[device\] Expected '{own}', .*, got {re.escape(repr(kind))}; "
        r"at .*test_device\.py:\d+\.$",
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


def test_a_graph_on_a_device_that_is_not_there():
    assert al.Graph(device=al.device().name).variables == []
    with pytest.raises(ValueError, match=r"^\[graph\] There is no device of the kind or name 'tpu'$"):
        al.Graph(device="tpu")


def run_on_the_remote_device(program, **environment):
    library = ROOT / "build/editable/tests/remote/libMetalPerformanceShadersGraph.so"
    assert library.exists(), "the target `tests` is not built"
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LD_LIBRARY_PATH": str(library.parent), **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(al.device().kind == "gpu", reason="only the portable framework can have another device")
def test_devices_are_looked_for_once_and_not_by_import():
    """A driver may take long, and must not be in use before a fork."""
    program = """if True:
        import sys
        import alloy as al
        print("imported", file=sys.stderr)
        print([device.kind for device in al.devices()], al.device().kind)"""
    ran = run_on_the_remote_device(program, ALLOY_REMOTE_TELLS="1")
    assert ran.stderr.splitlines() == ["imported", "The remote test device is looked for."]
    assert ran.stdout == "['remote', 'cpu'] remote\n"


@pytest.mark.skipif(al.device().kind == "gpu", reason="only the portable framework can have another device")
def test_a_device_rounds_only_where_it_may(tmp_path):
    """1 + 2**-12 has more than 10 bits of mantissa."""
    program = f"""if True:
        import alloy as al
        for precision in ("float32", "tf32"):
            graph = al.Graph(precision=precision)
            x = graph.placeholder((1, 1))
            step = graph.compile([x], [x @ graph.constant([[1.0]]), x * 1.0])
            step.export("{tmp_path}/step")
            loaded = [al.load_executable("{tmp_path}/step", device=device) for device in ("remote", "cpu")]
            for run in (step, *loaded):
                print(*[(result.item() - 1) * 2**12 for result in run([[1 + 2**-12]])])"""
    ran = run_on_the_remote_device(program, ALLOY_PRETEND="")  # macOS 13 has no packages
    assert ran.stdout.splitlines() == ["1.0 1.0"] * 3 + ["0.0 1.0"] * 2 + ["1.0 1.0"], ran.stderr


@pytest.mark.skipif(al.device().kind == "gpu", reason="only the portable framework can have another device")
def test_another_device_than_the_cpu():
    """It is the default one and computes what the CPU computes."""
    program = """if True:
        import alloy as al
        print([device.kind for device in al.devices()])
        graph = al.Graph()
        x = graph.placeholder((3,))
        print(graph.compile([x], [al.relu(x) * 2.0])([1, -2, 3])[0].tolist(), al.device_stats()["dispatches"])
        there = al.Graph(device="cpu", storage="buffers")
        count = there.variable([1.0, 2.0])
        step = there.compile([], [al.softmax(count)], [there.assign(count, count + 1.0)])
        step(), step()
        print(there.read_variables([count])[0].tolist(), al.device_stats()["dispatches"])"""
    ran = run_on_the_remote_device(program)
    kinds, values, others = ran.stdout.splitlines() or [ran.stderr]
    assert (kinds, values) == ("['remote', 'cpu']", "[2.0, 0.0, 6.0] 1")
    assert others == "[3.0, 4.0] 1", "the other graph ran on the CPU"


@pytest.mark.skipif(al.device().kind == "gpu", reason="only the portable framework can have another device")
def test_the_host_computes_ops_that_a_device_lacks():
    """In a training step, in a loop and in a branch; the profile names them."""
    program = """if True:
        import numpy as np
        import alloy as al
        def losses(device):
            graph = al.Graph(device=device)
            x, y = graph.placeholder((4, 3)), graph.placeholder((4, 3))
            w = graph.variable(np.float32(np.arange(9).reshape(3, 3) / 9))
            hidden = al.for_loop(0, 3, lambda i, h: al.tanh(h @ w), x)
            hidden = al.cond(al.sum(hidden) > 0.0, lambda: al.softmax(hidden), lambda: hidden)
            loss = al.mean(al.square(hidden - y))
            step = graph.compile([x, y], [loss], [graph.assign(w, w - al.softmax(w) * loss)])
            data = np.float32(np.arange(12).reshape(4, 3)), np.full((4, 3), 0.5, np.float32)
            values = [float(step(*data)[0]) for _ in range(3)]
            return values, {kernel.kind for kernel in step.profile(*data).kernels}
        (there, kinds), (here, _) = losses("remote"), losses("cpu")
        np.testing.assert_allclose(there, here, rtol=1e-5)
        print(*sorted(kind for kind in kinds if "host" in kind or kind in ("softmax", "tanh")), sep=", ")"""
    ran = run_on_the_remote_device(program, ALLOY_REMOTE_LACKS="softmax,tanh")
    assert ran.stdout.splitlines() == ["softmax on the host, tanh on the host"], ran.stderr
