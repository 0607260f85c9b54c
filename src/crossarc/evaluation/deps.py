"""The column DEPS: heads and labels."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["arcs_of_deps"]


def arcs_of_deps(deps: str) -> Iterator[tuple[str, str]]:
    """Heads and labels in the DEPS column of a word.

    >>> list(arcs_of_deps("2:nsubj|4:nsubj:xsubj"))
    [('2', 'nsubj'), ('4', 'nsubj:xsubj')]
    """
    if deps != "_":
        for item in deps.split("|"):
            head, _, label = item.partition(":")  # labels may hold colons too
            yield head, label
