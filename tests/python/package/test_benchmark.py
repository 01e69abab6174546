"""The side-by-side benchmark, against a worker in NumPy: what it compares, times, refuses and writes."""

import contextlib
import dataclasses
import os
import pathlib
import runpy
import sys

import pytest

HERE = pathlib.Path(__file__).parent
BENCHMARKS = HERE.parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import report  # noqa: E402
import run  # noqa: E402
import scaling  # noqa: E402
import workloads  # noqa: E402
from workloads import WORKLOADS, Target  # noqa: E402

NUMPY = run.Peer("numpy", (sys.executable, str(HERE / "numpy_worker.py")))
ABSENT = run.Peer("absent", (sys.executable, "-c", "import absent"))
UNABLE = run.Peer("unable", (sys.executable, "-c", "from serve import serve; serve({}, lambda workload: {}, None)"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    peers = {"alloy": run.PEERS["alloy"], "numpy": NUMPY, "absent": ABSENT, "unable": UNABLE}
    with contextlib.closing(run.Bench(peers, threads=1, rounds=2, directory=tmp_path_factory.mktemp("bench"))) as bench:
        yield bench


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="reads /proc/stat")
def test_measures_who_computes_the_same_and_names_who_does_not(bench, tmp_path):
    assert set(bench.unavailable) == {"absent"} and "No module named 'absent'" in bench.unavailable["absent"]
    workload = dataclasses.replace(WORKLOADS["mlp_small"], neighbour=Target(1, 1))
    row, beside = bench.measure(workload)
    alloy, numpy = row["columns"]["Alloy"], row["columns"]["NumPy"]
    assert alloy["losses"] == pytest.approx(numpy["losses"], rel=1e-4) and len(alloy["losses"]) == 2
    assert all(len(column["seconds"]) == 2 and min(column["seconds"]) > 0 for column in (alloy, numpy))
    assert list(row["failed"]) == ["NumPy"] and row["failed"]["NumPy"].startswith("wrong: losses ")
    assert numpy["label"] == "" and list(numpy["tried"]) == [""]
    assert set(beside["columns"]) == {"Alloy", "NumPy"} and beside["target"] == {"at_least": 1, "aim": 1, "eager": None}
    assert row["alone"]["Alloy"]["peak_bytes"] > 2**20 and row["alone"]["NumPy"]["first_step_seconds"] > 0

    results = {
        "date": "2000-01-01",
        "rounds": 2,
        "threads": 1,
        "load": 0.0,
        "machine": run.machine(),
        "versions": bench.versions(),
        "unavailable": bench.unavailable,
        "quiet": bench.meter.shares(),
        "imports": {"alloy": [0.1]},
        "digits_steps": {"python": [3e-4, 4e-4, 5e-4], "native": [2.9e-4, 3.7e-4, 4.9e-4]},
        "native": [{"run_name": "peak", "real_time": 1.0, "time_unit": "us", "FLOP/s": 1e9}],
        "rows": [row, beside],
    }
    own = report.write(results, tmp_path)
    text = own.read_text()
    faster = report.ratio(row, "NumPy")
    for part in (
        row["title"],
        f"**{faster:.2f}** (NumPy)",
        "absent: ended with code 1",
        "1.0 (100 %)",
        "`import alloy`",
        "taking turns | at most 10 us |  | **10 us**",
    ):
        assert part in text
    assert (own.parent / "results.png").stat().st_size > 10_000

    # A second processor's report stands beside it.
    chip = {"CPU": "Chip(R) One Processor @ 2 GHz", "of its instructions": "avx2, fma"}
    other = report.write(results | {"machine": results["machine"] | chip}, tmp_path)
    assert other == tmp_path / "chip-one-avx2-1-thread/RESULTS.md"
    both = (tmp_path / "RESULTS.md").read_text()
    assert f"[Chip One, AVX2, 1 thread]({other.relative_to(tmp_path)})" in both
    assert f"| {row['title']} | **{faster:.2f}** | **{faster:.2f}** |" in both
    assert "## Training: one step, beside a busy process\n\n|  | 1 | 2 |" in both


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="reads /proc/stat")
def test_on_a_gpu_every_workload_is_measured_twice(tmp_path):
    with contextlib.closing(run.Bench({"numpy": NUMPY}, 1, 2, tmp_path, device="cuda")) as bench:
        row, every_loss_read = bench.measure(WORKLOADS["mlp_small"])
        (only,) = bench.measure(WORKLOADS["mlp_small_read"])
    assert row["target"] is None and every_loss_read["workload"] == "mlp_small_read"
    assert only["title"] == every_loss_read["title"] == "MLP 64-32-10, b32, SGD, every loss read"
    for each in (row, every_loss_read, only):
        assert len(each["columns"]["NumPy"]["seconds"]) == 2 and set(each["columns"]["NumPy"]["tried"]) == {"", "wrong"}
    cost = row["alone"]["NumPy"]
    assert cost["first_step_seconds"] > 0 and cost["peak_bytes"] is None and every_loss_read["alone"] is None


def test_report_of_a_gpu(tmp_path):
    def column(seconds, label="", **tried):
        return {"label": label, "losses": [1, 1], "seconds": [seconds] * 3, "tried": {label: seconds} | tried}

    columns = {"Alloy": column(2e-3, "submitted", called=3e-3), "PyTorch graph": column(1e-3, "fused")}
    row = {"workload": "resnet50_b64", "title": "ResNet-50", "inference": False, "beside_busy": False, "target": None}
    alone = {
        "Alloy": {"first_step_seconds": 2.5, "peak_bytes": 3 * 2**19},
        "PyTorch graph": {"first_step_seconds": 2.5, "peak_bytes": None},
    }
    row |= {"failed": {"JAX jit": "it is out of memory"}, "columns": columns, "alone": alone}
    results = {
        "date": "2000-01-01",
        "rounds": 3,
        "threads": 1,
        "load": 0.0,
        "machine": {"GPU": "NVIDIA H100 80GB HBM3", "driver": "580.1"} | run.machine(),
        "versions": {"PyTorch": "2"},
        "unavailable": {},
        "quiet": {"idle_workers": 0.0, "others": 0.0},
        "imports": {},
        "digits_steps": {},
        "native": [],
        "rows": [row],
    }
    own = report.write(results, tmp_path)
    assert own == tmp_path / "nvidia-h100-80gb-hbm3/RESULTS.md"
    text = own.read_text()
    for part in (
        "# Alloy beside its peers on one GPU",
        "| driver | 580.1 |",
        "**0.50** (PyTorch graph)",
        "| ResNet-50 | 1.50 MiB, 2.5 s | unknown, 2.5 s |",
        "**submitted** 2 ms; called 3 ms",
        "* ResNet-50, JAX jit: it is out of memory",
    ):
        assert part in text
    assert "## Goals" not in text and "OpenMP" not in text
    assert (own.parent / "results.png").stat().st_size > 10_000


def test_scaling_orders_kernels_by_what_they_lose():
    kernels = {
        "serial 4": {"calls": 1, "flops": 0, "bytes": 2_000_000, "seconds": {1: [1e-3], 4: [1e-3, 1e-3, 9e-3]}},
        "divided 8": {"calls": 2, "flops": 3_000_000, "bytes": 0, "seconds": {1: [4e-3], 4: [1e-3]}},
    }
    _, *rows = [line.split() for line in scaling.report(kernels, threads=4, most=9).splitlines()]
    assert rows == [
        ["serial", "4", "1", "1.00", "1.00", "50.0%", "25%", "0.75", "0", "2"],
        ["divided", "8", "2", "4.00", "1.00", "50.0%", "100%", "0.00", "3", "0"],
        ["all", "3", "5.00", "2.00", "100.0%", "62%", "0.75", "2", "1"],
    ]


def test_alloy_has_the_layers_of_all_workloads(monkeypatch):
    monkeypatch.setenv("BENCH_THREADS", "1")
    worker = runpy.run_path(str(BENCHMARKS / "workers/alloy.py"))
    nodes = [
        node
        for name in ("resnet18_b32", "cnn_digits", "lstm", "gru", "transformer")
        for node in WORKLOADS[name].network()
    ]
    assert [len(worker["sequential"]([node]).layers) for node in nodes] == [1] * len(nodes)
    inner = [
        node
        for part in nodes
        if isinstance(part.layer, workloads.Residual)
        for branch in part.values
        for node in branch
    ]
    kinds = {kind for kind in vars(workloads).values() if hasattr(kind, "_fields")} - {workloads.Node}
    assert {type(node.layer) for node in nodes + inner} == kinds


def test_a_peer_that_is_not_on_the_device(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "--device", "cuda", "--peers", "torch,mlx"])
    with pytest.raises(SystemExit):
        run.main()
    assert "argument --peers: mlx has no worker for cuda" in capsys.readouterr().err


def test_a_workload_that_is_none(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "--workload", "mlp_small,cnn"])
    with pytest.raises(SystemExit):
        run.main()
    assert "argument --workload: 'cnn' is none of resnet50_b64, " in capsys.readouterr().err


@pytest.mark.parametrize(
    "losses, wrong",
    [
        ({"a": [(1, 2)], "b": [(1, 2)]}, {}),
        ({"a": [(1, 2)], "b": [(1.00009, 2.019)]}, {}),
        ({"a": [(1, 2)], "b": [(1.0002, 2)]}, {"a": [0], "b": [0]}),  # two that differ: nobody knows who is right
        ({"a": [(1, 2)], "b": [(1, 2)], "c": [(1, 2.03)]}, {"c": [0]}),
        ({"a": [(1, 2)], "b": [(1, 2), (1, float("nan"))]}, {"b": [1]}),
        ({"a": [(1, 2), (3, 2)]}, {}),  # nobody to compare with
    ],
)
def test_disagreeing(losses, wrong):
    found = {name: [i for i, bad in enumerate(flags) if bad] for name, flags in run.disagreeing(losses).items()}
    assert {name: flags for name, flags in found.items() if flags} == wrong


def test_mixed_workloads_may_differ_more():
    losses = {"a": [(1, 2)], "b": [(1.009, 2.09), (1.011, 2)]}
    assert run.disagreeing(losses, run.MIXED_TOLERANCES) == {"a": [False], "b": [False, True]}
