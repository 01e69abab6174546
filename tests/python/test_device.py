"""What al.device() says."""
import os
import re

import pytest

import alloy as al


def test_the_one_device():
    device = al.device()
    assert device.kind in ("cpu", "gpu") and device.name
    assert al.device(device.kind) == device
    assert isinstance(device.unified_memory, bool)
    # The portable device counts what it does; Apple's do not.
    assert (device.kind == "cpu") == (al.device_stats() is not None)
    if device.kind == "cpu":
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert 0 < device.memory <= machine and device.unified_memory


@pytest.mark.parametrize("kind", ["tpu", "CPU", "cpu:1", 0])
def test_another_device(kind):
    own = al.device().kind
    with pytest.raises(ValueError, match=rf"^\[device\] Expected '{own}', .*, got {re.escape(repr(kind))}; "
                       r"called at .*test_device\.py:\d+\.$"):
        al.device(kind)
