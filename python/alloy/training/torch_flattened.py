"""Which layers' inputs are images made flat: PyTorch, which keeps channels before places, has them in another order."""

import math

__all__ = ["Flattened"]

# What gives images, or sequences, with the channels last that PyTorch has with the channels first.
_OF_WINDOWS = {
    "conv2d",
    "conv2d_data_gradient",
    "conv3d",
    "conv3d_data_gradient",
    "max_pool2d",
    "avg_pool2d",
    "max_pool4d",
    "avg_pool4d",
}
_OF_SHAPES = {"reshape", "reshape_like"}
_SAME_AXES = {"squeeze", "expand_dims", "pad", "slice", "cast", "select"}
_WITHOUT_RESULT = {"constant", "variable", "shape_of", "count"}


class Flattened:
    """Found in a graph: order(tensor) is None where the tensor's last axis has PyTorch's order; the shape (..., places,
    channels) of the examples that were made flat; or UNSURE where PyTorch may have either."""

    UNSURE = "unsure"

    def __init__(self, graph):
        self._images: set[int] = set()  # tensors that have channels last and that PyTorch has with channels first
        self._orders: dict[int, object] = {}
        self._fixed: set[int] = set()  # constants and variables
        for op in graph.inspect():
            self._follow(op)

    def order(self, tensor):
        return self._orders.get(hash(tensor))

    def is_image(self, tensor) -> bool:
        return hash(tensor) in self._images

    def _follow(self, op):
        results = {hash(result): result for result in op.results}
        if op.kind in ("constant", "variable"):
            self._fixed.update(results)
        if op.kind in _WITHOUT_RESULT or not op.operands:
            return
        for key, result in results.items():
            if op.kind in _OF_WINDOWS:
                self._images.add(key)
            elif op.kind in _OF_SHAPES:
                self._reshape(op.operands[0], result)
            elif op.kind not in ("matmul", "transpose", "gather", "softmax"):
                self._pass_on(op, key, result)

    def _reshape(self, source, result):
        before, after = source.shape, result.shape
        if before is None or after is None or None in before[1:] or len(before) < 2 or None in after[1:]:
            return
        key, order = hash(result), self._orders.get(hash(source))
        if len(before) == len(after) == 2 and order is not None:
            self._orders[key] = order if before[1] == after[1] else self.UNSURE
        elif len(after) == 2 and len(before) > 2 and math.prod(before[1:]) == after[1]:
            if before[-1] == 1 or math.prod(before[1:-1]) == 1:
                return  # both orders are one
            if hash(source) in self._images:
                self._orders[key] = before[1:]
            elif len(before) > 3:
                self._orders[key] = self.UNSURE

    def _pass_on(self, op, key, result):
        operands = [operand for operand in op.operands if hash(operand) not in self._fixed]
        alike = [operand for operand in operands if operand.shape == result.shape]
        if op.kind in _SAME_AXES:
            alike = alike or operands[:1]
        if alike and all(hash(operand) in self._images for operand in alike):
            self._images.add(key)
        orders = {self._orders[hash(operand)] for operand in operands if hash(operand) in self._orders}
        if orders and result.shape is not None and len(result.shape) == 2 and result.shape[-1] != 1:
            same = all(operand.shape[-1] == result.shape[-1] for operand in alike) and alike
            self._orders[key] = orders.pop() if len(orders) == 1 and same else self.UNSURE
