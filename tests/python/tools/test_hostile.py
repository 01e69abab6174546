"""Whatever users give, it is answered with an exception: no argument ends the process, and slips get a sentence."""

import functools
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import alloy as al

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
    except (TypeError, ValueError, AttributeError, MemoryError, OSError, _core.DeviceError):
        return None
"""

# Every method, property and function of the extension with combinations of wrong things.
METHODS = """
g, x, v, loss, update, step = world()
other = al.Graph().placeholder((2, 3))
things = [None, 0, -1, 1.5, 2**70, "x", "", [], [None], [1], {}, {"axis": None}, object(), np.ones(2, np.float32),
          x, v, g, update, step, [x], [v], [update], [x, None], [other], [(None, None)], [(x, v)],
          [(x,)], (2, 3), ((2, 3),), [(2, 3), None], float("nan")]
owners = [g, x, v, update, step, v.weak(), g.inspect()[0], _core]
if al.device().system != "macOS 13.3":  # which has no packages
    step.export("step")
    loaded = al.load_executable("step")
    owners += [loaded, loaded._package]
names = [repr(thing) for thing in things]  # once, see OPS
random = np.random.default_rng(0)
for owner in owners:
    shown = repr(owner)
    for name in dir(owner):
        if name.startswith("__") and name not in (
                "__call__", "__eq__", "__hash__", "__str__", "__getitem__", "__len__", "__setattr__"):
            continue
        member = getattr(type(owner), name, None) if owner is not _core else getattr(_core, name)
        if isinstance(member, property):
            for thing, its_name in zip(things, names):
                call(f"{shown}.{name} of {its_name}", member.fget, thing)
                if member.fset is not None:
                    call(f"{shown}.{name} = {its_name}", setattr, owner, name, thing)
        elif callable(member) and not isinstance(member, type) and name not in ("set_threads", "_next_over"):
            for count in range(7):
                all_of_them = list(itertools.product(range(len(things)), repeat=count)) if count < 2 else [
                    random.integers(0, len(things), count) for _ in range(60)]
                for chosen in all_of_them:
                    arguments = [things[i] for i in chosen]
                    given = ", ".join(names[i] for i in chosen)
                    call(f"{shown}.{name}({given})", getattr(owner, name), *arguments)
                    call(f"{type(owner)}.{name}({given})", member, *arguments)
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
        for use in (lambda: x + made, lambda: g.compile([made]), lambda: g.compile([], [made]),
                    lambda: g.compile([], [], [made]), lambda: al.SGD(0.1).minimize(made),
                    lambda: al.SGD(0.1).apply([(made, made)]), lambda: al.gradients(made, [made]),
                    lambda: g.bind({made: 1}), lambda: g.apply("add", [made, made], {}, "", ""), lambda: repr(made)):
            call(f"use of an empty {kind}", use)
    for thing in (g, x, v, update, step, v.weak(), g.inspect()[0]):
        assert type(thing) is kind or call(f"{thing!r}.__class__ = {kind}", setattr, thing, "__class__", kind) is None
        assert thing.__class__ is type(thing)
x.shape, v.numpy(), step(np.ones((2, 3), np.float32))
"""

# Every op of the table, added as the engine's own layers add it, with operands and attributes that it does not take.
OPS = """
big = 2**62
attributes = [{}, {"axis": 0}, {"axis": big}, {"axes": [0]}, {"axes": [-big, big]}, {"shape": (2, 3)},
              {"shape": (big, big)}, {"shape": None}, {"dtype": "int32"}, {"dtype": "x"}, {"value": 1},
              {"slot": 0}, {"slot": big, "value": 1}, {"nonsense": 1}, {1: 2},
              {"shape": (2,), "dtype": "float32"}, {"permutation": [1, 0]}, {"permutation": [big, 0]},
              {"starts": [0, 0], "ends": [big, big], "strides": [1, big]}, {"starts": [0], "ends": [], "strides": [0]},
              {"transpose_a": True, "transpose_b": None}, {"axis": -1, "reduction": "none"},
              {"axis": 0, "reduction": "x"}]
window = {"strides": [1, 1], "dilations": [1, 1], "padding": [0, 0, 0, 0], "padding_style": "valid",
          "data_layout": "NHWC"}
changes = [{}, {"strides": [0, 0]}, {"strides": [big, 1]}, {"dilations": [big, big]}, {"padding": [big] * 4},
           {"padding": [-1] * 4}, {"window": [2, 2]}, {"window": [big, 1]},
           {"groups": 1, "weights_layout": "HWIO"}, {"groups": big, "weights_layout": "HWIO"},
           {"groups": -big, "weights_layout": "OIHW"}, {"data_layout": "NHCW"}, {"padding_style": "same"}]
for row in _core.op_table():
    g, x, v, loss, update, step = world()  # anew, because messages show the graph and take as long as it is large
    i, b, s, u = g.placeholder((2, 3), "int32"), g.placeholder((2, 3), "bool"), g.placeholder(()), g.placeholder(None)
    images, weights = g.placeholder((1, 4, 4, 2)), g.placeholder((2, 2, 2, 2))
    for some in ([], [None], [x], [x, None], [x, x], [v, x], [x, v], [i, i], [b, x, x], [s], [u, u], [v], [x] * 3,
                 [x] * 8, [i] * 9, [update]):
        for given in [*attributes, {"slot": big, "value": x}]:
            call(f"{row['name']}{some!r}{given!r}", g.apply, row["name"], some, given, "", "")
    for some in ([images], [images, weights], [images, weights, images], [images, images]):
        for change in changes:
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
refused(wrong, _core.require_gradients, [(None, None)])
refused(wrong, al.Graph.__new__(al.Graph).placeholder, (2,))
refused(wrong, al.Graph._placeholder, None, (2,), "float32", "", "")
refused(wrong, lambda: al.conv2d(g.placeholder((1, 4, 4, 2)), g.placeholder((2, 2, 2, 2)), groups=2**62))
"""


@pytest.mark.parametrize("script", [METHODS, EMPTY, OPS, KNOWN], ids=["methods", "empty", "ops", "known"])
def test_nothing_ends_the_process(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HEAD + script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-12:])


def test_the_package_may_be_imported_again():
    script = """
import sys
import numpy as np
import alloy
g = alloy.Graph()
for name in [name for name in sys.modules if name.partition(".")[0] == "alloy" and name not in KEPT]:
    del sys.modules[name]
import alloy as al
h = al.Graph()
x, w = h.placeholder((2,)), h.variable([1.0, 2.0])
step = h.compile([x], [x * w], al.SGD(0.5).minimize(al.sum(x * w)))
assert step(np.float32([1, 3]))[0].tolist() == [1, 6] and w.numpy().tolist() == [0.5, 0.5]
assert step.memory_plan() is None or step.memory_plan().total > 0
g.placeholder((1,)) + 1
"""
    for kept in ("()", "('alloy._core',)"):
        done = subprocess.run(
            [sys.executable, "-c", script.replace("KEPT", kept)], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr


# ---- slips that were taken, or answered in C++ ----


def variable(value):
    return al.Graph().variable(np.float32(value))


# fmt: off
SLIPS = [
    (lambda: al.Graph().placeholder((2**64,)), ValueError,
     r"^\[placeholder\] Expected dimensions of 0 or more and below 2\^63, or None"),
    (lambda: 2 / al.Graph().placeholder((2,), "int64"), TypeError, r"^\[divide\] Expected floats beside /"),
    (lambda: al.one_hot(al.Graph().placeholder((2,), "int32"), 1.5), TypeError,
     r"^\[one_hot\] Expected a depth as an integer, got 1.5"),
    (lambda: al.empty((2**61,)), MemoryError, r"^\[empty\] There is no memory for 9,223,372,036,854,775,808 bytes"),
    (lambda: al.empty((2**50,)), MemoryError, r"^\[empty\] There is no memory for"),
    (lambda: al.data.split(np.ones(10), np.ones(10), 30), ValueError,
     r"^\[split\] Expected a fraction between 0 and 1 .*got 30 of 10"),
    (lambda: al.data.split(np.ones(10), np.ones(10), 0.01), ValueError,
     "leaves examples on both sides, got 0.01 of 10"),
    (lambda: al.data.split(np.ones(10), np.ones(10), float("nan")), ValueError, "got nan"),
    (lambda: al.data.split(np.ones(10), np.ones(9)), ValueError, "as many labels as examples, got 9 for 10"),
    (lambda: al.data.digits(size=-1), ValueError, r"^\[digits\] Expected a size of 1 or more, got -1"),
    (lambda: al.data.digits(channels=1.5), TypeError, r"^\[digits\] Expected channels as an integer, got 1.5"),
    (lambda: pickle.dumps(variable([1]), 0), TypeError, r"^\[Variable\] .* cannot be copied or pickled"),
]
# fmt: on


@pytest.mark.parametrize("slip, kind, says", SLIPS)
def test_slips_are_answered_with_a_sentence(slip, kind, says):
    with pytest.raises(kind, match=says):
        slip()


def integers(n):
    """Calls that take the integer n, or refuse it."""
    graph = al.Graph()
    x, v, y = graph.placeholder((4, 6, 6, 3)), graph.placeholder((6,)), graph.placeholder((4,), "int32")
    w, state = graph.variable(np.ones((3, 3, 3, 2), np.float32)), graph.constant(al.random.state(0))
    step, event, trainer = graph.compile([v], [v]), al.Event(), al.Trainer(al.nn.Dense(1), "hinge", "sgd")
    array, data = np.ones(6, np.float32), al.data.from_arrays(np.ones((2, 2), np.float32))
    yield lambda: al.set_threads(n) if n != -1 else None
    yield lambda: setattr(graph, "most_in_flight", n)
    yield lambda: graph.compile([v], [v], steps=n)
    yield lambda: graph.placeholder((n,))
    yield lambda: al.empty((n,))
    yield lambda: step.submit(array).pending(n)
    yield lambda: step.profile(array, runs=n)
    yield lambda: step.memory_plan((n,))
    yield lambda: graph.verify({v: (n,)}, [v])
    yield lambda: event.signal(n)
    yield lambda: event.wait(n, timeout=0)
    yield lambda: al.random.state(n)
    yield lambda: al.random.uniform(state, (n,))
    yield lambda: al.random.integers(state, (2,), 0, n)
    yield lambda: al.random.truncated_normal(state, (2,), n)
    yield lambda: trainer.fit((np.ones((2, 2), "f"), np.ones((2, 1), "f")), n, progress=False)
    yield lambda: data.batch(n)
    yield lambda: data.take(n)
    yield lambda: data.repeat(n)
    yield lambda: al.SGD(accumulate_steps=n)
    yield lambda: al.scan(lambda carried, _: (carried, carried), v, length=n)
    yield lambda: al.for_loop(0, n, lambda i, value: value, v)
    axes = (al.sum, al.softmax, al.squeeze, al.flip, al.sort, al.argmax, al.cumsum, al.coordinates, al.expand_dims)
    for function in axes:
        yield lambda function=function: function(x, n)
    for join in (al.concat, al.stack, al.interleave):
        yield lambda join=join: join([x, x], n)
    yield lambda: al.split(x, n, 1)
    yield lambda: al.split(x, [n, 1], 1)
    yield lambda: al.tile(v, (n,))
    yield lambda: al.pad(v, ((n, 0),))
    yield lambda: al.reshape(v, (n,))
    yield lambda: al.broadcast_to(v, (n,))
    yield lambda: al.transpose(x, (n, 1, 2, 3))
    yield lambda: al.one_hot(y, n)
    yield lambda: al.top_k(v, n)
    yield lambda: al.gather(x, y, n)
    yield lambda: al.gather(x, y, batch_dims=n)
    for option in ("strides", "groups", "dilations"):
        yield lambda option=option: al.conv2d(x, w, **{option: n})
    yield lambda: al.max_pool2d(x, window=n)
    yield lambda: al.depth_to_space(x, n)
    yield lambda: x[n]
    yield lambda: x[n:]
    yield lambda: x[[n]]
    yield lambda: al.slice_update(v, np.s_[n], 1.0)
    yield lambda: v + n
    yield lambda: y << n
    yield lambda: al.nn.Dense(n)
    yield lambda: al.nn.Conv2D(2, n)
    yield lambda: al.nn.Embedding(n, 2)
    yield lambda: al.nn.LSTM(2, layers=n)


@pytest.mark.parametrize("n", [2**70, -1, 1.5, "a"])
def test_integers_are_taken_or_answered_with_one_sentence(n):
    refused = 0
    for call in integers(n):
        try:
            call()
        except (TypeError, ValueError, IndexError) as error:
            refused += 1
            assert re.fullmatch(r"\[[\w.]+\] [^;]*(; [^;]*)*\.", str(error)) and "object" not in str(error), error
    assert refused > 20


def test_tensors_are_keys():
    v = variable([1])
    g = v.graph
    again = g.variables[0]
    assert v == again and not v != again and hash(v) == hash(again) and {v: 1}[again] == 1
    assert v != g.variable([1.0]) and v != "x" and v is not None and v != None and v not in ("x", None)  # noqa: E711


def test_places_are_those_of_the_user(tmp_path, monkeypatch):
    """Also where the innermost Python code is that of NumPy or of the standard library."""
    v = variable([1]) + 1
    for use in (
        lambda: np.mean(v),
        lambda: np.vectorize(lambda x: x)(v),
        lambda: sorted([v, v], key=lambda t: bool(t)),
        lambda: functools.reduce(lambda a, b: a + b, [v, al.Graph().variable([1.0])]),
    ):
        with pytest.raises((TypeError, ValueError), match=r"at (tests/python/tools/)?test_hostile\.py:\d+\.$"):
            use()
