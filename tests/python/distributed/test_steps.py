"""Sums over processes within a step."""

import numpy as np
import pytest

import alloy as al
from kinds import HAS_BFLOAT16


def test_a_step_sums_tensors_of_all_processes(launched):
    code = """
graph = al.Graph()
x, n = graph.placeholder((3,)), graph.placeholder((), "int32")
total, count = al.distributed.all_reduce([al.exp(x), n])
again = al.distributed.all_reduce({"mean": total / al.cast(count, "float32")})["mean"]
step = graph.compile([x, n], [total, count, again])
own = np.array([0.5, 1.0, -1.0], np.float32) * (rank + 1)
total, count, again = step(own, np.int32(rank + 2))
exact = sum(np.exp(np.array([0.5, 1.0, -1.0]) * (k + 1)) for k in range(size))
assert np.allclose(total, exact, rtol=1e-6) and count == sum(range(2, size + 2))
assert np.allclose(again, size * exact / count, rtol=1e-6)
tell(bits=total.tobytes().hex())
"""
    assert len({values["bits"] for values in launched(3, code)}) == 1


def test_gradients_are_those_of_the_sum_of_all_losses(launched):
    code = """
graph = al.Graph()
x = graph.placeholder((4,))
spread = x - al.distributed.all_reduce(al.mean(x)) / size
loss = al.sum(al.square(al.square(spread)))
gradient = graph.compile([x], al.gradients(loss, [x]))
rows = np.random.default_rng(0).normal(size=(size, 4))
(found,) = gradient(rows[rank].astype(np.float32))

def whole(rows):
    return np.sum((rows - rows.mean()) ** 4)

for i in range(4):
    ahead, behind = rows.copy(), rows.copy()
    ahead[rank, i] += 1e-5
    behind[rank, i] -= 1e-5
    assert abs((whole(ahead) - whole(behind)) / 2e-5 - found[i]) < 1e-4 * np.abs(found).max()
tell()
"""
    launched(2, code)


def test_all_sums_of_a_moment_are_one_exchange(launched):
    code = """
graph = al.Graph()
x = graph.placeholder((1000,))
first = [al.distributed.all_reduce(x * float(i)) for i in range(5)]
step = graph.compile([x], [sum(first[1:], first[0])])
(found,) = step(np.ones(1000, np.float32))
assert np.all(found == 20)
profile = step.profile(np.ones(1000, np.float32), runs=1)
tell(sums=None if profile is None else sum(kernel.kind == "all_reduce" for kernel in profile.kernels))
"""
    assert {values["sums"] for values in launched(2, code)} <= {1, None}


@pytest.mark.parametrize("by_messages, exchanges", [(True, 5), (False, 1)])
def test_large_sums_travel_by_messages_while_others_are_computed(by_messages, exchanges, launched):
    """Of 4 MB each."""
    code = """
graph = al.Graph()
x = graph.placeholder((1024, 1024))
terms = [x]
for i in range(5):
    terms.append(al.sin(terms[-1]) * 2.0)
sums = al.distributed.all_reduce(terms[:0:-1])
step = graph.compile([x], [al.mean(total) for total in sums])
own = np.full((1024, 1024), 0.1 * (rank + 1), np.float32)
expected, values = [], [np.float64(np.float32(0.1 * (k + 1))) for k in range(size)]
for i in range(5):
    values = [np.sin(value) * 2 for value in values]
    expected.append(sum(values))
for _ in range(3):
    assert np.allclose(step(own), expected[::-1], rtol=1e-5)
profile = step.profile(own, runs=1)
tell(shapes=None if profile is None else [kernel.shape for kernel in profile.kernels if kernel.kind == "all_reduce"])
"""
    for values in launched(2, code, by_messages=by_messages):
        assert values["shapes"] in (None, [[1024, 1024]] * exchanges)


@pytest.mark.parametrize("by_messages", [True, False])
def test_sums_may_share_terms_and_be_terms(by_messages, launched):
    code = """
graph = al.Graph()
x = graph.placeholder((300, 10))
double = x * 2.0
first, twice, same = al.distributed.all_reduce([double, double, x])
(second,) = al.distributed.all_reduce([double])
third = al.distributed.all_reduce(second * 1.0)
fourth, _ = al.distributed.all_reduce([third, double])
step = graph.compile([x], [first, twice, same, second, third, fourth])
own = np.arange(3000, dtype=np.float32).reshape(300, 10) * (rank + 1)
for _ in range(2):
    total = own / (rank + 1) * sum(range(1, size + 1))
    for one, factor in zip(step(own), [2, 2, 1, 2, 2 * size, 2 * size**2], strict=True):
        assert np.array_equal(one, factor * total)
tell()
"""
    launched(3, code, by_messages=by_messages)


def test_an_optimizer_moves_by_the_mean_of_all_gradients(launched):
    code = """
graph = al.Graph()
w = graph.variable(np.ones(2, np.float32), "w")
x = graph.placeholder((2,))
optimizer = al.distributed.Optimizer(al.SGD(0.5))
step = graph.compile([x], [], optimizer.minimize(al.sum(w * x), [w]))
step(np.array([rank, 1.0], np.float32))
assert np.allclose(w.numpy(), [1 - 0.5 * (size - 1) / 2, 0.5])
tell()
"""
    launched(2, code)


@pytest.mark.skipif(not HAS_BFLOAT16, reason="that system has no bfloat16")
@pytest.mark.parametrize("by_messages", [True, False])
def test_gradients_may_travel_as_bfloat16(by_messages, launched):
    """The sums of three are rounded after each addition, in the order of all_reduce."""
    code = """
from alloy.distributed import processes
graph = al.Graph()
w = graph.variable(np.zeros(3000, np.float32), "w")
x = graph.placeholder((3000,))
step = graph.compile([x], [], al.distributed.Optimizer(al.SGD(1.0), dtype="bfloat16").minimize(al.sum(w * x), [w]))
given = np.random.default_rng(0).normal(size=(size, 3000)).astype(np.float32)
before = processes._ring().sent
step(given[rank])
terms = given.astype(ml_dtypes.bfloat16)
for part in range(3):
    first, second, third = (terms[(part + k) % 3, 1000 * part : 1000 * (part + 1)] for k in range(3))
    total = (first + second) + third
    assert np.array_equal(w.numpy()[1000 * part : 1000 * (part + 1)], -(total.astype(np.float32) * np.float32(1 / 3)))
tell(sent=processes._ring().sent - before)
"""
    assert [values["sent"] for values in launched(3, code, by_messages=by_messages)] == [2 * 2 * 2 * 1000] * 3


@pytest.mark.parametrize("by_messages", [True, False])
def test_other_arrays_in_a_step_are_told(by_messages, launched):
    code = """
from alloy.distributed import ring
ring._GRACE = 0.5
graph = al.Graph()
x = graph.placeholder((None,))
step = graph.compile([x], [al.distributed.all_reduce(x)])
step(np.zeros(10 + rank, np.float32))
"""
    assert (
        "Expected the same call with arrays of the same sizes and types"
        in launched(2, code, fails=True, by_messages=by_messages).stderr
    )


def test_one_process_has_no_exchange():
    graph = al.Graph()
    x = graph.placeholder((2,))
    assert al.distributed.all_reduce(x) is x
    (total,) = graph.apply("all_reduce", [x], {}, "", "here.py:1")
    step = graph.compile([x], [total * 2])
    assert np.array_equal(step(np.array([1, 2], np.float32))[0], [2, 4])


def test_mistakes(tmp_path):
    graph = al.Graph()
    x = graph.placeholder((2,))
    flag = graph.placeholder((2,), "bool")
    with pytest.raises(TypeError, match=r"\[all_reduce\] Expected numbers, which have a sum, got bool"):
        graph.apply("all_reduce", [flag], {}, "", "here.py:1")
    with pytest.raises(TypeError, match=r"\[all_reduce\] Expected tensors beside a tensor, got float"):
        al.distributed.all_reduce([x, 1.0])
    with pytest.raises(TypeError, match=r"\[Optimizer\] Expected an optimizer such as al.Adam\(1e-3\), got 0.1"):
        al.distributed.Optimizer(0.1)
    with pytest.raises(ValueError, match=r"\[Optimizer\] Expected the dtype \"float32\" or \"bfloat16\", got 'half'"):
        al.distributed.Optimizer(al.SGD(0.1), dtype="half")
    (total,) = graph.apply("all_reduce", [x], {}, "", "here.py:1")
    with pytest.raises(ValueError, match=r"\[export\] The step has ops that run on the host"):
        graph.compile([x], [total]).export(tmp_path / "step.mpsgraphpackage")
