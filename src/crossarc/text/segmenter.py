"""Raw text to sentences of words, as a treebank has them: tokens, multiword tokens, sentences.

Two classifiers decide, one after the other: after which characters a token ends, and after which tokens a sentence
does. White space ends every token, a blank line every sentence. The time is linear in the length of the text, whatever
it is.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Insert, Sentence, Word
from crossarc.features.attributes import hash_attributes
from crossarc.features.hashing import hash_string
from crossarc.features.language import FeatureSet, Schema, Section, load_set, parse_set
from crossarc.features.templates import Compiled, compile_templates
from crossarc.features.word_table import WordTable
from crossarc.learning.listener import TrainingListener
from crossarc.models import Tensors
from crossarc.text.classifier import PADDING, Choices, Classifier, Ints, Items, look_up, train_classifier
from crossarc.text.lexicon import shape_of
from crossarc.text.multiword import MultiwordTokens
from crossarc.text.packing import pack, unpack
from crossarc.text.treebank import Token, paragraphs_of, spaces_in_misc

__all__ = ["Segmenter"]

# What is seen from a place between two characters; the set of features says what these are
_PLACE_ATTRIBUTES = (
    "b2", "b1", "a1", "a2", "kb2", "kb1", "ka1", "ka2", "left", "right", "leftrun", "rightrun", "leftshape",
    "rightshape", "next", "chunk",
)  # fmt: skip
_TOKEN_ATTRIBUTES = ("t", "shape", "kind")
_TOKEN_END = Section(attributes=_PLACE_ATTRIBUTES)
_SENTENCE_END = Section(attributes=(*_TOKEN_ATTRIBUTES, "space", "run"))
_SECTIONS = {"token-end": _TOKEN_END, "sentence-end": _SENTENCE_END}
_SCHEMA = Schema("segmenter", _SECTIONS, required=tuple(_SECTIONS))

_BITS = 17
_YES_OR_NO = np.array([[0], [1]])
_EPOCHS = 10
_MAX_STEP = 0.1
_SPACE = re.compile(r"\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_STRONG = frozenset(".!?…。！？")
_MAX_CHUNKS = 1 << 16  # whose tokens are kept
_LONGEST_RUN = 100  # of like characters that is looked at

Piece = tuple[str, str]  # a token of a text, and the white space after it


@dataclass(frozen=True)
class Segmenter:
    """A trained segmenter."""

    name: ClassVar[str] = "segmenter"

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
        features = load_set(_SCHEMA, "default")
        of_tokens, of_sentences = compile_sections(features)
        rngs = np.random.default_rng(seed).spawn(2)
        paragraphs = paragraphs_of(sentences)
        return cls(
            _train_tokens(of_tokens, paragraphs, rngs[0]),
            _train_sentences(of_sentences, paragraphs, rngs[1]),
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
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> Segmenter:
        """What ``to_model`` made."""
        features = parse_set(_SCHEMA, header["features"])
        of_tokens, of_sentences = compile_sections(features)
        words = unpack(tensors["words"])
        return cls(
            Classifier(of_tokens, tensors["tokens"], _YES_OR_NO),
            Classifier(of_sentences, tensors["sentences"], _YES_OR_NO),
            MultiwordTokens(words["words"], words["endings"], frozenset(words["whole"])),
            features,
        )

    @cached_property
    def _table(self) -> WordTable[str]:
        return _token_table()

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
                inserts.append(Insert(len(forms), Word(id_, token, "_", "_", "_", "_", "_", "_", "_", spaces)))
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
        items = _items_of_text(self._table, paragraphs)
        ends = iter(self.sentences.choose(items, _both(len(items.rows))).tolist())
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
            new = key[1] == _END
        return paragraphs

    def _cut_all(self, chunks: Iterable[tuple[str, str]]) -> None:
        """Cut chunks into tokens, and remember them."""
        ordered = sorted(chunks)
        if not ordered:
            return
        places = [_places(chunk) for chunk, _ in ordered]
        items = _items_of_chunks(ordered, places)
        ends = iter(self.tokens.choose(items, _both(len(items.rows))).tolist())
        for key, own in zip(ordered, places, strict=True):
            chunk = key[0]
            cuts = [0, *(i for i in own if next(ends)), len(chunk)]
            self._cut[key] = [chunk[i:j] for i, j in pairwise(cuts)]


_END = "<end>"


def compile_sections(features: FeatureSet) -> tuple[Compiled, Compiled]:
    """The templates of token ends and of sentence ends."""
    tokens, sentences = (compile_templates(section, features.templates[name]) for name, section in _SECTIONS.items())
    return tokens, sentences


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
    following = [*(_kind(form[0]) for form in forms[1:]), *[_END] * bool(forms)]
    for i, space in enumerate(spaces):
        if "\n" in space and (lines or _BLANK_LINE.search(space)):
            following[i] = _END
    return Chunks(forms, spaces, following)


@cache
def _kind(c: str) -> str:
    """What sort of character this is; the character itself if it is no letter and no digit."""
    if c.isalpha():
        return "X" if c.isupper() else "x"
    return "0" if c.isdigit() else c


def _kinds(token: str) -> str:
    return (
        "".join(map(_kind, token)) if len(token) < 3 else _kind(token[0]) + shape_of(token[1:-1])[:2] + _kind(token[-1])
    )


def _both(n: int) -> Choices:
    """n items that may have class 0 or 1."""
    return Choices(np.zeros(n, dtype=np.int64), np.array([0, 1]), np.array([0, 2]))


def _items_of_chunks(chunks: Sequence[tuple[str, str]], places: Sequence[Sequence[int]]) -> Items:
    """The places in chunks where a token may end."""
    outside = [hash_string("<outside>")] * len(_PLACE_ATTRIBUTES)
    rows = [outside] * PADDING
    for (chunk, following), own in zip(chunks, places, strict=True):
        whole = hash_string(f"chunk={_lower(chunk)}") if own else 0
        for values in _views(chunk, own, following):
            named = zip(_PLACE_ATTRIBUTES, values, strict=False)
            rows.append([*(hash_string(f"{name}={value}") for name, value in named), whole])
    rows += [outside] * PADDING
    return Items(np.array(rows, dtype=np.uint64), np.arange(len(rows) - 2 * PADDING))


def _lower(chunk: str) -> str:
    lower = chunk.lower()
    return lower if len(lower) == len(chunk) else chunk


def _views(chunk: str, places: Sequence[int], following: str) -> Iterator[tuple[str, ...]]:
    """What is seen from each place before a character: all of ``_PLACE_ATTRIBUTES`` but the chunk."""
    text, kinds = _lower(chunk), "".join(map(_kind, chunk))
    run_of, runs = _numbered_runs(kinds)
    starts, ends = _run_bounds(map(_alike, kinds))
    for i in places:
        last, first = run_of[i - 1], run_of[i]
        yield (
            *(text[max(i - 2, 0) : i - 1], text[i - 1], text[i], text[i + 1 : i + 2]),
            *(kinds[max(i - 2, 0) : i - 1], kinds[i - 1], kinds[i], kinds[i + 1 : i + 2]),
            *(text[max(i - 12, 0) : i], text[i : i + 12]),
            *(text[max(starts[i - 1], i - _LONGEST_RUN) : i], text[i : min(ends[i], i + _LONGEST_RUN)]),
            *(runs[max(last - 5, 0) : last + 1], runs[first : first + 6]),
            following if len(text) - i < 3 else "",
        )


def _numbered_runs(kinds: str) -> tuple[list[int], str]:
    """The number of the run of the same kind that each character is in; and the kind of each run."""
    numbers = accumulate((a != b for a, b in pairwise(kinds)), initial=0)
    return list(numbers), "".join(kind for kind, _ in groupby(kinds))


def _run_bounds(kinds: Iterable[str]) -> tuple[list[int], list[int]]:
    """Where the run of the same kind that each character is in starts and ends."""
    starts: list[int] = []
    ends: list[int] = []
    for _, run in groupby(kinds):
        start, length = len(starts), len(list(run))
        starts += [start] * length
        ends += [start + length] * length
    return starts, ends


def _places(chunk: str) -> list[int]:
    """Where tokens may end within a chunk: not between two letters, nor between two digits."""
    if chunk.isalpha():
        return []
    kinds = [_alike(_kind(c)) for c in chunk]
    return [i for i in range(1, len(chunk)) if kinds[i] != kinds[i - 1] or kinds[i] not in ("xX", "0")]


def _alike(c: str) -> str:
    return "xX" if c in "xX" else c


def _items_of_text(table: WordTable[str], paragraphs: Sequence[Sequence[Piece]]) -> Items:
    """The tokens of paragraphs, whether a space follows, and how far it is from a full stop."""
    items, _ = look_up(table, [[token for token, _ in paragraph] for paragraph in paragraphs])
    spaces, runs = [], []
    for paragraph in paragraphs:
        run = 0
        for token, space in paragraph:
            spaces.append(bool(space))
            runs.append(run)
            run = 0 if token[-1] in _STRONG else run + 1
    known_spaces, known_runs, outside = _numbers()
    columns = np.tile(outside, (len(items.attributes), 1))
    columns[items.rows + PADDING, 0] = known_spaces[np.array(spaces, dtype=np.int64)]
    columns[items.rows + PADDING, 1] = known_runs[np.minimum(runs, len(known_runs) - 1).astype(np.int64)]
    return Items(np.concatenate([items.attributes, columns], axis=1), items.rows)


_LENGTHS = "0123445556666666777777777777788888888888888888889"


@cache
def _numbers() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """What no space and a space, the lengths of runs, and what is outside of a paragraph are as attributes."""
    values = ["space=_", "space= "], [f"run={length}" for length in _LENGTHS], ["space=<outside>", "run=<outside>"]
    spaces, runs, outside = (np.array([hash_string(value) for value in of_kind], np.uint64) for of_kind in values)
    return spaces, runs, outside


def _token_table() -> WordTable[str]:
    outside = hash_attributes(_TOKEN_ATTRIBUTES, ["<outside>"] * len(_TOKEN_ATTRIBUTES))
    return WordTable(_describe, [(outside,)])


def _describe(token: str) -> tuple[NDArray[np.uint64]]:
    return (hash_attributes(_TOKEN_ATTRIBUTES, (token.lower(), shape_of(token), _kinds(token))),)


def _train_tokens(
    templates: Compiled, paragraphs: Sequence[Sequence[Sequence[Token]]], rng: np.random.Generator
) -> Classifier:
    chunks: list[tuple[str, str]] = []
    places: list[list[int]] = []
    gold: list[bool] = []
    for paragraph in paragraphs:
        cut = _cut_chunks(token for sentence in paragraph for token in sentence)
        following = [_kind(tokens[0][0]) for tokens in cut[1:]] + [_END]
        for tokens, after in zip(cut, following, strict=True):
            chunks.append(("".join(tokens), after))
            places.append(_places(chunks[-1][0]))
            ends = set(accumulate(map(len, tokens)))
            gold += [place in ends for place in places[-1]]
    return _trained(templates, _items_of_chunks(chunks, places), np.array(gold, dtype=np.int64), rng)


def _trained(templates: Compiled, items: Items, gold: Ints, rng: np.random.Generator) -> Classifier:
    choices = _both(len(gold))
    return train_classifier(
        templates, items, choices, gold, _YES_OR_NO, bits=_BITS, epochs=_EPOCHS, max_step=_MAX_STEP, rng=rng
    )


def _cut_chunks(tokens: Iterable[Token]) -> list[list[str]]:
    """The tokens between white space; a token with a space in it is two."""
    chunks: list[list[str]] = [[]]
    for token in tokens:
        *before, last = token.form.split() or [token.form]
        for part in before:
            chunks[-1].append(part)
            chunks.append([])
        chunks[-1].append(last)
        if token.space:
            chunks.append([])
    return [chunk for chunk in chunks if chunk]


def _train_sentences(
    templates: Compiled, paragraphs: Sequence[Sequence[Sequence[Token]]], rng: np.random.Generator
) -> Classifier:
    texts: list[list[Piece]] = []
    gold: list[int] = []
    kept: list[bool] = []
    for paragraph in paragraphs:
        texts.append([(token.form, " " * token.space) for sentence in paragraph for token in sentence])
        for sentence in paragraph:
            gold += [0] * (len(sentence) - 1) + [1]
        kept += [True] * (len(texts[-1]) - 1) + [False]  # the end of a paragraph needs no decision
    items = _items_of_text(_token_table(), texts)
    decisions = np.array(kept)
    items = Items(items.attributes, items.rows[decisions])
    return _trained(templates, items, np.array(gold, dtype=np.int64)[decisions], rng)
