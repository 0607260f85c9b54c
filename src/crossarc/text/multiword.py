"""Tokens of several words, such as "don't" or "vom": what they are split into is taken from a treebank."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from crossarc.features.word_table import Memo
from crossarc.text.treebank import Token

__all__ = ["MultiwordTokens"]

_LONGEST_ENDING = 5


@dataclass(frozen=True)
class MultiwordTokens:
    """A token is split as the same token of the treebank is, or else as those with the same end are."""

    words: dict[str, list[str]]  # tokens in lower case that are several words
    endings: dict[str, int]  # ends of other such tokens; the last word has so many characters
    whole: frozenset[str]  # tokens with such an end that are one word

    @cached_property
    def split(self) -> Memo[str, list[str]]:
        """The words of each token, usually one."""
        return Memo(self._split)

    def _split(self, token: str) -> list[str]:
        lower = token.lower()
        if lower in self.words:
            return _in_case_of(token, self.words[lower])
        if lower not in self.whole:
            for n in range(min(len(lower) - 1, _LONGEST_ENDING), 0, -1):
                size = self.endings.get(lower[-n:], len(token))
                if size < len(token):
                    return [token[:-size], token[-size:]]
        return [token]

    @classmethod
    def train(cls, tokens: Iterable[Token]) -> MultiwordTokens:
        """Learn which tokens are usually several words, and which ends usually make such tokens."""
        seen: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for token in tokens:
            seen[token.form.lower()][tuple(word.lower() for word in token.words)] += 1
        usual = {form: max(counts, key=lambda words: (counts[words], words)) for form, counts in seen.items()}
        endings = _endings(usual)
        one = [form for form, words in usual.items() if len(words) == 1 and seen[form].total() > 1]
        return cls(
            {form: list(words) for form, words in usual.items() if len(words) > 1},
            endings,
            frozenset(form for form in one if any(form[-n:] in endings for n in range(1, _LONGEST_ENDING + 1))),
        )


def _endings(usual: dict[str, tuple[str, ...]]) -> dict[str, int]:
    """Ends by which most tokens are two words, and how long the second one is."""
    having: Counter[str] = Counter()
    lengths: dict[str, Counter[int]] = defaultdict(Counter)
    for form, words in usual.items():
        for n in range(1, min(len(form) - 1, _LONGEST_ENDING) + 1):
            having[form[-n:]] += 1
            if len(words) == 2 and "".join(words) == form:
                lengths[form[-n:]][len(words[1])] += 1
    endings: dict[str, int] = {}
    for ending in sorted(lengths, key=len):
        size, agreeing = lengths[ending].most_common(1)[0]
        shorter = next((endings[ending[-n:]] for n in range(len(ending) - 1, 0, -1) if ending[-n:] in endings), None)
        if size <= len(ending) and agreeing >= 2 and 2 * agreeing > having[ending] and size != shorter:
            endings[ending] = size
    return endings


def _in_case_of(token: str, words: list[str]) -> list[str]:
    """Words in lower case, with the capitals of their token."""
    if "".join(words) == token.lower():
        return [token[i:j] for i, j in pairwise(accumulate(map(len, words), initial=0))]
    if len(token) > 1 and token.isupper():
        return [word.upper() for word in words]
    return [words[0].capitalize(), *words[1:]] if token[:1].isupper() else words
