"""How probable the tags that words have are to a tagger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.evaluation.calibration import fit_temperature, softmax
from crossarc.features._hashing import hash_slots
from crossarc.features.weights import dequantized
from crossarc.text.tagger import Tagger

__all__ = ["upos_probabilities"]


def upos_probabilities(tagger: Tagger, sentences: Sequence[Sentence]) -> list[NDArray[np.float64]]:
    """The probability of the UPOS of each word, by a tagger that has not learnt from these sentences.

    The tags of a word are those that the tagger would choose from, and its own. The temperature that makes
    probabilities of scores is fitted to the sentences themselves: few of their tags are wrong. A word without a UPOS
    (``_``) has the probability 1.
    """
    scores, numbers, own = _scores_of_tags(tagger, sentences)
    names = np.array([upos for upos, _, _ in tagger.tags], dtype=object)[numbers]
    names = np.where(np.isfinite(scores), names, "")

    def probability_of(upos: NDArray[np.object_], temperature: float) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.where(names == upos[:, None], softmax(scores / temperature), 0.0).sum(axis=1)
        return found

    best = names[np.arange(len(scores)), scores.argmax(axis=1)]
    given = own != "_"
    temperature = fit_temperature(lambda t: probability_of(best, t)[given], (best == own)[given])
    found = np.where(given, probability_of(own, temperature), 1.0)
    return np.split(found, np.cumsum([len(sentence) for sentence in sentences])[:-1])


def _scores_of_tags(
    tagger: Tagger, sentences: Sequence[Sentence]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.object_]]:
    """``scores[i, j]`` of the tags ``numbers[i, j]`` of each word, -inf beyond the last; the UPOS that it has."""
    items, choices, model = tagger.second_items(sentences)
    places = (hash_slots(items.attributes, model.templates)[0][items.rows] >> model.shift).astype(np.int64)
    number = {tag: i for i, tag in enumerate(tagger.tags)}
    words = [tag for s in sentences for tag in zip(s.upos, s.xpos, s.feats, strict=True)]
    lists = [
        list(dict.fromkeys([*choices.classes[first:last].tolist(), *([number[tag]] if tag in number else [])]))
        for tag, first, last in zip(
            words, choices.bounds[choices.lists], choices.bounds[choices.lists + 1], strict=True
        )
    ]
    width = max(map(len, lists), default=1)
    scores, numbers = np.full((len(words), width), -np.inf), np.zeros((len(words), width), dtype=np.int64)
    weights = dequantized(model.weights)
    for i, classes in enumerate(lists):
        numbers[i, : len(classes)] = classes
        scores[i, : len(classes)] = weights[places[i][:, None, None] + model.aspects[classes]].sum(axis=(0, 2))
    return scores, numbers, np.array([upos for upos, _, _ in words], dtype=object)
