"""Which examples train, and which ones test."""

import numpy as np

from alloy.graph.location import mistake


def split(x, y, fraction: float = 0.2, seed: int = 0):
    """((x, y) without, (x, y) of) a share of the examples, drawn at random and always alike for a seed.

    fraction: above 0 and below 1. ValueError: it is not, or leaves one of the two without examples, or x and y
    have different lengths."""
    if len(x) != len(y):
        raise mistake("split", f"Expected as many labels as examples, got {len(y)} for {len(x)}", act="called")
    held_out = round(len(x) * fraction) if 0 < fraction < 1 else 0
    if not 0 < held_out < len(x):
        raise mistake(
            "split",
            f"Expected a fraction between 0 and 1 that leaves examples on both sides, got {fraction} of {len(x)}",
            act="called",
        )
    order = np.random.default_rng(seed).permutation(len(x))
    test, train = order[:held_out], order[held_out:]
    return (x[train], y[train]), (x[test], y[test])
