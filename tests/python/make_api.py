"""Writes tests/goldens/api.txt, what users' programs may call: the signatures of Python's public names, and the C
interface of libraries of ops. The Objective-C interface is compared with tests/facade/api.json, the engine's classes
with python/alloy/_core.pyi."""

import inspect
import pathlib
import re
import textwrap

import alloy as al

PATH = pathlib.Path(__file__).parents[1] / "goldens" / "api.txt"
MODULES = "data data.augment distributed init losses metrics models nn onnx random schedules sklearn".split()


def text() -> str:
    lines = []
    for module in ["", *MODULES]:
        path, found = "al", al
        for part in filter(None, module.split(".")):
            path, found = f"{path}.{part}", getattr(found, part)
        names = getattr(found, "__all__", None) or [name for name in dir(found) if name[0] != "_"]
        for name in sorted(names):
            if not inspect.ismodule(value := getattr(found, name)):
                lines += _lines(f"{path}.{name}", value)
    header = pathlib.Path(al.OpLibrary.include, "alloy", "op_library.h").read_text()
    header = re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.S)
    lines += [line.rstrip() for line in header.splitlines() if line.strip()]
    wrapped = textwrap.TextWrapper(120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapped.fill(line) for line in lines) + "\n"


def _lines(path, value):
    if not inspect.isclass(value):
        return [path + (_signature(value) if callable(value) else "")]
    lines = [f"{path}{_signature(value)}"]
    for name in sorted(dir(value)):
        if name[0] == "_" or any(name in vars(base) for base in (object, Exception, str)):
            continue
        member = inspect.getattr_static(value, name)
        if any(vars(base).get(name) is member for base in value.__mro__[1:] if base.__name__ in vars(al.nn) | vars(al)):
            continue  # inherited from a public class
        shown = "" if isinstance(member, property) or not callable(getattr(value, name)) else _signature(member)
        lines.append(f"{path}.{name}{shown}")
    return lines


def _signature(value) -> str:
    value = getattr(value, "__func__", value)
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of the engine, whose signatures are in _core.pyi
        return "(...)"
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x\w+", "", shown)


if __name__ == "__main__":
    PATH.write_text(text())
