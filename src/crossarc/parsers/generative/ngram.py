"""An n-gram model over the symbols of a generative model, to interpolate it with: NLTK's, by Witten and Bell (1991)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import Any

import numpy as np

from crossarc.core import MissingLibrary

__all__ = ["NGram", "fitted_weight", "mixed"]

_BEFORE, _END = "<s>", "</s>"
_HALVINGS = 50  # so that neither the weight nor what it leaves is 0


class NGram:
    """p(x) is the product of p(symbol | the symbols before it).

    With ``ends``, there is a last symbol after each sentence, and p(x) is a distribution over sentences of all lengths;
    without, over those of each length: p(x | n).
    """

    def __init__(self, sentences: Iterable[Sequence[int]], n_symbols: int, *, order: int, ends: bool) -> None:
        try:
            from nltk.lm import Vocabulary, WittenBellInterpolated
        except ImportError:
            raise MissingLibrary("n-gram models need NLTK", "lm") from None
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


def mixed(ours: Sequence[float], theirs: Sequence[float], weight: float) -> list[float]:
    """log(w · p + (1 - w) · q) of sentences, from their log-probabilities by two models."""
    found: list[float] = np.logaddexp(log(weight) + np.asarray(ours), log(1 - weight) + np.asarray(theirs)).tolist()
    return found


def fitted_weight(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The weight with which the mixture finds all sentences together most probable.

    The log-likelihood is concave in the weight, so that its slope shows on which side the best one is.

    >>> round(fitted_weight([-1.0, -90.0], [-80.0, -2.0]), 6)
    0.5
    """
    difference = np.asarray(ours) - np.asarray(theirs)
    shrunk = np.exp(-np.abs(difference))  # the smaller probability of a sentence by the larger one
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        weight = (low + high) / 2
        of_larger = np.where(difference > 0, weight, 1 - weight)
        slopes = np.sign(difference) * (1 - shrunk) / (of_larger + (1 - of_larger) * shrunk)
        low, high = (weight, high) if slopes.sum() > 0 else (low, weight)
    return (low + high) / 2
