"""Where the user's code stands: the place that every op, message and warning names."""
import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _user_frame():
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def user_location() -> str:
    """The innermost line outside this package, as "file.py:12", relative to the working directory."""
    frame = _user_frame()
    path = frame.f_code.co_filename
    return f"{path.removeprefix(os.getcwd() + os.sep)}:{frame.f_lineno}"


def mistake(op: str, message: str, kind: type[Exception] = ValueError, act: str = "built") -> Exception:
    """An exception in the form of the engine's: "[op] message; built at file.py:12."."""
    return kind(f"[{op}] {message}; {act} at {user_location()}.")


def warn_user(message: str) -> None:
    """A UserWarning that points at the user's line; by Python's default filter it shows once per line."""
    frame = _user_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, UserWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry)
