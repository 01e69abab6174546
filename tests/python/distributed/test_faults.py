"""Processes that fail: all others end, and the training goes on from its checkpoint to the same bits."""

import os
import re
import signal
import time

import pytest

TRAINING = """
import os, signal
rng = np.random.default_rng(0)
x = rng.normal(size=(72, 8)).astype(np.float32)
y = np.sin(x.sum(axis=1, keepdims=True))
model = al.nn.Sequential(al.nn.Dense(16, activation="tanh"), al.nn.Dropout(0.1), al.nn.Dense(1))
trainer = al.Trainer(model, "mean_squared_error", al.Adam(1e-2), distributed=True)

def train(epochs, *callbacks):
    callbacks = [al.Checkpoint("training.safetensors", every_steps=3), *callbacks]
    trainer.fit((x, y), epochs, 12, callbacks=callbacks, resume="training.safetensors", progress=False)
    tell(bits={v.name: v.numpy().tobytes().hex() for v in model.variables})

class At(al.Callback):  # calls act() after so many epochs
    def __init__(self, epochs, act):
        self.epochs, self.act = epochs, act

    def on_epoch_end(self, epoch, logs):
        if epoch + 1 == self.epochs:
            self.act()
"""
PATIENT = "from alloy.distributed import watch\nwatch._SILENCE = 2.0\n"


@pytest.fixture
def resumes(launched, tmp_path):
    """Requires that the checkpoint is whole, and that a training of 12 epochs goes on from it to the bits of an
    uninterrupted one."""

    def require(processes):
        file, code = tmp_path / "training.safetensors", TRAINING + "train(12, At(0, None))"
        assert file.exists()
        found = launched(processes, code)
        assert list(tmp_path.glob(".*")) == []  # no temporary file
        file.unlink()
        whole = launched(processes, code)
        assert len({str(values["bits"]) for values in [*found, *whole]}) == 1

    return require


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
    with running(2, "import time\ntime.sleep(100)") as (mpirun, numbers):
        time.sleep(2)
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
    with running(2, "import time\n" + code, PATIENT) as (mpirun, numbers):
        time.sleep(1.5)
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
