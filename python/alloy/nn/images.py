from numbers import Real

from alloy.engine.arrays import require_all
from alloy.engine.dtypes import is_float
from alloy.messages.location import mistake
from alloy.messages.text import describe
from alloy.nn.layer import Layer
from alloy.nn.settings import settings
from alloy.nn.windows import extents
from alloy.ops import cast, pad, resize
from alloy.ops.windows import Extents, Padding


class _Images(Layer):
    def known_size(self, x):
        """Returns the height and width of images."""
        if x.shape is None or len(x.shape) != 4 or None in x.shape[1:3]:
            raise mistake(self, f"Expected images of known height and width, got {describe(x)}")
        return x.shape[1:3]


class UpSampling2D(_Images):
    """Enlarges images: (n, height, width, channels) becomes (n, height * size, width * size, channels).

    size: an integer, or one for the height and one for the width. interpolation: "nearest", which repeats pixels, or
    "bilinear"."""

    def __init__(self, size: Extents = 2, *, interpolation: str = "nearest"):
        super().__init__()
        self.size = extents(self, "a size", size)
        self.interpolation = interpolation

    def forward(self, x, training):
        size = [extent * times for extent, times in zip(self.known_size(x), self.size)]
        return resize(x, size, mode=self.interpolation)


class Resizing(_Images):
    """Resizes images: (n, height', width', channels) becomes (n, height, width, channels). interpolation: "bilinear" or
    "nearest"."""

    def __init__(self, height: int, width: int, *, interpolation: str = "bilinear"):
        super().__init__()
        self.size = extents(self, "a height and a width", (height, width))
        self.interpolation = interpolation

    def forward(self, x, training):
        self.known_size(x)
        return resize(x, self.size, mode=self.interpolation)


class ZeroPadding2D(Layer):
    """Puts zeros around images. padding: an integer for all sides, one for top and bottom and one for left and right,
    or ((top, bottom), (left, right))."""

    def __init__(self, padding: int | Padding = 1):
        super().__init__()
        pairs = padding if isinstance(padding, (tuple, list)) else (padding, padding)
        if len(pairs) != 2:
            raise mistake(self, f"Expected a padding of height and width, got {padding!r}")
        self.padding = [tuple(extents(self, "a padding", side, least=0)) for side in pairs]

    def forward(self, x, training):
        return pad(x, [(0, 0), *self.padding, (0, 0)])


class Rescaling(Layer):
    """x * scale + offset, for numbers of any type and shape: Rescaling(1 / 255) turns bytes into numbers from 0 to 1.
    Integers and bools become the training's type, Trainer(dtype=...), or else float32."""

    def __init__(self, scale: float, *, offset: float = 0.0):
        super().__init__()
        require_all(self, "numbers as scale and offset", Real, [scale, offset])
        self.scale, self.offset = float(scale), float(offset)

    def forward(self, x, training):
        return (x if is_float(x.dtype) else cast(x, settings().dtype)) * self.scale + self.offset
