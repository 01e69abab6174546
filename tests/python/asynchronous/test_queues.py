"""Queues, events and results that are fed before they are there."""

import gc
import textwrap
import threading
import time

import numpy as np
import pytest

import alloy as al
from kinds import FAST
from running import at_once, check_ends, program

ONES = np.ones(8, np.float32)


class Sum:
    """A graph whose steps add to a variable, or read it."""

    def __init__(self, storage="variable"):
        self.graph = al.Graph(storage=storage)
        self.graph.most_in_flight = 100
        x = self.graph.placeholder((8,), name="x")
        self.total = self.graph.variable(np.zeros(8, np.float32), name="total")
        after = self.total * 2.0 + x  # comes out differently in any other order
        self.add = self.graph.compile([x], [after], [self.graph.assign(self.total, after)])
        self.look = self.graph.compile([], [self.total + 0.0])


def square(shape=(8,)):
    graph = al.Graph()
    x = graph.placeholder(shape, name="x")
    return graph.compile([x], [x * x, al.sum(x)])


def test_events_of_the_host():
    event, later = al.Event(), al.Event()
    assert event.value == 0 and event.wait(0) and not event.wait(1, timeout=0) and not event.wait(1, np.float32(0.02))
    event.signal(3)
    event.signal(3)
    assert event.value == 3 and event.wait(2) and event.wait(3, timeout=0.0) and later.value == 0
    thread = threading.Timer(0.05, lambda: later.signal(2**63))
    thread.start()
    assert later.wait(2**63) and later.value == 2**63
    thread.join()
    before = time.perf_counter()
    assert not later.wait(2**64 - 1, timeout=0.2)
    assert 0.19 < time.perf_counter() - before < 2


def test_values_only_grow():
    step, event = square(), al.Event()
    event.signal(5)
    late = step.submit(ONES, signal=(event, 3))
    late.wait()
    assert event.value == 5 and event.wait(4, timeout=0)


def test_steps_of_a_graph_keep_their_order_on_any_queues(storage, rng):
    sums, queues = Sum(storage), [None, al.Queue(), al.Queue()]
    expected, results = np.zeros(8, np.float32), []
    for turn in range(300):
        x = rng.integers(-3, 4, 8).astype(np.float32)
        queue, kind = queues[rng.integers(3)], rng.integers(10)
        if kind < 6:
            expected = expected * 2 + x
            results.append((sums.add.submit(x, queue=queue), expected))
        elif kind < 8:
            results.append((sums.look.submit(queue=queue), expected))
        elif kind == 8:
            expected = expected * 2 + x
            np.testing.assert_array_equal(sums.add(x)[0], expected)
        else:
            np.testing.assert_array_equal(sums.total.numpy(), expected)
        if turn % 8 == 7:  # before numbers become too large for float32
            expected = np.zeros(8, np.float32)
            sums.total.assign(expected)
    for result, value in results:
        np.testing.assert_array_equal(result[0], value)


def test_a_reader_waits_for_a_writer_on_another_queue():
    sums, gate = Sum(), al.Event()
    first, second = al.Queue(), al.Queue()
    sums.add(ONES), sums.look()
    written = sums.add.submit(ONES, queue=first, wait_for=(gate, 1))
    read = sums.look.submit(queue=second)
    plain = sums.look.submit()
    time.sleep(0.05)
    assert not written.done and not read.done and not plain.done
    gate.signal(1)
    assert written[0][0] == read[0][0] == plain[0][0] == 3


def test_events_order_steps_of_different_graphs():
    a, b, done = Sum(), Sum(), al.Event()
    first, second = al.Queue(), al.Queue()
    for turn in range(1, 101):
        # Each waits for the other one's step before: the waiter is submitted first in every second turn.
        steps = [
            lambda: a.add.submit(ONES, queue=first, wait_for=[(done, 2 * turn - 2)], signal=(done, 2 * turn - 1)),
            lambda: b.add.submit(ONES, queue=second, wait_for=(done, 2 * turn - 1), signal=[(done, 2 * turn)]),
        ]
        for start in steps if turn % 2 else reversed(steps):
            start()
        assert done.wait(2 * turn, timeout=60)
        a.total.assign(0 * ONES), b.total.assign(0 * ONES)


@FAST
def test_a_result_that_is_not_there_yet_is_fed(rng):
    graph = al.Graph()
    x = graph.placeholder((64, 64))
    y = x
    for _ in range(8):
        y = al.tanh(y @ x)
    first, then = graph.compile([x], [y, al.sum(x)]), square((64, 64))
    first.graph.most_in_flight = then.graph.most_in_flight = 4
    queues = al.Queue(), al.Queue()
    batches = rng.normal(size=(5, 64, 64)).astype(np.float32) / 8
    expected = [then(first(batch)[0]) for batch in batches]
    before = al.stats()["bytes_to_device"]
    right = 0
    for turn in range(1000):
        made = first.submit(al_batch := batches[turn % 5], queue=queues[0])
        used = then.submit(made.pending(), queue=queues[1])
        del made  # who is fed keeps it
        right += np.array_equal(used[0], expected[turn % 5][0]) and used[1] == expected[turn % 5][1]
    assert right == 1000
    copied = al.stats()["bytes_to_device"] - before
    assert copied == 1000 * al_batch.nbytes, "no result came to the host and back"


def test_results_go_through_many_graphs_and_back():
    graphs = [Sum() for _ in range(3)]
    x, expected, totals = graphs[0].add.submit(ONES).pending(), ONES, [ONES, 0 * ONES, 0 * ONES]
    for turn in range(1, 20):
        one = graphs[turn % 3]
        x = one.add.submit(x, queue=al.Queue() if turn % 2 else None).pending()
        totals[turn % 3] = expected = totals[turn % 3] * 2 + expected
    one = square()
    np.testing.assert_array_equal(one(x)[0], expected * expected)  # a call takes it, too
    np.testing.assert_array_equal(one({"x": x})[0], expected * expected)
    np.testing.assert_array_equal(one(x=x)[0], expected * expected)


def test_a_graph_is_fed_its_own_result():
    sums = Sum()
    result = sums.add.submit(ONES, queue=al.Queue())
    for _ in range(5):
        result = sums.add.submit(result.pending(0))
    assert result[0][0] == 2**5 * 1 + sum(2 ** (4 - i) * v for i, v in enumerate((1, 3, 9, 27, 81)))
    first, second = square().submit(ONES * 3), square((1,))
    with pytest.raises(ValueError, match="shape"):
        second.submit(first.pending(0))
    assert first.pending(-1).shape == () and first.pending(-1).dtype == "float32"


def test_what_is_fed_is_waited_for_where_only_the_program_can_go_on():
    gate, sums, then = al.Event(), Sum(), square()
    then(ONES), sums.add(0 * ONES)
    held = sums.add.submit(ONES, wait_for=(gate, 1))
    used = then.submit(held.pending(), signal=(gate, 5))
    # A plain step, then one that waits, then what needs the plain one alone: nothing waits in a circle.
    other, one = Sum(), square()
    one(ONES), other.add(0 * ONES)
    plain = other.add.submit(ONES)
    behind = other.add.submit(ONES, wait_for=(gate, 6))
    freed = one.submit(plain.pending(), queue=al.Queue())
    assert freed[1] == 8 and not used.done and not behind.done
    gate.signal(1)
    assert used[1] == 8
    gate.signal(6)
    assert behind[0][0] == 3


def test_memory_stays_flat(storage):
    sums, then, queues = Sum(storage), square(), (al.Queue(), al.Queue())
    event = al.Event()
    sums.graph.most_in_flight = then.graph.most_in_flight = 2

    def turns(count):
        for _ in range(count):
            made = sums.add.submit(0 * ONES, queue=queues[0], signal=(event, event.value + 1))
            used = then.submit(made.pending(), queue=queues[1])
        used.wait(), sums.total.numpy()
        del made, used
        gc.collect()
        return (al.device_stats() or {"allocated_bytes": 0})["allocated_bytes"], al.stats()["live_objects"]

    turns(20)
    before = turns(20)
    assert turns(300) == before


def test_graphs_that_go_while_their_steps_are_held():
    gate = al.Event()
    objects = al.stats()["live_objects"]
    for storage in ("variable", "buffers"):
        for queue in (None, al.Queue()):
            sums = Sum(storage)
            sums.add.submit(ONES, queue=queue, wait_for=(gate, 1))
            before = time.perf_counter()
            del sums
            gc.collect()
            assert time.perf_counter() - before < 5
    assert al.stats()["live_objects"] == objects
    gate.signal(1)
    Sum().add(ONES)


def test_other_threads_go_on_while_some_wait():
    """Of one graph: calls, reads, submissions and compilations that wait hold no lock that the others want."""
    sums, gate = Sum(), al.Event()
    sums.add(0 * ONES)
    over = sums.add.submit(ONES)
    sums.add.submit(ONES, wait_for=(gate, 1))
    sums.graph.most_in_flight = 1
    results = {}

    def run(name, work):
        results[name] = work()

    blocked = {
        "call": lambda: sums.add(ONES),
        "submit": lambda: sums.add.submit(ONES)[0],
        "read": sums.total.numpy,
        "compile": lambda: sums.graph.compile([], [sums.total * 3.0])(),
        "assign": lambda: sums.total.assign(sums.total.numpy()),
    }
    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in blocked.items()]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    assert not results
    assert over[0][0] == 1, "what is over can be read"
    gate.signal(1)
    for thread in threads:
        thread.join(60)
    assert results.keys() == blocked.keys()


def test_mistakes():
    graph = al.Graph()
    queue, x = graph.placeholder((8,), name="queue"), graph.placeholder((8,), al.int32, name="x")
    step = graph.compile([queue, x], [queue * 2.0, x * 2])
    whole = ONES.astype(np.int32)
    assert step.submit({"queue": ONES, "x": whole})[0][0] == 2
    assert step.submit(ONES, whole, queue=al.Queue())[1][0] == 2
    event = al.Event()
    for wrong, message in {
        "step.submit(queue=ONES, x=whole)": "Expected an al.Queue as queue, got ndarray; a placeholder of that name "
        "is fed by position or in a dict",
        "step.submit(ONES, whole, wait_for=event)": r"Expected \(event, value\), or a list of such pairs, as wait_for, "
        "got Event",
        "step.submit(ONES, whole, signal=[(event,)])": "as signal, got tuple",
        "step.submit(ONES, whole, signal=(event, 1.5))": "Expected the value of an event as an integer, got 1.5",
        "step.submit(ONES, whole, signal=(event, -1))": "the value of an event of 0 or more, got -1",
        "event.signal(2**64)": "of at most 18446744073709551615, got 18446744073709551616",
        "event.signal('1')": "Expected the value of an event as an integer, got '1'",
        "event.wait(1, timeout='1')": "Expected a timeout of 0 or more, got '1'",
        "event.wait(1, timeout=-1)": "Expected a timeout of 0 or more, got -1",
        "event.wait(1, timeout=float('nan'))": "Expected a timeout of 0 or more, got nan",
        "al.Queue(device='abacus')": r"\[queue\] There is no device of the kind or name 'abacus'",
        "al.Queue(device=3)": "Expected the kind or the name of a device, got int",
        "al.Queue(graph)": r"^Queue\(\) takes 1 positional argument",
        "al.Event(1)": r"^Event\(\) takes 1 positional argument",
        "step.submit(ONES, step.submit(ONES, whole).pending(0))": "is int32 but was given a result of float32",
        "step(step.submit(ONES, whole))": r"given a submission, .* as in submission\[0\]; at",
        "step.submit(step.submit(ONES, whole), whole)": r"given a submission, .* as in submission\[0\]; at",
        "graph.constant(step.submit(ONES, whole))": r"given a submission, .* as in submission\[0\]; at",
        "graph.constant(step.submit(ONES, whole).pending())": r"given a pending fetch, .* submission\[0\]; at",
        "event.value = 3": "value",
        "al.Pending()": "Pending",
        "step.submit(ONES, whole).pending('y')": r"\[pending\] Expected the index of a fetch, got 'y'; at",
        "step.submit(ONES, whole).pending(x)": r"\[pending\] Expected the index of a fetch, got <Tensor 'x'",
    }.items():
        with pytest.raises((TypeError, ValueError, AttributeError), match=message):
            exec(wrong, globals() | locals())
    event.signal(4)
    with pytest.raises(ValueError, match="Expected a value of at least 4, which the event has reached, got 3"):
        event.signal(3)
    with pytest.raises(IndexError, match="one of 2 fetches, got 2"):
        step.submit(ONES, whole).pending(2)
    assert repr(event) == "<Event at 4>" and repr(al.Queue()) == f"<Queue of {al.device().name}>"
    assert repr(step.submit(ONES, whole).pending(1)) == "<Pending int32(8,)>"
    assert step.submit(ONES, whole)[0][0] == 2, "everything stays usable"


# ---- processes ----

SETUP = """
import os, signal, sys, threading, time
import numpy as np
import alloy as al
signal.signal(signal.SIGINT, signal.default_int_handler)
graph, other = al.Graph(), al.Graph()
x, y = graph.placeholder((8,), name="x"), other.placeholder((8,), name="y")
v = graph.variable(np.ones(8, np.float32), "v")
step, then = graph.compile([x], [x + v], [graph.assign(v, v + x)]), other.compile([y], [y * 2.0])
ones = np.ones(8, np.float32)
step(ones), then(ones)
gate, first, second = al.Event(), al.Queue(), al.Queue()
def interrupt(wait, turn, seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        wait()
        print("not interrupted", turn)
    except KeyboardInterrupt:
        pass
    timer.join()
"""


def run(code, seconds=20):
    return program(SETUP + textwrap.dedent(code), seconds=seconds)


def test_a_program_ends_where_steps_wait_for_ever():
    codes = [
        "step.submit(ones, wait_for=(gate, 1))",
        "kept = step.submit(ones, queue=first, wait_for=(gate, 1)); then.submit(kept.pending(), queue=second)",
        "a, b = al.Event(), al.Event()\n"
        "kept = [step.submit(ones, queue=first, wait_for=(a, 1), signal=(b, 1)),\n"
        "        then.submit(ones, queue=second, wait_for=(b, 1), signal=(a, 1))]",
        "step.submit(ones, wait_for=(gate, 1)); threading.Thread(target=step, args=(ones,), daemon=True).start(); "
        "time.sleep(0.1)",
        "threading.Thread(target=gate.wait, args=(1,), daemon=True).start(); time.sleep(0.1)",
        "step.submit(ones, wait_for=(gate, 1)); threading.Thread(target=v.numpy, daemon=True).start(); time.sleep(0.1)",
    ]
    check_ends(SETUP + code for code in codes)


def test_ctrl_c_ends_every_wait():
    done = run("""
        def waits():
            yield lambda: gate.wait(1)
            yield lambda: held()[0]
            yield lambda: held(queue=first).wait()
            yield lambda: (held(), step(ones))
            yield lambda: (held(), v.numpy())
            yield lambda: (held(), v.assign(ones))
            yield lambda: (held(), graph.compile([], [v * 2.0])())
            yield lambda: (held(), [step.submit(ones) for _ in range(graph.most_in_flight)])
            yield lambda: then(held().pending())
            yield lambda: (beside(held().wait), step(ones))
            yield lambda: (held(), beside(lambda: step(ones)), step(ones))
        def held(**options):
            return step.submit(ones, wait_for=(gate, turn), **options)
        def beside(work):
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.05)
        for turn, wait in enumerate(waits(), 1):
            interrupt(wait, turn, 0.15)
            gate.signal(turn)
            step(ones)  # behind all of that
            before = v.numpy()[0]
            assert step(ones)[0][0] == before + 1 and then(ones)[0][0] == 2, "everything stays usable"
        print("ends", turn)
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends 11\n", "")


def test_ctrl_c_ends_steps_that_do_not_end():
    """Whoever waits is told, variables keep their values, and the graph stays usable; the process ends with one in
    flight."""
    done = run("""
        n = graph.placeholder((), "int32")
        forever = al.while_loop(lambda u: al.sum(u) > 0.0, lambda u: al.sqrt(u), x)
        huge = al.for_loop(0, n, lambda i, u: al.tanh(u) + v, x)
        endless = graph.compile([x], [forever], [graph.assign(v, forever)])
        long = graph.compile([x, n], [huge], [graph.assign(v, huge)])
        known = graph.compile([x], [al.for_loop(0, 2**31 - 1, lambda i, u: al.tanh(u) + v, x)])
        several = graph.compile([x], [al.sum(x)], [graph.assign(v, forever)], steps=3)
        most = np.int32(2**31 - 1)
        def waits():
            yield lambda: endless(ones)
            yield lambda: long(ones, most)
            yield lambda: known(ones)
            yield lambda: several(np.ones((3, 8), np.float32))
            yield lambda: endless.submit(ones).wait()
            yield lambda: long.submit(ones, most)[0]
            yield lambda: (endless.submit(ones), endless.submit(ones))[1][0]
            yield lambda: (endless.submit(ones), v.numpy())
            yield lambda: (endless.submit(ones), step(ones))
        for turn, wait in enumerate(waits()):
            before = v.numpy()
            interrupt(wait, turn, 0.2)
            np.testing.assert_array_equal(v.numpy(), before)
            assert step(ones)[0][0] == before[0] + 1 and v.numpy()[0] == before[0] + 1, "the graph stays usable"
        failed = endless.submit(ones)
        interrupt(failed.wait, "last", 0.2)
        try:
            failed[0]
        except al.DeviceError as error:
            print(error)
        kept = endless.submit(ones)
        print("ends", turn)
        """, seconds=120)  # fmt: skip
    said = "[step] The run was interrupted; no variable has changed.\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said + "ends 8\n", "")


def test_a_program_ends_whose_steps_do_not():
    code = """
        endless = graph.compile([x], [al.while_loop(lambda u: al.sum(u) > 0.0, lambda u: al.sqrt(u), x)])
        %s
        """
    for how in (
        "kept = endless.submit(ones)",
        "endless.submit(ones); del graph",
        "endless.submit(ones); raise KeyError(3)",
    ):
        done = run(code % how, seconds=60)
        assert done.returncode == ("raise" in how) and "terminate" not in done.stderr, done.stderr


@pytest.mark.skipif(al.device().kind != "cpu", reason="a forked child can use the CPU alone")
def test_a_forked_child_is_refused():
    done = run("""
        held = step.submit(ones, queue=first, wait_for=(gate, 1))
        answers = []
        for work in (lambda: step.submit(ones, queue=first), lambda: gate.signal(1), lambda: gate.wait(1),
                     lambda: gate.value, al.Event, al.Queue, held.wait, lambda: held[0],
                     lambda: then.submit(held.pending()), lambda: held._tell(5)):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                code = 99
                try:
                    work()
                except al.DeviceError as error:
                    code = 11 if "forked child" in str(error) else 98
                finally:
                    os._exit(code)
            answers.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        child = os.fork()
        if child == 0:  # ends as any program, with everything that it holds
            signal.alarm(20)
            sys.exit(11)
        answers.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        gate.signal(1)
        assert held[0][0] == 3
        print(answers)
        """)
    assert (done.returncode, done.stdout) == (0, f"{[11] * 11}\n"), done.stderr


@pytest.mark.skipif(al.device().kind != "cpu", reason="others keep no limit of the process's memory")
def test_a_failure_reaches_those_that_were_fed():
    done = run("""
        import resource
        n = 16384
        wide = al.Graph()
        column = wide.placeholder((n, 1))
        greedy = wide.compile([column], [al.sum(al.sort(column @ column.T, axis=0), axis=0, keepdims=True)])
        end = al.Graph()
        row = end.placeholder((1, n))
        last = end.compile([row], [row * 2.0])
        small = np.ones((1, n), np.float32)
        last(small)
        used = int(open("/proc/self/statm").read().split()[0]) * 4096
        greedy.memory_plan()
        resource.setrlimit(resource.RLIMIT_AS, (used + (512 << 20),) * 2)
        made = greedy.submit(np.ones((n, 1), np.float32), queue=first, signal=(gate, 7))
        fed = last.submit(made.pending(), queue=second)
        for one in fed, made:
            try:
                one[0]
                print("no failure")
            except (al.DeviceError, MemoryError) as error:
                print(type(error).__name__, "fed failed" in str(error))
        assert gate.wait(7, timeout=0)
        try:
            last.submit(made.pending())
        except al.DeviceError as error:
            print("refused", "fed failed" in str(error))
        assert last(small)[0][0, 0] == 2, "the graph goes on"
        """)
    assert (done.returncode, done.stdout) == (0, "DeviceError True\nMemoryError False\nrefused True\n"), done.stderr


def test_the_end_of_a_step_is_a_barrier_for_the_host(rng):
    """Threads submit to shared queues; each sees its own results."""
    queues, wrong = [al.Queue() for _ in range(2)], []

    def work(seed):
        then, numbers = square(), np.random.default_rng(seed)
        for _ in range(100):
            x = numbers.integers(-9, 9, 8).astype(np.float32)
            result = then.submit(x, queue=queues[numbers.integers(2)])
            if not np.array_equal(result[0], x * x):
                wrong.append(x)

    at_once(work, range(4))
    assert not wrong
