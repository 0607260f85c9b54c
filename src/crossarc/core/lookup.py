"""Look-ups of words by what they and their neighbours in the tree are; computed over columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crossarc.core.row import Row
from crossarc.core.word import items_of

if TYPE_CHECKING:
    from crossarc.core.sentence import Sentence

__all__ = ["Wanted", "nodes_where"]

Wanted = str | Collection[str] | Callable[[str], bool]
Nodes = NDArray[np.bool_]  # an entry for each node; the root is never meant

_COLUMNS = frozenset(Row._fields[1:]) - {"head"}
_ITEMS = ("feats", "misc")


def nodes_where(sentence: Sentence, condition: str, wanted: Wanted) -> Nodes:
    """The words that fulfil one condition of ``Sentence.find``."""
    step, _, rest = condition.partition("__")
    if step == "head" and rest:
        heads = sentence.heads
        return (heads > 0) & nodes_where(sentence, rest, wanted)[heads]
    if step == "child" and rest:
        found = np.zeros(len(sentence) + 1, dtype=np.bool_)
        heads = sentence.heads[nodes_where(sentence, rest, wanted)]
        found[heads[heads > 0]] = True
        return found
    if step in _ITEMS and rest:
        return _chosen((items_of(value).get(rest) for value in getattr(sentence, step)), wanted)
    if condition not in _COLUMNS:
        raise TypeError(f"cannot look for {condition}: name a column, or head__COLUMN, child__COLUMN, feats__NAME ...")
    return _chosen(getattr(sentence, condition), wanted)


def _chosen(values: Iterable[str | None], wanted: Wanted) -> Nodes:
    chosen = (value is not None and _is_wanted(value, wanted) for value in values)
    return np.array([False, *chosen], dtype=np.bool_)


def _is_wanted(value: str, wanted: Wanted) -> bool:
    if isinstance(wanted, str):
        return value == wanted
    return bool(wanted(value)) if callable(wanted) else value in wanted
