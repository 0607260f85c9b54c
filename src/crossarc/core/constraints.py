"""What a tree must look like, as plain data that every decoder understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Constraints"]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Conditions on a tree. A decoder that cannot honour one raises ``UnsupportedConstraint``.

    Attributes
    ----------
    required_arcs, forbidden_arcs : sets of (head, modifier)
    required_labels : modifier -> label
        The arc into this word has this label.
    forbidden_labels : set of (modifier, label)
        The arc into this word does not have this label.
    max_children : head -> number
        The head has at most this many children (0 is the root).
    projective, single_root : bool
        No arcs cross; the root has exactly one child.
    max_degree : int or None
        The largest degree of non-projectivity (Nivre 2007, Definition 3) of any arc.
    """

    required_arcs: frozenset[tuple[int, int]] = frozenset()
    forbidden_arcs: frozenset[tuple[int, int]] = frozenset()
    required_labels: Mapping[int, int] = field(default_factory=dict)
    forbidden_labels: frozenset[tuple[int, int]] = frozenset()
    max_children: Mapping[int, int] = field(default_factory=dict)
    projective: bool = False
    single_root: bool = False
    max_degree: int | None = None
