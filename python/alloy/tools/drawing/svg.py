"""Draws an SVG document, with a place for every box."""

from html import escape

from alloy.tools.drawing.layout import LANE, LINE, boxes, joint, measure, unfold
from alloy.tools.drawing.style import COLOURS, EDGE, FONT, NOTE, TEXT, WIRES


def svg(ops, title: str = "graph") -> str:
    """Returns the drawing of the ops as an SVG document. If there are many, the innermost layers are folded."""
    root = boxes(ops)
    unfold(root)
    measure(root)
    style = (
        f"text{{font:11px {FONT};fill:{TEXT}}}.note{{fill:{NOTE}}}"
        f"path{{fill:none;stroke:{EDGE}}}.arrow{{fill:{EDGE};stroke:none}}"
    )
    for name, (inside, border) in COLOURS.items():
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
        lines = [(box.title, "title")] + ([(box.note, "note")] if box.folded else [])
        for i, (text, of) in enumerate(line for line in lines if line[0]):
            at = f'x="{x + 6:.1f}" y="{y + 14 + i * LINE:.1f}"'
            parts.append(f'<text class="{of}" {at}>{escape(text)}</text>')
        parts.append("</g>")
    if box.folded:
        return
    far = list(dict.fromkeys(source for _, _, source in box.lanes))  # sources of edges from column to column
    for hop in box.edges:
        a, b, source = hop
        x0, x1 = x + a.x + joint(a, source, True), x + b.x + joint(b, source, False)
        y0 = y + {"enter": 0, "bend": a.band[0]}.get(a.style, a.y + a.height)
        y1 = y + {"leave": box.height, "bend": b.band[0]}.get(b.style, b.y)
        low, high = y + a.band[1], y + b.band[0]
        middle = (low + high) / 2
        if hop in box.lanes:
            lane = 8 + LANE * box.lanes[hop]
            way = f"v{lane}H{x + b.gutter + lane:.1f}V{high - lane:.1f}H{x1:.1f}"
        else:
            way = f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {high:.1f}"
        colour = f' style="stroke:{WIRES[far.index(source) % len(WIRES)]};stroke-width:1.5"' if source in far else ""
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}V{low:.1f}{way}V{y1:.1f}"{colour}/>')
        if b.folded and b.height:
            parts.append(f'<path class="arrow" d="M{x1:.1f} {y1:.1f}l-3.5 -7h7z"/>')
    for item in box.inside:
        _draw(item, x + item.x, y + item.y, parts)
