"""Replaces files in one step: the new one is there completely or not at all, even if the power fails."""

import errno
import fcntl
import os
import stat
from contextlib import contextmanager, suppress
from glob import escape, glob

from alloy.engine.arrays import as_path
from alloy.messages.location import mistake


@contextmanager
def said_of(path):
    """Puts the user's path into an OSError that names no file (a full disk) or a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
        raise


def replace_file(path, content: bytes) -> None:
    """Replaces the file at the path by one with this content, in one step."""
    place = _place(path)
    directory, prefix = os.path.dirname(place), _prefix(place)
    _tidy(prefix)
    with said_of(path):
        os.makedirs(directory, exist_ok=True)
    with said_of(path), _open_new(prefix) as file:
        try:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, place)
        except BaseException:
            with suppress(OSError):
                file.close()  # may write, and fail again
            with suppress(OSError):
                os.remove(file.name)
            raise
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # so that the directory keeps the new name, too
    finally:
        os.close(descriptor)


def _prefix(path: str) -> str:
    """Returns the prefix of the temporary files that replace the path."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.saving-")


def _open_new(prefix: str):
    """Opens a new file, locked for as long as it is open."""
    while True:
        file = open(prefix + os.urandom(8).hex(), "xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(file.name):
            return file
        file.close()  # another process removed it before it was locked


def _tidy(prefix: str) -> None:
    """Removes temporary files of killed saves, which no process has locked."""
    for left in glob(f"{escape(prefix)}*"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(left)


def _place(path, op: str = "save") -> str:
    """Returns the place of a file of that path. IsADirectoryError or ValueError: something else is there."""
    place = os.path.realpath(as_path(op, path))
    require_file(op, place)
    return place


def require_place(path) -> None:
    """Makes a missing directory, and raises an OSError if a file cannot be written at that path."""
    place = _place(path, "fit")
    with said_of(path):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with _open_new(_prefix(place)) as file:
            os.remove(file.name)


def require_file(op: str, path: str) -> None:
    """Raises IsADirectoryError or ValueError if something other than a file is at that path."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise mistake(op, f"Expected the path of a file, got {path}, which is another thing")
