"""Steps that coroutines await: their results, what else runs meanwhile, how waiting ends."""

import asyncio
import gc
import textwrap
import threading
import time

import numpy as np
import pytest

import alloy as al
from alloy.asynchronous import submission
from running import at_once, check_ends, program

ONES = np.ones(8, np.float32)


def running_sum(storage="variable"):
    graph = al.Graph(storage=storage)
    x = graph.placeholder((8,), name="x")
    total = graph.variable(np.zeros(8, np.float32), name="total")
    step = graph.compile([x], [total + x, al.sum(x)], [graph.assign(total, total + x)])
    step(0 * ONES)
    return step


@pytest.fixture(autouse=True)
def nothing_is_kept():
    yield
    deadline = time.perf_counter() + 20
    while submission._awaited and time.perf_counter() < deadline:  # cancelled ones, until their steps are over
        time.sleep(0.01)
    assert not submission._awaited


def test_a_step_gives_what_a_call_gives(storage):
    step = running_sum(storage)

    async def main():
        for i in range(1, 51):
            values, total = await step.submit(i * ONES)
            np.testing.assert_array_equal(values, i * (i + 1) / 2 * ONES)
            assert total == 8 * i
        submission = step.submit(0 * ONES)
        submission.wait()
        first, second = await asyncio.gather(submission, submission)  # over already, and twice
        assert first[0] is second[0] is submission[0]

    asyncio.run(main())


def test_many_tasks_at_once():
    step, done = running_sum(), []

    async def task(i):
        _, total = await step.submit(i * ONES)
        done.append(int(total) // 8)

    async def main():
        await asyncio.gather(*map(task, range(500)))

    asyncio.run(main())
    assert sorted(done) == list(range(500))
    assert step(0 * ONES)[0][0] == sum(range(500))


def test_the_loop_goes_on_while_steps_are_held():
    step, gate = running_sum(), al.Event()

    async def main():
        tasks = [asyncio.ensure_future(step.submit(ONES, wait_for=(gate, 1))) for _ in range(20)]
        beats, longest, last = 0, 0.0, time.perf_counter()
        while beats < 50:
            await asyncio.sleep(0.002)
            longest, last, beats = max(longest, time.perf_counter() - last), time.perf_counter(), beats + 1
        assert longest < 1 and not any(task.done() for task in tasks)
        gate.signal(1)
        return await asyncio.gather(*tasks)

    results = asyncio.run(main())
    assert [values[0] for values, _ in results] == list(range(1, 21))


def test_cancelling_ends_the_waiting_and_not_the_step():
    step, gate = running_sum(), al.Event()

    async def main():
        held = step.submit(ONES, wait_for=(gate, 1))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(held, 0.02)
        task = asyncio.ensure_future(held)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        behind = asyncio.ensure_future(step.submit(ONES))
        await asyncio.sleep(0.01)
        assert not held.done and not behind.done()
        gate.signal(1)
        assert (await held)[0][0] == 1 and (await behind)[0][0] == 2

    asyncio.run(main())


def test_a_loop_that_has_closed_before_the_end():
    step, gate = running_sum(), al.Event()
    for turn in range(1, 4):
        loop = asyncio.new_event_loop()

        async def start(turn=turn):
            held = step.submit(ONES, wait_for=(gate, turn))
            asyncio.ensure_future(held)
            await asyncio.sleep(0.01)
            return held

        held = loop.run_until_complete(start())
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        gate.signal(turn)
        assert held[0][0] == turn


def test_loops_on_several_threads():
    steps = [running_sum() for _ in range(2)]

    def work(seed):
        async def one(i):
            _, total = await steps[i % 2].submit(i * ONES)
            return total == 8 * i

        async def main():
            return all([all(await asyncio.gather(*map(one, range(20)))) for _ in range(10)])

        return asyncio.run(main())

    assert at_once(work, range(4)) == [True] * 4
    assert [step(0 * ONES)[0][0] for step in steps] == [40 * sum(range(i, 20, 2)) for i in range(2)]


def test_results_are_fed_on():
    first, second, queues = running_sum(), running_sum(), (al.Queue(), al.Queue())

    async def pipeline(i):
        made = first.submit(i * ONES, queue=queues[0])
        return (await second.submit(made.pending(), queue=queues[1]))[1]

    async def main():
        return await asyncio.gather(*map(pipeline, range(100)))

    sums = asyncio.run(main())
    assert sums == [8 * i * (i + 1) / 2 for i in range(100)]


def test_outside_of_a_loop():
    held = running_sum().submit(ONES, wait_for=((gate := al.Event()), 1))
    with pytest.raises(RuntimeError, match="no running event loop"):
        held.__await__().send(None)
    gate.signal(1)
    with pytest.raises(StopIteration) as end:  # over: there is nothing to wait for
        held.wait()
        held.__await__().send(None)
    assert end.value.value[1] == 8


def test_without_a_loop_the_oldest_is_waited_for():
    """As ever: a coroutine alone does not wait."""
    step, gate = running_sum(), al.Event()
    for _ in range(step.graph.most_in_flight):
        step.submit(ONES, wait_for=(gate, 1))
    thread = threading.Thread(target=step.submit, args=(ONES,))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    gate.signal(1)
    thread.join(60)
    assert not thread.is_alive()


def test_nothing_grows():
    step = running_sum()

    async def main(count):
        for _ in range(count):
            await step.submit(ONES)
        gc.collect()
        return len(gc.get_objects()), (al.device_stats() or {"allocated_bytes": 0})["allocated_bytes"]

    asyncio.run(main(200))
    objects, allocated = asyncio.run(main(50))
    later, allocated_later = asyncio.run(main(1000))
    assert later < objects + 100 and allocated_later == allocated


# ---- processes ----

SETUP = """
import asyncio, os, signal, sys, threading, time
import numpy as np
import alloy as al
graph = al.Graph()
x = graph.placeholder((8,), name="x")
v = graph.variable(np.ones(8, np.float32), "v")
step = graph.compile([x], [x + v], [graph.assign(v, v + x)])
ones, gate = np.ones(8, np.float32), al.Event()
step(ones)
"""


def run(code):
    return program(SETUP + textwrap.dedent(code), seconds=30)


def test_ctrl_c_while_awaiting():
    done = run("""
        async def main():
            threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            await step.submit(ones, wait_for=(gate, 1))
        try:
            asyncio.run(main())
        except KeyboardInterrupt:
            print("answered")
        gate.signal(1)
        print(step(ones)[0][0])
        async def once():
            return (await step.submit(ones))[0][0]
        print(asyncio.run(once()))
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answered\n4.0\n5.0\n", "")


def test_the_interpreter_may_end_meanwhile():
    codes = [
        "async def main():\n    asyncio.ensure_future(step.submit(ones, wait_for=(gate, 1)))\n"
        "    await asyncio.sleep(0.05)\nasyncio.run(main())",
        # A daemon thread awaits for ever, or submits for ever.
        "async def main(): await step.submit(ones, wait_for=(gate, 1))\n"
        "threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start(); time.sleep(0.1)",
        "async def main():\n    while True: await step.submit(ones)\n"
        "threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start(); time.sleep(0.1)",
        # A loop that is neither run to its end nor closed.
        "loop = asyncio.new_event_loop()\nasync def main(): await step.submit(ones, wait_for=(gate, 1))\n"
        "task = loop.create_task(main())\nloop.call_later(0.05, loop.stop)\nloop.run_forever()\n"
        "task._log_destroy_pending = False; os.close(2)",
    ]
    check_ends(SETUP + code for code in codes)


@pytest.mark.skipif(al.device().kind != "cpu", reason="a forked child can use the CPU alone")
def test_a_forked_child_is_refused():
    done = run("""
        async def main():
            await step.submit(ones, wait_for=(gate, 1))
        async def begin():
            asyncio.ensure_future(step.submit(ones, wait_for=(gate, 1)))
            await asyncio.sleep(0.05)
        asyncio.run(begin())  # the thread that tells the loops is there
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                asyncio.run(main())
            except al.DeviceError as error:
                os._exit(11 if "forked child" in str(error) else 98)
            os._exit(99)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """)
    assert (done.returncode, done.stdout) == (0, "11\n"), done.stderr


@pytest.mark.skipif(al.device().kind != "cpu", reason="others keep no limit of the process's memory")
def test_exceptions_are_delivered():
    done = run("""
        import resource
        n = 16384
        wide = al.Graph()
        column = wide.placeholder((n, 1))
        greedy = wide.compile([column], [al.sum(al.sort(column @ column.T, axis=0))])
        used = int(open("/proc/self/statm").read().split()[0]) * 4096
        greedy.memory_plan()
        resource.setrlimit(resource.RLIMIT_AS, (used + (512 << 20),) * 2)
        async def main():
            tasks = [greedy.submit(np.ones((n, 1), np.float32)) for _ in range(3)]
            for error in await asyncio.gather(*tasks, return_exceptions=True):
                print(type(error).__name__, error)
            print((await step.submit(ones))[0][0])
        asyncio.run(main())
        """)
    assert done.returncode == 0, done.stderr
    failures = done.stdout.splitlines()
    assert failures[0].startswith("MemoryError") and failures[3] == "3.0"
    for failure in failures[1:3]:
        assert failure.startswith(("MemoryError", "DeviceError [step] A step before this one failed:")), failure
        assert failure.count("A step before this one failed") <= 1
