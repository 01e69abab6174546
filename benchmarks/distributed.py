"""Measures trainings of several processes, each with a workload's batch:

    python benchmarks/distributed.py --processes 1,2,4 --threads 4 [--workload A,B] [--rate 1gbit] [--delay 1ms]

With --rate or --delay, each process is on a host of its own, in namespaces of this machine, whose link lets through
`rate` (tests/python/distributed/hosts.py). Times are medians over an epoch's steps; the slowest process counts.

step         of processes that train together (Trainer(distributed=True))
apart        of so many processes that train each for itself at the same time, on the same cores and memory
exchange     the time in all_reduce, of the process that waits least for the others
sent         megabytes in a step, by each process
of ring's    what is sent, in parts of 2 (k - 1) / k times the gradients' bytes
efficiency   examples in a second, in parts of k times those of one process
one process  a step of one process with all processes' threads and batches (on one host)
overlap      step in parts of the greater of one process's step and of the time to send at `rate` (with a rate)"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import alloy as al
from alloy.distributed import processes
from alloy.distributed.ring import Ring
from alloy.tools import launch

HOSTS = Path(__file__).parents[1] / "tests/python/distributed/hosts.py"
SECONDS, LEAST_STEPS, MOST_STEPS = 5.0, 10, 200  # of the measured epoch
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}  # in a second, as tc names them
COLUMNS = ("workload", "processes", "step ms", "apart ms", "exchange ms", "sent MB", "of ring's", "efficiency")


class Clock(al.Callback):
    """Notes, after each step, the time, the time in all_reduce so far, and the bytes that it has sent so far."""

    def __init__(self):
        self.marks, self.exchange = [], 0.0
        exchange = Ring.all_reduce

        def timed(*arguments, **options):
            begin = time.perf_counter()
            exchange(*arguments, **options)
            self.exchange += time.perf_counter() - begin

        Ring.all_reduce = timed

    def on_train_batch_end(self, step, logs):
        ring = processes._ring()
        self.marks.append((time.perf_counter(), self.exchange, ring.sent if ring else 0))

    def steps(self, count):
        """Returns the times, times in all_reduce and bytes of the last steps but one."""
        return np.diff(self.marks[-count:], axis=0).T


def work(name, batches, together):
    """Trains in one of the processes, and prints its times. batches: the number of batches that are one."""
    from workers.alloy import assign, sequential
    from workloads import WORKLOADS

    workload = WORKLOADS[name]
    nodes, (x, labels) = workload.network(), workload.data()
    size = workload.batch * batches * (al.distributed.size() if together else 1)
    # Contradictory labels, as in workloads.py.
    x, y = np.resize(x, (2 * size, *workload.input_shape)), np.concatenate([np.resize(y, size) for y in labels])
    model = sequential(nodes)
    model(al.Graph().placeholder((size, *workload.input_shape)), True)
    for pair in zip(model.layers, nodes):
        assign(*pair)
    optimizer, rate = workload.optimizer
    optimizer = {"sgd": al.SGD, "adam": al.Adam}[optimizer](rate)
    dtype = "bfloat16" if workload.mixed else "float32"
    trainer = al.Trainer(model, "softmax_cross_entropy", optimizer, dtype=dtype, distributed=together)
    clock, examples = Clock(), al.data.from_arrays(x, y).shuffle(seed=0)

    def train(count):
        data = examples.repeat(-(-count // 2)).batch(size).take(count)
        al.distributed.barrier()
        trainer.fit(data, callbacks=[clock], progress=False)
        return clock.steps(count)

    warm = np.median(train(LEAST_STEPS)[0])
    count = al.distributed.broadcast(max(LEAST_STEPS, min(MOST_STEPS, int(SECONDS / warm))))
    seconds, exchange, sent = train(count)
    quarters = np.quantile(seconds, [0.25, 0.5, 0.75])
    told = {
        "step": quarters[1],
        "exchange": np.median(exchange),
        "sent": np.median(sent),
        "spread": (quarters[2] - quarters[0]) / 1.349 / quarters[1],  # the deviation of a normal distribution
        "gradients": sum(v.numpy().nbytes for v in model.variables if v.trainable),
    }
    print(json.dumps({key: float(value) for key, value in told.items()}), flush=True)


def measure(name, count, threads, link, batches=1, together=True):
    """Returns what each of so many processes has told."""
    task = [__file__, "--worker", json.dumps([name, batches, together])]
    command = launch.command(count, task[0], task[1:])
    if link:
        command = [sys.executable, str(HOSTS), str(count), *link, "--", sys.executable, *task]
    environment = launch.environment(count, threads) | {"BENCH_THREADS": str(threads)}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, stdin=subprocess.DEVNULL, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode or len(told) != count:
        sys.exit(f"{name} of {count} processes has failed, with status {done.returncode}.")
    return told


def bytes_in_a_second(rate):
    """Returns the number for a rate of tc, such as 1gbit."""
    unit = rate.lstrip("0123456789.")
    return float(rate.removesuffix(unit)) * UNITS[unit] / 8


def rows_of(name, counts, threads, rate, link):
    """Measures a workload with each number of processes."""
    alone = None
    for count in sorted({1, *counts}):
        told = measure(name, count, threads, link)
        apart = told if count == 1 else measure(name, count, threads, link, together=False)
        row = {
            "workload": name,
            "processes": count,
            "threads": threads,
            "rate": bytes_in_a_second(rate) if rate else None,
            "hosts": bool(link),
            "step": max(values["step"] for values in told),
            "apart": max(values["step"] for values in apart),
            "exchange": min(values["exchange"] for values in told),
            "sent": max(values["sent"] for values in told),
            "gradients": told[0]["gradients"],
            "spread": statistics.median(values["spread"] for values in apart),
        }
        alone = alone or row["step"]
        row["efficiency"] = alone / row["step"]
        row["overlap"] = row["step"] / max(alone, row["sent"] / row["rate"]) if rate else None
        row["one process"] = None
        if count > 1 and not link:
            row["one process"] = measure(name, 1, threads * count, link, batches=count)[0]["step"]
        yield row


def line_of(row):
    """Returns the row of the table."""
    ring = 2 * (row["processes"] - 1) / row["processes"] * row["gradients"]
    cells = [f"{1e3 * row[key]:.2f}" for key in ("step", "apart", "exchange")]
    cells += [f"{row['sent'] / 1e6:.2f}", f"{row['sent'] / ring:.3f}" if ring else "-", f"{row['efficiency']:.0%}"]
    cells += [f"{row['overlap']:.2f}"] if row["overlap"] else []
    cells += [f"{1e3 * row['one process']:.2f}"] if row["one process"] else []
    return f"{row['workload']:<20}{row['processes']:>10}" + "".join(f"{cell:>12}" for cell in cells)


def main():
    parser = argparse.ArgumentParser(description="Measures trainings of several processes.")
    parser.add_argument("--processes", default="1,2,4", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=4, help="of each process; default: %(default)s")
    parser.add_argument("--workload", default="resnet50_b64,transformer,mlp_large,mlp_medium")
    parser.add_argument("--rate", help="of each host's link, such as 1gbit")
    parser.add_argument("--delay", help="of each packet between hosts, such as 1ms")
    parser.add_argument("--json", type=Path, help="adds the rows to this file, for scale.py")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return work(*json.loads(given.worker))
    link = [word for name in ("rate", "delay") if getattr(given, name) for word in (f"--{name}", getattr(given, name))]
    last = "overlap" if link else "one process"
    print(f"{COLUMNS[0]:<20}{COLUMNS[1]:>10}" + "".join(f"{name:>12}" for name in (*COLUMNS[2:], last)), flush=True)
    rows = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    for name in given.workload.split(","):
        for row in rows_of(name, map(int, given.processes.split(",")), given.threads, given.rate, link):
            print(line_of(row), flush=True)
            rows.append(row)
            if given.json:
                given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
