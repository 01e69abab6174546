"""Runs make's targets one after the other and ends with what each of them took.

It fails where a target fails, or takes more than twice its budget of processor time.
"""

import os
import subprocess
import sys
import time

# Seconds of processor time on two quiet cores (AMD EPYC with AVX2).
BUDGETS = {
    "setup": 300,
    "compile": 220,
    "test": 690,  # with the programs of tests/programs, by one clang++; make test-clangs tries all that there are
    "test-types": 40,
    "test-arm64": 600,
    "test-kills": 20,
    "docs": 60,
    "test-all-macos13": 350,
    "test-all-remote": 450,
}


def children() -> float:
    """Returns the processor time of the programs that have ended, in seconds."""
    taken = os.times()
    return taken.children_user + taken.children_system


rows, failed = [], []
for target, budget in BUDGETS.items():
    started, before = time.monotonic(), children()
    status = subprocess.run(["make", target]).returncode
    wall, processor = time.monotonic() - started, children() - before
    rows.append(f"{target:<18}{wall:8.0f}{processor:10.0f}{budget:8d}")
    if status != 0:
        failed.append(f"make {target} failed.")
        break
    if processor > 2 * budget:
        failed.append(f"make {target} took {processor:.0f} s of processor time; its budget is {budget} s.")
print(f"{'stage':<18}{'seconds':>8}{'processor':>10}{'budget':>8}", *rows, *failed, sep="\n")
sys.exit(len(failed) > 0)
