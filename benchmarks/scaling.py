"""Measures each kernel of a step on one thread and on many: python benchmarks/scaling.py [--workload A,B] [--threads N]

The numbers of threads take turns in one process. A kernel is an op and its shape; its calls in all layers count
together. "lost" is the time above that of perfect scaling, and orders the rows; "efficiency" is the perfect time's
share. The rates, on all threads, count only the arithmetic and the traffic that the ops need at least: a kernel near
the peaks of `bench_kernels` is bound by arithmetic or by memory, another by its serial parts and by waiting."""

import argparse
import os
import statistics
from collections import defaultdict

import alloy as al

TURNS = 5
SECONDS_A_TURN = 0.5


def measure(workload, threads):
    """Returns, for each kernel, its calls, FLOPs, bytes and seconds in a step by number of threads."""
    from workers.alloy import build

    session = build(workload, "Alloy", "", workload.network(), *workload.data())
    batch = session.batches[0]
    found = defaultdict(lambda: {"calls": 0, "flops": 0, "bytes": 0, "seconds": defaultdict(list)})
    for turn in range(TURNS + 1):
        for count in (1, threads):
            al.set_threads(count)
            one = session.step.profile(*batch, runs=1).seconds
            profile = session.step.profile(*batch, runs=max(2, min(200, int(SECONDS_A_TURN / one))))
            if turn == 0:
                continue  # warm-up
            totals = defaultdict(list)
            for kernel in profile.kernels:
                totals[f"{kernel.label} {'x'.join(map(str, kernel.shape))}"].append(kernel)
            for name, kernels in totals.items():
                row = found[name]
                row["calls"] = len(kernels)
                row["flops"] = sum(kernel.flops for kernel in kernels)
                row["bytes"] = sum(kernel.bytes for kernel in kernels)
                row["seconds"][count].append(sum(kernel.total for kernel in kernels) / profile.runs)
    return found


def report(kernels, threads, most):
    rows = []
    for name, row in kernels.items():
        alone, together = (statistics.median(row["seconds"][count]) for count in (1, threads))
        rows.append((name, row["calls"], alone, together, row["flops"], row["bytes"]))
    rows.sort(key=lambda row: row[2] / threads - row[3])
    total = [sum(column) for column in list(zip(*rows))[1:]]
    shown = rows[:most]
    if rest := rows[most:]:
        shown.append((f"({len(rest)} more)", *map(sum, list(zip(*rest))[1:])))
    lines = [f"{'kernel':<52} calls    1: ms  {threads:>3}: ms  share  efficiency  lost ms  GFLOP/s   GB/s"]
    for name, calls, alone, together, flops, size in [*shown, ("all", *total)]:
        perfect = alone / threads
        lines.append(
            f"{name[:52]:<52} {calls:>5} {1e3 * alone:>8.2f} {1e3 * together:>8.2f} {together / total[2]:>6.1%} "
            f"{perfect / together:>11.0%} {1e3 * (together - perfect):>8.2f} {flops / together / 1e9:>8.0f} "
            f"{size / together / 1e9:>6.0f}"
        )
    return "\n".join(lines)


def main():
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description="Measures the kernels of a step on one thread and on many.")
    parser.add_argument("--workload", default="resnet50_b64,resnet50_b256,mlp_large,transformer")
    parser.add_argument("--threads", type=int, default=cores, help="beside one; default: %(default)s")
    parser.add_argument("--most", type=int, default=14, help="kernels shown of a workload; default: %(default)s")
    arguments = parser.parse_args()
    os.environ.setdefault("BENCH_THREADS", str(arguments.threads))
    from workloads import WORKLOADS

    for name in arguments.workload.split(","):
        kernels = measure(WORKLOADS[name], arguments.threads)
        print(WORKLOADS[name].title, report(kernels, arguments.threads, arguments.most), "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
