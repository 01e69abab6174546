"""A plug-in of pytest, by which mutations.py makes mistakes while the tests of ops in Python run: all in one process,
since a test takes a hundredth of the time in which a process starts.

It does one of two things. Without ALLOY_MISTAKES it runs each test, and writes which selectors the test sends to
ALLOY_SENT_BY. With it, that file is a list of mistakes: for each, the plug-in runs the tests that send the selector,
the fastest first, until one fails, and writes the answer to ALLOY_ANSWERS. A mistake may end the process, or keep it
busy for ever: then its answer and those behind it are missing, and mutations.py starts another process."""

import ctypes
import faulthandler
import json
import os
import pathlib
import time

from _pytest.runner import runtestprotocol

SECONDS = 60  # a test that takes longer ends the process


def passes(item):
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    return all(report.passed for report in runtestprotocol(item, log=False, nextitem=None))


def trace(items, library):
    """Writes a test's name, and the indices of the selectors that it sends, the fastest test first."""
    count = ctypes.c_int.in_dll(library, "alloy_selectors").value
    sent = (ctypes.c_char * count).in_dll(library, "alloy_sent")
    found = []
    for item in items:
        sent.raw = bytes(count)
        start = time.monotonic()
        assert passes(item), f"{item.nodeid} fails without a mistake"
        found.append((time.monotonic() - start, item.nodeid, [i for i, byte in enumerate(sent.raw) if byte]))
    rows = [(name, indices) for _, name, indices in sorted(found)]
    pathlib.Path(os.environ["ALLOY_SENT_BY"]).write_text(json.dumps(rows))


def try_mistakes(items, library):
    by_name = {item.nodeid: item for item in items}
    tests = json.loads(pathlib.Path(os.environ["ALLOY_SENT_BY"]).read_text())
    made = ctypes.c_bool.in_dll(library, "alloy_made")
    with open(os.environ["ALLOY_ANSWERS"], "w", buffering=1) as answers:
        for index, which in json.loads(pathlib.Path(os.environ["ALLOY_MISTAKES"]).read_text()):
            library.alloy_choose(index, which)
            senders = (by_name[name] for name, indices in tests if index in indices)
            answer = "caught" if not all(passes(item) for item in senders) else "missed" if made.value else "not made"
            answers.write(f"{answer}\n")


def pytest_runtestloop(session):
    (try_mistakes if "ALLOY_MISTAKES" in os.environ else trace)(session.items, ctypes.CDLL(None))
    return True
