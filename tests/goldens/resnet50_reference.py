"""The ResNet-50 for 32x32x3 images in float64 NumPy, forward and backward written out by hand, with the
values it starts from, and the golden file made with it. Owns no part of Alloy and uses none.

    python tests/goldens/resnet50_reference.py

checks the gradients by finite differences and writes resnet50.json.

The network has two forms. "relu" is the ResNet-50 itself. "smooth" has SiLU (x * sigmoid(x)) in place of
ReLU, and 0.2 as the gamma of the last batch norm of each block; hardly anything in it jumps, so that float32
can be held to float64.

The generator. bits(stream, i), i = 0, 1, ..., is output number stream * 2^32 + i of SplitMix64 (Steele, Lea
and Flood, 2014) from state 0: integer arithmetic modulo 2^64. uniform(stream, i) = (bits >> 40) * 2^-23 - 1,
in [-1, 1), and a value is limit * uniform, multiplied in float64 and rounded once to float32, so that every
language makes the same. The stream of a variable is its position in the order of creation, 0 to 266:
  weights      limit sqrt(6 / (fan_in + fan_out)), Glorot and Bengio, 2010; a fan is height * width * channels
  beta, bias   limit 0.1, not 0, so that after a few steps they are more than sums of small differences
  gamma, moving mean, moving variance      constants: 1 (or 0.2), 0, 1
Images: stream 1000, limit 1. The class of image n is n % 10. There are 32, since the last stage has one value
of each channel for each image: of 8, five steps of 0.01 make a difference of 1e-3 between float32 and float64
(measured in NumPy with this network), of 32 one of 2e-6.

The sketch of a vector. Element i goes, with sign 1 - 2 * (bit 58), into bucket bits(2000 + k, i) >> 59 of
SKETCH = 32, k the number of the variable: a count sketch (Charikar, Chen and Farach-Colton, 2002). It is
linear, and for every vector d the expectation of |sketch(d)|^2 is |d|^2, with variance 2 / SKETCH * (|d|^4 -
sum d_i^4), no more than that of SKETCH Gaussian projections, at the price of one. So |sketch(a) - sketch(b)|
estimates |a - b| with a standard deviation of 1 / sqrt(2 * SKETCH) = 12.5 %: of tests that |a - b| <= t |b|,
three in a thousand pass where |a - b| is 1.5 t |b|, and one in a thousand fails where it is 0.7 t |b|. The
cosine follows from the norms, which are exact, and that distance: cos = (|a|^2 + |b|^2 - |a - b|^2) / (2 |a|
|b|). What is estimated is then 1 - cos, with a standard deviation of 25 % of itself; the scalar product of
two sketches would be off by up to 0.25 whatever the cosine.
"""

import json
import pathlib

import numpy as np

BATCH, CLASSES, SIDE = 32, 10, 32
RATE, STEPS, MOMENTUM, EPSILON = 0.01, 5, 0.99, 0.001
# Inner and outer channels, blocks, stride.
STAGES = (((64, 256), 3, 1), ((128, 512), 4, 2), ((256, 1024), 6, 2), ((512, 2048), 3, 2))
IMAGES_STREAM, SKETCH_STREAM, SKETCH = 1000, 2000, 32
GOLDEN = pathlib.Path(__file__).with_name("resnet50.json")


def bits(stream, count):
    z = (np.arange(1, count + 1, dtype=np.uint64) + (stream << 32)) * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


def uniform(stream, shape, limit):
    unit = (bits(stream, int(np.prod(shape))) >> 40).astype(np.float64) * 2.0**-23 - 1
    return (limit * unit).astype(np.float32).astype(np.float64).reshape(shape)


def sketch(number, vector):
    random = bits(SKETCH_STREAM + number, vector.size)
    signs = 1.0 - 2.0 * ((random >> 58) & 1).astype(np.float64)
    return np.bincount((random >> 59).astype(np.int64), signs * vector.ravel(), SKETCH)


def images(batch=BATCH, side=SIDE):
    return uniform(IMAGES_STREAM, (batch, side, side, 3), 1)


def labels(batch=BATCH):
    return np.arange(batch) % CLASSES


class Variable:
    """A value that training changes, with the gradient of the last backward pass."""

    def __init__(self, name, value, trainable=True):
        self.name, self.value, self.trainable = name, value, trainable
        self.gradient = None


class Scope:
    """Makes variables, numbered in the order of creation, named by where they are."""

    def __init__(self, variables, name=""):
        self.variables, self.name = variables, name

    def __truediv__(self, name):
        return Scope(self.variables, f"{self.name}{name}/")

    def _add(self, name, value, trainable=True):
        self.variables.append(Variable(self.name + name, value, trainable))
        return self.variables[-1]

    def random(self, name, shape, limit):
        return self._add(name, uniform(len(self.variables), shape, limit))

    def glorot(self, name, shape):
        fan_in, fan_out = np.prod(shape[:-1]), np.prod(shape[:-2]) * shape[-1]
        return self.random(name, shape, np.sqrt(6 / (fan_in + fan_out)))

    def constant(self, name, shape, value, trainable=True):
        return self._add(name, np.full(shape, float(value)), trainable)


def windows(x, size, stride):
    """Views of x (n, h, w, c) as (n, h', w', c, size, size)."""
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))[:, ::stride, ::stride]


def taps(size, stride, height, width):
    """Of each place in the window: what it sees of the source, over all windows."""
    down, across = stride * (height - 1) + 1, stride * (width - 1) + 1
    for i in range(size):
        for j in range(size):
            yield i, j, np.s_[:, i : i + down : stride, j : j + across : stride]


class Conv:
    """A correlation without bias. padding: what is added on each side; SAME is never odd in this network."""

    def __init__(self, scope, shape, stride=1, padding=0):
        self.weights = scope.glorot("weights", shape)
        self.stride, self.pads = stride, [(0, 0), (padding, padding), (padding, padding), (0, 0)]

    def forward(self, x, training):
        self.x = np.pad(x, self.pads)
        size = self.weights.value.shape[0]
        return np.tensordot(windows(self.x, size, self.stride), self.weights.value, ([3, 4, 5], [2, 0, 1]))

    def backward(self, dy):
        size, p = self.weights.value.shape[0], self.pads[1][0]
        dw = np.tensordot(windows(self.x, size, self.stride), dy, ([0, 1, 2], [0, 1, 2]))
        self.weights.gradient = dw.transpose(1, 2, 0, 3)
        dx = np.zeros_like(self.x)
        for i, j, seen in taps(size, self.stride, *dy.shape[1:3]):
            dx[seen] += np.tensordot(dy, self.weights.value[i, j], ([3], [1]))
        return dx[:, p : dx.shape[1] - p, p : dx.shape[2] - p]


class BatchNorm:
    """Ioffe and Szegedy, 2015; the variance is that of the population, in the moving average too."""

    def __init__(self, scope, channels, gamma=1):
        self.gamma = scope.constant("gamma", channels, gamma)
        self.beta = scope.random("beta", (channels,), 0.1)
        self.moving_mean = scope.constant("moving_mean", channels, 0, False)
        self.moving_variance = scope.constant("moving_variance", channels, 1, False)

    def forward(self, x, training):
        mean, variance = self.moving_mean.value, self.moving_variance.value
        if training:
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            for moving, now in (self.moving_mean, mean), (self.moving_variance, variance):
                moving.value = MOMENTUM * moving.value + (1 - MOMENTUM) * now
        self.deviation = np.sqrt(variance + EPSILON)
        self.normalized = (x - mean) / self.deviation
        return self.gamma.value * self.normalized + self.beta.value

    def backward(self, dy):
        self.beta.gradient = dy.sum((0, 1, 2))
        self.gamma.gradient = (dy * self.normalized).sum((0, 1, 2))
        count = dy[..., 0].size
        centered = dy - self.beta.gradient / count - self.normalized * self.gamma.gradient / count
        return self.gamma.value / self.deviation * centered


class ReLU:
    def forward(self, x, training):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive


class SiLU:
    def forward(self, x, training):
        sigmoid = 1 / (1 + np.exp(-x))
        self.slope = sigmoid * (1 + x * (1 - sigmoid))
        return x * sigmoid

    def backward(self, dy):
        return dy * self.slope


class MaxPool:
    """Windows without padding; the gradient goes to the first largest element."""

    def __init__(self, size, stride):
        self.size, self.stride = size, stride

    def forward(self, x, training):
        self.shape = x.shape
        seen = windows(x, self.size, self.stride)
        flat = seen.reshape(*seen.shape[:4], -1)
        self.chosen = flat.argmax(-1)
        return flat.max(-1)

    def backward(self, dy):
        dx = np.zeros(self.shape)
        for i, j, seen in taps(self.size, self.stride, *dy.shape[1:3]):
            dx[seen] += dy * (self.chosen == i * self.size + j)
        return dx


class AvgPool:
    """SAME windows; the mean is over the elements that are there, as in TensorFlow."""

    def __init__(self, size, stride):
        self.size, self.stride = size, stride

    def _padded(self, x):
        pads = [(0, 0)]
        for extent in x.shape[1:3]:
            total = max((-(-extent // self.stride) - 1) * self.stride + self.size - extent, 0)
            pads.append((total // 2, total - total // 2))
        return np.pad(x, pads + [(0, 0)]), pads

    def forward(self, x, training):
        self.shape = x.shape
        self.counts = windows(self._padded(np.ones(x.shape))[0], self.size, self.stride).sum((-1, -2))
        return windows(self._padded(x)[0], self.size, self.stride).sum((-1, -2)) / self.counts

    def backward(self, dy):
        dx, (_, (top, _), (left, _)) = self._padded(np.zeros(self.shape))
        for _, _, seen in taps(self.size, self.stride, *dy.shape[1:3]):
            dx[seen] += dy / self.counts
        return dx[:, top : top + self.shape[1], left : left + self.shape[2]]


class Chain:
    """One layer after the other."""

    def __init__(self, *layers):
        self.layers = layers

    def forward(self, x, training):
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def backward(self, dy):
        for layer in reversed(self.layers):
            dy = layer.backward(dy)
        return dy


class Block:
    """1x1 (stride), 3x3, 1x1 with batch norms, plus the source, itself or through 1x1 (stride) and batch
    norm, then the activation."""

    def __init__(self, scope, activation, source, inner, outer, stride, project, gamma):
        first = len(scope.variables)
        self.main = Chain(
            Conv(scope / "conv1", (1, 1, source, inner), stride),
            BatchNorm(scope / "norm1", inner),
            activation(),
            Conv(scope / "conv2", (3, 3, inner, inner), padding=1),
            BatchNorm(scope / "norm2", inner),
            activation(),
            Conv(scope / "conv3", (1, 1, inner, outer)),
            BatchNorm(scope / "norm3", outer, gamma),
        )
        self.skip = Chain()
        if project:
            self.skip = Chain(
                Conv(scope / "skip_conv", (1, 1, source, outer), stride), BatchNorm(scope / "skip_norm", outer)
            )
        self.variables = scope.variables[first:]
        self.activation = activation()

    def forward(self, x, training):
        branches = self.main.forward(x, training) + self.skip.forward(x, training)
        return self.activation.forward(branches, training)

    def backward(self, dy):
        dy = self.activation.backward(dy)
        return self.main.backward(dy) + self.skip.backward(dy)


class Dense:
    """On what is left of an image, flattened."""

    def __init__(self, scope, features, units):
        self.weights = scope.glorot("weights", (features, units))
        self.bias = scope.random("bias", (units,), 0.1)

    def forward(self, x, training):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ self.weights.value + self.bias.value

    def backward(self, dy):
        self.weights.gradient, self.bias.gradient = self.x.T @ dy, dy.sum(0)
        return (dy @ self.weights.value.T).reshape(self.shape)


class Network:
    """form: "relu" or "smooth". narrow divides every number of channels, for checks in a hurry."""

    def __init__(self, form, narrow=1):
        activation, gamma = {"relu": (ReLU, 1), "smooth": (SiLU, 0.2)}[form]
        self.variables = []
        scope, channels = Scope(self.variables), 64 // narrow
        stem = (
            Conv(scope / "stem" / "conv", (7, 7, 3, channels), 2),
            BatchNorm(scope / "stem" / "norm", channels),
            activation(),
            MaxPool(3, 2),
        )
        self.blocks = []
        for s, ((inner, outer), count, stride) in enumerate(STAGES):
            for b in range(count):
                place = scope / f"stage{s + 1}" / f"block{b + 1}"
                self.blocks.append(
                    Block(
                        place,
                        activation,
                        channels,
                        inner // narrow,
                        outer // narrow,
                        stride if b == 0 else 1,
                        b == 0,
                        gamma,
                    )
                )
                channels = outer // narrow
        self.body = Chain(*stem, *self.blocks, AvgPool(2, 2), Dense(scope / "dense", channels, CLASSES))

    @property
    def trainables(self):
        return [variable for variable in self.variables if variable.trainable]

    @property
    def moving(self):
        return [variable for variable in self.variables if not variable.trainable]

    def loss(self, x, classes, training=True):
        """Softmax cross entropy: the sum over the images, divided by their number."""
        logits = self.logits = self.body.forward(x, training)
        shifted = logits - logits.max(1, keepdims=True)
        log_softmax = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        one_hot = np.eye(CLASSES)[classes]
        self.slope = (np.exp(log_softmax) - one_hot) / len(x)
        return -(one_hot * log_softmax).sum() / len(x)

    def backward(self):
        """The gradient of the last loss to every trainable variable."""
        self.body.backward(self.slope)

    def descend(self, rate=RATE):
        for variable in self.trainables:
            variable.value = variable.value - rate * variable.gradient


def finite_difference_error(network, directions, h):
    """The largest difference between the gradient along a direction and the central difference of fourth
    order there, over the norm of the products that the former sums. directions: lists of the variables that
    move; h: the step, in units of a variable's root mean square, so small that hardly anything crosses a
    kink."""
    rng = np.random.default_rng(0)
    x, classes = images(8), labels(8)
    network.loss(x, classes)
    network.backward()
    worst = 0
    for moving in directions:
        starts = [variable.value for variable in moving]
        steps = [rng.normal(size=value.shape) * np.sqrt((value**2).mean()) for value in starts]
        products = [step * variable.gradient for step, variable in zip(steps, moving)]

        def at(distance):
            for variable, start, step in zip(moving, starts, steps):
                variable.value = start + distance * step
            return network.loss(x, classes)

        measured = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        at(0)
        expected = sum(product.sum() for product in products)
        size = np.sqrt(sum((product**2).sum() for product in products))
        worst = max(worst, abs(measured - expected) / size)
    return worst


def course(form):
    """Yields in turn what is compared on the way that every test goes, with its name: the first gradients, what
    that step did to the moving averages, of the smooth network the end of STEPS steps, and the losses."""
    network, x, classes = Network(form), images(), labels()
    losses = [network.loss(x, classes)]
    network.backward()
    yield "gradients", {variable.name: variable.gradient for variable in network.trainables}
    yield "moving_after_one_step", {variable.name: variable.value for variable in network.moving}
    if form == "smooth":
        network.descend()
        for _ in range(1, STEPS):
            losses.append(network.loss(x, classes))
            network.backward()
            network.descend()
        yield "parameters", {variable.name: variable.value for variable in network.trainables}
        yield "moving", {variable.name: variable.value for variable in network.moving}
        yield "evaluation_loss", float(network.loss(x, classes, training=False))
        losses.append(network.loss(x, classes))
    yield "losses", [float(loss) for loss in losses]


def summary(values_of_course):
    """What the golden file keeps of a course: numbers as they are, of each vector its norm and its sketch."""
    numbers = {variable.name: k for k, variable in enumerate(Network("relu").variables)}
    kept = {}
    for what, values in values_of_course.items():
        if isinstance(values, dict):
            values = {name: [np.linalg.norm(value), *sketch(numbers[name], value)] for name, value in values.items()}
        kept[what] = values
    return kept


def rounded(golden):
    """The same to nine digits, which is what the file holds."""
    return json.loads(json.dumps(golden), parse_float=lambda text: float(f"{float(text):.9g}"))


def main():
    for form, small, tiny in ("smooth", 1e-5, 1e-6), ("relu", 1e-7, 1e-9):
        network = Network(form, narrow=8)
        error = finite_difference_error(network, [[variable] for variable in network.trainables], small)
        print(f"{form}, an eighth of the channels, each variable: finite differences within {error:.1e}")
        network = Network(form)
        error = finite_difference_error(network, [network.trainables] * 3, tiny)
        print(f"{form}, all variables at once: finite differences within {error:.1e}")
    golden = rounded({form: summary(dict(course(form))) for form in ("smooth", "relu")})
    text = json.dumps(golden, separators=(",", ":")).replace("],", "],\n").replace("{", "{\n")
    GOLDEN.write_text(text + "\n")
    for form, values in golden.items():
        print(f"{form}: losses {values['losses']}, evaluation {values.get('evaluation_loss')}")
    print(f"{GOLDEN.name}: {GOLDEN.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
