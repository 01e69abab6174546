"""Which tests ask for a property that not every device has."""

import pytest

import alloy as al

HAS_BFLOAT16 = not al.device().system.startswith("macOS 13")  # csrc/ir/quirks.def
HALVES = ("float16",) + ("bfloat16",) * HAS_BFLOAT16
# The portable framework's second device (tests/remote_device) has none of these; of Apple's they are asked.
_IS_REMOTE = al.device().kind == "remote"
_HAS_MEMORY_OF_ITS_OWN = al.device().kind in ("remote", "cuda")
READS_HOST_MEMORY = pytest.mark.skipif(_HAS_MEMORY_OF_ITS_OWN, reason="the device cannot read arrays in place")
PLANS_FOR_A_CPU = pytest.mark.skipif(
    _HAS_MEMORY_OF_ITS_OWN, reason="times, order of weights and cache lines are the CPU's"
)
FRUGAL = pytest.mark.skipif(_IS_REMOTE, reason="a reference takes memory of its own beside the values")
FAST = pytest.mark.skipif(_IS_REMOTE, reason="a reference takes too long")
HAS_PACKAGES = al.device().system != "macOS 13.3"  # of executables
CHILDREN_COMPUTE = pytest.mark.skipif(al.device().kind != "cpu", reason="a forked child can use the CPU alone")
