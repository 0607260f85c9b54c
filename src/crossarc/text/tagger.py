"""The tagger: UPOS, XPOS and FEATS of each word at once, in two passes.

A tag is all three columns together. The first pass looks at the words alone; the second at the tags, too, that the
first has given to the words on both sides. So that these are as wrong in training as they will be later, each part of
the treebank is tagged by a first pass that has not seen it (stacked learning); for the same reason the words of each
part are looked up in a lexicon made of all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.hashing import hash_string
from crossarc.features.templates import Compiled
from crossarc.text.classifier import PADDING, Choices, Classifier, Ints, Items, compile_lines, train_classifier
from crossarc.text.lexicon import ATTRIBUTES, Lexicon, collect
from crossarc.text.packing import pack, unpack

Tag = tuple[str, str, str]

_WORDS = """
form | lower | p1 | p2 | p3 | p4 | s1 | s2 | s3 | s4 | s5 | shape | may | kind
lower-1 | lower+1 | lower-2 | lower+2 | lower-1 lower | lower lower+1 | lower-1 lower+1 | lower-2 lower-1
lower+1 lower+2 | may-1 | may+1 | may-2 | may+2 | may-1 may | may may+1 | may-1 may may+1 | may-2 may-1 | may+1 may+2
may-1 may+1 | may-2 may-1 may | may may+1 may+2 | s3 may-1 | s3 may+1 | s3-1 | s3+1 | s2-1 s3 | s3 s2+1
shape-1 shape | shape shape+1 | kind s3 | kind-1 kind kind+1 | lower may-1 | lower may+1 | may lower-1 | may lower+1
kind s2 | shape s1
"""
_TAGS = """
tag | tag-1 | tag+1 | tag-2 | tag+2 | tag-1 tag+1 | tag-2 tag-1 | tag+1 tag+2 | tag-1 lower | lower tag+1
tag-1 s3 | s3 tag+1 | tag-1 may tag+1 | may tag-1 | may tag+1 | tag-2 tag-1 may | may tag+1 tag+2 | tag-1 lower tag+1
upos-1 upos+1 | upos-2 upos-1 upos+1 upos+2 | tag lower | tag-1 tag | tag tag+1 | lower-1 tag | tag lower+1
"""
_SECOND_ATTRIBUTES = (*ATTRIBUTES, "tag", "upos")


def _lines(text: str) -> list[str]:
    return [" ".join(part.split()) for line in text.strip().splitlines() for part in line.split("|")]


_FIRST = compile_lines(_lines(_WORDS), ATTRIBUTES)
_SECOND = compile_lines([*_lines(_WORDS), *_lines(_TAGS)], _SECOND_ATTRIBUTES)
_FOLDS = 8
_EPOCHS = 8
_FIRST_BITS, _SECOND_BITS = 21, 21
_MAX_STEP = 0.03  # the largest step, chosen on dev
_NEAR = 1.5  # what the first pass finds so much worse than the best, the second need not look at


@dataclass(frozen=True)
class Tagger:
    """A trained tagger."""

    tags: tuple[Tag, ...]
    lexicon: Lexicon
    first: Classifier
    second: Classifier

    def choose(self, sentences: Sequence[Sentence]) -> Ints:
        """The numbers of the tags of all words."""
        items, choices = self.lexicon.items([sentence.form for sentence in sentences])
        near = self.first.narrow(items, choices, _NEAR)
        return self.second.choose(_with_tags(items, near.first, self.tags), near)

    def tensors(self) -> dict[str, Any]:
        """What a model file keeps."""
        words = {"tags": self.tags, "words": self.lexicon.words, "guesses": self.lexicon.guesses}
        return {"first": self.first.weights, "second": self.second.weights, "words": pack(words)}

    @classmethod
    def of_tensors(cls, tensors: dict[str, Any]) -> Tagger:
        words = unpack(tensors["words"])
        tags = tuple((upos, xpos, feats) for upos, xpos, feats in words["tags"])
        return cls(
            tags,
            Lexicon(words["words"], words["guesses"], _names(tags)),
            Classifier(_FIRST, tensors["first"], _aspects(tags)),
            Classifier(_SECOND, tensors["second"], _aspects(tags)),
        )

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with UPOS, XPOS and FEATS."""
        return with_tags(sentences, self.choose(sentences), self.tags)


def _aspects(tags: Sequence[Tag]) -> Ints:
    """Of each tag: itself, its UPOS, its XPOS, its FEATS."""
    numbers: dict[tuple[int, object], int] = {(0, tag): i for i, tag in enumerate(tags)}
    return np.array(
        [[numbers.setdefault((k, value), len(numbers)) for k, value in enumerate((tag, *tag))] for tag in tags]
    )


def _names(tags: Sequence[Tag]) -> list[str]:
    """What tags are called where features do not matter."""
    return [f"{upos} {xpos}" for upos, xpos, _ in tags]


def with_tags(sentences: Sequence[Sentence], chosen: Ints, tags: Sequence[Tag]) -> list[Sentence]:
    """The sentences with the tags of these numbers."""
    of_words = [tags[number] for number in chosen.tolist()]
    tagged = []
    end = 0
    for sentence in sentences:
        start, end = end, end + len(sentence)
        if start < end:
            upos, xpos, feats = zip(*of_words[start:end], strict=True)
            sentence = sentence.with_columns(upos=upos, xpos=xpos, feats=feats)
        tagged.append(sentence)
    return tagged


def _with_tags(items: Items, chosen: Ints, tags: Sequence[Tag]) -> Items:
    """The words, and the tags that the first pass has chosen for them."""
    known = _hashes(tuple(tags))
    columns = np.full((len(items.attributes), 2), hash_string("<outside>"), dtype=np.uint64)
    columns[items.rows + PADDING] = known[chosen]
    return Items(np.concatenate([items.attributes, columns], axis=1), items.rows)


@lru_cache(maxsize=8)
def _hashes(tags: tuple[Tag, ...]) -> NDArray[np.uint64]:
    return np.array([[hash_string(f"tag={tag}"), hash_string(f"upos={tag[0]}")] for tag in tags], dtype=np.uint64)


class _Part(NamedTuple):
    """A part of a treebank, looked up in a lexicon of all the others."""

    items: Items
    choices: Choices
    gold: Ints


class Training:
    """Trains taggers on a treebank, and on all but a part of it; ``watch`` is told of words that were learnt from."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        seed: int,
        folds: int = _FOLDS,
        watch: Callable[[int], None] = lambda words: None,
    ) -> None:
        self.seed = seed
        self.watch = watch
        self.sentences = sentences
        numbers: dict[Tag, int] = {}
        for s in sentences:
            for tag in zip(s.upos, s.xpos, s.feats, strict=True):
                numbers.setdefault(tag, len(numbers))
        self.tags = tuple(numbers)
        self.names = _names(self.tags)
        self.gold = [[numbers[tag] for tag in zip(s.upos, s.xpos, s.feats, strict=True)] for s in sentences]
        bounds = np.linspace(0, len(sentences), folds + 1).astype(int).tolist()
        self.folds = [range(first, last) for first, last in pairwise(bounds)]
        self.parts = [self._part(fold) for fold in self.folds]
        # of each pass there is one for all sentences, and one for each part, from all others
        self.words_of_pass = folds * _EPOCHS * sum(map(len, sentences))

    def _lexicon(self, without: range = range(0)) -> Lexicon:
        kept = [i for i in range(len(self.sentences)) if i not in without]
        forms = [form for i in kept for form in self.sentences[i].form]
        return collect(forms, [tag for i in kept for tag in self.gold[i]], self.names)

    def _part(self, fold: range) -> _Part:
        items, choices = self._lexicon(fold).items([self.sentences[i].form for i in fold])
        return _Part(items, choices, np.array([tag for i in fold for tag in self.gold[i]], dtype=np.int64))

    def _train(self, templates: Compiled, parts: Sequence[_Part], bits: int) -> Classifier:
        items, choices, gold = _together(parts)
        return train_classifier(
            templates,
            items,
            choices,
            gold,
            _aspects(self.tags),
            bits=bits,
            epochs=_EPOCHS,
            max_step=_MAX_STEP,
            rng=np.random.default_rng(self.seed),
            watch=self.watch,
        )

    @cached_property
    def first(self) -> Classifier:
        """The first pass that has seen all of the treebank."""
        return self._train(_FIRST, self.parts, _FIRST_BITS)

    @cached_property
    def second_parts(self) -> list[_Part]:
        """The parts, with tags by first passes that have not seen them."""
        parts = []
        for part in self.parts:
            first = self._train(_FIRST, _others(self.parts, part), _FIRST_BITS)
            chosen = first.choose(part.items, part.choices)
            parts.append(part._replace(items=_with_tags(part.items, chosen, self.tags)))
        return parts

    def run_first_passes(self) -> None:
        """Train all that has only words to look at; what follows builds on it."""
        self.first, self.second_parts  # noqa: B018

    def run(self) -> Tagger:
        """A tagger that has seen all of the treebank."""
        second = self._train(_SECOND, self.second_parts, _SECOND_BITS)
        return Tagger(self.tags, self._lexicon(), self.first, second)

    def cross_tagged(self) -> list[Sentence]:
        """The treebank, each part of it tagged by a tagger that has not seen it."""
        chosen = []
        for part in self.second_parts:
            second = self._train(_SECOND, _others(self.second_parts, part), _SECOND_BITS)
            chosen.append(second.choose(part.items, part.choices))
        return with_tags(self.sentences, np.concatenate(chosen), self.tags)


def _others(parts: Sequence[_Part], part: _Part) -> list[_Part]:
    return [other for other in parts if other is not part]


def _together(parts: Sequence[_Part]) -> _Part:
    """Several parts as one."""
    rows = np.cumsum([0, *(len(part.items.attributes) for part in parts)])
    lists = np.cumsum([0, *(len(part.choices.bounds) - 1 for part in parts)])
    classes = np.cumsum([0, *(len(part.choices.classes) for part in parts)])
    items = Items(
        np.concatenate([part.items.attributes for part in parts]),
        np.concatenate([part.items.rows + first for part, first in zip(parts, rows, strict=False)]),
    )
    bounds = [part.choices.bounds[1:] + first for part, first in zip(parts, classes, strict=False)]
    choices = Choices(
        np.concatenate([part.choices.lists + first for part, first in zip(parts, lists, strict=False)]),
        np.concatenate([part.choices.classes for part in parts]),
        np.concatenate([np.zeros(1, dtype=np.int64), *bounds]),
    )
    return _Part(items, choices, np.concatenate([part.gold for part in parts]))
