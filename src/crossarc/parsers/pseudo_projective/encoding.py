"""Crossing arcs in the labels of projective trees, and back (Nivre & Nilsson 2005, §2).

An arc that is not projective is lifted: its word goes to the head of its head, until nothing is in the way. Labels say
what happened, so that the arc can be found again:

=============  =====================  ==================  ==============================================================
encoding       lifted arc             arcs on its path    the old head is, below the new one ...
=============  =====================  ==================  ==============================================================
``head``       ``obj↑xcomp``          as they were        the nearest word with the label ``xcomp``
``head+path``  ``obj↑xcomp``          ``ccomp↓``          the same, reached by arcs with ``↓`` alone
``path``       ``obj↑``               ``ccomp↓``          where the arcs with ``↓`` end
=============  =====================  ==================  ==============================================================

``↑xcomp`` names the label of the old head's own arc; the path is the arcs that the word was lifted over. Node 0 has the
label ``_`` in all lists here.

References
----------
Joakim Nivre and Jens Nilsson (2005), *Pseudo-Projective Dependency Parsing*. ACL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from crossarc.trees import nonprojective_arcs

__all__ = ["DOWN", "ENCODINGS", "UP", "Encoding", "decoded_label", "deprojectivised", "is_encoded", "projectivised"]

Encoding = Literal["head", "path", "head+path"]
ENCODINGS: tuple[Encoding, ...] = ("head", "path", "head+path")
UP, DOWN = "↑", "↓"


class Mark(NamedTuple):
    """What an encoded label says."""

    label: str  # as it was
    lifted: bool
    head_label: str  # of the old head, "" if the encoding does not say
    on_path: bool  # whether an arc was lifted over this one


def projectivised(heads: Sequence[int], labels: Sequence[str], encoding: Encoding) -> tuple[list[int], list[str]]:
    """A projective tree that has the arcs of this one in its arcs and labels: always the smallest arc is lifted.

    >>> projectivised([-1, 3, 0, 2], ["_", "obj", "root", "xcomp"], "head")
    ([-1, 2, 0, 2], ['_', 'obj↑xcomp', 'root', 'xcomp'])
    """
    old, new = list(heads), list(heads)
    path: set[int] = set()
    while (word := _smallest_nonprojective_arc(new)) is not None:
        path.add(new[word])
        new[word] = new[new[word]]
    encoded = list(labels)
    for word in range(1, len(old)):
        if new[word] != old[word]:
            encoded[word] += UP + (labels[old[word]] if encoding != "path" else "")
        if word in path and encoding != "head":
            encoded[word] += DOWN
    return new, encoded


def _smallest_nonprojective_arc(heads: Sequence[int]) -> int | None:
    """The modifier of the shortest arc that is not projective, the leftmost of several; None if there is none."""
    modifiers = nonprojective_arcs(heads).nonzero()[0].tolist()
    return min(modifiers, key=lambda word: (abs(heads[word] - word), word), default=None)


def deprojectivised(heads: Sequence[int], labels: Sequence[str], encoding: Encoding) -> tuple[list[int], list[str]]:
    """The tree whose arcs were lifted, as far as labels tell; from the root downwards, nearest words first.

    A lifted arc whose old head is not found stays where it is. What comes out is always a tree, its labels are
    never encoded.

    >>> deprojectivised([-1, 2, 0, 2], ["_", "obj↑xcomp", "root", "xcomp"], "head")
    ([-1, 3, 0, 2], ['_', 'obj', 'root', 'xcomp'])
    """
    marks = list(map(_mark, labels))
    found = list(heads)
    waiting = [word for word in _breadth_first(heads, 0) if marks[word].lifted]
    while waiting:
        not_found = []
        for word in waiting:
            old = _old_head(found, marks, word, encoding)
            if old is None:
                not_found.append(word)
            else:
                found[word] = old
        if len(not_found) == len(waiting):
            break
        waiting = not_found  # the old head of a word may have been lifted itself, and be in its place by now
    return found, [mark.label for mark in marks]


def _old_head(heads: Sequence[int], marks: Sequence[Mark], lifted: int, encoding: Encoding) -> int | None:
    """The word below the head of a lifted arc that the arc came from; never one below the lifted word."""
    only_path = encoding != "head"
    for word in _breadth_first(heads, heads[lifted], without=lifted, marks=marks if only_path else None):
        if encoding == "path":
            if not any(heads[child] == word and marks[child].on_path for child in range(1, len(heads))):
                return word
        elif marks[word].label == marks[lifted].head_label:
            return word
    return None


def _breadth_first(
    heads: Sequence[int], start: int, without: int | None = None, marks: Sequence[Mark] | None = None
) -> Iterator[int]:
    """The words below a node, level by level, from left to right; with marks, along arcs with ``↓`` alone."""
    level = [start]
    while level:
        level = [
            word
            for head in level
            for word in range(1, len(heads))
            if heads[word] == head and word != without and (marks is None or marks[word].on_path)
        ]
        yield from level


def _mark(label: str) -> Mark:
    """
    >>> _mark("obj↑xcomp↓")
    Mark(label='obj', lifted=True, head_label='xcomp', on_path=True)
    """
    own, up, head_label = label.removesuffix(DOWN).partition(UP)
    return Mark(own, bool(up), head_label, label.endswith(DOWN))


def is_encoded(label: str) -> bool:
    """Whether a label has one of the marks in it."""
    return UP in label or DOWN in label


def decoded_label(label: str) -> str:
    """The label as it was."""
    return _mark(label).label
