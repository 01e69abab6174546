"""What users of NumPy, PyTorch and Keras type in their first hour, and what is said: a table, to which every part of
the package adds rows.

A row is what is typed and the whole message, "TypeError [op] ...". HERE stands for the line that was typed, MADE for a
line of WORLD, "..." for any text."""

import contextlib
import pydoc
import re
import sys
import types
import warnings

import numpy as np
import pytest

import alloy as al
from alloy.graph.dtypes import numpy_dtype
from alloy.graph.foreign import ARGUMENTS, ATTRIBUTES, NAMES
from alloy.graph.names import public
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
ROWS = [  # graphs and tensors
    ("np.mean(x)",
     "TypeError [mean] Expected an array for numpy.mean, got the tensor float32(?, 3), which has a value only "
     "during a run; alloy has its own functions of tensors; called at HERE."),
    ("np.exp(x)",
     "TypeError [exp] Expected an array for numpy.exp, got the tensor float32(?, 3), which has a value only "
     "during a run; alloy has its own functions of tensors; called at HERE."),
    ("np.exp(w)",
     "TypeError [exp] Expected an array for numpy.exp, got the tensor float32(3, 1), which has a value only "
     "during a run; alloy has its own functions of tensors, and w.numpy() is an array; called at HERE."),
    ("np.concatenate([x, x])",
     "TypeError [concatenate] Expected an array for numpy.concatenate, got the tensor float32(?, 3), which has"
     " a value only during a run; alloy has its own functions of tensors; called at HERE."),
    ("np.array(x)",
     "TypeError [array] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("np.where(x > 0, x, 0)",
     "TypeError [where] Expected an array for numpy.where, got the tensor bool(?, 3), which has a value only "
     "during a run; alloy has its own functions of tensors; called at HERE."),
    ("float(loss)",
     "TypeError [float] Expected a value, got the tensor float32(), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("int(loss)",
     "TypeError [int] Expected a value, got the tensor float32(), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("round(loss)",
     "TypeError [round] Expected a value, got the tensor float32(), which has one only during a run; al.rint "
     "rounds it there; asked at HERE."),
    ("loss.item()",
     "AttributeError [Tensor] float32() has no attribute item; use graph.run(x, feeds); a tensor has a value "
     "only during a run; asked at HERE."),
    ("loss.numpy()",
     "AttributeError [Tensor] float32() has no attribute numpy; use graph.run(x, feeds); a tensor has a value"
     " only during a run; asked at HERE."),
    ("x.numpy()",
     "AttributeError [Tensor] float32(?, 3) has no attribute numpy; use graph.run(x, feeds); a tensor has a "
     "value only during a run; asked at HERE."),
    ("w.data",
     "AttributeError [Variable] float32(3, 1) has no attribute data; use w.numpy() to read it, "
     "w.assign(array) to set it; asked at HERE."),
    ("w.grad",
     "AttributeError [Variable] float32(3, 1) has no attribute grad; use al.gradients(loss, [w]); asked at "
     "HERE."),
    ("w.value",
     "AttributeError [Variable] float32(3, 1) has no attribute value; use w.numpy() to read it, "
     "w.assign(array) to set it; asked at HERE."),
    ("x.grad",
     "AttributeError [Tensor] float32(?, 3) has no attribute grad; use al.gradients(loss, [x]); asked at "
     "HERE."),
    ("loss.backward()",
     "AttributeError [Tensor] float32() has no attribute backward; use al.gradients(loss, variables), or "
     "optimizer.minimize(loss); asked at HERE."),
    ("x.detach()",
     "AttributeError [Tensor] float32(?, 3) has no attribute detach; use al.stop_gradient(x); asked at HERE."),
    ('x.to("cuda")',
     "AttributeError [Tensor] float32(?, 3) has no attribute to; use x.astype(dtype); al.Graph(device=...) "
     "chooses the device; asked at HERE."),
    ("x.view(-1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute view; use x.reshape(shape); asked at HERE."),
    ("x.size(0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute size; use x.shape, or math.prod(x.shape); asked "
     "at HERE."),
    ("x.size",
     "AttributeError [Tensor] float32(?, 3) has no attribute size; use x.shape, or math.prod(x.shape); asked "
     "at HERE."),
    ("x.dim()", "AttributeError [Tensor] float32(?, 3) has no attribute dim; use x.ndim; asked at HERE."),
    ("x.numel()",
     "AttributeError [Tensor] float32(?, 3) has no attribute numel; use math.prod(x.shape); asked at HERE."),
    ("x.unsqueeze(0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute unsqueeze; use al.expand_dims, or x[:, None]; "
     "asked at HERE."),
    ("x.permute(1, 0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute permute; use x.transpose(axes); asked at HERE."),
    ("x.float()",
     'AttributeError [Tensor] float32(?, 3) has no attribute float; use x.astype("float32"); asked at HERE.'),
    ("x.long()", 'AttributeError [Tensor] float32(?, 3) has no attribute long; use x.astype("int64"); asked at HERE.'),
    ("x.clone()",
     "AttributeError [Tensor] float32(?, 3) has no attribute clone; use al.identity(x); tensors never change;"
     " asked at HERE."),
    ("x.repeat(2, 1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute repeat; use al.tile, or al.gather with repeated "
     "indices; asked at HERE."),
    ("x.expand(2, 3)",
     "AttributeError [Tensor] float32(?, 3) has no attribute expand; use al.broadcast_to(x, shape); asked at "
     "HERE."),
    ("x.norm()",
     "AttributeError [Tensor] float32(?, 3) has no attribute norm; use al.norm(x, ...); asked at HERE."),
    ("x.std()",
     "AttributeError [Tensor] float32(?, 3) has no attribute std; use al.std(x, ...); asked at HERE."),
    ("x.var(0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute var; use al.variance(x, axis); asked at HERE."),
    ("x.exp()", "AttributeError [Tensor] float32(?, 3) has no attribute exp; use al.exp(x); asked at HERE."),
    ("x.softmax(-1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute softmax; use al.softmax(x, ...); asked at HERE."),
    ("x.clamp(0, 1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute clamp; use al.clamp(x, ...); asked at HERE."),
    ("x.clip(0, 1)", "AttributeError [Tensor] float32(?, 3) has no attribute clip; use al.clamp; asked at HERE."),
    ("x.add_(1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute add_; tensors do not change, al.add gives "
     "another; asked at HERE."),
    ("x.fill_(0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute fill_; use al.full_like, or "
     "graph.constant(np.full(shape, value)); asked at HERE."),
    ("x.pow(2)", "AttributeError [Tensor] float32(?, 3) has no attribute pow; use al.power; asked at HERE."),
    ("x.t()", "AttributeError [Tensor] float32(?, 3) has no attribute t; use x.T; asked at HERE."),
    ("x.flatten()",
     "AttributeError [Tensor] float32(?, 3) has no attribute flatten; use x.reshape(-1) for one axis, "
     "al.flatten(x) to keep the first axis; asked at HERE."),
    ("x.ravel()", "AttributeError [Tensor] float32(?, 3) has no attribute ravel; use x.reshape(-1); asked at HERE."),
    ("x.dot(w)",
     "AttributeError [Tensor] float32(?, 3) has no attribute dot; use al.matmul, or al.sum(a * b) of vectors;"
     " asked at HERE."),
    ("x.matmul(w)",
     "AttributeError [Tensor] float32(?, 3) has no attribute matmul; use al.matmul(x, ...); asked at HERE."),
    ("x.mm(w)", "AttributeError [Tensor] float32(?, 3) has no attribute mm; use al.matmul; asked at HERE."),
    ("x.cumsum(0)",
     "AttributeError [Tensor] float32(?, 3) has no attribute cumsum; use al.cumsum(x, ...); asked at HERE."),
    ("x.sort()", "AttributeError [Tensor] float32(?, 3) has no attribute sort; use al.sort(x, ...); asked at HERE."),
    ("x.topk(2)", "AttributeError [Tensor] float32(?, 3) has no attribute topk; use al.top_k; asked at HERE."),
    ("x.is_cuda", "AttributeError [Tensor] float32(?, 3) has no attribute is_cuda; use al.device(); asked at HERE."),
    ("x.get_shape()", "AttributeError [Tensor] float32(?, 3) has no attribute get_shape; use x.shape; asked at HERE."),
    ("x.rank", "AttributeError [Tensor] float32(?, 3) has no attribute rank; use x.ndim; asked at HERE."),
    ("len(loss)", "TypeError [len] Expected a tensor of known length, got float32(); asked at HERE."),
    ("len(x)", "TypeError [len] Expected a tensor of known length, got float32(?, 3); asked at HERE."),
    ("for r in x: pass",
     "TypeError [iter] Expected a sequence, got the tensor float32(?, 3); al.split cuts it up, x[i] is a part;"
     " asked at HERE."),
    ("list(x)",
     "TypeError [iter] Expected a sequence, got the tensor float32(?, 3); al.split cuts it up, x[i] is a part;"
     " asked at HERE."),
    ("a, c = x",
     "TypeError [iter] Expected a sequence, got the tensor float32(?, 3); al.split cuts it up, x[i] is a part;"
     " asked at HERE."),
    ("x in [1]",
     "TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got int;"
     " elements are compared by al.equal and al.not_equal; built at HERE."),
    ("1 in x",
     "TypeError [in] Expected a sequence, got the tensor float32(?, 3); al.any(al.equal(x, value)) asks in a "
     "run; asked at HERE."),
    ("if x > 0: pass",
     "TypeError [bool] Expected a value, got the tensor bool(?, 3), which has one only during a run; al.where "
     "chooses between elements, al.cond between functions; asked at HERE."),
    ("x and y",
     "TypeError [bool] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "al.where chooses between elements, al.cond between functions; asked at HERE."),
    ("not x",
     "TypeError [bool] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "al.where chooses between elements, al.cond between functions; asked at HERE."),
    ("max(x, 0)",
     "TypeError [bool] Expected a value, got the tensor bool(?, 3), which has one only during a run; al.where "
     "chooses between elements, al.cond between functions; asked at HERE."),
    ("min(x, y)", "TypeError [less] Operands of different types: int32(?,) and float32(?, 3); built at HERE."),
    ("sum(x)",
     "TypeError [iter] Expected a sequence, got the tensor float32(?, 3); al.split cuts it up, x[i] is a part;"
     " asked at HERE."),
    ("x == 1",
     "TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got int;"
     " elements are compared by al.equal and al.not_equal; built at HERE."),
    ("x != 1",
     "TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got int;"
     " elements are compared by al.equal and al.not_equal; built at HERE."),
    ("A == x",
     "TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got "
     "ndarray; elements are compared by al.equal and al.not_equal; built at HERE."),
    ("x > 1 > 0",
     "TypeError [bool] Expected a value, got the tensor bool(?, 3), which has one only during a run; al.where "
     "chooses between elements, al.cond between functions; asked at HERE."),
    ("x[x > 0]",
     "TypeError [slice] Expected integers, got the mask bool(?, 3); only a run knows how much it selects; "
     "al.where(mask, x, 0) keeps the shape; built at HERE."),
    ("x[flag]",
     "TypeError [slice] Expected integers, got the mask bool(); only a run knows how much it selects; "
     "al.where(mask, x, 0) keeps the shape; built at HERE."),
    ("x[0] = 1",
     "TypeError [slice_update] Tensors do not change, got a value for a part of float32(?, 3); "
     "al.slice_update(x, np.s_[...], value) is a tensor with that part changed; called at HERE."),
    ("x[0, 0, 0]",
     "ValueError [slice] Expected at most 2 indices and one ..., got (0, 0, 0) for float32(?, 3); built at "
     "HERE."),
    ('x["a"]', "TypeError [slice] Expected integers, slices, None, ... or arrays of places, got str; built at HERE."),
    ("x[1.0]", "TypeError [slice] Expected integers, slices, None, ... or arrays of places, got float; built at HERE."),
    ("x[:, 5]", "ValueError [slice] Index 5 is outside axis 1 of float32(?, 3); built at HERE."),
    ("x[y:]",
     "TypeError [slice] Expected integers as bounds, got slice(<Tensor 'y' int32(?,)>, None, None); slices by "
     "tensors are not available, x[places] takes a tensor of places; built at HERE."),
    ("x.shape = (2, 3)", "AttributeError [Tensor] float32(?, 3) has no attribute shape to set; set at HERE."),
    ('x.name = "a"', "AttributeError [Tensor] float32(?, 3) has no attribute name to set; set at HERE."),
    ("x.foo = 1", "AttributeError [Tensor] float32(?, 3) has no attribute foo to set; set at HERE."),
    ("x.requires_grad = True",
     "AttributeError [Tensor] float32(?, 3) has no attribute requires_grad to set; use al.gradients, which "
     "takes any tensor; set at HERE."),
    ("w += 1",
     "TypeError [assign] A variable does not change by +=, got <Variable 'w' float32(3, 1)>; graph.assign(w, w"
     " + ...) is an update of a step, and x = w + ... another tensor; called at HERE."),
    ("w -= 0.1 * w",
     "TypeError [assign] A variable does not change by -=, got <Variable 'w' float32(3, 1)>; graph.assign(w, w"
     " - ...) is an update of a step, and x = w - ... another tensor; called at HERE."),
    ("w[0] = 1",
     "TypeError [slice_update] Tensors do not change, got a value for a part of float32(3, 1); "
     "al.slice_update(x, np.s_[...], value) is a tensor with that part changed; called at HERE."),
    ("w.assign(x)",
     "TypeError [assign] Expected an array for <Variable 'w' float32(3, 1)>, got the tensor float32(?, 3), "
     "which has a value only during a run; graph.assign(w, tensor) is an update of a step; called at HERE."),
    ("w.assign(1)", "ValueError [variable] The variable has shape (3, 1) but the value has shape (); built at MADE."),
    ("w.assign([[1], [2]])",
     "ValueError [variable] The variable has shape (3, 1) but the value has shape (2, 1); built at MADE."),
    ("w.assign()", "TypeError [assign] Expected assign(value), got no value; called at HERE."),
    ("w.assign(np.ones((3,1), int))",
     "TypeError [assign] 'w' is float32 but was given an array of int64; called at HERE."),
    ("w.assign_sub(1)",
     "AttributeError [Variable] float32(3, 1) has no attribute assign_sub; use graph.assign(w, w - ...), an "
     "update of a step; asked at HERE."),
    ('x + "a"', "TypeError [add] Expected a tensor, a number or an array, got str; built at HERE."),
    ("x + None", "TypeError [add] Expected a tensor, a number or an array, got NoneType; built at HERE."),
    ("x + [1, 2, 3]",
     "TypeError [add] Expected a tensor, a number or an array, got list; np.array makes an array of it; built "
     "at HERE."),
    ("x + y", "TypeError [add] Operands of different types: float32(?, 3) and int32(?,); built at HERE."),
    ("y / 2",
     "TypeError [divide] Expected floats beside /, got int32(?,); cast it to float32, or take // for whole "
     "numbers; built at HERE."),
    ("y / y",
     "TypeError [divide] Expected floats beside /, got int32(?,); cast it to float32, or take // for whole "
     "numbers; built at HERE."),
    ("x @ 2", "ValueError [matmul] Expected operands of rank 2 or more, got shapes (?, 3) and (); built at HERE."),
    ("2 @ x", "ValueError [matmul] Expected operands of rank 2 or more, got shapes () and (?, 3); built at HERE."),
    ('x ** "a"', "TypeError [power] Expected a tensor, a number or an array, got str; built at HERE."),
    ("~x", "TypeError [bitwise_not] Expected operands of a integer type, got float32(?, 3); built at HERE."),
    ("x & 1", "TypeError [bitwise_and] Expected operands of a integer type, got float32(?, 3); built at HERE."),
    ("x << 1", "TypeError [left_shift] Expected operands of a integer type, got float32(?, 3); built at HERE."),
    ("-flag", "TypeError [negative] Expected operands of a number, got bool(); built at HERE."),
    ("flag + 1", "TypeError [add] The value is bool, which cannot hold 1; built at HERE."),
    ("x.sum(dim=0)",
     "TypeError [sum] Expected sum(x, axis=None, *, keepdims=False), got an argument dim; its name here is "
     "axis; called at HERE."),
    ("x.sum(axes=0)",
     "TypeError [sum] Expected sum(x, axis=None, *, keepdims=False), got an argument axes; its name here is "
     "axis; called at HERE."),
    ("x.sum(0, True)",
     "TypeError [sum] Expected sum(x, axis=None, *, keepdims=False), got 3 arguments by position; the others "
     "have names, for instance keepdims=True; called at HERE."),
    ("x.sum(keepdim=True)",
     "TypeError [sum] Expected sum(x, axis=None, *, keepdims=False), got an argument keepdim; its name here is"
     " keepdims; called at HERE."),
    ('x.sum("a")', "TypeError [sum] Expected axes of integers, got 'a'; built at HERE."),
    ("x.sum(5)", "ValueError [sum] Axis 5 is outside a tensor of rank 2; built at HERE."),
    ("x.max(1, 2)",
     "TypeError [max] Expected max(x, axis=None, *, keepdims=False), got 3 arguments by position; the others "
     "have names, for instance keepdims=2; called at HERE."),
    ("x.argmax(None)", "TypeError [argmax] Expected an integer as the axis, got None; built at HERE."),
    ("x.argmax(dim=1)",
     "TypeError [argmax] Expected argmax(x, axis=-1, *, keepdims=False), got an argument dim; its name here is"
     " axis; called at HERE."),
    ("x.reshape()",
     "TypeError [reshape] Expected a shape or its dimensions for float32(?, 3), got none; built at HERE."),
    ('x.reshape("a")', "TypeError [reshape] Expected a shape of integers and None, got ['a']; built at HERE."),
    ("x.reshape(2.0, 3)", "TypeError [reshape] Expected a shape of integers and None, got [2.0, 3]; built at HERE."),
    ("x.transpose(0)",
     "ValueError [transpose] Expected a permutation of the 2 axes of shape (?, 3), got (0,); built at HERE."),
    ("x.transpose(0, 0)",
     "ValueError [transpose] Expected a permutation of the 2 axes of shape (?, 3), got (0, 0); built at HERE."),
    ("x.astype()", "TypeError [astype] Expected astype(dtype), got no dtype; called at HERE."),
    ('x.astype("float64")', "TypeError [cast] Expected an element type such as float32, got float64; built at HERE."),
    ("x.astype(float)", "TypeError [cast] Expected an element type such as float32, got float64; built at HERE."),
    ('x.astype("foo")', "TypeError [cast] Expected an element type such as float32, got foo; built at HERE."),
    ("x.astype(None)", "TypeError [cast] Expected an element type such as float32, got None; built at HERE."),
    ("al.cast(x, None)", "TypeError [cast] Expected an element type such as float32, got None; built at HERE."),
    ('al.cast(A, "int32")', "TypeError [cast] Expected a tensor, got ndarray; built at HERE."),
    ("al.cast(x)", "TypeError [cast] Expected cast(x, dtype), got no dtype; called at HERE."),
    ("al.relu()", "TypeError [relu] Expected relu(x), got no x; called at HERE."),
    ("al.relu(A)",
     "TypeError [relu] Expected a tensor among the operands, got ndarray; graph.constant makes one; built at "
     "HERE."),
    ("al.relu(1)",
     "TypeError [relu] Expected a tensor among the operands, got int; graph.constant makes one; built at HERE."),
    ("al.relu(x, 1)", "TypeError [relu] Expected relu(x), got 2 arguments by position; called at HERE."),
    ('al.relu("a")',
     "TypeError [relu] Expected a tensor among the operands, got str; graph.constant makes one; built at HERE."),
    ("al.relu(None)",
     "TypeError [relu] Expected a tensor among the operands, got NoneType; graph.constant makes one; built at "
     "HERE."),
    ("al.relu([x, x])",
     "TypeError [relu] Expected a tensor among the operands, got list; graph.constant makes one; built at "
     "HERE."),
    ("al.relu(x, inplace=True)",
     "TypeError [relu] Expected relu(x), got an argument inplace; a tensor is never changed in place; called at "
     "HERE."),
    ('al.relu(x, name="r")',
     "TypeError [relu] Expected relu(x), got an argument name; a tensor has the name of the op; placeholders "
     "and variables take names; called at HERE."),
    ("al.softmax(x, dim=1)",
     "TypeError [softmax] Expected softmax(x, axis=-1), got an argument dim; its name here is axis; called at "
     "HERE."),
    ("al.softmax(y)", "TypeError [softmax] Expected a floating type, got int32(?,); built at HERE."),
    ("al.softmax(A)",
     "TypeError [softmax] Expected a tensor among the operands, got ndarray; graph.constant makes one; built "
     "at HERE."),
    ("al.mean([x, x])", "TypeError [mean] Expected a tensor, got list; built at HERE."),
    ("al.mean(A)", "TypeError [mean] Expected a tensor, got ndarray; built at HERE."),
    ("al.sum(x, 0, True)",
     "TypeError [sum] Expected sum(x, axis=None, *, keepdims=False), got 3 arguments by position; the others "
     "have names, for instance keepdims=True; called at HERE."),
    ("al.add(x)", "TypeError [add] Expected add(a, b), got no b; called at HERE."),
    ("al.add(1, 2)",
     "TypeError [add] Expected a tensor among the operands, got int, int; graph.constant makes one; built at "
     "HERE."),
    ("al.matmul(x)", "TypeError [matmul] Expected matmul(a, b), got no b; called at HERE."),
    ("al.concat(x, 0)",
     "TypeError [concat] Expected a list of tensors, got the tensor float32(?, 3); write [it]; built at HERE."),
    ("al.concat([], 0)",
     "TypeError [concat] Expected a tensor among the operands, got none; graph.constant makes one; built at "
     "HERE."),
    ("al.concat([x, x])", "TypeError [concat] Expected concat(tensors, axis), got no axis; called at HERE."),
    ("al.concat((x, 1), 0)", "ValueError [concat] Shapes (?, 3) and () differ in more than axis 0; built at HERE."),
    ("al.concat([x, x], dim=0)",
     "TypeError [concat] Expected concat(tensors, axis), got an argument dim; its name here is axis; called at"
     " HERE."),
    ("al.concat(x, x)",
     "TypeError [concat] Expected a list of tensors, got the tensor float32(?, 3); write [it]; built at HERE."),
    ("al.stack(x)",
     "TypeError [stack] Expected a list of tensors, got the tensor float32(?, 3); write [it]; built at HERE."),
    ("al.split(x, [1, 1], dim=1)",
     "TypeError [split] Expected split(x, sizes, axis=0), got an argument dim; its name here is axis; called "
     "at HERE."),
    ("al.expand_dims(x)", "TypeError [expand_dims] Expected expand_dims(x, axis), got no axis; called at HERE."),
    ("al.expand_dims(x, 5)", "ValueError [expand_dims] Axis 5 is outside a tensor of rank 3; built at HERE."),
    ("al.where(x > 0)", "TypeError [where] Expected where(condition, a, b), got no a and no b; called at HERE."),
    ("al.where(True, 1, 2)",
     "TypeError [where] Expected a tensor among the operands, got bool, int, int; graph.constant makes one; "
     "built at HERE."),
    ("al.where(x, x, y)", "TypeError [where] Operands of different types: float32(?, 3) and int32(?,); built at HERE."),
    ("al.clamp(x, 0)", "TypeError [clamp] Expected clamp(x, low, high), got no high; called at HERE."),
    ("al.clamp(x, min=0, max=1)",
     "TypeError [clamp] Expected clamp(x, low, high), got an argument min; its name here is low; called at "
     "HERE."),
    ('al.pad(x, 1, mode="foo")',
     "ValueError [pad] Expected a mode among constant, reflect, symmetric, edge, wrap, antiperiodic, got "
     "'foo'; built at HERE."),
    ('al.pad(x, "a")', "ValueError [pad] Expected a pair (before, after) for each axis, got 'a'; built at HERE."),
    ("al.pad(x, (1, 1))", "ValueError [pad] Expected a pair (before, after) for each axis, got (1, 1); built at HERE."),
    ("al.pad(x, ((1, 1), (0, 0)), constant_values=1)",
     "TypeError [pad] Expected pad(x, padding, *, mode='constant', value=0), got an argument constant_values; "
     "called at HERE."),
    ("al.one_hot(y)",
     "TypeError [one_hot] Expected one_hot(indices, depth, axis=-1, *, dtype='float32'), got no depth; called "
     "at HERE."),
    ("al.one_hot(y, num_classes=3)",
     "TypeError [one_hot] Expected one_hot(indices, depth, axis=-1, *, dtype='float32'), got an argument "
     "num_classes; its name here is depth; called at HERE."),
    ("al.one_hot(x, 3)", "TypeError [one_hot] Expected indices of an integer type, got float32(?, 3); built at HERE."),
    ("al.one_hot([0, 1], 3)",
     "TypeError [one_hot] Expected a tensor among the operands, got list; graph.constant makes one; built at "
     "HERE."),
    ("al.one_hot(y, 0)", "ValueError [one_hot] Expected a depth of 1 or more, got 0; built at HERE."),
    ("al.gather(x, 1.5)", "TypeError [gather] Expected indices of an integer type, got float32(); built at HERE."),
    ("al.gather(x, dim=0, index=y)",
     "TypeError [gather] Expected gather(x, indices, axis=0, *, batch_dims=0), got an argument dim; its name "
     "here is axis; called at HERE."),
    ("al.top_k(x)", "TypeError [top_k] Expected top_k(x, k, axis=-1), got no k; called at HERE."),
    ("al.top_k(x, 5)",
     "ValueError [top_k] Expected at most the 3 elements along the axis of shape (?, 3), got 5; built at HERE."),
    ("al.conv2d(x, w)", "ValueError [conv2d] Expected a source of rank 4, got shape (?, 3); built at HERE."),
    ("al.conv2d(x, w, 2)",
     "TypeError [conv2d] Expected conv2d(x, weights, *, strides=1, padding='valid', dilations=1, groups=1, "
     "data_layout='NHWC', weights_layout='HWIO'), got 3 arguments by position; the others have names, for "
     "instance strides=2; called at HERE."),
    ("al.conv2d(x, w, stride=2)",
     "TypeError [conv2d] Expected conv2d(x, weights, *, strides=1, padding='valid', dilations=1, groups=1, "
     "data_layout='NHWC', weights_layout='HWIO'), got an argument stride; its name here is strides; called at "
     "HERE."),
    ("al.conv2d(x, filters=3)",
     "TypeError [conv2d] Expected conv2d(x, weights, *, strides=1, padding='valid', dilations=1, groups=1, "
     "data_layout='NHWC', weights_layout='HWIO'), got an argument filters; called at HERE."),
    ("al.max_pool2d(x, 2)",
     "TypeError [max_pool2d] Expected max_pool2d(x, *, window=2, strides=None, padding='valid', "
     "data_layout='NHWC'), got 2 arguments by position; the others have names, for instance window=2; called at "
     "HERE."),
    ("al.max_pool2d(x, kernel_size=2)",
     "TypeError [max_pool2d] Expected max_pool2d(x, *, window=2, strides=None, padding='valid', "
     "data_layout='NHWC'), got an argument kernel_size; its name here is window; called at HERE."),
    ("al.dropout(x, 0.5)", "AttributeError [al] There is no al.dropout; it is al.random.dropout; asked at HERE."),
    ("al.random.normal((2, 3))",
     "TypeError [normal] Expected normal(state, shape, mean=0.0, stddev=1.0, *, sampling='inverse_cdf'), got "
     "no shape; called at HERE."),
    ("al.random.normal(0, 1, (2, 3))", "TypeError [random] Expected a tensor, got int; built at HERE."),
    ("al.random.uniform(x)",
     "TypeError [uniform] Expected uniform(state, shape, low=0.0, high=1.0), got no shape; called at HERE."),
    ("al.init.normal((2, 3))",
     "TypeError [normal] Expected normal(shape, mean=0.0, stddev=0.05, *, seed), got no seed; called at HERE."),
    ("al.init.glorot_uniform((2, 3))",
     "TypeError [glorot_uniform] Expected glorot_uniform(shape, *, seed), got no seed; called at HERE."),
    ("al.init.zeros(2, 3)", "TypeError [zeros] Expected zeros(shape), got 2 arguments by position; called at HERE."),
    ("al.init.he_uniform((2, 3))", "AttributeError [al.init] There is no al.init.he_uniform; asked at HERE."),
    ("al.init.xavier_uniform((3, 3))",
     "AttributeError [al.init] There is no al.init.xavier_uniform; use al.init.glorot_uniform; asked at HERE."),
    ("al.init.orthogonal((3,), seed=0)",
     "ValueError [orthogonal] Expected a shape (rows, columns), got (3,); called at HERE."),
    ("al.init.glorot_uniform(3, seed=0)",
     "ValueError [init] Expected a shape of weights, (in, out) or (height, width, in, out), got 3; called at "
     "HERE."),
    ("al.gradients(loss)", "TypeError [gradients] Expected gradients(loss, tensors), got no tensors; called at HERE."),
    ("al.gradients(loss, w)",
     "TypeError [gradients] Expected a list of tensors, got the tensor float32(3, 1); write [it]; built at "
     "HERE."),
    ("al.gradients(loss, [1])", "TypeError [gradients] Expected tensors, got int; built at HERE."),
    ("al.gradients(2, [w])", "TypeError [gradients] Expected a tensor, got int; built at HERE."),
    ("al.gradients([loss], [w])", "TypeError [gradients] Expected a tensor, got list; built at HERE."),
    ("al.grad(loss, w)", "AttributeError [al] There is no al.grad; use al.gradients; asked at HERE."),
    ("al.cond(True, lambda: x, lambda: x)",
     "TypeError [cond] Expected a tensor as the predicate (Python's if chooses by values that are known now), "
     "got bool; built at HERE."),
    ("al.cond(loss > 0, x, x)",
     "TypeError [cond] Expected true_fn as a function such as lambda: x, got the tensor float32(?, 3); built "
     "at HERE."),
    ("al.cond(loss > 0, lambda: x, lambda: y)",
     "ValueError [cond] Result 0 is float32(?, 3) in one branch and int32(?,) in the other; built at HERE."),
    ("al.cond(loss > 0, lambda: 1, lambda: 2)",
     "TypeError [cond] Expected tensors from the function, got int; built at HERE."),
    ("al.cond(loss > 0, lambda: None, lambda: x)",
     "TypeError [cond] Expected tensors from the function, got NoneType; built at HERE."),
    ("al.cond(loss > 0, lambda a: x, lambda: x)",
     "TypeError [cond] Expected true_fn as a function such as lambda: x, got one of (a); built at HERE."),
    ("al.while_loop(x, x, x)",
     "TypeError [while_loop] Expected condition as a function such as lambda value: ..., got the tensor "
     "float32(?, 3); built at HERE."),
    ("al.scan(lambda a: a, x, x)",
     "TypeError [scan] Expected body as a function such as lambda value, x: ..., got one of (a); built at "
     "HERE."),
    ("al.for_loop(0, 3, lambda i: x, x)",
     "TypeError [for_loop] Expected body as a function such as lambda index, value: ..., got one of (i); built"
     " at HERE."),
    ("al.for_loop(0, 3, lambda i, u: 1.0, x)",
     "ValueError [for_loop] Value 0 is float32(?, 3) before an iteration and float32() behind it; built at "
     "HERE."),
    ("g.placeholder()",
     "TypeError [placeholder] Expected placeholder(shape, dtype='float32', name=''), got no shape; called at "
     "HERE."),
    ('g.placeholder("x")', "TypeError [placeholder] Expected a shape of integers and None, got ['x']; built at HERE."),
    ("g.placeholder((2, 3), float)",
     "TypeError [placeholder] Expected an element type such as float32, got float64; built at HERE."),
    ('g.placeholder((2, 3), "x")',
     "TypeError [placeholder] Expected an element type such as float32, got x; built at HERE."),
    ("g.placeholder(2, 3)", "TypeError [placeholder] Expected an element type such as float32, got 3; built at HERE."),
    ("g.placeholder((2,), name=3)", "TypeError [placeholder] Expected a name as a text, got 3; built at HERE."),
    ("g.placeholder([None, 3], shape=3)",
     "TypeError [placeholder] Expected placeholder(shape, dtype='float32', name=''), got shape twice; called "
     "at HERE."),
    ("g.placeholder((-1, 3))",
     "ValueError [placeholder] Expected dimensions of 0 or more and below 2^63, or None, got [-1, 3]; built at"
     " HERE."),
    ("g.constant()", "TypeError [constant] Expected constant(value, name=''), got no value; called at HERE."),
    ('g.constant("a")',
     "TypeError [constant] The value is an array of <U1, which is no element type here; built at HERE."),
    ("g.constant(None)",
     "TypeError [constant] The value is an array of object, which is no element type here; built at HERE."),
    ("g.constant(x)",
     "TypeError [array] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("g.constant([x, x])",
     "TypeError [array] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("g.variable()",
     "TypeError [variable] Expected variable(value, name='', trainable=True), got no value; called at HERE."),
    ("g.variable((3, 3))",
     "TypeError [variable] Expected a value, got (3, 3), which looks like a shape; al.init.zeros((3, 3)) is a "
     "value of that shape, a list of integers a value of these integers; built at HERE."),
    ("g.variable(shape=(3, 3))",
     "TypeError [variable] Expected variable(value, name='', trainable=True), got an argument shape; called at"
     " HERE."),
    ('g.variable("a")',
     "TypeError [variable] The value is an array of <U1, which is no element type here; built at HERE."),
    ("g.variable(None)",
     "TypeError [variable] The value is an array of object, which is no element type here; built at HERE."),
    ("g.variable(x)",
     "TypeError [array] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ('g.variable(1.0, trainable="no")', "TypeError [trainable] Expected True or False, got 'no'; set at HERE."),
    ("g.variable(al.init.zeros)",
     "TypeError [variable] The value is an array of object, which is no element type here; built at HERE."),
    ('g.variable(1.0, dtype="float16")',
     "TypeError [variable] Expected variable(value, name='', trainable=True), got an argument dtype; called at"
     " HERE."),
    ("g.assign(w)", "TypeError [assign] Expected assign(variable, value), got no value; called at HERE."),
    ("g.assign(w, 1)", "ValueError [assign] The variable has shape (3, 1) but the value has shape (); built at HERE."),
    ("g.assign(x, w)", "TypeError [assign] Expected a variable, got Tensor; built at HERE."),
    ("g.assign(w, x)",
     "ValueError [assign] The variable has shape (3, 1) but the value has shape (?, 3); built at HERE."),
    ('g.assign(w, "a")', "TypeError [assign] Expected a tensor, a number or an array, got str; built at HERE."),
    ('g.assign("w", 1)', "TypeError [assign] Expected a variable, got str; built at HERE."),
    ("g.compile(x, loss)",
     "TypeError [compile] Expected a list of feeds, got the tensor float32(?, 3); write [it]; built at HERE."),
    ("g.compile([x], loss)",
     "TypeError [compile] Expected a list of fetches, got the tensor float32(); write [it]; built at HERE."),
    ("g.compile([x, y], [loss], w)",
     "TypeError [compile] Expected a list of updates, got the tensor float32(3, 1); write [it]; built at HERE."),
    ("g.compile([x], [loss], [w])", "TypeError [compile] Expected updates, got Variable; built at HERE."),
    ("g.compile([x], [loss], g.assign(w, w))",
     "TypeError [compile] Expected a list of updates, got <Update of <Variable 'w' float32(3, 1)> to <Tensor "
     "'w' float32(3, 1)>>; write [it]; built at HERE."),
    ('g.compile({"x": A}, [loss])', "TypeError [compile] Expected tensors to feed and fetch, got str; built at HERE."),
    ('g.compile(["x"], [loss])', "TypeError [compile] Expected tensors to feed and fetch, got str; built at HERE."),
    ('g.compile([x], ["loss"])', "TypeError [compile] Expected tensors to feed and fetch, got str; built at HERE."),
    ("g.compile([x, x], [loss])", "ValueError [placeholder] The placeholder 'x' is fed twice; built at MADE."),
    ("g.compile([loss], [loss])",
     "ValueError [squeeze] Only a placeholder can be fed, not the result of this op; built at MADE."),
    ("g.compile(inputs=[x], outputs=[loss])",
     "TypeError [compile] Expected compile(feeds=(), fetches=(), updates=(), *, steps=None), got an argument "
     "inputs; its name here is feeds; called at HERE."),
    ("g.compile([x], [loss], steps=0)",
     "ValueError [compile] Expected a number of steps of 1 or more, got 0; built at HERE."),
    ("g.compile([x], None)", "TypeError [compile] Expected a list of fetches, got NoneType; built at HERE."),
    ("g.compile([x], [None])", "TypeError [compile] Expected tensors to feed and fetch, got NoneType; built at HERE."),
    ('g.compile("adam", "mse")', "TypeError [compile] Expected a list of feeds, got str; built at HERE."),
    ('g.compile(optimizer="adam", loss="mse")',
     "TypeError [compile] Expected compile(feeds=(), fetches=(), updates=(), *, steps=None), got an argument "
     "optimizer; called at HERE."),
    ("step()", "ValueError [executable] Expected 1 feeds ('x' of MADE), got 0 without 'x' of MADE."),
    ("step(A, A)", "ValueError [executable] Expected 1 feeds ('x' of MADE), got 2."),
    ("step(X=A)", "ValueError [executable] Expected the name of one placeholder among 'x' of MADE, got 'X'."),
    ("step({w: A})",
     "ValueError [executable] Expected feeds among 'x' or their names, got <Variable 'w' float32(3, 1)>; "
     "called at HERE."),
    ('step({"z": A})', "ValueError [executable] Expected feeds among 'x' or their names, got 'z'; called at HERE."),
    ("step({1: A})", "ValueError [executable] Expected feeds among 'x' or their names, got 1; called at HERE."),
    ("step([A])",
     "ValueError [placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (1, 2, 3); built at "
     "MADE."),
    ("step(A.T)",
     "ValueError [placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (3, 2); built at MADE."),
    ("step(A[0])",
     "ValueError [placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (3,); built at MADE."),
    ("step(None)",
     "TypeError [placeholder] 'x', built at MADE, is float32 but was given an array of object; called at HERE."),
    ('step("a")',
     "TypeError [placeholder] 'x', built at MADE, is float32 but was given an array of <U1; called at HERE."),
    ("step(x)",
     "TypeError [array] Expected a value, got the tensor float32(?, 3), which has one only during a run; "
     "graph.run(x, feeds) runs it; asked at HERE."),
    ("step(w)",
     "ValueError [placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (3, 1); built at MADE."),
    ("step(A.astype(int))",
     "TypeError [placeholder] 'x', built at MADE, is float32 but was given an array of int64; called at HERE."),
    ("step(A.astype(complex))",
     "TypeError [placeholder] 'x', built at MADE, is float32 but was given an array of complex128; called at "
     "HERE."),
    ('step(np.zeros((0, 3), "f"))',
     "ValueError [placeholder] The shape (0, 3) has no elements; at least one was expected; built at MADE."),
    ("scaled(A, np.array([1, 2**40]))",
     "TypeError [placeholder] 'y', built at MADE, is int32, which cannot hold 1099511627776; called at HERE."),
    ("scaled(A, np.array([1.0, 2.0]))",
     "TypeError [placeholder] 'y', built at MADE, is int32 but was given an array of float64; called at HERE."),
    ("scaled(A, np.ones(5, int))",
     "ValueError [multiply] Shapes (2, 3) and (5, 1) do not broadcast, where 'x' of shape (2, 3), 'y' of shape"
     " (5,) are fed; built at MADE."),
    ("scaled(A)", "ValueError [executable] Expected 2 feeds ('x' of MADE, 'y' of MADE), got 1 without 'y' of MADE."),
    ("step.run(A)", "AttributeError [Executable] An Executable has no attribute run; use step(...); asked at HERE."),
    ("step.feeds = []", "AttributeError [Executable] An Executable has no attribute feeds to set; set at HERE."),
    ("step.foo", "AttributeError [Executable] An Executable has no attribute foo; asked at HERE."),
    ("step.predict(A)",
     "AttributeError [Executable] An Executable has no attribute predict; use step(...); asked at HERE."),
    ("step.submit(A).result()",
     "AttributeError [Submission] A Submission has no attribute result; use submission[i], or "
     "list(submission); asked at HERE."),
    ("step.submit()", "ValueError [executable] Expected 1 feeds ('x' of MADE), got 0 without 'x' of MADE."),
    ("step.profile(A, runs=0)", "ValueError [profile] Expected a number of runs of 1 or more, got 0; called at HERE."),
    ("step.memory_plan()",
     "ValueError [memory_plan] Expected the known shapes of 1 feeds, got [(None, 3)]; called at HERE."),
    ("step.staging()", "ValueError [staging] Expected the known shapes of 1 feeds, got [(None, 3)]; called at HERE."),
    ("g.run(loss)",
     "ValueError [placeholder] The placeholder 'x' of shape (?, 3) is needed but was not fed; built at MADE."),
    ("g.run(loss, A)", "TypeError [run] Expected feeds as a dict of arrays, got ndarray; called at HERE."),
    ('g.run("loss", {})', "TypeError [run] Expected a list of tensors to fetch, got str; built at HERE."),
    ('g.run(loss, {"z": A})',
     "ValueError [run] Expected a placeholder or the name of one among 'x', 'y', 'bool()', got 'z'; called at "
     "HERE."),
    ("g.run(3)", "TypeError [run] Expected a list of tensors to fetch, got int; built at HERE."),
    ("g.run()", "TypeError [run] Expected run(fetches, feeds=None), got no fetches; called at HERE."),
    ("g.bind(x=A)", "TypeError [bind] Expected bind(arrays), got an argument x; called at HERE."),
    ('g.bind({"z": A})',
     "ValueError [bind] Expected the name of one placeholder among 'x' of MADE, 'y' of MADE, bool() of MADE, "
     "got 'z'."),
    ("g.bind([A])", "TypeError [bind] Expected a dictionary of arrays by placeholder or name, got list."),
    ("g.bind()", "TypeError [bind] Expected bind(arrays), got no arrays; called at HERE."),
    ("g.verify(x)",
     "TypeError [verify] Expected a list of feeds, got the tensor float32(?, 3); write [it]; built at HERE."),
    ("g.verify([loss])",
     "ValueError [squeeze] Only a placeholder can be fed, not the result of this op; built at MADE. "
     "[placeholder] The placeholder 'x' of shape (?, 3) is needed but was not fed; built at MADE. "
     "[placeholder] The placeholder 'y' of shape (?,) is needed but was not fed; built at MADE. [placeholder] "
     "The placeholder of shape () is needed but was not fed; built at MADE."),
    ("g.variables = []", "AttributeError [Graph] A Graph has no attribute variables to set; set at HERE."),
    ("g.parameters()", "AttributeError [Graph] A Graph has no attribute parameters; use g.variables; asked at HERE."),
    ("g.summary()", "AttributeError [Graph] A Graph has no attribute summary; use g.describe(); asked at HERE."),
    ('g.save("a")',
     'AttributeError [Graph] A Graph has no attribute save; use al.save(g.variables, "file.safetensors"); '
     'asked at HERE.'),
    ("g.foo", "AttributeError [Graph] A Graph has no attribute foo; asked at HERE."),
    ("g.read_variables(w)",
     "TypeError [read_variables] Expected a list of variables, got the tensor float32(3, 1); write [it]; built"
     " at HERE."),
    ("g.read_variables([x])", "TypeError [read_variables] Expected variables, got Tensor; built at HERE."),
    ("g.assign_variables([w], [1])",
     "ValueError [variable] The variable has shape (3, 1) but the value has shape (); built at MADE."),
    ("g.most_in_flight = 0",
     "ValueError [most_in_flight] Expected a number of steps of 1 or more, got 0; set at HERE."),
    ('al.Graph("gpu")',
     "TypeError [Graph] Expected Graph(*, storage='variable', device=''), got 1 argument by position; all have "
     "names; called at HERE."),
    ('al.Graph(device="cuda")', "ValueError [graph] There is no device of the kind or name 'cuda'"),
    ('al.Graph(storage="disk")', "ValueError [graph] Expected the storage 'variable' or 'buffers', got 'disk'."),
    ("with al.Graph() as q: pass",
     "TypeError [graph] A graph is not entered by with; g.placeholder and g.variable name it; called at HERE."),
    ('pickle.dumps(al.Trainer(model, "hinge", "sgd"))',
     "TypeError [Trainer] A trainer belongs to a graph and cannot be copied or pickled; use trainer.model, which can, "
     "or trainer.save(path) and fit(resume=path); asked at HERE."),
    ("copy.copy(g)",
     "TypeError [Graph] A graph and its parts cannot be copied or pickled; build the model "
     "again, and pass values on by al.save and al.load, or by v.assign(w.numpy()); asked at HERE."),
    ("copy.deepcopy(w)",
     "TypeError [Variable] A graph and its parts cannot be copied or pickled; build the model "
     "again, and pass values on by al.save and al.load, or by v.assign(w.numpy()); asked at HERE."),
    ("pickle.dumps(step)",
     "TypeError [Executable] A graph and its parts cannot be copied or pickled; build the model "
     "again, and pass values on by al.save and al.load, or by v.assign(w.numpy()); asked at HERE."),
    ("pickle.dumps(x)",
     "TypeError [Tensor] A graph and its parts cannot be copied or pickled; build the model "
     "again, and pass values on by al.save and al.load, or by v.assign(w.numpy()); asked at HERE."),
    ("al.load(3)", "TypeError [load] Expected load(variables, path), got no path; called at HERE."),
    ("al.no_grad()",
     "AttributeError [al] There is no al.no_grad; use al.stop_gradient for a tensor; gradients are only made "
     "by al.gradients and optimizers; asked at HERE."),
    ("with al.no_grad(): pass",
     "AttributeError [al] There is no al.no_grad; use al.stop_gradient for a tensor; gradients are only made "
     "by al.gradients and optimizers; asked at HERE."),
    ("al.nn.functional.relu(x)",
     "AttributeError [al.nn] There is no al.nn.functional; use al.relu and its like, which are functions of "
     "al itself; asked at HERE."),
    ("al.autograd.Function",
     "AttributeError [al] There is no al.autograd; use al.gradients, or al.custom_gradient for a gradient of one's "
     "own; asked at HERE."),
    ("al.custom_vjp", "AttributeError [al] There is no al.custom_vjp; use al.custom_gradient; asked at HERE."),
    ("al.load_op_library('none.so')",
     "FileNotFoundError [load_op_library] There is no file none.so; called at HERE."),
    ("al.custom_gradient(x)",
     "TypeError [custom_gradient] Expected a function of tensors, got float32(?, 3); built at HERE."),
    ("al.custom_gradient(lambda x: al.exp(x))(x)",
     "TypeError [custom_gradient] Expected a pair of results and the function that is their gradient, got "
     "float32(?, 3); built at HERE."),
    ("al.custom_gradient(lambda x, y: (x * y, lambda g: g))(x, 2.0)",
     "TypeError [custom_gradient] Expected tensors by position (all else is given by name), got float; built at HERE."),
    ("al.optim.Adam()",
     "AttributeError [al] There is no al.optim; use al.SGD, al.Adam and others, which are classes of al "
     "itself; asked at HERE."),
    ("al.float64",
     "AttributeError [al] There is no al.float64; use al.float32; there are no floats of 64 bits; asked at "
     "HERE."),
    ("al.int", "AttributeError [al] There is no al.int; use al.int32; asked at HERE."),
    ('al.device("cuda")',
     "ValueError [device] Expected '..., the kind... here, got 'cuda'; called at HERE."),
    ("al.set_threads(0)", "ValueError [set_threads] Expected a number of threads of 1 or more, got 0; called at HERE."),
    ('al.set_threads("a")',
     "TypeError [set_threads] Expected a number of threads as an integer, got 'a'; called at HERE."),
    ("al.empty()", "TypeError [empty] Expected empty(shape, dtype='float32'), got no shape; called at HERE."),
    ('al.empty("a")', "TypeError [empty] Expected a shape of integers and None, got 'a'; built at HERE."),
    ("al.empty((2, None))", "ValueError [empty] Expected a shape of integers, got (2, None); called at HERE."),
    ("al.nn.Linear(3, 4)", "AttributeError [al.nn] There is no al.nn.Linear; use al.nn.Dense; asked at HERE."),
    ("al.nn.Dense(4)(A)",
     "TypeError [Dense] Expected a tensor, or a tuple, list or dict of tensors, got ndarray; feed arrays to a "
     "placeholder, graph.placeholder(shape), or hand them to al.Trainer; built at HERE."),
    ("al.nn.Dense(4)()", "TypeError [Dense] Expected Dense(x, training=None), got no x; called at HERE."),
    ("al.nn.Dense(4)(y)",
     'TypeError [Dense] Expected a tensor of floats, got int32(?,); al.cast(x, "float32") makes one; in '
     "dense_1; built at HERE."),
    ("al.tensordot(x, w)", "AttributeError [al] There is no al.tensordot; use al.einsum; asked at HERE."),
    ("al.reshape(x, 2, 3)",
     "TypeError [reshape] Expected reshape(x, shape), got 3 arguments by position; called at HERE."),
    ("al.reshape(A, (3, 2))",
     "TypeError [reshape] Expected a tensor among the operands, got ndarray; graph.constant makes one; built "
     "at HERE."),
    ("al.transpose(x, 1, 0)",
     "TypeError [transpose] Expected transpose(x, permutation=None), got 3 arguments by position; called at "
     "HERE."),
    ("al.transpose(x, (1, 0), axes=1)",
     "TypeError [transpose] Expected transpose(x, permutation=None), got an argument axes; its name here is "
     "permutation; called at HERE."),
    ("al.transpose(x, axes=(1, 0))",
     "TypeError [transpose] Expected transpose(x, permutation=None), got an argument axes; its name here is "
     "permutation; called at HERE."),
    ("al.transpose(x, perm=(1, 0))",
     "TypeError [transpose] Expected transpose(x, permutation=None), got an argument perm; its name here is "
     "permutation; called at HERE."),
    ("al.flatten(x, 1)", "TypeError [flatten] Expected flatten(x), got 2 arguments by position; called at HERE."),
    ("al.tile(x, 2)", "ValueError [tile] Expected 2 repeats of 0 or more for shape (?, 3), got (2,); built at HERE."),
    ("al.tile(x, reps=(2, 1))",
     "TypeError [tile] Expected tile(x, repeats), got an argument reps; its name here is repeats; called at "
     "HERE."),
    ("al.broadcast_to(x, 3)",
     "ValueError [broadcast_to] Shape (?, 3) does not broadcast to shape (3,); built at HERE."),
    ("al.argmax(x, 0, True)",
     "TypeError [argmax] Expected argmax(x, axis=-1, *, keepdims=False), got 3 arguments by position; the "
     "others have names, for instance keepdims=True; called at HERE."),
    ("al.variance(x, ddof=1)",
     "TypeError [variance] Expected variance(x, axis=None, *, keepdims=False), got an argument ddof; called at"
     " HERE."),
    ("al.sort(x, dim=0)",
     "TypeError [sort] Expected sort(x, axis=-1, *, descending=False), got an argument dim; its name here is "
     "axis; called at HERE."),
    ('al.slice_update(x, "a", 1)',
     "TypeError [slice] Expected integers, slices, None, ... or arrays of places, got str; built at HERE."),
    ("al.resize(x, 2)", "ValueError [resize] Expected 2 extents, got (2,); built at HERE."),
    ("al.lstm(x, w)", "ValueError [lstm] Expected (steps, batch, gates * units), got float32(?, 3); built at HERE."),
    ("al.fft(x, 8)",
     "TypeError [fft] Expected fft(x, *, axis=-1, norm='backward'), got 2 arguments by position; the others "
     "have names, for instance axis=8; called at HERE."),
    ("al.quantize(x)",
     "TypeError [quantize] Expected quantize(x, scale, zero_point=0.0, *, dtype='int8', axis=-1), got no "
     "scale; called at HERE."),
    ("al.atan2(x)", "TypeError [atan2] Expected atan2(a, b), got no b; called at HERE."),
    ("al.square(x, x)", "TypeError [square] Expected square(x), got 2 arguments by position; called at HERE."),
    ("al.log(y)", "TypeError [log] Expected operands of a floating type, got int32(?,); built at HERE."),
    ("al.sqrt(y)", "TypeError [sqrt] Expected operands of a floating type, got int32(?,); built at HERE."),
    ("al.exp(y)", "TypeError [exp] Expected operands of a floating type, got int32(?,); built at HERE."),
    ("al.tanh(flag)", "TypeError [tanh] Expected operands of a floating type, got bool(); built at HERE."),
    ("al.stop_gradient()", "TypeError [stop_gradient] Expected stop_gradient(x), got no x; called at HERE."),
    ("al.identity(A)",
     "TypeError [identity] Expected a tensor among the operands, got ndarray; graph.constant makes one; built "
     "at HERE."),
    ("al.log1p(y)", "TypeError [log1p] Expected a floating type, got int32(?,); built at HERE."),
    ("al.expm1(A)", "TypeError [expm1] Expected a tensor, got ndarray; built at HERE."),
    ('al.gelu(x, "tanh")',
     "TypeError [gelu] Expected gelu(x, *, approximate='none'), got 2 arguments by position; the others have "
     "names, for instance approximate='tanh'; called at HERE."),
    ("al.gelu(x, approximate=True)",
     "ValueError [gelu] Expected approximate as 'none' or 'tanh', got True; built at HERE."),
    ("al.leaky_relu(x, negative_slope=0.1)",
     "TypeError [leaky_relu] Expected leaky_relu(x, alpha=0.01), got an argument negative_slope; its name here"
     " is alpha; called at HERE."),
    ("al.zeros_like(A)", "TypeError [zeros_like] Expected a tensor, got ndarray; built at HERE."),
    ('al.zeros_like(x, dtype="int32")',
     "TypeError [zeros_like] Expected zeros_like(x), got an argument dtype; called at HERE."),
    ("al.full_like(x)", "TypeError [full_like] Expected full_like(x, value), got no value; called at HERE."),
    ('al.full_like(x, "a")', "TypeError [full_like] Expected a tensor, a number or an array, got str; built at HERE."),
    # models, optimizers, names
    ("model.parameters()",
     "AttributeError [Sequential] A Sequential has no attribute parameters; use model.variables; asked at "
     "HERE."),
    ("model.state_dict()",
     "AttributeError [Sequential] A Sequential has no attribute state_dict; use al.state(model); asked at HERE."),
    ("model.load_state_dict({})",
     "AttributeError [Sequential] A Sequential has no attribute load_state_dict; use al.load(model, state), "
     "of an al.state(model); asked at HERE."),
    ("model.train()",
     "AttributeError [Sequential] A Sequential has no attribute train; use model(x, training=True); asked at "
     "HERE."),
    ("model.eval()",
     "AttributeError [Sequential] A Sequential has no attribute eval; use model(x), which is not training; "
     "asked at HERE."),
    ('model.to("cuda")',
     "AttributeError [Sequential] A Sequential has no attribute to; use al.Graph(device=...), which chooses "
     "the device; asked at HERE."),
    ("model.compile()",
     "AttributeError [Sequential] A Sequential has no attribute compile; use al.Trainer(model, loss, "
     "optimizer); asked at HERE."),
    ("model.fit(A, [0, 1])",
     "AttributeError [Sequential] A Sequential has no attribute fit; use al.Trainer(model, loss, "
     "optimizer).fit((x, y), epochs=10); asked at HERE."),
    ("model.predict(A)",
     "AttributeError [Sequential] A Sequential has no attribute predict; use al.Trainer(model, loss, "
     "optimizer).predict(x); asked at HERE."),
    ("model.weights",
     "AttributeError [Sequential] A Sequential has no attribute weights; use model.variables; asked at HERE."),
    ("model.trainable_variables",
     "AttributeError [Sequential] A Sequential has no attribute trainable_variables; use [v for v in "
     "model.variables if v.trainable]; asked at HERE."),
    ("model.zero_grad()",
     "AttributeError [Sequential] A Sequential has no attribute zero_grad; nothing stands for it: gradients are new in "
     "every step; asked at HERE."),
    ("model()", "TypeError [Sequential] Expected Sequential(x, ...), got no x; called at HERE."),
    ("model(x, train=True)",
     "TypeError [...] Expected ...(x, training...), got an argument train; the nearest is training; "
     "called at HERE."),
    ("optimizer.step()",
     "AttributeError [SGD] An SGD has no attribute step; use graph.compile(feeds, fetches, "
     "optimizer.minimize(loss)), whose every call is a step; asked at HERE."),
    ("optimizer.zero_grad()",
     "AttributeError [SGD] An SGD has no attribute zero_grad; nothing stands for it: gradients are new in every step; "
     "asked at HERE."),
    ("optimizer.apply_gradients([])",
     "AttributeError [SGD] An SGD has no attribute apply_gradients; use optimizer.apply(pairs of a gradient "
     "and its variable); asked at HERE."),
    ("al.losses.mse(x, x)",
     "AttributeError [al.losses] There is no al.losses.mse; use al.losses.mean_squared_error; asked at HERE."),
    ("al.losses.CrossEntropyLoss()",
     "AttributeError [al.losses] There is no al.losses.CrossEntropyLoss; use al.losses.softmax_cross_entropy;"
     " asked at HERE."),
    ("al.losses.cross_entropy",
     "AttributeError [al.losses] There is no al.losses.cross_entropy; use al.losses.softmax_cross_entropy; "
     "asked at HERE."),
    ("al.data.DataLoader(A)",
     "AttributeError [al.data] There is no al.data.DataLoader; use al.Trainer, which takes arrays and makes "
     "the batches; asked at HERE."),
    ("al.models.resnet18(num_classes=3)",
     "TypeError [resnet18] Expected resnet18(classes=10, input_shape=(32, 32, 3), seed=0, momentum=0.99), got "
     "an argument num_classes; its name here is classes; called at HERE."),
    ("al.random.seed(0)",
     "AttributeError [al.random] There is no al.random.seed; use the argument seed of layers and of al.init; "
     "asked at HERE."),
    ("al.random.state()", "TypeError [state] Expected state(seed), got no seed; called at HERE."),
    ("al.init.constant(1)",
     "AttributeError [al.init] There is no al.init.constant; use graph.constant; asked at HERE."),
    ("al.init.RandomNormal()",
     "AttributeError [al.init] There is no al.init.RandomNormal; use al.random.normal, or for a variable "
     "al.init.normal; asked at HERE."),
    ("al.init.normal((2, 3), std=1, seed=0)",
     "TypeError [normal] Expected normal(shape, mean=0.0, stddev=0.05, *, seed), got an argument std; its name"
     " here is stddev; called at HERE."),
    ("al.devices(1)", "TypeError [devices] Expected devices(), got 1 argument by position; called at HERE."),
    ("al.threads(2)", "TypeError [threads] Expected threads(), got 1 argument by position; called at HERE."),
    ("w.copy()",
     "AttributeError [Variable] float32(3, 1) has no attribute copy; use w.numpy(), which is a copy; asked at"
     " HERE."),
    ("w.tolist()",
     "AttributeError [Variable] float32(3, 1) has no attribute tolist; use w.numpy().tolist(); asked at HERE."),
    ("w.item()",
     "AttributeError [Variable] float32(3, 1) has no attribute item; use w.numpy().item(); asked at HERE."),
    ('w.name = "foo"', "AttributeError [Variable] float32(3, 1) has no attribute name to set; set at HERE."),
    ("w.trainable = 0", "TypeError [trainable] Expected True or False, got 0; set at HERE."),
    ("w.requires_grad_()",
     "AttributeError [Variable] float32(3, 1) has no attribute requires_grad_; use w.trainable = True; asked "
     "at HERE."),
    ("np.isnan(w)",
     "TypeError [isnan] Expected an array for numpy.isnan, got the tensor float32(3, 1), which has a value "
     "only during a run; alloy has its own functions of tensors, and w.numpy() is an array; called at HERE."),
    ("np.argmax(x, axis=1)",
     "TypeError [argmax] Expected an array for numpy.argmax, got the tensor float32(?, 3), which has a value "
     "only during a run; alloy has its own functions of tensors; called at HERE."),
    ("al.equal(x.argmax(1), y).mean()", "TypeError [mean] Expected operands of a number, got bool(?,); built at HERE."),
    ("al.equal(y, y).float()",
     'AttributeError [Tensor] bool(?,) has no attribute float; use x.astype("float32"); asked at HERE.'),
    ("x.log_softmax(-1)",
     "AttributeError [Tensor] float32(?, 3) has no attribute log_softmax; use al.log_softmax(x, ...); asked "
     "at HERE."),
    ("al.constant(1)", "AttributeError [al] There is no al.constant; use graph.constant; asked at HERE."),
    ("al.function(lambda: 1)", "AttributeError [al] There is no al.function; use graph.compile; asked at HERE."),
    ("al.jit", "AttributeError [al] There is no al.jit; use graph.compile; asked at HERE."),
    ("al.compile(lambda a: a)", "AttributeError [al] There is no al.compile; use graph.compile; asked at HERE."),
    ("al.Sequential", "AttributeError [al] There is no al.Sequential; it is al.nn.Sequential; asked at HERE."),
    ("al.layers.Dense", "AttributeError [al] There is no al.layers; use al.nn; asked at HERE."),
    ("al.keras", "AttributeError [al] There is no al.keras; use al.nn, al.losses and al.Trainer; asked at HERE."),
    ("al.math.exp(x)",
     "AttributeError [al] There is no al.math; use al.exp and its like, which are functions of al itself; "
     "asked at HERE."),
    ("al.GradientTape()", "AttributeError [al] There is no al.GradientTape; use al.gradients; asked at HERE."),
    ("al.set_seed(1)",
     "AttributeError [al] There is no al.set_seed; use the argument seed of layers and of al.init; asked at "
     "HERE."),
    # a Trainer, optimizers, schedules, callbacks, layers, data, files
    ('al.Trainer(model, "mse")',
     "TypeError [Trainer] Expected Trainer(model, loss, optimizer, metrics=(), *, loss_weights=None, "
     "dtype='float32', seed=0, check_finite=True, steps_per_dispatch=1), got no optimizer; called at HERE."),
    ('al.Trainer(model, "mse", "adam")',
     "ValueError [Trainer] Expected a function or a name of al.losses (binary_cross_entropy, categorical_hinge, "
     "cosine_similarity, dice, hinge, huber, kl_divergence, mean_absolute_error, mean_squared_error, "
     "softmax_cross_entropy, squared_hinge), got 'mse'; its name here is mean_squared_error; called at HERE."),
    ('al.Trainer(model, "sparse_categorical_crossentropy", "adam")',
     "ValueError [Trainer] Expected a function or a name of al.losses (binary_cross_entropy, categorical_hinge, "
     "cosine_similarity, dice, hinge, huber, kl_divergence, mean_absolute_error, mean_squared_error, "
     "softmax_cross_entropy, squared_hinge), got 'sparse_categorical_crossentropy'; its name here is "
     "softmax_cross_entropy; called at HERE."),
    ('al.Trainer(model, "hinge", "adam", metrics=["acc"])',
     "ValueError [Trainer] Expected a function or a name of al.metrics (accuracy, binary_accuracy, "
     "top_k_accuracy, auc, confusion_matrix, f1_score, iou, precision, r2_score, recall, root_mean_squared_error, "
     "binary_cross_entropy, categorical_hinge, cosine_similarity, dice, hinge, huber, kl_divergence, "
     "mean_absolute_error, mean_squared_error, softmax_cross_entropy, squared_hinge), got 'acc'; its name here "
     "is accuracy; called at HERE."),
    ('al.Trainer(model, "hinge", "adam", metrics="accuracy").fit((A, A))',
     "ValueError [hinge] Expected targets of shape (?, 2) for float32(?, 2), got float32(?, 3); built at HERE."),
    ('al.Trainer(model, "hinge", "adm")',
     "ValueError [Trainer] Expected an optimizer or a name (sgd, adagrad, adam, adamw, lion, rmsprop), got "
     "'adm'; the nearest is adam; called at HERE."),
    ('al.Trainer(model, "hinge", al.Adam)',
     "TypeError [Trainer] Expected an optimizer such as al.Adam(), got the class Adam; write al.Adam(); called "
     "at HERE."),
    ('al.Trainer(model, "hinge", None)',
     "TypeError [Trainer] Expected an optimizer such as al.Adam(), got None; called at HERE."),
    ('al.Trainer(model, al.losses.huber(), "adam")',
     "TypeError [huber] Expected huber(predictions, targets, *, delta=1.0), got no predictions and no targets; "
     "called at HERE."),
    ('al.Trainer(model=model, criterion="hinge", optimizer="sgd")',
     "TypeError [Trainer] Expected Trainer(model, loss, optimizer, metrics=(), *, loss_weights=None, "
     "dtype='float32', seed=0, check_finite=True, steps_per_dispatch=1), got an argument criterion; its name "
     "here is loss; called at HERE."),
    ('al.Trainer(al.nn.Dense, "hinge", "sgd")',
     "TypeError [Trainer] Expected a layer as the model, got type; built at HERE."),
    ('al.Trainer("resnet", "hinge", "sgd")',
     "TypeError [Trainer] Expected a layer as the model, got str; built at HERE."),
    ('al.Trainer(model, "hinge", "sgd", device="cuda")',
     "TypeError [Trainer] Expected Trainer(model, loss, optimizer, metrics=(), *, loss_weights=None, "
     "dtype='float32', seed=0, check_finite=True, steps_per_dispatch=1), got an argument device; "
     "al.Graph(device=...) chooses the device; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd", dtype="float64")',
     "ValueError [Trainer] Expected the dtype \"float32\", \"bfloat16\" or \"float16\", got 'float64'; called at "
     "HERE."),
    ('al.Trainer(model, "hinge", "sgd").compile("adam")',
     "AttributeError [Trainer] A Trainer has no attribute compile; use al.Trainer(model, loss, optimizer, "
     "metrics=[...]), made anew; asked at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(A, A, epochs=1)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got epochs twice; "
     "arrays that belong together are one tuple, (x, y); called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(A, A)',
     "TypeError [fit] Expected examples and targets as one tuple, fit((x, y), epochs), got two arguments; "
     "called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(A)',
     "TypeError [fit] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got ndarray; put the examples "
     "and their targets into one tuple: (x, y); called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(x=A, y=A)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument x; "
     "its name here is data, a tuple (x, y); called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").lr = 0',
     "AttributeError [Trainer] A Trainer has no attribute lr to set; use trainer.optimizer.lr; set at HERE."),
    ('al.Trainer(model, "hinge", "sgd").stop_trainin = True',
     "AttributeError [Trainer] A Trainer has no attribute stop_trainin to set; the nearest is stop_training; set at "
     "HERE."),
    ("optimizer.learning_rte = 1", "TypeError [SGD] There is no option learning_rte; set at HERE."),
    ("model.training = False",
     "AttributeError [Sequential] A Sequential has no attribute training to set; a call says it: layer(x, "
     "training=False); set at HERE."),
    ('al.Trainer(al.nn.ReLU(), "hinge", "sgd").fit((A, A))',
     "ValueError [fit] Expected a model with variables to train, got none; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(al.data.from_arrays(A, A[:, :2]).batch(1), batch_size=2)',
     "ValueError [fit] Expected no batch_size beside data that has batches, got 2; called at HERE."),
    ('al.Trainer(model, "mean_squared_error", "sgd", metrics=["accuracy"])',
     'ValueError [Trainer] Expected a metric of numbers beside the loss mean_squared_error, such as "r2_score", got '
     '"accuracy", which compares classes; built at HERE.'),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A[:, :2]), callbacks=[al.EarlyStopping("val_loss")])',
     "ValueError [fit] Expected a quantity to monitor among loss, got val_loss; give fit validation data; called at "
     "HERE."),
    ('al.Trainer(model, "binary_cross_entropy", "sgd").fit((A, 2 * A[:, :2]))',
     "ValueError [fit] Expected targets from 0 to 1, got 2.0 in row 0; called at HERE."),
    ('al.Trainer(model, "softmax_cross_entropy", "sgd").fit((A, A[:, :2]))',
     "ValueError [fit] Expected probabilities of the classes that add up to 1, got [1. 1.] in row 0; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A[:, :2], -A[:, 0]))',
     "ValueError [fit] Expected weights of 0 or more, got -1.0 in row 0; called at HERE."),
    ('al.Trainer(al.nn.Dense(1), lambda p, y: al.square(p - y).mean(-1), "sgd").fit((A, A[:, 0]))',
     "ValueError [Trainer] Expected a loss of each example by itself, got subtract of float32(?,) and float32(?, 1), "
     "which pairs each example with all others; use y[:, None] for a y of shape (n,), or give targets of shape (n, 1); "
     "built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), epoch=3)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument "
     "epoch; the nearest is epochs; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), nb_epoch=3)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument "
     "nb_epoch; the nearest is epochs; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), validation_data=(A, A))',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument "
     "validation_data; its name here is validation; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), validation_split=0.1)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument "
     "validation_split; its name here is validation, which al.data.split makes; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), verbose=0)',
     "TypeError [fit] Expected fit(data, epochs=1, batch_size=None, *, validation=None, callbacks=(), "
     "progress=True, shuffle=True, class_weight=None, last_batch='smaller', resume=None), got an argument "
     "verbose; its name here is progress; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A, A, A))',
     "TypeError [fit] Expected a tuple (x, y) of arrays, or (x, y, weight), got a tuple of 4; called at HERE."),
    ("al.History(loss=[1.0]).history",
     "AttributeError [History] A History has no attribute history; use history itself, which is a dict; asked at "
     "HERE."),
    ("al.nn.LSTM(3, dropout=0.2)",
     "TypeError [LSTM] Expected LSTM(...), got an argument dropout; al.nn.Dropout is a layer of its own, before or "
     "behind it; called at HERE."),
    ("al.nn.Embedding(5, 3, mask_zero=True)",
     "TypeError [Embedding] Expected Embedding(...), got an argument mask_zero; the layer behind takes lengths=, as in "
     "al.nn.LSTM(8)(x, lengths=lengths); called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit({"x": A, "y": A})',
     "TypeError [fit] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got dict; make a tuple of its arrays: "
     '(data["x"], data["y"]); called at HERE.'),
    ('al.Trainer(model, "hinge", "sgd").fit(part for part in [(A, A)])',
     "TypeError [fit] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got generator; "
     "al.data.from_iterator(function, batched=True) makes one, where function() gives it anew; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit(al.data.tables.Table(A, A[0], ["a", "b", "c"], None))',
     "TypeError [fit] Expected a tuple (x, y) of arrays, or (x, y, weight), got a table of al.data.csv; make a tuple "
     "of its arrays: (table.x, table.y); called at HERE."),
    ("al.data.split((A, A))",
     "TypeError [split] Expected arrays x and y, or a data set, got no y; write split(*data) for a tuple of them; "
     "called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").predict(A[0])',
     "ValueError [Dense] Expected a tensor of rank 2 or more with a known last dimension, got float32(?,); in dense_0; "
     "built at HERE; a single example is a row: x[None]."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A[:1]))',
     "ValueError [fit] Expected arrays of one or more examples each, as many in all, got (float32(2, 3), "
     "float32(1, 3)); built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), epochs=0)',
     "ValueError [fit] Expected a number of epochs of 1 or more, got 0; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), epochs=1.5)',
     "TypeError [fit] Expected a number of epochs as an integer, got 1.5; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), batch_size=0)',
     "ValueError [fit] Expected a batch size of 1 or more, got 0; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=al.EarlyStopping)',
     "TypeError [fit] Expected callbacks, which are al.Callback, got type; built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=[al.EarlyStopping])',
     "TypeError [fit] Expected callbacks, which are al.Callback, got type; built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, A), callbacks=[print])',
     "TypeError [fit] Expected callbacks, which are al.Callback, got builtin_function_or_method; built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").train()',
     "AttributeError [Trainer] A Trainer has no attribute train; use trainer.fit((x, y), epochs=10); asked at HERE."),
    ('al.Trainer(model, "hinge", "sgd").save_weights("a")',
     "AttributeError [Trainer] A Trainer has no attribute save_weights; use al.save(model, path); asked at HERE."),
    ('al.Trainer(model, "hinge", "sgd").evaluate(A, A)',
     "TypeError [evaluate] Expected examples and targets as one tuple, (x, y), got two arguments; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").evaluate(A)',
     "TypeError [evaluate] Expected a tuple (x, y) of arrays, or an al.data.Dataset, got ndarray; put the "
     "examples and their targets into one tuple: (x, y); called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").predict((A, A), batch=3)',
     "TypeError [predict] Expected predict(x, batch_size=None), got an argument batch; its name here is "
     "batch_size; called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").learning_rate',
     "AttributeError [Trainer] A Trainer has no attribute learning_rate; use trainer.optimizer.lr; asked at HERE."),
    ("al.SGD(learning_rate=0.1)",
     "TypeError [SGD] Expected SGD(lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, "
     "groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, loss_scale=None, "
     "ema_decay=None), got an argument learning_rate; its name here is lr; called at HERE."),
    ("al.SGD(model.variables, lr=0.1)",
     "TypeError [SGD] Expected SGD(lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, "
     "groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, loss_scale=None, "
     "ema_decay=None), got lr twice; an optimizer takes no variables; a Trainer moves its model's, "
     "minimize(loss, variables) those given; called at HERE."),
    ("al.Adam(beta_1=0.9)",
     "TypeError [Adam] Expected Adam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.0, amsgrad=False, "
     "*, groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, "
     "loss_scale=None, ema_decay=None), got an argument beta_1; its name here is betas, a pair; called at HERE."),
    ("al.Adam(betas=0.9)", "ValueError [Adam] Expected two numbers as betas, got 0.9; set at HERE."),
    ('al.Adam("fast")',
     "TypeError [Adam] Expected a number, a tensor or a function of the step as lr, got str; set at HERE."),
    ("al.Adam(epsilon=1e-7)",
     "TypeError [Adam] Expected Adam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.0, amsgrad=False, "
     "*, groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, "
     "loss_scale=None, ema_decay=None), got an argument epsilon; its name here is eps; called at HERE."),
    ("al.Adam(1e-3, clipnorm=1.0)",
     "TypeError [Adam] Expected Adam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.0, amsgrad=False, "
     "*, groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, "
     "loss_scale=None, ema_decay=None), got an argument clipnorm; its name here is clip_norm, of all gradients "
     "together; called at HERE."),
    ("al.AdamW(decay=0.1)",
     "TypeError [AdamW] Expected AdamW(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, "
     "amsgrad=False, *, groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, "
     "loss_scale=None, ema_decay=None), got an argument decay; called at HERE."),
    ("al.SGD(0.1, momentun=0.9)",
     "TypeError [SGD] Expected SGD(lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, "
     "groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, skip_nonfinite=False, loss_scale=None, "
     "ema_decay=None), got an argument momentun; the nearest is momentum; called at HERE."),
    ("al.RMSprop(rho=0.9)",
     "TypeError [RMSprop] Expected RMSprop(lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0, momentum=0.0, "
     "centered=False, *, groups=None, clip_value=None, clip_norm=None, accumulate_steps=1, "
     "skip_nonfinite=False, loss_scale=None, ema_decay=None), got an argument rho; its name here is alpha; "
     "called at HERE."),
    ("al.Nadam()", "AttributeError [al] There is no al.Nadam; asked at HERE."),
    ("optimizer.learning_rate",
     "AttributeError [SGD] An SGD has no attribute learning_rate; use optimizer.lr; asked at HERE."),
    ("optimizer.learning_rate = 0.1",
     "TypeError [SGD] There is no option learning_rate; its name here is lr; set at HERE."),
    ("optimizer.state_dict()",
     "AttributeError [SGD] An SGD has no attribute state_dict; use al.Checkpoint(path), a callback; it saves "
     "what the optimizer keeps, too; asked at HERE."),
    ("optimizer.param_groups",
     "AttributeError [SGD] An SGD has no attribute param_groups; use optimizer.groups, an option when it is "
     "made; asked at HERE."),
    ("optimizer.minimize()",
     "TypeError [minimize] Expected minimize(loss, variables=None), got no loss; called at HERE."),
    ("optimizer.minimize(loss, model)",
     "TypeError [minimize] Expected a list of variables, got a Sequential; write model.variables; built at HERE."),
    ("optimizer.minimize(3.0)", "TypeError [minimize] Expected a tensor, got float; built at HERE."),
    ("al.schedules.StepLR(optimizer, 10)",
     "AttributeError [al.schedules] There is no al.schedules.StepLR; use al.schedules.step; asked at HERE."),
    ("al.schedules.CosineAnnealingLR(optimizer, 10)",
     "AttributeError [al.schedules] There is no al.schedules.CosineAnnealingLR; use al.schedules.cosine; asked "
     "at HERE."),
    ("al.schedules.cosine()",
     "TypeError [cosine] Expected cosine(lr, steps, end=0.0), got no lr and no steps; called at HERE."),
    ("al.lr_scheduler.StepLR",
     "AttributeError [al] There is no al.lr_scheduler; use al.schedules, as in "
     "al.Adam(al.schedules.cosine(...)); asked at HERE."),
    ('al.ModelCheckpoint("a")',
     "AttributeError [al] There is no al.ModelCheckpoint; use al.Checkpoint; asked at HERE."),
    ("al.callbacks.EarlyStopping()",
     "AttributeError [al] There is no al.callbacks; use al.Callback, al.Checkpoint, al.EarlyStopping and "
     "others, which are classes of al itself; asked at HERE."),
    ('al.EarlyStopping(monitr="loss")',
     "TypeError [EarlyStopping] Expected EarlyStopping(monitor='val_loss', *, min_delta=0.0, patience=0, "
     "mode='auto', restore_best_weights=False), got an argument monitr; the nearest is monitor; called at HERE."),
    ('al.EarlyStopping("val_loss", 3)',
     "TypeError [EarlyStopping] Expected EarlyStopping(monitor='val_loss', *, min_delta=0.0, patience=0, "
     "mode='auto', restore_best_weights=False), got 2 arguments by position; the others have names, for "
     "instance min_delta=3; called at HERE."),
    ("al.EarlyStopping(patience=-1)",
     "ValueError [EarlyStopping] Expected a patience of 0 or more, got -1; called at HERE."),
    ("al.Checkpoint()",
     "TypeError [Checkpoint] Expected Checkpoint(path, monitor=None, *, mode='auto', every_steps=None), got no "
     "path; called at HERE."),
    ('al.Checkpoint("a", save_best_only=True)',
     "TypeError [Checkpoint] Expected Checkpoint(path, monitor=None, *, mode='auto', every_steps=None), got an "
     "argument save_best_only; its name here is monitor, whose best value is kept; called at HERE."),
    ("al.LambdaCallback(on_batch_end=print)",
     "TypeError [LambdaCallback] Expected functions by on_train_begin, on_train_end, on_epoch_begin, "
     "on_epoch_end, on_train_batch_end, got on_batch_end; its name here is on_train_batch_end; called at HERE."),
    ("al.nn.Dense(3, 4)",
     "TypeError [Dense] Expected Dense(units, *, activation=None, use_bias=True, init=glorot_uniform, "
     "seed=None), got 2 arguments by position; the others have names, for instance activation=4; called at HERE."),
    ("al.nn.Dense(in_features=3, out_features=4)",
     "TypeError [Dense] Expected Dense(units, *, activation=None, use_bias=True, init=glorot_uniform, "
     "seed=None), got an argument in_features; the first call finds the shape of the input; called at HERE."),
    ('al.nn.Dense("3")', "TypeError [Dense] Expected units as an integer, got '3'; built at HERE."),
    ('al.nn.Dense(3, activation="swish")',
     "ValueError [Dense] Expected a function or one of elu, gelu, hard_sigmoid, hard_swish, relu, sigmoid, "
     "silu, softmax, softplus, tanh as the activation, got 'swish'; its name here is silu; built at HERE."),
    ('al.nn.Dense(3, activation="rleu")',
     "ValueError [Dense] Expected a function or one of elu, gelu, hard_sigmoid, hard_swish, relu, sigmoid, "
     "silu, softmax, softplus, tanh as the activation, got 'rleu'; the nearest is relu; built at HERE."),
    ("al.nn.Conv2D(3, 32, 3)",
     "TypeError [Conv2D] Expected Conv2D(filters, kernel_size, *, strides=1, padding='valid', dilations=1, "
     "groups=1, activation=None, use_bias=True, init=glorot_uniform, seed=None), got 3 arguments by position; "
     "the others have names, for instance strides=3; called at HERE."),
    ("al.nn.Conv2D(32, 3, stride=2)",
     "TypeError [Conv2D] Expected Conv2D(filters, kernel_size, *, strides=1, padding='valid', dilations=1, "
     "groups=1, activation=None, use_bias=True, init=glorot_uniform, seed=None), got an argument stride; its "
     "name here is strides; called at HERE."),
    ("al.nn.Dropout()", "TypeError [Dropout] Expected Dropout(rate, *, seed=None), got no rate; called at HERE."),
    ("al.nn.Dropout(p=0.5)",
     "TypeError [Dropout] Expected Dropout(rate, *, seed=None), got an argument p; its name here is rate; "
     "called at HERE."),
    ("al.nn.BatchNorm(64)",
     "TypeError [BatchNorm] Expected BatchNorm(*, momentum=0.99, epsilon=0.001, center=True, scale=True), got 1 "
     "argument by position; all have names; called at HERE."),
    ("al.nn.Embedding(10)",
     "TypeError [Embedding] Expected Embedding(input_dim, output_dim, *, init=uniform, dtype=None, "
     "seed=None), got no output_dim; called at HERE."),
    ("al.nn.LSTM(3, batch_first=True)",
     "TypeError [LSTM] Expected LSTM(units, *, activation='tanh', recurrent_activation='sigmoid', "
     "unit_forget_bias=True, layers=1, bidirectional=False, return_sequences=False, use_bias=True, seed=None), "
     "got an argument batch_first; the first axis is always the batch; called at HERE."),
    ("al.nn.Sequential([al.nn.Dense(3)])",
     "TypeError [Sequential] Expected layers, one by one, got list; write *layers for a list of them; built at HERE."),
    ("al.nn.Sequential(al.nn.Dense)",
     "TypeError [Sequential] Expected layers, one by one, got the class Dense; write Dense(); built at HERE."),
    ("al.nn.ModuleList([])",
     "AttributeError [al.nn] There is no al.nn.ModuleList; use a list of layers in an attribute; asked at HERE."),
    ("al.nn.Conv2d(3, 4, 3)", "AttributeError [al.nn] There is no al.nn.Conv2d; it is al.nn.Conv2D; asked at HERE."),
    ("al.nn.MaxPooling2D(2)",
     "AttributeError [al.nn] There is no al.nn.MaxPooling2D; use al.nn.MaxPool2D; asked at HERE."),
    ("model.add(al.nn.Dense(3))",
     "AttributeError [Sequential] A Sequential has no attribute add; use model.layers.append(layer); asked at HERE."),
    ("model[0]",
     "TypeError [Sequential] A layer has no items; the layers that it was given are model.layers[0]; asked at HERE."),
    ("model.cuda()",
     "AttributeError [Sequential] A Sequential has no attribute cuda; use al.Graph(device=...), which chooses "
     "the device; asked at HERE."),
    ("model.layer", "AttributeError [Sequential] A Sequential has no attribute layer; asked at HERE."),
    ("model.trainble = False",
     "AttributeError [Sequential] A Sequential has no attribute trainble to set; the nearest is trainable; set "
     "at HERE."),
    ("model(A)",
     "TypeError [Sequential] Expected a tensor, or a tuple, list or dict of tensors, got ndarray; feed arrays "
     "to a placeholder, graph.placeholder(shape), or hand them to al.Trainer; built at HERE."),
    ("model(x, y)",
     "TypeError [Sequential] Expected training as True or False, got Tensor; several inputs are one tuple, list "
     "or dict; built at HERE."),
    ("al.data.from_arrays(A).prefetch(2)",
     "AttributeError [Dataset] A Dataset has no attribute prefetch; nothing stands for it: training reads "
     "ahead, and batch(size, workers=4) reads several examples at a time; asked at HERE."),
    ("al.data.from_arrays(A).batch()",
     "TypeError [batch] Expected batch(size, *, last='smaller', workers=1), got no size; called at HERE."),
    ("al.data.from_arrays(A).batch(2, drop_remainder=True)",
     "TypeError [batch] Expected batch(size, *, last='smaller', workers=1), got an argument drop_remainder; its "
     'name here is last, as in last="drop"; called at HERE.'),
    ("al.data.from_arrays(A).shuffle(buffer_size=10)",
     "TypeError [shuffle] Expected shuffle(seed=0), got an argument buffer_size; all examples are shuffled; "
     "called at HERE."),
    ("al.data.from_arrays(A).shufle()",
     "AttributeError [Dataset] A Dataset has no attribute shufle; the nearest is shuffle; asked at HERE."),
    ("al.data.from_arrays(A).map()",
     "TypeError [map] Expected map(function, *, seed=None), got no function; called at HERE."),
    ("al.data.from_arrays(A).map(3)", "TypeError [map] Expected a function, got int; called at HERE."),
    ("al.data.from_arrays()",
     "ValueError [from_arrays] Expected arrays of one or more examples each, as many in all, got (); built at HERE."),
    ("al.data.from_arrays(A, A[:1])",
     "ValueError [from_arrays] Expected arrays of one or more examples each, as many in all, got (float32(2, "
     "3), float32(1, 3)); built at HERE."),
    ("al.data.TensorDataset(A)",
     "AttributeError [al.data] There is no al.data.TensorDataset; use al.data.from_arrays; asked at HERE."),
    ("al.data.from_tensor_slices(A)",
     "AttributeError [al.data] There is no al.data.from_tensor_slices; use al.data.from_arrays; asked at HERE."),
    ("al.data.random_split(A)",
     "AttributeError [al.data] There is no al.data.random_split; use al.data.split; asked at HERE."),
    ("al.data.from_arrays(A)[5]", "IndexError [index] Expected an index below 2, got 5; called at HERE."),
    ('al.save("model.safetensors", model)',
     "TypeError [save] Expected al.save(model, path), got str as the model; called at HERE."),
    ('al.load("model.safetensors", model)',
     "TypeError [load] Expected al.load(model, path), got str as the model; called at HERE."),
    ("al.save(model)", "TypeError [save] Expected save(variables, path), got no path; called at HERE."),
    ("al.save(model, 3)", "TypeError [save] Expected a path, got int; called at HERE."),
    ('al.save(3, "a")', "TypeError [save] Expected al.save(model, path), got int as the model; called at HERE."),
    ("al.losses.softmax_cross_entropy(x)",
     "TypeError [softmax_cross_entropy] Expected softmax_cross_entropy(logits, labels, *, label_smoothing=0.0, "
     "class_weights=None, ignore_index=None), got no labels; called at HERE."),
    ("al.losses.softmax_cross_entropy(x, y, from_logits=True)",
     "TypeError [softmax_cross_entropy] Expected softmax_cross_entropy(logits, labels, *, label_smoothing=0.0, "
     "class_weights=None, ignore_index=None), got an argument from_logits; losses take logits; called at HERE."),
    ("al.losses.softmax_cross_entropy(x, y, weight=[1, 2, 3])",
     "TypeError [softmax_cross_entropy] Expected softmax_cross_entropy(logits, labels, *, label_smoothing=0.0, "
     "class_weights=None, ignore_index=None), got an argument weight; its name here is class_weights; called at "
     "HERE."),
    ("al.losses.mean_squared_error(y_true=x, y_pred=x)",
     "TypeError [mean_squared_error] Expected mean_squared_error(predictions, targets), got an argument y_true; "
     "its name here is targets; called at HERE."),
    ('al.losses.mean_squared_error(x, x, reduction="none")',
     "TypeError [mean_squared_error] Expected mean_squared_error(predictions, targets), got an argument "
     "reduction; al.losses.mean(values) makes the mean; called at HERE."),
    ("al.losses.huber(x, x, 2.0)",
     "TypeError [huber] Expected huber(predictions, targets, *, delta=1.0), got 3 arguments by position; the "
     "others have names, for instance delta=2.0; called at HERE."),
    ('al.losses.get("mse")',
     "ValueError [losses] Expected a function or a name of al.losses (binary_cross_entropy, categorical_hinge, "
     "cosine_similarity, dice, hinge, huber, kl_divergence, mean_absolute_error, mean_squared_error, "
     "softmax_cross_entropy, squared_hinge), got 'mse'; its name here is mean_squared_error; called at HERE."),
    ("al.metrics.accuracy(x)",
     "TypeError [accuracy] Expected accuracy(logits, labels, *, ignore_index=None), got no labels; called at HERE."),
    ("al.metrics.AUC(num_thresholds=3)",
     "TypeError [AUC] Expected AUC(*, bins=4096, multi_label=False, ignore_index=None, name=None), got an "
     "argument num_thresholds; called at HERE."),
    ("al.metrics.top_k_accuracy(x, y, 5)",
     "TypeError [top_k_accuracy] Expected top_k_accuracy(logits, labels, *, k=5, ignore_index=None), got 3 "
     "arguments by position; the others have names, for instance k=5; called at HERE."),
    ("al.metrics.F1()",
     "AttributeError [al.metrics] There is no al.metrics.F1; use al.metrics.F1Score; asked at HERE."),
    ("al.losses.Huber(delta=2.0)",
     "AttributeError [al.losses] There is no al.losses.Huber; it is al.losses.huber; asked at HERE."),
    ("al.Adamax()", "AttributeError [al] There is no al.Adamax; asked at HERE."),
    ("al.median", "AttributeError [al] There is no al.median; asked at HERE."),
    ("al.nn.PReLU", "AttributeError [al.nn] There is no al.nn.PReLU; asked at HERE."),
    ("al.models.resnet34", "AttributeError [al.models] There is no al.models.resnet34; asked at HERE."),
    ("al.log_sigmoid", "AttributeError [al] There is no al.log_sigmoid; asked at HERE."),
    ("al.nn.Embedding(3, 2).table",
     "AttributeError [Embedding] An Embedding has no attribute table; use layer.weights; asked at HERE."),
    ("al.losses.multi_margin_loss",
     "AttributeError [al.losses] There is no al.losses.multi_margin_loss; asked at HERE."),
    ("al.eq", "AttributeError [al] There is no al.eq; use al.equal; asked at HERE."),
    ('f"{step(A):.3f}"',
     "TypeError [executable] Expected one array, got the list of what the step fetches, 1 in all; (loss,) = "
     "step(...) takes out one; used at HERE."),
    ("float(step(A))",
     "TypeError [executable] Expected one array, got the list of what the step fetches, 1 in all; (loss,) = "
     "step(...) takes out one; used at HERE."),
    ("total = 0.0; total += step(A)",
     "TypeError [executable] Expected one array, got the list of what the step fetches, 1 in all; (loss,) = "
     "step(...) takes out one; used at HERE."),
    ('al.History(loss=[1.0], accuracy=[1.0])["acc"]',
     "KeyError \"[history] Expected a quantity among loss, accuracy, got 'acc'; its name here is accuracy; asked "
     'at HERE."'),
    ('al.Trainer(model, "hinge", "sgd").evaluate((A, A[:, :2]))["lost"]',
     "KeyError \"[history] Expected a quantity among loss, got 'lost'; the nearest is loss; asked at HERE.\""),
    ("al.SGD(model.variables)",
     "TypeError [SGD] Expected a number, a tensor or a function of the step as lr, got list; an optimizer takes "
     "no variables; a Trainer moves its model's, minimize(loss, variables) those given; set at HERE."),
    ("al.nn.Conv2D(3, 3)(g.placeholder((None, 12, 12)))",
     "ValueError [Conv2D] Expected a tensor (n, height, width, channels), got float32(?, 12, 12); x[..., None] "
     "has one channel; in conv2d_0; built at HERE."),
    ('d = al.nn.Dense(2); d(x); d(g.placeholder((None, 3), "uint8"))',
     'TypeError [Dense] Expected a tensor of floats, got uint8(?, 3); al.cast(x, "float32") makes one; in '
     "dense_1; built at HERE."),
    ('al.Trainer(model, "hinge", "sgd").fit((A, np.zeros(2, int)), class_weight=[1, 2, 3])',
     "ValueError [fit] Expected class_weight as {class: weight}, a dict of classes from 0 on and numbers of 0 "
     "or more, got [1, 2, 3]; called at HERE."),
    ("al.nn.MultiHeadAttention(2, 3)(x, x)",
     "TypeError [MultiHeadAttention] Expected training as True or False, got Tensor; the other operands have "
     "names: value=..., key=..., attention_mask=...; built at HERE."),
    ('t = al.Trainer(model, "hinge", "sgd"); t.predict(A); t.predict((A, A))',
     "TypeError [predict] Expected examples for the one input of the model, predict(x), got a tuple of 2; "
     "called at HERE."),
    ('al.Trainer(model, "hinge", "sgd").export("e.onnx")',
     "ValueError [export] Expected a path that ends in .mpsgraphpackage, got .onnx, another format; called at "
     "HERE."),
    ("x[[2**40]]", "ValueError [slice] Expected indices that int32 can hold, got 1099511627776; built at HERE."),
    ("al.gather(x, -2**40)",
     "ValueError [gather] Expected indices that int32 can hold, got -1099511627776; built at HERE."),
    ("g.most_in_flight = 2**70",
     "ValueError [most_in_flight] Expected a number of steps below 2**63, got 1180591620717411303424; set at "
     "HERE."),
    ('g.most_in_flight = "a"',
     "TypeError [most_in_flight] Expected a number of steps as an integer, got 'a'; set at HERE."),
    ("al.set_threads(2**70)",
     "ValueError [set_threads] Expected a number of threads below 2**63, got 1180591620717411303424; called at "
     "HERE."),
    ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); x + T()',
     "TypeError [add] Expected a tensor, a number or an array, got torch.T; graph.constant makes a tensor of "
     "it; built at HERE."),
    ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); T() * x',
     "TypeError [multiply] Expected a tensor, a number or an array, got torch.T; graph.constant makes a tensor "
     "of it; built at HERE."),
    ('T = type("T", (), {"__module__": "torch", "__dlpack__": None}); x == T()',
     "TypeError [equal] Expected a tensor beside ==, which asks whether two tensors are the same one, got T; "
     "elements are compared by al.equal and al.not_equal; built at HERE."),
    ('T = type("MSELoss", (), {"__module__": "torch.nn", "__call__": None}); al.Trainer(model, T(), "sgd")',
     "TypeError [Trainer] Expected a function of tensors or a name of al.losses, got MSELoss of torch, which "
     "takes no tensors of Alloy; its name here is mean_squared_error; called at HERE."),
    ('f = lambda p, y: p; f.__module__, f.__name__ = "sklearn.metrics", "accuracy_score"; al.metrics.get(f)',
     "TypeError [metrics] Expected a function of tensors or a name of al.metrics, got accuracy_score of "
     "sklearn, which takes no tensors of Alloy; called at HERE."),
    ('type("L", (al.nn.Layer,), {"forward": lambda self, x, training: x.reshape(x.shape[0] // 2, -1)})()(x)',
     "TypeError unsupported operand type(s) for //: 'NoneType' and 'int'; x.shape has None for what only a run "
     "knows, and x.reshape takes -1"),
    ('type("L", (al.nn.Layer,), {"forward": lambda self, x: x})()(x)',
     "TypeError [L] Expected a method forward(self, x, training) of L, got forward(self, x); built at HERE."),
    ("o = al.SGD(al.schedules.cosine(0.1, 10)); o.minimize(loss, [w]); o.lr = 0.1",
     "ValueError [SGD] Expected lr to stay the schedule, since steps have been made with it, got 0.1; make "
     "another optimizer, and steps with it; set at HERE."),
    ("o = al.SGD(0.1); o.minimize(loss, [w]); o.lr = al.schedules.cosine(0.1, 10)",
     "ValueError [SGD] Expected lr to stay a number, since steps have been made with it, got a schedule; make "
     "another optimizer, and steps with it; set at HERE."),
    ('al.Trainer(model, "softmax_cross_entropy", "sgd", ["confusion_matrix"]).fit((A, np.zeros(2, int)), '
     'callbacks=al.EarlyStopping("confusion_matrix"))',
     "TypeError [fit] Expected a number to monitor, got confusion_matrix, which is an array; called at HERE."),
    ("g.compile([x], [loss], [g.assign(w, w), g.assign(w, w * 2)])",
     "ValueError [assign] The variable 'w' has another update, built at the same line; built at HERE."),
    ("al.nn.Conv2D(3, 5)(g.placeholder((None, 3, 12, 12)))",
     "ValueError [conv2d] A window of 5 does not fit into the height of shape (?, 3, 12, 12), of layout NHWC, "
     "with padding 0 and 0; in conv2d_0; built at HERE."),
    ("al.sum(x, 2**70)",
     "TypeError [sum] Expected integers of 64 bits as the axes, got [1180591620717411303424]; built at HERE."),
    ("al.softmax(x, 2**70)",
     "TypeError [softmax] Expected an integer of 64 bits as the axis, got 1180591620717411303424; built at HERE."),
    ('f"{al.History(loss=[1.0]):.3f}"',
     "TypeError [history] Expected one quantity, got all of loss; [name] takes one; used at HERE."),
    ("al.nn.MultiHeadAttention(2, 3)(x, x, x)",
     "TypeError [MultiHeadAttention] Expected MultiHeadAttention(x, training=None, *, value=None, key=None, "
     "attention_mask=None), got 3 arguments by position; the others have names, for instance value=...; called "
     "at HERE."),
    ('f"{step.submit(A):.2f}"',
     "TypeError [submission] Expected one array, got a submission of fetches; submission[0] is one; used at "
     "HERE."),
    ('al.init.normal((2, "a"), seed=0)',
     "TypeError [normal] Expected a shape of integers, got (2, 'a'); built at HERE."),
    ('al.init.zeros(("a",))', "TypeError [zeros] Expected a shape of integers, got ('a',); built at HERE."),
    ('al.data.split(A, A, "a")', "TypeError [split] Expected a number as the fraction, got str; built at HERE."),
    ("al.Graph(device=3)", "TypeError [graph] Expected the kind or the name of a device, got 3; called at HERE."),
    ("al.Graph(storage=3)", "TypeError [graph] Expected the storage 'variable' or 'buffers', got 3; called at HERE."),
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


@pytest.mark.parametrize("text, says", ROWS, ids=[text for text, _ in ROWS])
def test_what_is_said(text, says):
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


# ---- the tables of names ----

MODULES = {"al.nn": al.nn, "al.losses": al.losses, "al.metrics": al.metrics, "al.random": al.random}
MODULES |= {"al.init": al.init, "al.schedules": al.schedules, "al.data": al.data, "al.models": al.models}
CLASSES = {"Tensor": al.Tensor, "Variable": al.Variable, "Graph": al.Graph, "Executable": al.Executable, "Op": al.Op}
CLASSES |= {"Submission": al.Submission, "Update": al.Update, "Layer": al.nn.Layer, "Optimizer": al.Optimizer}
CLASSES |= {"Dataset": al.data.Dataset, "Trainer": al.Trainer, "Callback": al.Callback, "History": al.History}
LETTERS = {
    "model": al.nn.Sequential(),
    "optimizer": al.SGD(),
    "x": al.Tensor,
    "w": al.Variable,
    "g": al.Graph,
    "graph": al.Graph,
    "step": al.Executable,
    "op": al.Op,
    "data": al.data.Dataset,
    "trainer": al.Trainer(al.nn.Sequential(), "hinge", "sgd"),
    "callback": al.Callback(),
    "history": al.History(),
}


def test_what_is_said_instead_exists():
    said = [*NAMES.values(), *(text for table in ATTRIBUTES.values() for text in table.values())]
    for text in (text.replace("{rank}", "2D") for text in said):
        for path in re.findall(r"\bal((?:\.\w+)+)", text):
            thing = al
            for name in path.split(".")[1:]:
                thing = getattr(thing, name)
        for letter, name in re.findall(rf"(?<![.\w])({'|'.join(LETTERS)})\.(\w+)", text):
            assert name in dir(LETTERS[letter]), text


def test_no_table_hides_a_name_that_exists():
    assert not set(NAMES) & set(dir(al))
    for name, table in ATTRIBUTES.items():
        assert not set(table) & set(dir(CLASSES[name])), name


def test_arguments_that_are_meant_exist():
    functions = [getattr(module, name) for module in (al, *MODULES.values()) for name in public(module) or dir(al)]
    functions += [member for cls in CLASSES.values() for member in vars(cls).values()]
    taken = set()
    for function in functions:
        with contextlib.suppress(TypeError, ValueError):  # of the engine
            taken |= set(pydoc.inspect.signature(function).parameters)
    for name, meant in ARGUMENTS.items():
        for here in meant:
            assert here.partition(",")[0] in taken, (name, here)


def test_names_that_are_not_there():
    assert not hasattr(al, "Linear") and not hasattr(al.nn, "__wrapped__")
    assert not hasattr(al.Graph().constant(1.0), "__dlpack__")
    with pytest.raises(ImportError, match=r"^\[al\.nn\] There is no al\.nn\.Linear; use al\.nn\.Dense; asked at "):
        from alloy.nn import Linear  # noqa: F401
    with pytest.raises(
        ImportError, match=r"^\[al\] There is no al\.Sequental; the nearest is al\.nn\.Sequential; asked"
    ):
        from alloy import Sequental  # noqa: F401
    for module in MODULES.values():
        with pytest.raises(AttributeError, match=r"^\[al\.\w+\] There is no al\.\w+\.zzzz; asked at \S+\.py:\d+\.$"):
            module.zzzz  # noqa: B018


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
        things |= {f"{written}.{name}": getattr(module, name) for name in public(module)}
    for cls in (cls for cls in CLASSES.values() if cls.__module__ == "alloy._core"):
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
        with pytest.raises(
            ValueError, match=r"^\[array\] Expected a copy of <Variable 'w' float32\(2, 3\)>, .*; asked at "
        ):
            np.asarray(w, copy=False)
    with (
        HAS_BFLOAT16
        and pytest.raises(BufferError, match=r"^\[dlpack\] Expected an element type that DLPack has, got .*; asked at ")
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
    with pytest.raises(
        TypeError, match=r"^\[placeholder\] 'labels', .* is int32, which cannot hold 2147483648; called"
    ):
        step(np.array([1, 2**31]), 0)
    with pytest.raises(TypeError, match=r"^\[placeholder\] 'bytes', .* is uint8, which cannot hold 256; called at "):
        step([1], np.int64(256))


def test_the_shapes_of_feeds_are_named_where_they_do_not_fit_each_other():
    g = al.Graph()
    x, y = g.placeholder((None, 4), name="images"), g.placeholder((None,), "int32", name="labels")
    step = g.compile([x, y], [al.losses.softmax_cross_entropy(x, y)])
    says = r"where 'images' of shape \(64, 4\), 'labels' of shape \(10,\) are fed; built at \S*test_newcomer\.py:\d+\.$"
    for labels in (np.zeros(10, np.int32), np.zeros(10, np.int64)):
        with pytest.raises(ValueError, match=says):
            step(np.zeros((64, 4), np.float32), labels)


def test_import_star_has_the_public_names():
    names = {}
    exec("from alloy import *", names)
    assert set(dir(al)) - {"__version__"} <= set(names)
    assert sys.modules["alloy"] is al and al.__version__.count(".") == 2
