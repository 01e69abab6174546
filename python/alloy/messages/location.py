"""Finds the user's line, which every op, message and warning names, and the layer at work."""

import difflib
import functools
import os
import site
import sys
import sysconfig
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from alloy.messages.notebook import cell_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_COMMAND = os.path.join(_PACKAGE, "tools", "cli.py")  # counts as a user's program
_INSTALLED = (
    "<frozen",
    *(
        path + os.sep
        for path in {
            *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")),
            *site.getsitepackages(),
            site.getusersitepackages(),
        }
    ),
)


@functools.cache
def _whose(file: str) -> str:
    """Tells whether a file is the user's, Alloy's, or of an installed package."""
    if file == _COMMAND or not file.startswith((_PACKAGE, *_INSTALLED)):
        return "user"
    return "alloy" if file.startswith(_PACKAGE) else "installed"


def _user_frame():
    """Returns the innermost frame of the user's program; without one, the innermost frame outside this package."""
    frame, outside = sys._getframe(1), None
    while True:
        whose = _whose(frame.f_code.co_filename)
        if whose == "user":
            return frame
        if outside is None and whose == "installed":
            outside = frame
        if frame.f_back is None:
            return outside or frame
        frame = frame.f_back


def is_users_file(path: str) -> bool:
    """Tells whether a file of code belongs neither to an installed package nor to this one."""
    return not path.startswith((_PACKAGE, *_INSTALLED))


def user_location() -> str:
    """Returns the innermost line of the user's program, as "file.py:12", relative to the working directory, or
    "In[3]:12" in a notebook's cell."""
    frame = _user_frame()
    path = frame.f_code.co_filename
    cell = cell_of(path)
    if cell is not None:
        return f"{cell}:{frame.f_lineno}"
    try:
        path = path.removeprefix(os.getcwd() + os.sep)
    except OSError:
        pass  # the working directory is gone
    return f"{path}:{frame.f_lineno}"


_TYPED: ContextVar[str] = ContextVar("typed", default="")


@contextmanager
def typed_as(function: str):
    """Lets messages meanwhile name the function that the user called, instead of the ops that it is made of."""
    token = _TYPED.set(typed_name(function))
    try:
        yield
    finally:
        _TYPED.reset(token)


def typed_name(function: str) -> str:
    """Returns the function that the user called, which may have called this one."""
    return _TYPED.get() or function


class Scope(NamedTuple):
    """Names that are made in the graph meanwhile begin with the path (alloy.engine.scope)."""

    graph: Any
    path: str
    call: Any  # the layer's (alloy.nn.layer.Call), or None for a scope of none
    around: "Scope | None"


SCOPE: ContextVar[Scope | None] = ContextVar("the innermost scope", default=None)


def scopes():
    """Yields the present scopes, the innermost one first."""
    found = SCOPE.get()
    while found is not None:
        yield found
        found = found.around


def layer_at_work() -> Scope | None:
    """Returns the scope of the innermost layer whose forward or build runs, or None."""
    return next((scope for scope in scopes() if scope.call is not None), None)


def in_layer() -> str:
    """Returns "; in PATH" of the innermost layer at work, or ""."""
    layer = layer_at_work()
    return f"; in {layer.path}" if layer and layer.path else ""


def mistake(op: object, message: str, kind: type[Exception] = ValueError) -> Exception:
    """Makes an exception "[op] message; at file.py:12." with the user's line. The engine's exceptions say "built at",
    since they name the line that built an op. op: the name of a function, or an object, whose class is named."""
    name = op if isinstance(op, str) else type(op).__name__
    return kind(f"[{typed_name(name)}] {message}{in_layer()}; at {user_location()}.")


def nearest(name: str, names, cutoff: float = 0.6) -> str:
    """Returns the most similar of the names, or "". A name with a prefix more or less is another one:
    PReLU is no slip of ReLU."""
    near = difflib.get_close_matches(name, list(names), 1, cutoff)
    if not near:
        return ""
    short, long = sorted((name.lower(), near[0].lower()), key=len)
    return "" if len(short) < len(long) and long.endswith(short) else near[0]


def meant(name: str, names, cutoff: float = 0.6) -> str:
    """Returns "; the nearest is NAME", or ""."""
    near = nearest(name, names, cutoff)
    return f"; the nearest is {near}" if near else ""


def warn_user(message: str) -> None:
    """Warns at the user's line; by Python's default filter a UserWarning shows once per line."""
    frame = _user_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, UserWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry)
