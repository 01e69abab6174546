"""Damages ONNX files, loads and builds each, and prints what is no answer: anything but a layer or one sentence.

python tests/python/onnx/onnx_mutants.py COUNT [FIRST]     COUNT files, from number FIRST on"""

import pathlib
import re
import resource
import signal
import sys
import tempfile
import time

import numpy as np
import onnx

import alloy as al

FOLDER = pathlib.Path(__file__).parents[2] / "goldens" / "onnx"
SECONDS, BYTES = 20, 6 * 2**30
SENTENCE = re.compile(r"\[[\w.]+\] [^\n]+\.")


def of_bytes(content: bytes, random) -> bytes:
    """The file with bytes changed, left out, doubled, or with an end that is missing."""
    damaged = bytearray(content)
    for _ in range(random.integers(1, 4)):
        at, length = int(random.integers(len(damaged))), int(random.integers(1, 40))
        kind = random.integers(5)
        if kind == 0:
            damaged[at] = random.integers(256)
        elif kind == 1:
            damaged[at] ^= 1 << random.integers(8)
        elif kind == 2:
            del damaged[at : at + length]
        elif kind == 3:
            damaged[at:at] = damaged[at : at + length]
        elif random.integers(4) == 0:
            del damaged[at:]
        if not damaged:
            break
    return bytes(damaged)


NUMBERS = [0, 1, -1, 2, 3, 7, -2, 100, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63)]
WORDS = ["", "x", "SAME_UPPER", "nearest", "linear", "sum", "add", "reverse", "bidirectional", "\0", "é" * 40]
OPS = sorted({schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain})


def pick(random, values):
    return values[int(random.integers(len(values)))]


def of_parts(content: bytes, random) -> bytes:
    """The file with nodes, attributes, tensors and names changed for others."""
    model = onnx.load_from_string(content)
    graph = model.graph
    for _ in range(random.integers(1, 4)):
        node, tensor = pick(random, graph.node), pick(random, graph.initializer)
        names = [name for each in graph.node for name in (*each.input, *each.output)]
        kind = random.integers(16)
        if kind == 0:
            node.op_type = pick(random, OPS)
        elif kind == 1 and node.attribute:
            del node.attribute[int(random.integers(len(node.attribute)))]
        elif kind == 2 and node.attribute:
            attribute = pick(random, node.attribute)
            attribute.i, attribute.f = pick(random, NUMBERS), float(pick(random, NUMBERS))
            attribute.s = pick(random, WORDS).encode()
        elif kind == 3 and node.attribute:
            attribute = pick(random, node.attribute)
            values = [pick(random, NUMBERS) for _ in range(random.integers(0, 5))]
            attribute.ints[:] = values
        elif kind == 4 and node.attribute:
            pick(random, node.attribute).type = int(random.integers(0, 15))
        elif kind == 5:
            node.attribute.append(
                onnx.helper.make_attribute(pick(random, ["axis", "to", "axes", "group", "perm"]), pick(random, NUMBERS))
            )
        elif kind == 6 and node.input:
            node.input[int(random.integers(len(node.input)))] = pick(random, names)
        elif kind == 7 and node.input:
            del node.input[int(random.integers(len(node.input)))]
        elif kind == 8:
            node.input.append(pick(random, names))
        elif kind == 9 and len(tensor.dims):
            tensor.dims[int(random.integers(len(tensor.dims)))] = pick(random, NUMBERS)
        elif kind == 10:
            tensor.data_type = int(random.integers(0, 26))
        elif kind == 11 and len(tensor.raw_data) >= 8:
            values = np.full(max(len(tensor.raw_data) // 8, 1), pick(random, NUMBERS), np.int64).tobytes()
            tensor.raw_data = (values * 2)[: len(tensor.raw_data)]
        elif kind == 12:
            for each in model.opset_import:
                each.version = int(random.integers(10, 25))
        elif kind == 13:
            shape = pick(random, graph.input).type.tensor_type.shape
            if shape.dim:
                pick(random, shape.dim).dim_value = pick(random, NUMBERS)
        elif kind == 14:
            constants = [each for each in graph.node if each.op_type == "Constant" and each.attribute]
            if constants:
                value = pick(random, constants).attribute[0].t
                if value.data_type == onnx.TensorProto.INT64 and len(value.raw_data) % 8 == 0 and value.raw_data:
                    count = len(value.raw_data) // 8
                    value.raw_data = np.array([pick(random, NUMBERS) for _ in range(count)], np.int64).tobytes()
        elif kind == 15:
            graph.node.append(graph.node[0])
    return model.SerializeToString()


def answer(path, shape, dtype) -> str:
    """What Alloy says to a file: "", or the message; raises for anything else."""
    try:
        model = al.onnx.load(path)
        x = al.Graph().placeholder((None, *shape), dtype)
        model(x, bool(len(shape) % 2))
    except (ValueError, TypeError, MemoryError, OSError) as error:
        assert SENTENCE.fullmatch(str(error)), f"no sentence: {error!r}"
        return str(error)
    return ""


def main(count, first=0):
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    results = dict(np.load(FOLDER / "results.npz"))
    files = sorted(FOLDER.glob("*.onnx"))
    contents = {path: path.read_bytes() for path in files}
    loaded, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "model.onnx")
        for number in range(first, first + count):
            random = np.random.default_rng(number)
            path = pick(random, files)
            damaged = (of_bytes if number % 2 else of_parts)(contents[path], random)
            place.write_bytes(damaged)
            x = results[f"{path.stem}/x"]
            print(f"mutant {number} of {path.name}", file=sys.stderr, flush=True)  # the last line if the process ends
            signal.alarm(SECONDS)
            begin = time.monotonic()
            try:
                loaded += not answer(place, x.shape[1:], x.dtype)
            except BaseException as error:
                wrong += 1
                print(f"mutant {number} of {path.name}: {type(error).__name__}: {error}")
            signal.alarm(0)
            if time.monotonic() - begin > SECONDS / 2:
                print(f"mutant {number} of {path.name} took {time.monotonic() - begin:.0f} s")
    print(f"{count} files: {loaded} built, {count - loaded - wrong} refused, {wrong} wrong")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
