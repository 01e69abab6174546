"""Drawings of a graph (the ops of Graph.inspect): each layer a box around its ops, operands above the ops that use
them.

The content of a box is laid out by itself (Sugiyama, Tagawa and Toda, 1981): rows by the longest path, the order in a
row by the neighbours' mean position; an edge crosses a border at a port. svg gives every box its place; in the page of
html the browser does, so that layers can be folded and unfolded."""

import json
import math
from collections import defaultdict
from html import escape
from itertools import chain, pairwise

from alloy.messages.text import amount, shape_text

__all__ = ["html", "svg"]

_FONT = 'ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace'
_COLOURS = {  # inside, border
    "op": ("#fff", "#8694a3"),
    "variable": ("#fff3d6", "#d9a33b"),
    "placeholder": ("#e1f3e4", "#5fa96c"),
    "layer": ("#f3f6fa", "#9fb3c8"),
    "folded": ("#e3edf8", "#5b8cc0"),
}
_TEXT, _NOTE, _EDGE = "#1b2430", "#5d6b7a", "#76828f"
_WIRES = ("#2f74b5", "#c0563f", "#4f8f3f", "#8557a8", "#a87f14", "#22857e")  # edges from column to column
_LINE, _CHARACTER = 15, 6.7  # the height of a line and the width of a character, at 11 pixels
_GAP, _ROW_GAP = 16, 22  # between boxes, and between rows
_LANE = 5  # between edges from column to column
_PADDING, _GUTTER = 12, 60


class _Box:
    """The graph, a layer, an op, a port in the border of a layer, or a bend of an edge that passes a row."""

    def __init__(self, style, parent=None, title="", note="", hint="", op=None):
        self.style, self.title, self.note, self.hint, self.op = style, title, note, hint, op
        self.around = [*parent.around, parent] if parent else []  # the outermost first
        self.inside, self.rows = [], []
        self.edges = {}  # keys: (from, to, the box whose result it is), of boxes in this one
        self.ports = {}  # by (the box whose result passes, True if it enters)
        self.lanes = []  # the boxes whose results enter its column from other columns: one lane in the gap for each
        self.folded = style not in ("graph", "layer")
        self.x = self.y = self.width = self.height = 0.0
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
    for box in layers.values():
        _arrange(box)
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
    parameters = sum(math.prod(variable.shape) for variable in variables if variable.trainable)
    last = ([source for source, enters in layer.ports if not enters] or inner)[-1]
    layer.note = f"{parameters:,} parameters → {last.note}" if parameters else f"→ {last.note}"
    cost = sum(box.op.flops or 0 for box in inner)
    layer.hint = f"{'/'.join(part.title for part in [*layer.around[1:], layer])}, {amount(cost)} flops"


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


# ---- rows ----


def _arrange(box):
    """Fills the rows, and cuts the edges into hops from one row to the next."""
    before, after, near = defaultdict(list), defaultdict(list), defaultdict(list)
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
    box.edges = hops
    box.rows = [[item for item in rank if rank[item] == row] for row in sorted({*rank.values()})]
    for a, b, _ in hops:
        near[a].append(b)
        near[b].append(a)
    place = {item: i - len(row) / 2 for row in box.rows for i, item in enumerate(row)}
    for sweep in range(4):
        for row in box.rows[::-1] if sweep % 2 else box.rows:
            row.sort(key=lambda item: _mean([place[other] for other in near[item]]))
            place |= {item: i - len(row) / 2 for i, item in enumerate(row)}


def _mean(numbers):
    return sum(numbers) / len(numbers) if numbers else 0


# ---- places ----


def _measure(box):
    """Gives the box its width and height, and every box in it its place there."""
    text = _CHARACTER * max(len(box.title), len(box.note)) + _PADDING
    if box.folded:
        lines = bool(box.title) + bool(box.note)
        box.width, box.height = (text, _LINE * lines + 8) if lines else (8, 0)
        return
    for item in chain(*box.rows):
        _measure(item)
    columns = _columns(box)
    for rows in columns:
        lanes = []
        for item in chain(*rows):
            item.lanes = lanes
    for a, b, source in box.edges:
        if a.lanes is not b.lanes and source not in b.lanes:
            b.lanes.append(source)
    room = max([2 * _PADDING, *(12 + _LANE * len(rows[0][0].lanes) for rows in columns)])
    gutter = _GUTTER + room - 2 * _PADDING
    left, box.height = _PADDING, 0
    for rows in columns:
        y = _PADDING if {item.style for item in rows[0]} == {"enter"} else room
        width = _spread(rows, box)
        for row in rows:
            height = max(item.height for item in row)
            for item in row:
                item.x, item.y = item.x + left, y + (height - item.height) / 2
                item.gutter, item.band = left - gutter + 12, (y, y + height)
            y += height + _ROW_GAP
        margin = 0 if rows[-1][0].style == "leave" else _PADDING if box.around else room
        box.height = max(box.height, y - _ROW_GAP + margin)
        left += width + gutter
    box.width = max(left - gutter + _PADDING, text)


def _columns(box):
    """Returns the rows in columns side by side: for the whole drawing as many as make it wider than high."""
    if box.around or len(box.rows) < 2:
        return [box.rows] if box.rows else []
    heights = [max(item.height for item in row) + _ROW_GAP for row in box.rows]
    widest = max(sum(item.width + _GAP for item in row) for row in box.rows) + _GUTTER
    wanted = max(1, round(math.sqrt(1.4 * sum(heights) / widest)))
    limit = sum(heights) / wanted
    while True:
        columns, filled = [], []
        for row, height in zip(box.rows, heights):
            if not filled or filled[-1] + height > limit:
                columns.append([])
                filled.append(0)
            columns[-1].append(row)
            filled[-1] += height
        if len(columns) <= wanted:
            return columns if max(filled) < 0.75 * sum(heights) else [box.rows]  # a split must save much
        limit *= 1.02


def _spread(rows, box):
    """Gives x to the items of the rows, so that edges are as upright as they can be; returns the width of all."""
    wishes = {item: [] for item in chain(*rows)}  # for each edge: whom to follow, and how far
    for a, b, source in box.edges:
        if a in wishes and b in wishes:
            shift = _joint(a, source, True) - _joint(b, source, False)
            wishes[a].append((b, -shift))
            wishes[b].append((a, shift))
    for row in rows:
        x = -sum(item.width + _GAP for item in row) / 2
        for item in row:
            item.x = x
            x += item.width + _GAP
    for sweep in range(8):
        for row in rows if sweep % 2 else rows[::-1]:
            wanted = [_mean([other.x + shift for other, shift in wishes[item]] or [item.x]) for item in row]
            low, high = wanted[:], wanted[:]
            for i in range(1, len(row)):
                low[i] = max(low[i], low[i - 1] + row[i - 1].width + _GAP)
            for i in reversed(range(len(row) - 1)):
                high[i] = min(high[i], high[i + 1] - row[i].width - _GAP)
            for item, a, b in zip(row, low, high):
                item.x = (a + b) / 2
    # An edge that enters must not cross the title.
    left = min(item.x - (_CHARACTER * len(box.title) if item.style == "enter" else 0) for item in wishes)
    for item in wishes:
        item.x -= left
    return max(item.x + item.width for item in wishes)


def _joint(item, source, leaves):
    """Returns the distance from the item's left side to the meeting edge."""
    if item.folded:
        return item.width / 2
    port = item.ports[source, not leaves]
    return port.x + port.width / 2


# ---- an image ----


def svg(ops, title: str = "graph") -> str:
    """Returns the drawing of the ops as an SVG document. If there are many, the innermost layers are folded."""
    root = _boxes(ops)
    _measure(root)
    style = (
        f"text{{font:11px {_FONT};fill:{_TEXT}}}.note{{fill:{_NOTE}}}"
        f"path{{fill:none;stroke:{_EDGE}}}.arrow{{fill:{_EDGE};stroke:none}}"
    )
    for name, (inside, border) in _COLOURS.items():
        style += f".{name}{{fill:{inside};stroke:{border}}}"
    parts = []
    _draw(root, 0, 0, parts)
    width, height = f"{root.width:.0f}", f"{root.height:.0f}"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%;height:auto"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><title>{escape(title)}</title><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _draw(box, x, y, parts):
    if box.title or box.note:
        style = "folded" if box.folded and box.style == "layer" else box.style
        parts.append(
            f'<g><title>{escape(box.hint)}</title><rect class="{style}" x="{x:.1f}" y="{y:.1f}" '
            f'width="{box.width:.1f}" height="{box.height:.1f}" rx="4"/>'
        )
        lines = {"title": box.title, "note": box.note if box.folded else ""}
        for i, name in enumerate(filter(lines.get, lines)):
            at = f'x="{x + 6:.1f}" y="{y + 14 + i * _LINE:.1f}"'
            parts.append(f'<text class="{name}" {at}>{escape(lines[name])}</text>')
        parts.append("</g>")
    if box.folded:
        return
    # The boxes whose results go from column to column.
    far = list(dict.fromkeys(source for a, b, source in box.edges if a.lanes is not b.lanes))
    for a, b, source in box.edges:
        x0, x1 = x + a.x + _joint(a, source, True), x + b.x + _joint(b, source, False)
        y0 = y + {"enter": 0, "bend": a.band[0]}.get(a.style, a.y + a.height)
        y1 = y + {"leave": box.height, "bend": b.band[0]}.get(b.style, b.y)
        low, high = y + a.band[1], y + b.band[0]
        middle = (low + high) / 2
        if a.lanes is not b.lanes:
            lane = 8 + _LANE * b.lanes.index(source)
            way = f"v{lane}H{x + b.gutter + lane:.1f}V{high - lane:.1f}H{x1:.1f}"
        else:
            way = f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {high:.1f}"
        colour = f' style="stroke:{_WIRES[far.index(source) % len(_WIRES)]};stroke-width:1.5"' if source in far else ""
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}V{low:.1f}{way}V{y1:.1f}"{colour}/>')
        if b.folded and b.height:
            parts.append(f'<path class="arrow" d="M{x1:.1f} {y1:.1f}l-3.5 -7h7z"/>')
    for item in box.inside:
        _draw(item, x + item.x, y + item.y, parts)


# ---- a page ----

_PAGE_STYLE = """
.rows{position:relative;display:flex;flex-direction:column;align-items:center;padding:4px 12px 12px}
.leaving{padding-bottom:0}
.row{display:flex;align-items:center;justify-content:center}.row,svg{pointer-events:none}
.row>*{pointer-events:auto;position:relative}.enter,.leave,.bend{width:8px}.bend{align-self:stretch}
.op,.variable,.placeholder,.layer{border:1px solid;border-radius:4px;white-space:nowrap}
.op,.variable,.placeholder,summary{padding:3px 6px}summary{cursor:pointer}small{display:block;font-size:11px}
[open]>summary small{display:none}[open]>summary span{position:relative;z-index:1}
svg{position:absolute;left:0;top:0;width:100%;height:100%;overflow:visible}
nav{position:fixed;right:16px;top:12px;z-index:2}button{font:inherit;color:inherit}"""

# Draws the edges in every unfolded box, between where the boxes, or the ports in their borders, are now.
_SCRIPT = """
const find = id => document.getElementById(id), place = item => item.getBoundingClientRect();
function end(id, port, leaves, origin) {
  const item = find(id), box = place(item), row = place(item.parentElement);
  const frame = place(item.closest('.layer, body')), joint = item.open ? place(find(port)) : box;
  const passes = {enter: frame.top, leave: frame.bottom, bend: row.top}[item.className];
  const y = passes ?? (leaves ? box.bottom : box.top), band = leaves ? row.bottom : row.top;
  return {x: joint.left + joint.width / 2 - origin.left, y: y - origin.top, band: band - origin.top,
          pointed: passes === undefined && !item.open};
}
function draw() {
  for (const [id, list] of Object.entries(edges)) {
    if (!find(id).offsetParent) continue;
    const origin = place(find(id));
    find(id).firstElementChild.innerHTML = list.map(([from, to, out, into]) => {
      const a = end(from, out, true, origin), b = end(to, into, false, origin), y = (a.band + b.band) / 2;
      return `<path d="M${a.x} ${a.y}V${a.band}C${a.x} ${y} ${b.x} ${y} ${b.x} ${b.band}V${b.y}"/>` +
        (b.pointed ? `<path class="arrow" d="M${b.x} ${b.y}l-3.5 -7h7z"/>` : '');
    }).join('');
  }
}
document.addEventListener('toggle', draw, true);
addEventListener('resize', draw);
function fold(open) { for (const layer of document.querySelectorAll('details')) layer.open = open; }
draw();"""


_BUTTONS = '<nav><button onclick="fold(false)">fold all</button> <button onclick="fold(true)">unfold all</button></nav>'


def html(ops, title: str = "graph") -> str:
    """Returns the drawing as a page that needs no other file. A click on a layer's name folds or unfolds it."""
    root = _boxes(ops)
    ids, edges = {}, {}

    def identity(box):
        return ids.setdefault(box, f"b{len(ids)}")

    def content(box):
        area, rows, ending = f"{identity(box)}-rows", "", ""
        edges[area] = [
            [*map(identity, (a, b, a.ports.get((source, False), a), b.ports.get((source, True), b)))]
            for a, b, source in box.edges
        ]
        for row in box.rows:
            # Ports at the upper border stand to the right of the title, so that no edge crosses it.
            left = _CHARACTER * len(box.title) + 20 if all(item.style == "enter" for item in row) else 0
            rows += f'<div class="row" style="margin-left:{left:.0f}px">{"".join(map(element, row))}</div>'
            ending = " leaving" if row[0].style == "leave" else ""
        return f'<div class="rows{ending}" id="{area}"><svg></svg>{rows}</div>'

    def element(box):
        text = f"<span>{escape(box.title)}</span><small>{escape(box.note)}</small>" if box.note else ""
        start = f'id="{identity(box)}" class="{box.style}" title="{escape(box.hint)}"'
        if box.style != "layer":
            return f"<div {start}>{text}</div>"
        state = "" if box.folded else " open"
        return f"<details {start}{state}><summary>{text}</summary>{content(box)}</details>"

    style = (
        f"body{{margin:16px;color:{_TEXT};background:#fff;font:11px/{_LINE}px {_FONT}}}"
        f"small{{color:{_NOTE}}}.rows{{gap:{_ROW_GAP}px}}.row{{gap:{_GAP}px}}"
        f"path{{fill:none;stroke:{_EDGE}}}.arrow{{fill:{_EDGE};stroke:none}}{_PAGE_STYLE}"
    )
    selectors = {"layer": "[open],[open]>summary span", "folded": ".layer:not([open])"}
    for name, (inside, border) in _COLOURS.items():
        style += f"{selectors.get(name, f'.{name}')}{{background:{inside};border-color:{border}}}"
    body, buttons = content(root), _BUTTONS if any(root.layers()) else ""
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style>'
        f"<body>{buttons}{body}<script>const edges = {json.dumps(edges)};{_SCRIPT}</script></body></html>\n"
    )
