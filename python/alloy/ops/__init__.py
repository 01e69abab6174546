"""All functions that add ops to a graph: table.py has the rows of the op table; the other modules have, by family, ops
with attributes or operands of their own, and composites. The engine checks shapes.

A module's __all__ lists the functions that users see as al.NAME."""

from alloy.ops import (
    activation,
    attention,
    complex_numbers,
    control,
    convolution,
    creation,
    custom,
    elementwise,
    fourier,
    images,
    index,
    linear_algebra,
    normalization,
    order,
    pooling,
    quantization,
    recurrent,
    shape,
    table,
)
from alloy.ops.activation import *  # noqa: F403
from alloy.ops.attention import *  # noqa: F403
from alloy.ops.complex_numbers import *  # noqa: F403
from alloy.ops.control import *  # noqa: F403
from alloy.ops.convolution import *  # noqa: F403
from alloy.ops.creation import *  # noqa: F403
from alloy.ops.custom import *  # noqa: F403
from alloy.ops.elementwise import *  # noqa: F403
from alloy.ops.fourier import *  # noqa: F403
from alloy.ops.images import *  # noqa: F403
from alloy.ops.index import *  # noqa: F403
from alloy.ops.linear_algebra import *  # noqa: F403
from alloy.ops.normalization import *  # noqa: F403
from alloy.ops.order import *  # noqa: F403
from alloy.ops.pooling import *  # noqa: F403
from alloy.ops.quantization import *  # noqa: F403
from alloy.ops.recurrent import *  # noqa: F403
from alloy.ops.shape import *  # noqa: F403
from alloy.ops.table import *  # noqa: F403

__all__ = (
    activation.__all__
    + attention.__all__
    + complex_numbers.__all__
    + control.__all__
    + convolution.__all__
    + creation.__all__
    + custom.__all__
    + elementwise.__all__
    + fourier.__all__
    + images.__all__
    + index.__all__
    + linear_algebra.__all__
    + normalization.__all__
    + order.__all__
    + pooling.__all__
    + quantization.__all__
    + recurrent.__all__
    + shape.__all__
    + table.__all__
)
