from collections.abc import Callable

import numpy as np

from alloy.engine.arrays import as_count
from alloy.init import glorot_uniform
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.dense import Dense
from alloy.nn.dropout import Dropout
from alloy.nn.layer import Layer
from alloy.ops import cast, cumsum, expand_dims, logical_and, matmul, reshape, tile, transpose, where
from alloy.ops.apply import apply, as_tensor
from alloy.ops.attention import added, attention_weights, scaled_dot_product_attention
from alloy.ops.elementwise import widened


class MultiHeadAttention(Layer):
    """softmax(q k^T / sqrt(key_dim)) v for each head; q, k and v are products of the inputs with the head's weights,
    and a last product joins the heads: Vaswani et al., 2017, with Keras's names.

    x is the query, (batch, steps, features); batch and steps need not be known. Alone it attends to itself. Arguments
    of a call, by name: value, (batch, others, any features), the sequence to attend to; key, of as many steps, if it is
    not the value; attention_mask, bools, true where a query (first axis) may see a key (second one): (steps, others),
    (batch, steps, others) or (batch, heads, steps, others), with any extent 1. A query that may see nothing gets the
    output's bias alone. Result: (batch, steps, features of the query, or output_shape).

    key_dim: the length of q and k of one head, and of v unless value_dim is given. dropout: the rate at which the
    weights of values are dropped while training. use_causal_mask: each step sees only itself and earlier steps.
    use_bias: for all four products. init: a function of al.init for their weights. The softmax is computed in at least
    float32.

    Variables: weights and bias of query, key, value and output, as in Dense, head after head. PyTorch's in_proj_weight
    is the transposes of the first three one below the other, its in_proj_bias their biases."""

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        *,
        value_dim: int | None = None,
        output_shape: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        use_causal_mask: bool = False,
        init: Callable = glorot_uniform,
        seed: int | None = None,
    ):
        super().__init__(seed=seed)
        self.num_heads = as_count(self, "num_heads", num_heads)
        self.key_dim = as_count(self, "key_dim, the length of a head's keys,", key_dim)
        self.value_dim = self.key_dim if value_dim is None else as_count(self, "value_dim", value_dim)
        self.output_shape = None if output_shape is None else as_count(self, "output_shape", output_shape)
        self.use_causal_mask = use_causal_mask
        self._options = {"use_bias": use_bias, "init": init}
        self.query, self.key = (Dense(self.num_heads * self.key_dim, **self._options) for _ in range(2))
        self.value = Dense(self.num_heads * self.value_dim, **self._options)
        self.dropout = Dropout(dropout) if dropout else None

    def build(self, x):
        self.output = Dense(self.output_shape or self.known_features(x, rank=3), **self._options)

    def forward(self, x, training, value=None, key=None, attention_mask=None):
        if value is None and key is not None:
            raise mistake(self, "Expected a value with the key, got a key alone", TypeError)
        value = x if value is None else value
        key = value if key is None else key
        for sequence in (x, value, key):
            self.known_features(sequence, rank=3)
        q = self._heads(self.query(x, training), self.key_dim)
        k = self._heads(self.key(key, training), self.key_dim)
        v = self._heads(self.value(value, training), self.value_dim)
        mask = self._mask(q, k, attention_mask)
        if self.dropout is not None and training:
            weights = self.dropout(attention_weights(widened(q) * self.key_dim**-0.5, k, mask), training)
            y = cast(matmul(weights, cast(v, weights.dtype)), v.dtype)
        else:
            y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = transpose(y, (0, 2, 1, 3))
        return self.output(_shaped(y, x, (self.num_heads * self.value_dim,)), training)

    def _heads(self, x, size):
        """Turns (batch, steps, heads * size) into (batch, heads, steps, size)."""
        return transpose(_shaped(x, x, (self.num_heads, size)), (0, 2, 1, 3))

    def _mask(self, q, k, attention_mask):
        """Returns bools, or where every step sees itself floats to add, or None where each sees all."""
        causal = self._causal(q, k) if self.use_causal_mask else None
        if attention_mask is None:
            return None if causal is None else added(causal)
        mask = self._of_rank_4(q.graph, attention_mask)
        return mask if causal is None else logical_and(causal, mask)

    @staticmethod
    def _causal(q, k):
        """Returns a mask (1, 1, steps, others), true where the key's step is not after the query's."""
        steps, others = q.shape[2], k.shape[2]
        if steps is not None and others is not None:
            return q.graph.constant(np.tri(steps, others, dtype=bool)[None, None])
        rows, columns = (cumsum(where(True, np.float32(1), part[:1, :1, :, :1]), axis=2) for part in (q, k))
        return rows >= transpose(columns, (0, 1, 3, 2))

    def _of_rank_4(self, graph, mask):
        mask = as_tensor(graph, type(self).__name__, mask, "bool")
        if mask.dtype != "bool" or mask.shape is None or not 2 <= len(mask.shape) <= 4:
            expected = "an attention_mask of bool, (steps, others), (batch, steps, others) or with heads as second axis"
            raise mistake(self, f"Expected {expected}, got {describe(mask)}", TypeError)
        return expand_dims(mask, axis={2: (0, 1), 3: 1}[len(mask.shape)]) if len(mask.shape) < 4 else mask


def _shaped(x, like, rest):
    """Reshapes x to the first two extents of `like` and the rest."""
    extents = like.shape[:2]
    if None not in extents or extents.count(None) == 1:
        return reshape(x, (*(-1 if extent is None else extent for extent in extents), *rest))
    first = expand_dims(like[:, :, 0], axis=range(2, 2 + len(rest)))
    return apply("reshape_like", [x, tile(first, (1, 1, *rest))])
