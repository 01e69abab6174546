"""Threads that read a batch's examples: the same results, and nothing that stays or hangs."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from alloy.data import from_items, from_iterator


@pytest.fixture(autouse=True)
def no_thread_stays():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


class Waiting:
    """Examples that take a moment, as from a disk, and the most that were read at once."""

    def __init__(self, count=24, moment=0.002):
        self.count = count
        self.moment = moment
        self.now = self.most = 0
        self.lock = threading.Lock()

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.moment)
        with self.lock:
            self.now -= 1
        return np.full(3, i, np.float32), i


@pytest.mark.parametrize("workers", [1, 2, 4, 40])
def test_so_many_read_at_once(workers):
    meeting = threading.Barrier(min(workers, 12), timeout=20)

    class Meeting(Waiting):
        def __getitem__(self, i):
            if reading:
                meeting.wait()  # goes on when so many are here
            return super().__getitem__(i)

    reading = []
    data = from_items(items := Meeting(moment=0.001)).batch(12, workers=workers)
    assert data.spec[1] == ((None,), np.int32)
    reading.append(True)
    assert [y.tolist() for _, y in data] == [list(range(12)), list(range(12, 24))]
    assert items.most <= workers


def test_maps_of_a_stream_are_shared_out():
    threads = set()

    def work(i):
        threads.add(threading.get_ident())
        time.sleep(0.01)
        return i * 2

    data = from_iterator(lambda: range(8)).map(work).batch(8, workers=4)
    assert [batch.tolist() for batch in data] == [list(range(0, 16, 2))] and len(threads) == 4


def test_an_iteration_that_is_left_leaves_no_thread():
    for _ in from_items(Waiting()).batch(4, workers=4):
        break


@pytest.mark.parametrize("failing", [{3}, {3, 4, 5, 6}, set(range(24))])
def test_the_first_exception_reaches_the_caller(failing):
    class Failing(Waiting):
        def __getitem__(self, i):
            x, y = super().__getitem__(i)
            if i in failing:
                time.sleep(0.02 / (1 + i))  # later ones fail sooner
                raise OSError(f"disk {i}")
            return x, y

    items = Failing(24)
    with pytest.raises(ValueError, match=f"could not be read: OSError: disk {min(failing)}") as raised:
        list(from_items(items).map(lambda x, y: y).batch(12, workers=4).loads(0))[0]()
    assert isinstance(raised.value.__cause__, OSError)


def test_what_ends_a_program_reaches_the_caller():
    class Exiting(Waiting):
        def __getitem__(self, i):
            if i == 5:
                sys.exit(3)
            return super().__getitem__(i)

    with pytest.raises(SystemExit):
        list(from_items(Exiting()).batch(12, workers=3))


def run(code, **options):
    program = "import os, signal, threading, time\nimport numpy as np, alloy as al\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, **options)


SLOW = """
begun = threading.Event()
def stop(): begun.wait(); time.sleep(0.05); os.kill(os.getpid(), signal.SIGINT)
class Slow:
    def __init__(self, moment): self.moment = moment
    def __len__(self): return 64
    def __getitem__(self, i):
        if i:  # the first is read to know the structure
            begun.set()
            time.sleep(self.moment)
        return np.float32([i])
"""


def test_an_interrupt_ends_it():
    """While examples take half a minute: the program ends at once, and with the status of an interrupt."""
    program = (
        SLOW
        + """
threading.Thread(target=stop).start()
try:
    list(al.data.from_items(Slow(30)).batch(16, workers=4))
except KeyboardInterrupt:
    print("interrupted")
    raise
"""
    )
    began = time.monotonic()
    done = run(program)
    assert done.stdout == "interrupted\n" and time.monotonic() - began < 15
    assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT) and "KeyboardInterrupt" in done.stderr


def test_what_was_interrupted_writes_no_more():
    done = run(
        SLOW
        + """
out = [np.full((16, 1), -1, np.float32)]
threading.Thread(target=stop).start()
load = next(iter(al.data.from_items(Slow(0.4)).batch(16, workers=4).loads(0)))
try:
    load(out)
except KeyboardInterrupt:
    before = out[0].copy()
    time.sleep(1)
    print(np.array_equal(out[0], before), threading.active_count())
"""
    )
    assert done.stdout == "True 1\n", done.stderr


def test_a_thread_that_still_reads_does_not_keep_the_interpreter():
    began = time.monotonic()
    done = run(
        SLOW
        + """
data = al.data.from_items(Slow(30)).batch(16, workers=4)
threading.Thread(target=lambda: list(data), daemon=True).start()
end = time.monotonic() + 20
while threading.active_count() < 5 and time.monotonic() < end: time.sleep(0.01)
print(threading.active_count())
"""
    )
    assert (done.returncode, done.stdout) == (0, "5\n") and time.monotonic() - began < 15


def test_a_forked_child_reads():
    done = run(
        SLOW
        + """
data = al.data.from_items(Slow(0.001)).shuffle(seed=1).batch(16, workers=4)
first = list(data.epoch(0))
thread = threading.Thread(target=lambda: [list(data.epoch(e)) for e in range(3)])
thread.start()
child = os.fork()
if child == 0:
    signal.alarm(20)
    alike = all(np.array_equal(x, y) for x, y in zip(data.epoch(0), first, strict=True))
    os._exit(10 if alike and threading.active_count() == 1 else 11)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    )
    assert done.stdout == "10\n", done.stderr
