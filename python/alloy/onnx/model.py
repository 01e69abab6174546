"""A layer made of an ONNX file."""

import re
from typing import Any

import numpy as np

from alloy._core import Graph, Tensor
from alloy.engine.scope import is_scoped
from alloy.engine.structure import leaves
from alloy.messages.location import mistake
from alloy.messages.text import describe, type_text
from alloy.nn.layer import Layer
from alloy.nn.operands import graph_of
from alloy.onnx import static
from alloy.onnx.extents import names_of
from alloy.onnx.file import File, Input, Node, inner, read
from alloy.onnx.node import NodeAtWork, Value, as_tensor
from alloy.onnx.ops import SUPPORTED
from alloy.ops import cast, identity

_DRAWING = ("Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli")


def load(path) -> "Model":
    """Makes a layer of an ONNX file, of opset 13 to 22; docs/onnx.md lists the ops.

        model = al.onnx.load("resnet.onnx")
        trainer = al.Trainer(model, "softmax_cross_entropy", al.SGD(0.01))
        trainer.fit((images, classes), epochs=3)

    Images are as in the file: (n, channels, height, width). ValueError: the file is damaged, of another opset, or has
    an op that is refused; the message says why. OSError: it cannot be read."""
    return Model(path)


class Model(Layer):
    """A layer that computes the graph of an ONNX file. x: a tensor for its one input; for several, a dict by their
    names, or a tuple or list in their order. Result: a tensor for its one output; for several, a dict by their names.

    Variables are the file's float tensors, with their names; numbers by themselves and integers are constants. While
    training, BatchNormalization takes the batch's statistics and moves its mean and variance, which are not trainable,
    unless the layer is not trainable, and Dropout drops. What the file says about training does not count.

    ValueError: tensors do not fit the file's inputs, or an op refuses its operands; the message names the node."""

    def __init__(self, path):
        super().__init__()
        self._file = read(path)

    def _new_path(self, graph: Graph) -> str:
        """Returns no path for an outermost layer, so that variables have the file's names, if none of these is
        taken."""
        taken = {variable.name for variable in graph.variables}
        is_free = taken.isdisjoint([*self._file.parameters, "state"])
        return "" if self.name is None and not is_scoped(graph) and is_free else super()._new_path(graph)

    def build(self, x):
        graph = leaves(x)[0].graph
        for name, array in self._file.parameters.items():
            values = array.astype(np.float32, copy=False)
            self.add_variable(graph, name, lambda seed, values=values: values, name not in self._file.statistics)
        if any(node.op in _DRAWING for node in self._file.nodes):
            self._random_state(graph)

    def _momenta(self) -> dict[Tensor, float]:
        """Returns the momentum of each moving mean, of a layer that has been called."""
        variables = dict(zip(self._file.parameters, self._variables))
        nodes = [node for node in self._file.nodes if node.op == "BatchNormalization" and node.inputs[3] in variables]
        return {variables[node.inputs[3]]: node.attributes.get("momentum", 0.9) for node in nodes}

    def forward(self, x, training) -> Any:
        graph = graph_of(self, x, {})
        values: dict[str, Value | None] = {"": None, **self._file.constants, **self._inputs(x)}
        for variable, (name, array) in zip(self._variables, self._file.parameters.items()):
            values[name] = cast(variable, array.dtype.name)
        building = _Building(self, graph, training, values)
        building.name(self._file.inputs)
        building.run(self._file)
        found = {name: building.result(name) for name in self._file.outputs}
        return found if len(found) > 1 else found[self._file.outputs[0]]

    def _inputs(self, x) -> dict[str, Tensor]:
        """Returns the tensors by the inputs' names, in the inputs' types."""
        expected = self._file.inputs
        names = [each.name for each in expected]
        given = dict(x) if isinstance(x, dict) else dict(zip(names, leaves(x)))
        if set(given) != set(names) or len(leaves(x)) != len(names):
            what = f"{len(leaves(x))} tensors" if not isinstance(x, dict) else f"tensors of the names {[*x]}"
            raise mistake(self, f"Expected a tensor for each input of {self._file.path}, {names}, got {what}")
        for each in expected:
            tensor, shape = given[each.name], given[each.name].shape
            fits = shape is None or each.shape is None or len(shape) == len(each.shape)
            if fits and shape is not None and each.shape is not None:
                fits = all(m is None or n is None or m == n for m, n in zip(shape, each.shape))
            if not fits:
                raise mistake(
                    self,
                    f"Expected {type_text(each.dtype, each.shape)} as the input {each.name!r} of {self._file.path}, "
                    f"got {describe(tensor)}",
                )
        return {each.name: cast(given[each.name], each.dtype) for each in expected}


class _Building:
    """The nodes of a file as ops of a graph."""

    def __init__(self, model: Model, graph: Graph, training: bool, values: dict[str, Value | None]):
        self._model, self._graph, self._training, self._values = model, graph, bool(training), values
        # What is known of integers that depend on shapes: arrays with a static.Unknown in some places.
        self._partly: dict[Tensor, np.ndarray] = {}
        self._names: dict[Tensor, list] = {}  # of open extents
        self._origins: dict[Any, tuple[Tensor, int]] = {}  # by the name: where the extent was first

    def name(self, inputs: list[Input]) -> None:
        """Names the open extents of the inputs as the file does."""
        for each in inputs:
            tensor, given = self._values[each.name], each.names
            if isinstance(tensor, Tensor) and tensor.shape is not None:
                of_file = given if given is not None and len(given) == len(tensor.shape) else [None] * len(tensor.shape)
                named = enumerate(zip(tensor.shape, of_file))
                names = [None if extent is not None else name or (each.name, i) for i, (extent, name) in named]
                self._enter(tensor, names)

    def run(self, file: File) -> None:
        for node in file.nodes:
            try:
                made = self._outputs(node, file)
                if len(made) < len([name for name in node.outputs if name]):
                    raise ValueError(f"it has {len(made)} outputs, not {len(node.outputs)}")
            except Exception as error:  # of a damaged file anything may be wrong
                raise _named(error, node) from error
            self._values.update((name, value) for name, value in zip(node.outputs, made) if name)

    def result(self, name: str) -> Tensor:
        """Returns the output as a tensor of its own."""
        value = self._values[name]
        assert value is not None
        return identity(as_tensor(self._graph, value)) if not isinstance(value, Tensor) else value

    def _branch(self, graph, file: File) -> list[Value]:
        """Returns the outputs of a graph in a node."""
        chosen = inner(graph, file, self._values)
        within = _Building(self._model, self._graph, self._training, self._values | chosen.constants)
        within._partly, within._names, within._origins = self._partly, self._names, self._origins
        within.run(chosen)
        return [value for name in chosen.outputs if (value := within._values[name]) is not None]

    def _outputs(self, node: Node, file: File) -> list[Value]:
        inputs = [self._values[name] for name in node.inputs]
        partly = [self._known(value) for value in inputs]
        work = NodeAtWork(node, file.opset, self._graph, inputs, partly, self._model, self._training)
        work.within, work.names = lambda graph: self._branch(graph, file), self._names_of
        work.origin = self._origins.get
        known = static.evaluated(work, partly)
        if known is not None and static.is_whole(known):
            return [static.plain(known)]
        made = SUPPORTED[node.op].build(work)
        work.require_all_read()
        made = made if isinstance(made, list) else [made]
        for each in made:
            if isinstance(each, Tensor) and each not in self._names:
                self._enter(each, names_of(work, each, self._names_of))
        if known is not None and isinstance(made[0], Tensor):
            self._partly[made[0]] = known
        return made

    def _enter(self, tensor: Tensor, names: list) -> None:
        self._names[tensor] = names
        for axis, name in enumerate(names):
            if name is not None:
                self._origins.setdefault(name, (tensor, axis))

    def _names_of(self, tensor: Tensor) -> list:
        return self._names.get(tensor) or [None] * len(tensor.shape or ())

    def _known(self, value):
        return self._partly.get(value, value) if isinstance(value, Tensor) else value


def _named(error, node) -> Exception:
    """Returns an error that names the node."""
    if isinstance(error, MemoryError):
        return mistake("onnx", f"There is no memory for {node}", MemoryError)
    if isinstance(error, RuntimeError) and not isinstance(error, (RecursionError, NotImplementedError)):
        return error
    text = " ".join(str(error).split()).rstrip(".")
    if f"for {node}" in text:
        return error
    text = re.sub(r"(; in [^;]+)?; (built )?at [^;]+$", "", text)  # the line is the same
    if isinstance(error, LookupError):
        text = f"{type(error).__name__}: {text}"
    return mistake("onnx", f"Cannot build {node}: {text}", TypeError if isinstance(error, TypeError) else ValueError)
