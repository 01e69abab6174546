"""Prints a line of bits.py for each workload of the benchmark, with the alloy of the Python that runs it."""

import hashlib
import itertools
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STEPS = 20

os.environ["BENCH_THREADS"] = os.environ["OMP_NUM_THREADS"]
sys.path.insert(0, str(BENCHMARKS))

from workloads import WORKLOADS  # noqa: E402

# By its path, because it has the name of the package.
spec = spec_from_file_location("worker", BENCHMARKS / "workers" / "alloy.py")
worker = module_from_spec(spec)
spec.loader.exec_module(worker)

for name, workload in WORKLOADS.items():
    session = worker.build(workload, "", "", workload.network(), *workload.data())
    digest = hashlib.sha256()
    for batch in itertools.islice(itertools.cycle(session.batches), STEPS):
        digest.update(np.asarray(session.finish(session.step(*batch))).tobytes())
    for variable in session.step.graph.variables:
        digest.update(variable.numpy().tobytes())
    print(f"workload.{name} {digest.hexdigest()[:16]}", flush=True)
