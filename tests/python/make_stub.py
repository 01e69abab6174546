"""Writes python/alloy/ops/table.pyi, the list of the functions that the op table gives, for readers and type
checkers."""

import inspect
import pathlib

from alloy.ops import table

PATH = pathlib.Path(__file__).parents[2] / "python" / "alloy" / "ops" / "table.pyi"
HEAD = '''"""Made from the op table by tests/python/make_stub.py; do not edit."""
from collections.abc import Iterable

import numpy as np

from alloy._core import Tensor

_Operand = Tensor | np.ndarray | np.generic | complex | float | int | bool
_Axes = int | Iterable[int] | None
'''
TYPES = {"x": "Tensor", "a": "_Operand", "b": "_Operand", "gradient": "_Operand", "axis": "_Axes", "keepdims": "bool"}


def render() -> str:
    names = ",\n".join(f'    "{name}"' for name in table.__all__)
    return f"{HEAD}\n__all__ = [\n{names},\n]\n" + "".join(
        f"\ndef {name}{_signature(name)}: ...\n" for name in table.__all__
    )


def _signature(name):
    signature = inspect.signature(getattr(table, name))
    parameters = [
        parameter.replace(annotation=_Verbatim("int" if parameter.default == -1 else TYPES[key]))
        for key, parameter in signature.parameters.items()
    ]
    return signature.replace(parameters=parameters, return_annotation=_Verbatim("Tensor"))


class _Verbatim:
    """An annotation that prints as its text, without quotes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


if __name__ == "__main__":
    PATH.write_text(render())
