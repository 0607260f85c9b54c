"""Pictures: trees and graphs as text, SVG and LaTeX; SVG that needs no other file."""

from crossarc.drawing.latex import to_latex
from crossarc.drawing.svg import to_svg
from crossarc.drawing.text import to_text

__all__ = ["to_latex", "to_svg", "to_text"]
