"""The side-by-side benchmark: each framework has a warm process. They take turns, so that disturbances meet
all of them alike. This file measures, report.py writes. Linux only, for it reads /proc.

    python benchmarks/run.py --output benchmarks                                  everything, as `make bench` does
    python benchmarks/run.py --workload mlp_small --peers torch,jax --rounds 5    a part, to build/bench
    python benchmarks/run.py --device cuda --output benchmarks/results            on one NVIDIA GPU
"""

import argparse
import contextlib
import datetime
import json
import math
import os
import platform
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import report
from workloads import ALL_WORKLOADS, GPU_WORKLOADS, WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"

TOLERANCES = 1e-4, 1e-2  # relative, between frameworks: of the loss of the first step, and after three more
MIXED_TOLERANCES = 1e-2, 5e-2  # of workloads in bfloat16, which has 8 bits, and in TF32
BLOCK_SECONDS = 0.1  # of work in one turn
SETTLE_SECONDS = 0.01  # between turns: OpenMP's threads spin on for some milliseconds
TRIAL_ROUNDS = 3
TRIAL_MARGIN = 1.1  # variants slower than the best of their column by this factor are dropped after the trial
BUDGET_SECONDS = 6  # of an entry's turns in one workload: a slow entry takes part in fewer rounds
IMPORT_ROUNDS = 5
ANSWER_SECONDS = 900
NATIVE = BUILD / "editable/benchmarks"

# Environments in which a peer may be faster, by name; all use the first one. Passive waiting, in which OpenMP's threads
# sleep at once, is slower on a quiet machine and faster beside a busy process.
PLAIN = {"": {}}
PASSIVE = {"passive waiting": {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}}
NO_ONEDNN = {"without oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "0"}}
# JAX would take three quarters of the GPU's memory at once, which the others need, too.
ON_GPU = {"": {"BENCH_DEVICE": "cuda", "ALLOY_DEVICE": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}}

# The names of Linux for what decides how fast a processor multiplies.
INSTRUCTIONS = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16")


@dataclass(frozen=True)
class Peer:
    imports: str  # the module whose import is timed
    command: tuple[str, ...]  # starts a worker
    environments: dict[str, dict[str, str]] = field(default_factory=PLAIN.copy)
    python: tuple[str, ...] = (sys.executable,)  # starts an interpreter that has it


def _peer(name, imports, environments=PLAIN, python=(sys.executable,)):
    return Peer(imports, (*python, "-m", f"workers.{name}"), environments, python)


PEERS = {
    "alloy": _peer("alloy", "alloy"),
    "torch": _peer("torch", "torch", PLAIN | PASSIVE),  # the only peer that computes with OpenMP
    "jax": _peer("jax", "jax"),
    "mlx": _peer("mlx", "mlx.core, mlx.nn"),
    "tensorflow": _peer("tensorflow", "tensorflow, keras", PLAIN | NO_ONEDNN),
}
PEERS_OF = {
    "cpu": PEERS,
    "cuda": {name: replace(PEERS[name], environments=ON_GPU) for name in ("alloy", "torch", "jax")},
}


class WorkerError(Exception):
    """A sentence that says why a worker failed."""


class Worker:
    """A process that only works while the coordinator waits for its answer."""

    def __init__(self, name: str, peer: Peer, environment: str, threads: int, directory: Path):
        """Starts the process. directory: for its files, such as frameworks' caches of compiled code."""
        self.name, self.peer, self.environment = name, peer, environment
        self._log = directory / f"{name}.log"
        self._variables = (
            os.environ
            | peer.environments[environment]
            | {
                "BENCH_THREADS": str(threads),
                "OMP_NUM_THREADS": str(threads),
                "TORCHINDUCTOR_CACHE_DIR": f"{directory}/inductor",
                "XDG_CACHE_HOME": f"{directory}/cache",  # where Alloy keeps machine code for a GPU
            }
        )
        self.start()

    def start(self):
        with open(self._log, "a") as log:
            self._process = subprocess.Popen(
                self.peer.command,
                cwd=HERE,
                env=self._variables,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.versions = self.ask("describe")["versions"]

    @property
    def alive(self):
        return self._process.poll() is None

    def ask(self, do: str, **arguments) -> dict:
        try:
            print(json.dumps({"do": do} | arguments), file=self._process.stdin, flush=True)
            in_time, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        except BrokenPipeError:
            in_time = True
        line = self._process.stdout.readline() if in_time else ""
        if not line:
            self.close()
            last = [line for line in self._log.read_text().splitlines() if line.strip()][-1:]
            raise WorkerError(
                " ".join([f"ended with code {self._process.returncode}.", *last])
                if in_time
                else f"gave no answer to {do} within {ANSWER_SECONDS} s"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds that its threads have used so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@dataclass(eq=False)
class Entry:
    """One way to compute a workload: a variant of a column, in one worker."""

    worker: Worker
    workload: str
    column: str
    variant: str
    losses: tuple[float, ...] = ()  # of the first step, and after three more
    cost: dict[str, float] = field(default_factory=dict)  # on a GPU, of the first step
    reads_every: bool = False  # waits for each step's loss before the next step, whatever the workload says
    steps: int = 3  # of a block
    seconds: list[float] = field(default_factory=list)  # for each step, block by block
    spent: float = 0.0

    @property
    def label(self):
        return ", ".join(filter(None, [self.variant, self.worker.environment]))

    @property
    def median(self):
        return statistics.median(self.seconds)

    def ask(self, do, **arguments):
        return self.worker.ask(do, workload=self.workload, column=self.column, variant=self.variant, **arguments)

    def load(self):
        """Runs the four steps that are compared between frameworks."""
        first = self.ask("load")
        self.losses = first["loss"], self.block()
        self.cost = {"first_step_seconds": first["seconds"], "peak_bytes": None}
        with contextlib.suppress(WorkerError):  # it may not know; the times are wanted all the same
            self.cost["peak_bytes"] = self.ask("device_memory")["bytes"]

    def block(self) -> float:
        """Runs a block of steps and returns the last step's loss."""
        answer = self.ask("run", steps=self.steps, reads_every=self.reads_every)
        if not math.isfinite(answer["loss"]):
            raise WorkerError(f"the loss became {answer['loss']}")
        self.seconds.append(answer["seconds"] / self.steps)
        self.spent += answer["seconds"]
        return answer["loss"]

    def warm_up(self):
        """Runs growing blocks to find the number of steps in BLOCK_SECONDS."""
        while self.seconds[-1] * self.steps < BLOCK_SECONDS / 2:
            self.steps = math.ceil(min(BLOCK_SECONDS / self.seconds[-1], 20 * self.steps))
            self.block()
        self.steps = max(1, round(BLOCK_SECONDS / self.seconds[-1]))

    def report(self) -> dict:
        return {"label": self.label, "losses": self.losses, "seconds": self.seconds}


class Meter:
    """CPU seconds during turns: of the workers that had no turn, and of all processes that are not workers."""

    def __init__(self):
        self.seconds = self.idle_workers = self.others = 0.0

    @contextlib.contextmanager
    def turn(self, worker, workers):
        before = self._read(worker, workers)
        yield
        seconds, own, all_workers, machine = (b - a for a, b in zip(before, self._read(worker, workers)))
        self.seconds += seconds
        self.idle_workers += all_workers - own
        self.others += machine - all_workers

    def shares(self) -> dict[str, float]:
        """Returns the uses as fractions of one core."""
        seconds = self.seconds or 1  # no worker had a turn
        return {"idle_workers": self.idle_workers / seconds, "others": self.others / seconds}

    @staticmethod
    def _read(worker, workers):
        user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split()[1:8])
        busy = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), worker.cpu_seconds(), sum(w.cpu_seconds() for w in workers if w.alive), busy


def disagreeing(losses: dict[str, list[tuple[float, ...]]], tolerances=TOLERANCES) -> dict[str, list[bool]]:
    """Returns for each peer's variants if they differ by more than the tolerances from most other peers, of which the
    first variant counts."""

    def agree(a, b):
        return all(abs(x - y) <= tolerance * abs(y) for x, y, tolerance in zip(a, b, tolerances))

    def differs(peer, mine):
        others = [variants[0] for name, variants in losses.items() if name != peer]
        return sum(not agree(mine, other) for other in others) > len(others) / 2

    return {peer: [differs(peer, mine) for mine in variants] for peer, variants in losses.items()}


def best(entries, key) -> dict:
    """Returns the fastest entry of each key."""
    found = {}
    for entry in sorted(entries, key=lambda entry: entry.median):
        found.setdefault(key(entry), entry)
    return found


def medians(entries) -> dict[str, dict[str, float]]:
    """Returns for each column the medians of its variants."""
    found = {}
    for entry in entries:
        found.setdefault(entry.column, {})[entry.label] = entry.median
    return found


@contextlib.contextmanager
def busy_process():
    """Starts a process that keeps one core busy, wherever the system puts it; it ends with this
    process."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: sum(range(100000))"
    process = subprocess.Popen([sys.executable, "-c", loop])
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Bench:
    """The workers and their common measurements."""

    def __init__(self, peers: dict[str, Peer], threads: int, rounds: int, directory: Path, device: str = "cpu"):
        self.peers, self.threads, self.rounds, self.directory = peers, threads, rounds, directory
        self.device = device
        self.workers, self.unavailable, self.meter = [], {}, Meter()
        for name, peer in peers.items():
            try:
                for environment in peer.environments:
                    self.workers.append(Worker(name, peer, environment, threads, directory))
            except WorkerError as error:
                self.unavailable[name] = str(error)

    def close(self):
        for worker in self.workers:
            worker.close()

    def measure(self, workload: Workload) -> list[dict]:
        """Returns the workload's row of the report, and its row beside a busy process if there is one; on a GPU, its
        row with every loss read."""
        failed = {}
        if self.device == "cuda":
            workload = replace(workload, target=None, neighbour=None)  # which are of the CPU
        tolerances = MIXED_TOLERANCES if workload.mixed or workload.tf32 else TOLERANCES
        entries = self._compared(self._loaded(workload, failed), tolerances, failed)
        # The slowest entries only have time for the three steps of the check.
        slow = [entry for entry in entries if entry.spent > BUDGET_SECONDS]
        quick = self._each([entry for entry in entries if entry not in slow], Entry.warm_up, failed)
        quick, final = self._trial(quick, failed)
        tried = medians(slow + quick)
        leaders = best(quick, lambda entry: entry.column)
        # Beside a busy process, the other environment may be better.
        each = list(best(quick, lambda entry: (entry.column, entry.worker)).values())

        measured = best(slow + self._turns(final, self.rounds, failed), lambda entry: entry.column)
        row = {
            "workload": workload.name,
            "title": workload.title,
            "inference": workload.optimizer is None,
            "beside_busy": False,
            "target": workload.target and asdict(workload.target),
            "failed": failed,
            "columns": {column: entry.report() | {"tried": tried[column]} for column, entry in measured.items()},
        }
        rows = [row]
        failed = {entry.column: "too slow to be measured twice" for entry in slow if entry.column not in leaders}
        if self.device == "cuda":
            row["alone"] = {column: entry.cost for column, entry in measured.items()}
            if not workload.reads_every_result:
                rows.append(self._every_loss_read(workload, row, quick, failed))
        if workload.neighbour:
            with busy_process():
                beside = best(self._turns(each, self.rounds, failed), lambda entry: entry.column)
            rows.append(
                row
                | {
                    "title": f"{workload.title}, beside a busy process",
                    "beside_busy": True,
                    "target": asdict(workload.neighbour),
                    "failed": failed,
                    "columns": {column: entry.report() for column, entry in beside.items()},
                }
            )
        self._each(entries, lambda entry: entry.ask("drop"), {})
        if workload.target:
            row["alone"] = {column: self._alone(entry) for column, entry in measured.items()}
        return rows

    def _trial(self, entries, failed):
        """Measures all variants a few times; returns those that succeeded, and of these the good ones."""
        entries = self._turns(entries, TRIAL_ROUNDS, failed)
        leaders = best(entries, lambda entry: entry.column)
        return entries, [entry for entry in entries if entry.median <= TRIAL_MARGIN * leaders[entry.column].median]

    def _every_loss_read(self, workload, row, entries, failed):
        """Measures the same variants while each step's loss is waited for before the next step."""
        for entry in entries:
            entry.reads_every = True
        entries, final = self._trial(entries, failed)
        tried = medians(entries)
        measured = best(self._turns(final, self.rounds, failed), lambda entry: entry.column)
        return row | {
            "workload": f"{workload.name}_read",
            "title": f"{workload.title}, every loss read",
            "alone": None,
            "failed": failed,
            "columns": {column: entry.report() | {"tried": tried[column]} for column, entry in measured.items()},
        }

    def versions(self) -> dict[str, str]:
        return {name: version for worker in self.workers for name, version in worker.versions.items()}

    def _loaded(self, workload, failed):
        entries = []
        for worker in self.workers:
            try:
                if not worker.alive:
                    worker.start()
                variants = worker.ask("variants", workload=workload.name)["variants"]
            except WorkerError as error:
                failed[worker.name] = str(error)
                continue
            entries += [
                Entry(worker, workload.name, column, variant) for column, names in variants.items() for variant in names
            ]
        return self._each(entries, Entry.load, failed)

    def _compared(self, entries, tolerances, failed):
        peers = {}
        for entry in entries:
            peers.setdefault(entry.worker.name, []).append(entry)
        losses = {name: [entry.losses for entry in group] for name, group in peers.items()}
        wrong = disagreeing(losses, tolerances)

        def check(entry):
            if wrong[entry.worker.name][peers[entry.worker.name].index(entry)]:
                raise WorkerError(
                    "losses {:.6g} and, after three steps, {:.6g} are not those of the others".format(*entry.losses)
                )

        return self._each(entries, check, failed)

    def _turns(self, entries, rounds, failed):
        """Runs blocks in turn; each round begins with another entry."""
        for entry in entries:
            entry.seconds, entry.spent = [], 0.0

        def turn(entry):
            # All entries take part in the first rounds.
            if entry.spent <= BUDGET_SECONDS or len(entry.seconds) < TRIAL_ROUNDS:
                time.sleep(SETTLE_SECONDS)
                with self.meter.turn(entry.worker, self.workers):
                    entry.block()

        for _ in range(rounds):
            entries = self._each(entries, turn, failed)
            entries = entries[1:] + entries[:1]
        return entries

    def _each(self, entries, action, failed):
        """Returns the entries for which the action succeeded; notes under the columns why others failed."""
        succeeded = []
        for entry in entries:
            try:
                action(entry)
                succeeded.append(entry)
            except WorkerError as error:
                failed[entry.column] = ": ".join(filter(None, [entry.label, str(error)]))
        return succeeded

    @contextlib.contextmanager
    def _in_new_process(self, entry):
        """Runs the same entry in a process of its own."""
        worker = entry.worker
        with tempfile.TemporaryDirectory() as directory:
            fresh = Worker(worker.name, worker.peer, worker.environment, self.threads, Path(directory))
            with contextlib.closing(fresh):
                yield Entry(fresh, entry.workload, entry.column, entry.variant, steps=1)

    def _alone(self, entry):
        """Returns the first step's seconds and the peak memory."""
        with self._in_new_process(entry) as alone:
            first = alone.ask("load")
            alone.block()
            return {"first_step_seconds": first["seconds"], "peak_bytes": alone.worker.ask("peak_memory")["bytes"]}

    def digits_steps(self) -> dict[str, list[float]]:
        """Measures the digits CNN's step from Python and in the native binary, in turns. Every turn is a new
        process, because a step's time depends on the addresses of its memory."""
        worker = next(worker for worker in self.workers if worker.name == "alloy")
        python, found = [], []
        for _ in range(self.rounds):
            with self._in_new_process(Entry(worker, "cnn_digits", "Alloy", "")) as entry:
                entry.load()
                entry.warm_up()
                entry.steps *= 4
                entry.block()
                python.append(entry.seconds[-1])
            found += native(
                NATIVE / "bench_step", self.threads, "--benchmark_filter=digits_step", "--benchmark_min_time=0.4"
            )
        return {"python": python, "native": [run["real_time"] * 1e-6 for run in found]}

    def imports(self) -> dict[str, list[float]]:
        """Measures the seconds of an import in a new interpreter."""
        found = {name: [] for name in self.peers if name not in self.unavailable}
        for _ in range(IMPORT_ROUNDS):
            for name, seconds in found.items():
                code = (
                    f"import time; start = time.perf_counter(); import {self.peers[name].imports}; "
                    "print(time.perf_counter() - start)"
                )
                command = [*self.peers[name].python, "-c", code]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds.append(float(done.stdout.split()[-1]))
        return found


def native(program: Path, threads: int, *options: str) -> list[dict]:
    """Returns the output of a C++ benchmark of the build tree."""
    done = subprocess.run(
        [program, "--benchmark_format=json", *options],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    return [run | {"program": program.name} for run in json.loads(done.stdout)["benchmarks"]]


def all_native(threads: int) -> list[dict]:
    """Returns the median of each C++ benchmark."""
    found = []
    for program in sorted(NATIVE.glob("bench_*")):
        found += native(program, threads, "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true")
    return [run for run in found if run["aggregate_name"] == "median"]


def gpu() -> dict[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return dict(zip(("GPU", "driver", "GPU's memory"), found.split(", ")))


def machine() -> dict[str, str]:
    told = dict(line.replace("\t", "").split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if line)
    features = set(told["flags"].split())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "CPU": f"{told['model name'].strip()} (family {told['cpu family'].strip()}, model {told['model'].strip()})",
        "of its instructions": ", ".join(name for name in INSTRUCTIONS if name in features),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}, "
        f"Python {platform.python_version()}",
    }


def _names(known):
    """Parses names with commas between them; each must be one of these."""

    def names(text):
        given = text.split(",")
        for name in given:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return given

    return names


def main():
    parser = argparse.ArgumentParser(description="Measures Alloy beside other frameworks on the CPU, or on a GPU.")
    parser.add_argument("--device", choices=PEERS_OF, default="cpu", help="default: %(default)s")
    parser.add_argument(
        "--workload",
        type=_names(ALL_WORKLOADS),
        help=f"from {', '.join(ALL_WORKLOADS)}; default: all, on a GPU {', '.join(GPU_WORKLOADS)}",
    )
    parser.add_argument("--peers", type=_names(PEERS), help="beside Alloy; default: all that compute on the device")
    parser.add_argument(
        "--alloy-python",
        type=shlex.split,
        default=[sys.executable],
        metavar="COMMAND",
        help="starts a Python that has Alloy; default: this one",
    )
    parser.add_argument("--rounds", type=int, default=15, help="turns of each framework; default: %(default)s")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each framework; default: %(default)s"
    )
    parser.add_argument(
        "--output", type=Path, default=BUILD / "bench", help="directory of the report's folder; default: %(default)s"
    )
    arguments = parser.parse_args()
    known = PEERS_OF[arguments.device]
    for name in arguments.peers or []:
        if name not in known:
            parser.error(f"argument --peers: {name} has no worker for {arguments.device}")
    names = list(dict.fromkeys(["alloy", *(arguments.peers or known)]))
    peers = {name: known[name] for name in names}
    program, *options = arguments.alloy_python
    if not (found := shutil.which(program)):
        parser.error(f"argument --alloy-python: there is no {program}")
    alloy = _peer("alloy", "alloy", python=(os.path.abspath(found), *options))  # workers start in another folder
    peers["alloy"] = replace(alloy, environments=peers["alloy"].environments)
    # All processes started from here use only these cores: some frameworks count cores and cannot be told a number of
    # threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    usual = list(GPU_WORKLOADS if arguments.device == "cuda" else WORKLOADS)
    workloads = arguments.workload or usual
    whole = workloads == list(WORKLOADS)
    results = {
        "machine": gpu() | machine() if arguments.device == "cuda" else machine(),
        "load": os.getloadavg()[0],
        "date": datetime.date.today().isoformat(),
        "threads": arguments.threads,
        "rounds": arguments.rounds,
        "rows": [],
    }
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(peers, arguments.threads, arguments.rounds, Path(directory), arguments.device)
        with contextlib.closing(bench):
            for name, reason in bench.unavailable.items():
                print(f"{name}: {reason}", flush=True)
            results |= {
                "versions": bench.versions(),
                "unavailable": bench.unavailable
                | {name: "left out of this run" for name in known.keys() - bench.peers}
                | {ALL_WORKLOADS[name].title: "left out of this run" for name in usual if name not in workloads},
                "imports": bench.imports() if whole else {},
                "digits_steps": bench.digits_steps() if whole else {},
                "native": all_native(arguments.threads) if whole else [],
            }
            for name in workloads:
                for row in bench.measure(ALL_WORKLOADS[name]):
                    print(report.line(row), flush=True)
                    results["rows"].append(row)
                # A run that is interrupted leaves a report.
                results["quiet"] = bench.meter.shares()
                written = report.write(results, arguments.output)
    print(written)


if __name__ == "__main__":
    main()
