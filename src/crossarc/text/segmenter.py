"""Raw text to sentences of words, as a treebank has them: tokens, multiword tokens, sentences.

Two classifiers decide, one after the other: after which characters a token ends, and after which tokens a sentence
does. White space ends every token, a blank line every sentence. What a token such as "don't" or "cannot" is split into
is taken from the treebank: the same token's words, or else those of tokens with the same end.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Insert, Sentence, Word
from crossarc.features.hashing import hash_string
from crossarc.features.templates import Compiled
from crossarc.text.classifier import PADDING, Choices, Classifier, Ints, Items, compile_lines, train_classifier
from crossarc.text.lexicon import RUNS, shape_of
from crossarc.text.packing import pack, unpack
from crossarc.text.table import Table
from crossarc.text.treebank import Token, paragraphs_of, spaces_in_misc

__all__ = ["Segmenter", "train_segmenter"]

# Of a place between two characters: those before and after it with their kinds, the chunk, what is left and right of
# the place in it, the runs of like characters that meet there, what follows the chunk if its end is near.
_IN_CHUNK = (
    "b2", "b1", "a1", "a2", "kb2", "kb1", "ka1", "ka2", "chunk", "left", "right", "leftrun", "rightrun", "leftshape",
    "rightshape", "next",
)  # fmt: skip
_OF_CHUNK = compile_lines(
    [
        "b1", "b2", "a1", "a2", "kb2", "b2 b1", "b1 a1", "b2 b1 a1", "b1 a1 a2", "kb1 ka1", "kb2 kb1 ka1",
        "kb1 ka1 ka2", "kb2 kb1 ka1 ka2",
        "chunk b1 a1", "left", "right", "left a1", "b1 right", "leftrun a1", "b1 rightrun",
        "leftrun rightrun", "leftshape a1", "b1 rightshape", "leftshape rightshape", "left right", "right next b1",
        "leftshape rightshape next", "b1 a1 next", "leftrun rightrun next",
    ],
    _IN_CHUNK,
)  # fmt: skip

_OF_TOKEN = ("t", "shape", "kind")
_IN_TEXT = (*_OF_TOKEN, "space", "run")
_OF_TEXT = compile_lines(
    [
        "t", "t-1", "t+1", "t-2", "t+2", "t t+1", "t-1 t", "t-1 t t+1", "kind kind+1", "kind-1 kind kind+1",
        "kind kind+1 kind+2", "kind-2 kind-1 kind kind+1", "t kind+1", "t kind-1 kind+1", "t shape+1", "shape t+1",
        "t space", "t space kind+1", "t space shape+1", "t space t+1", "t-1 t kind+1", "shape-1 t shape+1", "t shape-1",
        "kind space", "kind-1 kind kind+1 kind+2 space", "t run", "run kind+1", "run t+1", "t space kind+1 kind+2",
        "t+1 kind+2", "t-1 t space shape+1", "shape shape+1 run",
    ],
    _IN_TEXT,
)  # fmt: skip

_BITS = 17
_YES_OR_NO = np.array([[0], [1]])
_EPOCHS = 10
_MAX_STEP = 0.1
_SPACE = re.compile(r"\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_STRONG = frozenset(".!?…。！？")
_CACHED = 1 << 16


Piece = tuple[str, str]  # a token of a text, and the white space after it


@dataclass(frozen=True)
class Segmenter:
    """A trained segmenter."""

    tokens: Classifier
    sentences: Classifier
    words: dict[str, list[str]]  # tokens in lower case that are several words
    endings: dict[str, int]  # ends of other such tokens; the last word has so many characters
    whole: frozenset[str]  # tokens with such an end that are one word
    _cut: dict[tuple[str, str], list[str]] = field(default_factory=dict, repr=False, compare=False)
    _split: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @cached_property
    def _table(self) -> Table:
        return Table(_OF_TOKEN, _describe)

    def segment(self, text: str, *, lines: bool = False, paragraph: int = 1, path: str = "<text>") -> list[Sentence]:
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
        for token, space in pieces:
            spaces = "_" if space == " " and not before else spaces_in_misc(space, before)
            before = ""
            words = self.words_of(token)
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
        if len(self._cut) > _CACHED:
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

    def tensors(self) -> dict[str, Any]:
        """What a model file keeps."""
        words = {"words": self.words, "endings": self.endings, "whole": sorted(self.whole)}
        return {"tokens": self.tokens.weights, "sentences": self.sentences.weights, "words": pack(words)}

    @classmethod
    def of_tensors(cls, tensors: dict[str, Any]) -> Segmenter:
        words = unpack(tensors["words"])
        return cls(
            Classifier(_OF_CHUNK, tensors["tokens"], _YES_OR_NO),
            Classifier(_OF_TEXT, tensors["sentences"], _YES_OR_NO),
            words["words"],
            words["endings"],
            frozenset(words["whole"]),
        )

    def words_of(self, token: str) -> list[str]:
        """The words of a token, usually one."""
        words = self._split.get(token)
        if words is None:
            if len(self._split) > _CACHED:
                self._split.clear()
            words = self._split[token] = self._find_words(token)
        return words

    def _find_words(self, token: str) -> list[str]:
        lower = token.lower()
        if lower in self.words:
            return _in_case_of(token, self.words[lower])
        if lower not in self.whole:
            for n in range(min(len(lower) - 1, _LONGEST_ENDING), 0, -1):
                size = self.endings.get(lower[-n:], len(token))
                if size < len(token):
                    return [token[:-size], token[-size:]]
        return [token]


_LONGEST_ENDING = 5
_END = "<end>"


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
    outside = [hash_string("<outside>")] * len(_IN_CHUNK)
    rows = [outside] * PADDING
    for (chunk, following), own in zip(chunks, places, strict=True):
        lower = chunk.lower() if len(chunk.lower()) == len(chunk) else chunk
        kinds = "".join(map(_kind, chunk))
        for i in own:
            values = _values(lower, kinds, i, following)
            rows.append([hash_string(f"{name}={value}") for name, value in zip(_IN_CHUNK, values, strict=True)])
    rows += [outside] * PADDING
    return Items(np.array(rows, dtype=np.uint64), np.arange(len(rows) - 2 * PADDING))


def _values(chunk: str, kinds: str, i: int, following: str) -> tuple[str, ...]:
    """What is seen from the place before character i."""
    left, right = chunk[:i], chunk[i:]
    last_run, first_run = _last_run(kinds[:i]), _first_run(kinds[i:])
    return (
        *(left[-2:-1], left[-1:], right[:1], right[1:2]),
        *(kinds[max(i - 2, 0) : max(i - 1, 0)], kinds[i - 1], kinds[i], kinds[i + 1 : i + 2]),
        *(chunk, left[-12:], right[:12], left[-last_run:], right[:first_run]),
        *(RUNS.sub(r"\1", kinds[:i])[-6:], RUNS.sub(r"\1", kinds[i:])[:6], following if len(right) < 3 else ""),
    )


def _places(chunk: str) -> list[int]:
    """Where tokens may end within a chunk: not between two letters, nor between two digits."""
    if chunk.isalpha():
        return []
    kinds = [_alike(_kind(c)) for c in chunk]
    return [i for i in range(1, len(chunk)) if kinds[i] != kinds[i - 1] or kinds[i] not in ("xX", "0")]


def _first_run(shape: str) -> int:
    """How many characters at the start are alike: letters, digits or others."""
    return len(shape) - len(shape.lstrip(_alike(shape[:1])))


def _last_run(shape: str) -> int:
    return len(shape) - len(shape.rstrip(_alike(shape[-1:])))


def _alike(c: str) -> str:
    return "xX" if c in "xX" else c


def _items_of_text(table: Table, paragraphs: Sequence[Sequence[Piece]]) -> Items:
    """The tokens of paragraphs, whether a space follows, and how far it is from a full stop."""
    items = table.items([[token for token, _ in paragraph] for paragraph in paragraphs])
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


def _describe(token: str) -> tuple[str, ...]:
    return token.lower(), shape_of(token), _kinds(token)


def _in_case_of(token: str, words: list[str]) -> list[str]:
    """Words in lower case, with the capitals of their token."""
    if "".join(words) == token.lower():
        cuts = np.cumsum([0, *map(len, words)]).tolist()
        return [token[i:j] for i, j in pairwise(cuts)]
    if len(token) > 1 and token.isupper():
        return [word.upper() for word in words]
    return [words[0].capitalize(), *words[1:]] if token[:1].isupper() else words


def train_segmenter(treebank: Sequence[Sentence], *, seed: int = 1) -> Segmenter:
    """Learn from the tokens of a treebank, their spaces, and its paragraphs."""
    paragraphs = paragraphs_of(treebank)
    of_tokens, of_sentences = np.random.default_rng(seed).spawn(2)
    words, endings, whole = _multiword_tokens(token for p in paragraphs for sentence in p for token in sentence)
    return Segmenter(
        _train_tokens(paragraphs, of_tokens), _train_sentences(paragraphs, of_sentences), words, endings, whole
    )


def _train_tokens(paragraphs: Sequence[Sequence[Sequence[Token]]], rng: np.random.Generator) -> Classifier:
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
    return _trained(_OF_CHUNK, _items_of_chunks(chunks, places), np.array(gold, dtype=np.int64), rng)


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


def _train_sentences(paragraphs: Sequence[Sequence[Sequence[Token]]], rng: np.random.Generator) -> Classifier:
    texts: list[list[Piece]] = []
    gold: list[int] = []
    kept: list[bool] = []
    for paragraph in paragraphs:
        texts.append([(token.form, " " * token.space) for sentence in paragraph for token in sentence])
        for sentence in paragraph:
            gold += [0] * (len(sentence) - 1) + [1]
        kept += [True] * (len(texts[-1]) - 1) + [False]  # the end of a paragraph needs no decision
    items = _items_of_text(Table(_OF_TOKEN, _describe), texts)
    decisions = np.array(kept)
    items = Items(items.attributes, items.rows[decisions])
    return _trained(_OF_TEXT, items, np.array(gold, dtype=np.int64)[decisions], rng)


def _multiword_tokens(tokens: Iterable[Token]) -> tuple[dict[str, list[str]], dict[str, int], frozenset[str]]:
    """Tokens that are usually several words; ends that usually make such tokens; tokens with such ends that are not."""
    seen: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for token in tokens:
        seen[token.form.lower()][tuple(word.lower() for word in token.words)] += 1
    usual = {form: max(counts, key=lambda words: (counts[words], words)) for form, counts in seen.items()}
    split: Counter[str] = Counter()
    last: dict[str, Counter[int]] = defaultdict(Counter)
    having: Counter[str] = Counter()
    for form, words in usual.items():
        for n in range(1, min(len(form) - 1, _LONGEST_ENDING) + 1):
            having[form[-n:]] += 1
            if len(words) == 2 and "".join(words) == form:
                split[form[-n:]] += 1
                last[form[-n:]][len(words[1])] += 1
    endings: dict[str, int] = {}
    for ending in sorted(split, key=len):
        size, agreeing = last[ending].most_common(1)[0]
        shorter = next((endings[ending[-n:]] for n in range(len(ending) - 1, 0, -1) if ending[-n:] in endings), None)
        if size <= len(ending) and agreeing >= 2 and 2 * agreeing > having[ending] and size != shorter:
            endings[ending] = size
    several = {form: list(words) for form, words in usual.items() if len(words) > 1}
    one = [form for form, words in usual.items() if len(words) == 1 and seen[form].total() > 1]
    whole = {form for form in one if any(form[-n:] in endings for n in range(1, _LONGEST_ENDING + 1))}
    return several, endings, frozenset(whole)
