"""Whatever the extension is given, it answers with an exception: no argument ends the process."""
import subprocess
import sys

import pytest

HEAD = """
import itertools, sys
import numpy as np
import alloy as al
from alloy import _core

def world():
    g = al.Graph()
    x, v = g.placeholder((2, 3), name="x"), g.variable(np.ones((2, 3), np.float32), name="v")
    loss = al.sum(x * v)
    update = g.assign(v, v * 2.0)
    return g, x, v, loss, update, g.compile([x], [loss], [update])

def call(what, function, *arguments):
    # Named before it is made, so that the last line of a process that ended names the call.
    print(what, file=sys.stderr, flush=True)
    try:
        return function(*arguments)
    except (TypeError, ValueError, AttributeError, MemoryError, _core.DeviceError):
        return None
"""

# Every method, property and function of the extension with combinations of wrong things.
METHODS = """
g, x, v, loss, update, step = world()
other = al.Graph().placeholder((2, 3))
things = [None, 0, -1, 1.5, 2**70, "x", "", [], [None], [1], {}, {"axis": None}, object(), np.ones(2, np.float32), x, v, g, update, step,
          [x], [v], [update], [x, None], [other], [(None, None)], [(x, v)], [(x,)], (2, 3), ((2, 3),), [(2, 3), None], float("nan")]
owners = [g, x, v, update, step, v.weak(), g.inspect()[0], _core]
random = np.random.default_rng(0)
for owner in owners:
    for name in dir(owner):
        if name.startswith("__") and name not in ("__call__", "__eq__", "__hash__", "__str__", "__getitem__", "__len__", "__setattr__"):
            continue
        member = getattr(type(owner), name, None) if owner is not _core else getattr(_core, name)
        if isinstance(member, property):
            for thing in things:
                call(f"{owner!r}.{name} of {thing!r}", member.fget, thing)
                if member.fset is not None:
                    call(f"{owner!r}.{name} = {thing!r}", setattr, owner, name, thing)
        elif callable(member) and not isinstance(member, type) and name != "set_threads":
            for count in range(7):
                all_of_them = list(itertools.product(range(len(things)), repeat=count)) if count < 2 else [
                    random.integers(0, len(things), count) for _ in range(150)]
                for chosen in all_of_them:
                    arguments = [things[i] for i in chosen]
                    call(f"{owner!r}.{name}{arguments!r}", getattr(owner, name), *arguments)
                    call(f"{type(owner)}.{name}{arguments!r}", member, *arguments)
"""

# Objects that nothing was put into, and objects turned into others.
EMPTY = """
g, x, v, loss, update, step = world()
kinds = [al.Tensor, al.Variable, al.Update, al.Op, al.Executable, al.Graph, _core.WeakVariable]
for kind in kinds:
    for make in (kind.__new__, object.__new__, kind.__mro__[-2].__new__):
        made = call(f"{make}({kind})", make, kind)
        if made is None:
            continue
        for name in dir(kind):
            if name not in ("__class__", "__new__", "__init_subclass__", "__subclasshook__"):
                member = call(f"empty {kind}.{name}", getattr, made, name)
                for arguments in ([], [x], [[x]], [[x], [x], []], [[x], [loss], [update]], ["add", [x, x], {}, "", ""]):
                    if callable(member):
                        call(f"empty {kind}.{name}{arguments!r}", member, *arguments)
        for use in (lambda: x + made, lambda: g.compile([made]), lambda: g.compile([], [made]), lambda: g.compile([], [], [made]),
                    lambda: al.SGD(0.1).minimize(made), lambda: al.SGD(0.1).apply([(made, made)]), lambda: al.gradients(made, [made]),
                    lambda: g.bind({made: 1}), lambda: g.apply("add", [made, made], {}, "", ""), lambda: repr(made)):
            call(f"use of an empty {kind}", use)
    for thing in (g, x, v, update, step, v.weak(), g.inspect()[0]):
        assert type(thing) is kind or call(f"{thing!r}.__class__ = {kind}", setattr, thing, "__class__", kind) is None
        assert thing.__class__ is type(thing)
x.shape, v.numpy(), step(np.ones((2, 3), np.float32))
"""

# Every op of the table, added as the engine's own layers add it, with operands and attributes that it does not take.
OPS = """
g, x, v, loss, update, step = world()
i, b, s, u = g.placeholder((2, 3), "int32"), g.placeholder((2, 3), "bool"), g.placeholder(()), g.placeholder(None)
operands = [[], [None], [x], [x, None], [x, x], [v, x], [x, v], [i, i], [b, x, x], [s], [u, u], [v], [x] * 3, [x] * 8, [i] * 9, [update]]
big = 2**62
attributes = [{}, {"axis": 0}, {"axis": big}, {"axes": [0]}, {"axes": [-big, big]}, {"shape": (2, 3)}, {"shape": (big, big)}, {"shape": None},
              {"dtype": "int32"}, {"dtype": "x"}, {"value": 1}, {"slot": 0}, {"slot": big, "value": x}, {"nonsense": 1}, {1: 2},
              {"shape": (2,), "dtype": "float32"}, {"permutation": [1, 0]}, {"permutation": [big, 0]},
              {"starts": [0, 0], "ends": [big, big], "strides": [1, big]}, {"starts": [0], "ends": [], "strides": [0]},
              {"transpose_a": True, "transpose_b": None}, {"axis": -1, "reduction": "none"}, {"axis": 0, "reduction": "x"}]
window = {"strides": [1, 1], "dilations": [1, 1], "padding": [0, 0, 0, 0], "padding_style": "valid", "data_layout": "NHWC"}
images, weights = g.placeholder((1, 4, 4, 2)), g.placeholder((2, 2, 2, 2))
for row in _core.op_table():
    for some in operands:
        for given in attributes:
            call(f"{row['name']}{some!r}{given!r}", g.apply, row["name"], some, given, "", "")
    for change in ({}, {"strides": [0, 0]}, {"strides": [big, 1]}, {"dilations": [big, big]}, {"padding": [big] * 4}, {"padding": [-1] * 4},
                   {"window": [2, 2]}, {"window": [big, 1]}, {"groups": 1, "weights_layout": "HWIO"}, {"groups": big, "weights_layout": "HWIO"},
                   {"groups": -big, "weights_layout": "OIHW"}, {"data_layout": "NHCW"}, {"padding_style": "same"}):
        for some in ([images], [images, weights], [images, weights, images], [images, images]):
            call(f"{row['name']}{some!r}{change!r}", g.apply, row["name"], some, window | change, "", "")
step(np.ones((2, 3), np.float32))
"""

# What has killed the process, each by itself.
KNOWN = """
g, x, v, loss, update, step = world()
def refused(kinds, function, *arguments):
    print(function, arguments, file=sys.stderr, flush=True)
    try:
        function(*arguments)
    except kinds:
        return
    raise AssertionError(f"{function} took {arguments}")
wrong = (TypeError, ValueError)
refused(wrong, g.apply, "add", [x, None], {}, "", "")
refused(wrong, g.gradients, loss, [None], "")
refused(wrong, g.loss_gradients, loss, [None], "")
refused(wrong, al.Tensor.__new__, al.Tensor)
refused((TypeError, AttributeError), setattr, x, "__class__", al.Graph)
refused(wrong, g._compile, [None], [], [])
refused(wrong, g._compile, [], [], [None])
refused(wrong, g._verify, [x, x], [(2, 3)], [], [])
refused(wrong, g._inspect, [x], [], [], [])
refused(wrong, step._memory_plan, [(2, 3)] * 50)
refused(wrong, step._memory_plan, [])
refused(wrong, _core.apply_sgd, 0.1, [(None, None)], "")
refused(wrong, al.Graph.__new__(al.Graph).placeholder, (2,))
refused(wrong, al.Graph._placeholder, None, (2,), "float32", "", "")
refused(wrong, lambda: al.conv2d(g.placeholder((1, 4, 4, 2)), g.placeholder((2, 2, 2, 2)), groups=2**62))
"""


@pytest.mark.parametrize("script", [METHODS, EMPTY, OPS, KNOWN], ids=["methods", "empty", "ops", "known"])
def test_nothing_ends_the_process(script):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", HEAD + script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-12:])
