"""Every op of the table against NumPy in float64: values, types, broadcasting, empty tensors, gradients,
messages."""

import ml_dtypes
import numpy as np
import pytest

import alloy as al
from alloy.engine.dtypes import numpy_dtype
from alloy.ops import table
from cases import (
    ALWAYS_LEGAL,
    COMPOSED,
    ELSEWHERE,
    FLOATS,
    REFERENCES,
    ROUNDING,
    TYPED,
    WRONG_COMPOSED,
    all_cases,
    function_of,
    sample,
    table_reference,
    wrong_call,
)

CASES = all_cases()
ROWS = {row["name"]: row for row in al.op_table()}


def run(build, arrays, *more):
    """build's result for the arrays, and of whatever more(result, placeholders) gives."""
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    result = build(*feeds)
    fetches = [result, *(fetch for function in more for fetch in function(result, feeds))]
    return result, graph.compile(feeds, fetches)(*arrays)


def in_float64(arrays):
    return [array.astype(np.float64) if array.dtype.name in FLOATS else array for array in arrays]


def test_every_op_has_a_case():
    covered = {case.op for case in CASES} - {case.op for case in COMPOSED}
    for op in ROWS:
        assert op in covered | set(ELSEWHERE), (
            f"{op}: add rows to STRUCTURED of tests/python/cases.py, or say in ELSEWHERE where its tests are"
        )
    for op in [*covered, *ELSEWHERE, *REFERENCES]:
        assert op in ROWS, f"{op}: tests/python/cases.py has it, the table of ops (csrc/ir/ops.def) has not"
    assert not covered & set(ELSEWHERE)


def _with_dtypes():
    """Every case with every float and every dtype that kernels compute in; the first case of an op with all of its
    dtypes."""
    seen = set()
    for case in CASES:
        for dtype in case.dtypes:
            if case.op not in seen or dtype in (*FLOATS, "int32", "int64", "bool"):
                yield case, dtype
        seen.add(case.op)


@pytest.mark.parametrize("case, dtype", list(_with_dtypes()), ids=str)
def test_value(case, dtype, rng):
    arrays = sample(case, dtype, rng)
    tensor, (value,) = run(case.build, arrays)
    expected = np.asarray(case.reference(*in_float64(arrays)))
    assert tensor.dtype == (case.result or dtype) == value.dtype.name
    assert tensor.shape == expected.shape == value.shape
    if value.dtype.name in FLOATS:
        # A function is good to a few units in the last place of a float32 (6e-8), and sums here have up to 50 terms;
        # the result is then rounded to its type.
        rounding = ROUNDING[value.dtype.name]
        np.testing.assert_allclose(value.astype(np.float64), expected, rtol=rounding + 2e-6, atol=2e-6)
    else:
        np.testing.assert_array_equal(value, expected.astype(value.dtype))  # NumPy's sums have a wider type


@pytest.mark.parametrize("case", {case.op: case for case in CASES if case.empty}.values(), ids=str)
def test_without_elements(case, rng):
    """Such a tensor has a shape like any other, but the framework has none at run time."""
    arrays = sample(case, case.dtypes[0], rng, case.empty)
    graph = al.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    result = case.build(*feeds)
    assert result.shape == np.shape(case.reference(*in_float64(arrays)))
    with pytest.raises(ValueError, match=r"^\[\w+\] .*has no elements.*; built at .*\.py:\d+\.$"):
        graph.compile(feeds, [result])(*arrays)


@pytest.mark.parametrize("case", [case for case in CASES if case.wanted != () and "float32" in case.dtypes], ids=str)
def test_gradient(case, rng):
    """The derivative along one random direction against the central difference of the float64 reference.

    The difference is exact to 1e-9: its own error is h^2 = 1e-10 times a third derivative, plus 1e-16 / h =
    1e-11 of rounding. So the tolerance is that of float32 arithmetic on the gradient, 1e-5 of the sum of its
    terms' sizes."""
    arrays = sample(case, "float32", rng)
    wanted = [
        i for i, array in enumerate(arrays) if array.dtype == np.float32 and (case.wanted is None or i in case.wanted)
    ]
    exact = in_float64(arrays)
    weights = rng.normal(size=np.shape(case.reference(*exact))).astype(np.float32)
    _, (_, *gradients) = run(
        case.build, arrays, lambda y, feeds: al.gradients(al.sum(y * weights), [feeds[i] for i in wanted])
    )
    directions = {i: rng.normal(size=arrays[i].shape) for i in wanted}

    def loss(step):
        moved = [array + step * directions[i] if i in wanted else array for i, array in enumerate(exact)]
        return np.sum(weights * case.reference(*moved))

    h = 1e-5
    numeric = (loss(h) - loss(-h)) / (2 * h)
    terms = [gradient * directions[i] for i, gradient in zip(wanted, gradients)]
    size = sum(np.abs(term).sum() for term in terms)
    assert [gradient.shape for gradient in gradients] == [arrays[i].shape for i in wanted]
    assert abs(sum(term.sum() for term in terms) - numeric) <= 1e-5 * size + 1e-7


@pytest.mark.parametrize("op", [op for op in ROWS if op not in {*ALWAYS_LEGAL, *ELSEWHERE}])
def test_message(op):
    call, shapes, dtypes, says = wrong_call(ROWS[op])
    graph = al.Graph()
    operands = [graph.placeholder(shape, dtype) for shape, dtype in zip(shapes, dtypes)]
    with pytest.raises((ValueError, TypeError), match=rf"^\[{TYPED.get(op, op)}\] .*{says}.*; (built )?at .*:\d+\.$"):
        call(*operands)


@pytest.mark.parametrize("name, call, shapes, says", WRONG_COMPOSED)
def test_message_of_several_ops(name, call, shapes, says):
    graph = al.Graph()
    with pytest.raises((ValueError, TypeError), match=rf"^\[{name}\] .*{says}.*; (built )?at .*:\d+\.$"):
        call(*(graph.placeholder(shape) for shape in shapes))


SPECIAL = np.float32([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0, 1, -2.5, 3e38, -3e38, 1e-40, -1e-40])


@pytest.mark.parametrize("op", ["is_nan", "is_infinite", "is_finite"])
@pytest.mark.parametrize("repeats", [1, 7, 1000])
def test_tests_of_numbers(op, repeats):
    """Of numbers that are fed, and of those that an op before gives; the truth, and its contrary."""
    x = np.tile(SPECIAL, repeats)
    graph = al.Graph()
    feed = graph.placeholder(x.shape)
    direct, behind = getattr(al, op)(feed), getattr(al, op)(-feed * 0.5)
    fetches = [direct, behind, al.logical_not(direct), al.where(direct, al.cast(behind, al.float32), -1.0)]
    truth, halved, contrary, chosen = graph.compile([feed], fetches)(x)
    expected = table_reference(op)(x)
    assert truth.dtype == halved.dtype == contrary.dtype == bool
    np.testing.assert_array_equal(truth, expected)
    np.testing.assert_array_equal(halved, expected)
    np.testing.assert_array_equal(contrary, ~expected)
    np.testing.assert_array_equal(chosen, np.where(expected, 1, -1))


def test_tests_of_numbers_are_folded_as_they_compute():
    graph = al.Graph()
    constant = graph.constant(SPECIAL)
    found = graph.compile([], [al.is_nan(constant), al.is_infinite(constant), al.is_finite(constant)])()
    for values, reference in zip(found, (np.isnan, np.isinf, np.isfinite)):
        np.testing.assert_array_equal(values, reference(SPECIAL))


def test_types_are_refused_where_the_table_says_so():
    graph = al.Graph()
    given = {dtype: graph.placeholder((2,), dtype) for dtype in ("float32", "int32", "bool")}
    legal = {"floating": {"float32"}, "numeric": {"float32", "int32"}, "integer": {"int32"}, "any": set(given)}
    for op, row in ROWS.items():
        if row["family"] in ("structured", "ternary", "composite"):
            continue
        for dtype, tensor in given.items():
            operands = [tensor] * row["operands"][0]
            if dtype in legal[row["types"]]:
                function_of(op)(*operands)
            else:
                with pytest.raises(TypeError, match=rf"^\[{TYPED.get(op, op)}\] .*{dtype}"):
                    function_of(op)(*operands)


def test_functions_of_the_table_are_documented_by_it():
    for name in table.__all__:
        assert getattr(al, name).__doc__.startswith(ROWS[{"prod": "product"}.get(name, name)]["doc"])


def test_special_values():
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    one = np.ones_like(special)
    for op, arrays, expected in [
        ("log", [special], [-np.inf, -np.inf, np.inf, np.nan, np.nan]),
        ("exp", [special], [1, 1, np.inf, 0, np.nan]),
        ("sign", [special], [0, 0, 1, -1, 0]),
        ("divide_no_nan", [one, special], [0, 0, 0, 0, np.nan]),
        ("maximum", [special, one], [1, 1, np.inf, 1, 1]),
        ("minimum", [special, one], [0, 0, 1, -np.inf, 1]),
        ("max", [special], np.inf),
        ("min", [special], -np.inf),
        ("sum", [special], np.nan),
        ("argmax", [special], 2),
        ("argmin", [special], 3),
        ("relu", [special], [0, 0, np.inf, 0, np.nan]),
        ("relu_gradient", [one, special], [0, 0, 1, 0, 1]),
    ]:
        _, (value,) = run(function_of(op), arrays)
        np.testing.assert_array_equal(value, np.float32(expected), err_msg=op)


@pytest.mark.parametrize("equal_nan", [False, True])
def test_what_is_close_to_infinities_and_nan(equal_nan):
    a, b = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    _, (close, to_1, from_1) = run(
        lambda a, b: al.isclose(a, b, equal_nan=equal_nan),
        [a, b],
        lambda _, feeds: [al.isclose(feeds[0], 1, equal_nan=equal_nan), al.isclose(np.inf, feeds[1])],
    )
    wide = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_array_equal(close, np.isclose(*wide, equal_nan=equal_nan))
    np.testing.assert_array_equal(to_1, np.isclose(wide[0], 1))
    np.testing.assert_array_equal(from_1, np.isclose(np.inf, wide[1]))


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_medians_of_infinities_and_nan():
    """Of every three and four of these numbers."""
    for count in 3, 4:
        x = np.float32(np.meshgrid(*[[np.nan, np.inf, -np.inf, 0, 1]] * count)).reshape(count, -1)
        _, (value,) = run(lambda x: al.median(x, 0), [x])
        np.testing.assert_array_equal(value, np.median(x, 0))


def test_nan_is_not_a_zero():
    x = SPECIAL[:10]  # without numbers that devices may take for 0
    _, (count,) = run(al.count_nonzero, [x])
    assert count == np.count_nonzero(x) == 8


@pytest.mark.parametrize("op", [al.tanh, al.sign, al.sqrt, al.identity], ids=lambda op: op.__name__)
def test_a_zero_keeps_its_sign(op):
    zeros = np.float32([0.0, -0.0] * 20)
    _, (value,) = run(op, [zeros])
    np.testing.assert_array_equal(value, zeros)
    np.testing.assert_array_equal(np.signbit(value), np.signbit(zeros))


def test_integer_moments_are_exact_before_they_are_truncated():
    """Sums pass their type, and a variance is an integer where the mean is none."""
    x = np.int32([2**31 - 1] * 5 + [2**31 - 3])
    _, (mean, variance) = run(al.mean, [x], lambda _, feeds: [al.variance(feeds[0])])
    assert mean == 2**31 - 2 and variance == 0  # of 2147483646.67 and 0.56
    for dtype in np.int32, np.int64:
        x = np.array([4, -1, -1, 1, 0, 0, 0, 0, 0], dtype) - 7
        _, (mean, variance) = run(al.mean, [x], lambda _, feeds: [al.variance(feeds[0])])
        assert mean == -6 and variance == 2 and mean.dtype == variance.dtype == dtype  # of -60 / 9, and 19 / 9 - 1 / 9


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_integers_are_whole(dtype):
    x = np.array([np.iinfo(dtype).min, 0, 3, np.iinfo(dtype).max], dtype)
    for op in ("floor", "ceil", "round", "rint", "trunc"):
        _, (value,) = run(function_of(op), [x])
        np.testing.assert_array_equal(value, x, err_msg=op)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5])
def test_powers_of_constant_exponents(exponent, dtype):
    """What stands in for them is their power of every number, and the sign of a zero is its, too."""
    x = np.float32([-0.0, 0, np.inf, -np.inf, np.nan, 1, -1, 2, -3, 0.3, -0.7, 1e-30, 1e30, -1e-15, 1e15, 200, 0.004])
    with np.errstate(all="ignore"):
        x = x.astype(numpy_dtype(dtype))
        expected = np.power(x.astype(np.float64), np.full(x.shape, exponent)).astype(x.dtype)
    _, (value,) = run(lambda x: x**exponent, [x])
    np.testing.assert_allclose(
        value.astype(np.float64), expected.astype(np.float64), rtol=ROUNDING[dtype] * 4, atol=1e-38
    )
    np.testing.assert_array_equal(np.signbit(value[value == 0]), np.signbit(expected[value == 0]))


def test_orders_of_equal_elements_and_nan():
    """NaN is the greatest, and -0 equals 0; equal elements keep their order."""
    x = np.float32([0, np.nan, -0.0, np.inf, -1, np.nan, -np.inf, 0])
    _, (up, down, most, least) = run(
        al.argsort,
        [x],
        lambda _, feeds: [al.argsort(feeds[0], descending=True), al.top_k(feeds[0], 4)[1], al.bottom_k(feeds[0], 3)[0]],
    )
    np.testing.assert_array_equal(up, [6, 4, 0, 2, 7, 3, 1, 5])
    np.testing.assert_array_equal(down, [1, 5, 3, 0, 2, 7, 4, 6])
    np.testing.assert_array_equal(most, down[:4])
    np.testing.assert_array_equal(least, np.float32([-np.inf, -1, 0]))


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "int64", "uint64"])
def test_extremes_begin_with_the_limits_of_their_type(dtype):
    x = np.asarray([3, 1, 2], numpy_dtype(dtype))
    limits = (np.iinfo if x.dtype.kind in "iu" else ml_dtypes.finfo)(x.dtype)
    _, (low, high) = run(
        lambda x: al.cummin(x, exclusive=True), [x], lambda _, feeds: [al.cummax(feeds[0], exclusive=True)]
    )
    np.testing.assert_array_equal(low, np.asarray([limits.max, 3, 1], x.dtype))
    np.testing.assert_array_equal(high, np.asarray([limits.min, 3, 3], x.dtype))


def test_extremes_on_the_way_skip_nan():
    x = np.float32([np.nan, 2, np.nan, 1, np.inf, -np.inf, 5])
    for function, reference in (al.cummin, np.fmin), (al.cummax, np.fmax):
        for reverse in False, True:
            _, (value,) = run(lambda x: function(x, reverse=reverse), [x])
            expected = reference.accumulate(x[::-1] if reverse else x)
            np.testing.assert_array_equal(value, expected[::-1] if reverse else expected)


@pytest.mark.parametrize("zeros", [[1], [1, 4], [0], [5], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradient_of_running_products_with_zeros(zeros, exclusive, reverse):
    """Against the derivatives of each product, with that factor left out."""
    x, weights = np.float32([2, -3, 4, 0.5, -1, 3]), np.float32([1, 2, -3, 5, 7, 11])
    x[zeros] = 0
    _, (_, gradient) = run(
        lambda x: al.cumprod(x, exclusive=exclusive, reverse=reverse),
        [x],
        lambda y, feeds: al.gradients(al.sum(y * weights), feeds),
    )
    expected = np.zeros(6)
    for i in range(6):
        factors = (range(i + exclusive, 6)) if reverse else range(i + 1 - exclusive)
        for j in factors:
            expected[j] += weights[i] * np.prod([float(x[k]) for k in factors if k != j])
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6)


def test_gradients_go_to_the_extremes_that_were_taken():
    x = np.float32([1, 3, 3, np.nan, 2, 5])
    for reverse, expected in (False, [1, 2, 4 + 8 + 16, 0, 0, 32]), (True, [0, 0, 0, 0, 0, 63]):
        _, (_, gradient) = run(
            lambda x: al.cummax(x, reverse=reverse),
            [x],
            lambda y, feeds: al.gradients(al.sum(y * np.float32([1, 2, 4, 8, 16, 32])), feeds),
        )
        np.testing.assert_array_equal(gradient, expected)
    _, (_, gradient) = run(
        lambda x: al.cummin(x, exclusive=True),
        [x],
        lambda y, feeds: al.gradients(al.sum(y * np.float32([0, 2, 4, 8, 16, 32])), feeds),
    )
    np.testing.assert_array_equal(gradient, [62, 0, 0, 0, 0, 0])
