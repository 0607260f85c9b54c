"""The tagger: UPOS, XPOS and FEATS of each word at once, in two passes.

A tag is all three columns together. The first pass looks at the words alone; the second at the tags, too, that the
first has given to the words on both sides. So that these are as wrong in training as they will be later, each part of
the treebank is tagged by a first pass that has not seen it (stacked learning); for the same reason the words of each
part are looked up in a lexicon made of all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.attributes import hash_attributes
from crossarc.features.hashing import hash_string
from crossarc.features.language import FeatureSet, Schema, Section, load_set, parse_set
from crossarc.features.templates import Compiled, compile_templates
from crossarc.learning.listener import TrainingListener
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import FEATURE_SET, Flag, Kind, ListOf, MapOf, Record, Row, Text, Whole
from crossarc.models.tensors import HashedWeights, TensorKind
from crossarc.text.classifier import PADDING, Choices, Classifier, Ints, Items, train_classifier
from crossarc.text.lexicon import ATTRIBUTES, Lexicon, collect
from crossarc.text.packing import PACKED, pack, unpack

__all__ = ["Tagger", "TaggerTraining"]

Tag = tuple[str, str, str]

_TAG_ATTRIBUTES = ("tag", "upos")
_FIRST, _SECOND = Section(attributes=ATTRIBUTES), Section(attributes=(*ATTRIBUTES, *_TAG_ATTRIBUTES))
SCHEMA = Schema("tagger", {"first-pass": _FIRST, "second-pass": _SECOND}, required=("first-pass",))
_MOST_TAGS = 1 << 16
_WORDS = Record({"tags": ListOf(Row([Text(1000, least=1)] * 3), least=1, most=_MOST_TAGS)})
_FOLDS = 8
_EPOCHS = 8
_BITS = 21  # of the weights of each pass
_MAX_STEP = 0.03  # chosen on dev
_MARGIN = 1.5  # what the first pass finds so much worse than the best, the second need not look at


@dataclass(frozen=True, repr=False)
class Tagger:
    """Finds UPOS, XPOS and FEATS of words, all three at once, in two passes over a sentence.

    The first chooses by words alone; the second looks at the tags that the first has found nearby, too.

    >>> import crossarc
    >>> tagger = crossarc.load("en-fast").tagger
    >>> tagger.apply([Sentence.of(["It", "rains"])])[0].upos
    ('PRON', 'VERB')
    """

    name: ClassVar[str] = "tagger"

    header_kinds: ClassVar[Mapping[str, Kind]] = {"features": FEATURE_SET}
    optional_fields: ClassVar[Collection[str]] = ()

    tags: tuple[Tag, ...]
    lexicon: Lexicon
    features: FeatureSet
    first: Classifier
    second: Classifier

    @classmethod
    def train(cls, sentences: Sequence[Sentence], *, seed: int = 1, listener: TrainingListener | None = None) -> Tagger:
        """Learn from the tags of a treebank."""
        return TaggerTraining(sentences, seed=seed, listener=listener).run()

    def __repr__(self) -> str:
        return f"<Tagger: {len(self.tags)} tags>"

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with UPOS, XPOS and FEATS."""
        return with_tags(sentences, self.choose(sentences), self.tags)

    def choose(self, sentences: Sequence[Sentence]) -> Ints:
        """The numbers of the tags of all words."""
        items, choices = self.lexicon.items([sentence.form for sentence in sentences])
        near = self.first.narrow(items, choices, _MARGIN)
        return self.second.choose(_with_tags(items, near.first, self.tags), near)

    def second_items(self, sentences: Sequence[Sentence]) -> tuple[Items, Choices, Classifier]:
        """What the second pass looks at, all that it may choose from, and its weights."""
        items, choices = self.lexicon.items([sentence.form for sentence in sentences])
        return _with_tags(items, self.first.choose(items, choices), self.tags), choices, self.second

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """The header and the tensors of a model file."""
        words = {"tags": self.tags, "words": self.lexicon.words, "guesses": self.lexicon.guesses}
        tensors = {"first": self.first.weights, "second": self.second.weights, "words": pack(words)}
        return {"features": self.features.text}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """The tensors of a model file."""
        weights = HashedWeights(row=None)  # the word list says which tags there are: ``Classifier`` knows then
        return {"first": weights, "second": weights, "words": PACKED}

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> Tagger:
        """What ``to_model`` made."""
        features = parse_set(SCHEMA, header["features"])
        first, second = compile_passes(features)
        words = unpack(tensors["words"], _WORDS)
        tags = tuple(map(tuple, words["tags"]))
        kind_of_lexicon(len(tags)).check([words], "the lexicon of its tagger")
        if len(set(tags)) < len(tags) or "" not in words["guesses"]:
            raise ModelError("the lexicon of its tagger has a tag twice, or no guess for all words")
        lexicon = Lexicon(words["words"], words["guesses"], _names(tags))
        aspects = _aspects(tags)
        return cls(
            tags,
            lexicon,
            features,
            Classifier(first, tensors["first"], aspects),
            Classifier(second, tensors["second"], aspects),
        )


def kind_of_lexicon(n_tags: int) -> Kind:
    """What the words and guesses of a lexicon may be, whose tags are so many."""
    classes = ListOf(Whole(0, n_tags - 1), least=1, most=_MOST_TAGS)
    return Record({"words": MapOf(Row((classes, Flag()))), "guesses": MapOf(classes)})


def compile_passes(features: FeatureSet) -> tuple[Compiled, Compiled]:
    """The templates of the first pass; and those of the second, which looks at all that the first does."""
    first, second = features.templates["first-pass"], features.templates["second-pass"]
    return compile_templates(_FIRST, first), compile_templates(_SECOND, (*first, *second))


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
    columns = np.full((len(items.attributes), len(_TAG_ATTRIBUTES)), hash_string("<outside>"), dtype=np.uint64)
    columns[items.rows + PADDING] = known[chosen]
    return Items(np.concatenate([items.attributes, columns], axis=1), items.rows)


@lru_cache(maxsize=8)
def _hashes(tags: tuple[Tag, ...]) -> NDArray[np.uint64]:
    return np.stack([hash_attributes(_TAG_ATTRIBUTES, (tag, tag[0])) for tag in tags])


class _Part(NamedTuple):
    """A part of a treebank, looked up in a lexicon of all the others."""

    items: Items
    choices: Choices
    gold: Ints


class TaggerTraining:
    """Trains taggers on a treebank, and on all but a part of it (a fold)."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        *,
        seed: int = 1,
        folds: int = _FOLDS,
        listener: TrainingListener | None = None,
    ) -> None:
        self.sentences, self.seed, self.listener = sentences, seed, listener
        self.features = load_set(SCHEMA, "default")
        self.first_templates, self.second_templates = compile_passes(self.features)
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

    def _learnt(self, words: int) -> None:
        if self.listener is not None:
            self.listener.progress(Tagger.name, words)

    def _train(self, templates: Compiled, parts: Sequence[_Part]) -> Classifier:
        items, choices, gold = _together(parts)
        return train_classifier(
            templates,
            items,
            choices,
            gold,
            _aspects(self.tags),
            bits=_BITS,
            epochs=_EPOCHS,
            max_step=_MAX_STEP,
            rng=np.random.default_rng(self.seed),
            learnt=self._learnt,
        )

    @cached_property
    def first(self) -> Classifier:
        """The first pass that has seen all of the treebank."""
        return self._train(self.first_templates, self.parts)

    @cached_property
    def second_parts(self) -> list[_Part]:
        """The parts, with tags by first passes that have not seen them."""
        parts = []
        for part in self.parts:
            first = self._train(self.first_templates, _others(self.parts, part))
            chosen = first.choose(part.items, part.choices)
            parts.append(part._replace(items=_with_tags(part.items, chosen, self.tags)))
        return parts

    def run_first_passes(self) -> None:
        """Train all that has only words to look at; what follows builds on it."""
        self.first, self.second_parts  # noqa: B018

    def run(self) -> Tagger:
        """A tagger that has seen all of the treebank."""
        second = self._train(self.second_templates, self.second_parts)
        return Tagger(self.tags, self._lexicon(), self.features, self.first, second)

    def cross_tagged(self) -> list[Sentence]:
        """The treebank, each part of it tagged by a tagger that has not seen it."""
        chosen = []
        for part in self.second_parts:
            second = self._train(self.second_templates, _others(self.second_parts, part))
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
