"""What trees may look like, as values: a kernel that is given one is compiled for that kind of tree alone."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NonProjective", "Projective", "TreeShape", "tree_shape"]


class NonProjective(NamedTuple):
    """Arcs may cross."""

    single_root: bool = False  # whether exactly one word hangs from the root

    @property
    def projective(self) -> bool:
        return False


class Projective(NamedTuple):
    """No arcs cross."""

    single_root: bool = False

    @property
    def projective(self) -> bool:
        return True


TreeShape = NonProjective | Projective


def tree_shape(*, single_root: bool, projective: bool) -> TreeShape:
    """The shape with these flags."""
    return Projective(single_root) if projective else NonProjective(single_root)
