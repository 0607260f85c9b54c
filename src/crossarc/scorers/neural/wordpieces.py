"""Words cut into the pieces that a pretrained encoder knows: WordPiece, as BERT does it (Devlin et al. 2019).

Words are given, so what is left is small enough to be here: the same pieces as the library ``tokenizers`` makes,
without that dependency when a model is used.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.features.word_table import Memo

__all__ = ["Pieces", "WordPieces"]

_LONGEST = 100  # characters; longer words are unknown
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class Pieces(NamedTuple):
    """The pieces of several sentences, with a start and an end around each run of words that fits into the encoder."""

    ids: NDArray[np.int64]  # of all pieces, run after run
    runs: NDArray[np.int64]  # where each run begins, and the end
    first: NDArray[np.int64]  # of each node: its first piece; that of node 0 is the start of the sentence
    counts: NDArray[np.int64]  # and how many it has
    starts: NDArray[np.int64]  # sentence b has the nodes starts[b] to starts[b + 1]


class WordPieces:
    """The pieces that there are, and how words are cut into them.

    >>> pieces = WordPieces(["[CLS]", "[SEP]", "[UNK]", "un", "##able", "."], lowercase=True)
    >>> [pieces.pieces[i] for i in pieces.cut("Unable.")]
    ['un', '##able', '.']
    >>> pieces.inputs([Sentence.of(["unable", "."])], 512).ids.tolist()
    [0, 3, 4, 5, 1]
    """

    def __init__(self, pieces: Sequence[str], *, lowercase: bool) -> None:
        self.pieces, self.lowercase = tuple(pieces), lowercase
        self._ids = {piece: i for i, piece in enumerate(self.pieces)}
        missing = {_START, _END, _UNKNOWN} - self._ids.keys()
        if missing:
            raise CrossarcError(f"no word pieces as BERT has them: {', '.join(sorted(missing))} is missing")
        self._known: Memo[str, tuple[int, ...]] = Memo(self._cut)

    @classmethod
    def from_tokenizer(cls, tokenizer: dict[str, Any]) -> WordPieces:
        """From the content of a ``tokenizer.json``; ``CrossarcError`` if it is one of another kind."""
        model, normalizer = tokenizer.get("model") or {}, tokenizer.get("normalizer") or {}
        kinds = model.get("type", "WordPiece"), normalizer.get("type")
        if kinds != ("WordPiece", "BertNormalizer") or model.get("continuing_subword_prefix", "##") != "##":
            raise CrossarcError(f"a tokenizer of another kind than BERT's: {kinds[0]}, {kinds[1]}")
        accents = normalizer.get("strip_accents")
        if accents is not None and accents != normalizer["lowercase"]:
            raise CrossarcError("a tokenizer that treats accents and capitals differently")
        pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
        return cls(pieces, lowercase=bool(normalizer["lowercase"]))

    def cut(self, word: str) -> tuple[int, ...]:
        """The numbers of the pieces of a word; at least one."""
        return self._known.look_up([word])[0]

    def inputs(self, sentences: Sequence[Sentence], longest: int) -> Pieces:
        """The pieces of sentences, in runs of no more than so many."""
        ids: list[int] = []
        runs: list[int] = []
        first: list[int] = []
        counts: list[int] = []
        start, end = self._ids[_START], self._ids[_END]
        for sentence in sentences:
            runs.append(len(ids))
            first.append(len(ids))
            counts.append(1)
            ids.append(start)
            for pieces in self._known.look_up(sentence.form):
                own = pieces[: longest - 2]
                if len(ids) - runs[-1] + len(own) >= longest:
                    ids.append(end)
                    runs.append(len(ids))
                    ids.append(start)
                first.append(len(ids))
                counts.append(len(own))
                ids += own
            ids.append(end)
        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)])
        return Pieces(np.array(ids), np.array([*runs, len(ids)]), np.array(first), np.array(counts), starts)

    def _cut(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        for part in _parts(_normalized(word, self.lowercase)):
            found += self._pieces_of(part)
        return tuple(found) or (self._ids[_UNKNOWN],)

    def _pieces_of(self, part: str) -> list[int]:
        """Greedily the longest piece that fits, from left to right."""
        found, i = [], 0
        if len(part) > _LONGEST:
            return [self._ids[_UNKNOWN]]
        while i < len(part):
            prefix = "##" if i else ""
            for j in range(len(part), i, -1):
                piece = self._ids.get(prefix + part[i:j])
                if piece is not None:
                    break
            else:
                return [self._ids[_UNKNOWN]]
            found.append(piece)
            i = j
        return found


def _normalized(word: str, lowercase: bool) -> str:
    """Without control characters and, if small letters are wanted, without accents."""
    clean = "".join(" " if c.isspace() else c for c in word if c.isspace() or not _is_control(c))
    if not lowercase:
        return clean
    return "".join(c for c in unicodedata.normalize("NFD", clean) if unicodedata.category(c) != "Mn").lower()


def _is_control(character: str) -> bool:
    return character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs")


def _parts(word: str) -> list[str]:
    """Punctuation and Chinese characters one by one, what is between them as it is."""
    parts, inside = [], False
    for character in word:
        if character.isspace():
            inside = False
        elif _stands_alone(character):
            parts.append(character)
            inside = False
        elif inside:
            parts[-1] += character
        else:
            parts.append(character)
            inside = True
    return parts


_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _stands_alone(character: str) -> bool:
    code = ord(character)
    symbol = 33 <= code <= 126 and not character.isalnum()  # those of ASCII count as punctuation
    return (
        symbol or unicodedata.category(character).startswith("P") or any(low <= code <= high for low, high in _CHINESE)
    )
