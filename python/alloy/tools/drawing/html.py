"""Draws a page whose places the browser computes, so that layers can be folded and unfolded."""

import json
from html import escape

from alloy.tools.drawing.layout import CHARACTER, GAP, LINE, ROW_GAP, boxes, unfold
from alloy.tools.drawing.style import COLOURS, EDGE, FONT, NOTE, TEXT

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
  const frame = place(item.closest('.layer, body')), joint = item.open && port ? place(find(port)) : box;
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
function fold(open) {
  for (const layer of document.querySelectorAll('details')) layer.open = open;
  draw();
}
draw();"""


_BUTTONS = '<nav><button onclick="fold(false)">fold all</button> <button onclick="fold(true)">unfold all</button></nav>'


def html(ops, title: str = "graph") -> str:
    """Returns the drawing as a page that needs no other file. A click on a layer's name folds or unfolds it."""
    root = boxes(ops)
    unfold(root)
    ids, edges = {}, {}

    def identity(box):
        return ids.setdefault(box, f"b{len(ids)}")

    def port(item, source, enters):
        return identity(item.ports[source, enters]) if (source, enters) in item.ports else None

    def content(box):
        area = f"{identity(box)}-rows"
        edges[area] = [
            (identity(a), identity(b), port(a, source, False), port(b, source, True)) for a, b, source in box.edges
        ]
        rows = "".join(f'<div class="row"{beside(box, row)}>{"".join(map(element, row))}</div>' for row in box.rows)
        ending = " leaving" if box.rows and box.rows[-1][0].style == "leave" else ""
        return f'<div class="rows{ending}" id="{area}"><svg></svg>{rows}</div>'

    def beside(box, row):
        """Puts ports at the upper border to the right of the title, so that no edge crosses it."""
        enters = all(item.style == "enter" for item in row)
        return f' style="margin-left:{CHARACTER * len(box.title) + 20:.0f}px"' if enters else ""

    def element(box):
        text = f"<span>{escape(box.title)}</span><small>{escape(box.note)}</small>" if box.note else ""
        start = f'id="{identity(box)}" class="{box.style}" title="{escape(box.hint)}"'
        if box.style != "layer":
            return f"<div {start}>{text}</div>"
        state = "" if box.folded else " open"
        return f"<details {start}{state}><summary>{text}</summary>{content(box)}</details>"

    style = (
        f"body{{margin:16px;color:{TEXT};background:#fff;font:11px/{LINE}px {FONT}}}"
        f"small{{color:{NOTE}}}.rows{{gap:{ROW_GAP}px}}.row{{gap:{GAP}px}}"
        f"path{{fill:none;stroke:{EDGE}}}.arrow{{fill:{EDGE};stroke:none}}{_PAGE_STYLE}"
    )
    selectors = {"layer": "[open],[open]>summary span", "folded": ".layer:not([open])"}
    for name, (inside, border) in COLOURS.items():
        style += f"{selectors.get(name, f'.{name}')}{{background:{inside};border-color:{border}}}"
    body, buttons = content(root), _BUTTONS if any(root.layers()) else ""
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style>'
        f"<body>{buttons}{body}<script>const edges = {json.dumps(edges)};{_SCRIPT}</script></body></html>\n"
    )
