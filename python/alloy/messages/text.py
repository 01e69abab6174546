"""Texts of tensors, amounts and tables for people."""


def describe(tensor) -> str:
    """Returns the tensor's dtype and shape as the engine prints them, for instance float32(64, ?)."""
    return type_text(tensor.dtype, tensor.shape)


def type_text(dtype: str, shape) -> str:
    """Returns dtype and shape, for instance float32(64, ?)."""
    return dtype + shape_text(shape)


def shape_text(shape) -> str:
    """Returns for instance (64, ?), (5,), (), and (...) for an unknown rank."""
    if shape is None:
        return "(...)"
    dims = ["?" if extent is None else str(extent) for extent in shape]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def amount(count: float, unit: str = "") -> str:
    """Rounds to three digits, for people: "4.1 G", "283 MB"."""
    for prefix in ("", "k", "M", "G", "T", "P", "E"):
        if count < 999.5 or prefix == "E":
            break
        count /= 1000
    return f"{count:.3g} {prefix}{unit}".rstrip()


def table(rows, numbers=(), indent=2):
    """Returns the rows as lines with aligned columns, columns of numbers to the right. Lines of more than 80 characters
    lose the middle of the texts in the widest column."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    widest = max((i for i in range(len(widths)) if i not in numbers), key=widths.__getitem__, default=None)
    excess = indent + sum(widths) + 2 * (len(widths) - 1) - 80
    if excess > 0 and widest is not None:
        widths[widest] = max(widths[widest] - excess, 12)
    lines = []
    for row in rows:
        cells = [_shortened(cell, width) for cell, width in zip(row, widths)]
        cells = [
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        ]
        lines.append(f"{' ' * indent}{'  '.join(cells)}".rstrip())
    return lines


def _shortened(text, width):
    return text if len(text) <= width else text[: (width - 1) // 2] + "…" + text[len(text) - width // 2 :]
