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

ROOT = pathlib.Path(__file__).parents[3]
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
    # GCC's sanitizer finds leaks also in what was not compiled for it; with the suppressions there are none.
    folder = pathlib.Path(config("--sanitizersdir"))
    sanitizer = output("g++", "-print-file-name=libasan.so", where=clean).strip()
    leaks = f"suppressions={folder / 'leaks.txt'}"
    assert FITTED.fullmatch(output("./line", where=clean, LD_PRELOAD=sanitizer, LSAN_OPTIONS=leaks))
    for file in ("leaks.txt", "threads.txt"):
        lines = (folder / file).read_text().splitlines()
        assert all(re.fullmatch(r"#.*|(leak|deadlock|race|called_from_lib):lib\S+", line) for line in lines)


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


def test_cmake_with_the_compiler(clean):
    """As projects for Macs are configured, which name frameworks and no package."""
    (clean / "CMakeLists.txt").write_text(
        CMAKE.replace("find_package(Alloy REQUIRED)\n", "").replace("Alloy::", '"-framework ')[:-2] + '")\n'
    )
    compilers = [f"-DCMAKE_{kind}_COMPILER={SCRIPTS / 'alloy-clang++'}" for kind in ("CXX", "OBJCXX")]
    output("cmake", "-B", "b", *compilers, ".", where=clean)
    output("cmake", "--build", "b", where=clean)
    assert FITTED.fullmatch(output("b/line", where=clean))


@pytest.mark.parametrize("compiler, source", [("alloy-clang++", "w.cpp"), ("alloy-clang", "w.c")])
def test_plain_sources(tmp_path, compiler, source):
    (tmp_path / source).write_text("int main(void) { return 0; }\n")
    strict = ["-Wall", "-Wextra", "-Werror"]
    assert run(compiler, *strict, "-c", source, where=tmp_path).stderr == ""
    assert run(compiler, *strict, "-o", "w", f"{source[0]}.o", where=tmp_path).stderr == ""
    output("./w", where=tmp_path)


def test_c_beside_objective_c(tmp_path):
    (tmp_path / "seven.c").write_text("int seven(void) { int class = 7; return class; }\n")
    (tmp_path / "main.m").write_text(
        "#import <Foundation/Foundation.h>\n"
        "int seven(void);\n"
        "int main(void) { @autoreleasepool { puts([[@(seven()) stringValue] UTF8String]); } return 0; }\n"
    )
    output("alloy-clang", "-Wall", "-Werror", "-fobjc-arc", "main.m", "seven.c", "-o", "p", where=tmp_path)
    assert output("./p", where=tmp_path) == "7\n"


OF_A_MAC = [
    ["-framework", "CoreML"],
    ["-weak_framework", "IOSurface"],
    ["-Wl,-framework,QuartzCore"],
    ["-Wl,-dead_strip"],
    ["-arch", "arm64"],
    ["-flto=thin"],
    ["-stdlib=libc++"],
    ["-mmacosx-version-min=13.3"],
]


def test_arguments_of_a_mac_are_ignored_with_a_warning(tmp_path):
    (tmp_path / "w.mm").write_text(
        "#import <Metal/Metal.h>\nint main() { return MTLCreateSystemDefaultDevice() == nil; }\n"
    )
    given = [word for words in OF_A_MAC for word in words]
    ended = run("alloy-clang++", "w.mm", "-Wl,-framework,Metal", *given, "-o", "w", where=tmp_path)
    named = [f"{words[0].removeprefix('-Wl,').replace(',', ' ')} {''.join(words[1:])}".strip() for words in OF_A_MAC]
    named[named.index("-dead_strip")] = "-Wl,-dead_strip"
    assert ended.stderr.splitlines() == [
        f"alloy-clang++: warning: {words} is of a Mac or not supported, and ignored." for words in named
    ]
    output("./w", where=tmp_path)


SLIPS = {
    "no framework": (
        ["alloy-clang++", "a.mm", "-framework"],
        {},
        "alloy-clang++: Expected a name behind -framework.\n",
    ),
    "no arguments": (
        ["alloy-clang"],
        {},
        "alloy-clang: Expected the arguments of clang, such as -fobjc-arc program.m -o program.\n",
    ),
    "no such compiler": (
        ["alloy-clang++", "a.mm"],
        {"OBJCXX": "clang++-3"},
        "alloy-clang++: No clang 14 or newer was found (looked for clang++-3). Install one, or name it in the "
        "environment variable OBJCXX.\n",
    ),
    "nothing asked": (
        ["alloy", "config"],
        {},
        "alloy: Expected one of --cflags, --libs, --cmakedir, --pkgconfigdir, --sanitizersdir.\n",
    ),
}


@pytest.mark.parametrize("command, environment, sentence", SLIPS.values(), ids=SLIPS)
def test_slips(tmp_path, command, environment, sentence):
    ended = run(*command, where=tmp_path, **environment)
    assert (ended.returncode, ended.stderr) == (1, sentence)
