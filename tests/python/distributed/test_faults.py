"""Processes that fail: all others end, and the training goes on from its checkpoint to the same bits."""

import os
import random
import re
import signal
import time

import pytest
from safetensors.numpy import load_file

TRAINING = """
import os, resource, signal, time
rng = np.random.default_rng(0)
x = rng.normal(size=(70, 8)).astype(np.float32)
y = np.sin(x.sum(axis=1, keepdims=True))
model = al.nn.Sequential(al.nn.Dense(16, activation="tanh"), al.nn.Dropout(0.1), al.nn.Dense(1))
trainer = al.Trainer(model, "mean_squared_error", al.Adam(1e-2), distributed=True)

def train(epochs, *callbacks):
    callbacks = [al.Checkpoint("training.safetensors", every_steps=3), *callbacks]
    trainer.fit((x, y), epochs, 12, callbacks=callbacks, resume="training.safetensors", progress=False)
    tell(bits={v.name: v.numpy().tobytes().hex() for v in model.variables})

class At(al.Callback):  # calls act() in the midst of an epoch
    def __init__(self, epoch, act):
        self.epoch, self.act = epoch, act

    def on_train_batch_end(self, batch, logs):
        if (self.trainer.epoch, batch) == (self.epoch, 1):
            self.act()

class Slow(al.Callback):
    def on_train_begin(self, logs):
        tell(begins=True)

    def on_train_batch_end(self, batch, logs):
        time.sleep(0.02)
"""
PATIENT = "from alloy.distributed import watch\nwatch._SILENCE = 2.0\n"


@pytest.fixture
def resumes(launched, tmp_path):
    """Requires that the checkpoint is whole, and that a training of 12 epochs goes on from it to the bits of an
    uninterrupted one."""

    def require(processes):
        file, code = tmp_path / "training.safetensors", TRAINING + "train(12, al.Callback())"
        assert file.exists()
        found = launched(processes, code)
        assert list(tmp_path.glob(".*")) == []  # no temporary file
        file.unlink()
        whole = launched(processes, code)
        assert len({str(values["bits"]) for values in [*found, *whole]}) == 1

    return require


def hear(mpirun, text, count):
    """Waits for so many lines with the text."""
    while count:
        line = mpirun.stdout.readline()
        assert line, "the processes ended too early"
        count -= text in line


def ended(mpirun, numbers):
    """Requires that all end within the time of the specification, with a failure: gives their text."""
    began = time.monotonic()
    text = mpirun.communicate(timeout=60)[0]
    assert mpirun.returncode != 0, text
    while any(os.path.exists(f"/proc/{number}") for number in numbers.values()):
        assert time.monotonic() - began < 20
        time.sleep(0.1)
    assert time.monotonic() - began < 20
    return text


def test_a_process_that_stops_answering_ends_all(running, resumes):
    code = TRAINING + "train(12, At(5, lambda: os.kill(os.getpid(), signal.SIGSTOP if rank == 2 else 0)))"
    with running(3, code) as (mpirun, numbers):
        text = ended(mpirun, numbers)
    assert (
        len(re.findall(r"ConnectionError: \[\w+\] Rank 2 failed: It has not answered for 8 s; at script.py", text)) >= 2
    )
    resumes(3)


def test_a_process_that_does_not_wait_ends_too(running):
    with running(2, "import time\ntell(connected=True)\ntime.sleep(100)") as (mpirun, numbers):
        hear(mpirun, "connected", 2)
        os.kill(numbers[0], signal.SIGSTOP)
        text = ended(mpirun, numbers)
    assert "[distributed] Rank 0 failed: It has not answered for 8 s.\n" in text


SLOW = {
    "it waits": "time.sleep(5)",
    "one call holds the interpreter's lock": (
        "count = 5 * 10**6 / timeit.timeit(lambda: sum(range(10**6)), number=1)\nsum(range(int(count)))"
    ),
    "its messages do not come through": "time.sleep(5)",
    "a stranger speaks": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto("
        "bytes(16) + bytes([1]) + (0).to_bytes(4, 'little'), ('127.0.0.1', port))\ntime.sleep(5)"
    ),
}


@pytest.mark.parametrize("why", SLOW)
def test_a_process_that_is_only_slow_does_not_fail(why, launched):
    before = PATIENT + "import socket, time, timeit\n"
    if "messages" in why:
        before += "watch._addresses = lambda link: []\n"
    if "stranger" in why:
        before += "known = watch._addresses\ndef noted(link):\n    global port\n    port = link.getsockname()[1]\n"
        before += "    return known(link)\nwatch._addresses = noted\n"
    code = f"if rank == 1:\n    {SLOW[why].replace(chr(10), chr(10) + '    ')}\ntell(sum=al.distributed.all_reduce(1))"
    assert [values["sum"] for values in launched(2, code, before=before)] == [2, 2]


def test_processes_that_are_stopped_together_go_on_together(running):
    code = "for _ in range(300):\n    al.distributed.all_reduce(1)\n    time.sleep(0.01)\ntell(ended=True)"
    with running(2, "import time\ntell(connected=True)\n" + code, PATIENT) as (mpirun, numbers):
        hear(mpirun, "connected", 2)
        time.sleep(1)
        for action in (signal.SIGSTOP, signal.SIGCONT):
            for number in numbers.values():
                os.kill(number, action)
            time.sleep(5 if action == signal.SIGSTOP else 0)
        text = mpirun.communicate(timeout=60)[0]
    assert mpirun.returncode == 0 and text.count('"ended": true') == 2, text


def test_other_versions_are_refused(launched):
    before = """
import importlib.metadata, os
known = importlib.metadata.version
importlib.metadata.version = lambda name: "9.9" if os.environ["OMPI_COMM_WORLD_RANK"] == "1" else known(name)
"""
    text = launched(2, "", fails=True, before=before).stderr
    says = (
        r"ValueError: \[distributed\] Expected the same version of Alloy in all processes, got .* in rank 0 and 9.9 in "
    )
    assert len(re.findall(says + "rank 1; at script.py:", text)) == 2, text


def test_a_full_disk_ends_all_and_the_checkpoint_stays(running, resumes, tmp_path):
    """A limit of files' sizes stands for it: a save also fails in its midst."""
    limit = "lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, -1)) if rank == 0 else None"
    with running(2, TRAINING + f"train(12, At(5, {limit}))") as (mpirun, numbers):
        text = ended(mpirun, numbers)
    assert "\nOSError: [Errno 27] File too large: 'training.safetensors'\n" in text
    assert re.search(
        r"ConnectionError: \[\w+\] Rank 0 failed: OSError: \[Errno 27\] File too large: 'training", text
    ), text
    assert list(tmp_path.glob(".*")) == []
    resumes(2)


@pytest.mark.parametrize(
    ("whom", "action"), [("mpirun", signal.SIGINT), ("mpirun", signal.SIGTERM), (0, signal.SIGINT), (1, signal.SIGTERM)]
)
def test_an_interrupt_ends_all_and_the_training_resumes(whom, action, running, resumes):
    code = TRAINING + "train(12, At(5, lambda: (tell(waits=True), time.sleep(100) if rank == WHOM else 0)))"
    with running(2, code.replace("WHOM", str(0 if whom == "mpirun" else whom))) as (mpirun, numbers):
        hear(mpirun, "waits", 2)
        os.kill(mpirun.pid if whom == "mpirun" else numbers[whom], action)
        text = ended(mpirun, numbers)
    if whom == 0:
        assert re.search(r"ConnectionError: \[\w+\] Rank 0 failed: KeyboardInterrupt; at script.py", text), text
    resumes(2)


def test_a_training_whose_processes_are_killed_at_random_moments_ends_with_the_same_bits(running, launched, tmp_path):
    file, rng, places = tmp_path / "training.safetensors", random.Random(0), set()
    (whole, _) = launched(2, TRAINING + "train(80, al.Callback())")
    file.unlink()
    for _ in range(20):
        with running(2, TRAINING + "train(80, Slow())") as (mpirun, numbers):
            if rng.random() < 0.5:
                hear(mpirun, "begins", 1)
            time.sleep(rng.uniform(0, 0.8))
            os.kill(numbers[rng.randrange(2)], signal.SIGKILL)
            ended(mpirun, numbers)
        if file.exists():
            stored = load_file(file)
            places.add(tuple(int(stored[f"training/{name}"]) for name in ("epoch", "steps")))
        assert len(list(tmp_path.glob(".*"))) <= 1
    assert len(places) > 3  # not all have died before they trained
    for found in launched(2, TRAINING + "train(80, al.Callback())"):
        assert found["bits"] == whole["bits"]
    assert list(tmp_path.glob(".*")) == []
