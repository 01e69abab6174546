"""Writes the tables of docs/onnx.md: ONNX's ops that al.onnx.load builds or refuses, and Alloy's that Trainer.export
does not write."""

import pathlib

import onnx

from alloy.onnx.file import OPSETS, REFUSED
from alloy.onnx.ops import SUPPORTED
from alloy.onnx.written import NOT_WRITTEN

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "onnx.md"
MARK = "<!-- tests/python/onnx/make_onnx_table.py writes what follows -->\n"


def _opsets(op: str) -> str:
    """The opsets that have the op, of those that are loaded."""
    known = [opset for opset in OPSETS if onnx.defs.has(op, opset)]
    schemas = [opset for opset in known if not onnx.defs.get_schema(op, opset).deprecated or op in SUPPORTED]
    return f"{schemas[0]} to {schemas[-1]}" if schemas else "none"


def tables() -> str:
    lines = [
        f"\n## Ops that are loaded\n\n{len(SUPPORTED)} ops, and {len(REFUSED)} that are refused.\n",
        "| op | opsets | built | limits, or the reason |",
        "|---|---|---|---|",
    ]
    for op in sorted({*SUPPORTED, *REFUSED}):
        said = SUPPORTED[op].limits if op in SUPPORTED else REFUSED[op]
        lines.append(f"| {op} | {_opsets(op)} | {'yes' if op in SUPPORTED else 'no'} | {said} |")
    lines += [
        "\n## Ops that are not exported\n\nOps of gradients, of optimizers and of a device aside:\n",
        "| op of Alloy | reason |",
        "|---|---|",
    ]
    skipped = ("it is of a gradient", "it is an optimizer's", "it is a device's", "it is a tensor of the file")
    lines += [f"| {op} | {said} |" for op, said in sorted(NOT_WRITTEN.items()) if said not in skipped]
    return "\n".join(lines) + "\n"


def page() -> str:
    return PAGE.read_text().partition(MARK)[0] + MARK + tables()


if __name__ == "__main__":
    PAGE.write_text(page())
