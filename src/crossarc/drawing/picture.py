"""What a drawing shows: words and arcs, of one tree, of two trees at once, or of a graph."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePath
from typing import Literal, NamedTuple

from crossarc.core import InputError, Sentence

__all__ = ["Arc", "Kind", "Node", "Picture", "paired_groups", "pictures", "pictures_of_group"]

Kind = Literal["plain", "missing", "extra", "relabelled"]


class Node(NamedTuple):
    """A word, or an empty node of a graph."""

    id: str
    form: str
    tag: str


class Arc(NamedTuple):
    """An arc between nodes, which are counted from 1; the head 0 is the root.

    Of two trees, an arc is ``missing`` from the second, ``extra`` in it, or ``relabelled`` (to ``other``).
    """

    head: int
    dependent: int
    label: str
    kind: Kind = "plain"
    other: str = ""
    probability: float | None = None  # of the arc with its label, if that is known; or of the arc

    @property
    def caption(self) -> str:
        """What is written at the arc: kinds can be told apart without colours."""
        parts = [self.label] if self.label != "_" else []
        if self.kind == "missing":
            parts.insert(0, "−")
        elif self.kind == "extra":
            parts.insert(0, "+")
        elif self.kind == "relabelled":
            parts = [self.label, "≠", self.other]
        if self.probability is not None:
            parts.append(percent(self.probability))
        return " ".join(parts)

    @property
    def opacity(self) -> float | None:
        """An improbable arc is faint, but not invisible."""
        return None if self.probability is None else 0.15 + 0.85 * self.probability


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes and arcs over them, what stands above (which sentence it is) and below (what the signs mean)."""

    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    text: str
    sent_id: str | None = None
    heading: str = ""
    legend: str = ""

    def name(self, node: int) -> str:
        return self.nodes[node - 1].form if node else "root"

    @property
    def is_comparison(self) -> bool:
        """Whether kinds of arcs are what colours stand for; otherwise they tell crossing arcs apart."""
        return bool(self.legend)

    @property
    def has_tags(self) -> bool:
        return any(node.tag != "_" for node in self.nodes)

    def from_left_to_right(self) -> Picture:
        """What is drawn from left to right: the last word comes first in scripts that are written the other way."""
        if not is_right_to_left(self.text):
            return self
        mirror = [0, *range(len(self.nodes), 0, -1)]
        arcs = (arc._replace(head=mirror[arc.head], dependent=mirror[arc.dependent]) for arc in self.arcs)
        return replace(self, nodes=self.nodes[::-1], arcs=tuple(arcs))


def is_right_to_left(text: str) -> bool:
    """By its first letter, as ``dir="auto"`` of HTML does it.

    >>> is_right_to_left("123 שלום"), is_right_to_left("a שלום")
    (True, False)
    """
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"


def percent(probability: float) -> str:
    """Rounded down, so that only what is certain is 100 %; the page writes it in the same way.

    >>> percent(0.9999), percent(1.0), percent(0.29), percent(0.001)
    ('99%', '100%', '29%', '<1%')
    """
    return "<1%" if probability < 0.01 else f"{math.floor(probability * 100 + 1e-9)}%"


def pictures(
    sentences: Sentence | Iterable[Sentence],
    *,
    compare: Sentence | Iterable[Sentence] | None = None,
    graph: bool = False,
) -> Iterator[Picture]:
    """A picture of each sentence.

    Trees of the same sentence in a row (``crossarc parse -k``) show what is new against the first of them. With
    ``compare`` there is one picture for each pair of sentences. Whatever heads there are is drawn: words without
    one have no arc, and cycles are cycles. Raises ``InputError`` for arcs from nowhere, and for pairs of sentences with
    other words.
    """
    for group, other in paired_groups(sentences, compare):
        yield from pictures_of_group(group, other, graph=graph)


def paired_groups(
    sentences: Sentence | Iterable[Sentence], compare: Sentence | Iterable[Sentence] | None = None
) -> Iterator[tuple[list[Sentence], list[Sentence] | None]]:
    """Each sentence with its k best trees, and with the sentence that it is compared with, if there is any."""
    groups = _k_best_groups([sentences] if isinstance(sentences, Sentence) else sentences)
    if compare is None:
        yield from ((group, None) for group in groups)
        return
    others = _k_best_groups([compare] if isinstance(compare, Sentence) else compare)
    for ours, theirs in zip_longest(groups, others):
        if ours is None or theirs is None:
            raise InputError("there is no sentence to compare this one with", (ours or theirs)[0].place())
        yield ours, theirs


def pictures_of_group(group: Sequence[Sentence], other: Sequence[Sentence] | None, *, graph: bool) -> Iterator[Picture]:
    """The pictures of the k best trees of a sentence, or of the best of two such groups."""
    if other is None:
        return _of_group(group, graph)
    return iter([_of_two(group[0], other[0], graph)])


def _k_best_groups(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Sentences, each with those that follow as its second, third ... best tree."""
    group: list[Sentence] = []
    for sentence in sentences:
        rank = sentence.metadata("crossarc_rank")
        if group and rank == str(len(group) + 1) and sentence.form == group[0].form:
            group.append(sentence)
            continue
        if group:
            yield group
        group = [sentence] if rank else []
        if not rank:
            yield [sentence]  # at once: whoever wants no more need not read the next
    if group:
        yield group


def _of_group(group: Sequence[Sentence], graph: bool) -> Iterator[Picture]:
    first = _of_one(group[0], graph)
    yield first
    known = {arc[:3] for arc in first.arcs}
    for sentence in group[1:]:
        picture = _of_one(sentence, graph)
        arcs = tuple(arc if arc[:3] in known else arc._replace(kind="extra") for arc in picture.arcs)
        yield replace(picture, arcs=arcs, legend="+ not in the best tree")


def _of_one(sentence: Sentence, graph: bool) -> Picture:
    nodes = _nodes(sentence, graph)
    arcs = _graph_arcs(sentence, nodes) if graph else _tree_arcs(sentence)
    text = sentence.metadata("text") or " ".join(sentence.form)
    return Picture(nodes, tuple(arcs), text, sentence.sent_id, _heading(sentence))


def _heading(sentence: Sentence) -> str:
    parts = [sentence.sent_id] if sentence.sent_id else []
    if rank := sentence.metadata("crossarc_rank"):
        parts.append(f"rank {rank}")
        if probability := sentence.metadata("crossarc_prob"):
            parts.append(f"probability {probability}")
        elif score := sentence.metadata("crossarc_score"):
            parts.append(f"score {score}")
    return ", ".join(parts)


def _nodes(sentence: Sentence, graph: bool) -> tuple[Node, ...]:
    nodes = [(word.id, 0, Node(str(word.id), word.form, word.upos)) for word in sentence]
    if graph:
        empty = [insert for insert in sentence.inserts if insert.is_empty_node]
        nodes += [(e.after, i, Node(e.row.id, e.row.form, e.row.upos)) for i, e in enumerate(empty, 1)]
    return tuple(node for _, _, node in sorted(nodes, key=lambda entry: entry[:2]))


def _tree_arcs(sentence: Sentence) -> Iterator[Arc]:
    for word, head in zip(sentence, sentence.head, strict=True):
        if head == "_":
            continue
        if not head.isdecimal() or int(head) > len(sentence):
            raise InputError(f"there is no word {head}, the HEAD of word {word.id}", sentence.place(word.id))
        labelled = word.labelled_probability
        yield Arc(int(head), word.id, word.deprel, probability=word.probability if labelled is None else labelled)


def _graph_arcs(sentence: Sentence, nodes: Sequence[Node]) -> Iterator[Arc]:
    position = {"0": 0, **{node.id: i for i, node in enumerate(nodes, 1)}}
    deps: Mapping[str, str] = {
        **{str(word.id): word.deps for word in sentence},
        **{insert.row.id: insert.row.deps for insert in sentence.inserts},
    }
    for node in nodes:
        if deps[node.id] == "_":
            continue
        for item in deps[node.id].split("|"):
            head, colon, label = item.partition(":")
            if not colon or head not in position:
                message = f"DEPS of node {node.id}: {item!r} is not an arc from a node of the sentence"
                raise InputError(message, sentence.place())
            yield Arc(position[head], position[node.id], label)


def _of_two(first: Sentence, second: Sentence, graph: bool) -> Picture:
    a, b = _of_one(first, graph), _of_one(second, graph)
    if [node[:2] for node in a.nodes] != [node[:2] for node in b.nodes]:
        raise InputError(f"the words are not those of {first.place()}", second.place())
    arcs = tuple(_differences(a.arcs, b.arcs))
    return replace(a, arcs=arcs, legend=_legend(arcs, *_names(first.path, second.path)))


def _differences(first: Sequence[Arc], second: Sequence[Arc]) -> Iterator[Arc]:
    """The arcs of both, each marked with what became of it in the second."""
    labels: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for side, arcs in enumerate((first, second)):
        for arc in arcs:
            labels.setdefault(arc[:2], ([], []))[side].append(arc.label)
    for (head, dependent), (ours, theirs) in labels.items():
        missing = [label for label in ours if label not in theirs]
        extra = [label for label in theirs if label not in ours]
        paired = min(len(missing), len(extra))
        yield from (Arc(head, dependent, label) for label in ours if label in theirs)
        yield from (Arc(head, dependent, *pair) for pair in _relabelled(missing[:paired], extra[:paired]))
        yield from (Arc(head, dependent, label, "missing") for label in missing[paired:])
        yield from (Arc(head, dependent, label, "extra") for label in extra[paired:])


def _relabelled(missing: Sequence[str], extra: Sequence[str]) -> Iterator[tuple[str, Kind, str]]:
    return ((label, "relabelled", other) for label, other in zip(missing, extra, strict=True))


def _names(first: str, second: str) -> tuple[str, str]:
    """How two files are called; two of the same name by their paths."""
    if first == second:
        return "the first", "the second"
    short = PurePath(first).name, PurePath(second).name
    return short if short[0] != short[1] else (first, second)


def _legend(arcs: Sequence[Arc], first: str, second: str) -> str:
    kinds = {arc.kind for arc in arcs}
    signs = {
        "missing": f"− only in {first}",
        "extra": f"+ only in {second}",
        "relabelled": f"a ≠ b: a in {first}, b in {second}",
    }
    return "; ".join(text for kind, text in signs.items() if kind in kinds) or f"{first} and {second} are the same here"
