import math
from collections.abc import Callable

from alloy.engine.arrays import as_count
from alloy.engine.dtypes import is_float, is_integer
from alloy.init import uniform
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.affine import initial, require_init
from alloy.nn.layer import Layer
from alloy.nn.settings import settings
from alloy.ops import cast, clamp, equal, expand_dims, gather, where
from alloy.ops.apply import require_tensor


class Embedding(Layer):
    """Looks up a row of a table for each id: integers (...) become (..., output_dim).

    input_dim: the number of ids, from 0. An id outside gives NaN, which the loss shows and a Trainer stops at. dtype:
    "bfloat16" or "float16" converts the rows, so that later layers compute in it, while the table stays float32.
    None: the type of the training, Trainer(dtype=...), or else float32. init: a function of al.init for the table.
    weights: (input_dim, output_dim). TypeError: x has no integers."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        *,
        init: Callable = uniform,
        dtype: str | None = None,
        seed: int | None = None,
    ):
        super().__init__(seed=seed)
        self.input_dim = as_count(self, "input_dim, the number of ids,", input_dim)
        self.output_dim = as_count(self, "output_dim, the length of a row,", output_dim)
        self.init = require_init(self, init)
        if dtype is not None and not is_float(dtype):
            raise mistake(self, f"Expected the dtype float32, float16 or bfloat16, got {dtype!r}")
        self.dtype = dtype

    def build(self, x):
        require_tensor(self, x)
        shape = self.input_dim, self.output_dim
        self.add_variable(x.graph, "weights", lambda seed: initial(self, self.init, shape, seed))

    def forward(self, x, training):
        require_tensor(self, x)
        if not is_integer(x.dtype):
            raise mistake(self, f"Expected ids of an integer type, got {describe(x)}", TypeError)
        if x.dtype not in ("int32", "int64"):
            x = cast(x, "int64" if x.dtype == "uint64" else "int32")
        safe = clamp(x, 0, self.input_dim - 1)
        rows = cast(gather(self._variables[0], safe, axis=0), self.dtype or settings().dtype)
        return where(expand_dims(equal(safe, x), axis=-1), rows, math.nan)
