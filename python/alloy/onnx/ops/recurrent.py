"""Recurrent ops. ONNX has the gates of an LSTM in the order input, output, forget, candidate, Alloy input, forget,
candidate, output; those of a GRU are in one order. Weights are (directions, gates * units, features)."""

from typing import Any

import numpy as np

from alloy import ops
from alloy.nn.recurrent import Padding
from alloy.onnx.node import supports

_ACTIVATIONS = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "HardSigmoid": "hard_sigmoid", "Affine": "none"}
_NUMBERS = {"HardSigmoid": (0.2, 0.5), "Affine": (1.0, 0.0)}
_LIMITS = "activations Relu, Tanh, Sigmoid, HardSigmoid of 0.2 and 0.5, Affine of 1 and 0; no clip"


class _Cell:
    """The operands of a recurrent node."""

    def __init__(self, node, gates: int, activations: tuple[str, ...]):
        self.node, self.gates = node, gates
        self.layout = node.attribute("layout", 0)
        word = node.word("direction", "forward", ("forward", "reverse", "bidirectional"))
        self.reverses = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[word]
        x = node.floats(0)
        self.units = node.attribute("hidden_size", int)
        if len(x.shape) != 3 or self.units < 1:
            raise node.wrong(f"Expected a sequence of three axes and a hidden_size, got rank {len(x.shape)}")
        self.x: Any = ops.transpose(x, (1, 0, 2)) if self.layout else x
        self.steps, self.batch, self.features = node.extent(self.x, 0), self.x.shape[1], node.extent(self.x, 2)
        self.activations = self._activations(activations)
        if node.attribute("clip", 0.0):
            raise node.wrong("Expected no clip")
        self.padding = None
        if node.has(4):
            lengths = node.value(4)
            if not (isinstance(lengths, np.ndarray) and (lengths == self.steps).all()):
                node.places(self.steps)  # refuses what no memory holds
                self.padding = Padding(node.op, ops.cast(node.tensor(4), "int32"), self.steps)

    def _activations(self, defaults):
        node = self.node
        count = len(defaults) * len(self.reverses)
        names = node.attribute("activations", list(defaults) * len(self.reverses))
        alphas, betas = list(node.attribute("activation_alpha", [])), list(node.attribute("activation_beta", []))
        if len(names) != count:
            raise node.wrong(f"Expected {count} activations, got {names}")
        made = []
        for name in names:
            if name not in _ACTIVATIONS:
                raise node.wrong(f"Expected activations among {', '.join(_ACTIVATIONS)}, got {name}")
            if name in _NUMBERS:
                alpha, beta = _NUMBERS[name]
                given = (alphas.pop(0) if alphas else alpha, betas.pop(0) if betas else beta)
                if not np.allclose(given, (alpha, beta)):
                    raise node.wrong(f"Expected {name} of {alpha} and {beta}, got {given}")
            made.append(_ACTIVATIONS[name])
        return [made[i : i + len(defaults)] for i in range(0, count, len(defaults))]

    def part(self, i, d):
        """Returns direction d of input i."""
        x = self.node.floats(i)
        if x.shape[0] != len(self.reverses):
            raise self.node.wrong(f"Expected {len(self.reverses)} directions in input {i}, got {x.shape[0]}")
        return x[d]

    def state(self, i, d):
        """Returns an initial state (batch, units), or None for zeros."""
        if not self.node.has(i):
            return None
        x = self.node.floats(i)
        return x[:, d] if self.layout else x[d]

    def bias(self, d):
        """Returns the two parts of the bias, (gates * units,) each, or None."""
        if not self.node.has(3):
            return None
        found, wide = self.part(3, d), self.gates * self.units
        return found[:wide], found[wide:]

    def sums(self, d, weights, bias):
        """Returns the inputs times their weights, plus the bias."""
        x = self.x
        if self.padding and self.reverses[d]:
            x = self.padding.reversed(x)
        y = ops.matmul(ops.reshape(x, (-1, self.features)), ops.transpose(weights))
        y = y if bias is None else y + bias
        return ops.reshape(y, (self.steps, -1 if self.batch is None else self.batch, self.gates * self.units))

    def is_reversed(self, d) -> bool:
        """Returns whether the op runs from the last step; padded sequences are turned before it."""
        return self.reverses[d] and self.padding is None

    def all_steps(self, found):
        """Returns the states of all directions, (steps, directions, batch, units)."""
        made = []
        for d, states in enumerate(found):
            if self.padding:
                states = self.padding.reversed(states) if self.reverses[d] else states
                states = self.padding.zeroed(states)
            made.append(states)
        y = ops.stack(made, 1)
        return ops.transpose(y, (2, 0, 1, 3)) if self.layout else y

    def last(self, found):
        """Returns the last states, (directions, batch, units)."""
        made = []
        for d, states in enumerate(found):
            if self.padding:
                made.append(self.padding.last(states))
            else:
                made.append(states[0] if self.reverses[d] else states[-1])
        return ops.stack(made, 1 if self.layout else 0)


@supports("LSTM", limits=f"{_LIMITS}; no input_forget, no peepholes")
def lstm(node):
    cell = _Cell(node, 4, ("Sigmoid", "Tanh", "Tanh"))
    if node.attribute("input_forget", 0):
        raise node.wrong("Expected no input_forget")
    if node.has(7):
        raise node.wrong("Expected no peepholes")
    states, cells = [], []
    for d in range(len(cell.reverses)):
        gate, candidate, hidden = cell.activations[d]
        bias = cell.bias(d)
        h, c = ops.lstm(
            cell.sums(d, _as_ifzo(cell, cell.part(1, d)), None if bias is None else _as_ifzo(cell, bias[0] + bias[1])),
            _as_ifzo(cell, cell.part(2, d)),
            state=cell.state(5, d),
            cell=cell.state(6, d),
            activation=hidden,
            gate_activations=(gate, gate, candidate, gate),
            reverse=cell.is_reversed(d),
            training=node.training,
        )
        states.append(h)
        cells.append(c)
    return [cell.all_steps(states), cell.last(states), cell.last(cells)]


def _as_ifzo(cell, x):
    """Returns gates in Alloy's order, from i, o, f, z."""
    i, o, f, z = ops.split(x, 4, 0)
    return ops.concat([i, f, z, o], 0)


@supports("GRU", limits=_LIMITS)
def gru(node):
    cell, after = _Cell(node, 3, ("Sigmoid", "Tanh")), node.flag("linear_before_reset")
    states = []
    for d in range(len(cell.reverses)):
        gate, candidate = cell.activations[d]
        bias, secondary = cell.bias(d), None
        if bias is not None and after:
            both = 2 * cell.units
            secondary = bias[1][both:]
            bias = ops.concat([bias[0][:both] + bias[1][:both], bias[0][both:]], 0)
        elif bias is not None:
            bias = bias[0] + bias[1]
        states.append(
            ops.gru(
                cell.sums(d, cell.part(1, d), bias),
                cell.part(2, d),
                state=cell.state(5, d),
                secondary_bias=secondary,
                activation=candidate,
                gate_activations=(gate, gate),
                reset_after=after,
                reverse=cell.is_reversed(d),
                training=node.training,
            )
        )
    return [cell.all_steps(states), cell.last(states)]


@supports("RNN", limits=_LIMITS)
def rnn(node):
    cell = _Cell(node, 1, ("Tanh",))
    states = []
    for d in range(len(cell.reverses)):
        bias = cell.bias(d)
        states.append(
            ops.rnn(
                cell.sums(d, cell.part(1, d), None if bias is None else bias[0] + bias[1]),
                cell.part(2, d),
                state=cell.state(5, d),
                activation=cell.activations[d][0],
                reverse=cell.is_reversed(d),
                training=node.training,
            )
        )
    return [cell.all_steps(states), cell.last(states)]
