"""What the ops of a graph (Graph.inspect) and the memory of a run come to, in numbers and as text."""
import math
from collections import Counter
from dataclasses import dataclass

from alloy.dtypes import item_size
from alloy.tensor import shape_text, type_text


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


@dataclass(frozen=True)
class Stored:
    """A value that a run computes and keeps for a while."""
    name: str                # of the op, behind its layers' ("gradients/dense_0/matmul"); may be empty
    kind: str                # of the op
    shape: tuple[int, ...]
    bytes: int

    @property
    def purpose(self) -> str:
        """"gradients" or "optimizer" where the name says so, else "activations"."""
        first = self.name.partition("/")[0]
        return first if first in ("gradients", "optimizer") else "activations"


@dataclass(frozen=True)
class MemoryPlan:
    """The bytes that a run takes."""
    variables: int                # what it reads and updates: parameters, an optimizer's state, moving averages
    feeds: int
    results: int
    constants: int
    arena: int                    # where everything lives that is computed on the way, at the fullest moment
    scratch: int                  # of the kernel that needs most
    at_peak: tuple[Stored, ...]   # what the arena holds at that moment, the largest first

    @property
    def total(self) -> int:
        return self.variables + self.feeds + self.results + self.constants + self.arena + self.scratch

    @property
    def purposes(self) -> dict[str, int]:
        """The bytes of at_peak by purpose. What they lack of the arena lies between them."""
        return {purpose: sum(value.bytes for value in self.at_peak if value.purpose == purpose)
                for purpose in ("activations", "gradients", "optimizer")}

    def __str__(self) -> str:
        rows = [("variables", self.variables), ("feeds", self.feeds), ("results", self.results),
                ("constants", self.constants), ("arena", self.arena),
                *((f"  {purpose}", count) for purpose, count in self.purposes.items()),
                ("scratch", self.scratch), ("total", self.total)]
        lines = ["bytes of a run", *_table([(what, f"{count:>15,}") for what, count in rows])]
        lines += [f"the largest of {len(self.at_peak)} values at the peak"]
        lines += _table([(f"{value.bytes:>13,}", shape_text(value.shape), value.name or f"({value.kind})")
                         for value in self.at_peak[:10]])
        return "\n".join(lines)


def _type_of(op):
    return type_text(op.results[0].dtype, op.shapes[0])


def _bytes_of(variables):
    return sum(math.prod(v.shape) * item_size(v.dtype) for v in variables)


def _table(rows):
    """The rows as indented lines with their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
