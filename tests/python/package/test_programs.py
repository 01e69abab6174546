"""Programs in Objective-C++ as people write them for a Mac compile with alloy-clang++ and run: right, and without a
leak a step. tests/programs has a folder for each style."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import alloy as al

COMPILER = pathlib.Path(sys.executable).with_name("alloy-clang++")
PROGRAMS = pathlib.Path(__file__).parents[2] / "programs"
# Those that count owners by themselves; the others are compiled with automatic reference counting.
BY_HAND = {"by_hand"}
STYLES = {"arc", "blocks", "by_hand", "categories", "static_initialisers", "subclasses", "subscripts"}

pytestmark = pytest.mark.skipif(al.device().kind == "gpu", reason="clang++ of a Mac compiles them there")


def test_every_style_has_ten_programs():
    for style in STYLES:
        assert len(list((PROGRAMS / style).glob("*.m*"))) >= 10, style


def compile_program(style, output, *arguments):
    arc = [] if style in BY_HAND else ["-fobjc-arc"]
    standard = [] if any(str(argument).endswith(".m") for argument in arguments) else ["-std=gnu++17"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [COMPILER, *arc, *standard, "-g", *warnings, f"-I{PROGRAMS}", *arguments, "-o", output]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0 and not compiled.stderr, compiled.stderr


def run_program(*command, **environment):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*/*.m*")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_compiles_and_runs(source, tmp_path):
    compile_program(source.parent.name, tmp_path / "program", source)
    run_program(tmp_path / "program", ALLOY_PRETEND="")  # some have handlers that an imitation does not keep


@pytest.mark.parametrize("reverse", [False, True])
def test_classes_of_several_files(reverse, tmp_path):
    """Superclasses, subclasses, categories and +load in files linked in either order, and in a library loaded later."""
    folder = PROGRAMS / "subclasses" / "several_files"
    plugin = folder / "plugin.mm"
    sources = sorted((path for path in folder.glob("*.mm") if path != plugin), reverse=reverse)
    compile_program("subclasses", tmp_path / "program", *sources, "-rdynamic", "-ldl")
    compile_program("subclasses", tmp_path / "plugin.so", "-shared", "-fPIC", plugin)
    run_program(tmp_path / "program", tmp_path / "plugin.so")


def test_in_an_imitation(tmp_path):
    """Weak references update the methods of all classes, Foundation's strings among them, which ask for selectors."""
    compile_program("weak", tmp_path / "program", PROGRAMS / "weak" / "kinds.mm")
    run_program(tmp_path / "program", ALLOY_PRETEND="macos13")


def test_what_nothing_catches_aborts(tmp_path):
    """As on a Mac, and with its line."""
    compile_program("exceptions", tmp_path / "program", PROGRAMS / "exceptions" / "uncaught" / "main.mm")
    line = "*** Terminating app due to uncaught exception"
    for arguments, said in [
        ([], f"handler\n{line} 'Mine', reason: 'reason 3'\n"),
        (["object"], f"{line} of class 'NSConstantString'\n"),
    ]:
        ended = subprocess.run([tmp_path / "program", *arguments], capture_output=True, text=True)
        own = re.sub(r"(?m)^qemu: .*\n", "", ended.stderr)  # an emulator says the same once more
        assert (ended.returncode, own) == (-signal.SIGABRT, said)
