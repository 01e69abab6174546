"""Compiles programs in Objective-C and C++ against the framework: `alloy config` prints the flags, alloy-clang and
alloy-clang++ use them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from alloy import _core

__all__ = ["CMAKE_DIRECTORY", "PKGCONFIG_DIRECTORY", "SANITIZERS_DIRECTORY", "flags", "main"]

_ROOT = Path(_core.__file__).parent
PKGCONFIG_DIRECTORY = _ROOT / "pkgconfig"
CMAKE_DIRECTORY = _ROOT / "cmake"

# Suppression files for the sanitizers of clang.
SANITIZERS_DIRECTORY = Path(__file__).parent / "sanitizers"

_ON_A_MAC = sys.platform == "darwin"
# Without CoreGraphics MTLCreateSystemDefaultDevice() gives nil in a program of the command line.
_GRAPHS = ["Foundation", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph", "CoreGraphics"]
# Other names after `-framework` for which the portable framework stands.
_FRAMEWORKS = {*_GRAPHS, "Accelerate", "CoreFoundation"}
# With these the compiler does not link.
_NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "--help"}
# Arguments of a Mac without meaning here; the first ones are followed by a value.
_PAIRS = {"-framework", "-weak_framework", "-arch"}
_ELSEWHERE = re.compile(r"-flto(=.*)?|-dead_strip|-ObjC|-stdlib=libc\+\+|-mmacos(x)?-version-min=.*")
_OLDEST, _NEWEST = 14, 21


def flags(kind: str) -> list[str]:
    """Returns the compiler's arguments: `Cflags` to compile, `Libs` to link."""
    if _ON_A_MAC:
        return [word for name in _GRAPHS for word in ("-framework", name)] if kind == "Libs" else []
    lines = (PKGCONFIG_DIRECTORY / "alloy.pc").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{kind}: ")]
    return [word.replace("${root}", str(_ROOT)) for word in line.split()[1:]]


def _name() -> str:
    """Returns the name under which this program was called: alloy-clang, or alloy-clang++."""
    return Path(sys.argv[0]).name


def _compiler() -> str:
    """Returns the clang or clang++ that the environment variable OBJC or OBJCXX names, or the newest that is
    installed."""
    kind, variable = ("clang++", "OBJCXX") if _name().endswith("++") else ("clang", "OBJC")
    names = [kind, *(f"{kind}-{version}" for version in range(_NEWEST, _OLDEST - 1, -1))]
    if variable in os.environ:
        names = [os.environ[variable]]
    for name in names:
        if found := shutil.which(name):
            return found
    sys.exit(f"{_name()}: No clang {_OLDEST} or newer was found (looked for {', '.join(names)}). Install one, or "
             f"name it in the environment variable {variable}.")  # fmt: skip


def _of_gcc(compiler: str) -> list[str]:
    """Makes clang take the C++ library of g++: by itself it takes the newest GCC, even one without headers."""
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True).stdout.partition(".")[0]
    if not shutil.which("g++") or int(version or 0) < 16:  # older ones lack the option
        return []
    library = subprocess.run(["g++", "-print-libgcc-file-name"], capture_output=True, text=True).stdout.strip()
    return [f"--gcc-install-dir={Path(library).parent}"]


def _for_linux(arguments: list[str]) -> list[str]:
    """Removes a Mac's arguments, such as `-framework Metal`; warns of those with an effect."""
    left, given = [], iter(arguments)
    for argument in given:
        # -Wl,-framework,Metal for -framework Metal, as builds pass it to the linker.
        first, *rest = argument.removeprefix("-Wl,").split(",") if argument.startswith("-Wl,") else [argument]
        if first in _PAIRS:
            value = rest[0] if rest else next(given, None)
            if value is None:
                sys.exit(f"{_name()}: Expected a name behind {first}.")
            if first != "-arch" and value in _FRAMEWORKS:
                continue
            ignored = f"{first} {value}"
        elif _ELSEWHERE.fullmatch(first):
            ignored = argument
        else:
            left.append(argument)
            continue
        print(f"{_name()}: warning: {ignored} is of a Mac or not supported, and ignored.", file=sys.stderr)
    return left


def main() -> None:
    """Runs clang or clang++ with the framework's flags and the given arguments, as alloy-clang or alloy-clang++."""
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(f"{_name()}: Expected the arguments of clang, such as -fobjc-arc program.m -o program.")
    compiler = _compiler()
    libraries = [] if _NO_LINK & set(arguments) else flags("Libs")
    if not _ON_A_MAC:
        # C and C++ do not use some of them; that deserves no warning.
        ours = ["--start-no-unused-arguments", *_of_gcc(compiler), *flags("Cflags"), "--end-no-unused-arguments"]
        arguments = [*ours, *_for_linux(arguments)]
    os.execv(compiler, [compiler, *arguments, *libraries])
