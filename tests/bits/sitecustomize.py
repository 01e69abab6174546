"""Lets what bits.py runs import alloy as it was built, without the rebuild of an editable installation."""

import sys

for finder in sys.meta_path:
    if hasattr(finder, "rebuild_flag"):
        finder.rebuild_flag = False
