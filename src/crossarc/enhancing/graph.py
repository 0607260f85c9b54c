"""Arcs of a graph over the words of a tree: connected, and as the column DEPS."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from crossarc.enhancing.tree_view import TreeView

__all__ = ["connected", "to_deps"]

Arc = tuple[int, int, str]  # head, modifier, label


def connected(arcs: Collection[Arc], tree: TreeView) -> set[Arc]:
    """The arcs, with those of the tree to words that cannot be reached from the root without them."""
    found = set(arcs)
    modifiers: defaultdict[int, set[int]] = defaultdict(set)
    for head, modifier, _ in arcs:
        modifiers[head].add(modifier)
    reached = _reached(0, modifiers, set())
    for word in _from_root(tree):
        if word not in reached:
            found.add((tree.heads[word], word, tree.labels[word]))
            _reached(word, modifiers, reached)
    return found


def _reached(start: int, modifiers: defaultdict[int, set[int]], reached: set[int]) -> set[int]:
    """What can be reached from a node, added to what has been reached."""
    reached.add(start)
    waiting = [start]
    while waiting:
        new = modifiers[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _from_root(tree: TreeView) -> list[int]:
    """The words that the tree connects with the root, heads before modifiers."""
    found = list(tree.children[0])
    for word in found:
        found += tree.children[word]
    return found


def to_deps(arcs: Collection[Arc], words: int) -> list[str]:
    """DEPS of each word, in the order that CoNLL-U demands; ``_`` for none.

    >>> to_deps({(2, 1, "nsubj"), (0, 2, "root"), (12, 1, "nsubj"), (2, 1, "dep")}, 2)
    ['2:dep|2:nsubj|12:nsubj', '0:root']
    """
    items: list[list[str]] = [[] for _ in range(words + 1)]
    for head, modifier, label in sorted(arcs):
        items[modifier].append(f"{head}:{label}")
    return ["|".join(own) or "_" for own in items[1:]]
