"""Where the head of an enhanced arc is, seen from its modifier: a path through the tree.

A path is its steps: ``^nsubj vxcomp`` goes from a subject up to its head, and down to an xcomp of that. All arcs of a
treebank's DEPS have few different paths, and those that are frequent say where heads are to be looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from crossarc.enhancing.tree_view import TreeView

__all__ = ["LONGEST", "STEP", "Candidate", "Path", "PathIndex", "path_between"]

STEP = "[v^].+"  # down to a word with this label, or up from one

LONGEST = 4  # steps of a path

Path = tuple[str, ...]


class Candidate(NamedTuple):
    """A word, and a node that may be its head in the graph."""

    modifier: int
    head: int
    path: Path
    nodes: tuple[int, ...]  # of the path, from modifier to head


def path_between(tree: TreeView, modifier: int, head: int) -> Path | None:
    """The path from a word to a node; None if it is too long, or if there is none."""
    above = _ancestors(tree, modifier)
    down: list[str] = []
    while head not in above:
        if len(down) == LONGEST or tree.heads[head] < 0:
            return None
        down.append(f"v{tree.labels[head]}")
        head = tree.heads[head]
    up = [f"^{tree.labels[node]}" for node in above[: above.index(head)]]
    path = (*up, *reversed(down))
    return path if 0 < len(path) <= LONGEST else None


def _ancestors(tree: TreeView, node: int) -> list[int]:
    """A node and those above it that a path can reach."""
    found = [node]
    while len(found) <= LONGEST and tree.heads[found[-1]] >= 0:
        found.append(tree.heads[found[-1]])
    return found


class PathIndex:
    """Some paths, as a prefix tree: all nodes at their ends are found in one walk."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._steps: dict[str, Any] = {}
        for path in paths:
            place = self._steps
            for step in path:
                place = place.setdefault(step, {})
            place[""] = path  # a path ends here

    def candidates(self, tree: TreeView, modifier: int) -> Iterator[Candidate]:
        """The nodes at the ends of paths from a word."""
        return self._walk(tree, (modifier,), self._steps, up=True)

    def _walk(self, tree: TreeView, nodes: tuple[int, ...], place: dict[str, Any], up: bool) -> Iterator[Candidate]:
        here = nodes[-1]
        if "" in place:
            yield Candidate(nodes[0], here, place[""], nodes)
        if up and tree.heads[here] >= 0 and (next_place := place.get(f"^{tree.labels[here]}")):
            yield from self._walk(tree, (*nodes, tree.heads[here]), next_place, up=True)
        if len(place) > ("" in place):
            for child in tree.children[here]:
                if child not in nodes and (next_place := place.get(f"v{tree.labels[child]}")):
                    yield from self._walk(tree, (*nodes, child), next_place, up=False)
