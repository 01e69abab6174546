"""A run compared with the reference, op by op."""

import numpy as np

from alloy import _core
from alloy.messages.location import mistake

_EXACT = 2.0**53  # smaller integers are doubles
_LARGEST = 2**24  # elements of an op; the reference computes about 10 to 100 million a second
# The device may be so far off, in parts of a result's size; an error of a kernel is seldom as small.
_BOUNDS = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}
_NOISE = 1e-6  # in parts of the largest operand: where a sum's terms cancel each other


class Replay:
    """Compares runs of an executable with the reference. What the reference cannot tell does not count: random numbers,
    ops with regions, variables read after an assignment, and what has more than 16 million elements."""

    def __init__(self, executable):
        known, self._ops = set(executable.feeds), []
        for op in executable.graph.inspect(executable.feeds, executable.fetches, executable.updates):
            if op.kind not in ("assign", "read_variable") and known.issuperset(op.operands):
                known.update(op.results)
                self._ops.append(op)
        self._tensors = [*dict.fromkeys(tensor for op in self._ops for tensor in [*op.operands, *op.results])]
        self._step = executable.graph.compile(executable.feeds, self._tensors)

    def __call__(self, arrays, by_label) -> None:
        """Makes a run without updates. DeviceError: an op differs."""
        values = dict(zip(self._tensors, self._step(*arrays, **by_label)))
        for op in self._ops:
            said = _difference(op, values)
            if said is not None:
                place = f"; built at {op.location}" if op.location else ""
                raise mistake(
                    "replay", f"The device's {op.kind} differs from the reference: {said}{place}", _core.DeviceError
                )


def _difference(op, values) -> str | None:
    """Returns what the op gives that differs from the reference, or None."""
    if sum(values[tensor].size for tensor in [*op.operands, *op.results]) > _LARGEST:
        return None
    if any(np.iscomplexobj(values[tensor]) for tensor in [*op.operands, *op.results]):
        return None
    operands = [np.asarray(values[tensor], np.float64, order="C") for tensor in op.operands]
    expected = _core.reference_results(op.results[0], operands)
    if expected is None:
        return None
    sizes = _core.reference_results(op.results[0], [np.abs(operand) for operand in operands]) or expected
    noise = _NOISE * max((_largest(operand) for operand in operands), default=0.0)
    for tensor, wanted, size in zip(op.results, expected, sizes):
        got = values[tensor].astype(np.float64)
        place = _first_apart(got, wanted, size, noise, _BOUNDS.get(str(tensor.dtype), 0.0))
        if place is not None:
            return f"expected {wanted[place]:.9g}{f' at {place}' if place else ''}, got {got[place]:.9g}"
    return None


def _largest(array) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


def _first_apart(got, wanted, size, noise, bound) -> tuple[int, ...] | None:
    """Returns the first place at which two arrays differ by more than the bound, or None."""
    if bound == 0:
        apart = (got != wanted) & (np.abs(wanted) < _EXACT)
    else:
        finite = np.isfinite(wanted)
        mean = float(np.abs(wanted[finite]).mean()) if finite.any() else 0.0
        with np.errstate(all="ignore"):
            size = np.where(np.isfinite(size), np.abs(size), 0.0) if size.shape == wanted.shape else 0.0
            allowed = bound * (np.abs(wanted) + mean + size) + noise
            apart = np.where(finite, ~(np.abs(got - wanted) <= allowed), got != wanted)
        apart &= ~(np.isnan(got) & np.isnan(wanted))
    places = np.argwhere(apart)
    return tuple(int(i) for i in places[0]) if len(places) else None
