"""Gradients and updates as separate calls, and what of a model is trained."""

import numpy as np
import pytest

import alloy as al
import reference as ref
from kinds import HALVES

OPTIMIZERS = pytest.mark.parametrize(
    "optimizer, reference",
    [(al.SGD(0.1), lambda: ref.sgd(0.1)), (al.Adam(0.05), lambda: ref.adam(0.05))],
    ids=["sgd", "adam"],
)


@pytest.fixture
def graph(storage):
    return al.Graph(storage=storage)


# ---- forward, backward and update as separate calls ----


@OPTIMIZERS
def test_gradients_that_are_fed(optimizer, reference, graph, rng):
    shapes = (2, 3), (3,), (1,)
    variables = [graph.variable(rng.normal(size=shape).astype(np.float32)) for shape in shapes]
    gradients = [graph.placeholder(shape) for shape in shapes]
    update = graph.compile(gradients, [], optimizer.apply(zip(gradients, variables)))
    expected, reference = [variable.numpy().astype(np.float64) for variable in variables], reference()
    for _ in range(5):
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        assert update(*arrays) == []
        reference(expected, [array.astype(np.float64) for array in arrays])
        for variable, value in zip(variables, expected):
            np.testing.assert_allclose(variable.numpy(), value, rtol=2e-6, atol=1e-6)


@OPTIMIZERS
def test_forward_backward_and_update_apart(optimizer, reference, graph, rng):
    """A step in three calls, of which the caller sees every result, against the formulas."""
    x, y = graph.placeholder((None, 3), name="x"), graph.placeholder((None, 1), name="y")
    w = graph.variable(np.ones((3, 1), np.float32), name="w")
    predictions = x @ w
    loss = al.mean(al.square(predictions - y))
    slope = graph.placeholder(w.shape, name="slope")
    forward = graph.compile([x], [predictions])
    backward = graph.compile([x, y], [loss, *al.gradients(loss, [w])])
    update = graph.compile([slope], [], optimizer.apply([(slope, w)]))
    expected, reference = np.ones((3, 1)), reference()
    for _ in range(10):
        points = rng.normal(size=(8, 3)).astype(np.float32)
        targets = points.sum(1, keepdims=True) * 2
        before = w.numpy()
        np.testing.assert_allclose(forward(x=points)[0], points @ expected, rtol=1e-4, atol=1e-5)
        error, found = backward(points, targets)
        np.testing.assert_array_equal(w.numpy(), before, "nothing has been updated yet")
        residual = points.astype(float) @ expected - targets
        assert error == pytest.approx(np.mean(residual**2), rel=1e-4)
        np.testing.assert_allclose(found, 2 / 8 * points.T @ residual, rtol=1e-4, atol=1e-5)
        update(slope=found)
        reference([expected], [found.astype(float)])
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5)


def test_gradients_that_are_changed_on_the_way(graph):
    v = graph.variable([1.0, 1.0, 1.0])
    (gradient,) = al.gradients(al.sum(v * np.float32([0.5, 10, -10])), [v])
    graph.compile([], [], al.SGD(1.0).apply([(al.clamp(gradient, -1.0, 1.0), v)]))()
    np.testing.assert_array_equal(v.numpy(), [0.5, 0, 2])


def test_a_schedule_counts_the_updates(graph):
    v, slope = graph.variable([8.0]), graph.placeholder((1,))
    update = graph.compile([slope], [], al.SGD(al.schedules.polynomial(4.0, 4)).apply([(slope, v)]))
    seen = []
    for _ in range(5):
        update([1.0])
        seen.append(v.numpy().item())
    assert seen == [4, 1, -1, -2, -2]


def test_wrong_pairs(graph):
    v, w = graph.variable([1.0, 2.0], name="v"), graph.placeholder((2,), name="w")
    other, longer = al.Graph(), graph.placeholder((3,))
    theirs = other.placeholder((2,))
    before = len(graph.variables)
    for pairs, kind, says in [
        ([(longer, v)], ValueError, r"gradient is float32\(3,\) but the variable 'v' is float32\(2,\)"),
        ([(graph.placeholder((2,), al.int32), v)], TypeError, r"int32\(2,\) but the variable 'v' is float"),
        ([(theirs, v)], ValueError, "gradient belongs to another graph"),
        ([(w, v), (theirs, other.variable([1.0, 2.0]))], ValueError, "variable belongs to another graph"),
        ([(v, w)], TypeError, "pairs of a gradient and its variable, got .*'w'"),
        ([w, v], TypeError, "pairs of a gradient and its variable, got .*'w'"),
        ([(np.float32([1, 2]), v)], TypeError, "pairs of a gradient and its variable"),
    ]:
        for optimizer in (al.SGD(), al.Adam()):
            with pytest.raises(kind, match=rf"^\[\w+\] .*{says}.*; (built )?at .*test_optimizers\.py:\d+\.$"):
                optimizer.apply(pairs)
    assert len(graph.variables) == before and al.SGD().apply([]) == []


# ---- Adam against its formula ----


def exact_adam(gradients, rate, beta1, beta2, epsilon):
    """The steps, in float64."""
    m = v = 0.0
    for t, g in enumerate(gradients.astype(float), 1):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        yield rate * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon)


def torch_adam(gradients, rate, beta1, beta2, epsilon):
    """The steps as PyTorch computes them: tensors in float32, numbers in float64 (torch.optim.adam, one tensor)."""
    f = np.float32
    m = v = f(0)
    for t, g in enumerate(gradients, 1):
        m = m + f(1 - beta1) * (g - m)
        v = v * f(beta2) + f(1 - beta2) * g * g
        denominator = np.sqrt(v) / f((1 - beta2**t) ** 0.5) + f(epsilon)
        yield f(rate / (1 - beta1**t)) * (m / denominator)


def adam_steps(gradients, make_rate, **betas):
    """What Alloy's Adam takes from a variable that is 0 before each step."""
    graph = al.Graph()
    v, slope = graph.variable([0.0]), graph.placeholder((1,))
    update = graph.compile([slope], [], al.Adam(make_rate(graph), **betas).apply([(slope, v)]))
    for g in gradients:
        v.assign([0.0])
        update([g])
        yield -v.numpy().item()


def relative_error(steps, exact):
    return np.max(np.abs(np.array(list(steps), float) / list(exact) - 1))


RATES = {
    "number": lambda graph: 1e-3,
    "tensor": lambda graph: graph.constant([1e-3]) * 1.0,
    "schedule": lambda graph: lambda step: step * 0.0 + 1e-3,
}


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
@pytest.mark.parametrize("beta2", [0.99, 0.999, 0.9999, 0.99999])
@pytest.mark.parametrize("gradient", [1.0, 0.3, -70.0, "random"])
def test_the_first_steps_of_adam_are_exact(gradient, beta2, rate, rng):
    gradients = np.full(100, gradient, "f") if gradient != "random" else rng.uniform(0.5, 1.5, 100).astype("f")
    exact = exact_adam(gradients, 1e-3, 0.9, beta2, 1e-8)
    # Roundings of float32, 6e-8 each: two for a gradient that stays, ten for one that changes.
    assert relative_error(adam_steps(gradients, rate, betas=(0.9, beta2)), exact) <= (
        3e-7 if gradient != "random" else 6e-7
    )


@pytest.mark.parametrize("beta2", [0.999, 0.9999, 0.99999])
@pytest.mark.parametrize("course", ["constant", "random", "falling", "rising"])
def test_adam_is_as_exact_as_pytorch(course, beta2, rng):
    t, noise = np.arange(5000), rng.uniform(0.8, 1.2, 5000)
    gradients = {
        "constant": t * 0 + 0.3,
        "random": noise,
        "falling": noise * np.exp(-t / 1500),
        "rising": noise * np.exp(t / 1500),
    }[course].astype(np.float32)
    formula = 1e-3, 0.9, beta2, 1e-8
    exact = list(exact_adam(gradients, *formula))
    error = relative_error(adam_steps(gradients, RATES["number"], betas=(0.9, beta2)), exact)
    assert error <= relative_error(torch_adam(gradients, *formula), exact)


# ---- what is trained ----


def model_and_data(rng):
    x = rng.normal(size=(32, 6)).astype(np.float32)
    # A bias before a batch norm would have no gradient but rounding.
    model = al.nn.Sequential(
        al.nn.Dense(8, use_bias=False),
        al.nn.BatchNorm(),
        al.nn.ReLU(),
        al.nn.Dense(4, use_bias=False),
        al.nn.BatchNorm(),
        al.nn.Dense(3),
    )
    return model, x, rng.integers(0, 3, 32).astype(np.int32)


def values(variables):
    return [variable.numpy() for variable in variables]


def moved(before, variables):
    return [not np.array_equal(a, b) for a, b in zip(before, values(variables), strict=True)]


@pytest.mark.parametrize("when", ["before the first call", "after it"])
def test_a_frozen_layer_does_not_change(when, graph, rng):
    model, x_data, y_data = model_and_data(rng)
    frozen, free = model.layers[:3], model.layers[3:]
    x, y = graph.placeholder((None, 6)), graph.placeholder((None,), al.int32)
    if when == "after it":
        model(x)
    for layer in frozen:
        layer.trainable = False
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    step = graph.compile([x, y], [loss], al.Adam(0.1).minimize(loss) + model.updates)
    inside = [variable for layer in frozen for variable in layer.variables]
    outside = [variable for layer in free for variable in layer.variables]
    assert not any(variable.trainable for variable in inside)
    before = values(inside), values(outside)
    for _ in range(3):
        step(x_data, y_data)
    assert not any(moved(before[0], inside)), "not its moving averages either"
    assert all(moved(before[1], outside))


def test_a_trainer_follows_what_is_trainable(rng):
    model, x, y = model_and_data(rng)
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(0.05))
    trainer.predict(x)
    base, norm, *_, head = model.layers
    for layer in model.layers[:-1]:
        layer.trainable = False
    compilations = []
    for trainable in (False, True, False):
        base.trainable = trainable
        before = values(base.variables), values(head.variables), values(norm.variables)
        compiled = al.stats()["compilations"]
        trainer.fit((x, y), epochs=2, batch_size=16, progress=False)
        compilations.append(al.stats()["compilations"] - compiled)
        assert moved(before[0], base.variables) == [trainable]
        assert all(moved(before[1], head.variables)) and not any(moved(before[2], norm.variables))
    assert min(compilations[:2]) > 0 == compilations[2], "what was compiled for a choice serves it again"


def test_trainable_of_layers_inside_layers():
    graph = al.Graph()
    inner = al.nn.Sequential(al.nn.Dense(4), al.nn.BatchNorm())
    model = al.nn.Sequential(al.nn.Residual(inner), al.nn.Dense(2))
    inner.trainable = False
    model(graph.placeholder((1, 4)))
    assert [v.name for v in model.variables if v.trainable] == ["dense_0/weights", "dense_0/bias"]
    model.trainable = True
    assert inner.trainable and inner.layers[0].trainable
    frozen = [v.name.rpartition("/")[2] for v in model.variables if not v.trainable]
    assert frozen == ["moving_mean", "moving_variance"]
    model.trainable = False
    assert not any(v.trainable for v in model.variables)


def test_minimize_leaves_frozen_variables_and_statistics(graph, rng):
    model, x_data, y_data = model_and_data(rng)
    x, y = graph.placeholder((None, 6)), graph.placeholder((None,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    weights = model.variables[0]
    weights.trainable = False
    statistics = [variable for variable in model.variables if "moving" in variable.name]
    assert len(statistics) == 4 and not any(variable.trainable for variable in statistics)
    with pytest.warns(UserWarning, match="trains a Sequential and leaves .*moving_mean"):
        step = graph.compile([x, y], [loss], al.SGD(0.5).minimize(loss))
    kept, others = [weights, *statistics], [v for v in model.variables if v.trainable]
    before = values(kept), values(others)
    for _ in range(3):
        step(x_data, y_data)
    assert not any(moved(before[0], kept))
    assert all(moved(before[1], others))
    weights.trainable = True
    np.testing.assert_array_equal(weights.numpy(), before[0][0])
    graph.compile([x, y], [], [*al.SGD(0.5).minimize(loss), *model.updates])(x_data, y_data)
    assert moved(before[0][:1], [weights]) == [True]


def test_a_frozen_batch_norm_uses_its_moving_averages(graph, rng):
    """While training too, as in Keras."""
    x = graph.placeholder((None, 3))
    norm = al.nn.BatchNorm()
    norm.trainable = False
    data = rng.normal(2, 3, (16, 3)).astype(np.float32)
    training = norm(x, training=True)
    norm.variables[2].assign(np.float32([1, 2, 3]))
    assert norm.updates == []
    expected = (data - [1, 2, 3]) / np.sqrt(1 + 0.001)
    np.testing.assert_allclose(graph.compile([x], [training])(data)[0], expected, rtol=1e-5, atol=1e-6)


# ---- the learning rate later on ----


def test_a_learning_rate_set_later_reaches_every_graph_that_is_left(rng):
    optimizer, steps = al.SGD(1.0), []
    for _ in range(2):
        graph = al.Graph()
        v, w = graph.variable([1.0, 2.0], name="v"), graph.variable([3.0], name="w")
        first, second = (graph.compile([], [], optimizer.minimize(al.sum(u), [u])) for u in (v, w))
        steps.append((v, w, first, second))
    assert [u.name for u in graph.variables] == [
        "v",
        "w",
        "optimizer/steps_0/step",
        "optimizer/lr",
        "optimizer/steps_1/step",
    ]
    al.SGD(2.0).minimize(al.sum(v), [v])
    assert [u.name for u in graph.variables[-2:]] == ["optimizer/1/steps_0/step", "optimizer/1/lr"]
    optimizer.lr = 0.25
    for v, w, first, second in steps:
        first(), second()
        np.testing.assert_array_equal([*v.numpy(), *w.numpy()], [0.75, 1.75, 2.75])
    before = al.stats()["live_objects"]
    del steps[0], first, v, w, second
    import gc

    gc.collect()
    assert al.stats()["live_objects"] < before, "an optimizer keeps no graph alive"
    optimizer.lr = 0.5
    steps[0][2]()
    np.testing.assert_array_equal(steps[0][0].numpy(), [0.25, 1.25])


@pytest.mark.parametrize("make", [al.SGD, al.Adam])
def test_learning_rates_that_cannot_be_set(make):
    graph = al.Graph()
    v = graph.variable([1.0])
    number, schedule, untouched = make(0.1), make(al.schedules.polynomial(0.1, 5)), make(0.1)
    for optimizer in (number, schedule):
        optimizer.minimize(al.sum(v))
    untouched.lr = al.schedules.polynomial(0.1, 5)
    for optimizer, rate in ((number, al.schedules.polynomial(0.1, 5)), (number, v), (schedule, 0.1)):
        with pytest.raises(
            ValueError, match=r"Expected lr to stay (a number|the schedule), .*; at .*test_optimizers\.py:\d+\.$"
        ):
            optimizer.lr = rate


def use_a_rate_of_one_element():
    al.SGD(lambda step: np.float32([1])).minimize(al.sum(al.Graph().variable([1.0])))


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: al.SGD(-1), ValueError, r"^\[SGD\] Expected lr of 0 or more that float32 can hold, got -1"),
        (lambda: al.SGD(float("nan")), ValueError, "got nan"),
        (lambda: al.Adam(float("inf")), ValueError, "got inf"),
        (lambda: al.Adam(betas=(0.9, 2)), ValueError, r"^\[Adam\] Expected betas of 0 or more and below 1, got 2"),
        (lambda: al.Adam(betas=(float("nan"), 0)), ValueError, "Expected betas"),
        (lambda: al.Adam(betas=(-0.1, 0.9)), ValueError, "Expected betas"),
        (lambda: al.Adam(eps=-1e-9), ValueError, "Expected eps of 0 or more"),
        (lambda: al.Adam(betas=("x", 0)), TypeError, "numbers"),
        (lambda: al.Adam(learning_rate=0.1), TypeError, r"^\[Adam\] There is no option learning_rate; use lr; at"),
        (lambda: al.Adam(epsilon=0.1), TypeError, r"^\[Adam\] There is no option epsilon; "),
        (lambda: al.AdamW(weight_decy=0.1), TypeError, "no option weight_decy; the nearest is weight_decay"),
        (lambda: al.SGD([al.Graph().variable(1.0)], lr=0.1), TypeError, "lr"),
        (lambda: al.SGD(nesterov=True), ValueError, r"^\[SGD\] Expected a momentum and no dampening with nesterov"),
        (lambda: al.SGD(clip_norm=-1), ValueError, r"Expected clip_norm of 0 or more, got -1"),
        (lambda: al.SGD(ema_decay=1), ValueError, r"Expected ema_decay of 0 or more and below 1, got 1"),
        (lambda: al.SGD(accumulate_steps=0), ValueError, r"Expected accumulate_steps of 1 or more, got 0"),
        (lambda: al.SGD(loss_scale=1024), TypeError, r"Expected an al.LossScale, got int"),
        (lambda: setattr(al.SGD(), "lr", -3), ValueError, "got -3"),
        (lambda: al.SGD("fast"), TypeError, "got str"),
        (lambda: al.SGD(1e39), ValueError, r"^\[SGD\] Expected lr of 0 or more that float32 can hold, got 1e\+39"),
        (lambda: al.SGD(10**400), ValueError, "got 1000"),
        (
            lambda: al.LossScale(0),
            ValueError,
            r"^\[LossScale\] Expected init_scale above 0 that float32 can hold, got 0",
        ),
        (lambda: al.LossScale(float("nan")), ValueError, "got nan"),
        (lambda: al.LossScale(1e39), ValueError, "got 1e"),
        (lambda: al.LossScale("a"), TypeError, r"^\[LossScale\] Expected init_scale above 0 .*, got 'a'"),
        (lambda: al.LossScale(backoff_factor=-1), ValueError, "Expected backoff_factor above 0"),
        (use_a_rate_of_one_element, TypeError, "got ndarray"),
    ],
)
def test_wrong_coefficients(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


# ---- groups, and what is trained later ----


def test_groups_have_their_own_options(rng):
    """Of three variables by hand: no decay of what has less than two axes, another rate for a name, both, the last one
    counting."""
    graph = al.Graph()
    start = {
        name: rng.normal(size=shape).astype("f") for name, shape in [("a/w", (2, 3)), ("a/b", (3,)), ("c/w", (2,))]
    }
    variables = {name: graph.variable(value, name) for name, value in start.items()}
    slopes = [graph.placeholder(v.shape) for v in variables.values()]
    optimizer = al.SGD(
        0.1, weight_decay=0.5, groups={lambda v: len(v.shape) < 2: {"weight_decay": 0.0}, "c/*": {"lr": 0.01}}
    )
    step = graph.compile(slopes, [], optimizer.apply(zip(slopes, variables.values())))
    expected = {name: value.astype(float) for name, value in start.items()}
    for lr in (0.1, 0.1, 0.2):
        optimizer.lr = lr
        gradients = [rng.normal(size=v.shape).astype("f") for v in variables.values()]
        step(*gradients)
        for (name, value), gradient in zip(expected.items(), gradients):
            decay = 0.5 if name == "a/w" else 0.0
            expected[name] = value - (0.01 if name == "c/w" else lr) * (gradient + decay * value)
    for name, value in expected.items():
        np.testing.assert_allclose(variables[name].numpy(), value, rtol=1e-5)


@pytest.mark.parametrize(
    "groups, kind, says",
    [
        ({"*": {"weight_decy": 1}}, TypeError, "no option weight_decy; the nearest is weight_decay"),
        ({"*": {"clip_norm": 1}}, TypeError, "no option clip_norm of a group; it is one of all parameters"),
        ([1], TypeError, r"Expected groups as \{pattern or function of a variable: \{option: value\}\}, got \[1\]"),
        ("abc", TypeError, "got 'abc'"),
        ({"*": 3}, TypeError, r"got \{'\*': 3\}"),
        ({3: {"lr": 1}}, TypeError, r"got \{3: "),
        ({"*": {"weight_decay": -1}}, ValueError, "Expected weight_decay of 0 or more, got -1"),
        ({"*": {"lr": -1}}, ValueError, "Expected lr of 0 or more that float32 can hold, got -1"),
    ],
)
def test_wrong_groups(groups, kind, says):
    v = al.Graph().variable([1.0])
    with pytest.raises(kind, match=rf"^\[SGD\] .*{says}.*; (built )?at .*test_optimizers\.py:\d+\.$"):
        al.SGD(groups=groups).minimize(al.sum(v))


def test_what_begins_to_be_trained_later_begins_at_its_own_first_step():
    """As in PyTorch: Adam's corrections count a parameter's own steps, and what it knows of the other stays."""
    graph = al.Graph()
    v, w = graph.variable([0.0]), graph.variable([0.0])
    optimizer, gradient = al.Adam(0.1), graph.constant([1.0])
    first = graph.compile([], [], optimizer.apply([(gradient, v)]))
    both = graph.compile([], [], optimizer.apply([(gradient, v), (gradient * 3.0, w)]))
    for _ in range(20):
        first()
    for _ in range(5):
        both()
    steps = list(exact_adam(np.ones(25, "f"), 0.1, 0.9, 0.999, 1e-8))
    np.testing.assert_allclose(v.numpy(), -sum(steps), rtol=1e-5)
    np.testing.assert_allclose(w.numpy(), -sum(exact_adam(np.full(5, 3, "f"), 0.1, 0.9, 0.999, 1e-8)), rtol=1e-5)


def test_options_are_fixed_once_steps_are_made():
    v = al.Graph().variable([1.0])
    optimizer = al.SGD(0.1, momentum=0.9)
    optimizer.momentum = 0.5
    optimizer.minimize(al.sum(v))
    with pytest.raises(ValueError, match=r"^\[SGD\] Expected momentum to stay what it was.*; at .*\.py:\d+\.$"):
        optimizer.momentum = 0.9
    assert optimizer.momentum == 0.5


# ---- written by users ----


class Memory(al.Optimizer):
    """Moves by the sum of the last two gradients, scaled by what all parameters share."""

    bounds = {"keep": (0, 2)}

    def __init__(self, lr, keep=1.0, **options):
        super().__init__(lr, **options)
        self.keep = keep

    def begin(self, state, step):
        state["turns"] = state.setdefault("turns", 1.0) * 2.0
        self._turns = state["turns"]

    def update(self, parameter, gradient, slots, step):
        last = slots.setdefault("last", np.full(parameter.shape, 5, "f"))
        slots["last"] = gradient
        return parameter - (gradient + last * self.keep) * self.rate * self._turns


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_an_optimizer_of_a_users(dtype, graph):
    element = al.engine.dtypes.numpy_dtype(dtype)
    variables = [graph.variable(np.zeros(shape, element)) for shape in ((2,), ())]
    slopes = [graph.placeholder(v.shape, dtype) for v in variables]
    step = graph.compile(slopes, [], Memory(0.25, groups={lambda v: v.shape == (): {"keep": 0.0}}).apply(
        zip(slopes, variables)
    ))  # fmt: skip
    for value in (1, 2):
        step(*[np.full(v.shape, value, element) for v in variables])
    # turns are 2, then 4
    np.testing.assert_allclose(variables[0].numpy().astype("f"), -0.25 * (2 * (1 + 5) + 4 * (2 + 1)))
    np.testing.assert_allclose(variables[1].numpy().astype("f"), -0.25 * (2 * 1 + 4 * 2))


def test_an_optimizer_without_an_update_says_so():
    class Empty(al.Optimizer):
        pass

    class Wrong(al.Optimizer):
        def update(self, parameter, gradient, slots, step):
            slots["m"] = gradient

    v = al.Graph().variable([1.0])
    with pytest.raises(ValueError, match=r"^\[Empty\] Expected a method update\(parameter, gradient, slots, step\)"):
        Empty(0.1).minimize(al.sum(v))
    with pytest.raises(TypeError, match=r"^\[Wrong\] Expected a tensor from update, got NoneType"):
        Wrong(0.1).minimize(al.sum(v))


# ---- steps that are skipped ----


@pytest.mark.parametrize("make", [lambda **o: al.SGD(0.1, momentum=0.9, **o), lambda **o: al.Adam(0.1, **o)])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_step_whose_gradients_are_not_finite_changes_nothing(make, wrong, graph):
    """As if it had not been made, and it is counted."""
    results = []
    for skips in (True, False):
        v, w = graph.variable(np.ones(3, "f")), graph.variable([2.0])
        slopes = [graph.placeholder((3,)), graph.placeholder((1,))]
        optimizer = make(skip_nonfinite=skips, clip_norm=0.5)
        step = graph.compile(slopes, [], optimizer.apply(zip(slopes, (v, w))))
        for i in range(6):
            a, b = np.float32([i, 1, -i]), np.float32([0.5])
            if i % 2:
                if not skips:
                    continue
                (a if i == 1 else b)[0] = wrong
            step(a, b)
        results.append([*v.numpy(), *w.numpy()])
        assert optimizer.skipped(graph) == (3 if skips else 0)
    np.testing.assert_array_equal(*results)


def test_the_loss_scale_follows_pytorchs_rule():
    """Grows after so many good steps in a row, shrinks where a gradient overflows, and the gradients are those of the
    loss itself."""
    graph = al.Graph()
    x, v = graph.placeholder((2,)), graph.variable(np.float32([0, 0]))
    scale = al.LossScale(init_scale=8.0, growth_factor=2.0, backoff_factor=0.25, growth_interval=3)
    optimizer = al.SGD(1.0, loss_scale=scale)
    step = graph.compile([x], [], optimizer.minimize(al.sum(v * x)))
    state = next(u for u in graph.variables if u.name == "optimizer/loss_scale")
    scales, total = [], np.zeros(2)
    for i in range(12):
        bad = i in (2, 8, 9)
        given = np.float32([np.inf, 1]) if bad else np.float32([i, 0.25])
        total -= 0 if bad else given
        step(given)
        scales.append(state.numpy().item())
    assert scales == [8, 8, 2, 2, 2, 4, 4, 4, 1, 0.25, 0.25, 0.25] and optimizer.skipped(graph) == 3
    np.testing.assert_allclose(v.numpy(), total, rtol=1e-6)


def test_accumulated_steps_that_are_skipped_begin_anew(graph):
    """One bad gradient among three spoils those three, and not the next."""
    v, slope = graph.variable([0.0]), graph.placeholder((1,))
    optimizer = al.SGD(1.0, accumulate_steps=3, skip_nonfinite=True, ema_decay=0.5)
    step = graph.compile([slope], [], optimizer.apply([(slope, v)]))
    for value in (1, np.nan, 1, 1, 2, 3, 4, 5, 6, 7):
        step(np.float32([value]))
    np.testing.assert_allclose(v.numpy(), [-(2 + 5)], rtol=1e-6)
    assert optimizer.skipped(graph) == 1
    swap = graph.compile([], [], optimizer.swap([v]))
    swap()
    np.testing.assert_allclose(v.numpy(), [-(0.5 * 2 + 0.5 * 7)], rtol=1e-6)
    swap()
    np.testing.assert_allclose(v.numpy(), [-7], rtol=1e-6)
    with pytest.raises(ValueError, match=r"^\[swap\] Expected variables with averages.*ema_decay"):
        al.SGD().swap([v])


def test_an_optimizer_is_shown_as_it_was_made():
    class Plain(al.Optimizer):
        pass

    for shown in (
        "Adam(lr=0.001)",
        "SGD(lr=0.1, momentum=0.9, nesterov=True, clip_norm=1.0)",
        "AdamW(lr=0.5, betas=(0.8, 0.9), groups={'*/bias': {'weight_decay': 0}})",
    ):
        assert repr(eval(shown, vars(al))) == shown
    assert repr(Plain(0.5)) == "Plain(lr=0.5)" and repr(al.SGD(al.exp)) == "SGD(lr=exp)"
