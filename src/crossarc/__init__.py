"""Crossarc: dependency parsing where arcs may cross."""

__version__ = "0.1.0.dev0"
