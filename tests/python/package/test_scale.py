"""The measurement of several processes (benchmarks/distributed.py), and the model that is fitted to its rows."""

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[3]
BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))

import scale  # noqa: E402


@pytest.mark.parametrize("link", [[], ["--rate", "1gbit"]])
def test_each_row_says_what_two_processes_send(link, tmp_path):
    options = ["--processes", "2", "--threads", "1", "--workload", "mlp_small", "--json", "rows.json", *link]
    command = [sys.executable, BENCHMARKS / "distributed.py", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    if "No hosts here" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    alone, both = json.loads((tmp_path / "rows.json").read_text())
    gradients = 4 * (64 * 32 + 32 + 32 * 10 + 10)
    assert [row["processes"] for row in (alone, both)] == [1, 2] and alone["gradients"] == both[
        "gradients"
    ] == gradients
    assert alone["sent"] == 0 and both["sent"] == pytest.approx(2 * 1 / 2 * gradients, rel=0.05)
    assert 0 < both["exchange"] < both["step"] and both["rate"] == (125e6 if link else None)
    _, *lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["mlp_small", "1"], ["mlp_small", "2"]]


def made_rows(latency, bandwidth, hidden, spread):
    """Returns rows of a world that the model describes exactly: the ring is played message by message."""
    rows = []
    for workload, (size, computing) in enumerate([(94e6, 0.4), (1e6, 0.01), (5e3, 0.001)]):
        for count in (1, 2, 3, 4, 8):
            exchange = sum(latency + size / count / bandwidth for _ in range(2) for _ in range(count - 1))
            apart = computing * (1 + 0.02 * count)  # they share a memory
            late = apart * spread * math.sqrt(2 * math.log(count))
            made = {"workload": str(workload), "processes": count, "gradients": size, "spread": spread, "apart": apart}
            made |= {"step": apart + late + max(0, exchange - hidden * apart), "exchange": exchange}
            rows.append(made | {"hosts": True, "rate": bandwidth})
    return rows


@pytest.mark.parametrize("latency, bandwidth, hidden, spread", [(3e-5, 1e9, 0.0, 0.01), (2e-3, 1.25e8, 0.6, 0.1)])
def test_a_fit_finds_the_parameters_that_made_the_rows(latency, bandwidth, hidden, spread):
    rows = [row for row in made_rows(latency, bandwidth, hidden, spread) if row["processes"] > 1]
    link = scale.fitted(rows)
    assert link.latency == pytest.approx(latency, rel=1e-6) and 1 / link.inverse == pytest.approx(bandwidth, rel=1e-6)
    assert link.hidden == pytest.approx(hidden, abs=1e-6)
    assert max(map(abs, scale.left_out(rows))) < 1e-6
    rows[0]["step"] *= 2  # which the others do not know
    assert scale.left_out(rows)[0] == pytest.approx(-0.5, abs=1e-6)


def test_parameters_are_never_negative():
    """Less time for more processes would need a negative latency."""
    rows = [row for row in made_rows(0, 1e9, 0, 0) if row["processes"] > 1]
    for row in rows:
        row["exchange"] /= row["processes"]
    link = scale.fitted(rows)
    assert link.latency == 0 and link.inverse > 0


def test_the_slowest_of_many_takes_at_most_what_the_model_says():
    """The expected maximum of normal numbers, by drawing them."""
    random = np.random.default_rng(0)
    for count in (2, 8, 64, 512):
        slowest = np.mean(np.max(random.normal(1, 0.1, (2000, count)), axis=1))
        assert 0.9 * scale.step(count, 1, 0.1, 0, 0) < slowest < scale.step(count, 1, 0.1, 0, 0)


def test_the_first_number_that_is_not_worth_it():
    for power in (0.1, 0.3, 1.0):
        found = scale.first_below(lambda count: count**-power)
        assert found == next(count for count in range(2, 2**12) if count**-power < 0.5)
    assert scale.first_below(lambda count: 0.9) is None


def test_a_report_has_each_link_and_prediction():
    rows = made_rows(1e-4, 1e9, 0.2, 0.01)
    inside = [row | {"hosts": False, "rate": None} for row in made_rows(1e-5, 1e10, 0.0, 0.01)]
    parameters, errors, predictions = scale.report(rows + inside).split("\n\n")
    assert "| hosts, 8 Gbit/s | 100 | 1000 | 0.20 | 12 |" in parameters
    assert "| one host | 10 | 10000 | 0.00 | 12 |" in parameters
    assert {cell.strip("+-| ") for line in errors.splitlines()[2:] for cell in line.split(" | ")[5:]} == {"0%"}
    line = next(line for line in predictions.splitlines() if line.startswith("| hosts, 8 Gbit/s | 0 | ring"))
    # 8 processes of 94 MB, by hand: 2 * 7 * 0.1 ms + 2 * 7 / 8 * 94 ms, of which 0.2 * 408 ms are hidden.
    exposed = 0.0014 + 0.1645 - 0.2 * 0.408
    efficiency = 0.408 / (0.408 * (1 + 0.01 * math.sqrt(2 * math.log(8))) + exposed)
    assert line.split(" | ")[3] == f"{efficiency:.0%}"
    assert "8 on each host" in predictions


def test_the_page_shows_the_report_of_the_committed_rows():
    rows = json.loads((ROOT / "benchmarks/results/distributed.json").read_text())
    assert scale.report(rows) in (ROOT / "docs/scale.md").read_text()
