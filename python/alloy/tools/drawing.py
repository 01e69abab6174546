"""Drawings of a graph (the ops of Graph.inspect): each layer a box around its ops, operands above the ops that use
them.

The content of a box is laid out by itself (Sugiyama, Tagawa and Toda, 1981): rows by the longest path, places in a row
near the neighbours' mean place; an edge crosses a border at a port."""

from collections import defaultdict
from html import escape
from itertools import pairwise
from statistics import fmean

from alloy.engine.dtypes import elements
from alloy.messages.text import amount, shape_text

__all__ = ["html", "svg"]

_COLOURS = {  # inside, border
    "op": ("#fff", "#8694a3"),
    "variable": ("#fff3d6", "#d9a33b"),
    "placeholder": ("#e1f3e4", "#5fa96c"),
    "layer": ("#f3f6fa", "#9fb3c8"),
    "folded": ("#e3edf8", "#5b8cc0"),
}
_STYLE = (
    'text{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1b2430}.note{fill:#5d6b7a}'
    "path{fill:none;stroke:#76828f}.arrow{fill:#76828f;stroke:none}"
) + "".join(f".{name}{{fill:{inside};stroke:{border}}}" for name, (inside, border) in _COLOURS.items())
_LINE, _CHARACTER = 15, 6.7  # the height of a line and the width of a character, at 11 pixels
_GAP, _ROW_GAP, _PADDING = 16, 22, 12  # between boxes, between rows, around rows


class _Box:
    """The graph, a layer, an op, a port in the border of a layer, or a bend of an edge that passes a row."""

    def __init__(self, style, parent=None, title="", note="", hint="", op=None):
        self.style, self.title, self.note, self.hint, self.op = style, title, note, hint, op
        self.around = [*parent.around, parent] if parent else []  # the outermost first
        self.inside = []
        self.edges = {}  # keys: (from, to, the box whose result it is), of boxes in this one
        self.ports = {}  # by (the box whose result passes, True if it enters)
        self.hops = {}  # its edges, cut where they pass rows
        self.folded = style not in ("graph", "layer")
        self.x = self.y = self.width = self.height = 0.0
        self.band = (0.0, 0.0)  # the top and the bottom of its row
        if parent:
            parent.inside.append(self)

    def port(self, source, enters):
        if (source, enters) not in self.ports:
            self.ports[source, enters] = _Box("enter" if enters else "leave", self)
        return self.ports[source, enters]

    def layers(self):
        """Gives the layers in it, at any depth."""
        for box in self.inside:
            if box.style == "layer":
                yield from (box, *box.layers())

    @property
    def path(self):
        return "/".join(part.title for part in [*self.around[1:], self])


# ---- boxes ----


def _boxes(ops):
    """Returns the outermost box. Constants are left out."""
    root, of_tensor = _Box("graph"), {}
    layers = {(): root}

    def layer(path):
        if path not in layers:
            layers[path] = _Box("layer", layer(path[:-1]), path[-1])
        return layers[path]

    for op in ops:
        if op.kind == "constant":
            continue
        *path, name = op.name.split("/")
        style, title = (op.kind, name) if op.kind in ("placeholder", "variable") else ("op", op.kind)
        box = _Box(style, layer(tuple(path)), title, " ".join(map(shape_text, op.shapes)), _hint(op), op)
        for operand in dict.fromkeys(op.operands):
            if operand in of_tensor:
                _connect(of_tensor[operand], box)
        of_tensor |= dict.fromkeys(op.results, box)
    for box in root.layers():
        _summarise(box)
    _fold(root)
    return root


def _hint(op):
    """Returns the op's name, its cost, and the user's line that made it."""
    cost = f"{amount(op.flops)} flops" if op.flops else ""
    place = "" if "alloy/tools/" in op.location else op.location  # not the line of a command
    return ", ".join(filter(None, [f"{op.kind} {op.name}".strip(), cost, place]))


def _connect(source, target):
    """Adds an edge in each box around the source alone, in the innermost box around both, and in each box around the
    target alone."""
    up, down = [*source.around, source], [*target.around, target]
    common = next(i for i, (a, b) in enumerate(zip(up, down)) if a is not b)
    for inner, box in zip(up[:common:-1], up[-2 : common - 1 : -1]):
        box.edges[inner, box.port(source, False), source] = None
    for inner, box in zip(down[:common:-1], down[-2 : common - 1 : -1]):
        box.edges[box.port(source, True), inner, source] = None
    up[common - 1].edges[up[common], down[common], source] = None


def _summarise(layer):
    """Notes on a folded layer its parameters and the shape of its last result."""
    inner = [box for part in (layer, *layer.layers()) for box in part.inside if box.op]
    variables = [box.op.results[0] for box in inner if box.op.kind == "variable"]
    parameters = elements([variable for variable in variables if variable.trainable])
    last = ([source for source, enters in layer.ports if not enters] or inner)[-1]
    layer.note = f"{parameters:,} parameters → {last.note}" if parameters else f"→ {last.note}"
    layer.hint = f"{layer.path}, {amount(sum(box.op.flops or 0 for box in inner))} flops"


def _fold(root):
    """Folds the innermost layers if there are many ops; if these are still many, the layers around them, and so on."""
    many = 80
    while _shown(root) > many and (unfolded := [box for box in root.layers() if not box.folded]):
        many = 120  # layers are easier to see through than ops
        innermost = [box for box in unfolded if all(inner.folded for inner in box.layers())]
        for box in innermost:
            box.folded = True


def _shown(box):
    """Counts the visible ops and folded layers in it."""
    return sum(item.style not in ("enter", "leave") if item.folded else _shown(item) for item in box.inside)


# ---- places ----


def _rows(box):
    """Returns (rows of the boxes in it, the hops of its edges from one row to the next)."""
    before, after = defaultdict(list), defaultdict(list)
    for a, b, _ in box.edges:
        before[b].append(a)
        after[a].append(b)
    rank, waiting = {}, [item for item in box.inside if item.style != "leave"]
    while waiting:
        # Where nothing is ready there is a cycle: a layer is used twice. Then the first one goes.
        ready = [item for item in waiting if all(other in rank for other in before[item])] or waiting[:1]
        rank |= {item: max((rank[other] + 1 for other in before[item] if other in rank), default=0) for item in ready}
        waiting = [item for item in waiting if item not in rank]
    last = max(rank.values(), default=0) + 1
    for item in reversed(rank):
        # As late as its users allow, so that it stands directly above them.
        if item.style != "enter" and after[item]:
            rank[item] = max(rank[item], min(rank.get(other, last) for other in after[item]) - 1)
    rank |= {item: last for item in box.inside if item.style == "leave"}
    hops, bends = {}, {}
    for a, b, source in box.edges:
        passed = range(rank[a] + 1, rank[b])
        way = [bends.setdefault((a, source, row), _Box("bend")) for row in passed]
        rank |= zip(way, passed)
        hops |= dict.fromkeys((*hop, source) for hop in pairwise([a, *way, b]))
    return [[item for item in rank if rank[item] == row] for row in sorted({*rank.values()})], hops


def _arrange(box):
    """Gives the box its width and height, and every box in it its place there."""
    text = _CHARACTER * max(len(box.title), len(box.note)) + _PADDING
    if box.folded:
        lines = bool(box.title) + bool(box.note)
        box.width, box.height = (text, _LINE * lines + 8) if lines else (8, 0)
        return
    rows, box.hops = _rows(box)
    for row in rows:
        for item in row:
            _arrange(item)
    width = _spread(rows, box)
    y = _PADDING if rows and rows[0][0].style == "enter" else 2 * _PADDING
    for row in rows:
        height = max(item.height for item in row)
        for item in row:
            item.x, item.y, item.band = item.x + _PADDING, y + (height - item.height) / 2, (y, y + height)
        y += height + _ROW_GAP
    margin = 0 if rows and rows[-1][0].style == "leave" else _PADDING
    box.width, box.height = max(width + 2 * _PADDING, text), y - _ROW_GAP + margin


def _spread(rows, box):
    """Orders the items of each row, and gives them x, so that edges are as upright as they can be; returns the width
    of all."""
    wishes = {item: [] for row in rows for item in row}  # for each edge: whom to follow, and how far
    for a, b, source in box.hops:
        shift = _joint(a, source, True) - _joint(b, source, False)
        wishes[a].append((b, -shift))
        wishes[b].append((a, shift))
    for sweep in range(12):
        for row in rows[::-1] if sweep % 2 else rows:
            wish = {item: fmean([other.x + far for other, far in wishes[item]] or [item.x]) for item in row}
            if sweep < 4:
                row.sort(key=lambda item: wish[item] + item.width / 2)
            low, high = [wish[item] for item in row], [wish[item] for item in row]
            for i in range(1, len(row)):
                low[i] = max(low[i], low[i - 1] + row[i - 1].width + _GAP)
            for i in reversed(range(len(row) - 1)):
                high[i] = min(high[i], high[i + 1] - row[i].width - _GAP)
            for item, a, b in zip(row, low, high):
                item.x = (a + b) / 2
    # An edge that enters must not cross the title.
    title = _CHARACTER * len(box.title)
    left = min((item.x - (title if item.style == "enter" else 0) for item in wishes), default=0)
    for item in wishes:
        item.x -= left
    return max((item.x + item.width for item in wishes), default=0)


def _joint(item, source, leaves):
    """Returns the distance from the item's left side to the meeting edge."""
    if item.folded:
        return item.width / 2
    port = item.ports[source, not leaves]
    return port.x + port.width / 2


# ---- pictures ----


def svg(ops, title: str = "graph") -> str:
    """Returns the drawing of the ops as an SVG document. If there are many, the innermost layers are folded."""
    return f"{_picture(_boxes(ops), title)}\n"


def html(ops, title: str = "graph") -> str:
    """Returns the drawing as a page that needs no other file. A click on a folded layer leads to a picture of it."""
    root = _boxes(ops)
    pictures = _picture(root, title)
    for layer in root.layers():
        if layer.folded:
            layer.folded = False
            pictures += f'<h2 id="{escape(layer.path)}">{escape(layer.path)}</h2>{_picture(layer, layer.path)}'
            layer.folded = True
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>h2{{font:bold 13px monospace}}</style><body>{pictures}</body></html>\n"
    )


def _picture(box, title):
    _arrange(box)
    parts = []
    _draw(box, 0, 0, parts)
    width, height = f"{box.width:.0f}", f"{box.height:.0f}"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%;height:auto"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _draw(box, x, y, parts):
    if box.title or box.note:
        folded = box.folded and box.style == "layer"
        parts.append(f'<a href="#{escape(box.path)}">' if folded else "<g>")
        parts.append(
            f'<title>{escape(box.hint)}</title><rect class="{"folded" if folded else box.style}" x="{x:.1f}" '
            f'y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4"/>'
        )
        lines = {"title": box.title, "note": box.note if box.folded else ""}
        for i, name in enumerate(filter(lines.get, lines)):
            at = f'x="{x + 6:.1f}" y="{y + 14 + i * _LINE:.1f}"'
            parts.append(f'<text class="{name}" {at}>{escape(lines[name])}</text>')
        parts.append("</a>" if folded else "</g>")
    if box.folded:
        return
    for a, b, source in box.hops:
        x0, x1 = x + a.x + _joint(a, source, True), x + b.x + _joint(b, source, False)
        y0 = y + {"enter": 0, "bend": a.band[0]}.get(a.style, a.y + a.height)
        y1 = y + {"leave": box.height, "bend": b.band[0]}.get(b.style, b.y)
        low, high = y + a.band[1], y + b.band[0]
        middle = (low + high) / 2
        way = f"V{low:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {high:.1f}V{y1:.1f}"
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}{way}"/>')
        if b.folded and b.height:
            parts.append(f'<path class="arrow" d="M{x1:.1f} {y1:.1f}l-3.5 -7h7z"/>')
    for item in box.inside:
        _draw(item, x + item.x, y + item.y, parts)
