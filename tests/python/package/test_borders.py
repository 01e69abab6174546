"""The layers see each other only in the direction of the design, read from the sources themselves."""

import ast
import pathlib
import re

import pytest

CSRC = pathlib.Path(__file__).parents[3] / "csrc"
SOURCES = sorted(path for path in CSRC.rglob("*") if path.suffix in {".h", ".cpp", ".m", ".mm", ".def", ".inc"})
# Which quoted includes each layer may have; the framework's public headers come in angle brackets.
MAY_INCLUDE = {
    "ir": {"ir"},
    "probes": {"ir"},
    "reference": {"ir", "reference"},
    "engine": {"ir", "reference", "engine", "alloy"},  # alloy: the header of libraries of ops, python/alloy/include
    "bindings": {"ir", "engine", "bindings"},
    "portable": {"ir", "host", "device", "compiler", "cpu", "cuda", "runtime", "package", "facade", "objc"},
}
APPLE = {"Foundation", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"}
PORTABLE_MAY_INCLUDE = {
    "host": {"ir", "host"},
    "device": {"ir", "host", "device"},
    "compiler": {"ir", "device", "compiler"},
    "cpu": {"ir", "host", "device", "cpu"},
    "cuda": {"ir", "host", "device", "cuda"},
    "runtime": {"ir", "host", "device", "compiler", "runtime"},
    "package": {"ir", "runtime", "package"},
    "objc": {"objc"},
}
CODE_ONLY = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)


def layer_of(path):
    return path.relative_to(CSRC).parts[0]


def of_layers(*layers):
    return [path for path in SOURCES if layer_of(path) in layers]


def includes(path):
    """(opening bracket, first directory or whole name, name)"""
    for bracket, name in re.findall(r'^\s*#\s*(?:include|import)\s*([<"])([^>"]+)[>"]', path.read_text(), re.M):
        yield bracket, name.split("/")[0], name


def test_there_are_sources():
    for layer in MAY_INCLUDE:
        assert of_layers(layer), layer


def test_includes():
    for path in SOURCES:
        layer = layer_of(path)
        for bracket, top, name in includes(path):
            if bracket == '"':
                beside = (path.parent / name).exists() and "/" not in name
                assert top in MAY_INCLUDE[layer] or beside, f"{layer} may not include {name} ({path})"
            elif layer in ("engine", "probes") and "/" in name:
                assert top in (*APPLE, "sys"), f"the only door to a device is Apple's public API, not {name} ({path})"
            elif layer in ("ir", "bindings"):
                assert top not in APPLE, f"{layer} may not include {name} ({path})"


@pytest.mark.parametrize("part", PORTABLE_MAY_INCLUDE)
def test_below_the_facade_there_is_no_objective_c(part):
    for path in (CSRC / "portable" / part).rglob("*"):
        assert path.suffix != ".mm"
        for bracket, top, name in includes(path) if path.is_file() else ():
            assert top in PORTABLE_MAY_INCLUDE[part] or bracket == "<" and top not in APPLE, (
                f"{path.name} may not include {name}"
            )


def test_the_cpu_is_one_device_among_others():
    """It is named where devices are listed; host_bytes() is asked by who bears a null or has the host's own memory."""
    portable = CSRC / "portable"
    naming, asking = set(), set()
    for path in of_layers("portable"):
        inside = path.relative_to(portable).as_posix()
        if inside.startswith("cpu/"):
            continue
        if any(top == "cpu" for _, top, _ in includes(path)):
            naming.add(inside)
        if re.search(r"(->|\.)host_bytes\(", path.read_text()):
            asking.add(inside)
    assert naming == {"facade/metal/devices.mm", "facade/foundation/Accelerate.mm"}
    assert asking == {
        "cuda/executor.cpp",
        "device/array_layout.cpp",
        "facade/metal/AlloyBuffer.mm",
        "runtime/host_op.cpp",
    }


def test_no_layer_above_the_framework_knows_the_platform():
    for path in of_layers("ir", "engine", "bindings", "probes"):
        code = CODE_ONLY.sub("", path.read_text())
        found = re.search(r"__APPLE__|__linux__|GNUSTEP|TARGET_OS_|__GNU", code)
        assert not found, f"{path}: {found}"


def test_objects_are_counted_in_one_header_and_where_there_is_no_engine():
    counts = re.compile(r"\b(retain|release|autorelease)\s*\]")
    for path in SOURCES:
        if path != CSRC / "engine" / "ref.h" and not {"facade", "probes", "include"} & set(path.parts):
            assert not counts.search(CODE_ONLY.sub("", path.read_text())), path
    assert counts.search((CSRC / "engine" / "ref.h").read_text())


def without_calls(name, code):
    """The code without the arguments of calls of this name."""
    kept, at = [], 0
    for call in re.finditer(rf"\b{name}\(", code):
        if call.end() < at:
            continue
        kept.append(code[at : call.end()])
        at, depth = call.end(), 1
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
    return "".join([*kept, code[at:]])


def test_what_the_engine_makes_it_owns():
    """An object that the engine has made, by a method that gives it to the caller, goes into a Ref at once."""
    gives = re.compile(r"\s(alloc|new|copy|mutableCopy)([A-Z]\w*)?\s*[\]:]")
    made = 0
    for path in of_layers("engine"):
        code = CODE_ONLY.sub("", path.read_text())
        made += len(gives.findall(code))
        assert not gives.search(without_calls("adopt", code)), path
    assert made > 5


def test_objective_c_has_no_cpp_handler():
    """Under GCC's Objective-C runtime clang's code cannot run one."""
    for path in SOURCES:
        if path.suffix == ".mm":
            assert not re.search(r"(?<!@)\b(try|catch)\b\s*[{(]", CODE_ONLY.sub("", path.read_text())), path


def test_no_objective_c_exception_passes_a_container():
    """Containers and optionals that make an element in place catch and rethrow what its constructor throws, which
    ends the process if that was an NSException. So what messages the framework is made by functions and then moved,
    or its constructor lets no such exception out."""
    made_by_functions = set()
    for path in of_layers("engine"):
        code = CODE_ONLY.sub("", path.read_text())
        for name, body in re.findall(r"^class (\w+)[^;{]*\{(.*?)^\};", code, re.M | re.S):
            if re.search(rf"static {name} make\(", body):
                made_by_functions.add(name)
                public = body.partition("private:")[0]
                assert not re.search(
                    rf"(?<!&)\b{name}\((?!{name}&&|const {name}&)", public.replace(f"static {name} make(", "")
                ), name
        for name, body in (
            re.findall(r"^(\w+)::\1\([^;]*?\{(.*?)^\}", code, re.M | re.S) if path.suffix == ".mm" else ()
        ):
            assert "on_device(" in body or not re.search(r"\[\[?\w[^\]\n]* \w+[\]:]", body), f"{path.name}: {name}"
    assert made_by_functions == {"Array", "FeedSlot", "Buffers", "PassedValue"}


# Each folder or module of the package sees those before it.
PYTHON = (
    "messages engine measuring distributed asynchronous ops graph device init op_library random losses metrics "
    "schedules optimizers nn models onnx data training interop sklearn tools".split()
)


def test_python_folders_see_those_before_them():
    package = CSRC.parent / "python" / "alloy"
    folders = {path.stem for path in package.glob("[!_]*") if path.suffix in ("", ".py")}
    assert folders - {"include"} == set(PYTHON)
    for path in set(package.rglob("*.py")) - {package / "__init__.py"}:
        folder = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "alloy":
                names = [node.module.split(".")[1]] if "." in node.module else [alias.name for alias in node.names]
                for name in names:
                    legal = name == "_core" or PYTHON.index(name) <= PYTHON.index(folder)
                    assert legal, f"{path}: {folder} may not import {name}"
