"""The shape of a dependency tree: is it one, is it projective, and how far from projective is it?

Every function takes ``heads``, a sequence of n+1 integers: ``heads[m]`` is the head of word m,
``heads[0]`` is -1. A head out of range raises ``ValueError`` that names the position. So does a cycle,
except in ``is_tree``.

References
----------
Joakim Nivre (2007), *Incremental Non-Projective Dependency Parsing*. NAACL-HLT.
Marco Kuhlmann and Joakim Nivre (2006), *Mildly Non-Projective Dependency Structures*. COLING-ACL.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.trees import _shape
from crossarc.trees._input import INTEGER, for_kernel

__all__ = [
    "arc_degrees",
    "crossing_arcs",
    "degree",
    "gap_degree",
    "is_projective",
    "is_tree",
    "is_well_nested",
    "nonprojective_arcs",
]


def is_tree(heads: ArrayLike) -> bool:
    """Whether every word reaches node 0, that is, there is no cycle. O(n).

    >>> is_tree([-1, 2, 0, 2]), is_tree([-1, 2, 1, 0])
    (True, False)
    """
    return _well_formed(heads)[1]


def is_projective(heads: ArrayLike) -> bool:
    """Whether every word inside an arc descends from the arc's head.

    This is the same as: no two arcs cross, node 0 being to the left of all words. Takes time in the sum of
    the lengths of the arcs, at most O(n²).

    >>> is_projective([-1, 2, 0, 2]), is_projective([-1, 3, 0, 2])
    (True, False)
    """
    return bool(_shape.is_projective(checked_tree(heads)))


def nonprojective_arcs(heads: ArrayLike) -> NDArray[np.bool_]:
    """Which arcs are non-projective: some word between head and modifier does not descend from the head.

    Returns
    -------
    bool array of length n+1
        Entry m is about the arc into m; entry 0 is False. At most O(n²).

    >>> nonprojective_arcs([-1, 3, 0, 2]).tolist()
    [False, True, False, False]
    """
    checked = checked_tree(heads)
    result = np.empty(len(checked), dtype=np.bool_)
    _shape.nonprojective_arcs(checked, result)
    return result


def arc_degrees(heads: ArrayLike) -> NDArray[np.int64]:
    """The degree of non-projectivity of each arc (Nivre 2007, Definition 3).

    The degree of the arc h → m is the number of connected components of the graph strictly between h and m
    that are not dominated by h in the graph from h to m. A word that descends from h only by a path that
    leaves that stretch is not dominated in it, so a projective arc may have a degree above 0 (another arc
    crosses it); but the largest degree of a tree is 0 if and only if the tree is projective.

    Returns
    -------
    integer array of length n+1
        Entry m is the degree of the arc into m; entry 0 is 0. At most O(n²).

    Examples
    --------
    The Czech sentence of Nivre's Figure 1; the arc from 5 to 1 is non-projective, and crosses the root's:

    >>> arc_degrees([-1, 5, 1, 0, 5, 3, 3, 6, 0]).tolist()
    [0, 1, 0, 1, 0, 0, 0, 0, 0]
    """
    checked = checked_tree(heads)
    degrees = np.empty(len(checked), dtype=np.int64)
    _shape.arc_degrees(checked, degrees)
    return degrees


def degree(heads: ArrayLike) -> int:
    """The largest degree of any arc (Nivre 2007, Definition 3), 0 for a projective tree. At most O(n²).

    >>> degree([-1, 5, 1, 0, 5, 3, 3, 6, 0])
    1
    """
    checked = checked_tree(heads)
    return int(_shape.arc_degrees(checked, np.empty(len(checked), dtype=np.int64)))


def gap_degree(heads: ArrayLike) -> int:
    """The most gaps in the projection of any node (Kuhlmann and Nivre 2006), 0 for a projective tree.

    The projection of a node is the node with all its descendants. Takes O(n · depth), at most O(n²).

    >>> gap_degree([-1, 3, 0, 2, 2]), gap_degree([-1, 5, 0, 5, 2, 2])
    (1, 2)
    """
    return int(_shape.gap_degree(checked_tree(heads)))


def is_well_nested(heads: ArrayLike) -> bool:
    """Whether no two disjoint subtrees interleave (Kuhlmann and Nivre 2006). O(n · depth), at most O(n²).

    Subtrees interleave if one has words l1 and r1, the other l2 and r2, with l1 < l2 < r1 < r2.

    >>> is_well_nested([-1, 3, 0, 2]), is_well_nested([-1, 0, 0, 1, 2])
    (True, False)
    """
    return bool(_shape.is_well_nested(checked_tree(heads)))


def crossing_arcs(heads: ArrayLike) -> NDArray[np.int64]:
    """All pairs of arcs that cross, each arc named by its modifier.

    Returns
    -------
    integer array of shape (k, 2)
        Rows (m1, m2) with m1 < m2, in lexicographic order. O(n²).

    >>> crossing_arcs([-1, 3, 0, 2]).tolist()
    [[1, 2]]
    """
    return _shape.crossing_arcs(checked_tree(heads))  # type: ignore[no-any-return]


def checked_tree(heads: ArrayLike) -> NDArray[np.int64]:
    """The heads as the kernels want them; raises ``ValueError`` if they are no tree."""
    checked, acyclic = _well_formed(heads)
    if not acyclic:
        raise ValueError("heads have a cycle")
    return checked


def _well_formed(heads: ArrayLike) -> tuple[NDArray[np.int64], bool]:
    """The heads as the kernels want them, and whether they are a tree."""
    array = np.asarray(heads)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"heads must have shape (n+1,), not {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"heads must be integers, not {array.dtype}")
    array = for_kernel(array, INTEGER)
    problem = _shape.first_problem(array)
    if problem == 0:
        raise ValueError(f"heads[0] is {array[0]}, not -1")
    if problem > 0:
        raise ValueError(f"heads[{problem}] is {array[problem]}, which is not in 0..{len(array) - 1}")
    return array, bool(problem == _shape.TREE)
