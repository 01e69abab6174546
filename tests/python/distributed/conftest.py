"""The processes of the tests, which mpirun starts."""

import json
import subprocess
import sys

import pytest

SEEDED = """
import json, sys
import ml_dtypes
import numpy as np
import alloy as al

rank, size = al.distributed.rank(), al.distributed.size()

def given(rank):
    rng = np.random.default_rng(rank)
    return {
        "float32": rng.normal(size=(7, 143)).astype(np.float32),
        "float64": rng.normal(size=3),  # some parts are empty
        "bfloat16": rng.integers(-8, 8, 10).astype(ml_dtypes.bfloat16),
        "int64": rng.integers(-(2**40), 2**40, (2, 3)),
        "int32": np.zeros((2, 0, 3), np.int32),
        "numbers": (rank + 1, [0.25 * rank]),
    }

def tell(**values):
    print(json.dumps({"rank": rank, **values}), flush=True)
"""


# Processes that share no memory, as on several hosts.
MESSAGES = """
from alloy.distributed import processes
if size > 1:
    processes._ring()._shared = None
    processes._serve_steps(processes._ring())
"""


@pytest.fixture
def launched(tmp_path):
    """Runs code behind SEEDED in so many processes: gives their told values by rank, or the failed process."""

    def run(processes, code, fails=False, by_messages=False):
        script = tmp_path / "script.py"
        script.write_text(SEEDED + (MESSAGES if by_messages else "") + code)
        command = [sys.executable, "-m", "alloy.tools.cli", "launch", "-n", str(processes), "--threads", "1", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        if fails:
            assert done.returncode != 0
            return done
        assert done.returncode == 0, done.stderr
        told = sorted(
            (json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"),
            key=lambda values: values["rank"],
        )
        assert [values["rank"] for values in told] == [*range(processes)]
        return told

    return run
