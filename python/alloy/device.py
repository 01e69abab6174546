"""What the graphs run on."""
from dataclasses import dataclass

from alloy import _core
from alloy.location import mistake


@dataclass(frozen=True)
class Device:
    """kind: "gpu", or "cpu" where the portable framework computes. memory: bytes that may be in use without
    slowing the machine down. unified_memory: whether host and device share it."""
    kind: str
    name: str
    memory: int
    unified_memory: bool


def device(kind: str | None = None) -> Device:
    """The device that runs every graph; a machine has one.

    ValueError: it is not of the kind asked for. DeviceError: the machine has none."""
    found = Device(**_core.device_info())
    if kind not in (None, found.kind):
        raise mistake("device", f"Expected {found.kind!r}, the kind of the one device here, got {kind!r}",
                      act="called")
    return found
