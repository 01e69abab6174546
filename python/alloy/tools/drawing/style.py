"""The look of drawings, in any format."""

FONT = 'ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace'
COLOURS = {  # inside, border
    "op": ("#fff", "#8694a3"),
    "variable": ("#fff3d6", "#d9a33b"),
    "placeholder": ("#e1f3e4", "#5fa96c"),
    "layer": ("#f3f6fa", "#9fb3c8"),
    "folded": ("#e3edf8", "#5b8cc0"),
}
TEXT, NOTE, EDGE = "#1b2430", "#5d6b7a", "#76828f"
WIRES = ("#2f74b5", "#c0563f", "#4f8f3f", "#8557a8", "#a87f14", "#22857e")  # edges from column to column
