"""Trains with an installed wheel, asks it its questions, and checks where its libraries came from.

python try_wheel.py --system-copies     prints the system's own files of the libraries that the wheel bundles, without
                                        those that Python's own modules use
python try_wheel.py [file...]           the files are hidden: each must fail to load
"""

import ctypes
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import sysconfig


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def bundled():
    """File names of the bundled libraries as the system spells them: without auditwheel's hash."""
    files = importlib.metadata.files("alloy-mpsgraph")
    return {re.sub(r"-[0-9a-f]{8}(?=\.)", "", file.name, count=1) for file in files if ".so" in file.name}


def libraries(maps):
    """The shared libraries in a text of /proc/self/maps."""
    return {line.split()[-1] for line in maps.splitlines() if ".so" in line}


def used_by_python():
    """The libraries of a Python that has imported all of its extension modules."""
    modules = pathlib.Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so")
    imports = "\n".join(
        f"try: import {path.name.partition('.')[0]}\nexcept ImportError: pass" for path in sorted(modules)
    )
    return libraries(output(sys.executable, "-I", "-c", imports + "\nprint(open('/proc/self/maps').read())"))


def system_copies():
    places = [f"{top}/{kind}" for top in ("/lib", "/usr/lib") for kind in ("", sysconfig.get_config_var("MULTIARCH"))]
    files = {pathlib.Path(place, name).resolve() for place in places for name in bundled()}
    used = {pathlib.Path(path).name for path in used_by_python()}  # by name: an emulator shows other paths
    return sorted({str(file) for file in files if file.exists() and file.name not in used})


def train():
    import numpy as np

    import alloy as al

    g = al.Graph()
    x = g.placeholder((64, 3), name="x")
    y = g.placeholder((64, 1), name="y")
    w = g.variable(al.init.zeros((3, 1)), name="w")
    error = x @ w - y
    loss = al.mean(error * error)
    step = g.compile(feeds=[x, y], fetches=[loss], updates=al.SGD(0.1).minimize(loss))
    rows = np.random.default_rng(0).standard_normal((64, 3)).astype(np.float32)
    truth = np.array([[1.0], [-2.0], [0.5]], np.float32)
    for _ in range(300):
        step(rows, rows @ truth)
    np.testing.assert_allclose(w.numpy(), truth, atol=1e-3)


if sys.argv[1:] == ["--system-copies"]:
    print("\n".join(system_copies()))
    sys.exit()

hidden = sys.argv[1:]
for path in hidden:
    try:
        ctypes.CDLL(path)
    except OSError:
        continue
    sys.exit(f"{path} is not hidden")
train()
alloy = pathlib.Path(sys.executable).with_name("alloy")
commands = [["--help"], ["train", "--epochs", "1"]]
if "QEMU_LD_PREFIX" not in os.environ:
    commands.append(["doctor"])  # a program of the wheel's own, which takes minutes in an emulator
for command in commands:
    subprocess.run([alloy, *command], check=True, stdout=subprocess.DEVNULL)
# Libraries of every system: glibc, GCC's C and C++ runtimes.
basic = re.compile(r"/(ld-linux-[\w-]+|lib(c|m|dl|rt|util|pthread|gcc_s|stdc\+\+))\.so|/gconv/")
python = (sys.prefix, sys.base_prefix + "/lib/python")
loaded = libraries(pathlib.Path("/proc/self/maps").read_text())
outside = sorted(path for path in loaded - used_by_python() if not path.startswith(python) and not basic.search(path))
if outside:
    sys.exit("the wheel is not self-contained; loaded from the system:\n  " + "\n  ".join(outside))
print(f"trained with {len(hidden)} libraries of the system hidden; none came from outside the wheel")
