"""Forks, threads that outlive the interpreter, and Ctrl-C: nothing hangs, nothing aborts."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

import alloy as al
from kinds import CHILDREN_COMPUTE, FAST
from running import program

SETUP = """
import os, signal, sys, threading, time
import numpy as np
import alloy as al
graph = al.Graph(storage="%s")
x = graph.placeholder((700, 700))
v = graph.variable(np.ones((300, 300), np.float32), "v")
step = graph.compile([x], [al.sum(x @ x @ x)], [graph.assign(v, v * 1.0)])
a = np.ones((700, 700), np.float32)
"""


def run(code, storage="variable", **options):
    return program(SETUP % storage + textwrap.dedent(code), seconds=100, **options)


# What a child tries that was forked while another thread ran or compiled; a hang ends by the alarm's signal.
CHILD = """
def tried(work):
    signal.alarm(20)
    try:
        work()
        return "done"
    except al.DeviceError as error:
        assert "forked child" in str(error) and "spawn" in str(error), error
        return "refused"

work = {
    "step": lambda: step(a), "numpy": v.numpy, "assign": lambda: v.assign(np.ones((300, 300), np.float32)),
    "compile": lambda: graph.compile([x], [x + 1.0])(a), "plan": lambda: graph.compile([x], [x + 2.0]).memory_plan(),
    "graph": lambda: (lambda g: g.compile([], [g.constant(1.0) + 1.0])())(al.Graph()),
    "save": lambda: al.save([v], os.devnull + "x"), "profile": lambda: step.profile(a, runs=2),
}
def forked(moments):
    answers = {}
    for moment in range(moments):
        time.sleep(0.003 + 0.0007 * moment)
        for name in work:
            child = os.fork()
            if child == 0:
                code = 99
                try:
                    code = {"done": 10, "refused": 11}[tried(work[name])]
                finally:
                    os._exit(code)
            answers.setdefault(name, set()).add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return answers
"""


@FAST
def test_a_child_forked_beside_runs_is_refused_everything(storage):
    done = run(
        CHILD
        + """
step(a)
ended = threading.Event()
def steps():
    while not ended.is_set(): step(a); v.numpy(); v.assign(np.ones((300, 300), np.float32))
thread = threading.Thread(target=steps)
thread.start()
print(forked(4))
ended.set()
thread.join()
""",
        storage,
    )
    assert done.returncode == 0, done.stderr
    answers = eval(done.stdout)
    assert answers and all(codes == {11} for codes in answers.values()), answers


@CHILDREN_COMPUTE
def test_a_child_forked_beside_a_compilation_does_not_hang():
    done = run(
        CHILD
        + """
y = x
for _ in range(3000): y = al.tanh(y) * 1.5
thread = threading.Thread(target=lambda: graph.compile([x], [y]).memory_plan())
thread.start()
answers = forked(2)
thread.join()
print(answers)
"""
    )
    assert done.returncode == 0, done.stderr
    assert all(codes <= {10, 11} for codes in eval(done.stdout).values()), done.stdout


@CHILDREN_COMPUTE
def test_a_child_of_a_process_that_only_compiled_may_compute():
    done = run("""
step.memory_plan(); al.threads()
child = os.fork()
if child == 0:
    signal.alarm(20)
    code = 99
    try:
        code = 10 if step(a)[0] == 700.0 ** 4 else 98
    finally:
        os._exit(code)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr


@pytest.mark.parametrize(
    "loop",
    [
        "step(a)",
        "v.numpy()",
        "v.assign(ones)",
        "graph.read_variables([v])",
        "step.profile(a, runs=3)",
        "graph.compile([x], [x * next(numbers)]).memory_plan()",
    ],
)
def test_the_end_of_the_interpreter_beside_a_daemon_thread(loop):
    for seconds in (0.01, 0.05):  # in the first run of all, and later
        done = run(f"""
ones = np.ones((300, 300), np.float32)
import itertools
numbers = map(float, itertools.count())
def work():
    while True: {loop}
threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
print("worked")
""")
        assert (done.returncode, done.stdout, done.stderr) == (0, "worked\n", "")


def interrupted(code, delay):
    """The exit status and the errors of a program that gets a Ctrl-C so many seconds after it said that it begins."""
    code = SETUP % "variable" + "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline()
    _, errors = process.communicate(timeout=100)
    assert answer == "answered\n", errors
    return process.returncode, errors


@FAST
def test_ctrl_c_is_answered_while_compiling():
    status, errors = interrupted(
        """
y = x
for _ in range(6000): y = al.tanh(y) * 1.5
step = graph.compile([x], [y])
before = al.stats()["compilations"]
print("begins", flush=True)
try:
    step(a)
except KeyboardInterrupt:
    assert al.stats()["compilations"] == before, "it was answered before the end"
    print("answered", flush=True)
assert graph.compile([x], [x + 1.0])(a)[0][0, 0] == 2, "the graph stays usable"
""",
        0.1,
    )
    assert status == 0, errors


@FAST
def test_ctrl_c_ends_a_program_that_compiles():
    status, errors = interrupted(
        """
y = x
for _ in range(6000): y = al.tanh(y) * 1.5
step = graph.compile([x], [y])
print("begins", flush=True)
try:
    step(a)
except KeyboardInterrupt:
    print("answered", flush=True)
    raise
""",
        0.1,
    )
    assert status in (130, -signal.SIGINT, 1) and "KeyboardInterrupt" in errors and "terminate" not in errors


@pytest.mark.skipif(al.device().kind != "cpu", reason="others do not profile")
def test_ctrl_c_is_answered_while_profiling():
    status, errors = interrupted(
        """
step(a)
print("begins", flush=True)
try:
    step.profile(a, runs=10**8)
except KeyboardInterrupt:
    print("answered", flush=True)
assert step(a)[0] == 700.0 ** 4
""",
        0.5,
    )
    assert status == 0, errors


@FAST
def test_signals_do_no_harm_during_products():
    """oneDNN's products use memory from malloc as their stack."""
    done = run("""
signal.signal(signal.SIGALRM, lambda *_: None)
for rows, inner, columns in (700, 700, 700), (700, 700, 350), (128, 784, 512):
    graph = al.Graph()
    y, z = graph.placeholder((rows, inner)), graph.placeholder((inner, columns))
    product = graph.compile([y, z], [y @ z])
    fed = np.ones((rows, inner), np.float32), np.ones((inner, columns), np.float32)
    signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
    for _ in range(100): assert (product(*fed)[0] == inner).all()
    signal.setitimer(signal.ITIMER_REAL, 0)
""")
    assert done.returncode == 0, done.stderr


def test_other_threads_run_while_one_compiles():
    done = run("""
y = x
for _ in range(6000): y = al.tanh(y) * 1.5
late = graph.compile([x], [y])
thread = threading.Thread(target=late.memory_plan)
ticks = 0
thread.start()
while thread.is_alive():
    time.sleep(0.001)
    ticks += 1
    if ticks % 50 == 0: x + float(ticks)      # one may even build on the graph that is being compiled
print(ticks)
""")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50
