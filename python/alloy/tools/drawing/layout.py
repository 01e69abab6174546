"""Lays out a drawing: the ops of a graph (Graph.inspect) as boxes in boxes, a layer around its ops, operands above the
ops that use them.

The content of a box is laid out by itself (Sugiyama, Tagawa and Toda, 1981): rows by the longest path, the order in a
row by the neighbours' mean position; an edge crosses a border at a port. measure() gives every box its place, for a
drawing whose layout is final."""

import math

from alloy.graph.text import amount, shape_text

LINE = 15  # the height of a line of style.FONT at 11 pixels
GAP, ROW_GAP = 16, 22  # between boxes, and between rows
LANE = 5  # between edges from column to column
CHARACTER = 6.7  # the width of a character
_PADDING, _GUTTER, _MANY = 12, 60, 80
_COMMAND = "alloy/tools/"  # marks places that are not the user's


class Box:
    """A layer, an op, a port on a layer's border, or a bend of an edge that crosses a row."""

    def __init__(self, style: str, title: str = "", note: str = "", hint: str = "", op=None):
        self.style, self.title, self.note, self.hint, self.op = style, title, note, hint, op
        self.around: list[Box] = []  # the boxes around it, the outermost first
        self.inside: list[Box] = []
        self.edges: dict[tuple, None] = {}  # (from, to, the op whose result it is), of boxes in this one
        self.ports: dict[tuple, Box] = {}  # by (op whose result passes, True if it enters)
        self.rows: list[list[Box]] = []
        self.lanes: dict[tuple, int] = {}  # by (from, to, op) of edges from column to column: side by side in the gap
        self.folded = True
        self.x = self.y = self.width = self.height = 0.0

    def add(self, box: "Box") -> "Box":
        box.around = [*self.around, self]
        self.inside.append(box)
        return box

    def port(self, source: "Box", enters: bool) -> "Box":
        if (source, enters) not in self.ports:
            self.ports[source, enters] = self.add(Box("enter" if enters else "leave"))
        return self.ports[source, enters]

    def layers(self):
        """Gives the layers in it, at any depth."""
        for box in self.inside:
            if box.style == "layer":
                yield from (box, *box.layers())


# ---- boxes ----


def boxes(ops) -> Box:
    """Returns the outermost box. Constants are left out."""
    root, of_tensor = Box("graph"), {}
    layers = {(): root}

    def layer(path):
        if path not in layers:
            layers[path] = layer(path[:-1]).add(Box("layer", path[-1]))
        return layers[path]

    for op in ops:
        if op.kind == "constant":
            continue
        *path, name = op.name.split("/")
        is_state = op.kind in ("placeholder", "variable")
        box = layer(tuple(path)).add(
            Box(
                op.kind if is_state else "op",
                name if is_state else op.kind,
                " ".join(map(shape_text, op.shapes)),
                _hint(op),
                op,
            )
        )
        for operand in dict.fromkeys(op.operands):
            if operand in of_tensor:
                _connect(of_tensor[operand], box)
        of_tensor |= dict.fromkeys(op.results, box)
    for box in layers.values():
        _arrange(box)
    for box in root.layers():
        _summarise(box)
    return root


def _hint(op):
    """Returns the op's name, its cost, and the user's line that made it."""
    cost = f"{amount(op.flops)} flops" if op.flops else ""
    place = "" if _COMMAND in op.location else op.location
    return ", ".join(filter(None, [f"{op.kind} {op.name}".strip(), cost, place]))


def _connect(source, target):
    """Adds an edge in each box around the source alone, in the innermost box around both, and in each box around the
    target alone."""
    up, down = [*source.around, source], [*target.around, target]
    common = next(i for i, (a, b) in enumerate(zip(up, down)) if a is not b)
    last, first = source, target
    for box in reversed(up[common:-1]):
        box.edges[last, box.port(source, False), source] = None
        last = box
    for box in reversed(down[common:-1]):
        box.edges[box.port(source, True), first, source] = None
        first = box
    up[common - 1].edges[last, first, source] = None


def _summarise(layer):
    """Notes on a folded layer its parameters and the shape of its last result."""
    inner = [box for part in (layer, *layer.layers()) for box in part.inside if box.op]
    variables = [box.op.results[0] for box in inner if box.op.kind == "variable"]
    parameters = sum(math.prod(variable.shape) for variable in variables if variable.trainable)
    last = ([source for source, enters in layer.ports if not enters] or inner)[-1]
    layer.note = f"{parameters:,} parameters → {last.note}" if parameters else f"→ {last.note}"
    cost = sum(box.op.flops or 0 for box in inner)
    layer.hint = f"{'/'.join(part.title for part in [*layer.around[1:], layer])}, {amount(cost)} flops"


def unfold(root):
    """Unfolds the layers. If there are many ops, the innermost layers stay folded; if these are still many, the layers
    around them, and so on."""
    layers = list(root.layers())
    for box in (root, *layers):
        box.folded = False
    many = _MANY
    while _shown(root) > many and not all(box.folded for box in layers):
        many = 1.5 * _MANY  # layers are easier to see through than ops
        for box in [box for box in layers if all(inner.folded for inner in box.layers())]:
            box.folded = True


def _shown(box):
    """Counts the visible ops and folded layers in it."""
    if box.folded or box.style != "layer" and box.op is not None:
        return int(box.op is not None or box.style == "layer")
    return sum(map(_shown, box.inside))


# ---- rows ----


def _arrange(box):
    """Puts the boxes into rows, and cuts each edge into hops from row to row."""
    before = {item: [] for item in box.inside}
    after = {item: [] for item in box.inside}
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
        at = a
        for row in range(rank[a] + 1, rank[b]):
            bend = bends.setdefault((a, source, row), Box("bend"))
            rank[bend] = row
            hops[at, bend, source] = None
            at = bend
        hops[at, b, source] = None
    box.edges = hops
    rows = [[item for item in rank if rank[item] == row] for row in range(last + 1)]
    box.rows = [row for row in rows if row]
    near = {item: [] for row in box.rows for item in row}
    for a, b, _ in box.edges:
        near[a].append(b)
        near[b].append(a)
    for sweep in range(4):
        place = {item: i - len(row) / 2 for row in box.rows for i, item in enumerate(row)}
        for row in box.rows if sweep % 2 == 0 else box.rows[::-1]:
            row.sort(key=lambda item: _mean([place[other] for other in near[item]]))
            place |= {item: i - len(row) / 2 for i, item in enumerate(row)}


def _mean(numbers):
    return sum(numbers) / len(numbers) if numbers else 0


# ---- places ----


def measure(box):
    """Gives the box its width and height, and every box in it its place there."""
    text = CHARACTER * max(len(box.title), len(box.note)) + _PADDING
    if box.folded:
        lines = bool(box.title) + bool(box.note)
        box.width, box.height = (text, LINE * lines + 8) if lines else (8, 0)
        return
    for row in box.rows:
        for item in row:
            measure(item)
    columns = _columns(box)
    room = max(2 * _PADDING, 12 + LANE * _assign_lanes(box, columns))
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
            y += height + ROW_GAP
        margin = 0 if rows[-1][0].style == "leave" else _PADDING if box.around else room
        box.height = max(box.height, y - ROW_GAP + margin)
        left += width + gutter
    box.width = max(left - gutter + _PADDING, text)


def _assign_lanes(box, columns):
    """Assigns a lane to each source of edges from column to column; returns the number of lanes of the widest gap."""
    column = {item: i for i, rows in enumerate(columns) for row in rows for item in row}
    sources = [[] for _ in columns]
    for a, b, source in box.edges:
        if column[a] != column[b] and source not in sources[column[b]]:
            sources[column[b]].append(source)
    box.lanes = {
        (a, b, source): sources[column[b]].index(source) for a, b, source in box.edges if column[a] != column[b]
    }
    return max(map(len, sources), default=0)


def _columns(box):
    """Returns the rows in columns side by side: for the whole drawing as many as make it wider than high."""
    if box.around or len(box.rows) < 2:
        return [box.rows] if box.rows else []
    heights = [max(item.height for item in row) + ROW_GAP for row in box.rows]
    widest = max(sum(item.width + GAP for item in row) for row in box.rows) + _GUTTER
    wanted = max(1, round(math.sqrt(1.4 * sum(heights) / widest)))
    limit = sum(heights) / wanted
    while True:
        columns, left = [], 0
        for row, height in zip(box.rows, heights):
            if height > left:
                columns.append([])
                left = limit
            columns[-1].append(row)
            left -= height
        if len(columns) <= wanted:
            highest = max(sum(max(item.height for item in row) + ROW_GAP for row in rows) for rows in columns)
            return columns if highest < 0.75 * sum(heights) else [box.rows]  # one alone, where a split saves little
        limit *= 1.02


def _spread(rows, box):
    """Gives x to the items of the rows, so that edges are as upright as they can be; returns the width of all."""
    wishes = {item: [] for row in rows for item in row}  # for each edge: whom to follow, and how far
    for a, b, source in box.edges:
        if a in wishes and b in wishes:
            shift = joint(a, source, True) - joint(b, source, False)
            wishes[a].append((b, -shift))
            wishes[b].append((a, shift))
    for row in rows:
        x = -sum(item.width + GAP for item in row) / 2
        for item in row:
            item.x = x
            x += item.width + GAP
    for sweep in range(8):
        for row in rows if sweep % 2 else rows[::-1]:
            wanted = [_mean([other.x + shift for other, shift in wishes[item]] or [item.x]) for item in row]
            low, high = wanted[:], wanted[:]
            for i in range(1, len(row)):
                low[i] = max(low[i], low[i - 1] + row[i - 1].width + GAP)
            for i in reversed(range(len(row) - 1)):
                high[i] = min(high[i], high[i + 1] - row[i].width - GAP)
            for item, a, b in zip(row, low, high):
                item.x = (a + b) / 2
    # An edge that enters must not cross the title.
    left = min(item.x - (CHARACTER * len(box.title) if item.style == "enter" else 0) for item in wishes)
    for item in wishes:
        item.x -= left
    return max(item.x + item.width for item in wishes)


def joint(item, source, leaves):
    """Returns the distance from the item's left side to the meeting edge."""
    if item.folded:
        return item.width / 2
    port = item.ports[source, not leaves]
    return port.x + port.width / 2
