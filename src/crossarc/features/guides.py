"""What a guide says of words: the head and the label that another parser gives them, for stacked parsers.

MISC carries it from one parser to the other: ``GuideHead=2|GuideRel=nsubj``. Feature sets then have the attributes

===============  =====================================================================================================
``place``        where the word is; the root, and words that are 32 apart, are told from others
``guide``        the ``place`` of its head in the tree of the guide: ``h.place m.guide`` is a feature for the arc h → m
                 that the guide has (where both are the same), and others for those that it has not
``guiderel``     the label that the guide gives the word
``guidestep``    how far it is from the word to the guide's head, and in which direction
``guidepos``     the tag of the guide's head, as in the attribute ``pos``
===============  =====================================================================================================

All are the same for all words of a sentence that has no guide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.hashing import hash_string

__all__ = ["GUIDE_ATTRIBUTES", "NO_GUIDE", "Guide", "guide_hashes", "guide_of", "with_guide"]

GUIDE_ATTRIBUTES = ("place", "guide", "guiderel", "guidestep", "guidepos")
NO_GUIDE = ("<none>",) * len(GUIDE_ATTRIBUTES)

_HEAD, _LABEL = "GuideHead=", "GuideRel="
_PLACES = 32  # different ones: an arc that long is rare, and its direction and distance are features too
_STEPS = (4, 6, 10)  # up to the first, each has a value of its own; above that, those up to each of the others


class Guide(NamedTuple):
    """The tree of the guide; entries of node 0 mean nothing."""

    heads: list[int]  # -1: unknown
    labels: list[str]


def with_guide(sentence: Sentence, guide: Sentence) -> Sentence:
    """The sentence with what MISC has to say of its tree in another parser's opinion."""
    rows = zip(sentence.misc, guide.head, guide.deprel, strict=True)
    return sentence.with_columns(misc=[_misc(misc, head, label) for misc, head, label in rows])


def _misc(misc: str, head: str, label: str) -> str:
    kept = [own for own in misc.split("|") if own != "_" and not own.startswith((_HEAD, _LABEL))]
    return "|".join([*kept, f"{_HEAD}{head}", f"{_LABEL}{label}"])


def guide_of(sentence: Sentence) -> Guide | None:
    """The guide's tree; None if MISC has none. What is no head of the sentence is taken for unknown.

    >>> tree = Sentence.of(["Yes", "!"], head=["0", "1"], deprel=["root", "punct"])
    >>> guide_of(with_guide(Sentence.of(["Yes", "!"], misc=["SpaceAfter=No", "_"]), tree))
    Guide(heads=[-1, 0, 1], labels=['_', 'root', 'punct'])
    """
    if not any(_HEAD in misc for misc in sentence.misc):
        return None
    found = [dict(own.partition("=")[::2] for own in misc.split("|")) for misc in sentence.misc]
    heads = [_head(own.get(_HEAD[:-1], ""), len(sentence)) for own in found]
    return Guide([-1, *heads], ["_", *(own.get(_LABEL[:-1], "_") for own in found)])


def _head(text: str, n: int) -> int:
    head = int(text) if text.isdecimal() and len(text) < 10 else -1
    return head if head <= n else -1


def guide_hashes(sentence: Sentence) -> NDArray[np.uint64] | None:
    """``[node, attribute]``: what features see of each node; None if there is no guide."""
    guide = guide_of(sentence)
    if guide is None:
        return None
    tags = ["<root>", *(x if x != "_" else u for x, u in zip(sentence.xpos, sentence.upos, strict=True))]
    values = [_values(node, guide, tags) for node in range(len(tags))]
    named = (zip(GUIDE_ATTRIBUTES, own, strict=True) for own in values)
    return np.array([[hash_string(f"{name}={value}") for name, value in own] for own in named], dtype=np.uint64)


def _values(node: int, guide: Guide, tags: Sequence[str]) -> tuple[str, ...]:
    head = guide.heads[node]
    if head < 0:
        return (_place(node), *NO_GUIDE[1:])
    return _place(node), _place(head), guide.labels[node], _step(node, head), tags[head]


def _place(node: int) -> str:
    return str(node % _PLACES) if node else "<root>"


def _step(node: int, head: int) -> str:
    """
    >>> _step(3, 1), _step(1, 6), _step(1, 90), _step(4, 0)
    ('-2', '+6', '+far', '<root>')
    """
    if head == 0:
        return "<root>"
    distance = abs(head - node)
    length = str(distance) if distance <= _STEPS[0] else next((str(s) for s in _STEPS if distance <= s), "far")
    return ("-" if head < node else "+") + length
