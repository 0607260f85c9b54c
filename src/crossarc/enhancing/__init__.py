"""From a tree to a graph: enhanced dependencies for any parser."""

from crossarc.enhancing.enhancer import Enhancer

__all__ = ["Enhancer"]
