"""Optimizers and schedules step by step, over 200 recorded gradients: PyTorch's values in float64, and for Lion, which
PyTorch lacks, NumPy's."""

import numpy as np
import pytest

import alloy as al
import optimizers_reference as torch_values

GOLDENS = np.load(torch_values.GOLDEN)
START, GRADIENTS = torch_values.recorded()


def trajectory(optimizer, averages=False):
    """The parameters after each tenth step, or their averages."""
    graph = al.Graph()
    variables = [graph.variable(value) for value in START]
    slopes = [graph.placeholder(value.shape) for value in START]
    step = graph.compile(slopes, [], optimizer.apply(zip(slopes, variables)))
    swap = graph.compile([], [], optimizer.swap(variables)) if averages else lambda: None
    for number, gradients in enumerate(GRADIENTS):
        step(*gradients)
        if number % 10 == 9:
            swap()
            yield np.concatenate([v.numpy().ravel() for v in variables])
            swap()


def assert_same(ours, expected):
    """Within 1e-5 of each number, where it is not near 0: what is added up there is not exact to more than 1e-5 of the
    parameters' size, 1."""
    np.testing.assert_allclose(list(ours), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", torch_values.CASES)
def test_optimizers_follow_pytorch(case):
    kind, options = torch_values.CASES[case]
    assert_same(trajectory(getattr(al, kind)(**options)), GOLDENS[case])


@pytest.mark.parametrize("case", torch_values.PROCESSING)
def test_processed_gradients_follow_pytorch(case):
    kind, options, processing = torch_values.PROCESSING[case]
    optimizer = getattr(al, kind)(**options, **processing)
    assert_same(trajectory(optimizer, averages="ema_decay" in processing), GOLDENS[case])


@pytest.mark.parametrize("options", [{}, {"lr": 0.01, "betas": (0.8, 0.95), "weight_decay": 0.1}])
def test_lion_follows_its_formula(options):
    assert_same(trajectory(al.Lion(**options)), [
        np.concatenate([np.ravel(value) for value in values])
        for values in list(torch_values.lion(START, GRADIENTS, **options))[9::10]
    ])  # fmt: skip


SCHEDULES = {
    "step": al.schedules.step(0.1, 30, gamma=0.3),
    "exponential": al.schedules.exponential(0.1, 0.97),
    "polynomial": al.schedules.polynomial(0.1, 150, power=2.5),
    "polynomial straight": al.schedules.polynomial(0.1, 200),
    "cosine": al.schedules.cosine(0.1, 200, end=0.001),
    "cosine to 0": al.schedules.cosine(0.1, 200),
    "one cycle": al.schedules.one_cycle(0.5, 200),
    "one cycle early": al.schedules.one_cycle(0.5, 200, pct_start=0.1, div_factor=10, final_div_factor=100),
    "piecewise": al.schedules.piecewise([20, 90, 150], [0.1, 0.01, 0.001, 0.0001]),
    "warm-up": al.schedules.warmup(0.1, 40, start_factor=0.25),
    "warm-up then cosine": al.schedules.warmup(al.schedules.cosine(0.1, 160), 40),
}


def rates_of(schedule, steps):
    """The rate of each step, as a parameter sees it that goes back to 0 before each and moves down a gradient of 1."""
    graph = al.Graph()
    v = graph.variable([0.0])
    step = graph.compile([], [], al.SGD(schedule).apply([(graph.constant([1.0]), v)]))
    for _ in range(steps):
        v.assign([0.0])
        step()
        yield -v.numpy().item()


@pytest.mark.parametrize("case", SCHEDULES)
def test_schedules_follow_pytorch(case):
    np.testing.assert_allclose(list(rates_of(SCHEDULES[case], torch_values.STEPS)), GOLDENS[f"rates {case}"], rtol=1e-5)


@pytest.mark.parametrize(
    "schedule, last",
    [
        (al.schedules.constant(0.3), 0.3),
        (al.schedules.polynomial(0.1, 5, end=0.02), 0.02),
        (al.schedules.cosine(0.1, 5), 0.0),
        (al.schedules.one_cycle(0.5, 10), 0.5 / 25 / 1e4),
        (al.schedules.warmup(al.schedules.polynomial(0.1, 3, end=0.01), 3), 0.01),
        (lambda step: 1.0 / (step + 1.0), 1 / 20),
    ],
)
def test_behind_their_last_step_schedules_keep_the_last_rate(schedule, last):
    assert list(rates_of(schedule, 20))[-1] == pytest.approx(last, rel=1e-5, abs=1e-12)


def test_schedules_far_out():
    """The number of the step is an integer: none is lost where float32 cannot tell them apart any more."""
    graph = al.Graph()
    v = graph.variable([0.0])
    update = graph.compile([], [], al.SGD(al.schedules.step(1.0, 2**24 + 8)).apply([(graph.constant([1.0]), v)]))
    counter = next(variable for variable in graph.variables if variable.name == "optimizer/step")
    counter.assign(np.int32(2**24 + 1))
    for _ in range(20):
        v.assign([0.0])
        update()
    assert counter.numpy() == 2**24 + 21 and v.numpy() == pytest.approx(-0.1)


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: al.schedules.step(0.1, 0), ValueError, r"^\[step\] Expected a step size of 1 or more, got 0"),
        (lambda: al.schedules.exponential(0.1, 0), ValueError, r"^\[exponential\] Expected a gamma above 0"),
        (
            lambda: al.schedules.cosine(-0.1, 5),
            ValueError,
            r"^\[cosine\] Expected numbers of 0 or more that float32 can hold, got -0.1",
        ),
        (lambda: al.schedules.cosine("fast", 5), TypeError, r"^\[cosine\] Expected numbers .*, got '"),
        (lambda: al.schedules.polynomial(0.1, 2.5), TypeError, r"^\[polynomial\] Expected a number of steps as an int"),
        (lambda: al.schedules.one_cycle(0.1, 5, pct_start=1.0), ValueError, r"^\[one_cycle\] .*pct_start"),
        (lambda: al.schedules.piecewise([5, 3], [1, 2, 3]), ValueError, r"^\[piecewise\] .*ascending"),
        (lambda: al.schedules.piecewise([5], [1]), ValueError, r"^\[piecewise\] .*one value more"),
        (lambda: al.schedules.piecewise(["a"], [1, 2]), TypeError, r"^\[piecewise\] Expected numbers .*, got '"),
        (lambda: al.schedules.piecewise([float("nan")], [1, 2]), ValueError, r"^\[piecewise\] Expected numbers .* nan"),
        (
            lambda: al.schedules.piecewise(3, [1, 2]),
            TypeError,
            r"^\[piecewise\] Expected a list of boundaries, got int",
        ),
        (lambda: al.schedules.polynomial(0.1, 5, power=-1), ValueError, r"^\[polynomial\] .* got -1"),
        (lambda: al.schedules.polynomial(0.1, 5, power="a"), TypeError, r"^\[polynomial\] Expected numbers .*, got '"),
        (
            lambda: al.schedules.one_cycle(0.1, 5, pct_start="a"),
            TypeError,
            r"^\[one_cycle\] Expected numbers .*, got '",
        ),
        (lambda: al.schedules.one_cycle(0.1, 9, div_factor=0), ValueError, r"^\[one_cycle\] .*divide by, got 0"),
        (lambda: al.schedules.constant(1e39), ValueError, r"^\[constant\] .*float32 can hold, got 1e"),
        (lambda: al.schedules.warmup("x", 5), TypeError, r"^\[warmup\] Expected a number or a function of the step"),
    ],
)
def test_wrong_schedules(make, kind, says):
    with pytest.raises(kind, match=rf"{says}.*; at .*test_trajectories\.py:\d+\.$"):
        make()
