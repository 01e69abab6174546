"""Mistakes that users of NumPy, PyTorch and Keras make in their first hour, and what is said: a table, to which every
part of the package adds rows.

A row is a whole message, "TypeError [op] ...", and the programs that get it, each with the words for the braces of the
message. HERE stands for the line that was typed, MADE for a line of WORLD, "..." for any text; where a message
has no full stop, "; at HERE." follows."""

import inspect
import operator
import pathlib
import pydoc
import re
import sys
import types
import warnings

import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from alloy.messages.renames import DEPRECATED, RENAMES
from kinds import HAS_BFLOAT16

WORLD = """
import copy, pickle
import numpy as np
import alloy as al
g = al.Graph()
x, y, flag = g.placeholder((None, 3), name="x"), g.placeholder((None,), "int32", name="y"), g.placeholder((), "bool")
w = g.variable(np.ones((3, 1), np.float32), name="w")
loss = al.mean(x @ w)
step = g.compile([x], [loss], [g.assign(w, w * 0.5)])
model, optimizer = al.nn.Sequential(al.nn.Dense(2)), al.SGD(0.1)
model(x)
scaled = g.compile([x, y], [x * y[:, None].astype("float32")])
A = np.ones((2, 3), np.float32)
"""

# fmt: off
ROWS = [
    ("TypeError [{0}] Expected an array for numpy.{0}, got the tensor {1}(?, 3), which has a value only during a "
     "run; alloy has its own functions of tensors",
     ("np.mean(x)", "mean", "float32"), ("np.exp(x)", "exp", "float32"),
     ("np.concatenate([x, x])", "concatenate", "float32"), ("np.where(x > 0, x, 0)", "where", "bool"),
     ("np.argmax(x, axis=1)", "argmax", "float32")),
    ("TypeError [{0}] Expected an array for numpy.{0}, got the tensor float32(3, 1), which has a value only during "
     "a run; alloy has its own functions of tensors, and w.numpy() is an array",
     ("np.exp(w)", "exp"), ("np.isnan(w)", "isnan")),
    ("TypeError [{}] Expected a value, got the tensor float32({}), which has one only during a run; graph.run(x, "
     "feeds) runs it",
     ("np.array(x)", "array", "?, 3"), ("float(loss)", "float", ""), ("int(loss)", "int", ""),
     ("g.constant(x)", "array", "?, 3"), ("g.constant([x, x])", "array", "?, 3"), ("g.variable(x)", "array", "?, 3"),
     ("step(x)", "array", "?, 3")),
    ("TypeError [round] Expected a value, got the tensor float32(), which has one only during a run; al.rint rounds "
     "it there",
     "round(loss)"),
    ("AttributeError [Tensor] float32(?, 3) has no attribute {}",
     ("x.exp()", "exp; use al.exp"), ("x.shape = (2, 3)", "shape to set"), ('x.name = "a"', "name to set"),
     ("x.foo = 1", "foo to set")),
    ("TypeError [len] Expected a tensor of known length, got float32({})",
     ("len(loss)", ""), ("len(x)", "?, 3")),
    ("TypeError [iter] Expected a sequence, got the tensor float32(?, 3); al.split cuts it up, x[i] is a part",
     "for r in x: pass", "list(x)", "a, c = x", "sum(x)"),
    ("TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got {}; "
     "elements are compared by al.equal and al.not_equal",
     ("x in [1]", "int"), ("x == 1", "int"), ("x != 1", "int"), ("A == x", "ndarray"),
     ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); x == T()', "T")),
    ("TypeError [in] Expected a sequence, got the tensor float32(?, 3); al.any(al.equal(x, value)) asks in a run",
     "1 in x"),
    ("TypeError [bool] Expected a value, got the tensor {}(?, 3), which has one only during a run; al.where chooses "
     "between elements, al.cond between functions",
     ("if x > 0: pass", "bool"), ("x and y", "float32"), ("not x", "float32"), ("max(x, 0)", "bool"),
     ("x > 1 > 0", "bool")),
    ("TypeError [{}] Operands of different types: {} and {}; built at HERE.",
     ("min(x, y)", "less", "int32(?,)", "float32(?, 3)"), ("x + y", "add", "float32(?, 3)", "int32(?,)"),
     ("al.where(x, x, y)", "where", "float32(?, 3)", "int32(?,)")),
    ("TypeError [slice] Expected integers, got the mask bool({}); only a run knows how much it selects; "
     "al.where(mask, x, 0) keeps the shape",
     ("x[x > 0]", "?, 3"), ("x[flag]", "")),
    ("TypeError [slice_update] Tensors do not change, got a value for a part of float32({}); al.slice_update(x, "
     "np.s_[...], value) is a tensor with that part changed",
     ("x[0] = 1", "?, 3"), ("w[0] = 1", "3, 1")),
    ("ValueError [slice] Expected at most 2 indices and one ..., got (0, 0, 0) for float32(?, 3)", "x[0, 0, 0]"),
    ("TypeError [slice] Expected integers, slices, None, ... or arrays of places, got {}",
     ('x["a"]', "str"), ("x[1.0]", "float"), ('al.slice_update(x, "a", 1)', "str")),
    ("ValueError [slice] Index 5 is outside axis 1 of float32(?, 3)", "x[:, 5]"),
    ("TypeError [slice] Expected integers as bounds, got slice(<Tensor 'y' int32(?,)>, None, None); slices by "
     "tensors are not available, x[places] takes a tensor of places",
     "x[y:]"),
    ("TypeError [assign] A variable does not change by {0}=, got <Variable 'w' float32(3, 1)>; graph.assign(w, w "
     "{0} ...) is an update of a step, and x = w {0} ... another tensor",
     ("w += 1", "+"), ("w -= 0.1 * w", "-")),
    ("TypeError [assign] Expected an array for <Variable 'w' float32(3, 1)>, got the tensor float32(?, 3), which "
     "has a value only during a run; graph.assign(w, tensor) is an update of a step",
     "w.assign(x)"),
    ("ValueError [{}] The variable has shape (3, 1) but the value has shape ({}); built at {}.",
     ("w.assign(1)", "variable", "", "MADE"), ("w.assign([[1], [2]])", "variable", "2, 1", "MADE"),
     ("g.assign(w, 1)", "assign", "", "HERE"), ("g.assign(w, x)", "assign", "?, 3", "HERE"),
     ("g.assign_variables([w], [1])", "variable", "", "MADE")),
    ("TypeError [assign] 'w' is float32 but was given an array of int64", "w.assign(np.ones((3,1), int))"),
    ("TypeError [{}] Expected a tensor, a number or an array, got {}",
     ('x + "a"', "add", "str"), ("x + None", "add", "NoneType"), ('x ** "a"', "power", "str"),
     ('g.assign(w, "a")', "assign", "str"), ('al.full_like(x, "a")', "full_like", "str")),
    ("TypeError [add] Expected a tensor, a number or an array, got list; np.array(values, dtype) makes an array of it",
     "x + [1, 2, 3]"),
    ("TypeError [divide] Expected floats beside /, got int32(?,); cast it to float32, or take // for whole numbers",
     "y / 2", "y / y"),
    ("ValueError [matmul] Expected operands of rank 2 or more, got shapes ({}) and ({}); built at HERE.",
     ("x @ 2", "?, 3", ""), ("2 @ x", "", "?, 3")),
    ("TypeError [{}] Expected {} of {} type, got {}; built at HERE.",
     ("~x", "bitwise_not", "operands", "a integer", "float32(?, 3)"),
     ("x & 1", "bitwise_and", "operands", "a integer", "float32(?, 3)"),
     ("x << 1", "left_shift", "operands", "a integer", "float32(?, 3)"),
     ("al.one_hot(x, 3)", "one_hot", "indices", "an integer", "float32(?, 3)"),
     ("al.log(y)", "log", "operands", "a floating", "int32(?,)"),
     ("al.sqrt(y)", "sqrt", "operands", "a floating", "int32(?,)"),
     ("al.exp(y)", "exp", "operands", "a floating", "int32(?,)"),
     ("al.tanh(flag)", "tanh", "operands", "a floating", "bool()")),
    ("TypeError [{}] Expected operands of a number, got bool({}); built at HERE.",
     ("-flag", "negative", ""), ("al.equal(x.argmax(1), y).mean()", "mean", "?,")),
    ("TypeError [add] The value is bool, which cannot hold 1", "flag + 1"),
    ("TypeError [sum] Expected axes of integers, got 'a'", 'x.sum("a")'),
    ("ValueError [sum] Axis 5 is outside a tensor of rank 2; built at HERE.", "x.sum(5)"),
    ("TypeError [argmax] Expected an integer as the axis, got None; built at HERE.", "x.argmax(None)"),
    ("TypeError [reshape] Expected a shape or its dimensions for float32(?, 3), got none", "x.reshape()"),
    ("TypeError [{}] Expected a shape of integers and None, got {}",
     ('x.reshape("a")', "reshape", "['a']"), ("x.reshape(2.0, 3)", "reshape", "[2.0, 3]"),
     ('g.placeholder("x")', "placeholder", "['x']"), ("g.placeholder((1.5,))", "placeholder", "[1.5]")),
    ("ValueError [transpose] Expected a permutation of the 2 axes of shape (?, 3), got (0,); built at HERE.",
     "x.transpose(0)"),
    ("TypeError [{}] Expected an element type such as float32, got {}",
     ('x.astype("float64")', "cast", "float64"), ("x.astype(float)", "cast", "float64"),
     ('x.astype("foo")', "cast", "foo"), ("x.astype(None)", "cast", "None"), ("al.cast(x, None)", "cast", "None"),
     ("g.placeholder((2, 3), float)", "placeholder", "float64"), ('g.placeholder((2, 3), "x")', "placeholder", "x"),
     ("g.placeholder(2, 3)", "placeholder", "3")),
    ("TypeError [{}] Expected a tensor, got ndarray; graph.constant makes one",
     ('al.cast(A, "int32")', "cast"), ("al.mean(A)", "mean"), ("al.expm1(A)", "expm1"),
     ("al.zeros_like(A)", "zeros_like")),
    ("TypeError [{}] Expected a tensor among the operands, got {}; graph.constant makes one",
     ("al.relu(A)", "relu", "ndarray"), ("al.relu(1)", "relu", "int"), ('al.relu("a")', "relu", "str"),
     ("al.relu(None)", "relu", "NoneType"), ("al.relu([x, x])", "relu", "list"),
     ("al.softmax(A)", "softmax", "ndarray"), ("al.concat([], 0)", "concat", "none"),
     ("al.one_hot([0, 1], 3)", "one_hot", "list"), ("al.reshape(A, (3, 2))", "reshape", "ndarray"),
     ("al.identity(A)", "identity", "ndarray")),
    ("TypeError [softmax] Expected a floating type, got int32(?,); built at HERE.", "al.softmax(y)"),
    ("TypeError [{}] Expected a {}, got {}",
     ("al.mean([x, x])", "mean", "tensor", "list"), ("al.random.normal(0, 1, (2, 3))", "random", "tensor", "int"),
     ("al.gradients(2, [w])", "gradients", "tensor", "int"),
     ("al.gradients([loss], [w])", "gradients", "tensor", "list"), ("g.assign(x, w)", "assign", "variable", "Tensor"),
     ('g.assign("w", 1)', "assign", "variable", "str"), ("optimizer.minimize(3.0)", "minimize", "tensor", "float"),
     ("al.data.from_arrays(A).map(3)", "map", "function", "int"), ("al.save(model, 3)", "save", "path", "int")),
    ("TypeError [add] Expected a tensor among the operands, got int, int; graph.constant makes one", "al.add(1, 2)"),
    ("TypeError [{}] Expected a list of {}, got the tensor float32({}); write [it]",
     ("al.concat(x, 0)", "concat", "tensors", "?, 3"), ("al.concat(x, x)", "concat", "tensors", "?, 3"),
     ("al.stack(x)", "stack", "tensors", "?, 3"), ("al.gradients(loss, w)", "gradients", "tensors", "3, 1"),
     ("g.compile(x, loss)", "compile", "feeds", "?, 3"), ("g.compile([x], loss)", "compile", "fetches", ""),
     ("g.compile([x, y], [loss], w)", "compile", "updates", "3, 1"), ("g.verify(x)", "verify", "feeds", "?, 3"),
     ("g.read_variables(w)", "read_variables", "variables", "3, 1")),
    ("ValueError [concat] Shapes (?, 3) and () differ in more than axis 0; built at HERE.", "al.concat((x, 1), 0)"),
    ("TypeError [where] Expected a tensor among the operands, got bool, int, int; graph.constant makes one",
     "al.where(True, 1, 2)"),
    ("ValueError [pad] Expected a mode among 'constant', 'reflect', 'symmetric', 'edge', 'wrap', 'antiperiodic', got "
     "'foo'",
     'al.pad(x, 1, mode="foo")'),
    ("ValueError [pad] Expected a pair (before, after) for each axis, got {}",
     ('al.pad(x, "a")', "'a'"), ("al.pad(x, (1, 1))", "(1, 1)")),
    ("ValueError [one_hot] Expected a depth of 1 or more, got 0", "al.one_hot(y, 0)"),
    ("TypeError [gather] Expected indices of an integer type, got float32(); built at HERE.", "al.gather(x, 1.5)"),
    ("ValueError [conv2d] Expected a source of rank 4, got shape (?, 3); built at HERE.", "al.conv2d(x, w)"),
    ("AttributeError [al] There is no al.dropout; the nearest is al.random.dropout; docs/coming-from.md has the "
     "names of other libraries",
     "al.dropout(x, 0.5)"),
    ("ValueError [orthogonal] Expected a shape (rows, columns), got (3,)", "al.init.orthogonal((3,), seed=0)"),
    ("ValueError [init] Expected a shape of weights, (in, out) or (height, width, in, out), got 3",
     "al.init.glorot_uniform(3, seed=0)"),
    ("TypeError [{}] Expected {}, got {}",
     ("al.gradients(loss, [1])", "gradients", "tensors", "int"),
     ("g.compile([x], [loss], [w])", "compile", "updates", "Variable"),
     ("g.read_variables([x])", "read_variables", "variables", "Tensor")),
    ("TypeError [cond] Expected a tensor as the predicate (Python's if chooses by values that are known now), got "
     "bool",
     "al.cond(True, lambda: x, lambda: x)"),
    ("TypeError [cond] Expected true_fn as a function such as lambda: x, got {}",
     ("al.cond(loss > 0, x, x)", "the tensor float32(?, 3)"),
     ("al.cond(loss > 0, lambda a: x, lambda: x)", "one of (a)")),
    ("TypeError [cond] Expected tensors from the function, got {}",
     ("al.cond(loss > 0, lambda: 1, lambda: 2)", "int"), ("al.cond(loss > 0, lambda: None, lambda: x)", "NoneType")),
    ("TypeError [while_loop] Expected condition as a function such as lambda value: ..., got the tensor float32(?, 3)",
     "al.while_loop(x, x, x)"),
    ("TypeError [scan] Expected body as a function such as lambda value, x: ..., got one of (a)",
     "al.scan(lambda a: a, x, x)"),
    ("TypeError [for_loop] Expected body as a function such as lambda index, value: ..., got one of (i)",
     "al.for_loop(0, 3, lambda i: x, x)"),
    ("TypeError [placeholder] Expected a name as a text, got int", "g.placeholder((2,), name=3)"),
    ("ValueError [placeholder] Expected dimensions of 0 or more and below 2^63, or None, got [-1, 3]",
     "g.placeholder((-1, 3))"),
    ("TypeError [{}] The value is an array of {}, which is no element type here",
     ('g.constant("a")', "constant", "<U1"), ("g.constant(None)", "constant", "object"),
     ('g.variable("a")', "variable", "<U1"), ("g.variable(None)", "variable", "object"),
     ("g.variable(al.init.zeros)", "variable", "object")),
    ("ValueError setting an array element with a sequence...", "g.constant([[1], [2, 3]])"),
    ("TypeError [variable] Expected a value, got (3, 3), which looks like a shape; al.init.zeros((3, 3)) is a value "
     "of that shape, a list of integers a value of these integers",
     "g.variable((3, 3))"),
    ("TypeError [trainable] Expected True or False, got {}",
     ('g.variable(1.0, trainable="no")', "'no'"), ("w.trainable = 0", "0")),
    ("TypeError [compile] Expected a list of updates, got <Update of <Variable 'w' float32(3, 1)> to <Tensor 'w' "
     "float32(3, 1)>>; write [it]",
     "g.compile([x], [loss], g.assign(w, w))"),
    ("TypeError [compile] Expected tensors to feed and fetch, got {}",
     ('g.compile({"x": A}, [loss])', "str"), ('g.compile(["x"], [loss])', "str"), ('g.compile([x], ["loss"])', "str"),
     ("g.compile([x], [None])", "NoneType")),
    ("ValueError [placeholder] The placeholder 'x' is fed twice; built at MADE.", "g.compile([x, x], [loss])"),
    ("ValueError [squeeze] Only a placeholder can be fed, not the result of this op; built at MADE.",
     "g.compile([loss], [loss])"),
    ("ValueError [{}] Expected a number of {} of 1 or more, got 0",
     ("g.compile([x], [loss], steps=0)", "compile", "steps"), ("step.profile(A, runs=0)", "profile", "runs"),
     ("g.most_in_flight = 0", "most_in_flight", "steps"), ("al.set_threads(0)", "set_threads", "threads"),
     ('al.Trainer(model, "hinge", "sgd").fit((A, A), epochs=0)', "fit", "epochs")),
    ("TypeError [compile] Expected a list of {}, got {}",
     ("g.compile([x], None)", "fetches", "NoneType"), ('g.compile("adam", "mse")', "feeds", "str")),
    ("ValueError [executable] Expected 1 feeds ('x' of MADE), got 0 without 'x' of MADE.",
     "step()", "step.submit()"),
    ("ValueError [executable] Expected 1 feeds ('x' of MADE), got 2.", "step(A, A)"),
    ("ValueError [executable] Expected the name of one placeholder among 'x' of MADE, got 'X'.", "step(X=A)"),
    ("ValueError [executable] Expected feeds among 'x' or their names, got {}",
     ("step({w: A})", "<Variable 'w' float32(3, 1)>"), ('step({"z": A})', "'z'"), ("step({1: A})", "1")),
    ("ValueError [placeholder] The placeholder 'x' has shape (?, 3) but was fed shape ({}); built at MADE.",
     ("step([A])", "1, 2, 3"), ("step(A.T)", "3, 2"), ("step(A[0])", "3,"), ("step(w)", "3, 1")),
    ("TypeError [placeholder] '{}', built at MADE, is {} but was given an array of {}",
     ("step(None)", "x", "float32", "object"), ('step("a")', "x", "float32", "<U1"),
     ("step(A.astype(int))", "x", "float32", "int64"), ("step(A.astype(complex))", "x", "float32", "complex128"),
     ("scaled(A, np.array([1.0, 2.0]))", "y", "int32", "float64"), ("scaled(A, [1.5, 2.5])", "y", "int32", "float64")),
    ("ValueError [placeholder] The shape (0, 3) has no elements; at least one was expected, where 'x' of shape (0, "
     "3) are fed; built at MADE.",
     'step(np.zeros((0, 3), "f"))'),
    ("TypeError [placeholder] 'y', built at MADE, is int32, which cannot hold 1099511627776",
     "scaled(A, np.array([1, 2**40]))"),
    ("ValueError [multiply] Shapes (2, 3) and (5, 1) do not broadcast, where 'x' of shape (2, 3), 'y' of shape (5,) "
     "are fed; built at MADE.",
     "scaled(A, np.ones(5, int))"),
    ("ValueError [executable] Expected 2 feeds ('x' of MADE, 'y' of MADE), got 1 without 'y' of MADE.", "scaled(A)"),
    ("AttributeError [Executable] An Executable has no attribute feeds to set", "step.feeds = []"),
    ("AttributeError [Executable] An Executable has no attribute foo; docs/coming-from.md has the names of other "
     "libraries",
     "step.foo"),
    ("ValueError [{}] Expected the known shapes of 1 feeds, got [(None, 3)]",
     ("step.memory_plan()", "memory_plan"), ("step.staging()", "staging")),
    ("ValueError [placeholder] The placeholder 'x' of shape (?, 3) is needed but was not fed; built at MADE.",
     "g.run(loss)"),
    ("TypeError [run] Expected feeds as a dict of arrays, got ndarray", "g.run(loss, A)"),
    ("TypeError [run] Expected a list of tensors to fetch, got {}",
     ('g.run("loss", {})', "str"), ("g.run(3)", "int")),
    ("ValueError [run] Expected a placeholder or the name of one among 'x', 'y', 'bool()', got 'z'",
     'g.run(loss, {"z": A})'),
    ("ValueError [bind] Expected the name of one placeholder among 'x' of MADE, 'y' of MADE, bool() of MADE, got 'z'.",
     'g.bind({"z": A})'),
    ("TypeError [bind] Expected a dictionary of arrays by placeholder or name, got list.", "g.bind([A])"),
    ("ValueError [squeeze] Only a placeholder can be fed, not the result of this op; built at MADE. [placeholder] "
     "The placeholder 'x' of shape (?, 3) is needed but was not fed; built at MADE. [placeholder] The placeholder "
     "'y' of shape (?,) is needed but was not fed; built at MADE. [placeholder] The placeholder of shape () is "
     "needed but was not fed; built at MADE.",
     "g.verify([loss])"),
    ("AttributeError [Graph] A Graph has no attribute variables to set", "g.variables = []"),
    ("ValueError [graph] There is no device of the kind or name 'cuda'...", 'al.Graph(device="cuda")'),
    ("ValueError [graph] Expected the storage 'variable' or 'buffers', got 'disk'.", 'al.Graph(storage="disk")'),
    ("TypeError [graph] A graph is not entered by with; g.placeholder and g.variable name it",
     "with al.Graph() as q: pass"),
    ("TypeError [Trainer] A trainer belongs to a graph and cannot be copied or pickled; use trainer.model, which "
     "can, or trainer.save(path) and fit(resume=path)",
     'pickle.dumps(al.Trainer(model, "hinge", "sgd"))'),
    ("TypeError [{}] A graph and its parts cannot be copied or pickled; build the model again, and pass values on "
     "by al.save and al.load, or by v.assign(w.numpy())",
     ("copy.copy(g)", "Graph"), ("copy.deepcopy(w)", "Variable"), ("pickle.dumps(step)", "Executable"),
     ("pickle.dumps(x)", "Tensor")),
    ("FileNotFoundError [load_op_library] There is no file none.so", "al.load_op_library('none.so')"),
    ("ValueError [device] Expected '..., the kind... here, got 'cuda'", 'al.device("cuda")'),
    ("TypeError [{}] Expected a number of {} as an integer, got {}",
     ('al.set_threads("a")', "set_threads", "threads", "'a'"),
     ('al.Trainer(model, "hinge", "sgd").fit((A, A), epochs=1.5)', "fit", "epochs", "1.5"),
     ('g.most_in_flight = "a"', "most_in_flight", "steps", "'a'")),
    ("TypeError [{}] Expected a tensor, or a tuple, list or dict of tensors, got ndarray; feed arrays to a "
     "placeholder, graph.placeholder(shape), or hand them to al.Trainer",
     ("al.nn.Dense(4)(A)", "Dense"), ("model(A)", "Sequential")),
    ('TypeError [Dense] Expected a tensor of floats, got {}; al.cast(x, "float32") makes one; in dense_1',
     ("al.nn.Dense(4)(y)", "int32(?,)"),
     ('d = al.nn.Dense(2); d(x); d(g.placeholder((None, 3), "uint8"))', "uint8(?, 3)")),
    ("ValueError [resize] Expected 2 extents, got (2,); built at HERE.", "al.resize(x, 2)"),
    ("ValueError [lstm] Expected (steps, batch, gates * units), got float32(?, 3)", "al.lstm(x, w)"),
    ("TypeError [log1p] Expected a floating type, got int32(?,)", "al.log1p(y)"),
    ("ValueError [gelu] Expected approximate among 'none', 'tanh', got True", "al.gelu(x, approximate=True)"),
    ("TypeError [Sequential] The call (x, training, train=...) does not fit forward(x, training): got an unexpected "
     "keyword argument 'train'",
     "model(x, train=True)"),
    ("AttributeError [Variable] float32(3, 1) has no attribute name to set", 'w.name = "foo"'),
    ("ValueError [Trainer] Expected a function or a name of al.losses (binary_cross_entropy, categorical_hinge, "
     "cosine_similarity, dice, hinge, huber, kl_divergence, mean_absolute_error, mean_squared_error, "
     "softmax_cross_entropy, squared_hinge), got 'mse'; use al.losses.mean_squared_error",
     'al.Trainer(model, "mse", "adam")'),
    ("ValueError [Trainer] Expected a function or a name of al.metrics (accuracy, binary_accuracy, top_k_accuracy, "
     "auc, confusion_matrix, f1_score, iou, precision, r2_score, recall, root_mean_squared_error, "
     "binary_cross_entropy, categorical_hinge, cosine_similarity, dice, hinge, huber, kl_divergence, "
     "mean_absolute_error, mean_squared_error, softmax_cross_entropy, squared_hinge), got 'acc'; use "
     "al.metrics.accuracy",
     'al.Trainer(model, "hinge", "adam", metrics=["acc"])'),
    ("ValueError [hinge] Expected targets of shape (?, 2) for float32(?, 2), got float32(?, 3)",
     'al.Trainer(model, "hinge", "adam", metrics="accuracy").fit((A, A))'),
    ("ValueError [Trainer] Expected an optimizer or a name (sgd, adagrad, adam, adamw, lion, rmsprop), got 'adm'; "
     "the nearest is adam",
     'al.Trainer(model, "hinge", "adm")'),
    ("TypeError [Trainer] Expected an optimizer such as al.Adam(), got the class Adam; write al.Adam()",
     'al.Trainer(model, "hinge", al.Adam)'),
    ("TypeError [Trainer] Expected an optimizer such as al.Adam(), got None", 'al.Trainer(model, "hinge", None)'),
    ("TypeError [Trainer] Expected a layer as the model, got {}",
     ('al.Trainer(al.nn.Dense, "hinge", "sgd")', "type"), ('al.Trainer("resnet", "hinge", "sgd")', "str")),
    ("ValueError [Trainer] Expected the dtype \"float32\", \"bfloat16\" or \"float16\", got 'float64'",
     'al.Trainer(model, "hinge", "sgd", dtype="float64")'),
    ("TypeError [{}] Expected examples and targets as one tuple, {}, got two arguments",
     ('al.Trainer(model, "hinge", "sgd").fit(A, A)', "fit", "fit((x, y), epochs)"),
     ('al.Trainer(model, "hinge", "sgd").evaluate(A, A)', "evaluate", "(x, y)")),
    ("TypeError [{}] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got ndarray; put the examples and "
     "their targets into one tuple: (x, y)",
     ('al.Trainer(model, "hinge", "sgd").fit(A)', "fit"),
     ('al.Trainer(model, "hinge", "sgd").evaluate(A)', "evaluate")),
    ("AttributeError [Trainer] A Trainer has no attribute lr to set; use trainer.optimizer.lr",
     'al.Trainer(model, "hinge", "sgd").lr = 0'),
    ("AttributeError [Trainer] A Trainer has no attribute stop_trainin to set; the nearest is stop_training",
     'al.Trainer(model, "hinge", "sgd").stop_trainin = True'),
    ("TypeError [SGD] There is no option {}; use lr",
     ("optimizer.learning_rte = 1", "learning_rte"), ("optimizer.learning_rate = 0.1", "learning_rate")),
    ("AttributeError [Sequential] A Sequential has no attribute training to set; a call says it: layer(x, "
     "training=False)",
     "model.training = False"),
    ("ValueError [fit] Expected a model with variables to train, got none",
     'al.Trainer(al.nn.ReLU(), "hinge", "sgd").fit((A, A))'),
    ("ValueError [fit] Expected no batch_size beside data that has batches, got 2",
     'al.Trainer(model, "hinge", "sgd").fit(al.data.from_arrays(A, A[:, :2]).batch(1), batch_size=2)'),
    ('ValueError [Trainer] Expected a metric of numbers beside the loss mean_squared_error, such as "r2_score", got '
     '"accuracy", which compares classes',
     'al.Trainer(model, "mean_squared_error", "sgd", metrics=["accuracy"])'),
    ("ValueError [fit] Expected a quantity to monitor among loss, got val_loss; give fit validation data",
     'al.Trainer(model, "hinge", "sgd").fit((A, A[:, :2]), callbacks=[al.EarlyStopping("val_loss")])'),
    ("ValueError [fit] Expected targets from 0 to 1, got 2.0 in row 0",
     'al.Trainer(model, "binary_cross_entropy", "sgd").fit((A, 2 * A[:, :2]))'),
    ("ValueError [fit] Expected probabilities of the classes that add up to 1, got [1. 1.] in row 0",
     'al.Trainer(model, "softmax_cross_entropy", "sgd").fit((A, A[:, :2]))'),
    ("ValueError [fit] Expected weights of 0 or more, got -1.0 in row 0",
     'al.Trainer(model, "hinge", "sgd").fit((A, A[:, :2], -A[:, 0]))'),
    ("ValueError [Trainer] Expected a loss of each example by itself, got subtract of float32(?,) and float32(?, "
     "1), which pairs each example with all others; use y[:, None] for a y of shape (n,), or give targets of shape "
     "(n, 1)",
     'al.Trainer(al.nn.Dense(1), lambda p, y: al.square(p - y).mean(-1), "sgd").fit((A, A[:, 0]))'),
    ("TypeError [fit] Expected a tuple (x, y) of arrays, or (x, y, weight), got a tuple of 4",
     'al.Trainer(model, "hinge", "sgd").fit((A, A, A, A))'),
    ("TypeError [fit] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got dict; make a tuple of its "
     'arrays: (data["x"], data["y"])',
     'al.Trainer(model, "hinge", "sgd").fit({"x": A, "y": A})'),
    ("TypeError [fit] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got generator; "
     "al.data.from_iterator(function, batched=True) makes one, where function() gives it anew",
     'al.Trainer(model, "hinge", "sgd").fit(part for part in [(A, A)])'),
    ("TypeError [fit] Expected a tuple (x, y) of arrays, or (x, y, weight), got a table of al.data.csv; make a "
     "tuple of its arrays: (table.x, table.y)",
     'al.Trainer(model, "hinge", "sgd").fit(al.data.tables.Table(A, A[0], ["a", "b", "c"], None))'),
    ("TypeError [split] Expected arrays x and y, or a data set, got no y; write split(*data) for a tuple of them",
     "al.data.split((A, A))"),
    ("ValueError [Dense] Expected a tensor of rank 2 or more with a known last dimension, got float32(?,); in "
     "dense_0; at HERE; a single example is a row: x[None].",
     'al.Trainer(model, "hinge", "sgd").predict(A[0])'),
    ("ValueError [{}] Expected arrays of one or more examples each, as many in all, got ({}); built at HERE.",
     ('al.Trainer(model, "hinge", "sgd").fit((A, A[:1]))', "fit", "float32(2, 3), float32(1, 3)"),
     ("al.data.from_arrays()", "from_arrays", ""),
     ("al.data.from_arrays(A, A[:1])", "from_arrays", "float32(2, 3), float32(1, 3)")),
    ("ValueError [fit] Expected a batch size of 1 or more, got 0",
     'al.Trainer(model, "hinge", "sgd").fit((A, A), batch_size=0)'),
    ("TypeError [fit] Expected callbacks, which are al.Callback, got {}",
     ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=al.EarlyStopping)', "type"),
     ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=[al.EarlyStopping])', "type"),
     ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=[print])', "builtin_function_or_method")),
    ("AttributeError [Trainer] A Trainer has no attribute learning_rate; use trainer.optimizer.lr",
     'al.Trainer(model, "hinge", "sgd").learning_rate'),
    ("ValueError [Adam] Expected two numbers as betas, got 0.9", "al.Adam(betas=0.9)"),
    ("TypeError [Adam] Expected a number, a tensor or a function of the step as lr, got str", 'al.Adam("fast")'),
    ("TypeError [minimize] Expected a list of variables, got a Sequential; write model.variables",
     "optimizer.minimize(loss, model)"),
    ("ValueError [EarlyStopping] Expected a patience of 0 or more, got -1", "al.EarlyStopping(patience=-1)"),
    ("TypeError [LambdaCallback] Expected functions by on_train_begin, on_train_end, on_epoch_begin, on_epoch_end, "
     "on_train_batch_end, got on_batch_end; the nearest is on_train_batch_end",
     "al.LambdaCallback(on_batch_end=print)"),
    ("TypeError Dense.__init__() takes 2 positional arguments but 3 were given...", "al.nn.Dense(3, 4)"),
    ("TypeError [Dense] Expected units as an integer, got '3'", 'al.nn.Dense("3")'),
    ("ValueError [Dense] Expected a function or one of elu, gelu, hard_sigmoid, hard_swish, relu, sigmoid, silu, "
     "softmax, softplus, tanh as the activation, got 'swish'; use silu",
     'al.nn.Dense(3, activation="swish")'),
    ("ValueError [Dense] Expected a function or one of elu, gelu, hard_sigmoid, hard_swish, relu, sigmoid, silu, "
     "softmax, softplus, tanh as the activation, got 'rleu'; the nearest is relu",
     'al.nn.Dense(3, activation="rleu")'),
    ("TypeError Convolution.__init__() got an unexpected keyword argument 'stride'...",
     "al.nn.Conv2D(32, 3, stride=2)"),
    ("TypeError Dropout.__init__() missing 1 required positional argument: 'rate'...", "al.nn.Dropout()"),
    ("TypeError [Sequential] Expected layers, one by one, got list; write *layers for a list of them",
     "al.nn.Sequential([al.nn.Dense(3)])"),
    ("TypeError [Sequential] Expected layers, one by one, got the class Dense; write Dense()",
     "al.nn.Sequential(al.nn.Dense)"),
    ("TypeError 'Sequential' object is not subscriptable...", "model[0]"),
    ("AttributeError [Sequential] A Sequential has no attribute layer; docs/coming-from.md has the names of other "
     "libraries",
     "model.layer"),
    ("AttributeError [Sequential] A Sequential has no attribute trainble to set; the nearest is trainable",
     "model.trainble = False"),
    ("TypeError [Sequential] Expected training as True or False, got Tensor; several inputs are one tuple, list or "
     "dict",
     "model(x, y)"),
    ("IndexError [index] Expected an index below 2, got 5", "al.data.from_arrays(A)[5]"),
    ("TypeError [{0}] Expected al.{0}(model, path), got {1} as the model",
     ('al.save("model.safetensors", model)', "save", "str"), ('al.load("model.safetensors", model)', "load", "str"),
     ('al.save(3, "a")', "save", "int")),
    ("AttributeError [{}] There is no al.{}; docs/coming-from.md has the names of other libraries",
     ("al.Adamax()", "al", "Adamax"), ("al.nn.PReLU", "al.nn", "nn.PReLU"),
     ("al.losses.multi_margin_loss", "al.losses", "losses.multi_margin_loss")),
    ("TypeError [executable] Expected one array, got the list of what the step fetches, 1 in all; (loss,) = "
     "step(...) takes out one",
     'f"{step(A):.3f}"', "float(step(A))", "total = 0.0; total += step(A)"),
    ("KeyError \"[history] Expected a quantity among loss, accuracy, got 'acc'; at HERE.\"",
     'al.History(loss=[1.0], accuracy=[1.0])["acc"]'),
    ("KeyError \"[history] Expected a quantity among loss, got 'lost'; the nearest is loss; at HERE.\"",
     'al.Trainer(model, "hinge", "sgd").evaluate((A, A[:, :2]))["lost"]'),
    ("TypeError [SGD] Expected a number, a tensor or a function of the step as lr, got list; an optimizer takes no "
     "variables, minimize(loss, variables) takes those to train",
     "al.SGD(model.variables)"),
    ("ValueError [Conv2D] Expected a tensor (n, height, width, channels), got float32(?, 12, 12); x[..., None] has "
     "one channel; in conv2d_0",
     "al.nn.Conv2D(3, 3)(g.placeholder((None, 12, 12)))"),
    ("ValueError [fit] Expected class_weight as {class: weight}, a dict of classes from 0 on and numbers of 0 or "
     "more, got [1, 2, 3]",
     'al.Trainer(model, "hinge", "sgd").fit((A, np.zeros(2, int)), class_weight=[1, 2, 3])'),
    ("TypeError [MultiHeadAttention] Expected training as True or False, got Tensor; the other operands have names: "
     "value=..., key=..., attention_mask=...",
     "al.nn.MultiHeadAttention(2, 3)(x, x)"),
    ("TypeError [predict] Expected examples for the one input of the model, predict(x), got a tuple of 2",
     't = al.Trainer(model, "hinge", "sgd"); t.predict(A); t.predict((A, A))'),
    ("ValueError [export] Expected a path that ends in .mpsgraphpackage or .onnx, got .pt, another format",
     'al.Trainer(model, "hinge", "sgd").export("e.pt")'),
    ("ValueError [{}] Expected indices that int32 can hold, got {}",
     ("x[[2**40]]", "slice", "1099511627776"), ("al.gather(x, -2**40)", "gather", "-1099511627776")),
    ("ValueError [{}] Expected a number of {} of at most 9223372036854775807, got 1180591620717411303424",
     ("g.most_in_flight = 2**70", "most_in_flight", "steps"), ("al.set_threads(2**70)", "set_threads", "threads")),
    ("TypeError [{}] Expected a tensor, a number or an array, got torch.T; graph.constant makes a tensor of it",
     ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); x + T()', "add"),
     ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); T() * x', "multiply")),
    ("TypeError [Trainer] Expected a function of tensors or a name of al.losses, got MSELoss of torch, which takes "
     "no tensors of Alloy",
     'T = type("MSELoss", (), {"__module__": "torch.nn", "__call__": None}); al.Trainer(model, T(), "sgd")'),
    ("TypeError [metrics] Expected a function of tensors or a name of al.metrics, got accuracy_score of sklearn, "
     "which takes no tensors of Alloy",
     'f = lambda p, y: p; f.__module__, f.__name__ = "sklearn.metrics", "accuracy_score"; al.metrics.get(f)'),
    ("TypeError unsupported operand type(s) for //: 'NoneType' and 'int'; x.shape has None for what only a run "
     "knows, and x.reshape takes -1...",
     'type("L", (al.nn.Layer,), {"forward": lambda self, x, training: x.reshape(x.shape[0] // 2, -1)})()(x)'),
    ("TypeError [L] The call (x, training) does not fit forward(x): too many positional arguments",
     'type("L", (al.nn.Layer,), {"forward": lambda self, x: x})()(x)'),
    ("ValueError [SGD] Expected lr to stay the schedule, since steps have been made with it, got 0.1; make another "
     "optimizer, and steps with it",
     "o = al.SGD(al.schedules.cosine(0.1, 10)); o.minimize(loss, [w]); o.lr = 0.1"),
    ("ValueError [SGD] Expected lr to stay a number, since steps have been made with it, got a schedule; make "
     "another optimizer, and steps with it",
     "o = al.SGD(0.1); o.minimize(loss, [w]); o.lr = al.schedules.cosine(0.1, 10)"),
    ("TypeError [fit] Expected a number to monitor, got confusion_matrix, which is an array",
     'al.Trainer(model, "softmax_cross_entropy", "sgd", ["confusion_matrix"]).fit((A, np.zeros(2, int)), '
     'callbacks=al.EarlyStopping("confusion_matrix"))'),
    ("ValueError [assign] The variable 'w' has another update, built at the same line; built at HERE.",
     "g.compile([x], [loss], [g.assign(w, w), g.assign(w, w * 2)])"),
    ("ValueError [conv2d] A window of 5 does not fit into the height of shape (?, 3, 12, 12), of layout NHWC, with "
     "padding 0 and 0; in conv2d_0; built at HERE.",
     "al.nn.Conv2D(3, 5)(g.placeholder((None, 3, 12, 12)))"),
    ("TypeError [sum] Expected integers of 64 bits as the axes, got [1180591620717411303424]; built at HERE.",
     "al.sum(x, 2**70)"),
    ("TypeError [softmax] Expected an integer of 64 bits as the axis, got 1180591620717411303424; built at HERE.",
     "al.softmax(x, 2**70)"),
    ("TypeError [history] Expected one quantity, got all of loss; [name] takes one", 'f"{al.History(loss=[1.0]):.3f}"'),
    ("TypeError [submission] Expected one array, got a submission of fetches; submission[0] is one",
     'f"{step.submit(A):.2f}"'),
    ("TypeError [{}] Expected a shape of integers, got ({})",
     ('al.init.normal((2, "a"), seed=0)', "normal", "2, 'a'"), ('al.init.zeros(("a",))', "zeros", "'a',")),
    ("TypeError [split] Expected a number as the fraction, got str", 'al.data.split(A, A, "a")'),
    ("TypeError [graph] Expected the kind or the name of a device, got int", "al.Graph(device=3)"),
    ("TypeError [graph] Expected the storage 'variable' or 'buffers', got int", "al.Graph(storage=3)"),
]
WORK = [  # what runs without a word
    "np.mean(w)",
    "np.asarray(w)",
    "w.numpy().shape",
    "divmod(x, 2)",
    "x == x",
    "x[5]",
    "x += 1",
    "x + w",
    "x * 1j",
    "x / 2",
    "y // 2",
    "y % 2",
    "x @ x",
    "x.mean([0, 1])",
    "x.argmax()",
    "x.reshape(4, 4)",
    "x.astype(int)",
    "al.softmax(x, 1)",
    "al.matmul(x, x)",
    "al.concat([x], 0)",
    "al.stack([x, A])",
    "al.split(x, 2, 1)",
    "al.squeeze(x, 0)",
    "al.where(x > 0, 1, 2)",
    "al.gather(x, 0)",
    "al.gather(x, [0, 1])",
    "al.gradients(x, [w])",
    "al.cond(x > 0, lambda: x, lambda: x)",
    "g.placeholder(3)",
    "g.constant(w)",
    "g.compile()",
    "step(x=A)",
    'step({"x": A})',
    "step({x: A})",
    "step(A.tolist())",
    "scaled(A, np.array([1, 2]))",
    "scaled(y=[1, 2], x=A)",
    'scaled({x: A, "y": [1, 2]})',
    "scaled({x: A}, y=[1, 2])",
    "g.run(loss, {x: A})",
    'g.run([loss, x], {"x": A})',
    "g.run(w)",
    "g.run([])",
    "g.verify([x], [loss])",
    "al.reshape(x, -1)",
    "al.cumsum(x)",
    "al.slice_update(x, 0, 1)",
    "al.power(x, 2)",
    "al.scatter(x, y, x)",
    "al.floor_divide(x, 0)",
    "al.elu(x, 1.0)",
]
# fmt: on


def typed(text):
    """Runs the text as a program of its own, in the world."""
    names = {}
    exec(compile(WORLD, "/newcomer/world.py", "exec"), names)
    exec(compile(text, "/newcomer/typed.py", "exec"), names)
    assert names["step"](names["A"])[0] <= 3, "the world is usable after it"


def sayings():
    """Gives each program with its message."""
    for says, *programs in ROWS:
        for program in programs:
            text, *words = (program,) if isinstance(program, str) else program
            yield pytest.param(text, says.format(*words) if words else says, id=text)


@pytest.mark.parametrize("text, says", list(sayings()))
def test_what_is_said(text, says):
    if '"cuda"' in text and any(device.kind == "cuda" for device in al.devices()):
        pytest.skip("here is such a device")
    if says[-1] not in '."':
        says += "; at HERE."
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        typed(text)
    said = f"{type(caught.value).__name__} {caught.value}".replace("\n", " ")
    said = re.sub(r"\S*newcomer/typed\.py:1\b", "HERE", re.sub(r"\S*newcomer/world\.py:\d+", "MADE", said))
    assert re.fullmatch(".*".join(re.escape(part) for part in says.split("...")), said), said
    del caught


@pytest.mark.parametrize("text", WORK)
def test_what_works(text):
    typed(text)


# ---- names of other libraries ----

MODULES = {f"al.{name}": thing for name, thing in vars(al).items() if name in dir(al) and inspect.ismodule(thing)}
OBJECTS = {  # by the name that stands for it on the right of the table
    "al": al,
    "layer": al.nn.Dense(3),
    "model": al.nn.Sequential(),
    "optimizer": al.SGD(),
    "trainer": al.Trainer(al.nn.Sequential(), "hinge", "sgd"),
    "w": al.Graph().variable(1.0),
    "x": al.Graph().placeholder((2, 3)),
}
OBJECTS["layer"](OBJECTS["x"])
OF_PLACES = {"Tensor": "x", "Variable": "w", "Layer": "layer", "Optimizer": "optimizer", "Trainer": "trainer"}
RENAMED = [(place, name, here) for place, table in RENAMES.items() for name, here in table.items()]


def test_the_table_of_names_is_short():
    assert len(RENAMED) <= 60


@pytest.mark.parametrize("place, name, here", RENAMED, ids=[f"{place}.{name}" for place, name, _ in RENAMED])
def test_names_of_other_libraries(place, name, here):
    of, *path = here.split(".")
    thing = OBJECTS[of]
    for part in path:
        thing = getattr(thing, part)
    objects = [al, *MODULES.values(), OBJECTS["x"]] if place == "al" else [OBJECTS[OF_PLACES[place]]]
    for one in objects:
        if place == "al" and one is OBJECTS["x"] and name in RENAMES["Tensor"]:
            continue
        with pytest.raises(AttributeError, match=rf"[ .]{name}; use {re.escape(here)}; at "):
            getattr(one, name)


def test_a_deprecated_name_works_and_warns(monkeypatch):
    monkeypatch.setitem(DEPRECATED, "al.nn.Full", ("al.nn.Dense", "0.3"))
    monkeypatch.setitem(DEPRECATED, "al.matvec", ("al.matmul", "0.3"))
    for path, new in (("nn.Full", al.nn.Dense), ("matvec", al.matmul)):
        with pytest.warns(DeprecationWarning, match=rf"al\.{path} is now al\.\w.*; version 0.3 ends") as told:
            assert operator.attrgetter(path)(al) is new
        assert told[0].filename == __file__


def test_no_deprecated_name_is_older_than_a_minor_version():
    version = [int(part) for part in al.__version__.split(".")[:2]]
    for old, (new, end) in DEPRECATED.items():
        assert [int(part) for part in end.split(".")] > version, old
        assert operator.attrgetter(new.removeprefix("al."))(al)


def test_names_that_are_not_there():
    assert not hasattr(al, "Linear") and not hasattr(al.nn, "__wrapped__")
    assert not hasattr(al.Graph().constant(1.0), "__dlpack__")
    with pytest.raises(ImportError, match="cannot import name 'Linear' from 'alloy.nn'"):
        from alloy.nn import Linear  # noqa: F401
    for said, module in MODULES.items():
        says = rf"^\[{said}\] There is no {said}\.zzzz; docs/coming-from\.md has .*; at \S+\.py:\d+\.$"
        with pytest.raises(AttributeError, match=says):
            module.zzzz  # noqa: B018
    assert (pathlib.Path(__file__).parents[3] / "docs/coming-from.md").exists()


# ---- help ----


def lines_of_help(thing):
    return pydoc.plain(pydoc.render_doc(thing)).splitlines()


def test_help_is_an_overview():
    assert len(lines_of_help(al)) < 150
    words = set(re.findall(r"\w+", al.__doc__))
    types_by_range = {f"{kind}int{bits}"[kind == "s" :] for kind in "us" for bits in (8, 16, 32, 64)}
    modules = {name.partition(".")[2] for name in MODULES}
    missing = set(dir(al)) - words - types_by_range - modules - {"__version__"}
    assert not missing, "name them in the docstring of python/alloy/__init__.py"
    overview = "\n".join(lines_of_help(al.nn)[: 3 * len(al.nn.__all__)])
    assert re.search(r"Dense +activation\(x @ weights \+ bias\)", overview) and "…" not in overview
    assert all(re.search(rf"^ +{name}  +\S", overview, re.MULTILINE) for name in al.nn.__all__)
    for module in (al.losses, al.metrics, al.init, al.random, al.models):
        shown = set(re.findall(r"^    (?:class )?(\w+)\(", "\n".join(lines_of_help(module)), re.MULTILINE))
        assert shown == set(module.__all__), module.__name__


def test_everything_public_is_documented():
    things = {f"al.{name}": getattr(al, name) for name in dir(al)}
    for written, module in MODULES.items():
        assert module.__doc__, written
        things |= {f"{written}.{name}": getattr(module, name) for name in module.__all__}
    for cls in (al.Executable, al.Graph, al.Op, al.Submission, al.Tensor, al.Update, al.Variable):
        own = {name: member for name, member in vars(cls).items() if not name.startswith("_")}
        things |= {f"{cls.__name__}.{name}": member for name, member in own.items()}
    undocumented = [
        name
        for name, thing in things.items()
        if not (getattr(thing, "__doc__", "") or "").strip() and not isinstance(thing, (str, types.ModuleType))
    ]
    assert undocumented == []


# ---- what is shown at the prompt ----


def test_what_things_look_like():
    g = al.Graph()
    x, y = g.placeholder((None, 3), name="x"), g.placeholder((), "int32")
    w = g.variable(np.ones((3, 1), np.float32), name="w")
    counted = g.variable(0, trainable=False)
    loss = al.mean(x @ w)
    update = g.assign(w, w * 0.5)
    step = g.compile([x, y], [loss, y], [update, g.assign(counted, y)])
    assert repr(g).startswith("<Graph of ") and repr(g).endswith("2 placeholders, 2 variables with 3 parameters>")
    assert str(g).startswith("graph {")
    assert repr(w) == "<Variable 'w' float32(3, 1)>" and repr(loss) == "<Tensor float32()>" == f"{loss}"
    assert repr(update).startswith("<Update of <Variable 'w' float32(3, 1)> to <Tensor")
    assert (
        repr(step)
        == "<Executable of x float32(?, 3), (no name) int32(); gives (no name) float32(), (no name) int32(), "
        "updates w float32(3, 1), (no name) int32()>"
    )
    assert step.updates[0].variable == w and g.compile([x], [loss]).updates == []
    kinds = {op.kind: repr(op) for op in g.inspect(feeds={x: (5, 3)}, fetches=[loss])}
    assert kinds["matmul"] == "<Op matmul float32(5, 1)>" and kinds["variable"] == "<Op variable 'w' float32(3, 1)>"
    submission = step.submit(np.ones((2, 3), np.float32), 1)
    submission.wait()
    assert repr(submission) == "<Submission of 2 fetches, done>"
    many = g.compile([], [], [g.assign(g.variable(float(i), name=f"v{i}"), 0.0) for i in range(11)])
    assert repr(many).endswith("v7 float32() and 3 more>")


# ---- arrays of other libraries, and once-only runs ----


def test_variables_are_arrays_of_other_libraries():
    g = al.Graph()
    w = g.variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
    np.testing.assert_array_equal(w, np.arange(6).reshape(2, 3))
    copied = np.from_dlpack(w)
    assert copied.dtype == np.float32
    w.assign(np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(copied, np.arange(6).reshape(2, 3))
    assert np.asarray(w, np.float16).dtype == np.float16 and np.sum(w) == 6
    np.testing.assert_array_equal(np.concatenate([w, np.zeros((1, 3), np.float32)]), [[1] * 3, [1] * 3, [0] * 3])
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 0):
        with pytest.raises(ValueError, match=r"^\[array\] Expected a copy of <Variable 'w' float32\(2, 3\)>, .*; at "):
            np.asarray(w, copy=False)
    with (
        HAS_BFLOAT16
        and pytest.raises(BufferError, match=r"^\[dlpack\] Expected an element type that DLPack has, got .*; at ")
        or pytest.raises(TypeError, match="bfloat16 aborts on macOS 13")
    ):
        np.from_dlpack(al.Graph().variable(np.ones(2, numpy_dtype("bfloat16"))))
    other = al.Graph().variable(np.zeros((2, 3), np.float32))
    other.assign(w)
    np.testing.assert_array_equal(other, np.ones((2, 3)))


def test_runs_for_once_keep_few_executables():
    g = al.Graph()
    x = g.placeholder((None,), name="x")
    w = g.variable([2.0])
    before = al.stats()["live_objects"]
    for i in range(20):
        assert g.run(x * float(i), {"x": [1.0, 2.0]})[1] == 2 * i
    assert al.stats()["live_objects"] - before == 8
    y = x * w
    count = al.stats()["compilations"]
    for i in range(5):
        one, two = g.run((y, w), {x: [float(i)]})
        assert one == [2 * i] and two == [2]
    assert al.stats()["compilations"] - count == 1
    assert g.run(y, {x: np.float32([3])}).shape == (1,)
    assert w.numpy() == 2


def test_integers_of_another_width_are_converted_where_they_fit():
    g = al.Graph()
    labels, bytes_ = g.placeholder((None,), "int32", "labels"), g.placeholder((), "uint8", "bytes")
    step = g.compile([labels, bytes_], [labels * 2, bytes_])
    for given in (np.array([1, -2]), np.int8([1, -2])):
        assert step(given, np.int64(255))[0].tolist() == [2, -4]
    assert step.submit(np.array([5]), bytes=np.int16(3))[0].tolist() == [10]
    assert step.profile(np.array([5]), np.int16(3), runs=1) is None or True
    for wrong in (np.array([0.5]), np.array([True])):
        with pytest.raises(TypeError, match=r"^\[placeholder\] 'labels', .* is int32 but was given an array of "):
            step(wrong, 0)
    with pytest.raises(TypeError, match=r"^\[placeholder\] 'labels', .* is int32, which cannot hold 2147483648; at"):
        step(np.array([1, 2**31]), 0)
    with pytest.raises(TypeError, match=r"^\[placeholder\] 'bytes', .* is uint8, which cannot hold 256; at "):
        step([1], np.int64(256))


def test_the_shapes_of_feeds_are_named_where_they_do_not_fit_each_other():
    g = al.Graph()
    x, y = g.placeholder((None, 4), name="images"), g.placeholder((None,), "int32", name="labels")
    step = g.compile([x, y], [al.losses.softmax_cross_entropy(x, y)])
    says = r"where 'images' of shape \(64, 4\), 'labels' of shape \(10,\) are fed; built at \S*test_newcomer\.py:\d+\.$"
    for labels in (np.zeros(10, np.int32), np.zeros(10, np.int64)):
        with pytest.raises(ValueError, match=says):
            step(np.zeros((64, 4), np.float32), labels)


# fmt: off
IN_A_RUN = [  # what x of shape (1,) and y of shape (3,), both of open shapes, make a run say
    (lambda x, y: al.where(al.tile(x, 2) > 0, y, y), "where", "Shapes (2,) and (3,) do not broadcast"),
    (lambda x, y: al.einsum("i,i->", al.tile(x, 2), y), "einsum",
     "Inner dimensions differ: 2 of shape (1, 2) and 3 of shape (3, 1)"),
    (lambda x, y: al.masked_fill(x, y, 1.0), "masked_fill", "Shape (3,) does not broadcast to shape (1,)"),
    (lambda x, y: al.isclose(al.tile(x, 2), y), "isclose", "Shapes (2,) and (3,) do not broadcast"),
    (lambda x, y: al.cond(x.sum() > 0, lambda: x, lambda: y), "cond",
     "Result 0 is float32(1,) in one branch and float32(3,) in the other"),
    (lambda x, y: al.scan(lambda v, s: (v + y, s), x, x)[1], "scan",
     "Value 0 is float32(1,) before an iteration and float32(3,) behind it"),
]
# fmt: on


@pytest.mark.parametrize("build, function, said", IN_A_RUN, ids=[function for _, function, _ in IN_A_RUN])
def test_the_function_that_was_called_is_named_in_a_run(build, function, said):
    g = al.Graph()
    x, y = g.placeholder((None,), name="x"), g.placeholder((None,), name="y")
    step = g.compile([x, y], [build(x, y)])
    says = re.escape(f"[{function}] {said}, where 'x' of shape (1,), 'y' of shape (3,) are fed; built at ")
    with pytest.raises(ValueError, match="^" + says + r"\S*test_newcomer\.py:\d+\.$"):
        step(np.ones(1, np.float32), np.ones(3, np.float32))


def test_import_star_has_the_public_names():
    names = {}
    exec("from alloy import *", names)
    assert set(names) - {"__builtins__"} == set(dir(al)) == set(list(al.__all__))
    assert sys.modules["alloy"] is al and al.__version__.count(".") == 2
