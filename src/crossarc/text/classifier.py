"""A linear classifier over hashed features, learnt online and averaged: the engine of segmenter and tagger."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features._hashing import hash_slots
from crossarc.features.attributes import PADDING
from crossarc.features.hashing import hash_string
from crossarc.features.templates import Compiled
from crossarc.features.weights import Weights, number_of_weights
from crossarc.learning.online import averaged, new_learner, table_size
from crossarc.text._classify import keep_best, learn

__all__ = ["PADDING", "Choices", "Classifier", "Items", "compile_lines", "train_classifier"]

_ATOM = re.compile(r"([a-z][a-z0-9]*)([+-][12])?")

Ints = NDArray[np.int64]


class Items(NamedTuple):
    """What is to be classified: rows of attributes. Around each item, ``PADDING`` rows can be looked at."""

    attributes: NDArray[np.uint64]  # attributes[i, a]
    rows: Ints  # which rows are items, less PADDING


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
    """Trained weights."""

    templates: Compiled
    weights: Weights
    aspects: Ints  # aspects[c, k] of class c: their weights lie side by side

    @property
    def shift(self) -> np.uint64:
        return np.uint64(64 - ((number_of_weights(self.weights) - row_size(self.aspects)).bit_length() - 1))

    def choose(self, items: Items, choices: Choices) -> Ints:
        """The best class of each item."""
        return self.narrow(items, choices, 0.0).first

    def narrow(self, items: Items, choices: Choices, near: float) -> Choices:
        """The choices that are left if each item may have its best class, and those that are less than so much worse.

        The best comes first.
        """
        kept = np.empty(int(np.diff(choices.bounds)[choices.lists].sum()), dtype=np.int64)
        bounds = np.zeros(len(items.rows) + 1, dtype=np.int64)
        keep_best(self.weights, self.shift, self.aspects, self.templates, items, choices, near, kept, bounds)
        return Choices(np.arange(len(items.rows)), kept, bounds)

    def _hashes(self, items: Items) -> NDArray[np.uint64]:
        hashes: NDArray[np.uint64] = hash_slots(items.attributes, self.templates)[0]
        return hashes


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
    watch: Callable[[int], None] = lambda items: None,
) -> Classifier:
    """Learn from items, in random order; after each epoch, ``watch`` is told of how many."""
    learner = new_learner(table_size(bits, row=row_size(aspects)), max_step)
    model = Classifier(templates, learner.weights, aspects)
    hashes = model._hashes(items)
    for _ in range(epochs):
        learn(learner, model.shift, aspects, hashes, items.rows, *choices, gold, rng.permutation(len(gold)))
        watch(len(gold))
    return Classifier(templates, averaged(learner), aspects)


def compile_lines(lines: Sequence[str], attributes: Sequence[str]) -> Compiled:
    """Templates such as ``lower-1 suffix3``, as the kernels want them."""
    atoms: list[tuple[int, int]] = []
    bounds = np.zeros((len(lines), 2), dtype=np.int64)
    for t, line in enumerate(lines):
        bounds[t, 0] = len(atoms)
        for atom in line.split():
            match = _ATOM.fullmatch(atom)
            assert match is not None, atom
            atoms.append((int(match[2] or 0), attributes.index(match[1])))
        bounds[t, 1] = len(atoms)
    seeds = np.array([hash_string(line) for line in lines], dtype=np.uint64)
    return Compiled(np.array(atoms, dtype=np.int64).reshape(-1, 2), bounds, seeds, 0)
