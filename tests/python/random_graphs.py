"""Random well-typed graphs with their meaning in float64 NumPy: every op of cases.py, on operands that other ops have
made, of any extents, 1 among them; broadcasting, values used many times, variables read and assigned, conditionals and
loops in one another. A seed gives the same graph each time.

`python tests/python/random_graphs.py FIRST COUNT` checks so many seeds and prints what is wrong."""

import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from cases import FLOATS, ROUNDING, TYPES, Case, all_cases, function_of, sample, table_reference

TABLE = [row for row in al.op_table() if row["family"] not in ("structured", "ternary", "composite")]
FLAT = {"floor", "ceil", "round", "rint", "trunc", "sign", "signbit"}  # of these every derivative is 0
STRUCTURED = {}  # cases by op
for _case in all_cases():
    if _case.op not in {row["name"] for row in TABLE}:
        STRUCTURED.setdefault(_case.op, []).append(_case)
# References that evaluate another function for every element take a hundred times as long as others.
SLOW = {op for op in STRUCTURED if "gradient" in op} | {"conv2d_transpose", "col2im"}
QUICK = sorted(STRUCTURED.keys() - SLOW)
EXTENTS = [1, 1, 1, 2, 3, 4, 5]
COUNTED = Counter()  # what was compared

# (low, width) of numbers of a domain; others are "real".
DOMAINS = {
    "positive": (0.5, 2),
    "nonzero": (0.5, 2),
    "above_one": (1.1, 2),
    "fraction": (0.1, 0.8),
    "unit": (-0.9, 1.8),
}


@dataclass
class Step:
    """An op, or several."""

    name: str
    build: Callable  # tensors -> tensors
    reference: Callable  # (arrays, noise) -> arrays
    operands: tuple  # positions of values


@dataclass
class Kind:
    """What is known of a value when the graph is made."""

    dtype: str
    shape: tuple
    moves: bool  # when the floats that are fed do
    smooth: bool  # gradients flow to it from all of them


class Block:
    """Values, the first of them given from outside, and the steps that make the others."""

    def __init__(self, kinds, values):
        self.kinds, self.values, self.steps = list(kinds), list(values), []

    def evaluate(self, values, noise):
        values = list(values)
        for step in self.steps:
            values += step.reference([values[i] for i in step.operands], noise)
        return values

    def build(self, tensors):
        tensors = list(tensors)
        for step in self.steps:
            tensors += step.build([tensors[i] for i in step.operands])
        return tensors


class Noise:
    """What rounding may do to each result: a few units in the last place of the greatest number that it is made of.
    The same in every evaluation, so that differences can be taken with it. Where elements are as good as equal, or a
    number lies at a step, only many seeds show it."""

    def __init__(self, unit, seed=None):
        self.unit, self.seed = unit, seed
        self.restart()

    def restart(self):
        self.rng = None if self.seed is None else np.random.default_rng(self.seed)

    def __call__(self, result, operands):
        if self.rng is None or result.dtype != np.float64:
            return result
        floats = [np.abs(v[np.isfinite(v)]).max(initial=0) for v in [result, *operands] if v.dtype == np.float64]
        step = self.unit * max(floats, default=0)
        if self.seed % 2 or step < 1e-300:
            return result + self.rng.uniform(-4, 4, result.shape) * step
        step = 2.0 ** (np.floor(np.log2(step)) + self.seed // 2 % 6 - 1)
        return np.round(result / step) * step  # what nearly is alike becomes so


class RandomGraph:
    def __init__(self, seed):
        self.rng = np.random.default_rng([seed, 0xA1107])
        self.float = FLOATS[min(max(self.below(8) - 5, 0), len(FLOATS) - 1)]
        self.block = Block([], [])
        self.feeds, self.variables = [], []  # positions; values that are fed come before all steps
        for _ in range(2 + self.below(2)):
            self.leaf(self.feeds, self.float, self.shape())
        for _ in range(self.below(3)):
            self.leaf(self.variables, self.float, self.shape())
        self.leaf(self.feeds, "int32", self.shape())
        self.flag = self.leaf(self.feeds, "bool", ())
        self.grow(3 + self.below(10), depth=2)
        values = range(len(self.block.kinds))
        self.updates = [(v, self.fitted(self.any(self.float), self.block.kinds[v].shape)) for v in self.variables
                        if self.below(2)]  # fmt: skip
        last = len(self.block.kinds) - 1
        few = [last, *(int(self.rng.integers(0, last + 1)) for _ in range(self.below(4)))]
        self.fetches = list(values) if self.below(2) else few
        self.wanted = [i for i in range(self.given()) if self.block.kinds[i].dtype in FLOATS]
        self.loss = self.chosen_loss()

    # ---- choosing ----

    def below(self, n):
        return int(self.rng.integers(0, n))

    def choose(self, items):
        return items[self.below(len(items))]

    def shape(self):
        if self.below(12) == 0:
            return self.choose([(17, 33), (70,), (2, 1, 65), (5, 16)])
        return tuple(self.choose(EXTENTS) for _ in range(self.below(5)))

    def any(self, dtype):
        """The position of a value, often a recent one; numbers that are too large for use are not taken."""
        known = [i for i, kind in enumerate(self.block.kinds) if kind.dtype == dtype and self.is_usable(i)]
        if not known:
            return self.constant(dtype, sample(Case("", None, None, (self.shape(),)), dtype, self.rng)[0])
        return known[-1 - self.below(min(4, len(known)))] if self.below(2) else self.choose(known)

    def is_usable(self, i):
        value = self.block.values[i]
        if value.dtype == np.bool_:
            return value.size > 0
        return value.size > 0 and bool(
            (np.abs(value.astype(np.float64)) < (1e4 if value.dtype == np.float64 else 1000)).all()
        )

    # ---- values ----

    def leaf(self, to, dtype, shape):
        array = sample(Case("", None, None, (shape,)), dtype, self.rng)[0]
        to.append(len(self.block.kinds))
        self.block.kinds.append(Kind(dtype, shape, dtype in FLOATS, True))
        self.block.values.append(array.astype(np.float64) if dtype in FLOATS else array)
        return to[-1]

    def constant(self, dtype, array):
        exact = array.astype(np.float64) if dtype in FLOATS else array
        step = Step("constant", lambda _: [self.graph.constant(array)], lambda *_: [exact], ())
        return self.add(step, [dtype], moves=False)[0]

    def add(self, step, dtypes, moves=None, smooth=True):
        """The positions of the results of a step, of these types."""
        kinds = [self.block.kinds[i] for i in step.operands]
        values = step.reference([self.block.values[i] for i in step.operands], Noise(0))
        moves = any(kind.moves for kind in kinds) if moves is None else moves
        smooth = all(kind.smooth for kind in kinds if kind.moves) and smooth
        self.block.steps.append(step)
        for value, dtype in zip(values, dtypes, strict=True):
            does_move = moves and dtype in FLOATS
            self.block.kinds.append(Kind(dtype, value.shape, does_move, smooth or not does_move))
            self.block.values.append(value)
        return list(range(len(self.block.values) - len(values), len(self.block.values)))

    def apply(self, name, build, reference, operands, dtype, exact=False, **more):
        """A step of one result."""
        kind = None if dtype in FLOATS else numpy_dtype(dtype)

        def evaluate(arrays, noise):
            with np.errstate(all="ignore"):
                result = np.asarray(reference(*arrays), order="C")
            result = result.astype(kind or np.float64)
            return [result if exact else noise(result, arrays)]

        step = Step(name, lambda tensors: [build(*tensors)], evaluate, tuple(operands))
        return self.add(step, [dtype], **more)[0]

    def fitted(self, i, shape):
        """A value of that shape, made of all elements or some, each perhaps several times."""
        kind = self.block.kinds[i]
        if kind.shape == shape:
            return i
        count, has = int(np.prod(shape)), int(np.prod(kind.shape))
        try:
            can_broadcast = np.broadcast_shapes(kind.shape, shape) == shape
        except ValueError:
            can_broadcast = False
        if can_broadcast and self.below(3):
            return self.apply("broadcast_to", lambda x: al.broadcast_to(x, shape),
                              lambda x: np.broadcast_to(x, shape), [i], kind.dtype, exact=True)  # fmt: skip
        times = -(-count // has)
        if times > 20:
            return self.fitted(self.fitted(i, (1,) * len(shape)), shape)

        def build(x):
            flat = al.reshape(x, (-1,))
            flat = al.concat([flat] * times, axis=0) if times > 1 else flat
            return al.reshape(flat[:count], shape)

        return self.apply("fit", build, lambda x: np.concatenate([x.ravel()] * times)[:count].reshape(shape), [i],
                          kind.dtype, exact=True)  # fmt: skip

    def within(self, i, domain):
        """A value whose numbers are of the domain."""
        value = self.block.values[i]
        if domain in ("real", "small") and np.abs(value).max(initial=0) <= 2.5:
            return i
        low, width = DOMAINS.get(domain, (-2, 4))
        i = self.apply("sigmoid", al.sigmoid, lambda x: 1 / (1 + np.exp(-x)), [i], self.float)
        i = self.apply("affine", lambda x: x * width + low, lambda x: x * width + low, [i], self.float)
        if domain == "nonzero" and self.below(2):
            i = self.apply("negative", al.negative, np.negative, [i], self.float, exact=True)
        return i

    # ---- ops ----

    def grow(self, steps, depth):
        for _ in range(steps):
            way = self.below(12)
            if way < 5:
                self.table_op()
            elif way < 10 or depth == 0:
                self.structured()
            else:
                self.choose([self.conditional, self.counted_loop, self.while_loop, self.scan])(depth - 1)

    def operand(self, dtype, shape, domain):
        if dtype in FLOATS:
            i = self.any(self.float)
            return self.within(i if shape is None else self.fitted(i, shape), domain)
        if domain == "real" and self.below(2):
            i = self.any(dtype)
            return i if shape is None else self.fitted(i, shape)
        case = Case("", None, None, (self.shape() if shape is None else shape,), domain=domain)
        return self.constant(dtype, sample(case, dtype, self.rng)[0])

    def table_op(self):
        row = self.choose(TABLE)
        op, family = row["name"], row["family"]
        others = [t for t in TYPES[row["types"]] if t not in FLOATS]
        dtype = self.choose(others) if others and (row["types"] == "integer" or self.below(3) == 0) else self.float
        function, reference = function_of(op), table_reference(op)
        result = {"predicate": "bool", "comparison": "bool", "arg_reduction": "int32"}.get(family, dtype)
        differentiates = op not in {"all", "any"}
        more = {"moves": False} if op in FLAT | {"all", "any"} else {"smooth": differentiates}
        first = self.operand(dtype, None, row["domain"])
        shape = self.block.kinds[first].shape
        if family in ("unary", "activation", "predicate"):
            self.apply(op, function, reference, [first], result, exact=result == "bool", **more)
        elif family in ("reduction", "moment", "arg_reduction"):
            arg = family == "arg_reduction"
            axes = [int(a) - (len(shape) if self.below(2) else 0) for a in range(len(shape)) if self.below(2)]
            if not shape:
                return
            axis = self.below(len(shape)) - len(shape) * self.below(2) if arg else tuple(axes)
            keepdims = bool(self.below(2))
            every = not arg and (self.below(4) == 0 or (op in ("all", "any") and not axes))
            given = {} if every else {"axis": axis}
            numpy_axis = given.get("axis")
            self.apply(op, lambda x: function(x, keepdims=keepdims, **given),
                       lambda x: reference(x, axis=numpy_axis, keepdims=keepdims), [first], result, **more)  # fmt: skip
        else:
            other = tuple(1 if self.below(4) == 0 else extent for extent in shape[self.below(len(shape) + 1) :])
            second = self.operand(dtype, other if self.below(4) else shape, row["domain"])
            if self.below(6) == 0:
                second = first
            pair = [second, first] if self.below(2) else [first, second]
            self.apply(op, function, reference, pair, result, **more)

    def structured(self):
        case = self.choose(STRUCTURED[self.choose(QUICK if self.below(40) else sorted(SLOW))])
        floats = [t for t in case.dtypes if t in FLOATS]
        others = [t for t in case.dtypes if t not in FLOATS]
        if self.float in floats and not (others and self.below(4) == 0):
            dtype = self.float
        elif others:
            dtype = self.choose(others)
        else:
            return
        shapes = case.shapes
        # One extent becomes another wherever it is. (References of gradients take any.)
        if self.below(2) and "gradient" not in case.op and case.op != "count":
            extents = sorted({extent for shape in shapes for extent in shape})
            if extents:
                old, new = self.choose(extents), self.choose([1, 1, 2, 7])
                shapes = tuple(tuple(new if extent == old else extent for extent in shape) for shape in shapes)
        fixed = case.fixed + (None,) * (len(shapes) - len(case.fixed))
        made = sample(replace(case, shapes=shapes), dtype, self.rng)
        in_float64 = [a.astype(np.float64) if a.dtype.name in FLOATS else a for a in made]
        if shapes != case.shapes and not self.is_legal(case, made, in_float64):
            return
        operands = []
        for shape, kind, array in zip(shapes, fixed, made):
            kind = kind or dtype
            if kind in FLOATS and case.op != "inverse":  # which would seldom exist
                operands.append(self.within(self.fitted(self.any(kind), shape), case.domain))
            elif kind == "bool" and self.below(2):
                operands.append(self.fitted(self.any(kind), shape))
            else:
                operands.append(self.constant(kind, array))
        result = case.result or dtype
        wanted = range(len(operands)) if case.wanted is None else case.wanted
        kinds = [self.block.kinds[i] for i in operands]
        smooth = all(not kind.moves or i in wanted for i, kind in enumerate(kinds))
        self.apply(str(case), case.build, case.reference, operands, result, smooth=smooth)

    @staticmethod
    def is_legal(case, arrays, in_float64):
        """Whether the op takes operands of these shapes, and the reference gives the same shape."""
        graph = al.Graph()
        try:
            with np.errstate(all="ignore"):
                expected = np.shape(case.reference(*in_float64))
        except (ValueError, IndexError, ZeroDivisionError, TypeError):
            return False
        try:
            tensor = case.build(*(graph.placeholder(a.shape, a.dtype) for a in arrays))
        except (ValueError, TypeError):
            return False
        return tensor.shape == expected and np.prod(expected, dtype=int) > 0

    # ---- regions ----

    def region(self, arguments, depth, results):
        """A block that sees what is outside, with (kind, value) of arguments behind it; it gives values of the kinds
        `results`, in bounds."""
        outer = self.block
        self.block = Block(outer.kinds, outer.values)
        for kind, value in arguments:  # which may depend on anything from the second iteration on
            self.block.kinds.append(replace(kind, moves=kind.dtype in FLOATS, smooth=True))
            self.block.values.append(value)
        self.grow(self.below(4), depth)
        given = []
        for dtype, shape in results:
            i = self.fitted(self.any(dtype), shape)
            if dtype in FLOATS:
                i = self.apply("tanh", al.tanh, np.tanh, [i], dtype)
            given.append(i)
        block, self.block = self.block, outer
        # Loops ask for the gradients of all that they see.
        seen = [block.kinds[i] for step in block.steps for i in (*step.operands, *given)]
        return block, given, all(kind.smooth for kind in seen)

    def add_control(self, name, build, reference, kinds, smooth):
        """A step that sees everything before it."""
        step = Step(name, build, reference, tuple(range(len(self.block.kinds))))
        # Regions take what they like, so that only their own smoothness counts.
        for i in self.add(step, [dtype for dtype, _ in kinds]):
            self.block.kinds[i].smooth = smooth or not self.block.kinds[i].moves

    def carried(self):
        return [self.any(self.float) for _ in range(1 + self.below(2))]

    def conditional(self, depth):
        flag = self.choose([self.flag, self.flag, self.any("bool"), self.any("int32")])
        if self.block.values[flag].size != 1:
            flag = self.fitted(flag, ())
        wanted = [(self.float, self.shape()) for _ in range(1 + self.below(2))]
        regions = [self.region([], depth, wanted) for _ in range(2)]

        def build(tensors):
            branches = [
                lambda block=block, given=given: [block.build(tensors)[i] for i in given] for block, given, _ in regions
            ]
            return list(al.cond(tensors[flag], *branches))

        def reference(arrays, noise):
            block, given, _ = regions[0 if np.any(arrays[flag] != 0) else 1]
            values = block.evaluate(arrays, noise)
            return [values[i] for i in given]

        self.add_control("cond", build, reference, wanted, all(smooth for *_, smooth in regions))

    def counted_loop(self, depth):
        initial = self.carried()
        kinds = [self.block.kinds[i] for i in initial]
        lower, step = self.below(3), 1 + self.below(2)
        upper = lower + self.below(5)
        number = Kind("int32", (), False, True)
        arguments = [(number, np.array(lower, np.int32))]
        arguments += [(kind, self.block.values[i]) for kind, i in zip(kinds, initial)]
        wanted = [(kind.dtype, kind.shape) for kind in kinds]
        block, given, smooth = self.region(arguments, depth, wanted)

        def build(tensors):
            def body(i, carried):
                values = block.build([*tensors, i, *carried])
                return [values[i] for i in given]

            return list(al.for_loop(lower, upper, body, [tensors[i] for i in initial], step=step))

        def reference(arrays, noise):
            carried = [arrays[i] for i in initial]
            for n in range(lower, upper, step):
                values = block.evaluate([*arrays, np.array(n, np.int32), *carried], noise)
                carried = [values[i] for i in given]
            return carried

        self.add_control("for_loop", build, reference, wanted, smooth and all(kind.smooth for kind in kinds))

    def while_loop(self, depth):
        initial = self.carried()
        kinds = [self.block.kinds[i] for i in initial]
        times = self.below(4)
        arguments = [(kind, self.block.values[i]) for kind, i in zip(kinds, initial)]
        wanted = [(kind.dtype, kind.shape) for kind in kinds]
        block, given, _ = self.region(arguments, depth, wanted)

        def build(tensors):
            def body(values):
                inner = block.build([*tensors, *values[1:]])
                return [values[0] + 1, *(inner[i] for i in given)]

            zero = tensors[self.flag].graph.constant(np.int32(0))
            start = [zero, *(tensors[i] for i in initial)]
            return list(al.while_loop(lambda values: values[0] < times, body, start))[1:]

        def reference(arrays, noise):
            carried = [arrays[i] for i in initial]
            for _ in range(times):
                values = block.evaluate([*arrays, *carried], noise)
                carried = [values[i] for i in given]
            return carried

        self.add_control("while_loop", build, reference, wanted, False)

    def scan(self, depth):
        (initial,) = self.carried()[:1]
        rows = self.any(self.float)
        if not self.block.kinds[rows].shape:
            return
        kind, of_rows = self.block.kinds[initial], self.block.kinds[rows]
        row = Kind(of_rows.dtype, of_rows.shape[1:], of_rows.moves, of_rows.smooth)
        arguments = [(kind, self.block.values[initial]), (row, self.block.values[rows][0])]
        wanted = [(kind.dtype, kind.shape), (self.float, self.shape())]
        block, given, smooth = self.region(arguments, depth, wanted)
        reverse = bool(self.below(2))

        def build(tensors):
            def body(value, row):
                values = block.build([*tensors, value, row])
                return tuple(values[i] for i in given)

            return list(al.scan(body, tensors[initial], tensors[rows], reverse=reverse))

        def reference(arrays, noise):
            value, out = arrays[initial], [None] * len(arrays[rows])
            for n in range(len(out))[:: -1 if reverse else 1]:
                values = block.evaluate([*arrays, value, arrays[rows][n]], noise)
                value, out[n] = values[given[0]], values[given[1]]
            return [value, np.stack(out)]

        stacked = (self.float, (of_rows.shape[0], *wanted[1][1]))
        self.add_control("scan", build, reference, [wanted[0], stacked], smooth and kind.smooth and of_rows.smooth)

    # ---- checking ----

    def given(self):
        return len(self.feeds) + len(self.variables)

    def made(self):
        """The graph of the engine: (placeholders, variables, all tensors)."""
        self.graph = al.Graph()
        leaves = [None] * self.given()
        for i in self.feeds:
            leaves[i] = self.graph.placeholder(self.block.values[i].shape, self.block.kinds[i].dtype)
        for i in self.variables:
            leaves[i] = self.graph.variable(self.array(i))
        return leaves, self.block.build(leaves)

    def array(self, i):
        return self.block.values[i].astype(numpy_dtype(self.block.kinds[i].dtype))

    def bounds(self, leaves, seeds):
        """The values of everything, and how far each may be from it."""
        unit = ROUNDING[self.float]
        with np.errstate(all="ignore"):
            exact = self.block.evaluate(leaves, Noise(unit))
            spread = [np.zeros(np.shape(v)) for v in exact]
            for seed in range(seeds):
                for i, other in enumerate(self.block.evaluate(leaves, Noise(unit, seed))):
                    if exact[i].dtype == np.float64:
                        spread[i] = np.fmax(spread[i], np.abs(other - exact[i]))
                    else:
                        spread[i] = np.fmax(spread[i], other != exact[i])
        return exact, spread

    def check(self, seeds):
        """What is wrong: sentences. Rounding is measured by so many evaluations with noise."""
        wrong = []
        leaves, tensors = self.made()
        for tensor, kind in zip(tensors, self.block.kinds):
            if tensor.shape != kind.shape or tensor.dtype != kind.dtype:
                return [f"built {tensor.dtype}{tensor.shape}, expected {kind.dtype}{kind.shape}"]
        updates = [self.graph.assign(leaves[v], tensors[i]) for v, i in self.updates]
        gradients = self.gradients(tensors)
        fetches = [tensors[i] for i in self.fetches] + gradients
        step = self.graph.compile([leaves[i] for i in self.feeds], fetches, updates)
        values = self.block.values[: self.given()]
        for run in range(2 if self.updates else 1):
            exact, spread = self.bounds(values, seeds)
            got = step(*(self.array(i) for i in self.feeds))
            for i, value in zip(self.fetches, got):
                wrong += self.compared(i, value, exact[i], spread[i], f"run {run}, fetch {i}")
            if gradients:
                wrong += self.compared_gradients(values, got[len(self.fetches) :], run, seeds)
            values = list(values)
            for v, i in self.updates:
                array = leaves[v].numpy()
                wrong += self.compared(i, array, exact[i], spread[i], f"run {run}, update {v}")
                values[v] = array.astype(np.float64)
        return wrong

    def name_of(self, i):
        made = self.given()
        for step in self.block.steps:
            made += len(step.reference([self.block.values[j] for j in step.operands], Noise(0)))
            if i < made:
                kinds = [self.block.kinds[j] for j in step.operands[:4]]
                return f"{step.name} of {[(kind.dtype, kind.shape) for kind in kinds]}"
        return "leaf"

    def compared(self, i, value, exact, spread, where):
        kind = self.block.kinds[i]
        if value.dtype != numpy_dtype(kind.dtype) or value.shape != np.shape(exact):
            return [f"{where}: {value.dtype}{value.shape}, expected {kind.dtype}{np.shape(exact)}"]
        if kind.dtype not in FLOATS:
            bad = (value != exact) & (spread == 0)
            COUNTED["loose"] += int((spread > 0).sum())
        else:
            unit, scale = ROUNDING[self.float], np.abs(exact[np.isfinite(exact)]).max(initial=0)
            allowed = 6 * spread + 32 * unit * np.abs(exact) + 16 * unit * scale + 1e-30
            value = value.astype(np.float64)
            with np.errstate(all="ignore"):
                near = np.abs(value - exact) <= allowed
            limit = 6e4 if self.float == "float16" else 1e30
            free = ~np.isfinite(spread) | (np.abs(exact) > limit) | (np.abs(exact) < 1e-37)
            same = (value == exact) | (np.isnan(value) & np.isnan(exact))
            bad = ~(near | free | same)
            COUNTED["loose"] += int((allowed > 0.05 * scale).sum())
        COUNTED["elements"] += int(np.size(exact))
        if not bad.any():
            return []
        at = tuple(int(n) for n in np.argwhere(bad)[0])
        return [f"{where} ({self.name_of(i)}) at {at} of {bad.sum()}: {value[at]}, expected {np.asarray(exact)[at]} "
                f"+- {np.asarray(spread)[at]}"]  # fmt: skip

    def chosen_loss(self):
        """By position: the weights of some of the values that all leaves may be moved for, in a sum."""
        smooth = [i for i, kind in enumerate(self.block.kinds) if kind.moves and kind.smooth and self.is_usable(i)
                  and i >= self.given()]  # fmt: skip
        if not smooth or self.float != "float32" or self.below(2):
            return {}
        taken = smooth[-1 - self.below(min(3, len(smooth))) :][:2]
        return {i: self.rng.normal(size=self.block.kinds[i].shape).astype(np.float32) for i in taken}

    def gradients(self, tensors):
        if not self.loss:
            return []
        loss = sum((al.sum(tensors[i] * w) for i, w in self.loss.items()), start=0.0)
        return list(al.gradients(loss, [tensors[i] for i in self.wanted]))

    def compared_gradients(self, values, gradients, run, seeds):
        rng = np.random.default_rng(1)
        directions = {i: rng.normal(size=np.shape(values[i])) for i in self.wanted}

        def loss(step, noise):
            noise.restart()
            moved = [v + step * directions[i] if i in directions else v for i, v in enumerate(values)]
            with np.errstate(all="ignore"):
                made = self.block.evaluate(moved, noise)
            return sum(np.sum(made[i] * w.astype(np.float64)) for i, w in self.loss.items())

        unit = ROUNDING[self.float]
        h, ends = 1e-5, [loss(step, Noise(unit)) for step in (1e-5, 0, -1e-5)]
        exact, kink = (ends[0] - ends[2]) / (2 * h), abs(ends[0] - 2 * ends[1] + ends[2]) / h
        terms = [g.astype(np.float64) * directions[i] for i, g in zip(self.wanted, gradients)]
        size, got = sum(np.abs(t).sum() for t in terms), sum(t.sum() for t in terms)
        if not np.isfinite(exact) or kink > 1e-3 * (size + abs(exact)) + 1e-8:
            COUNTED["gradients at a kink"] += 1
            return []
        others = [(loss(h, Noise(unit, seed)) - loss(-h, Noise(unit, seed))) / (2 * h) for seed in range(min(seeds, 4))]
        spread = max((abs(other - exact) for other in others), default=0)
        COUNTED["gradients"] += 1
        if abs(got - exact) <= 10 * spread + 1e-4 * size + 1e-6:
            return []
        return [f"run {run}, gradient of {[self.name_of(i) for i in self.loss]}: {got}, expected {exact} "
                f"+- {spread}, terms {size}"]  # fmt: skip


def check(seed):
    """What is wrong with the graph of a seed: sentences."""
    graph = RandomGraph(seed)
    return graph.check(0) and graph.check(40)


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, first + count):
        try:
            wrong = check(seed)
        except Exception:
            wrong = [traceback.format_exc(limit=-3)]
        COUNTED["graphs"] += 1
        COUNTED["wrong"] += bool(wrong)
        if wrong:
            print(seed, *wrong[:3], sep="\n    ", flush=True)
    print(dict(COUNTED))
