"""A worker's side of the conversation with run.py: one JSON object per line in, one out. A worker holds sessions, each
a workload in one variant of one column of the report, and works only while it owes an answer.

Environment: BENCH_THREADS, how many threads a framework may use (run.py has set OpenMP's and the CPU affinity), and
BENCH_DEVICE, cpu (by default) or cuda."""

import gc
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from workloads import ALL_WORKLOADS

THREADS = int(os.environ["BENCH_THREADS"])
DEVICE = os.environ.get("BENCH_DEVICE", "cpu")


class Session(NamedTuple):
    step: Callable[..., Any]  # called with a batch; the work may still be in progress when it returns
    batches: list[tuple]  # of the framework's own tensors, used in turn
    finish: Callable[[Any], Any]  # the last step's loss or logits, for np.asarray; waits for all work
    close: Callable[[], Any] = lambda: None
    memory: Callable[[], Any] = lambda: None  # the most bytes of the GPU's memory that a step needs; may run one


def serve(versions: dict[str, str], variants: Callable, build: Callable) -> None:
    """Answers run.py's commands. versions: of the measured packages. variants(workload): for each column, the names of
    the variants to try. build(workload, column, variant, nodes, x, labels): a Session that starts from these values."""
    sessions = {}
    # A library's own output must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def describe():
        return {"versions": versions}

    def load(workload, column, variant):
        """Runs the first step, from the network's description to its loss."""
        work = ALL_WORKLOADS[workload]
        nodes, (x, labels) = work.network(), work.data()
        start = time.perf_counter()
        session = build(work, column, variant, nodes, x, labels)
        batches = itertools.cycle(session.batches)
        value = np.asarray(session.finish(session.step(*next(batches))))
        seconds = time.perf_counter() - start
        sessions[workload, column, variant] = session, batches, labels[0]
        return {"seconds": seconds, "loss": loss_of(value, labels[0])}

    def run(workload, column, variant, steps, reads_every):
        """Measures steps, from the first call until the last step is done. If it or the workload says so, waits for
        every step before the next."""
        session, batches, labels = sessions[workload, column, variant]
        every = reads_every or ALL_WORKLOADS[workload].reads_every_result
        start = time.perf_counter()
        for i in range(steps):
            result = session.step(*next(batches))
            if every or i + 1 == steps:
                value = np.asarray(session.finish(result))
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "loss": loss_of(value, labels)}

    def drop(workload, column, variant):
        sessions.pop((workload, column, variant))[0].close()
        gc.collect()  # cycles may hold a GPU's memory
        return {}

    def device_memory(workload, column, variant):
        session, *_ = sessions[workload, column, variant]
        return {"bytes": session.memory() if DEVICE == "cuda" else None}

    def peak_memory():
        with open("/proc/self/status") as status:
            return {"bytes": next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))}

    commands = {
        "describe": describe,
        "load": load,
        "run": run,
        "drop": drop,
        "device_memory": device_memory,
        "peak_memory": peak_memory,
        "variants": lambda workload: {"variants": variants(ALL_WORKLOADS[workload])},
    }
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = commands[command.pop("do")](**command)
        except Exception as error:  # run.py gets the error and omits this worker from the workload
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers)


def loss_of(value, labels) -> float:
    """Returns the loss itself, or the mean cross-entropy of logits."""
    value = value.astype(np.float64)
    if value.ndim == 0:
        return float(value)
    shifted = value - value.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]))
