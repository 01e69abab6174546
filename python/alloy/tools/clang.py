"""How programs in Objective-C++ are compiled against the framework: `alloy config` prints it, alloy-clang++ does it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from alloy import _core

__all__ = ["CMAKE_DIRECTORY", "PKGCONFIG_DIRECTORY", "flags", "main"]

_ROOT = Path(_core.__file__).parent
PKGCONFIG_DIRECTORY = _ROOT / "pkgconfig"
CMAKE_DIRECTORY = _ROOT / "cmake"

_ON_A_MAC = sys.platform == "darwin"
_GRAPHS = ["Foundation", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"]
# What else `-framework` may name where the portable framework stands for all.
_FRAMEWORKS = [*_GRAPHS, "Accelerate", "CoreFoundation", "CoreGraphics"]
# With these the compiler does not link.
_NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "--help"}
_OLDEST, _NEWEST = 14, 21


def flags(kind: str) -> list[str]:
    """The compiler's arguments: `Cflags` to compile, `Libs` to link."""
    if _ON_A_MAC:
        return [word for name in _GRAPHS for word in ("-framework", name)] if kind == "Libs" else []
    lines = (PKGCONFIG_DIRECTORY / "alloy.pc").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{kind}: ")]
    return [word.replace("${root}", str(_ROOT)) for word in line.split()[1:]]


def _compiler() -> str:
    """The clang++ that the environment variable OBJCXX names, or the newest that is installed."""
    names = ["clang++", *(f"clang++-{version}" for version in range(_NEWEST, _OLDEST - 1, -1))]
    if "OBJCXX" in os.environ:
        names = [os.environ["OBJCXX"]]
    for name in names:
        if found := shutil.which(name):
            return found
    sys.exit(f"alloy-clang++: No clang {_OLDEST} or newer was found (looked for {', '.join(names)}). Install one, or "
             "name it in the environment variable OBJCXX.")  # fmt: skip


def _of_gcc(compiler: str) -> list[str]:
    """Makes clang take the C++ library of g++: by itself it takes the newest GCC, even one without headers."""
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True).stdout.partition(".")[0]
    if not shutil.which("g++") or int(version or 0) < 16:  # older ones lack the option
        return []
    library = subprocess.run(["g++", "-print-libgcc-file-name"], capture_output=True, text=True).stdout.strip()
    return [f"--gcc-install-dir={Path(library).parent}"]


def _without_frameworks(arguments: list[str]) -> list[str]:
    """The arguments without `-framework Metal` and the like, as programs are linked on a Mac."""
    left, given = [], iter(arguments)
    for argument in given:
        if argument != "-framework":
            left.append(argument)
        elif (name := next(given, "")) not in _FRAMEWORKS:
            sys.exit(f"alloy-clang++: There is no framework {name!r} here, only {', '.join(_FRAMEWORKS)}.")
    return left


def main() -> None:
    """Runs clang++ with what the framework needs and the arguments given, as alloy-clang++."""
    arguments = sys.argv[1:]
    compiler = _compiler()
    if not _ON_A_MAC:
        if any(argument.startswith("-flto") for argument in arguments):
            sys.exit("alloy-clang++: -flto is not supported: clang links no automatic reference counting then.")
        arguments = [*_of_gcc(compiler), *flags("Cflags"), *_without_frameworks(arguments)]
    libraries = [] if _NO_LINK & set(arguments) else flags("Libs")
    os.execv(compiler, [compiler, *arguments, *libraries])
