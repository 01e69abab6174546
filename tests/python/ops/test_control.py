"""Conditionals and loops: al.cond, al.for_loop, al.while_loop, al.scan, and several steps in one dispatch."""

import numpy as np
import pytest

import alloy as al


def run(graph, feeds, fetches, *arrays):
    return graph.compile(feeds, fetches)(*arrays)


def differences(function, x, h=1e-6):
    """Its derivatives to every element of x."""
    x = np.asarray(x, float)
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        out[place] = (function(x + step) - function(x - step)) / (2 * h)
    return out


X = np.float32([0.5, -0.25, 0.75])


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_cond(graph, dtype):
    flag, x = graph.placeholder((1,), dtype), graph.placeholder((3,))
    w = graph.variable(np.float32([2, 3, 5]))
    first, second = al.cond(flag, lambda: (x * w, al.exp(x)), lambda: [x - 1, w])
    (gradient,) = al.gradients(al.sum(first * first), [x])
    step = graph.compile([flag, x], [first, second, gradient])
    for taken in (1, 0):
        a, b, g = step(np.array([taken], dtype), X)
        np.testing.assert_allclose(a, X * [2, 3, 5] if taken else X - 1, rtol=1e-6)
        np.testing.assert_allclose(b, np.exp(X) if taken else [2, 3, 5], rtol=1e-6)
        np.testing.assert_allclose(g, 2 * X * np.square([2, 3, 5]) if taken else 2 * (X - 1), rtol=1e-5)


def test_what_no_gradient_reaches_in_a_branch_needs_none(graph):
    flag, x = graph.placeholder((), "bool"), graph.placeholder((3,))
    found = al.while_loop(lambda v: al.sum(v) < 20.0, lambda v: v * 2, x)
    y = al.cond(flag, lambda: al.stop_gradient(found) * x, lambda: al.floor(found))
    (gradient,) = al.gradients(al.sum(y), [x])
    np.testing.assert_allclose(run(graph, [flag, x], [gradient], np.array(True), X)[0], X * 32)
    np.testing.assert_array_equal(run(graph, [flag, x], [gradient], np.array(False), X)[0], 0 * X)


def test_for_loop(graph):
    n, x = graph.placeholder((), "int32"), graph.placeholder((3,))
    total, count = al.for_loop(2, n, lambda i, value: (value[0] * 10 + i, value[1] + x), (0, x * 0), step=3)
    step = graph.compile([n, x], [total, count])
    got, sums = step(np.int32(12), X)
    assert got == 2 * 1000 + 5 * 100 + 8 * 10 + 11
    np.testing.assert_allclose(sums, 4 * X)
    got, sums = step(np.int32(2), X)
    assert got == 0
    np.testing.assert_array_equal(sums, 0 * X)


def test_while_loop(graph):
    x = graph.placeholder((3,))
    doubled = al.while_loop(lambda v: al.sum(v) < 20.0, lambda v: v * 2, x)
    value, count = al.while_loop(lambda v: v[1] < 5, lambda v: [v[0] + x, v[1] + 1], [x, 0])
    got, sums, counted = run(graph, [x], [doubled, value, count], X)
    np.testing.assert_allclose(got, X * 32)
    np.testing.assert_allclose(sums, 6 * X)
    assert counted == 5
    with pytest.raises(ValueError, match=r"\[while_loop\] A loop that ends by a predicate has no gradient"):
        al.gradients(al.sum(doubled), [x])


def test_gradients_of_a_for_loop(graph):
    x, w = graph.placeholder((3,)), graph.variable(np.float32([0.5, 0.2, -0.7]))
    y = al.for_loop(0, 4, lambda i, v: al.tanh(v * w + x), x)
    got, to_x, to_w = run(graph, [x], [y, *al.gradients(al.sum(y * y), [x, w])], X)

    def loss(x, w):
        v = x
        for _ in range(4):
            v = np.tanh(v * w + x)
        return (v * v).sum()

    w = np.array([0.5, 0.2, -0.7])
    np.testing.assert_allclose((got.astype(float) ** 2).sum(), loss(X.astype(float), w), rtol=1e-6)
    np.testing.assert_allclose(to_x, differences(lambda x: loss(x, w), X), rtol=1e-5)
    np.testing.assert_allclose(to_w, differences(lambda w: loss(X.astype(float), w), w), rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [5, None])
def test_scan(graph, rng, reverse, length):
    """A recurrence and what it gives at each step, of a length known when the graph is built, or in a run alone."""
    xs, h = graph.placeholder((length, 2, 3)), graph.placeholder((2, 3))
    w = graph.variable(rng.normal(size=(3, 3)).astype(np.float32) * 0.5)

    def body(h, x):
        h = al.tanh(h @ w + x)
        return h, (h * 2, al.sum(x, axis=-1))

    last, (doubled, sums) = al.scan(body, h, xs, reverse=reverse)
    weights = rng.normal(size=(5, 2, 3)).astype(np.float32)
    loss = al.sum(last * last) + al.sum(doubled * weights) + al.sum(al.exp(sums))
    step = graph.compile([xs, h], [last, doubled, sums, *al.gradients(loss, [xs, h, w])])
    given = [rng.normal(size=(5, 2, 3)).astype(np.float32), rng.normal(size=(2, 3)).astype(np.float32)]
    got = step(*given)

    def reference(xs, h, w):
        rows = [None] * 5
        for i in range(5)[:: -1 if reverse else 1]:
            h = np.tanh(h @ w + xs[i])
            rows[i] = h * 2
        return h, np.stack(rows), xs.sum(-1)

    exact = [*(array.astype(float) for array in given), w.numpy().astype(float)]
    for value, expected in zip(got, reference(*exact)):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)

    def total(*operands):
        h, rows, sums = reference(*operands)
        return (h * h).sum() + (rows * weights).sum() + np.exp(sums).sum()

    for i, gradient in enumerate(got[3:]):
        expected = differences(lambda v, i=i: total(*exact[:i], v, *exact[i + 1 :]), exact[i])
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_scan_without_slices_or_rows(graph):
    x = graph.placeholder((3,))
    value, rows = al.scan(lambda v, _: (v + x, None), x, length=3)
    assert rows is None
    np.testing.assert_allclose(run(graph, [x], [value], X)[0], 4 * X)
    (a, b), (first, second) = al.scan(
        lambda v, x: ((v[1], x[0]), [v[0], x[1]]), (x, x), (graph.constant(np.eye(3, dtype=np.float32)),) * 2
    )
    got = run(graph, [x], [a, b, first, second], X)
    np.testing.assert_allclose(got[0], [0, 1, 0])
    np.testing.assert_allclose(got[1], [0, 0, 1])
    np.testing.assert_allclose(got[2], [X, X, [1, 0, 0]])
    np.testing.assert_allclose(got[3], np.eye(3))


def test_loops_nest(graph):
    x = graph.placeholder((3,))

    def outer(i, v):
        inner = al.for_loop(0, 2, lambda j, u: u * x + v, v)
        return al.cond(al.equal(i, 1), lambda: inner * 2, lambda: inner)

    y = al.for_loop(0, 3, outer, x)
    got, gradient = run(graph, [x], [y, *al.gradients(al.sum(y), [x])], X)

    def reference(x):
        v = x
        for i in range(3):
            u = v
            for _ in range(2):
                u = u * x + v
            v = u * 2 if i == 1 else u
        return v

    np.testing.assert_allclose(got, reference(X.astype(float)), rtol=1e-6)
    np.testing.assert_allclose(gradient, differences(lambda x: reference(x).sum(), X), rtol=1e-4)


def test_gradients_in_a_loop(graph):
    """Newton's steps toward the root of 2, with the slope from al.gradients in the body."""
    x = graph.placeholder(())

    def step(i, v):
        y = v * v - 2.0
        (slope,) = al.gradients(y, [v])
        return v - y / slope

    assert run(graph, [x], [al.for_loop(0, 6, step, x)], np.float32(1))[0] == pytest.approx(2**0.5, rel=1e-6)


def test_messages(graph):
    x, n, other = graph.placeholder((3,)), graph.placeholder((), "int32"), al.Graph().placeholder((3,))
    v = graph.variable(X)
    for call, kind, says in [
        (lambda: al.for_loop(0, 3, lambda i, v: al.cast(v, "int32"), x), ValueError,
         r"\[for_loop\] Value 0 is float32\(3,\) before an iteration and int32\(3,\) behind it"),
        (lambda: al.for_loop(0, 3, lambda i, v: (v, v), x), ValueError, r"\[for_loop\] Expected 1 values from"),
        (lambda: al.for_loop(0, 3, lambda i, v: None, x), TypeError, r"\[for_loop\] Expected tensors"),
        (lambda: al.for_loop(0.5, 3, lambda i, v: v, x), TypeError, r"\[for_loop\] "),
        (lambda: al.for_loop(0, 3, lambda i, v: v, 1), TypeError, r"\[for_loop\] Expected a tensor among"),
        (lambda: al.while_loop(lambda v: v, lambda v: v, x), ValueError,
         r"\[while_loop\] Expected a predicate of one element, got float32\(3,\)"),
        (lambda: al.cond(n, lambda: x, lambda: n), ValueError,
         r"\[cond\] Result 0 is float32\(3,\) in one branch and int32\(\) in the other"),
        (lambda: al.cond(n, lambda: x, lambda: (x, x)), ValueError, r"\[cond\] The branches give 1 and 2 results"),
        (lambda: al.cond(x, lambda: x, lambda: x), ValueError, r"\[cond\] Expected a predicate of one element"),
        (lambda: al.cond(n, lambda: other, lambda: other), ValueError, "belongs to another graph"),
        (lambda: al.scan(lambda v, x: v, x, length=3), TypeError, r"\[scan\] Expected a pair of the next value and y"),
        (lambda: al.scan(lambda v, x: (v, x), x, (x, graph.placeholder((4,)))), ValueError,
         r"\[scan\] Expected one length along the first axis, got \[3, 4\]"),
        (lambda: al.scan(lambda v, x: (v, x), x), ValueError, r"\[scan\] Expected tensors to take slices of"),
        (lambda: al.for_loop(0, 3, lambda i, u: (graph.assign(v, u), u)[1], x), ValueError, "cannot assign a variable"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=rf"{says}.*; (built )?at \S*test_control\.py:\d+\.$"):
            call()
    hidden = []
    al.for_loop(0, 3, lambda i, v: (hidden.append(v * 2), v)[1], x)
    with pytest.raises(ValueError, match="can be used only there"):
        hidden[0] + x
    with pytest.raises(ValueError, match="that a loop, a conditional or a custom gradient has called"):
        graph.compile([x], hidden)
    y = al.for_loop(0, n, lambda i, v: v * x, x)
    with pytest.raises(ValueError, match=r"\[for_loop\] A loop has a gradient only if it is known before the run"):
        al.gradients(al.sum(y), [x])
    # The graph is whole, and works.
    np.testing.assert_allclose(run(graph, [x, n], [y], X, np.int32(2))[0], X**3, rtol=1e-6)


def test_a_function_that_raises_leaves_the_graph_whole(graph):
    x = graph.placeholder((3,))
    kept = []

    def fails(i, v):
        kept.append(v * 2)
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        al.for_loop(0, 3, fails, x)
    assert kept[0].shape == (3,)
    np.testing.assert_allclose(run(graph, [x], [x + 1], X)[0], X + 1)


# ---- several steps in one dispatch ----


def make_training(optimizer, storage):
    model = al.nn.Sequential(
        al.nn.Dense(16), al.nn.ReLU(), al.nn.BatchNorm(), al.nn.Dropout(0.25), al.nn.Dense(4), seed=3
    )
    graph = al.Graph(storage=storage)
    x, y = graph.placeholder((None, 6)), graph.placeholder((None,), "int32")
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    updates = [*optimizer().minimize(loss, [v for v in model.variables if v.trainable]), *model.updates]
    return model, graph, [x, y], [loss], updates


@pytest.mark.parametrize("optimizer", [lambda: al.SGD(0.1), lambda: al.Adam(0.01)], ids=["sgd", "adam"])
def test_steps_together_are_single_steps(rng, optimizer, storage):
    xs, ys = rng.normal(size=(12, 8, 6)).astype(np.float32), rng.integers(0, 4, (12, 8)).astype(np.int32)
    model, graph, feeds, fetches, updates = make_training(optimizer, storage)
    single = graph.compile(feeds, fetches, updates)
    losses = [single(x, y)[0] for x, y in zip(xs, ys)]
    again, graph, feeds, fetches, updates = make_training(optimizer, storage)
    several = graph.compile(feeds, fetches, updates, steps=4)
    before = al.device_stats()
    together = [several(xs[i : i + 4], ys[i : i + 4])[0] for i in range(0, 12, 4)]
    assert before is None or al.device_stats()["dispatches"] - before["dispatches"] == 3
    assert together[0].shape == (4, *np.shape(losses[0]))
    np.testing.assert_array_equal(np.concatenate(together), np.stack(losses))
    for one, other in zip(model.variables, again.variables):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    with pytest.raises(ValueError, match=r"Expected an entry for each of 4 steps along the first axis, got shape"):
        several(xs[:3], ys[:3])


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_trainer_makes_several_steps_at_once(rng, shuffle):
    x, y = rng.normal(size=(203, 6)).astype(np.float32), rng.integers(0, 4, 203).astype(np.int32)

    def trained(together):
        model = al.nn.Sequential(al.nn.Dense(8), al.nn.ReLU(), al.nn.Dropout(0.5), al.nn.Dense(4), seed=1)
        trainer = al.Trainer(
            model, "softmax_cross_entropy", al.Adam(0.01), ["accuracy"], seed=2, steps_per_dispatch=together
        )
        history = trainer.fit((x, y), epochs=2, batch_size=16, progress=False, shuffle=shuffle)
        return history, [v.numpy() for v in model.variables]

    (one, variables), (five, others) = trained(1), trained(5)
    assert one["loss"] == five["loss"] and one["accuracy"] == five["accuracy"]
    for a, b in zip(variables, others):
        np.testing.assert_array_equal(a, b)


def test_a_step_that_is_not_finite_holds_back_those_behind_it(rng):
    x, y = rng.normal(size=(64, 3)).astype(np.float32), rng.normal(size=(64, 1)).astype(np.float32)
    x[20] = 3e38

    def variables(together, rows):
        model = al.nn.Sequential(al.nn.Dense(1), seed=1)
        trainer = al.Trainer(model, "mean_squared_error", al.SGD(0.01), steps_per_dispatch=together)
        if rows > 16:
            with pytest.raises(FloatingPointError, match="step 2 of epoch 1"):
                trainer.fit((x[:rows], y[:rows]), 1, batch_size=16, progress=False, shuffle=False)
        else:
            trainer.fit((x[:rows], y[:rows]), 1, batch_size=16, progress=False, shuffle=False)
        return [v.numpy() for v in model.variables]

    for a, b in zip(variables(4, 64), variables(1, 16)):
        np.testing.assert_array_equal(a, b)
