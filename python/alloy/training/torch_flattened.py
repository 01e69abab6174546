"""Which tensors are images made flat, or become images: PyTorch, which keeps channels before places, has the elements
of these in another order.

What convolutions and pooling give are images, or sequences, that PyTorch has with the channels first; ops that compute
element by element keep them so. All else that is made of them is mixed: nothing is known of it."""

import math

__all__ = ["Flattened"]

_WINDOWS = {
    "avg_pool2d",
    "avg_pool4d",
    "conv2d",
    "conv2d_data_gradient",
    "conv3d",
    "conv3d_data_gradient",
    "max_pool2d",
    "max_pool4d",
}
_RESHAPES = {"reshape", "reshape_like"}
_SAME_AXES = {"concat", "expand_dims", "pad", "slice", "squeeze"}  # whose result may have other extents
_MIXING = {"for_loop", "gather", "gru", "if_else", "lstm", "matmul", "rnn", "transpose", "while_loop"}
_SHAPES = {"count", "shape_of"}  # which say nothing of their operands' elements


class Flattened:
    """Found in a graph. An order is the shape (places..., channels) of what is flat along the last axis; UNSURE where
    PyTorch may have either order; None where the two are one."""

    UNSURE = "unsure"

    def __init__(self, graph):
        self._images: set[int] = set()
        self._mixed: set[int] = set()
        self._orders: dict[int, object] = {}  # of tensors that were images
        self._fixed: set[int] = set()  # constants and variables
        self._neutral: set[int] = set()
        self._origins: dict[int, int] = {}  # of casts: what they cast
        self._becoming: set[int] = set()  # what windows see as images
        self._wanted: dict[int, object] = {}  # orders of tensors that become images
        ops = graph.inspect()
        for op in ops:
            self._follow(op)
        for op in reversed(ops):
            self._trace_back(op)

    def is_image(self, tensor) -> bool:
        return hash(tensor) in self._images

    def order(self, tensor):
        """Of the tensor that a layer is given."""
        return self._orders.get(hash(tensor))

    def wanted(self, tensor):
        """Of a tensor that becomes images; of weights, that of the product with them."""
        return self._wanted.get(hash(tensor))

    # ---- from images on ----

    def _follow(self, op):
        keys = [hash(operand) for operand in op.operands]
        for result in op.results:
            key = hash(result)
            if op.kind in ("constant", "variable"):
                self._fixed.add(key)
            elif op.kind in _WINDOWS:
                self._images.add(key)
            elif op.kind in _RESHAPES:
                self._reshape(op.operands[0], result)
            elif op.kind not in _SHAPES and keys:
                self._pass_on(op, keys, result)
            if op.kind == "cast":
                self._origins[key] = self._origins.get(keys[0], keys[0])

    def _reshape(self, source, result):
        before, after, given, key = source.shape, result.shape, hash(source), hash(result)
        order = self._orders.get(given)
        if order is not None:
            if after and order == tuple(after[1:]):
                self._images.add(key)
            else:
                self._orders[key] = order if after and before and after[-1] == before[-1] else self.UNSURE
        elif _is_flat(before, after):
            if given in self._images:
                self._orders[key] = tuple(before[1:])
            elif len(after) == 2 and (given in self._mixed or len(before) > 3):
                self._orders[key] = self.UNSURE
        elif given in self._images | self._mixed and not _is_one_place(before):
            self._mixed.add(key)

    def _pass_on(self, op, keys, result):
        given = [operand for operand, key in zip(op.operands, keys) if key not in self._fixed]
        self._pass_axes_on(op, given, result)
        self._pass_order_on(op, given, result)

    def _pass_axes_on(self, op, given, result):
        if op.kind in _SAME_AXES:
            placed = given if op.kind == "concat" else given[:1]
        else:
            placed = [operand for operand in given if _is_alike(operand.shape, result.shape)]
        placed = [operand for operand in placed if not _is_one_place(operand.shape)]
        if placed and op.kind not in _MIXING and all(self.is_image(operand) for operand in placed):
            self._images.add(hash(result))
        elif any(hash(operand) in self._images | self._mixed for operand in given) and len(result.shape or "many") > 2:
            self._mixed.add(hash(result))

    def _pass_order_on(self, op, given, result):
        shape = result.shape
        if op.kind not in _MIXING | {"concat"} and all(self._is_neutral(operand) for operand in given):
            self._neutral.add(hash(result))
            return
        orders = {self._orders[hash(operand)] for operand in given if hash(operand) in self._orders}
        if not orders or op.kind == "matmul" or shape is None or len(shape) < 2 or shape[-1] == 1:
            return
        same = [operand for operand in given if not self._is_neutral(operand)]
        kept = all(hash(operand) in self._orders and operand.shape[-1:] == shape[-1:] for operand in same)
        self._orders[hash(result)] = (
            orders.pop() if kept and len(orders) == 1 and op.kind not in _MIXING else self.UNSURE
        )

    def _is_neutral(self, operand):
        """Whether it is alike for all elements along the last axis but for a layer's own parameters."""
        return hash(operand) in self._neutral or (operand.shape is not None and operand.shape[-1:] in ((), (1,)))

    # ---- and back from them ----

    def _trace_back(self, op):
        keys = [hash(operand) for operand in op.operands]
        for result in op.results:
            key = hash(result)
            if op.kind in _WINDOWS:
                self._becoming.update(keys)
            elif op.kind in _RESHAPES:
                self._unflatten(op.operands[0], result)
            elif op.kind == "matmul" and key in self._wanted:
                weights = keys[1]
                self._want(self._origins.get(weights, weights), self._wanted[key])
            elif op.kind not in _MIXING | _SHAPES:
                for operand, own in zip(op.operands, keys):
                    if key in self._becoming and (operand.shape == result.shape or op.kind in _SAME_AXES):
                        self._becoming.add(own)
                    if key in self._wanted and operand.shape == result.shape:
                        self._want(own, self._wanted[key])

    def _unflatten(self, source, result):
        if _is_flat(result.shape, source.shape) and self._orders.get(hash(source)) is None:
            if hash(result) in self._becoming:
                self._want(hash(source), tuple(result.shape[1:]))
            elif len(source.shape) == 2 and len(result.shape) > 3:
                self._want(hash(source), self.UNSURE)

    def _want(self, key, order):
        self._wanted[key] = order if self._wanted.get(key, order) == order else self.UNSURE


def _is_flat(before, after) -> bool:
    """Whether a reshape between the two makes places and channels one axis, in an order that matters."""
    if before is None or after is None or len(before) < 3 or len(after) < 2 or None in before[1:] or after[-1] is None:
        return False
    return math.prod(before[1:]) == after[-1] and before[-1] > 1 and not _is_one_place(before)


def _is_alike(shape, result) -> bool:
    """Whether the shapes are one but for extents of 1."""
    return (
        shape is not None
        and result is not None
        and len(shape) == len(result)
        and all(a == b or 1 in (a, b) for a, b in zip(shape, result))
    )


def _is_one_place(shape) -> bool:
    return shape is not None and len(shape) > 1 and all(extent == 1 for extent in shape[1:-1])
