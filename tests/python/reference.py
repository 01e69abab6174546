"""The mathematics of ops and of training in float64 NumPy, written from their definitions and not from the
engine."""

import numpy as np

# ---- windows ----


def _padding(style, size, kernel, stride, dilation):
    """(before, after) along one axis."""
    if not isinstance(style, str):
        return style
    if style == "valid":
        return 0, 0
    reach = dilation * (kernel - 1) + 1
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def windows_along(x, axes, size, strides=None, padding="valid", dilations=None, fill=0.0):
    """The windows of x along the axes: x.shape with so many windows along each, then the windows' own axes. Padding
    reads fill."""
    ones = (1,) * len(axes)
    strides, dilations = strides or ones, dilations or ones
    styles = (padding,) * len(axes) if isinstance(padding, str) else padding
    pads = [(0, 0)] * x.ndim
    for axis, *of_axis in zip(axes, styles, size, strides, dilations):
        pads[axis] = _padding(of_axis[0], x.shape[axis], *of_axis[1:])
    x = np.pad(x, pads, constant_values=fill)
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, size)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    steps = [slice(None)] * view.ndim
    for i, axis in enumerate(axes):
        steps[axis], steps[x.ndim + i] = slice(None, None, strides[i]), slice(None, None, dilations[i])
    return view[tuple(steps)]


def windows(x, *arguments, **options):
    """The windows of images or volumes x (n, ..., c) as (n, windows along each axis, their own axes, c)."""
    view = windows_along(x, tuple(range(1, x.ndim - 1)), *arguments, **options)
    return np.moveaxis(view, x.ndim - 1, -1)


def conv2d(x, weights, strides=None, padding="valid", dilations=None, groups=1):
    """x NHWC, weights HWIO."""
    taken = windows(x, weights.shape[:-2], strides, padding, dilations)
    of_groups = zip(np.split(taken, groups, -1), np.split(weights, groups, -1))
    return np.concatenate([np.tensordot(*pair, weights.ndim - 1) for pair in of_groups], -1)


conv3d = conv2d  # x NDHWC, weights DHWIO


def max_pool2d(x, window, strides, padding="valid"):
    return windows(x, window, strides, padding, fill=-np.inf).max((3, 4))


def avg_pool2d(x, window, strides, padding="valid"):
    inside = windows(np.ones_like(x), window, strides, padding).sum((3, 4))
    return windows(x, window, strides, padding).sum((3, 4)) / inside


def depthwise_conv2d(x, weights, strides=None, padding="valid", dilations=None):
    """x NHWC, weights (height, width, channels, filters of each)."""
    taken = windows_along(x, (1, 2), weights.shape[:2], strides, padding, dilations)
    y = np.einsum("nhwcxy,xycm->nhwcm", taken, weights)
    return y.reshape(*y.shape[:3], y.shape[3] * y.shape[4])


def depthwise_conv3d(x, weights, strides=None, padding="valid", dilations=None):
    """x (..., depth, height, width, channels), weights (depth, height, width, channels)."""
    axes = (x.ndim - 4, x.ndim - 3, x.ndim - 2)
    taken = windows_along(x, axes, weights.shape[:3], strides, padding, dilations)
    return np.einsum("...cxyz,xyzc->...c", taken, weights)


def _pool(x, window, strides, padding, dilations, fill=0.0):
    axes = tuple(range(x.ndim - 4, x.ndim))
    taken = windows_along(x, axes, window, strides, padding, dilations, fill)
    return taken.reshape(*taken.shape[: x.ndim], -1)


def max_pool4d(x, window, strides, padding="valid", dilations=None):
    return _pool(x, window, strides, padding, dilations, -np.inf).max(-1)


def max_pool4d_places(x, window, strides, padding="valid", dilations=None, over=4, local=False):
    """Where the first greatest element of each window is."""
    taps = _pool(x, window, strides, padding, dilations, -np.inf).argmax(-1)
    if local:
        return taps % np.prod(window[4 - over :])
    order = np.arange(x.size, dtype=float).reshape(x.shape)
    places = np.take_along_axis(_pool(order, window, strides, padding, dilations, -1), taps[..., None], -1)[..., 0]
    return places.astype(int) % np.prod(x.shape[-over:])


def avg_pool4d(x, window, strides, padding="valid", dilations=None, include_padding=False):
    inside = _pool(np.ones_like(x), window, strides, padding, dilations).sum(-1)
    total = _pool(x, window, strides, padding, dilations).sum(-1)
    return total / (np.prod(window) if include_padding else inside)


def l2_pool4d(x, window, strides, padding="valid", dilations=None):
    return np.sqrt(_pool(x**2, window, strides, padding, dilations).sum(-1))


def im2col(x, window, strides, padding="valid", dilations=None):
    """x NHWC."""
    taken = windows(x, window, strides, padding, dilations)
    return taken.reshape(taken.shape[0], taken.shape[1] * taken.shape[2], -1)


# ---- images of another size ----


def resize_along(x, axis, places, mode, rounding=None):
    """By the definition: `places` of x along the axis, clamped, to the nearest element or between two."""
    last = x.shape[axis] - 1
    matrix = np.zeros((len(places), last + 1))
    for i, place in enumerate(places):
        if mode == "nearest":
            matrix[i, int(np.clip(rounding(place), 0, last))] = 1
        else:
            place = min(max(place, 0), last)
            below = int(np.floor(place))
            matrix[i, below] += 1 - (place - below)
            matrix[i, min(below + 1, last)] += place - below
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


# ---- softmax ----


def log_softmax(x, axis=-1):
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis))


# ---- derivatives by their definitions ----


def adjoint(linear, like):
    """The transpose of a linear map of arrays like `like`, built from its values on the unit arrays."""
    columns = []
    for i in range(like.size):
        unit = np.zeros(like.size)
        unit[i] = 1
        columns.append(linear(unit.reshape(like.shape)))
    return lambda g: np.array([np.sum(g * column) for column in columns]).reshape(like.shape)


# ---- training: layers with forward and backward passes ----


class Dense:
    def __init__(self, weights, bias):
        self.parameters = [weights, bias]

    def forward(self, x):
        self.x = x
        return x @ self.parameters[0] + self.parameters[1]

    def backward(self, g):
        self.gradients = [self.x.T @ g, g.sum(0)]
        return g @ self.parameters[0].T


class Conv2D:
    """Stride 1, "same" padding, an odd kernel."""

    def __init__(self, weights, bias):
        self.parameters = [weights, bias]

    def forward(self, x):
        self.windows = windows(x, self.parameters[0].shape[:2], (1, 1), "same")
        return np.tensordot(self.windows, self.parameters[0], 3) + self.parameters[1]

    def backward(self, g):
        self.gradients = [np.tensordot(self.windows, g, [(0, 1, 2)] * 2), g.sum((0, 1, 2))]
        turned = self.parameters[0][::-1, ::-1].swapaxes(2, 3)
        return conv2d(g, turned, padding="same")


class BatchNorm:
    def __init__(self, gamma, beta, momentum=0.99, epsilon=0.001):
        self.parameters = [gamma, beta]
        self.moving = [np.zeros_like(beta), np.ones_like(gamma)]
        self.momentum, self.epsilon = momentum, epsilon

    def forward(self, x):
        self.axes = tuple(range(x.ndim - 1))
        statistics = x.mean(self.axes), x.var(self.axes)
        self.moving = [self.momentum * m + (1 - self.momentum) * s for m, s in zip(self.moving, statistics)]
        self.deviation = np.sqrt(statistics[1] + self.epsilon)
        self.normal = (x - statistics[0]) / self.deviation
        return self.normal * self.parameters[0] + self.parameters[1]

    def backward(self, g):
        """By the formula of Ioffe and Szegedy, 2015, section 3, with the terms collected."""
        self.gradients = [(g * self.normal).sum(self.axes), g.sum(self.axes)]
        means = (g * self.normal).mean(self.axes), g.mean(self.axes)
        return self.parameters[0] / self.deviation * (g - means[1] - self.normal * means[0])


class ReLU:
    parameters = gradients = ()

    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, g):
        return g * self.positive


class Tanh:
    parameters = gradients = ()

    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, g):
        return g * (1 - self.y**2)


class MaxPool2D:
    """2x2, of an image that it divides; the first greatest element takes the gradient."""

    parameters = gradients = ()

    def forward(self, x):
        n, h, w, c = x.shape
        blocks = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(n, h // 2, w // 2, c, 4)
        self.winner = np.eye(4)[blocks.argmax(-1)]
        return blocks.max(-1)

    def backward(self, g):
        n, h, w, c = g.shape
        blocks = (g[..., None] * self.winner).reshape(n, h, w, c, 2, 2)
        return blocks.transpose(0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * w, c)


class Flatten:
    parameters = gradients = ()

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, g):
        return g.reshape(self.shape)


def loss_and_gradients(layers, x, labels):
    """The mean softmax cross entropy, and its gradient to every parameter in the layers' order."""
    for layer in layers:
        x = layer.forward(x)
    targets = np.eye(x.shape[-1])[labels]
    g = (softmax(x) - targets) / len(x)
    for layer in reversed(layers):
        g = layer.backward(g)
    loss = -np.mean(np.sum(targets * log_softmax(x), -1))
    return loss, [gradient for layer in layers for gradient in layer.gradients]


def sgd(rate):
    def update(parameters, gradients):
        for parameter, gradient in zip(parameters, gradients):
            parameter -= rate * gradient

    return update


def adam(rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """PyTorch's formula."""
    moments = {}
    step = 0

    def update(parameters, gradients):
        nonlocal step
        step += 1
        for i, (parameter, gradient) in enumerate(zip(parameters, gradients)):
            m, v = moments.get(i, (0.0, 0.0))
            m = beta1 * m + (1 - beta1) * gradient
            v = beta2 * v + (1 - beta2) * gradient**2
            moments[i] = m, v
            parameter -= rate * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + epsilon)

    return update


# ---- recurrent cells: time first, as al.rnn, al.lstm and al.gru document them ----

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
}


def _steps(x, reverse):
    return range(len(x))[::-1] if reverse else range(len(x))


def rnn(x, w, state, mask=1, *, activation="relu", reverse=False):
    out = np.zeros_like(x)
    for t in _steps(x, reverse):
        out[t] = state = ACTIVATIONS[activation](x[t] + (mask * state) @ w.T)
    return out


def lstm(x, w, state, cell, mask=1, peephole=0, *, activation="tanh", gates=("sigmoid",) * 2 + ("tanh", "sigmoid"),
         reverse=False):  # fmt: skip
    states, cells = [], []
    for t in _steps(x, reverse):
        sums = x[t] + (mask * state) @ w.T + peephole * np.tile(cell, 4)
        i, f, z, o = (ACTIVATIONS[name](part) for name, part in zip(gates, np.split(sums, 4, 1)))
        cell = f * cell + i * z
        state = o * ACTIVATIONS[activation](cell)
        states.append(state)
        cells.append(cell)
    turn = -1 if reverse else 1
    return np.stack(states[::turn]), np.stack(cells[::turn])


def gru(x, w, state, bias=0, mask=1, *, activation="tanh", gates=("sigmoid", "sigmoid"), reset_after=True,
        flip_z=False, reverse=False):  # fmt: skip
    out = np.zeros((*x.shape[:2], w.shape[1]))
    update, reset = (ACTIVATIONS[name] for name in gates)
    wz, wr, wo = np.split(w, 3)
    for t in _steps(x, reverse):
        xz, xr, xo = np.split(x[t], 3, 1)
        z, r = update(xz + (mask * state) @ wz.T), reset(xr + (mask * state) @ wr.T)
        old = r * ((mask * state) @ wo.T + bias) if reset_after else (r * mask * state) @ wo.T
        o = ACTIVATIONS[activation](xo + old)
        out[t] = state = (1 - z) * state + z * o if flip_z else z * state + (1 - z) * o
    return out
