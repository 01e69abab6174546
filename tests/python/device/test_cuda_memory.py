"""Memory, copies and failures of the CUDA device, on an imitated GPU that copies as late as it may, counts its objects
and lets calls fail."""

import subprocess
import sys
import textwrap

import pytest

from imitated_gpu import needs_imitation, with_imitation
from running import program

pytestmark = needs_imitation

SETUP = """
import ctypes, gc, sys
import numpy as np
import alloy as al
driver = ctypes.CDLL("libcuda.so.1")

def fail(call, before, result):
    driver.imitated_fail(call.encode(), ctypes.c_size_t(before), result)

def objects():
    gc.collect()
    kinds = "memory", "pinned", "stream", "event", "graph", "module"
    return {kind: driver.imitated_objects(kind.encode()) for kind in kinds}

n = 70_000  # floats, which are too many for memory of the host and two parts of a copy
images = np.random.default_rng(0).random(n).astype(np.float32)

def trained():
    graph = al.Graph()
    x, w = graph.placeholder((n,)), graph.variable(np.ones(n, np.float32))
    y = al.exp(x * graph.constant(np.arange(n, dtype=np.float32) / n)) * w
    loss = al.sum(y)
    return graph.compile([x], [loss, y], al.SGD(0.0).minimize(loss)), w
"""


def ends(tmp_path, *code, arguments=(), seconds=240):
    code = "\n".join([SETUP, *map(textwrap.dedent, code), 'print("end")'])
    done = program(code, *arguments, env=with_imitation(tmp_path), seconds=seconds)
    assert done.returncode == 0 and done.stdout + done.stderr == "end\n", done.stdout + done.stderr


def test_a_feed_may_change_once_it_is_given(tmp_path):
    code = """
    graph = al.Graph()
    x, w = graph.placeholder((n,)), graph.variable(np.arange(n, dtype=np.float32))
    step = graph.compile([x], [x + w], [graph.assign(w, w + 1.0)])
    values, given = np.arange(n, dtype=np.float32), []
    for i in range(5):
        batch = images * i
        given.append(step.submit(batch))
        batch[:] = np.nan
    for i, submitted in enumerate(given):
        np.testing.assert_array_equal(np.asarray(submitted[0]), images * i + (values + i))
    np.testing.assert_array_equal(w.numpy(), values + 5)
    """
    ends(tmp_path, code)


def test_memory_that_is_freed_while_bytes_travel_to_it_is_good_for_others(tmp_path):
    code = """
    for i in range(6):
        graph = al.Graph()
        graph.variable(np.full(n, np.nan, np.float32))  # nobody waits for its value
        del graph
        gc.collect()
        graph = al.Graph()
        x, w = graph.placeholder(()), graph.variable(np.full(n, float(i), np.float32))
        total, sums = graph.compile([x], [al.sum(w * x), w + x])(np.float32(2))
        np.testing.assert_array_equal(sums, np.full(n, i + 2.0))
        assert total == 2 * i * n
    """
    ends(tmp_path, code)


def test_free_memory_is_used_again_and_given_up_for_want(tmp_path):
    code = """
    trained()[0](images)
    kept, known = objects(), al.device_stats()["allocated_bytes"]
    for _ in range(5):
        trained()[0](images)
    assert objects() == kept, (objects(), kept)
    assert al.device_stats()["allocated_bytes"] == known
    fail("cuMemAlloc_v2", 0, 2)  # as if others had taken the GPU's memory meanwhile
    graph = al.Graph()
    w = graph.variable(np.ones(10 * n, np.float32))
    assert w.numpy().sum() == 10 * n
    assert objects()["memory"] < kept["memory"], (objects(), kept)
    """
    ends(tmp_path, code)


def test_machine_code_without_programs_is_unloaded(tmp_path):
    code = """
    def step_of(number):
        graph = al.Graph()
        x = y = graph.placeholder((7,))
        for bit in range(7):
            y = al.sqrt(y) if number >> bit & 1 else al.exp(y)
        return graph.compile([x], [y])
    ones = np.ones(7, np.float32)
    kept = [step_of(number) for number in range(3)]
    before = [step(ones)[0] for step in kept]
    for number in range(3, 40):
        step_of(number)(ones)
    assert objects()["module"] < 40, objects()
    for step, value in zip(kept, before):
        np.testing.assert_array_equal(step(ones)[0], value)
    step_of(3)(ones)  # whose code was unloaded
    """
    ends(tmp_path, code)


WORKS = """
def looped():
    graph = al.Graph()
    x = graph.placeholder((n,))
    y = al.while_loop(lambda y: al.sum(y) < 1e5, lambda y: y * 2.0, x)
    return graph.compile([x], [y])(images)

kept, w = trained()
works = {
    "program": lambda: trained()[0](images),
    "step": lambda: kept(images),
    "submission": lambda: [np.asarray(one) for one in kept.submit(images)],
    "read": lambda: [w.numpy()],
    "loop": looped,
}
"""


def test_a_call_that_fails_is_told_and_harms_nothing_else(tmp_path):
    code = """
    calls = '''
        cuMemAlloc_v2 cuMemHostAlloc cuMemHostGetDevicePointer_v2 cuMemcpyDtoHAsync_v2
        cuMemcpyHtoDAsync_v2 cuMemsetD8Async cuStreamCreate cuStreamSynchronize cuStreamQuery cuStreamWaitValue64_v2
        cuStreamWriteValue64_v2 cuModuleLoadData cuModuleGetFunction cuLaunchKernelEx cuGraphCreate
        cuGraphAddKernelNode_v2 cuGraphAddDependencies_v2 cuGraphInstantiateWithFlags
        cuGraphExecKernelNodeSetParams_v2 cuGraphLaunch'''
    def tried(work, call, before, result, expected, text):
        fail(call, before, result)
        try:
            work()
            return False
        except (MemoryError, al.DeviceError) as error:
            assert isinstance(error, expected) and text in str(error), (call, before, repr(error))
            return True
        finally:
            fail("", 0, 0)
    def every_failure(*expected):
        told = set()
        for name, work in works.items():
            good = work()
            for call in calls.split():
                before = 0
                while tried(work, call, before, *expected):
                    told.add(call)
                    for a, b in zip(work(), good, strict=True):
                        np.testing.assert_array_equal(a, b)
                    before += 1
        return told
    told = every_failure(2, MemoryError, "")
    known = {"cuMemAlloc_v2", "cuMemHostAlloc", "cuGraphLaunch", "cuLaunchKernelEx", "cuMemcpyHtoDAsync_v2"}
    assert told >= known, told
    once = objects()
    every_failure(999, al.DeviceError, "imitated error (999).")
    # Some blocks of memory are kept for later, and the last run may end meanwhile.
    assert all(count <= once[kind] + 5 for kind, count in objects().items()), (objects(), once)
    """
    ends(tmp_path, WORKS, code)


@pytest.mark.parametrize("call", ["cuGraphLaunch", "cuMemcpyHtoDAsync_v2", "cuStreamQuery", "cuMemAlloc_v2"])
def test_a_lost_gpu_is_told_and_nothing_hangs(tmp_path, call):
    code = """
    graph = al.Graph(device="cpu")
    x = graph.placeholder((2,))
    doubled = graph.compile([x], [x + x])
    for work in works.values():
        work()
    submitted = kept.submit(images)
    fail(sys.argv[1], 0, 700)
    try:
        trained()[0](np.ones(n, np.float32))
        raise AssertionError
    except al.DeviceError:
        pass
    for name, work in [("submitted", lambda: np.asarray(submitted[1])), *works.items()]:
        for _ in range(2):
            try:
                work()
                assert name == "submitted"
            except al.DeviceError as error:
                assert "(700), and this process cannot use the GPU any more." in str(error), (name, error)
    np.testing.assert_array_equal(doubled([1, 2])[0], [2, 4])
    """
    ends(tmp_path, WORKS, code, arguments=[call], seconds=60)


def test_two_processes_at_once(tmp_path):
    command = [sys.executable, "-c", SETUP + "for _ in range(3):\n    trained()[0](images)\nprint('end')"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    programs = [subprocess.Popen(command, env=with_imitation(tmp_path), **pipes) for _ in range(2)]
    for process in programs:
        assert process.communicate(timeout=120) == ("end\n", "")


def test_profiles_of_loops_take_a_bounded_number_of_events(tmp_path):
    code = """
    graph = al.Graph()
    x = graph.placeholder((40, 30))
    step = graph.compile([x], [al.sum(al.for_loop(0, 300, lambda i, y: al.tanh(y) * 1.5, x), axis=0)])
    batch = images[:1200].reshape(40, 30)
    step.profile(batch, runs=1)  # measures the peaks, too
    before = objects()
    kernels = step.profile(batch, runs=2).kernels
    assert objects() == before, (objects(), before)
    repeated = [kernel for kernel in kernels if kernel.shape == (40, 30)]
    assert len(repeated) == 1 and repeated[0].total > 100 * (repeated[0].end - repeated[0].begin) > 0, kernels
    assert all(0 < kernel.begin < kernel.end < 60 for kernel in kernels), kernels
    """
    ends(tmp_path, code)
