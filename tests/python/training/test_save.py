"""Variables in files."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import alloy as al
from kinds import FAST
from running import at_once


def model(units=2):
    made = al.nn.Sequential(al.nn.Dense(units), al.nn.ReLU(), al.nn.Dense(1))
    made(al.Graph().placeholder((1, 3)))
    return made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_round_trip(path, rng):
    saved, loaded = model(), model()
    for variable in saved.variables:
        variable.assign(rng.normal(size=variable.shape).astype(np.float32))
    al.save(saved, path)
    assert list(path.parent.iterdir()) == [path]
    assert set(load_file(path)) == {"dense_0/weights", "dense_0/bias", "dense_1/weights", "dense_1/bias"}
    al.load(loaded, path)
    for a, b in zip(saved.variables, loaded.variables):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_some_variables_of_any_dtype(path):
    graph = al.Graph()
    variables = [graph.variable(np.int64([1, 2]), "i"), graph.variable(1.5, "f"), graph.variable([True], "b")]
    al.save(variables, path)
    for variable in variables:
        variable.assign(np.zeros(variable.shape, variable.dtype))
    al.load(variables, path)
    assert [v.numpy().tolist() for v in variables] == [[1, 2], 1.5, [True]]


# fmt: off
CHANGES = [
    (lambda a: a.pop("dense_1/bias"), "dense_1/bias: missing from"),
    (lambda a: a.update(more=np.zeros(1)), "more: unknown to the model"),
    (lambda a: a.update({"dense_0/bias": np.zeros(3, np.float32)}),
     r"dense_0/bias of float32 \(2,\), got float32 \(3,\)"),
    (lambda a: a.update({"dense_0/bias": np.zeros(2, np.int32)}), r"dense_0/bias of float32 \(2,\), got int32 \(2,\)"),
]
# fmt: on


@pytest.mark.parametrize("change, says", CHANGES)
def test_a_file_of_something_else_changes_nothing(change, says, path):
    m = model()
    arrays = {variable.name: np.full(variable.shape, 7, np.float32) for variable in m.variables}
    change(arrays)
    save_file(arrays, path)
    before = [v.numpy() for v in m.variables]
    with pytest.raises(ValueError, match=rf"^\[load\] .*{says}.*; at .*test_save\.py:\d+\.$"):
        al.load(m, path)
    for value, variable in zip(before, m.variables):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_a_failed_save_leaves_the_old_file(path, monkeypatch):
    al.save(model(), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        al.save(model(4), path)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_what_cannot_be_saved_or_loaded(path):
    graph = al.Graph()
    for variables, says in [
        (al.nn.Sequential(al.nn.Dense(1)), "none"),
        ([graph.variable(0.0)], "different names"),
        ([graph.variable(0.0, "a"), graph.variable(0.0, "a")], "different names"),
    ]:
        with pytest.raises(ValueError, match=rf"^\[save\] .*{says}"):
            al.save(variables, path)
    path.write_bytes(b"not a file of tensors")
    with pytest.raises(ValueError, match=r"^\[load\] Expected a safetensors file"):
        al.load(model(), path)
    with pytest.raises(FileNotFoundError):
        al.load(model(), path.with_name("missing"))


# ---- whole or not at all ----


def count_in_step(graph, count):
    """Variables that every run of the step sets to one more, all to the same number."""
    variables = [graph.variable(np.zeros(5000, np.float32), f"v{i}") for i in range(count)]
    return variables, graph.compile(updates=[graph.assign(v, v + 1.0) for v in variables])


def test_a_file_and_what_is_loaded_are_of_one_moment_beside_running_steps(path, storage):
    graph = al.Graph(storage=storage)
    variables, step = count_in_step(graph, 6)
    step()
    ended = threading.Event()

    def run():
        while not ended.is_set():
            step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(40):
            al.save(variables, path)
            values = {float(array[0]) for array in load_file(path).values()}
            assert len(values) == 1 and all((array == array[0]).all() for array in load_file(path).values())
            al.load(variables, path)
    finally:
        ended.set()
        thread.join()
    assert len({float(v.numpy()[0]) for v in variables}) == 1


def test_all_variables_take_one_dispatch(path):
    m = model()
    al.save(m, path)
    before = al.stats()["dispatches"]
    al.save(m, path)
    al.load(m, path)
    assert al.stats()["dispatches"] - before == 2


@FAST
def test_an_interrupted_load_is_whole_or_nothing(path):
    code = """
import signal, sys, time
import numpy as np
import alloy as al
graph = al.Graph()
variables = [graph.variable(np.zeros(20000, np.float32), f"v{i}") for i in range(300)]
ones, zeros = ([np.full(20000, value, np.float32)] * 300 for value in (1, 0))
graph.assign_variables(variables, ones)
al.save(variables, sys.argv[1])
before = time.perf_counter()
al.load(variables, sys.argv[1])
taken = time.perf_counter() - before  # much, on a machine that is busy
signal.signal(signal.SIGALRM, signal.default_int_handler)
seen = set()
for turn in range(20):
    graph.assign_variables(variables, zeros)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002 + taken * turn / 8)
        al.load(variables, sys.argv[1])
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    values = {float(v[0]) for v in graph.read_variables(variables)}
    assert len(values) == 1, turn
    seen |= values
assert seen == {0, 1}, "some were interrupted, some were not"
"""
    subprocess.run([sys.executable, "-c", code, path], check=True, timeout=120)


def test_permissions_are_those_of_a_new_file_or_of_the_replaced_one(path):
    def mode():
        return stat.S_IMODE(path.stat().st_mode)

    before = os.umask(0o027)
    try:
        al.save(model(), path)
        assert mode() == 0o640
        path.chmod(0o604)
        al.save(model(), path)
        assert mode() == 0o604
    finally:
        os.umask(before)


def test_a_symbolic_link_stays_and_bytes_are_a_path(path):
    link = path.with_name("latest")
    link.symlink_to(path.name)
    al.save(model(), os.fsencode(link))
    assert link.is_symlink() and path.exists()
    al.load(model(), os.fsencode(link))


def test_many_threads_save_to_one_path(path):
    m = model()
    at_once(lambda _: [al.save(m, path) for _ in range(10)], range(4))
    assert os.listdir(path.parent) == [path.name]


def test_the_next_save_tidies_up_behind_one_that_was_killed(path):
    code = """
import sys
import numpy as np
import alloy as al
v = al.Graph().variable(np.ones(4_000_000, np.float32), "v")
while True:
    al.save([v], sys.argv[1])
"""
    for pause in (0.0, 0.004, 0.008, 0.012, 0.016):
        process = subprocess.Popen([sys.executable, "-c", code, path])
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert set(load_file(path)) == {"v"}, "the file is whole"
    al.save(model(), path)
    assert os.listdir(path.parent) == [path.name]


def test_a_file_is_on_the_disk_before_it_has_its_name(path, monkeypatch):
    """Of the calls to the system, in order: the content, then the name, then the directory."""
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda fd: (calls.append("directory" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file"), fsync(fd))
    )
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("name"), replace(*paths)))
    al.save(model(), path)
    assert calls == ["file", "name", "directory"]


def test_what_the_disk_says_is_an_os_error(path):
    m = model()
    path.touch()
    with pytest.raises(NotADirectoryError) as raised:
        al.save(m, path / "x")
    assert raised.value.filename == str(path / "x")  # and no other file that is written on the way
    al.save(m, path.parent / "made" / "too" / "x")  # as Checkpoint makes directories, so that no model is lost
    al.load(m, path.parent / "made" / "too" / "x")
    with pytest.raises(FileNotFoundError):
        al.load(m, path.parent / "none")
    with pytest.raises(IsADirectoryError):
        al.load(m, path.parent)


def test_a_full_disk_leaves_the_file_that_was_there(path):
    al.save(model(), path)
    before = path.read_bytes()
    code = """
import resource, sys
import numpy as np
import alloy as al
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
try:
    al.save([al.Graph().variable(np.zeros(int(sys.argv[2]), np.float32), "v")], sys.argv[1])
except OSError as error:
    print(error.strerror, error.filename == sys.argv[1])
"""
    for size in ("10000", "1000"):  # the second one is small enough to be written when the file is closed
        run = subprocess.run([sys.executable, "-c", code, path, size], capture_output=True, text=True, check=True)
        assert run.stdout == "File too large True\n"
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_element_types_that_no_variable_has_are_refused(path):
    header = b'{"v":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    v = al.Graph().variable(np.zeros(2, np.float32), "v")
    with pytest.raises(ValueError, match=r"Expected v of float32 \(2,\), got C64 \(1,\)"):
        al.load([v], path)


def test_a_name_that_such_a_file_keeps_to_itself(path):
    with pytest.raises(ValueError, match="__metadata__"):
        al.save([al.Graph().variable(1.0, "__metadata__")], path)
    assert not path.exists()


def test_only_files_are_written_and_read(path):
    m = model()
    os.mkfifo(path)
    with pytest.raises(ValueError, match=r"^\[save\] Expected the path of a file, got .*safetensors, which is another"):
        al.save(m, path)
    assert stat.S_ISFIFO(os.stat(path).st_mode), "what is there stays"
    with pytest.raises(ValueError, match=r"^\[load\] Expected the path of a file, got .*safetensors, which is another"):
        al.load(m, path)
    for use in (al.save, al.load):
        with pytest.raises(ValueError, match=r"^\[(save|load)\] Expected a path, got 'a\\x00b'"):
            use(m, "a\0b")
    with pytest.raises(IsADirectoryError) as error:
        al.save(m, path.parent)
    assert error.value.filename == str(path.parent)


def test_a_file_that_another_program_writes_while_it_is_read(path):
    """A file that was mapped and is cut off ends the process. Written in place, not by al.save."""
    code = """
import sys, threading, time
import numpy as np
import alloy as al
v = al.Graph().variable(np.zeros(300000, np.float32), "v")
al.save([v], sys.argv[1])
content, done = open(sys.argv[1], "rb").read(), []
def write():
    while not done:
        with open(sys.argv[1], "wb") as file:
            file.write(content[:100]), file.flush(), file.write(content)
threading.Thread(target=write).start()
refused, end = 0, time.monotonic() + 0.5
while time.monotonic() < end:
    try:
        al.load([v], sys.argv[1])
    except ValueError as error:
        assert str(error).startswith("[load] Expected"), error
        refused += 1
done.append(1)
print(refused > 0)
"""
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "True\n"), run.stderr


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"[" * 50000,
        b'{"v":3}',
        b'{"v":{"dtype":"F32","shape":[2]}}',
        b'{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}',
        b'{"v":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}',
        b'{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        b'{"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        b'{"v":{"dtype":"F32","shape":[-1,-2],"data_offsets":[0,8]}}',
        b'{"v":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}}',
        b'{"v":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}',
        b'{"v":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}}',
        b'{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        b'{"v":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}}',
        b'{"__metadata__":3,"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        b'{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"\xff":1}',
    ],
)
def test_damaged_headers(header, path):
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    v = al.Graph().variable(np.ones(2, np.float32), "v")
    with pytest.raises(ValueError, match=r"^\[load\] Expected a safetensors file, got .*; at "):
        al.load([v], path)
    assert v.numpy().tolist() == [1, 1]


def test_a_file_cut_off_anywhere(path):
    m = model()
    al.save(m, path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"^\[load\] Expected a safetensors file"):
            al.load(m, path)


def test_a_name_that_a_file_has_twice_is_refused(path):
    entry = b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    header = b'{"v":' + entry + b',"v":' + entry + b"}"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    v = al.Graph().variable([1.0], name="v")
    for load in (lambda: al.load([v], path), lambda: al.init.from_file(path, "v")):
        with pytest.raises(ValueError, match=r"^\[\w+\] Expected each name once in .*, got 'v' twice; at "):
            load()


def test_memory_that_is_missing_is_told_with_the_file(path, monkeypatch):
    path.write_text("a,b\n1,2\n")

    def no_memory(*arguments, **options):
        raise MemoryError

    for module in ("training.stored", "data.tables"):
        monkeypatch.setattr(f"alloy.{module}.open", no_memory, raising=False)
    for read in (lambda: al.load([al.Graph().variable([1.0], name="v")], path), lambda: al.data.csv(path)):
        with pytest.raises(MemoryError, match=rf"^\[\w+\] There is no memory for the contents of {path}; at "):
            read()
