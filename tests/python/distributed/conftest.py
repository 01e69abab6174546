"""The processes of the tests, which mpirun starts."""

import json
import os
import re
import signal
import subprocess
from contextlib import contextmanager, suppress

import pytest

from alloy.tools import launch

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
NUMBERED = """
import os
print("process", os.getpid(), "of rank", os.environ["OMPI_COMM_WORLD_RANK"], flush=True)
"""


# Processes share no memory, as on several hosts.
MESSAGES = """
from alloy.distributed import ring
ring.SharedMemory = lambda *_: None
"""


@pytest.fixture
def launched(tmp_path):
    """Runs code behind SEEDED in so many processes: gives their told values by rank, or the failed process. before:
    code before they connect."""

    def run(processes, code, fails=False, before="", by_messages=False):
        script = tmp_path / "script.py"
        script.write_text((MESSAGES if by_messages else "") + before + SEEDED + code)
        command, environment = launch.command(processes, str(script), []), launch.environment(processes, 1)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=tmp_path)
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


@pytest.fixture
def running(tmp_path):
    """Starts code behind SEEDED in so many processes: a context with mpirun and the processes' numbers by rank."""

    @contextmanager
    def start(processes, code, before=""):
        script, numbers = tmp_path / "script.py", {}
        script.write_text(NUMBERED + before + SEEDED + code)
        command, environment = launch.command(processes, str(script), []), launch.environment(processes, 1)
        pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with subprocess.Popen(command, env=environment, cwd=tmp_path, **pipes) as mpirun:
            try:
                while len(numbers) < processes:
                    line = mpirun.stdout.readline()
                    assert line, "the processes ended too early"
                    if found := re.match(r"process (\d+) of rank (\d+)", line):
                        numbers[int(found[2])] = int(found[1])
                yield mpirun, numbers
            finally:
                for number in (mpirun.pid, *numbers.values()) if mpirun.poll() is None else ():
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)

    return start
