"""Recurrent layers: every step takes the state of the step before."""

import math

import numpy as np

from alloy import init
from alloy._core import Tensor
from alloy.engine.arrays import as_count
from alloy.engine.dtypes import is_integer
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.ops import (
    cast,
    clamp,
    concat,
    equal,
    expand_dims,
    gather,
    gru,
    lstm,
    matmul,
    maximum,
    reshape,
    rnn,
    squeeze,
    transpose,
    where,
)
from alloy.ops.apply import require_tensor


class Recurrent(Layer):
    """The base of recurrent layers. x: (batch, steps, features). The result is the last state, (batch, units), or with
    return_sequences the states of all steps, (batch, steps, units). A bidirectional layer has the forward direction
    first along the last axis, then the backward one, whose last state belongs to the first step.

    units: the length of a state. layers: the number of cells, each over the states of the one before. lengths, in a
    call: int32 (batch,), how many steps of each sequence count. The steps after them carry the state, and give zeros.
    A length below 0 or above the steps gives NaN, which the loss shows and a Trainer stops at.

    Variables, for each layer and direction: weights (gates * units, features), recurrent_weights (gates * units,
    units), bias (gates * units,), in PyTorch's order. They start as in Keras: Glorot uniform, orthogonal, zeros.
    ValueError: the steps or the features of x are not known."""

    gates: int

    def __init__(self, units, *, layers=1, bidirectional=False, return_sequences=False, use_bias=True, seed=None):
        super().__init__(seed=seed)
        self.units = as_count(self, "units", units)
        self.depth = as_count(self, "layers", layers)
        self.bidirectional = bidirectional
        self.return_sequences = return_sequences
        self.use_bias = use_bias

    def build(self, x):
        self.require_floats(x)
        features = self.known_features(x, rank=3)
        directions = ("forward/", "backward/") if self.bidirectional else ("",)
        wide = self.gates * self.units
        for layer in range(self.depth):
            for direction in directions:
                path = (f"{layer}/" if self.depth > 1 else "") + direction
                self._add(x, path + "weights", lambda seed, n=features: init.glorot_uniform((wide, n), seed=seed))
                self._add(x, path + "recurrent_weights", lambda seed: init.orthogonal((wide, self.units), seed=seed))
                if self.use_bias:
                    self.add_biases(x, path)
            features = self.units * len(directions)

    def _add(self, x, path, initial):
        self.add_variable(x.graph, path, initial)

    def add_biases(self, x, path):
        self._add(x, path + "bias", lambda seed: init.zeros((self.gates * self.units,)))

    def forward(self, x, training, lengths=None):
        steps = x.shape[1] if x.shape is not None and len(x.shape) == 3 else None
        if steps is None:
            raise mistake(self, f"Expected (batch, steps, features) of known steps, got {describe(x)}")
        padding = None if lengths is None else Padding(self, lengths, steps)
        h = transpose(x, (1, 0, 2))
        directions = (False, True) if self.bidirectional else (False,)
        count = len(self.variables) // (self.depth * len(directions))
        everything = self.in_type_of(x, self.variables)
        variables = [everything[i : i + count] for i in range(0, len(everything), count)]
        parts = []
        for layer in range(self.depth):
            own = variables[layer * len(directions) :]
            parts = [self._direction(h, own[int(reverse)], reverse, training, padding) for reverse in directions]
            h = concat(parts, axis=2) if self.bidirectional else parts[0]
        if self.return_sequences:
            y = transpose(h, (1, 0, 2))
        else:
            y = padding.last(parts[0]) if padding else parts[0][-1]
            y = concat([y, parts[1][0]], axis=1) if self.bidirectional else y
        return padding.checked(y) if padding else y

    def _direction(self, h, variables, reverse, training, padding):
        """Returns the states of a layer in one direction, of all steps."""
        if padding is None:
            return self._states(h, variables, reverse, training)
        # Backward, a sequence begins at its own last step.
        states = self._states(padding.reversed(h) if reverse else h, variables, False, training)
        return padding.zeroed(padding.reversed(states) if reverse else states)

    def _states(self, h, variables, reverse, training):
        weights, recurrent_weights, *biases = variables
        steps, batch, features = h.shape
        sums = matmul(reshape(h, (-1, features)), transpose(weights))
        if biases:
            sums = sums + biases[0]
        sums = reshape(sums, (steps, -1 if batch is None else batch, self.gates * self.units))
        return self.cell(sums, recurrent_weights, biases[1:], reverse=reverse, training=training)

    def cell(self, sums: Tensor, recurrent_weights, biases, *, reverse, training) -> Tensor:
        """Returns the states from the sums of the gates."""
        raise NotImplementedError


class RNN(Recurrent):
    """A cell of one gate, Keras's SimpleRNN: h[t] = activation(x[t] @ W.T + h[t-1] @ R.T + bias). Recurrent describes
    the rest."""

    gates = 1

    def __init__(self, units, *, activation="tanh", **options):
        super().__init__(units, **options)
        self.activation = activation

    def cell(self, sums, recurrent_weights, biases, *, reverse, training):
        return rnn(sums, recurrent_weights, activation=self.activation, reverse=reverse, training=training)


class LSTM(Recurrent):
    """Long short-term memory (al.lstm), with Keras's names and defaults. The gates are input, forget, candidate,
    output, as in Keras and in PyTorch, whose two biases are one here.

    unit_forget_bias: the forget gate's bias starts at 1: Jozefowicz et al., 2015. Recurrent describes the rest."""

    gates = 4

    def __init__(self, units, *, activation="tanh", recurrent_activation="sigmoid", unit_forget_bias=True, **options):
        super().__init__(units, **options)
        self.activation = activation
        self.recurrent_activation = recurrent_activation
        self.unit_forget_bias = unit_forget_bias

    def add_biases(self, x, path):
        bias = init.zeros((4, self.units))
        bias[1] = self.unit_forget_bias
        self._add(x, path + "bias", lambda seed: bias.ravel())

    def cell(self, sums, recurrent_weights, biases, *, reverse, training):
        gate, cell = self.recurrent_activation, self.activation
        states, _ = lstm(
            sums,
            recurrent_weights,
            activation=cell,
            gate_activations=(gate, gate, cell, gate),
            reverse=reverse,
            training=training,
        )
        return states


class GRU(Recurrent):
    """Gated recurrent units (al.gru), with Keras's names and defaults. The gates are update, reset, candidate, as in
    Keras; PyTorch has reset before update. reset_after adds the variable secondary_bias (units,), the candidate's bias
    of the state's part. Recurrent describes the rest."""

    gates = 3

    def __init__(self, units, *, activation="tanh", recurrent_activation="sigmoid", reset_after=True, **options):
        super().__init__(units, **options)
        self.activation = activation
        self.recurrent_activation = recurrent_activation
        self.reset_after = reset_after

    def add_biases(self, x, path):
        super().add_biases(x, path)
        if self.reset_after:
            self._add(x, path + "secondary_bias", lambda seed: init.zeros((self.units,)))

    def cell(self, sums, recurrent_weights, biases, *, reverse, training):
        return gru(
            sums,
            recurrent_weights,
            secondary_bias=biases[0] if biases else None,
            activation=self.activation,
            gate_activations=(self.recurrent_activation,) * 2,
            reset_after=self.reset_after,
            reverse=reverse,
            training=training,
        )


class Padding:
    """The padding of sequences (steps, batch, n): the steps from each sequence's length on."""

    def __init__(self, op, lengths, steps):
        require_tensor(op, lengths)
        if not is_integer(lengths.dtype) or lengths.shape is None or len(lengths.shape) != 1:
            raise mistake(op, f"Expected integer lengths (batch,), got {describe(lengths)}", TypeError)
        if lengths.dtype not in ("int32", "int64"):
            lengths = cast(lengths, "int64" if lengths.dtype == "uint64" else "int32")
        held = clamp(lengths, 0, steps)
        self._sound = equal(held, lengths)
        self._lengths = expand_dims(held, axis=1)
        places = np.arange(steps, dtype=held.dtype)
        counts = self._lengths > places  # (batch, steps)
        self._reversed = where(counts, self._lengths - 1 - places, places)
        self._counts = expand_dims(transpose(cast(counts, "float32"), (1, 0)), axis=2)

    def zeroed(self, states):
        return states * cast(self._counts, states.dtype)

    def reversed(self, sequence):
        """Reverses the steps of each sequence that count; the steps after them stay."""
        turned = gather(transpose(sequence, (1, 0, 2)), self._reversed, axis=1, batch_dims=1)
        return transpose(turned, (1, 0, 2))

    def last(self, states):
        """Returns the state at the last step of each sequence; zeros for an empty one."""
        at = maximum(self._lengths - 1, 0)
        return squeeze(gather(transpose(states, (1, 0, 2)), at, axis=1, batch_dims=1), axis=1)

    def checked(self, y):
        """Returns y, (batch, ...), with NaN where a length is below 0 or above the steps."""
        return where(expand_dims(self._sound, axis=range(1, len(y.shape))), y, math.nan)
