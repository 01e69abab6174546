"""Sums and copies between processes, which mpirun starts."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import alloy as al
from alloy.distributed import cores
from alloy.tools import launch


@pytest.mark.parametrize(
    ("number", "processes", "threads"), [("8", 4, "8"), ("", 1, str(al.threads() or 1)), ("", 999, "1")]
)
def test_processes_share_the_cores_unless_told(monkeypatch, number, processes, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", number)
    assert launch.environment(processes, None)["OMP_NUM_THREADS"] == threads
    assert launch.environment(processes, 3)["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize("processes", [2, 3, 4])
def test_sums_are_those_of_all_processes_and_their_bits_the_same(processes, launched):
    code = """
import zlib
found, parts = al.distributed.all_reduce(given(rank)), [given(k) for k in range(size)]
for key in ("float32", "float64", "bfloat16", "int64", "int32"):
    exact = sum(part[key].astype(np.float64) for part in parts)
    bound = size * np.finfo(np.float32).eps * sum(np.abs(part[key].astype(np.float64)) for part in parts)
    assert found[key].dtype == parts[0][key].dtype and found[key].shape == exact.shape
    assert np.all(np.abs(found[key].astype(np.float64) - exact) <= bound * (key == "float32") + 1e-14), key
assert found["numbers"] == (size * (size + 1) // 2, [0.125 * size * (size - 1)])
from alloy.distributed import processes
shares_memory, processes._ring()._shared = processes._ring()._shared is not None, None
by_messages = al.distributed.all_reduce(given(rank))
assert shares_memory or sys.platform != "linux"
assert all(np.array_equal(found[key], by_messages[key]) for key in ("float32", "float64", "int64"))
tell(bits=[zlib.crc32(found[key].tobytes()) for key in ("float32", "float64")], threads=al.threads())
"""
    told = launched(processes, code) + (launched(processes, code) if processes == 3 else [])
    assert len({str(values["bits"]) for values in told}) == 1
    assert {values["threads"] for values in told} <= {1, None}


def test_a_broadcast_gives_the_values_of_its_root(launched):
    code = """
found = al.distributed.broadcast(given(rank), root=2)
for key in ("float32", "float64", "bfloat16", "int64"):
    assert np.array_equal(found[key], given(2)[key])
tell(numbers=found["numbers"], flag=al.distributed.broadcast(np.array([rank == 0])).tolist())
"""
    assert {str((values["numbers"], values["flag"])) for values in launched(3, code)} == {"([3, [0.5]], [True])"}


@pytest.mark.parametrize("by_messages", [True, False])
def test_each_process_sends_twice_the_array_less_its_share(by_messages, launched):
    code = """
from alloy.distributed import processes, ring
ring._MESSAGE = ring._MOST_BYTES = 1000  # so that a part is of many messages
processes._ring()._shared = None if MESSAGES else processes._ring()._shared
found = al.distributed.all_reduce(np.full(100_001, rank + 1, np.float32))
tell(right=bool(np.all(found == 10)), sent=processes._ring().sent)
"""
    for values in launched(4, code.replace("MESSAGES", str(by_messages))):
        assert values["right"] and values["sent"] == pytest.approx(2 * 3 / 4 * 4 * 100_001, rel=1e-4)


def test_processes_that_share_batches_train_as_one(launched):
    page = (Path(__file__).parents[3] / "docs/guides/distributed.md").read_text()
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    program = program.replace("print(", "str(") + "tell(error=float(error), weights=[v.numpy().ravel().tolist() for v "
    program += "in model.variables])"
    (alone,) = launched(1, program)
    for processes in (2, 3, 4):
        for values in launched(processes, program):
            assert values["error"] == pytest.approx(alone["error"], rel=1e-5)
            for found, expected in zip(values["weights"], alone["weights"]):
                assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_a_barrier_waits_for_all(launched):
    code = """
import time
time.sleep(0.3 * rank)
before = time.time()
al.distributed.barrier()
tell(before=before, after=time.time())
"""
    told = launched(3, code)
    assert min(values["after"] for values in told) >= max(values["before"] for values in told)


def test_processes_that_give_other_arrays_are_told_and_go_on(launched):
    code = """
mistakes = []
for values in (np.zeros(3 + (rank == 1)), np.zeros(3, np.float64 if rank else np.float32), [0] * (1 + rank)):
    try:
        al.distributed.all_reduce(values)
    except ValueError as error:
        mistakes.append(str(error))
tell(mistakes=mistakes, sum=al.distributed.all_reduce(1))
"""
    for values in launched(2, code):
        other = 1 - values["rank"]
        assert len(values["mistakes"]) == 3 and values["sum"] == 2
        assert all(f"or another call, in rank {other}; at" in text for text in values["mistakes"])


@pytest.mark.parametrize(
    "fails, says",
    [
        ("raise ValueError('the reason')", "Rank 1 failed: ValueError: the reason"),
        ("raise RuntimeError()", "Rank 1 failed: RuntimeError"),
        ("raise SystemExit(0)", "Rank 1 has ended; rank [02] waits for it"),
    ],
)
def test_a_process_that_ends_ends_those_that_wait_for_it(fails, says, launched):
    code = f"if rank == 1:\n    {fails}\nal.distributed.all_reduce(np.zeros(10))"
    started = time.monotonic()
    done = launched(3, code, fails=True)
    assert re.search(rf"ConnectionError: \[all_reduce\] {says}", done.stderr), done.stderr
    assert time.monotonic() - started < 20


def test_a_forked_process_ends_alone(launched):
    code = """
import os
child = os.fork()
if child == 0:
    sys.exit(0)
tell(status=os.waitpid(child, 0)[1], sum=al.distributed.all_reduce(1))
"""
    assert [(values["status"], values["sum"]) for values in launched(2, code)] == [(0, 2)] * 2


def test_a_process_that_has_ended_well_is_told_of_one_that_fails(launched):
    done = launched(2, "import time\nif rank == 1:\n    time.sleep(1)\n    raise ValueError('late')", fails=True)
    assert "[distributed] Rank 1 failed: ValueError: late.\n" in done.stderr


def test_one_process_needs_no_launcher():
    values = {"x": np.arange(3, dtype=np.float32), "n": 2, "flag": True}
    assert (al.distributed.rank(), al.distributed.size()) == (0, 1)
    al.distributed.barrier()
    found = al.distributed.broadcast(values)
    assert found == values | {"x": pytest.approx(values["x"])} and found["x"] is not values["x"]
    summed = al.distributed.all_reduce(values["x"])
    assert np.array_equal(summed, values["x"]) and not np.shares_memory(summed, values["x"])


@pytest.mark.parametrize(
    "call, kind, says",
    [
        (lambda d: d.all_reduce(True), TypeError, "[all_reduce] Expected numbers and arrays of them, got bool"),
        (lambda d: d.all_reduce("text"), TypeError, "[all_reduce] Expected numbers and arrays of them, got str"),
        (lambda d: d.all_reduce(np.zeros(2, "f4,i4")), TypeError, "arrays of them, got [('f0', '<f4')"),
        (
            lambda d: d.broadcast({"x": None}),
            TypeError,
            "[broadcast] Expected numbers and arrays of them, got NoneType",
        ),
        (lambda d: d.broadcast(1, root=1), ValueError, "[broadcast] Expected a rank below 1, got 1"),
        (lambda d: d.broadcast(1, root=-1), ValueError, "[broadcast] Expected a rank of 0 or more, got -1"),
        (
            lambda d: d.allreduce(1),
            AttributeError,
            "There is no al.distributed.allreduce; the nearest is al.distributed.all_reduce",
        ),
    ],
)
def test_mistakes(call, kind, says):
    with pytest.raises(kind) as error:
        call(al.distributed)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "before, says",
    [
        ("sys.modules['mpi4py'] = None", 'pip install "alloy-mpsgraph[mpi]"'),
        ("", "got another MPI's, which started 2 processes"),
    ],
)
def test_a_launcher_without_its_mpi_is_told(before, says):
    code = f"import sys\n{before}\nimport alloy as al\nal.distributed.size()"
    launched_by_another = os.environ | {"PMI_RANK": "0", "PMI_SIZE": "2"}
    done = subprocess.run([sys.executable, "-c", code], env=launched_by_another, capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stderr, done.stderr


def test_the_command_says_what_is_missing(alloy, tmp_path, monkeypatch):
    assert alloy("launch -n 2 nothing.py").err == "alloy: There is no file nothing.py.\n"
    (tmp_path / "script.py").write_text("")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert 'pip install "alloy-mpsgraph[mpi]"' in alloy("launch -n 2 script.py").err


def test_processes_of_a_host_have_cores_of_their_own(launched):
    """Linux may let two processes that wait for each other share a core for seconds, while another one is idle."""
    code = "al.distributed.barrier()\nimport os\ntell(own=sorted(os.sched_getaffinity(0)))"
    usable = os.sched_getaffinity(0)
    own = [set(values["own"]) for values in launched(2, code)]
    if len(cores.whole(sorted(usable))) >= 2:
        assert set.union(*own) == usable and sum(map(len, own)) == len(usable)
    threads = "import os\nos.environ['OMP_NUM_THREADS'] = '1000'\n"
    assert [set(values["own"]) for values in launched(2, code, before=threads)] == [usable] * 2


def test_hyperthreads_of_a_core_stay_together(tmp_path, monkeypatch):
    for processor in range(6):
        folder = tmp_path / f"cpu{processor}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{processor % 3},{processor % 3 + 3}\n")
    monkeypatch.setattr(cores, "_CORES", str(tmp_path))
    assert cores.whole([0, 1, 2, 3, 5, 7]) == [[0, 3], [1], [2, 5], [7]]
