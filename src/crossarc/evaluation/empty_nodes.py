"""Graphs without empty nodes, as the IWPT shared tasks score them (Bouma, Seddah & Zeman 2020, 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from crossarc.core import Sentence
from crossarc.evaluation.deps import arcs_of_deps

__all__ = ["collapse_empty_nodes"]

_MOST = 16  # empty nodes on a path; real graphs have two at most

Arcs = list[tuple[str, str]]  # head and label


def collapse_empty_nodes(sentence: Sentence) -> Sentence:
    """The sentence without empty nodes: a path through them is an arc whose label is all labels of the path.

    >>> from crossarc.core import Insert, Row
    >>> node = Insert(1, Row("1.1", *["_"] * 7, "0:root", "_"))
    >>> gap = Sentence(Sentence.of(["Tea", "Ann"], deps=["0:root", "1.1:nsubj"]).columns, inserts=(node,))
    >>> collapse_empty_nodes(gap).deps, collapse_empty_nodes(gap).inserts
    (('0:root', '0:root>nsubj'), ())
    """
    empty = {own.row.id: list(arcs_of_deps(own.row.deps)) for own in sentence.inserts if own.is_empty_node}
    if not empty:
        return sentence
    deps = [_column(dict.fromkeys(_collapsed(list(arcs_of_deps(own)), empty, ()))) for own in sentence.deps]
    kept = tuple(insert for insert in sentence.inserts if not insert.is_empty_node)
    return replace(sentence.with_columns(deps=deps), inserts=kept)


def _collapsed(arcs: Arcs, empty: Mapping[str, Arcs], passed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The arcs from words, and those from words through empty nodes, none of them twice."""
    for head, label in arcs:
        if head not in empty:
            yield head, label
        elif head not in passed and len(passed) < _MOST:
            for above, first in _collapsed(empty[head], empty, (*passed, head)):
                yield above, f"{first}>{label}"


def _column(arcs: Mapping[tuple[str, str], None]) -> str:
    """Arcs as DEPS has them: in the order of their heads."""
    return "|".join(f"{head}:{label}" for head, label in sorted(arcs, key=_place)) or "_"


def _place(arc: tuple[str, str]) -> tuple[bool, int, str]:
    """Heads that are no numbers come last: whoever validates the file will find them."""
    head, label = arc
    return (False, int(head), label) if head.isdecimal() else (True, 0, f"{head}:{label}")
