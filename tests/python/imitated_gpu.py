"""The imitation of a GPU, tests/imitated_cuda."""

import os

import pytest

import alloy as al
from quirks import ROOT

IMITATION = ROOT / "build/editable/tests/imitated_cuda"
needs_imitation = pytest.mark.skipif(
    al.device().kind != "cpu" or bool(al.device().system) or not IMITATION.exists(),
    reason="the imitation of a GPU is built for this framework",
)


def with_imitation(tmp_path, **others):
    """Returns the environment of a program whose default device is the imitated GPU."""
    return os.environ | {
        "LD_LIBRARY_PATH": str(IMITATION),
        "ALLOY_DEVICE": "cuda",
        "XDG_CACHE_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT / "tests/python"),
        **others,
    }
