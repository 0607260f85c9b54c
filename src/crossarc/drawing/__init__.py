"""Pictures: trees and graphs as text, SVG and LaTeX; SVG that needs no other file."""

from crossarc.drawing.svg import to_svg

__all__ = ["to_svg"]
