"""Steps exported to files. Any process runs them, without the graph and the Python code that built them."""

import os
from typing import NamedTuple

import numpy as np

from alloy._core import Package
from alloy.engine.arrays import as_file_name, require_all
from alloy.engine.dtypes import DType
from alloy.graph.executable import Fetches, as_feeds, told_of_file
from alloy.messages.location import mistake
from alloy.messages.text import describe


class Port(NamedTuple):
    """A feed or a fetch of a loaded executable. shape: None for an extent that may vary; None for an unknown rank."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str


def load_executable(path, *, device: str = "") -> "LoadedExecutable":
    """Loads a step that Executable.export, Trainer.export or MPSGraph's serializeToMPSGraphPackageAtURL has written.

    device: the kind or the name of one of al.devices(); "" is the first. ValueError: the file is foreign, damaged, cut
    off, or of a newer format. OSError: it cannot be read."""
    given, path = path, as_file_name("load_executable", path)
    os.stat(given)  # its errors name the path as given
    require_all("load_executable", "the kind or the name of a device", str, [device])
    return LoadedExecutable(told_of_file(ValueError, path, lambda: Package(path, device)))


class LoadedExecutable:
    """A step loaded by al.load_executable: arrays in, arrays out. It has variables of its own, which its runs update
    like the exported step's. Any thread may call it; runs are serialised."""

    def __init__(self, package: Package):
        self._package = package
        self._feeds, self._fetches = (
            tuple(Port(name, shape, DType(dtype)) for name, shape, dtype in ports)
            for ports in (package.feeds, package.fetches)
        )

    @property
    def feeds(self) -> tuple[Port, ...]:
        """The arrays that a call takes, in order: name, shape, dtype."""
        return self._feeds

    @property
    def fetches(self) -> tuple[Port, ...]:
        """The arrays that a call returns, in order: name, shape, dtype."""
        return self._fetches

    def __call__(self, /, *arrays, **by_label) -> list[np.ndarray]:
        """Returns the fetches, for feeds given in order, by name, or in a dict by name. ValueError or TypeError: a
        shape or dtype differs from `feeds`, or shapes do not fit each other."""
        arrays, by_label = as_feeds(self, arrays, by_label)
        return Fetches(self._run(*arrays, **by_label))

    def export(self, path) -> None:
        """Writes the step again, with the present values of its variables. OSError: as in Executable.export."""
        path = as_file_name("export", path)
        told_of_file(OSError, path, lambda: self._package.write(path))

    def _run(self, /, *arrays, **by_label):
        given = list(arrays)
        for feed in self.feeds[len(arrays) :]:
            if feed.name not in by_label:
                break
            given.append(by_label.pop(feed.name))
        if len(given) != len(self.feeds) or by_label:
            known = ", ".join(f"{feed.name!r} {describe(feed)}" for feed in self.feeds) or "none"
            names = f" and {', '.join(map(repr, by_label))}" if by_label else ""
            raise mistake("executable", f"Expected feeds for {known}, got {len(given)} of them{names}")
        return self._package.run(given)

    def __reduce_ex__(self, protocol):
        raise mistake("LoadedExecutable", "It cannot be copied or pickled; load the file again, there", TypeError)

    def __repr__(self):
        feeds, fetches = (
            ", ".join(f"{port.name}: {describe(port)}" for port in ports) for ports in (self.feeds, self.fetches)
        )
        return f"<LoadedExecutable ({feeds}) -> ({fetches})>"
