"""Where tokens and sentences end: the features of both decisions, and what learns them from a treebank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from crossarc.features.attributes import hash_attributes
from crossarc.features.hashing import hash_string
from crossarc.features.language import FeatureSet, Schema, Section
from crossarc.features.templates import Compiled, compile_templates
from crossarc.features.word_table import WordTable
from crossarc.text.classifier import PADDING, Choices, Classifier, Ints, Items, look_up, train_classifier
from crossarc.text.lexicon import shape_of
from crossarc.text.treebank import Token

__all__ = [
    "END",
    "SCHEMA",
    "YES_OR_NO",
    "Piece",
    "both_classes",
    "character_kind",
    "compile_sections",
    "places_in_chunk",
    "sentence_end_items",
    "token_end_items",
    "token_table",
    "train_sentence_ends",
    "train_token_ends",
]

Piece = tuple[str, str]  # a token of a text, and the white space after it
Paragraphs = Sequence[Sequence[Sequence[Token]]]

END = "<end>"  # what follows the last chunk of a paragraph
# What is seen from a place between two characters; the set of features says what these are
_PLACE_ATTRIBUTES = (
    "b2", "b1", "a1", "a2", "kb2", "kb1", "ka1", "ka2", "left", "right", "leftrun", "rightrun", "leftshape",
    "rightshape", "next", "chunk",
)  # fmt: skip
_TOKEN_ATTRIBUTES = ("t", "shape", "kind")
_TOKEN_END = Section(attributes=_PLACE_ATTRIBUTES)
_SENTENCE_END = Section(attributes=(*_TOKEN_ATTRIBUTES, "space", "run"))
_SECTIONS = {"token-end": _TOKEN_END, "sentence-end": _SENTENCE_END}
SCHEMA = Schema("segmenter", _SECTIONS, required=tuple(_SECTIONS))

_BITS = 17
YES_OR_NO = np.array([[0], [1]])
_EPOCHS = 10
_MAX_STEP = 0.1
_STRONG = frozenset(".!?…。！？")
_LONGEST_RUN = 100  # of like characters that is looked at


def compile_sections(features: FeatureSet) -> tuple[Compiled, Compiled]:
    """The templates of token ends and of sentence ends."""
    tokens, sentences = (compile_templates(section, features.templates[name]) for name, section in _SECTIONS.items())
    return tokens, sentences


@cache
def character_kind(c: str) -> str:
    """What sort of character this is; the character itself if it is no letter and no digit."""
    if c.isalpha():
        return "X" if c.isupper() else "x"
    return "0" if c.isdigit() else c


def _kinds(token: str) -> str:
    return (
        "".join(map(character_kind, token))
        if len(token) < 3
        else character_kind(token[0]) + shape_of(token[1:-1])[:2] + character_kind(token[-1])
    )


def both_classes(n: int) -> Choices:
    """n items that may have class 0 or 1."""
    return Choices(np.zeros(n, dtype=np.int64), np.array([0, 1]), np.array([0, 2]))


def token_end_items(chunks: Sequence[tuple[str, str]], places: Sequence[Sequence[int]]) -> Items:
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
    text, kinds = _lower(chunk), "".join(map(character_kind, chunk))
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


def places_in_chunk(chunk: str) -> list[int]:
    """Where tokens may end within a chunk: not between two letters, nor between two digits."""
    if chunk.isalpha():
        return []
    kinds = [_alike(character_kind(c)) for c in chunk]
    return [i for i in range(1, len(chunk)) if kinds[i] != kinds[i - 1] or kinds[i] not in ("xX", "0")]


def _alike(c: str) -> str:
    return "xX" if c in "xX" else c


def sentence_end_items(table: WordTable[str], paragraphs: Sequence[Sequence[Piece]]) -> Items:
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


def token_table() -> WordTable[str]:
    outside = hash_attributes(_TOKEN_ATTRIBUTES, ["<outside>"] * len(_TOKEN_ATTRIBUTES))
    return WordTable(_describe, [(outside,)])


def _describe(token: str) -> tuple[NDArray[np.uint64]]:
    return (hash_attributes(_TOKEN_ATTRIBUTES, (token.lower(), shape_of(token), _kinds(token))),)


def train_token_ends(templates: Compiled, paragraphs: Paragraphs, rng: np.random.Generator) -> Classifier:
    chunks: list[tuple[str, str]] = []
    places: list[list[int]] = []
    gold: list[bool] = []
    for paragraph in paragraphs:
        cut = _cut_chunks(token for sentence in paragraph for token in sentence)
        following = [character_kind(tokens[0][0]) for tokens in cut[1:]] + [END]
        for tokens, after in zip(cut, following, strict=True):
            chunks.append(("".join(tokens), after))
            places.append(places_in_chunk(chunks[-1][0]))
            ends = set(accumulate(map(len, tokens)))
            gold += [place in ends for place in places[-1]]
    return _trained(templates, token_end_items(chunks, places), np.array(gold, dtype=np.int64), rng)


def _trained(templates: Compiled, items: Items, gold: Ints, rng: np.random.Generator) -> Classifier:
    choices = both_classes(len(gold))
    return train_classifier(
        templates, items, choices, gold, YES_OR_NO, bits=_BITS, epochs=_EPOCHS, max_step=_MAX_STEP, rng=rng
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


def train_sentence_ends(templates: Compiled, paragraphs: Paragraphs, rng: np.random.Generator) -> Classifier:
    texts: list[list[Piece]] = []
    gold: list[int] = []
    kept: list[bool] = []
    for paragraph in paragraphs:
        texts.append([(token.form, " " * token.space) for sentence in paragraph for token in sentence])
        for sentence in paragraph:
            gold += [0] * (len(sentence) - 1) + [1]
        kept += [True] * (len(texts[-1]) - 1) + [False]  # the end of a paragraph needs no decision
    items = sentence_end_items(token_table(), texts)
    decisions = np.array(kept)
    items = Items(items.attributes, items.rows[decisions])
    return _trained(templates, items, np.array(gold, dtype=np.int64)[decisions], rng)
