"""Summaries of the ops of a graph (Graph.inspect) and of the memory of a run, in numbers and as text."""

from collections import Counter
from dataclasses import dataclass

from alloy.engine.dtypes import bytes_of, elements
from alloy.measuring.phases import phase_of
from alloy.messages.text import amount, shape_text, table, type_text


def describe(ops) -> str:
    """Counts placeholders, variables, parameters (the elements of the trainable variables), and operations by kind."""
    of_kind = {kind: [op for op in ops if op.kind == kind] for kind in ("placeholder", "variable")}
    variables = [op.results[0] for op in of_kind["variable"]]
    lines = [f"{len(ops)} ops in {ops[-1].stage + 1 if ops else 0} stages", "placeholders"]
    placeholders = [(op.name, op.results[0].dtype, op.shapes[0]) for op in of_kind["placeholder"]]
    lines += table([(name or "(no name)", type_text(dtype, shape)) for name, dtype, shape in placeholders])
    lines += ["variables"]
    lines += table(
        [
            (
                v.name or "(no name)",
                type_text(v.dtype, v.shape),
                amount(bytes_of([v]), "B"),
                "" if v.trainable else "not trainable",
            )
            for v in variables
        ]
    )
    lines += [
        f"{what}: {elements(group):,} ({amount(bytes_of(group), 'B')})"
        for what, group in (
            ("parameters", _parameters(ops)),
            ("other state", [v for v in variables if not v.trainable]),
        )
    ]
    unknown = sum(op.flops is None for op in ops)
    rest = f", without {unknown} ops of unknown shape" if unknown else ""
    lines += [f"flops: {amount(flops(ops))}{rest}"]
    lines += ["ops"]
    lines += table([(kind, str(count)) for kind, count in Counter(op.kind for op in ops).most_common()])
    return "\n".join(lines)


def by_layer(ops) -> str:
    """Returns a table with a line for each layer that has ops of its own: the shape of its last op, its parameters and
    floating point operations. Layers within one layer stand together."""
    own, first = {}, {}  # by path: its ops; the position of its first op, at any depth
    for i, op in enumerate(ops):
        path = tuple(op.name.split("/")[:-1])
        own.setdefault(path, []).append(op)
        if op.kind not in ("variable", "constant"):
            for depth in range(len(path) + 1):
                first.setdefault(path[:depth], i)

    def position(path):
        """Orders a path by the first op of each layer around it; ops outside layers come last."""
        return not path, [first[path[: depth + 1]] for depth in range(len(path))]

    paths = sorted(own.keys() & first.keys(), key=position)
    rows = [("layer", "output", "parameters", "flops")]
    rows += [
        (
            "/".join(path) or "(outside layers)",
            shape_text(own[path][-1].shapes[0]),
            f"{elements(_parameters(own[path])):,}",
            amount(flops(own[path])),
        )
        for path in paths
    ]
    rows += [("total", "", f"{elements(_parameters(ops)):,}", amount(flops(ops)))]
    return "\n".join(table(rows, numbers=(2, 3)))


def flops(ops) -> int:
    """Sums the floating point operations of the ops whose shapes are known."""
    return sum(op.flops or 0 for op in ops)


_PURPOSES = {"forward": "activations", "backward": "gradients", "update": "optimizer"}  # by phase_of


@dataclass(frozen=True)
class Stored:
    """A value that a run computes and keeps for a while."""

    name: str  # the op's, after its layers' names ("gradients/dense_0/matmul"); may be empty
    kind: str  # the op's
    shape: tuple[int, ...]
    bytes: int

    @property
    def purpose(self) -> str:
        """ "gradients" or "optimizer" if the name says so, else "activations"."""
        return _PURPOSES[phase_of(self.name)]


@dataclass(frozen=True, repr=False)
class MemoryPlan:
    """The bytes that a run needs."""

    variables: int  # parameters, an optimizer's state, moving averages
    feeds: int  # copies, kept once a run has made them, or arrays read in place
    results: int
    constants: int
    arena: int  # intermediate values, at the fullest moment
    scratch: int  # working memory of the kernel that needs most
    layouts: int  # copies of weights that no run changes, in the order that kernels need
    at_peak: tuple[Stored, ...]  # the values in the arena at that moment, the largest first

    @property
    def total(self) -> int:
        return self.variables + self.feeds + self.results + self.constants + self.arena + self.scratch + self.layouts

    @property
    def purposes(self) -> dict[str, int]:
        """The bytes of at_peak by purpose. The rest of the arena lies between them."""
        return {
            purpose: sum(value.bytes for value in self.at_peak if value.purpose == purpose)
            for purpose in _PURPOSES.values()
        }

    def __repr__(self) -> str:
        rows = [
            ("variables", self.variables),
            ("feeds", self.feeds),
            ("results", self.results),
            ("constants", self.constants),
            ("arena", self.arena),
            *((f"  {purpose}", count) for purpose, count in self.purposes.items()),
            ("scratch", self.scratch),
            ("layouts", self.layouts),
            ("total", self.total),
        ]
        lines = ["memory of a run", *table([(what, amount(count, "B")) for what, count in rows], numbers=(1,))]
        lines += [f"the largest of {len(self.at_peak)} values at the peak"]
        alike = Counter(
            (amount(value.bytes, "B"), shape_text(value.shape), value.name or f"({value.kind})")
            for value in self.at_peak
        )
        rows = [(*row[:2], row[2] + (f", {count} times" if count > 1 else "")) for row, count in alike.items()]
        lines += table(rows[:10], numbers=(0,))
        return "\n".join(lines)


def _parameters(ops):
    return [op.results[0] for op in ops if op.kind == "variable" and op.results[0].trainable]
