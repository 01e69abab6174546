"""Drawings of a graph (the ops of Graph.inspect): each layer a box around its ops, operands above the ops that use
them."""

from alloy.tools.drawing.html import html
from alloy.tools.drawing.svg import svg

__all__ = ["html", "svg"]
