"""Which word of the system's file is which word of the gold file, even where the two are split differently.

The rules are those of the CoNLL 2018 shared task: both files must have the same characters apart from spaces; a word
is aligned with the word over the same characters; inside a multiword token, words are aligned by a longest
common subsequence of their lower-cased forms. Sentences are taken in the smallest blocks that cover the same
characters in both files, so that memory stays flat.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossarc.core import InputError, Sentence

__all__ = ["Block", "Text", "WordSpan", "aligned_blocks"]

Span = tuple[int, int]  # first character, character after the last
Pair = tuple[int, int]  # gold word, system word


class WordSpan(NamedTuple):
    """A word over the characters start..end; a word inside a multiword token has the span of the token."""

    start: int
    end: int
    in_multiword: bool
    form: str


class Text:
    """The sentences of one file in a block: their characters without spaces, tokens and words over them."""

    def __init__(self, sentences: list[Sentence]) -> None:
        self.sentences = sentences
        self.token_spans: list[Span] = []
        self.sentence_spans: list[Span] = []
        self.words: list[WordSpan] = []
        position = 0
        for sentence in sentences:
            start = position
            for surface, forms, is_multiword in _tokens(sentence):
                span = (position, position + len(_without_spaces(surface)))
                position = span[1]
                self.token_spans.append(span)
                self.words.extend(WordSpan(*span, is_multiword, form) for form in forms)
            self.sentence_spans.append((start, position))


class Block(NamedTuple):
    """Gold and system sentences over the same characters, and the pairs of words that are the same."""

    gold: Text
    system: Text
    pairs: list[Pair]


def aligned_blocks(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Iterator[Block]:
    """Blocks of sentences over the same characters. Raises ``InputError`` where the two texts part."""
    gold_stream, system_stream = iter(gold), iter(system)
    while True:
        gold_sentence, system_sentence = next(gold_stream, None), next(system_stream, None)
        if gold_sentence is None and system_sentence is None:
            return
        if gold_sentence is None or system_sentence is None:
            raise _ends_early(gold_sentence, system_sentence)
        golds, systems = [gold_sentence], [system_sentence]
        if not _same_words(gold_sentence, system_sentence):
            _extend_to_same_length(golds, systems, gold_stream, system_stream)
        texts = Text(golds), Text(systems)
        yield Block(*texts, _align(texts[0].words, texts[1].words))


def _same_words(gold: Sentence, system: Sentence) -> bool:
    return gold.form == system.form and _multiword_tokens(gold) == _multiword_tokens(system)


def _multiword_tokens(sentence: Sentence) -> list[tuple[str, str]]:
    return [(insert.row.id, insert.row.form) for insert in sentence.inserts if not insert.is_empty_node]


def _extend_to_same_length(
    golds: list[Sentence], systems: list[Sentence], gold: Iterator[Sentence], system: Iterator[Sentence]
) -> None:
    """Take more sentences on the shorter side until both lists have the same characters."""
    gold_text, system_text = _characters(golds[0]), _characters(systems[0])
    while True:
        common = min(len(gold_text), len(system_text))
        if gold_text[:common] != system_text[:common]:
            raise _texts_differ(gold_text, system_text, golds, systems)
        if len(gold_text) == len(system_text):
            return
        if len(gold_text) < len(system_text):
            following = next(gold, None)
            if following is None:
                raise _ends_early(None, systems[-1])
            golds.append(following)
            gold_text += _characters(following)
        else:
            following = next(system, None)
            if following is None:
                raise _ends_early(golds[-1], None)
            systems.append(following)
            system_text += _characters(following)


def _align(gold: list[WordSpan], system: list[WordSpan]) -> list[Pair]:
    """Pairs of words over the same characters; within multiword tokens, by their forms."""
    if gold == system:
        return [(i, i) for i in range(len(gold))]
    pairs: list[Pair] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].in_multiword or system[s].in_multiword:
            end = gold[g].end if gold[g].in_multiword else system[s].end
            # a word that starts before the other side's multiword token has no partner in it
            if not system[s].in_multiword and system[s].start < gold[g].start:
                s += 1
            elif not gold[g].in_multiword and gold[g].start < system[s].start:
                g += 1
            g_end, s_end = _end_of_multiword_region(gold, system, g, s, end)
            matches = _longest_common_subsequence(gold[g:g_end], system[s:s_end])
            pairs.extend((g + i, s + j) for i, j in matches)
            g, s = g_end, s_end
        elif gold[g][:2] == system[s][:2]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1
    return pairs


def _end_of_multiword_region(gold: list[WordSpan], system: list[WordSpan], g: int, s: int, end: int) -> Pair:
    """The words after the region that starts at g and s, reaches to end or beyond, and cuts no multiword token."""

    def is_outside(words: list[WordSpan], i: int) -> bool:
        return i >= len(words) or (words[i].start if words[i].in_multiword else words[i].end - 1) >= end

    while not (is_outside(gold, g) and is_outside(system, s)):
        if g < len(gold) and (s >= len(system) or gold[g].start <= system[s].start):
            word, g = gold[g], g + 1
        else:
            word, s = system[s], s + 1
        if word.in_multiword:
            end = max(end, word.end)
    return g, s


def _longest_common_subsequence(gold: list[WordSpan], system: list[WordSpan]) -> list[Pair]:
    gold_forms, system_forms = ([word.form.lower() for word in words] for words in (gold, system))
    # length[i][j]: of the longest common subsequence of gold[i:] and system[j:]
    length = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in reversed(range(len(gold))):
        for j in reversed(range(len(system))):
            equal = gold_forms[i] == system_forms[j]
            length[i][j] = max(length[i + 1][j], length[i][j + 1], length[i + 1][j + 1] + equal)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold_forms[i] == system_forms[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i][j] == length[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _tokens(sentence: Sentence) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Each token's surface, the forms of its words, and whether it is a multiword token."""
    multiword = {insert.span.start: insert for insert in sentence.inserts if not insert.is_empty_node}
    word = 1
    while word <= len(sentence):
        if word in multiword:
            stop = multiword[word].span.stop
            yield multiword[word].row.form, sentence.form[word - 1 : stop - 1], True
            word = stop
        else:
            yield sentence.form[word - 1], (sentence.form[word - 1],), False
            word += 1


def _characters(sentence: Sentence) -> str:
    return _without_spaces("".join(surface for surface, _, _ in _tokens(sentence)))


def _without_spaces(text: str) -> str:
    if text.isascii():
        return text.replace(" ", "")
    return "".join(c for c in text if unicodedata.category(c) != "Zs")


def _ends_early(gold: Sentence | None, system: Sentence | None) -> InputError:
    longer = gold or system
    assert longer is not None
    other = "the system's file" if gold else "the gold file"
    return InputError(f"{other} ends before this sentence does", longer.place())


def _texts_differ(gold_text: str, system_text: str, golds: list[Sentence], systems: list[Sentence]) -> InputError:
    at = next(i for i, (g, s) in enumerate(zip(gold_text, system_text, strict=False)) if g != s)
    return InputError(
        f"the text differs from that of {golds[0].place()}: "
        f"{system_text[at : at + 20]!r} here, {gold_text[at : at + 20]!r} there",
        systems[0].place(),
    )
