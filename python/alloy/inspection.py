"""What the ops of a graph (Graph.inspect) come to, in numbers and as text."""
import math
from collections import Counter

from alloy.dtypes import item_size
from alloy.tensor import type_text


def describe(ops) -> str:
    """Placeholders, variables, parameters (the elements of the trainable variables), operations by kind."""
    of_kind = {kind: [op for op in ops if op.kind == kind] for kind in ("placeholder", "variable")}
    variables = [op.results[0] for op in of_kind["variable"]]
    lines = [f"{len(ops)} ops in {ops[-1].stage + 1 if ops else 0} stages", "placeholders"]
    lines += _table([(op.name or "(no name)", _type_of(op)) for op in of_kind["placeholder"]])
    lines += ["variables"]
    lines += _table([(v.name or "(no name)", type_text(v.dtype, v.shape), f"{_bytes_of([v]):,} bytes",
                      "" if v.trainable else "not trainable") for v in variables])
    lines += [f"{what}: {sum(math.prod(v.shape) for v in group):,} ({_bytes_of(group):,} bytes)"
              for what, group in (("parameters", [v for v in variables if v.trainable]),
                                  ("other state", [v for v in variables if not v.trainable]))]
    unknown = sum(op.flops is None for op in ops)
    rest = f", and those of {unknown} ops of unknown shape" if unknown else ""
    lines += [f"flops: {flops(ops):,}{rest}"]
    lines += ["ops"]
    lines += _table([(kind, str(count)) for kind, count in Counter(op.kind for op in ops).most_common()])
    return "\n".join(lines)


def flops(ops) -> int:
    """Floating point operations of the ops whose shapes are known."""
    return sum(op.flops or 0 for op in ops)


def _type_of(op):
    return type_text(op.results[0].dtype, op.shapes[0])


def _bytes_of(variables):
    return sum(math.prod(v.shape) * item_size(v.dtype) for v in variables)


def _table(rows):
    """The rows as indented lines with their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
