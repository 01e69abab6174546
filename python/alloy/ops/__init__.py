"""Every function that adds ops to a graph: one for each row of the op table's families (table.py), and by family those
with attributes or operands of their own and those composed of others. Shapes are checked by the engine.

A module's __all__ is what users see as al.NAME."""

from alloy.ops import (
    control,
    convolution,
    elementwise,
    images,
    index,
    linear_algebra,
    normalization,
    order,
    pooling,
    recurrent,
    shape,
    table,
)
from alloy.ops.control import *  # noqa: F403
from alloy.ops.convolution import *  # noqa: F403
from alloy.ops.elementwise import *  # noqa: F403
from alloy.ops.images import *  # noqa: F403
from alloy.ops.index import *  # noqa: F403
from alloy.ops.linear_algebra import *  # noqa: F403
from alloy.ops.normalization import *  # noqa: F403
from alloy.ops.order import *  # noqa: F403
from alloy.ops.pooling import *  # noqa: F403
from alloy.ops.recurrent import *  # noqa: F403
from alloy.ops.shape import *  # noqa: F403
from alloy.ops.table import *  # noqa: F403

__all__ = (
    control.__all__
    + convolution.__all__
    + elementwise.__all__
    + images.__all__
    + index.__all__
    + linear_algebra.__all__
    + normalization.__all__
    + order.__all__
    + pooling.__all__
    + recurrent.__all__
    + shape.__all__
    + table.__all__
)
