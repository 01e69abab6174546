"""Programs in Objective-C++ find the framework: by alloy-clang++, by `alloy config`, CMake and pkg-config."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import alloy as al

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "linear_regression.mm"
FITTED = re.compile(r"loss 0\.0024, y = 3\.0\d x \+ -0\.50\n")
SCRIPTS = pathlib.Path(sys.executable).parent
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(line LANGUAGES CXX OBJCXX)
find_package(Alloy REQUIRED)
add_executable(line linear_regression.mm)
target_compile_options(line PRIVATE -fobjc-arc)
target_link_libraries(line PRIVATE Alloy::MetalPerformanceShadersGraph)
"""
CLANG = next((name for name in ["clang++", *(f"clang++-{n}" for n in range(21, 13, -1))] if shutil.which(name)), None)

pytestmark = pytest.mark.skipif(al.device().kind == "gpu", reason="clang++ of a Mac needs no flags")


def run(*command, where, **environment):
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=where, capture_output=True, text=True, env=os.environ | {"PATH": path} | environment
    )


def output(*command, where, **environment):
    ended = run(*command, where=where, **environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def clean(tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    return tmp_path


def config(*options):
    return output("alloy", "config", *options, where="/").strip()


def test_the_commands_of_the_readme(tmp_path):
    (block,) = re.findall(r"^```sh\n(alloy-clang\+\+.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    printed = output("sh", "-ec", block, where=tmp_path)
    assert FITTED.fullmatch(printed)
    assert f"# {printed.strip()}\n" in block


@pytest.mark.parametrize("asked_for", [[], ["-D__APPLE__"]])
def test_the_command_line_of_a_mac(clean, asked_for):
    frameworks = ["Foundation", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"]
    named = [word for name in frameworks for word in ("-framework", name)]
    output("alloy-clang++", "-c", "-fobjc-arc", *asked_for, EXAMPLE.name, where=clean)
    output("alloy-clang++", "linear_regression.o", "-o", "line", *named, where=clean)
    assert FITTED.fullmatch(output("./line", where=clean))


def test_flags_for_any_build(clean):
    flags = shlex.split(config("--cflags", "--libs"))
    output(CLANG, "-fobjc-arc", EXAMPLE.name, "-o", "line", *flags, where=clean)
    assert FITTED.fullmatch(output("./line", where=clean))


def test_pkg_config(clean):
    found = {"PKG_CONFIG_PATH": config("--pkgconfigdir")}
    flags = shlex.split(output("pkg-config", "--cflags", "--libs", "alloy", where=clean, **found))
    output(CLANG, "-fobjc-arc", EXAMPLE.name, "-o", "line", *flags, where=clean)
    assert FITTED.fullmatch(output("./line", where=clean))
    assert output("pkg-config", "--modversion", "alloy", where=clean, **found).strip() == al.__version__


def test_cmake(clean):
    (clean / "CMakeLists.txt").write_text(CMAKE)
    output("cmake", "-B", "b", f"-DAlloy_DIR={config('--cmakedir')}", ".", where=clean, OBJCXX=shutil.which(CLANG))
    output("cmake", "--build", "b", where=clean)
    assert FITTED.fullmatch(output("b/line", where=clean))


SLIPS = {
    "an unknown framework": (
        ["alloy-clang++", "a.mm", "-framework", "CoreML"],
        {},
        "alloy-clang++: There is no framework 'CoreML' here, only Foundation, Metal, MetalPerformanceShaders, "
        "MetalPerformanceShadersGraph, Accelerate, CoreFoundation, CoreGraphics.\n",
    ),
    "no framework": (
        ["alloy-clang++", "a.mm", "-framework"],
        {},
        "alloy-clang++: There is no framework '' here, only Foundation, Metal, MetalPerformanceShaders, "
        "MetalPerformanceShadersGraph, Accelerate, CoreFoundation, CoreGraphics.\n",
    ),
    "no such compiler": (
        ["alloy-clang++", "a.mm"],
        {"OBJCXX": "clang++-3"},
        "alloy-clang++: No clang 14 or newer was found (looked for clang++-3). Install one, or name it in the "
        "environment variable OBJCXX.\n",
    ),
    "optimization by the linker": (
        ["alloy-clang++", "-flto=thin", "a.mm"],
        {},
        "alloy-clang++: -flto is not supported: clang links no automatic reference counting then.\n",
    ),
    "nothing asked": (
        ["alloy", "config"],
        {},
        "alloy: Expected one of --cflags, --libs, --cmakedir, --pkgconfigdir.\n",
    ),
}


@pytest.mark.parametrize("command, environment, sentence", SLIPS.values(), ids=SLIPS)
def test_slips(tmp_path, command, environment, sentence):
    ended = run(*command, where=tmp_path, **environment)
    assert (ended.returncode, ended.stderr) == (1, sentence)
