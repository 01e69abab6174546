"""Trainings and sums over several hosts, which send by TCP. One launch does all, because a launch takes seconds."""

import json
import subprocess
import sys
from pathlib import Path

import hosts
import pytest

from alloy.tools import launch

HOSTS = 4
ELEMENTS = 5_000_000
PROGRAM = f"""
import json, os, zlib
import numpy as np
import alloy as al
from alloy.distributed import processes
from alloy.distributed.shared_memory import SharedMemory

def sent():
    '''Bytes that the kernel has sent from this host.'''
    with open("/proc/net/dev") as devices:
        return sum(int(line.split()[9]) for line in devices if line.strip().startswith("eth0:"))

def bits(values):
    return [zlib.crc32(np.ascontiguousarray(value).tobytes()) for value in values]

rank, size = al.distributed.rank(), al.distributed.size()
told = dict(rank=rank, size=size, host=os.uname().nodename, process=os.getpid())
told["shares"] = processes._ring()._shared is not None

rng = np.random.default_rng(0)
x = rng.normal(size=(100, 12)).astype(np.float32)
y = np.sin(x @ rng.normal(size=(12, 3)).astype(np.float32))
layers = al.nn.Dense(64, activation="tanh"), al.nn.BatchNorm(), al.nn.Dense(3)
trainer = al.Trainer(al.nn.Sequential(*layers), "mean_squared_error", al.Adam(1e-2), distributed=True)
history = trainer.fit((x, y), 3, 24, progress=False)
told |= dict(variables=bits(v.numpy() for v in trainer.model.variables), losses=history["loss"])

own = np.random.default_rng(rank).normal(size={ELEMENTS}).astype(np.float32)
al.distributed.barrier()
before = sent()
total = al.distributed.all_reduce(own)
al.distributed.barrier()  # behind it, all have received
told |= dict(sent=sent() - before, total=bits([total]))

if not told["shares"]:  # as if MPI took containers for one host
    while os.dup(0) < 200:  # the next file has one number in all processes
        pass
    ring = processes._ring()
    ring._shared = SharedMemory(rank, size, ring._gather, ring._meet, ring._refuse)
    told |= dict(again=bits([al.distributed.all_reduce(own)]), still_shares=ring._shared is not None)
print(json.dumps(told), flush=True)
"""


def told(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)
    if done.returncode == hosts.SKIPPED:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    return sorted(found, key=lambda values: values["rank"])


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("hosts") / "script.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def on_hosts(script):
    # All hosts give the process one number, if the kernel lets it be chosen.
    numbered = f"(echo 5000 >/proc/sys/kernel/ns_last_pid) 2>/dev/null; {sys.executable} {script}; exit $?"
    command = [sys.executable, hosts.__file__, str(HOSTS), "--rate", "1gbit", "--", "sh", "-c", numbered]
    return told(command, cwd=script.parent, env=launch.environment(HOSTS, 1))


def test_hosts_send_messages_and_share_no_memory(on_hosts):
    assert [values["host"] for values in on_hosts] == [f"host{i}" for i in range(1, HOSTS + 1)]
    assert [values["size"] for values in on_hosts] == [HOSTS] * HOSTS
    assert not any(values["shares"] for values in on_hosts)


def test_hosts_train_to_the_bits_of_processes_of_one_host(on_hosts, script):
    alone = told(launch.command(HOSTS, str(script), []), env=launch.environment(HOSTS, 1), cwd=script.parent)
    assert len(alone) == len(on_hosts) == HOSTS and len({values["host"] for values in alone}) == 1
    assert alone[0]["losses"][-1] < alone[0]["losses"][0]
    for values in (*alone, *on_hosts):
        for key in ("variables", "losses", "total"):
            assert values[key] == alone[0][key], key


def test_a_host_sends_twice_the_array_less_its_share(on_hosts):
    """The kernel's count of bytes: 5 % are for heads of packets and MPI's own messages."""
    for values in on_hosts:
        assert values["sent"] == pytest.approx(2 * (HOSTS - 1) / HOSTS * 4 * ELEMENTS, rel=0.05)


def test_containers_that_mpi_takes_for_one_host_send_messages(on_hosts):
    """A process finds one of the same number in its own container, which is not the other."""
    for values in on_hosts:
        assert values["again"] == values["total"] and not values["still_shares"]


def test_nothing_is_left_of_hosts_that_fail(script):
    """The exit status is the program's. A process that mpirun does not know of ends with its host, too."""
    mark = f"{script.parent}/mark"
    sleeper = f"subprocess.Popen(['sleep', '600'], env={{'M': {mark!r}}}, start_new_session=True)"
    sleeper = f"import subprocess, sys; {sleeper}; sys.exit(3)"
    command = [sys.executable, hosts.__file__, "2", "--", sys.executable, "-c", sleeper]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode == hosts.SKIPPED:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 3, done.stderr
    left = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            left += [path] * (f"M={mark}".encode() in path.read_bytes())
        except OSError:  # it has ended
            continue
    assert left == []
