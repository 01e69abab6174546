"""A plugin of pytest: writes a line of bits.py for each test that reads results of the framework."""

import os
import struct
from pathlib import Path

import pytest

failed = set()


def read_sum() -> int:
    return struct.unpack("Q", Path(os.environ["ALLOY_BITS"]).read_bytes())[0]


def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    before = read_sum()
    result = yield
    if (read := (read_sum() - before) % 2**64) or item.nodeid in failed:
        name = f"{item.path.name}::{item.nodeid.partition('::')[2]}".replace(" ", "_")
        with open(os.environ["ALLOY_BITS_LINES"], "a") as lines:
            lines.write(f"{name} {read:016x}{' failed' if item.nodeid in failed else ''}\n")
    return result
