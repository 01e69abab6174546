"""Writes the computation of a model as an ONNX file."""

from onnx import helper

from alloy._core import Tensor, Variable
from alloy.messages.location import mistake
from alloy.nn import BatchNorm, Layer
from alloy.onnx.model import Model
from alloy.onnx.writer import OPSET, WRITTEN, Writer, as_numbers, as_proto
from alloy.onnx.written import NOT_WRITTEN
from alloy.ops.apply import Applied

_LARGEST = 2**31 - 2**20  # bytes of a file; Protocol Buffers hold less than 2 GiB


def to_bytes(
    inputs: dict[str, Tensor],
    outputs: dict[str, Tensor],
    applied: list[Applied],
    *,
    rows: int | None = None,
    model: Layer | None = None,
) -> bytes:
    """Returns an ONNX file that computes the outputs of the inputs, by their names. applied: the ops on the way.
    rows: of each batch; None: any number. model: its normalisations have the momentum.

    ValueError: ONNX cannot express an op, or the file would be too large."""
    writer = Writer(applied)
    writer.momenta = _momenta(model) if model is not None else {}
    for name, tensor in inputs.items():
        writer.names[tensor] = writer.free(name)
    for name in outputs:
        writer.free(name)
    needed, leaves = _needed(writer, list(outputs.values()))
    _write_leaves(writer, leaves)
    for one in applied:
        if id(one) in needed and not all(result in writer.names for result in one.results):
            if one.op not in WRITTEN:
                raise writer.refused(one, NOT_WRITTEN.get(one.op, ""))
            made = WRITTEN[one.op](writer, one)
            for result, name in zip(one.results, made if isinstance(made, list) else [made]):
                writer.names.setdefault(result, name)
    nodes = [*writer.nodes]
    for name, tensor in outputs.items():
        nodes.append(helper.make_node("Identity", [writer.name_of(tensor)], [name], name))
    nodes, used = _live(nodes, outputs)
    size = sum(array.nbytes for name, array in writer.tensors.items() if name in used)
    if size > _LARGEST:
        raise mistake("export", f"Expected tensors of less than 2 GiB, which an ONNX file can hold, got {size:,} bytes")
    graph = helper.make_graph(
        nodes,
        "model",
        [_info(name, tensor, rows) for name, tensor in inputs.items()],
        [_info(name, tensor, rows) for name, tensor in outputs.items()],
        [as_proto(name, array) for name, array in writer.tensors.items() if name in used],
    )
    file = helper.make_model(graph, producer_name="alloy", opset_imports=[helper.make_opsetid("", OPSET)])
    file.ir_version = 8  # that of opset 18
    return file.SerializeToString()


def _momenta(model) -> dict[Tensor, float]:
    """Returns the momentum of each moving mean."""
    found = {}
    for layer in model._tree():
        if isinstance(layer, BatchNorm) and layer.graph is not None:
            found[layer._variables[-2]] = layer.momentum
        elif isinstance(layer, Model) and layer.graph is not None:
            found |= layer._momenta()
    return found


def _needed(writer, outputs):
    """Returns the ids of the ops that the outputs need, and the tensors that none of them makes."""
    needed, leaves, pending, seen = set(), [], list(outputs), set()
    while pending:
        tensor = pending.pop()
        if tensor in seen or tensor in writer.names:
            continue
        seen.add(tensor)
        one = writer.made.get(tensor)
        if one is None:
            leaves.append(tensor)
        elif id(one) not in needed:
            needed.add(id(one))
            pending += one.operands
    return needed, leaves


def _write_leaves(writer, leaves):
    """Names variables and constants, and refuses other tensors."""
    if not leaves:
        return
    graph = leaves[0].graph
    ops = {result: op for op in graph.inspect(fetches=leaves) for result in op.results}
    variables = [leaf for leaf in leaves if isinstance(leaf, Variable)]
    for variable, array in zip(variables, graph.read_variables(variables) if variables else ()):
        writer.names[variable] = writer.free(variable.name or "variable")
        writer.tensors[writer.names[variable]] = array
    constants = [leaf for leaf in leaves if leaf not in writer.names and ops[leaf].kind == "constant"]
    for constant, array in zip(constants, graph.run(constants) if constants else ()):
        writer.names[constant] = writer.free(constant.name or "constant")
        writer.tensors[writer.names[constant]] = array
    for leaf in leaves:
        if leaf not in writer.names:
            op = ops[leaf]
            raise writer.refused(Applied(op.kind, [], {}, [], op.location), NOT_WRITTEN.get(op.kind, ""))


def _live(nodes, outputs):
    """Returns the nodes that the outputs need, and the names that they use."""
    used, live = set(outputs), []
    for node in reversed(nodes):
        if any(name in used for name in node.output):
            live.append(node)
            used.update(node.input)
    return live[::-1], used


def _info(name, tensor, rows):
    shape = None
    if tensor.shape is not None:
        shape = [f"{name}_{axis}" if extent is None else extent for axis, extent in enumerate(tensor.shape)]
        if shape and tensor.shape[0] is None:
            shape[0] = rows or "batch"
    return helper.make_tensor_value_info(name, as_numbers(tensor.dtype), shape)
