"""The greatest memory that this process has used so far."""

import resource
import sys


def peak_kilobytes():
    """macOS counts in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
