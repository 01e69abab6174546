"""Recurrent cells over sequences. Time comes first: (steps, batch, features)."""

from alloy._core import Tensor
from alloy.engine.arrays import as_choice
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.ops.apply import apply, apply_all, require_tensor

__all__ = ["gru", "lstm", "rnn"]

ACTIVATIONS = ("none", "relu", "tanh", "sigmoid", "hard_sigmoid")


def rnn(
    x: Tensor, recurrent_weights: Tensor, *, state=None, mask=None, activation="relu", reverse=False, training=True
) -> Tensor:
    """h[t] = activation(x[t] + (mask * h[t-1]) @ W.T): returns the states h, (steps, batch, units).

    x: (steps, batch, units), the inputs times their weights plus bias: one product for all steps. recurrent_weights: W,
    (units, units). state: h before the first step, (batch, units); None is zeros. mask: broadcasts to (batch, units).
    activation: none, relu, tanh, sigmoid or hard_sigmoid, which is min(max(0.2 x + 0.5, 0), 1). reverse: starts with
    the last step; states stay at their place. training: keeps intermediate values for the gradient; without it, a
    gradient computes the cell once more. ValueError: shapes do not fit."""
    state, mask = _state("rnn", x, recurrent_weights, state, mask)
    attributes = _attributes("rnn", [activation], reverse, training, mask)
    return apply("rnn", [x, recurrent_weights, state, *mask], attributes)


def lstm(
    x: Tensor,
    recurrent_weights: Tensor,
    *,
    state=None,
    cell=None,
    mask=None,
    peephole=None,
    activation="tanh",
    gate_activations=("sigmoid", "sigmoid", "tanh", "sigmoid"),
    reverse=False,
    training=True,
) -> tuple[Tensor, Tensor]:
    """Returns the states h and the cells c of an LSTM, (steps, batch, units) each (Hochreiter and Schmidhuber, 1997,
    with the forget gate of Gers et al., 2000).

    With i, f, z, o = act(x[t] + (mask * h[t-1]) @ W.T + peephole * c[t-1]): c[t] = f c[t-1] + i z and h[t] = o
    activation(c[t]). x: (steps, batch, 4 * units), for the gates input, forget, candidate, output: the inputs times
    their weights plus bias. recurrent_weights: W, (4 * units, units). peephole: (4 * units,). cell: c before the first
    step. The rest is as in rnn."""
    state, mask = _state("lstm", x, recurrent_weights, state, mask)
    cell, _ = _state("lstm", x, recurrent_weights, cell, None)
    attributes = _attributes("lstm", [*gate_activations, activation], reverse, training, mask)
    rest = [] if peephole is None else [peephole]
    attributes["peephole"] = bool(rest)
    states, cells, *_ = apply_all("lstm", [x, recurrent_weights, state, cell, *mask, *rest], attributes)
    return states, cells


def gru(
    x: Tensor,
    recurrent_weights: Tensor,
    *,
    state=None,
    secondary_bias=None,
    mask=None,
    activation="tanh",
    gate_activations=("sigmoid", "sigmoid"),
    reset_after=True,
    flip_z=False,
    reverse=False,
    training=True,
) -> Tensor:
    """Returns the states h of a GRU, (steps, batch, units) (Cho et al., 2014).

    h[t] = z h[t-1] + (1 - z) o, or with flip_z (1 - z) h[t-1] + z o. The candidate o adds (r * mask * h[t-1]) @ W.T to
    its part of x, with reset_after r * ((mask * h[t-1]) @ W.T + secondary_bias), as in PyTorch and Keras. x: (steps,
    batch, 3 * units), for the gates update, reset, candidate: the inputs times their weights plus bias.
    recurrent_weights: W, (3 * units, units). secondary_bias: (units,), None is zeros. The rest is as in rnn."""
    state, mask = _state("gru", x, recurrent_weights, state, mask)
    attributes = _attributes("gru", [*gate_activations, activation], reverse, training, mask)
    attributes |= {"reset_after": reset_after, "flip_z": flip_z}
    if secondary_bias is not None and not reset_after:
        raise mistake("gru", "Expected no secondary bias without reset_after, got one")
    if reset_after and secondary_bias is None:
        secondary_bias = apply("broadcast_like", [0.0, recurrent_weights[0]])
    bias = [secondary_bias] if reset_after else []
    return apply("gru", [x, recurrent_weights, state, *bias, *mask], attributes)


def _state(op, x, weights, state, mask):
    """Returns the state before the first step, and a list with the mask, or an empty one."""
    require_tensor(op, x)
    require_tensor(op, weights)
    if x.shape is None or len(x.shape) != 3:
        raise mistake(op, f"Expected (steps, batch, gates * units), got {describe(x)}")
    if weights.shape is None or len(weights.shape) != 2 or weights.shape[1] is None:
        raise mistake(op, f"Expected recurrent weights (gates * units, units), got {describe(weights)}")
    # Only the shape of this one counts.
    like = apply("squeeze", [x[:1, :, : weights.shape[1]]], {"axes": [0]})
    if state is None:
        state = apply("broadcast_like", [0.0, like])
    return state, [] if mask is None else [apply("broadcast_like", [mask, like])]


def _attributes(op, activations, reverse, training, mask):
    known = [as_choice(op, "activations", name, ACTIVATIONS) for name in activations]
    return {
        "activations": [ACTIVATIONS.index(name) for name in known],
        "reverse": reverse,
        "training": training,
        "masked": bool(mask),
    }
