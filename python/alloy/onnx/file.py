"""Reads ONNX files into plain lists of nodes, whose tensors are NumPy arrays."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, TensorProto, numpy_helper

from alloy.engine.arrays import as_path, memory_for
from alloy.messages.location import mistake

OPSETS = range(13, 23)
_ELEMENTS_DECIDE = "the shape of its result depends on elements, and Alloy's shapes on shapes"
_SEQUENCES = "Alloy has no sequences and no optional values, only tensors"
_TEXTS = "Alloy has no tensors of texts"
_QUANTIZED = "Alloy convolves floats; dequantize before it"
_LOOPS = "loops are not built; export the model with the steps written out, or use LSTM, GRU or RNN"
_SAMPLES = "Alloy has no op that samples images at places of a tensor"
# ONNX's ops of these opsets that are refused, with the reason.
REFUSED = {
    "Compress": _ELEMENTS_DECIDE,
    "ConcatFromSequence": _SEQUENCES,
    "ConvInteger": _QUANTIZED,
    "DeformConv": _SAMPLES,
    "Det": "Alloy has no determinants",
    "GridSample": _SAMPLES,
    "ImageDecoder": "images are decoded before a run; al.data reads them",
    "Loop": _LOOPS,
    "MaxRoiPool": _SAMPLES,
    "MelWeightMatrix": "its numbers are known before a run; write them into the file",
    "Multinomial": "Alloy draws no classes from logits",
    "NonMaxSuppression": _ELEMENTS_DECIDE,
    "NonZero": _ELEMENTS_DECIDE,
    "Optional": _SEQUENCES,
    "OptionalGetElement": _SEQUENCES,
    "OptionalHasElement": _SEQUENCES,
    "QLinearConv": _QUANTIZED,
    "RegexFullMatch": _TEXTS,
    "RoiAlign": _SAMPLES,
    "STFT": "Alloy has no short-time transforms; DFT is supported",
    "Scan": _LOOPS,
    "Scatter": "ONNX deprecated it in opset 11; ScatterElements is the same",
    "SequenceAt": _SEQUENCES,
    "SequenceConstruct": _SEQUENCES,
    "SequenceEmpty": _SEQUENCES,
    "SequenceErase": _SEQUENCES,
    "SequenceInsert": _SEQUENCES,
    "SequenceLength": _SEQUENCES,
    "SequenceMap": _SEQUENCES,
    "SplitToSequence": _SEQUENCES,
    "StringConcat": _TEXTS,
    "StringNormalizer": _TEXTS,
    "StringSplit": _TEXTS,
    "TfIdfVectorizer": _TEXTS,
    "Unique": _ELEMENTS_DECIDE,
    "Upsample": "ONNX deprecated it in opset 10; Resize is the same",
}
ELEMENTS = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float32",  # no tensor of Alloy has 64-bit floats
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.BOOL: "bool",
    TensorProto.INT8: "int8",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.UINT8: "uint8",
    TensorProto.UINT16: "uint16",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
}
# Inputs that are no weights, where they are floats: factors, bounds, scales.
_FIXED = {
    "Clip": (1, 2),
    "DequantizeLinear": (1,),
    "Dropout": (1,),
    "OneHot": (2,),
    "Pad": (2,),
    "QLinearMatMul": (1, 4, 6),
    "QuantizeLinear": (1,),
    "Range": (0, 1, 2),
    "Resize": (1, 2),
}
# One element that only such ops take is a factor, no weight.
_OF_NUMBERS = {"Div", "Equal", "Expand", "Greater", "Less", "Max", "Min", "Mul", "Pow", "Sqrt", "Sub", "Where"}


@dataclass
class Node:
    """A node: its op, and the names of its inputs, "" for one that is left out, and of its outputs."""

    op: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]

    def __str__(self):
        shown = self.name or next(filter(None, self.outputs), "")
        return f"the node {shown!r} of {self.op}" if shown else f"a node of {self.op}"


@dataclass
class Input:
    """An input: its element type, its shape with None for an extent that the file leaves open, and the names that it
    has for these."""

    name: str
    dtype: str
    shape: list[int | None] | None
    names: list[str] | None


@dataclass(repr=False)
class File:
    """A graph: parameters are the float tensors that a training changes, statistics the names of those that only
    normalisations change, constants the other tensors."""

    path: str
    opset: int
    inputs: list[Input] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    statistics: set[str] = field(default_factory=set)
    constants: dict[str, np.ndarray] = field(default_factory=dict)


def wrong(message: str, kind: type[Exception] = ValueError) -> Exception:
    return mistake("onnx.load", message, kind)


def read(path) -> File:
    """Reads a file. OSError: it cannot be read. ValueError: it is no ONNX file, or of an opset that is not known."""
    path = as_path("onnx.load", path)
    with memory_for("onnx.load", path), open(path, "rb") as file:
        content = file.read()
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, RecursionError, UnicodeDecodeError):
        model = None
    if model is None or not model.HasField("graph") or not model.graph.output:
        raise wrong(f"Expected an ONNX file, got {path}, which holds no graph")
    opset = _opset_of(model, path)
    if model.functions:
        raise wrong(
            f"Expected nodes of ONNX's ops, got the function {model.functions[0].name!r} in {path}; "
            "onnx.inliner.inline_local_functions(model) replaces functions by their nodes"
        )
    try:
        return _Reading(path, opset).graph(model.graph)
    except (UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise wrong(f"Expected an ONNX file, got {path}, which is damaged: {error}") from None


def _opset_of(model, path) -> int:
    versions = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if len(versions) != 1:
        raise wrong(f"Expected one version of ONNX's ops in {path}, got {len(versions)}")
    if versions[0] not in OPSETS:
        to = OPSETS[-1] if versions[0] > OPSETS[-1] else 18
        raise wrong(
            f"Expected an opset from {OPSETS[0]} to {OPSETS[-1]}, got {versions[0]} in {path}; "
            f"onnx.version_converter.convert_version(model, {to}) converts most models"
        )
    return versions[0]


class _Reading:
    def __init__(self, path, opset):
        self._path, self._opset = path, opset

    def graph(self, graph, around: frozenset = frozenset()) -> File:
        """Returns the graph. around: the names that a graph around this one makes."""
        if graph.sparse_initializer:
            raise wrong(f"Expected dense tensors, got the sparse one {_sparse_name(graph)!r} in {self._path}")
        made = File(self._path, self._opset)
        tensors: dict[str, np.ndarray] = {}
        for tensor in graph.initializer:
            if not tensor.name or tensor.name in tensors:
                raise wrong(f"Expected tensors of different names in {self._path}, got {tensor.name!r} again")
            tensors[tensor.name] = self.array(tensor, f"the tensor {tensor.name!r}")
        made.inputs = [self._input(value) for value in graph.input if value.name not in tensors]
        made.nodes = [self._node(node, around | {*tensors}) for node in graph.node]
        made.outputs = [value.name for value in graph.output]
        known = {"", *around, *tensors, *(each.name for each in made.inputs)}
        for node in made.nodes:
            for name in node.inputs:
                if name not in known:
                    raise wrong(f"Expected {name!r}, which {node} takes, made before it, got no such tensor")
            for name in filter(None, node.outputs):
                if name in known:
                    raise wrong(f"Expected each tensor made once, got {name!r} of {node} again")
                known.add(name)
        for name in made.outputs:
            if name not in known or not name:
                raise wrong(f"Expected the output {name!r} of {self._path} made by a node, got no such tensor")
        for node in made.nodes:
            if node.op == "BatchNormalization":
                made.statistics.update(node.inputs[3:5])
        fixed = {node.inputs[i] for node in made.nodes for i in _FIXED.get(node.op, ()) if i < len(node.inputs)}
        uses: dict[str, set[str]] = {}
        for node in made.nodes:
            for name in node.inputs:
                uses.setdefault(name, set()).add(node.op)
        for name, array in tensors.items():
            # A number by itself is no weight: exporters write factors and bounds in this way.
            is_weight = array.dtype.name in ("float32", "float16", "bfloat16") and array.ndim and array.size
            is_weight = is_weight and name not in fixed and not around
            if array.size == 1 and uses.get(name, set()) <= _OF_NUMBERS:
                is_weight = False
            (made.parameters if is_weight else made.constants)[name] = array
        return made

    def _input(self, value) -> Input:
        kind = value.type.tensor_type
        if value.type.WhichOneof("value") != "tensor_type" or kind.elem_type not in ELEMENTS:
            given = value.type.WhichOneof("value") or "nothing"
            given = _type_name(kind.elem_type) if given == "tensor_type" else given.replace("_type", "")
            raise wrong(f"Expected tensors of numbers as inputs of {self._path}, got {given} as {value.name!r}")
        shape, names = None, None
        if kind.HasField("shape"):
            names = [dim.dim_param for dim in kind.shape.dim]
            shape = [
                dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None for dim in kind.shape.dim
            ]
        return Input(value.name, ELEMENTS[kind.elem_type], shape, names)

    def _node(self, node, around) -> Node:
        made = Node(_text(node.op_type), _text(node.name), list(node.input), list(node.output), {})
        if node.domain not in ("", "ai.onnx"):
            raise wrong(f"Expected ONNX's own ops in {self._path}, got {made} of the domain {node.domain!r}")
        for attribute in node.attribute:
            if attribute.name in made.attributes:
                raise wrong(f"Expected each attribute once, got {attribute.name!r} of {made} again")
            made.attributes[attribute.name] = self._value(attribute, made)
        self._require_definition(made)
        return made

    def _require_definition(self, node):
        """Raises ValueError unless the node has the inputs, outputs and attributes that ONNX defines for its op."""
        if node.op in REFUSED:
            raise wrong(f"Expected ops that are supported, got {node}; {REFUSED[node.op]}")
        if not onnx.defs.has(node.op, self._opset):
            raise wrong(f"Expected ops of opset {self._opset}, got {node} in {self._path}")
        definition = onnx.defs.get_schema(node.op, self._opset)
        for kind, given, least, most in (
            ("inputs", node.inputs, definition.min_input, definition.max_input),
            ("outputs", node.outputs, definition.min_output, definition.max_output),
        ):
            if not least <= len(given) <= most:
                count = least if least == most else f"{least} or more" if most > 2**20 else f"{least} to {most}"
                raise wrong(f"Expected {count} {kind} of {node}, got {len(given)}")
        for name in node.attributes:
            if name not in definition.attributes:
                raise wrong(f"Expected no attribute {name!r}, which ONNX does not define, of {node}")

    def _value(self, attribute, node):
        kind, what = attribute.type, f"the attribute {attribute.name!r} of {node}"
        if attribute.ref_attr_name:
            raise wrong(f"Expected a value as {what}, got a reference to {attribute.ref_attr_name!r}")
        if kind == AttributeProto.FLOAT:
            return attribute.f
        if kind == AttributeProto.INT:
            return attribute.i
        if kind == AttributeProto.STRING:
            return attribute.s.decode("utf-8", "replace")
        if kind == AttributeProto.FLOATS:
            return list(attribute.floats)
        if kind == AttributeProto.INTS:
            return list(attribute.ints)
        if kind == AttributeProto.STRINGS:
            return [text.decode("utf-8", "replace") for text in attribute.strings]
        if kind == AttributeProto.TENSOR:
            return self.array(attribute.t, what)
        if kind == AttributeProto.GRAPH:
            return attribute.g  # read where its names are known
        raise wrong(f"Expected numbers, texts or a tensor as {what}, got another type")

    def array(self, tensor, what) -> np.ndarray:
        """Returns the tensor's elements; float64 becomes float32."""
        if tensor.data_type not in ELEMENTS:
            raise wrong(f"Expected numbers in {what}, got {_type_name(tensor.data_type)}")
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor = self._fetched(tensor, what)
        try:
            array = numpy_helper.to_array(tensor)
        except (TypeError, ValueError, OverflowError, MemoryError) as error:
            raise wrong(f"Expected the elements of {what} in {self._path}, got others: {_line(error)}") from None
        if tensor.data_type == TensorProto.BFLOAT16 and array.dtype == np.float32:  # of onnx before 1.19
            from ml_dtypes import bfloat16

            array = array.astype(bfloat16)
        return array.astype(np.float32) if tensor.data_type == TensorProto.DOUBLE else array

    def _fetched(self, tensor, what):
        """Returns a copy with the elements of the file beside this one."""
        from onnx.external_data_helper import load_external_data_for_tensor

        copy = TensorProto()
        copy.CopyFrom(tensor)
        place = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
        try:
            load_external_data_for_tensor(copy, os.path.dirname(os.path.abspath(self._path)))
        except Exception as error:  # onnx raises its own types, OSError and ValueError
            raise wrong(f"Expected the elements of {what} in {place!r} beside {self._path}: {_line(error)}") from None
        return copy


def inner(graph, file: File, around) -> File:
    """Reads the graph of an attribute. around: the names that may be used in it."""
    return _Reading(file.path, file.opset).graph(graph, frozenset(around))


def _sparse_name(graph):
    return graph.sparse_initializer[0].values.name


def _text(name) -> str:
    """Returns a name, also of a damaged file, for which Protocol Buffers give bytes."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _type_name(number) -> str:
    return TensorProto.DataType.Name(number).lower() if number in TensorProto.DataType.values() else f"type {number}"


def _line(error) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200]
