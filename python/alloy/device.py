"""The devices that graphs run on, and the engine's counters."""

from dataclasses import dataclass
from typing import Any

from alloy import _core
from alloy.engine.arrays import as_count
from alloy.messages.location import mistake

__all__ = [
    "Device",
    "device",
    "device_stats",
    "devices",
    "op_table",
    "set_memory_limit",
    "set_threads",
    "stats",
    "threads",
]


@dataclass(frozen=True)
class Device:
    """A device of this machine. kind: "gpu", or the kind that the portable framework reports, such as "cpu". number:
    among the devices of its kind, from 0. memory: bytes that may be in use without slowing the machine down.
    unified_memory: True if host and device share it. system: the macOS whose framework computes, such as "macOS 14.5",
    or is imitated (ALLOY_PRETEND); "" if the portable framework is itself."""

    kind: str
    number: int
    name: str
    memory: int
    unified_memory: bool
    system: str


def devices() -> list[Device]:
    """Returns the devices of this machine; the first one is the default. al.Graph(device=...) chooses another one, by
    its kind, its name, or its kind and number ("cuda:1"). DeviceError: the machine has none."""
    return [Device(**found) for found in _core.devices()]


def device(kind: str | None = None) -> Device:
    """Returns the default device, the first one of that kind or name, or the one of that kind and number ("cuda:1").

    ValueError: there is none. DeviceError: the machine has no device."""
    found = devices()
    for one in found:
        if kind in (None, one.kind, one.name, f"{one.kind}:{one.number}"):
            return one
    kinds = ", ".join(repr(one.kind) for one in found)
    whose = "the kind of the one device here" if len(found) == 1 else "the kinds of the devices here"
    raise mistake("device", f"Expected {kinds}, {whose}, got {kind!r}")


def set_threads(count: int) -> None:
    """Sets the number of threads that compute, from the next run of any executable on.

    The default is the number of cores that the process may use: hyperthreads of a core are one, a CPU quota of its
    control group counts, and OMP_NUM_THREADS overrides it. It is at most 512, and at most OMP_THREAD_LIMIT. Steps give
    the same bits from run to run as long as the number stays, even if the system starts fewer threads or has no core
    for them. ValueError: below 1. DeviceError: the device has no such choice, as Apple's have none."""
    count = min(as_count("set_threads", "a number of threads", count), 512)
    if not _core.set_threads(count):
        raise _core.DeviceError(f"[set_threads] {device().name} has no choice of threads.")


def threads() -> int | None:
    """Returns the number of threads that compute when this thread runs something, or None if the device does not
    tell."""
    return _core.threads() or None


def set_memory_limit(count: int | None) -> None:
    """Sets how many bytes a device may have allocated at once, for variables, intermediate values and results.

    What needs more raises MemoryError before it is allocated; all that exists stays usable. count: bytes, or None for
    the device's whole memory. What is allocated already stays: al.device_stats()["allocated_bytes"] says how much it
    is. NumPy's arrays, constants and packed weights do not count. ValueError: below 0. DeviceError: the device has no
    such limit, as Apple's have none.

        al.set_memory_limit(2 * 1024**3)"""
    given = 2**64 - 1 if count is None else as_count("set_memory_limit", "a number of bytes", count, least=0)
    if not _core.set_memory_limit(given):
        raise _core.DeviceError(f"[set_memory_limit] {device().name} has no limit of memory.")


def stats() -> dict[str, Any]:
    """Returns counts of the engine since the process started.

    compiled_for counts the reasons of compilations: an executable's first shapes, new shapes, shapes that were
    evicted (an executable keeps the last 32), or a framework's graph that had grown too large and was begun anew.
    live_steps: compiled steps in memory; live_objects: graphs and executables."""
    return _core.stats()


def device_stats() -> dict[str, int] | None:
    """Returns the device's own counts, and the bytes it has allocated now, or None if it keeps none.

    dispatches: runs of steps; launches: of kernels, or of graphs of kernels, on a GPU (0 on the CPU); bytes_to_device
    and bytes_from_device: copied, on a GPU across the bus."""
    return _core.device_stats()


def op_table() -> list[dict[str, Any]]:
    """Returns a dict for each op: name, family, operands (the least and the greatest number, -1 for any), attributes,
    types, domain, doc."""
    return _core.op_table()
