"""Finds functions that settings name, also in the user's files, and checks their options."""

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

from alloy.messages.location import meant
from alloy.tools.config import is_users, mistake


def users(name: str) -> Callable:
    """Returns the function that "FILE.py:FUNCTION" names; runs the file once. ValueError: there is none. Exceptions of
    the file are passed on."""
    file, _, function = name.rpartition(":")
    path = Path(file).resolve()
    if not path.is_file():
        raise mistake(f"Expected the file of {name!r}, which is not there")
    key = f"alloy_user_{path}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, path)
        if spec is None or spec.loader is None:
            raise mistake(f"Expected a file of Python, whose name ends with .py, in {name!r}")
        module = sys.modules[key] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.parent))  # for imports of files beside it
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[key]
            raise
    known = {each: thing for each, thing in vars(sys.modules[key]).items() if callable(thing) and each[:1] != "_"}
    if function not in known:
        raise mistake(f"Expected a function of {file}, got {function!r}{meant(function, known)}")
    return known[function]


def found(what: str, part: dict, known: dict) -> Callable:
    """Returns the function that the part names, a known one or one in a user's file."""
    name = part["name"]
    if is_users(name):
        return users(name)
    if name not in known:
        near = meant(name, known)
        raise mistake(f"Expected as {what} {', '.join(known)} or FILE.py:FUNCTION, got {name!r}{near}")
    return known[name]


def options(what: str, part: dict, function, *, skip: int = 0) -> dict:
    """Returns the options of the part. skip: the number of first parameters that are no options. ValueError: the
    function has no such option, or needs one that is missing."""
    given = {key: value for key, value in part.items() if key != "name"}
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return given  # the function checks them itself
    names = [parameter.name for parameter in parameters]
    for key in given:
        if key not in names:
            takes = f"the options {', '.join(names)}" if names else "no option"
            raise mistake(f"Expected {takes} for {what} {part['name']!r}, got {key!r}{meant(key, names)}")
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            if parameter.name not in given:
                raise mistake(
                    f"Expected {parameter.name} for {what} {part['name']!r}, as in "
                    f'{what} = {{name = "{part["name"]}", {parameter.name} = ...}}'
                )
    return given
