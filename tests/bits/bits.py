"""Shows whether two builds compute the same bits: writes a line `name hash` for everything that a build outputs.

    python tests/bits/bits.py ~/alloy-before before.txt
    python tests/bits/bits.py . now.txt
    diff before.txt now.txt

Run it once for each tree, a checkout with its .venv and its build/editable, both up to date; it rebuilds nothing. The
lines are:

* `facade.NAME`: all that the program of tests/facade/*/NAME.mm reads;
* `FILE::TEST`: all that a Python test of that tree reads, wherever in tests/python its file is;
* `workload.NAME`: the losses or predictions of 20 steps of a workload of benchmarks/workloads.py, and then all
  variables.

A third argument names another build/editable/tests. Its programs of the facade then run on the tree's framework, so
that two trees whose programs differ are compared by the same programs. Everything runs twice. A line that differs
between two runs of one build depends on time, chance or addresses; it is named and left out. Lines of what reads
nothing are left out too. If a test fails, `failed` stands after its hash. Needs g++ with Objective-C's headers
(gobjc++) and runs on Linux only."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARGUMENTS = {"resnet50": ["tests/goldens/resnet50.json"]}
ARGUMENTS |= dict.fromkeys(("descriptors", "pretence", "wrong_classes"), ["tests/facade/api.json"])
# Some of these tests rebuild the tree; none reads a result.
NOT_RUN = ("packaging", "mac_report", "stubs", "style", "api_table")


def facade_lines(tree, programs, environment, summed):
    library = {"LD_LIBRARY_PATH": str(tree / "build/editable")}
    for program in sorted(programs.glob("facade_*")):
        name = program.name.removeprefix("facade_")
        summed.write_bytes(bytes(8))
        arguments = [tree / path for path in ARGUMENTS.get(name, ())]
        done = subprocess.run([program, *arguments], env=environment | library, capture_output=True)
        if (read := summed.read_bytes()[::-1].hex()) != "0" * 16 or done.returncode not in (0, 77):
            yield f"facade.{name} {read}{' failed' if done.returncode not in (0, 77) else ''}"


def python_lines(tree, environment, lines):
    lines.write_text("")
    command = [tree / ".venv/bin/python", "-m", "pytest", "-q", "-p", "pytest_bits", "-p", "no:cacheprovider"]
    command += [f"--ignore-glob=*/test_{name}.py" for name in NOT_RUN]
    environment = environment | {"ALLOY_BITS_LINES": str(lines)}
    subprocess.run(command, cwd=tree, env=environment, stdout=sys.stderr)
    return lines.read_text().splitlines()


def workload_lines(tree, environment):
    command = [tree / ".venv/bin/python", HERE / "workload_bits.py"]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def all_lines(tree, programs, scratch) -> dict[str, str]:
    summed, lines = scratch / "sum", scratch / "lines"
    summed.write_bytes(bytes(8))
    environment = os.environ | {
        "ALLOY_BITS": str(summed),
        "LD_PRELOAD": str(scratch / "sums.so"),
        "OMP_NUM_THREADS": "2",
        "PATH": f"{tree}/.venv/bin:{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(HERE),
    }
    found = [
        *facade_lines(tree, programs, environment, summed),
        *workload_lines(tree, environment),
        *python_lines(tree, environment, lines),
    ]
    return dict(line.split(" ", 1) for line in found)


def main(tree, output, programs=None):
    tree = Path(tree).resolve()
    programs = Path(programs).resolve() if programs else tree / "build/editable/tests"
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        compiled = [
            "g++",
            "-std=c++20",
            "-O2",
            "-shared",
            "-fPIC",
            HERE / "sums.cpp",
            "-lobjc",
            "-o",
            scratch / "sums.so",
        ]
        subprocess.run(compiled, check=True)
        first, second = (all_lines(tree, programs, scratch) for _ in range(2))
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name):
            print(f"left out, differs from run to run: {name}", file=sys.stderr)
    same = sorted(name for name in first if first[name] == second.get(name))
    Path(output).write_text("".join(f"{name} {first[name]}\n" for name in same))


if __name__ == "__main__":
    main(*sys.argv[1:])
