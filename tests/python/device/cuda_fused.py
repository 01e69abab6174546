"""A program that compares ops which a GPU computes in one kernel with NumPy, in double precision. Each row tells its
number of kernels there."""

from collections import namedtuple

import ml_dtypes
import numpy as np

import alloy as al
import reference as ref

Row = namedtuple("Row", "name shapes build expected kernels")
rng = np.random.default_rng(0)


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def convolved(x, w):
    """The convolution with padding "same", of NHWC and HWIO."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = x.shape[1:3]
    return sum(padded[:, i : i + height, j : j + width] @ w[i, j] for i in range(3) for j in range(3))


def spread(x):
    """Each pixel as the last one of 2 x 2 whose others are 0."""
    return np.kron(x, np.array([[0, 0], [0, 1]])[None, :, :, None])


def turned(x):
    """NCHW as NHWC."""
    return x.transpose(0, 2, 3, 1)


def conv(x, w, layout="NHWC"):
    return al.conv2d(x, w, padding="same", data_layout=layout)


def gradient(y, g, x):
    return al.gradients(al.sum(y * g), [x])[0]


def weights_gradient(x, g):
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = x.shape[1:3]
    return np.array(
        [[np.einsum("nhwc,nhwf->cf", padded[:, i : i + height, j : j + width], g) for j in range(3)] for i in range(3)]
    )


def max_pool_gradient(x, g):
    """The gradient of windows of 3 x 3 elements that move by one, with padding "same"."""
    window = {"size": (3, 3), "strides": (1, 1), "padding": "same"}
    taken = ref.windows(x, **window, fill=-np.inf)
    taken = taken.reshape(*taken.shape[:3], 9, -1)
    places = ref.windows(np.arange(x.size, dtype=float).reshape(x.shape), **window, fill=-1).reshape(taken.shape)
    winners = np.take_along_axis(places, taken.argmax(3, keepdims=True), 3).astype(int)
    return np.bincount(winners.ravel(), g.ravel(), x.size).reshape(x.shape)


def halves(x, w, r):
    return al.cast(al.cast(x @ w, "float16") + al.cast(r, "float16"), "float32")


MATRICES, IMAGES = ((37, 20), (20, 70)), ((3, 6, 5, 4), (3, 3, 4, 8))
TURNED = ((3, 4, 6, 5), IMAGES[1])

ROWS = [
    Row(
        "bias and relu", (*MATRICES, (70,)), lambda x, w, b: [al.relu(x @ w + b)], lambda x, w, b: [relu(x @ w + b)], 1
    ),
    Row(
        "a residual and a factor for each row",
        (*MATRICES, (37, 70), (37, 1)),
        lambda x, w, r, f: [x @ w * f + r],
        lambda x, w, r, f: [x @ w * f + r],
        1,
    ),
    Row("an operand of the product", ((24, 24),), lambda x: [x @ x + x], lambda x: [x @ x + x], 1),
    Row(
        "the gradient of an activation",
        (*MATRICES, (37, 70)),
        lambda x, w, g: [gradient(al.sigmoid(x) @ w, g, x)],
        lambda x, w, g: [g @ w.T * sigmoid(x) * (1 - sigmoid(x))],
        1,
    ),
    Row(
        "a reshape between",
        (*MATRICES, (10, 7)),
        lambda x, w, f: [al.tanh(al.reshape(x @ w, (37, 7, 10)) * al.transpose(f))],
        lambda x, w, f: [np.tanh((x @ w).reshape(37, 7, 10) * f.T)],
        2,
    ),
    Row(
        "parts of sums",
        ((5, 2000), (2000, 6), (6,)),
        lambda x, w, b: [al.relu(x @ w + b)],
        lambda x, w, b: [relu(x @ w + b)],
        1,
    ),
    Row(
        "stacks",
        ((3, 4, 9), (3, 9, 8), (4, 1)),
        lambda x, w, b: [al.tanh(x @ w + b)],
        lambda x, w, b: [np.tanh(x @ w + b)],
        1,
    ),
    Row(
        "the product too",
        MATRICES,
        lambda x, w: [x @ w, al.relu(x @ w), al.square(x @ w)],
        lambda x, w: [x @ w, relu(x @ w), (x @ w) ** 2],
        1,
    ),
    Row(
        "the product for others",
        (*MATRICES, (70, 5)),
        lambda x, w, v: [al.sigmoid(x @ w) * (x @ w), x @ w @ v],
        lambda x, w, v: [x @ w * sigmoid(x @ w), x @ w @ v],
        2,
    ),
    Row("halves", (*MATRICES, (37, 70)), lambda x, w, r: [halves(x, w, r)], lambda x, w, r: [x @ w + r], 1),
    Row(
        "channels last",
        (*IMAGES, (8,)),
        lambda x, w, b: [al.relu(conv(x, w) + b)],
        lambda x, w, b: [relu(convolved(x, w) + b)],
        1,
    ),
    Row(
        "channels first",
        (*TURNED, (8, 1, 1)),
        lambda x, w, b: [al.relu(conv(x, w, "NCHW") + b)],
        lambda x, w, b: [relu(convolved(turned(x), w) + b[:, 0, 0]).transpose(0, 3, 1, 2)],
        1,
    ),
    Row(
        "a convolution's data gradient",
        (*IMAGES, (3, 6, 5, 8)),
        lambda x, w, g: [gradient(conv(al.relu(x), w), g, x)],
        lambda x, w, g: [convolved(g, w[::-1, ::-1].swapaxes(2, 3)) * (x > 0)],
        1,
    ),
    Row(
        "a strided convolution's data gradient",
        ((30, 12, 12, 16), (3, 3, 16, 40), (30, 6, 6, 40)),
        lambda x, w, g: [gradient(al.conv2d(al.relu(x), w, padding="same", strides=2), g, x)],
        lambda x, w, g: [convolved(spread(g), w[::-1, ::-1].swapaxes(2, 3)) * (x > 0)],
        1,
    ),
    Row(
        "a sum of columns",
        ((3000, 7), (7,)),
        lambda x, b: [b - al.sum(x, axis=0) * 0.1],
        lambda x, b: [b - x.sum(0) * 0.1],
        1,
    ),
    Row(
        "sums of columns that are computed",
        ((6, 500, 9), (6, 500, 9), (9,)),
        lambda x, g, b: [b - al.sum(y := al.tanh(x) * g, axis=(0, 1)), al.mean(y * x, axis=(0, 1)) * 2.0, y],
        lambda x, g, b: [b - (y := np.tanh(x) * g).sum((0, 1)), (y * x).mean((0, 1)) * 2, y],
        1,
    ),
    Row(
        "moments of columns, and what follows",
        ((6, 500, 9), (9,), (9,)),
        lambda x, m, v: [
            0.9 * m + 0.1 * al.mean(x, axis=(0, 1)),
            0.9 * v + 0.1 * (s := al.variance(x, axis=(0, 1))),
            al.rsqrt(s + 1e-3),
            al.mean(x, axis=(0, 1), keepdims=True),
        ],
        lambda x, m, v: [
            0.9 * m + 0.1 * x.mean((0, 1)),
            0.9 * v + 0.1 * (s := x.var((0, 1))),
            (s + 1e-3) ** -0.5,
            x.mean((0, 1), keepdims=True),
        ],
        1,
    ),
    Row(
        "the variance of what is computed",
        ((70, 11), (70, 11)),
        lambda x, y: [z := al.square(x + 5.0) * y, al.variance(z, axis=0), al.mean(z, axis=0)],
        lambda x, y: [z := (x + 5) ** 2 * y, z.var(0), z.mean(0)],
        1,
    ),
    Row(
        "sums of columns that a product's kernel computes",
        (*MATRICES, (37, 70)),
        lambda x, w, g: [al.sum(y := al.relu(x @ w), axis=0) * 2.0, al.sum(y * g, axis=0, keepdims=True)],
        lambda x, w, g: [(y := relu(x @ w)).sum(0) * 2, (y * g).sum(0, keepdims=True)],
        2,
    ),
    Row(
        "sums of columns in two shapes",
        ((300, 12), (12,), (1, 12)),
        lambda x, a, b: [(s := al.sum(x, axis=0, keepdims=True)) + b, al.reshape(s, (12,)) * a],
        lambda x, a, b: [(s := x.sum(0, keepdims=True)) + b, s[0] * a],
        1,
    ),
    Row(
        "sums of columns for an op between two that follow",
        ((300, 12), (12, 12)),
        lambda x, w: [(s := al.sum(x, axis=0, keepdims=True)) * 2.0, s + al.tanh(s) @ w],
        lambda x, w: [(s := x.sum(0, keepdims=True)) * 2, s + np.tanh(s) @ w],
        2,
    ),
    Row(
        "sums of planes",
        ((4, 5, 6, 7), (1, 5, 1, 1)),
        lambda x, f: [al.sum(al.square(x * f), axis=(0, 2, 3)) + 1.0],
        lambda x, f: [((x * f) ** 2).sum((0, 2, 3)) + 1],
        1,
    ),
    Row(
        "the mean of all squares",
        ((40, 500), (40, 500)),
        lambda x, y: [al.sqrt(al.mean(al.square(x - y)))],
        lambda x, y: [np.sqrt(((x - y) ** 2).mean())],
        1,
    ),
    Row(
        "the greatest of columns",
        ((3, 300, 7),),
        lambda x: [al.cast(al.argmax(x, axis=1), "float32") * 2.0],
        lambda x: [x.argmax(1) * 2.0],
        1,
    ),
    Row(
        "the gradient of pooling",
        ((2, 4, 6, 3), (2, 2, 3, 3)),
        lambda x, g: [gradient(al.avg_pool2d(al.square(x)), g, x)],
        lambda x, g: [g.repeat(2, 1).repeat(2, 2) / 2 * x],
        2,
    ),
    Row(
        "the gradient of pooling, channels in fours",
        ((2, 4, 6, 8), (2, 2, 3, 8)),
        lambda x, g: [al.relu(gradient(al.max_pool2d(x), g, x)) + 2.0 * x],
        lambda x, g: [
            (x == x.reshape(2, 2, 2, 3, 2, 8).max((2, 4)).repeat(2, 1).repeat(2, 2)) * relu(g).repeat(2, 1).repeat(2, 2)
            + 2 * x
        ],
        1,
    ),
    Row(
        "the gradient of many windows",
        ((4, 64, 64, 8), (4, 64, 64, 8)),
        lambda x, g: [gradient(al.max_pool2d(x, window=(3, 3), strides=(1, 1), padding="same"), g, x) + 2.0 * x],
        lambda x, g: [max_pool_gradient(x, g) + 2 * x],
        1,
    ),
    Row(
        "softmax and others of its rows",
        ((40, 10), (40, 10)),
        lambda x, t: [al.softmax(x) * al.sum(al.log_softmax(x) * t, axis=-1, keepdims=True)],
        lambda x, t: [(y := np.exp(x) / np.exp(x).sum(-1, keepdims=True)) * (np.log(y) * t).sum(-1, keepdims=True)],
        1,
    ),
]


def compiled_rows():
    """All rows as one step, which compiles faster than a step for each, and its arrays by row."""
    graph = al.Graph()
    arrays = [[rng.normal(size=shape).astype(np.float32) for shape in row.shapes] for row in ROWS]
    feeds = [[graph.placeholder(shape) for shape in row.shapes] for row in ROWS]
    built = [row.build(*own) for row, own in zip(ROWS, feeds)]
    return graph.compile(sum(feeds, []), sum(built, [])), arrays


def check_rows():
    step, arrays = compiled_rows()
    results = iter(step(*sum(arrays, [])))
    for row, own in zip(ROWS, arrays):
        expected = row.expected(*(array.astype(float) for array in own))
        compare(row.name, [next(results) for _ in expected], expected)
    if al.device().kind == "cuda":
        assert len(step.profile(*sum(arrays, []), runs=1).kernels) == sum(row.kernels for row in ROWS)


def compare(name, results, expected):
    for result, right in zip(results, expected, strict=True):
        tolerance = 2e-3 if name == "halves" else 2e-5
        np.testing.assert_allclose(result, right, rtol=tolerance, atol=tolerance * abs(right).max(), err_msg=name)


# Products of floats of two bytes: of a and b, and of the result's gradient g with each of them.
Product = namedtuple("Product", "shapes build expected")


def with_gradients(multiply):
    def build(a, b, g):
        return [y := multiply(a, b), *al.gradients(al.sum(y * g), [a, b])]

    return build


def product_of_matrices(rows, inner, columns, *stack):
    """A product of a stack of matrices."""
    return Product(
        ((*stack, rows, inner), (*stack, inner, columns), (*stack, rows, columns)),
        with_gradients(lambda a, b: a @ b),
        lambda a, b, g: [a @ b, g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g],
    )


def product_of_images(x, w, groups=1, strides=1, layout="NHWC"):
    """A convolution with padding "same", by the shapes of the images and the weights, NHWC and HWIO."""
    window = {"size": w[:2], "strides": (strides, strides), "padding": "same"}
    numbers = ref.windows(np.arange(np.prod(x)).reshape(x), **window, fill=-1).astype(int)
    y = (*numbers.shape[:3], w[3])
    there, back = ((0, 3, 1, 2), (0, 2, 3, 1)) if layout == "NCHW" else ((0, 1, 2, 3),) * 2
    of_group = np.kron(np.eye(groups), np.ones((w[2], w[3] // groups)))  # 1 where channel and filter have one group

    def expected(x, w, g):
        x, g, whole = x.transpose(back), g.transpose(back), np.tile(w, (1, 1, groups, 1)) * of_group
        taken = ref.windows(x, **window)
        to_x = np.zeros(x.size + 1)  # the last one is that of the padding
        np.add.at(to_x, numbers, np.einsum("nhwf,ijcf->nhwijc", g, whole))
        to_w = (np.einsum("nhwijc,nhwf->ijcf", taken, g) * of_group).reshape(*w.shape[:2], groups, *w.shape[2:]).sum(2)
        return [np.tensordot(taken, whole, 3).transpose(there), to_x[:-1].reshape(x.shape).transpose(there), to_w]

    def convolve(x, w):
        return al.conv2d(x, w, padding="same", strides=strides, groups=groups, data_layout=layout)

    shapes = [x[axis] for axis in there], w, [y[axis] for axis in there]
    return Product(shapes, with_gradients(convolve), expected)


# In tiles of each size and in none, with each number of neighbours that are copied at once.
PRODUCTS = [
    product_of_matrices(5, 3, 7),
    product_of_matrices(32, 64, 16),
    product_of_matrices(20, 900, 30),
    product_of_matrices(70, 40, 300),
    product_of_matrices(301, 36, 204),
    product_of_matrices(300, 66, 202),
    product_of_matrices(203, 101, 205),
    product_of_matrices(66, 2000, 68),
    product_of_matrices(1408, 40, 1536),
    product_of_matrices(90, 40, 72, 5, 2),
    product_of_images((3, 6, 5, 4), (3, 3, 4, 8)),
    product_of_images((5, 20, 18, 3), (3, 3, 3, 8)),
    product_of_images((5, 20, 18, 8), (3, 3, 8, 16)),
    product_of_images((5, 20, 18, 8), (3, 3, 8, 16), layout="NCHW"),
    product_of_images((5, 21, 18, 3), (5, 4, 3, 20), strides=2),
    product_of_images((5, 12, 10, 12), (3, 3, 4, 24), groups=3),
    product_of_images((5, 12, 10, 6), (3, 3, 1, 6), groups=6, strides=2),
    product_of_images((5, 12, 10, 16), (1, 1, 16, 40)),
    product_of_images((5, 12, 10, 16), (1, 1, 16, 40), strides=2),
    product_of_images((2, 7, 9, 64), (3, 3, 64, 96)),
    # With so many images in a tile that terms are skipped that are padding.
    product_of_images((140, 1, 1, 12), (3, 3, 12, 20)),
    product_of_images((64, 2, 2, 80), (3, 3, 80, 64)),
    product_of_images((70, 4, 3, 16), (5, 4, 16, 24), strides=2),
    product_of_images((70, 2, 3, 6), (3, 3, 3, 10), groups=2),
]


def compiled_products(dtype, function, precision="float32"):
    """All products as one step, with a function of each result that gives tensors, and their arrays."""
    draw = np.random.default_rng(0).normal
    arrays = [[draw(size=shape).astype(dtype) for shape in product.shapes] for product in PRODUCTS]
    # All bits of the last one are set, and of the one before all but the sign.
    for (x, *_), product in zip(arrays, PRODUCTS):
        if product.shapes[0] not in ((32, 64), (70, 40)):
            continue
        x[1, 2], x[2, 3] = np.inf, np.nan
        patterns = x.view(f"u{x.itemsize}")
        patterns[4, 5], patterns[5, 6] = np.iinfo(patterns.dtype).max >> 1, np.iinfo(patterns.dtype).max
    graph = al.Graph(precision=precision)
    feeds = [[graph.placeholder(array.shape, array.dtype) for array in own] for own in arrays]
    built = [result for product, own in zip(PRODUCTS, feeds) for result in product.build(*own)]
    return graph.compile(sum(feeds, []), [tensor for x in built for tensor in function(x)]), arrays


def check_products():
    # Of each result's rounding, and of the factors'.
    for dtype, precision, of_result, of_factors in (
        (np.float16, "float32", 2.0**-11, 0),
        (ml_dtypes.bfloat16, "float32", 2.0**-8, 0),
        (np.float32, "float32", 2.0**-24, 0),
        (np.float32, "tf32", 2.0**-24, 2.0**-10),
    ):
        step, arrays = compiled_products(dtype, lambda x: [x], precision)
        alone = iter(step(*sum(arrays, [])))
        step, _ = compiled_products(dtype, lambda x: [x, al.relu(x * 0.75 + 0.5)], precision)
        fused = iter(step(*sum(arrays, [])))
        with np.errstate(invalid="ignore"):
            for product, own in zip(PRODUCTS, arrays):
                own = [array.astype(float) for array in own]
                for right, size in zip(product.expected(*own), product.expected(*map(abs, own))):
                    known = np.isfinite(right)
                    most = of_result * abs(right) + (2e-6 + of_factors) * size + 2.0**-25
                    for result in next(alone), (last := next(fused)):
                        assert (abs(result.astype(float) - right) <= most)[known].all(), (product.shapes, dtype)
                        np.testing.assert_array_equal(result.astype(float)[~known], right[~known])
                    # Each op rounds its result, in one kernel as alone; of float32, the device may round a sum only.
                    rounded = np.maximum(last * dtype(0.75) + dtype(0.5), dtype(0)).astype(float)
                    close = 2.0**-23 if dtype is np.float32 else 0
                    np.testing.assert_allclose(next(fused).astype(float)[known], rounded[known], close, close)


def check_tf32():
    """TF32 numbers stay what they are, and others move by at most 0.73 of the last of 10 bits, as often up as down."""

    def multiplied(a, b):
        graph = al.Graph(precision="tf32")
        x, y = graph.placeholder(a.shape), graph.placeholder(b.shape)
        return graph.compile([x, y], [x @ y])(a, b)[0]

    # Their sums are whole numbers that float32 has.
    a, b = (rng.integers(-2047, 2048, shape).astype(np.float32) for shape in ((96, 3), (3, 80)))
    np.testing.assert_array_equal(multiplied(a, b), a.astype(float) @ b)
    one = np.eye(64, dtype=np.float32)
    given = (2 ** rng.uniform(-60, 60, (2048, 64)) * rng.choice([-1, 1], (2048, 64))).astype(np.float32)
    for moved in multiplied(given, one), multiplied(one, given[:64]):
        wide = given[: len(moved)].astype(float)
        assert (abs(moved - wide) <= 0.73 * 2.0**-10 * 2 ** np.floor(np.log2(abs(wide)))).all()
    assert abs(((multiplied(given, one) - given) / given.astype(float)).mean()) < 2.0**-10 / 100


# Elementwise ops of arrays so large that a thread computes several elements, and of others; what broadcasts, by shapes.
CHAINS = [
    ((512, 256), [(256,), (512, 1), ()]),
    ((262, 1002), [(1002,), (262, 1), (262, 1002)]),
    ((2, 260, 6, 44), [(260, 1, 44), (2, 1, 6, 1), (44,)]),
    ((131, 1003), [(1003,), (131, 1), ()]),
]


def compiled_chains():
    """Chains with results of several types, and a variable that a chain updates in place; their arrays."""
    graph = al.Graph()
    arrays = [[rng.normal(size=shape).astype(np.float32) for shape in (own, *others)] for own, others in CHAINS]
    feeds = [[graph.placeholder(array.shape) for array in own] for own in arrays]
    built, updates, variables = [], [], []
    for x, a, b, c in feeds:
        y = al.relu(x * a + b) - c
        built += [y, y > a, al.cast(y * 100, "int8"), al.cast(y, "float16")]
        variables.append(graph.variable(np.ones(x.shape, np.float32)))
        updates.append(graph.assign(variables[-1], variables[-1] * a - y))
    return graph.compile(sum(feeds, []), built, updates=updates), arrays, variables


def check_chains():
    step, arrays, variables = compiled_chains()
    results = iter(step(*sum(arrays, [])))
    for (x, a, b, c), variable in zip(arrays, variables):
        wide = relu(x.astype(float) * a + b) - c
        y, above, whole, half = (next(results) for _ in range(4))
        np.testing.assert_allclose(y, wide, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(above, y > a)
        np.testing.assert_array_equal(whole, np.clip(np.trunc(y * np.float32(100)), -128, 127))
        np.testing.assert_array_equal(half, y.astype(np.float16))
        np.testing.assert_allclose(variable.numpy(), np.broadcast_to(a, x.shape) - wide, rtol=1e-6, atol=1e-6)


def compiled_updates():
    """A step, its arrays and its variables. A new value may be written over the old one if nothing else needs that."""
    graph = al.Graph()
    shapes = {"x": (40, 12), "g": (40, 9), "images": (3, 6, 5, 4), "to": (3, 6, 5, 8), "y": (96, 130), "h": (96, 70)}
    x, g, images, to, y, h = feeds = [graph.placeholder(shape) for shape in shapes.values()]
    starts = {"w": (12, 9), "b": (9,), "filters": (3, 3, 4, 8), "bias": (8,), "square": (11, 11), "table": (130, 70)}
    variables = {name: graph.variable(rng.normal(size=shape).astype(np.float32)) for name, shape in starts.items()}
    w, b, filters, bias, square, table = variables.values()
    updates = [
        *al.SGD(0.1).minimize(al.sum((x @ w + b) * g), [w, b]),
        *al.Adam(0.1).minimize(al.sum((conv(images, filters) + bias) * to), [filters, bias]),
        graph.assign(square, square - 0.1 * (square @ square)),
        *al.Adam(0.1).minimize(al.sum((y @ table) * h), [table]),
    ]
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes.values()]
    return graph.compile(feeds, [], updates=updates), arrays, variables


def check_updates():
    step, arrays, variables = compiled_updates()
    x, g, images, to, y, h = (array.astype(float) for array in arrays)
    right = {name: variable.numpy().astype(float) for name, variable in variables.items()}
    for _ in range(2):
        step(*arrays)
        right["w"] -= 0.1 * x.T @ g
        right["b"] -= 0.1 * g.sum(0)
        # Of equal gradients, Adam's step is the rate in their direction.
        right["filters"] -= 0.1 * np.sign(weights_gradient(images, to))
        right["bias"] -= 0.1 * np.sign(to.sum((0, 1, 2)))
        right["square"] -= 0.1 * right["square"] @ right["square"]
        right["table"] -= 0.1 * np.sign(y.T @ h)
        for name, variable in variables.items():
            compare(name, [variable.numpy()], [right[name]])
    if al.device().kind == "cuda":
        kinds = [kernel.kind for kernel in step.profile(*arrays, runs=1).kernels if kernel.shape]
        assert kinds == ["fused"] * len(variables)


def check_adam():
    """The first step, by gradients of all sizes: their squares may be 0 or infinite."""
    sizes = np.float32([0, 1e-30, 1e-19, 1e-15, 1e-8, 1, 1e10, 1e18, 1e25, np.inf, np.nan])
    slopes = np.concatenate([sizes, -sizes])
    graph = al.Graph()
    slope, v = graph.placeholder(slopes.shape), graph.variable(np.zeros_like(slopes))
    graph.compile([slope], [], al.Adam(0.1).apply([(slope, v)]))(slopes)
    with np.errstate(over="ignore", invalid="ignore"):
        wide = slopes.astype(float)
        magnitude = np.where(np.isinf(np.float32(1e-3) * slopes * slopes), np.inf, abs(wide))
        np.testing.assert_allclose(v.numpy(), -0.1 * wide / (magnitude + 1e-8), rtol=2e-6)


def check_loss():
    """A loss of classes and its gradient are one kernel, and the mean is another."""
    graph = al.Graph()
    logits, labels = graph.placeholder((33, 10)), graph.placeholder((33,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(logits, labels))
    step = graph.compile([logits, labels], [loss, *al.gradients(loss, [logits])])
    given, classes = rng.normal(size=(33, 10)).astype(np.float32), rng.integers(0, 10, 33).astype(np.int32)
    ones = np.eye(10)[classes]
    wide = np.exp(given.astype(float))
    shares = wide / wide.sum(1, keepdims=True)
    mean, gradient = step(given, classes)
    compare("loss", [mean, gradient], [-np.log(shares[ones > 0]).mean(), (shares - ones) / 33])
    classes[5] = 10  # no class
    mean, gradient = step(given, classes)
    ones[5] = shares[5]
    assert np.isnan(mean)
    compare("loss", [gradient], [(shares - ones) / 33])
    if al.device().kind == "cuda":
        assert [kernel.kind for kernel in step.profile(given, classes, runs=1).kernels] == ["fused", "mean"]


if __name__ == "__main__":
    check_rows()
    check_loss()
    check_products()
    check_tf32()
    check_chains()
    check_updates()
    check_adam()
    print("end")
