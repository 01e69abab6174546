"""The table of what Apple's framework cannot bear, as the sources have it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def _rows(path, macro):
    """The rows of a table, as lists of their columns."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    for row in re.findall(rf"^{macro}\((.*)\)$", text, re.M):
        yield [column.strip().strip('"') for column in re.findall(r'\s*("[^"]*"|[^,"]+)', row)]


def version(text):
    return tuple(int(part) for part in text.split("."))


# By name: first version, end, effect, what, source; by selector: the first version.
QUIRKS = {
    name: (version(first), version(end), effect, what, source)
    for name, first, end, effect, what, source in _rows("csrc/ir/quirks.def", "ALLOY_QUIRK")
}
NEWER = {selector: version(first) for _, selector, first, _ in _rows("csrc/portable/facade/newer.def", "ALLOY_NEWER")}


def has(system, quirk):
    """Whether a version of macOS, or None, has the quirk."""
    first, end, *_ = QUIRKS[quirk]
    return system is not None and system >= first and (end == (0, 0) or system < end)
