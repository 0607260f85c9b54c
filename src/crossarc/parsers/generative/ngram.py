"""An n-gram model over the symbols of a generative model, to interpolate it with: NLTK's, by Witten and Bell (1991)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import Any

from crossarc.core import CrossarcError

__all__ = ["NGram"]

_BEFORE, _END = "<s>", "</s>"


class NGram:
    """p(x) is the product of p(symbol | the symbols before it).

    With ``ends``, there is a last symbol after each sentence, and p(x) is a distribution over sentences of all lengths;
    without, over those of each length: p(x | n).
    """

    def __init__(self, sentences: Iterable[Sequence[int]], n_symbols: int, *, order: int, ends: bool) -> None:
        try:
            from nltk.lm import Vocabulary, WittenBellInterpolated
        except ImportError:
            raise CrossarcError("n-gram models need NLTK: pip install .[lm]") from None
        self.order, self.ends = order, ends
        every = [str(symbol) for symbol in range(n_symbols)] + [_END] * ends
        self._model: Any = WittenBellInterpolated(order, vocabulary=Vocabulary([_BEFORE, *every]))
        # every symbol is counted once more, so that none is impossible; _BEFORE never, for it is never chosen
        self._model.fit([[(symbol,) for symbol in every]])
        self._model.fit(list(self._of_all_orders(sentence)) for sentence in sentences)

    def log_probability(self, sentence: Sequence[int]) -> float:
        """log p(x | n), or log p(x), of a sentence's symbols."""
        return sum(log(self._model.score(word, before)) for *before, word in self._ngrams(sentence, self.order))

    def _of_all_orders(self, sentence: Sequence[int]) -> Iterator[tuple[str, ...]]:
        for order in range(1, self.order + 1):
            yield from self._ngrams(sentence, order)

    def _ngrams(self, sentence: Sequence[int], order: int) -> Iterator[tuple[str, ...]]:
        padded = [_BEFORE] * (order - 1) + [str(symbol) for symbol in sentence] + [_END] * self.ends
        return (tuple(padded[i : i + order]) for i in range(len(padded) - order + 1))
