"""A linear classifier over hashed features, learnt online and averaged: the engine of segmenter and tagger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features._hashing import hash_slots
from crossarc.features.attributes import PADDING
from crossarc.features.templates import Compiled
from crossarc.features.weights import Weights, bits_of_table
from crossarc.features.word_table import WordTable
from crossarc.learning.online import averaged, new_learner, table_size
from crossarc.text._classify import choose_within_margin, learn

__all__ = ["PADDING", "Choices", "Classifier", "Items", "look_up", "train_classifier"]

Ints = NDArray[np.int64]

_OUTSIDE = (0,) * PADDING  # the first row of a table is of what is outside


class Items(NamedTuple):
    """What is to be classified: rows of attributes. Around each item, ``PADDING`` rows can be looked at."""

    attributes: NDArray[np.uint64]  # attributes[i, a]
    rows: Ints  # which rows are items, less PADDING


def look_up(table: WordTable[str], sequences: Sequence[Iterable[str]]) -> tuple[Items, list[NDArray[Any]]]:
    """The words of some sequences as items, and what the other arrays of the table have for them."""
    rows, (attributes, *others) = table.rows(sequences or [()], before=_OUTSIDE, after=_OUTSIDE)
    return Items(attributes[rows], np.flatnonzero(rows) - PADDING), [array[rows[rows > 0]] for array in others]


class Choices(NamedTuple):
    """The classes that each item may have: ``classes[bounds[l] : bounds[l + 1]]`` where l is ``lists[i]``."""

    lists: Ints
    classes: Ints
    bounds: Ints

    @property
    def first(self) -> Ints:
        """The first class of each item."""
        return self.classes[self.bounds[self.lists]]


@dataclass(frozen=True)
class Classifier:
    """A linear classifier of items by hashed features: the class with the largest sum of weights.

    A class has several aspects (a tag has its UPOS, XPOS and FEATS), each with weights of its own, which are added up.
    """

    templates: Compiled
    weights: Weights
    aspects: Ints  # aspects[c, k] of class c: their weights lie side by side

    def __post_init__(self) -> None:
        bits_of_table(self.weights, row_size(self.aspects))  # raises if there is no such table

    @property
    def shift(self) -> np.uint64:
        return np.uint64(64 - bits_of_table(self.weights, row_size(self.aspects)))

    def choose(self, items: Items, choices: Choices) -> Ints:
        """The best class of each item."""
        return self.narrow(items, choices, 0.0).first

    def narrow(self, items: Items, choices: Choices, margin: float) -> Choices:
        """The choices that are left if each item may have its best class, and those that are within a margin of it.

        The best comes first.
        """
        left = np.empty(int(np.diff(choices.bounds)[choices.lists].sum()), dtype=np.int64)
        bounds = np.zeros(len(items.rows) + 1, dtype=np.int64)
        choose_within_margin(
            self.weights, self.shift, self.aspects, self.templates, items, choices, margin, left, bounds
        )
        return Choices(np.arange(len(items.rows)), left, bounds)


def row_size(aspects: Ints) -> int:
    """The number of different aspects."""
    return int(aspects.max()) + 1


def train_classifier(
    templates: Compiled,
    items: Items,
    choices: Choices,
    gold: Ints,
    aspects: Ints,
    *,
    bits: int,
    epochs: int,
    max_step: float,
    rng: np.random.Generator,
    learnt: Callable[[int], None] = lambda items: None,
) -> Classifier:
    """Learn from items, in random order; after each epoch, ``learnt`` is told of how many."""
    learner = new_learner(table_size(bits, row=row_size(aspects)), max_step)
    shift = Classifier(templates, learner.weights, aspects).shift
    hashes = hash_slots(items.attributes, templates)[0]
    for _ in range(epochs):
        learn(learner, shift, aspects, hashes, items.rows, choices, gold, rng.permutation(len(gold)))
        learnt(len(gold))
    return Classifier(templates, averaged(learner), aspects)
