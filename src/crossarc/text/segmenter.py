"""Raw text to sentences of words, as a treebank has them: tokens, multiword tokens, sentences.

Two classifiers decide, one after the other: after which characters a token ends, and after which tokens a sentence
does. White space ends every token, a blank line every sentence. The time is linear in the length of the text, whatever
it is.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from crossarc.core import Insert, Row, Sentence
from crossarc.features.language import FeatureSet, load_set, parse_set
from crossarc.features.word_table import WordTable
from crossarc.learning.listener import TrainingListener
from crossarc.models import Tensors
from crossarc.models.schema import FEATURE_SET, Kind, ListOf, MapOf, Record, Text, Whole
from crossarc.models.tensors import HashedWeights, TensorKind
from crossarc.text.boundaries import (
    END,
    SCHEMA,
    YES_OR_NO,
    Piece,
    both_classes,
    character_kind,
    compile_sections,
    places_in_chunk,
    sentence_end_items,
    token_end_items,
    token_table,
    train_sentence_ends,
    train_token_ends,
)
from crossarc.text.classifier import Classifier
from crossarc.text.multiword import MultiwordTokens
from crossarc.text.packing import PACKED, pack, unpack
from crossarc.text.treebank import paragraphs_of, spaces_in_misc

__all__ = ["Segmenter"]

_SPACE = re.compile(r"\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_WORD = Text(1000, least=1)
_WORDS = Record(
    {
        "words": MapOf(ListOf(_WORD, least=1, most=100)),
        "endings": MapOf(Whole(1, 1000)),
        "whole": ListOf(Text(any_character=True)),
    }
)
_MAX_CHUNKS = 1 << 16  # whose tokens are kept


@dataclass(frozen=True, repr=False)
class Segmenter:
    """Cuts raw text into sentences of words: one classifier says where tokens end, another where sentences do.

    >>> import crossarc
    >>> segmenter = crossarc.load("en-fast").segmenter
    >>> [sentence.form for sentence in segmenter.apply("It rains. I can't go.")]
    [('It', 'rains', '.'), ('I', 'ca', "n't", 'go', '.')]
    """

    name: ClassVar[str] = "segmenter"

    header_kinds: ClassVar[Mapping[str, Kind]] = {"features": FEATURE_SET}
    optional_fields: ClassVar[Collection[str]] = ()

    tokens: Classifier
    sentences: Classifier
    multiword: MultiwordTokens
    features: FeatureSet
    _cut: dict[tuple[str, str], list[str]] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def train(
        cls, sentences: Sequence[Sentence], *, seed: int = 1, listener: TrainingListener | None = None
    ) -> Segmenter:
        """Learn from the tokens of a treebank, their spaces, and its paragraphs."""
        features = load_set(SCHEMA, "default")
        of_tokens, of_sentences = compile_sections(features)
        rngs = np.random.default_rng(seed).spawn(2)
        paragraphs = paragraphs_of(sentences)
        return cls(
            train_token_ends(of_tokens, paragraphs, rngs[0]),
            train_sentence_ends(of_sentences, paragraphs, rngs[1]),
            MultiwordTokens.train(token for paragraph in paragraphs for token in chain.from_iterable(paragraph)),
            features,
        )

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """The header and the tensors of a model file."""
        multiword = self.multiword
        words = {"words": multiword.words, "endings": multiword.endings, "whole": sorted(multiword.whole)}
        tensors = {"tokens": self.tokens.weights, "sentences": self.sentences.weights, "words": pack(words)}
        return {"features": self.features.text}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """The tensors of a model file."""
        weights = HashedWeights(row=len(YES_OR_NO))
        return {"tokens": weights, "sentences": weights, "words": PACKED}

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> Segmenter:
        """What ``to_model`` made."""
        features = parse_set(SCHEMA, header["features"])
        of_tokens, of_sentences = compile_sections(features)
        words = unpack(tensors["words"], _WORDS)
        return cls(
            Classifier(of_tokens, tensors["tokens"], YES_OR_NO),
            Classifier(of_sentences, tensors["sentences"], YES_OR_NO),
            MultiwordTokens(words["words"], words["endings"], frozenset(words["whole"])),
            features,
        )

    @cached_property
    def _table(self) -> WordTable[str]:
        return token_table()

    def __repr__(self) -> str:
        return f"<Segmenter: {len(self.multiword.words)} multiword tokens>"

    def apply(self, text: str, *, lines: bool = False, paragraph: int = 1, path: str = "<text>") -> list[Sentence]:
        """The sentences of a text, with all that is needed to restore it; with ``lines``, each line is a paragraph.

        Paragraphs are counted from the given number on.
        """
        before = text[: len(text) - len(text.lstrip())]
        sentences = []
        for number, found in enumerate(self.pieces(text, lines=lines), paragraph):
            for i, pieces in enumerate(found, 1):
                comments = [f"# sent_id = p{number}-s{i}", f"# text = {_text_of(pieces)}"]
                if i == 1:
                    comments.insert(0, f"# newpar id = p{number}")
                if number == i == 1:
                    comments.insert(0, "# newdoc")
                sentences.append(self._sentence(pieces, tuple(comments), before, path))
                before = ""
        return sentences

    def _sentence(self, pieces: list[Piece], comments: tuple[str, ...], before: str, path: str) -> Sentence:
        """The words of tokens; those of several words have a line of their own."""
        forms: list[str] = []
        misc: list[str] = []
        inserts: list[Insert] = []
        split = self.multiword.split.look_up(token for token, _ in pieces)
        for (token, space), words in zip(pieces, split, strict=True):
            spaces = "_" if space == " " and not before else spaces_in_misc(space, before)
            before = ""
            if len(words) > 1:
                id_ = f"{len(forms) + 1}-{len(forms) + len(words)}"
                inserts.append(Insert(len(forms), Row(id_, token, "_", "_", "_", "_", "_", "_", "_", spaces)))
                spaces = "_"
            forms += words
            misc += [spaces] * len(words)
        nothing = ("_",) * len(forms)
        return Sentence((tuple(forms), *[nothing] * 7, tuple(misc)), comments, tuple(inserts), path)

    def pieces(self, text: str, *, lines: bool = False) -> list[list[list[Piece]]]:
        """Paragraphs of sentences of tokens."""
        with self._lock:
            paragraphs = self._tokenize(text, lines)
        if not paragraphs:
            return []
        items = sentence_end_items(self._table, paragraphs)
        ends = iter(self.sentences.choose(items, both_classes(len(items.rows))).tolist())
        found = []
        for paragraph in paragraphs:
            sentences: list[list[Piece]] = [[]]
            for piece in paragraph:
                sentences[-1].append(piece)
                if next(ends):
                    sentences.append([])
            found.append([sentence for sentence in sentences if sentence])
        return found

    def _tokenize(self, text: str, lines: bool) -> list[list[Piece]]:
        """Paragraphs of tokens."""
        chunks = _chunks(text, lines)
        if len(self._cut) > _MAX_CHUNKS:
            self._cut.clear()
        keys = list(zip(chunks.forms, chunks.following, strict=True))
        self._cut_all(set(keys).difference(self._cut))
        paragraphs: list[list[Piece]] = []
        new = True
        for key, space in zip(keys, chunks.spaces, strict=True):
            if new:
                paragraphs.append([])
            *tokens, last = self._cut[key]
            paragraphs[-1] += [(token, "") for token in tokens]
            paragraphs[-1].append((last, space))
            new = key[1] == END
        return paragraphs

    def _cut_all(self, chunks: Iterable[tuple[str, str]]) -> None:
        """Cut chunks into tokens, and remember them."""
        ordered = sorted(chunks)
        if not ordered:
            return
        places = [places_in_chunk(chunk) for chunk, _ in ordered]
        items = token_end_items(ordered, places)
        ends = iter(self.tokens.choose(items, both_classes(len(items.rows))).tolist())
        for key, own in zip(ordered, places, strict=True):
            chunk = key[0]
            cuts = [0, *(i for i in own if next(ends)), len(chunk)]
            self._cut[key] = [chunk[i:j] for i, j in pairwise(cuts)]


def _text_of(pieces: Sequence[Piece]) -> str:
    """What ``# text`` says: any white space is one space."""
    return "".join([token + " " if space else token for token, space in pieces]).rstrip(" ")


class Chunks(NamedTuple):
    """Characters between white space, the white space after each, and the kind of character that comes next."""

    forms: list[str]
    spaces: list[str]
    following: list[str]


def _chunks(text: str, lines: bool = False) -> Chunks:
    forms = text.split()
    spaces = _SPACE.findall(text.lstrip())
    spaces += [""] * (len(forms) - len(spaces))
    following = [*(character_kind(form[0]) for form in forms[1:]), *[END] * bool(forms)]
    for i, space in enumerate(spaces):
        if "\n" in space and (lines or _BLANK_LINE.search(space)):
            following[i] = END
    return Chunks(forms, spaces, following)
