"""Rules about trees that an expert writes down, hard or soft: linear rows over arcs and their labels.

Martins, Smith and Xing (2009) and Riedel and Clarke (2006) name such rules; here they are plain data. Words are numbers
from 1, labels are numbers of the labelled scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.arborescences import conflicts
from crossarc.ilp.parts import Parts
from crossarc.ilp.program import Block

__all__ = [
    "Arc",
    "Arcs",
    "Children",
    "FewArcs",
    "NoChildren",
    "NoCrossing",
    "Rule",
    "SameHead",
    "Variables",
]

Indices = NDArray[np.int64]
Labels = frozenset[int]


class Variables(NamedTuple):
    """Columns of a program: of arcs, of labelled arcs, of arcs that are not projective or cross others.

    ``labelled[a, i]`` is the arc a with the label ``labels[a, i]`` (-1: there is no such label).
    """

    parts: Parts
    arcs: Indices
    labelled: Indices
    labels: Indices
    nonprojective: Indices
    crossing: Indices

    def chosen(self, labels: Labels | None) -> tuple[Indices, Indices]:
        """The numbers and columns of all arcs that have one of these labels; of all arcs, if None."""
        if labels is None:
            return np.arange(len(self.arcs)), self.arcs
        arcs, which = np.nonzero(np.isin(self.labels, list(labels)))
        return arcs, self.labelled[arcs, which]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What trees must be like.

    Attributes
    ----------
    name : str
        How it is reported.
    weight : float
        What a tree loses for each time it breaks the rule; infinite for a hard rule.
    """

    name: str = ""
    weight: float = np.inf

    @property
    def mentioned(self) -> Labels:
        """The labels that the rule is about."""
        return frozenset()

    def wants(self, parts: Parts) -> NDArray[np.bool_]:
        """Of each arc, whether a tree may keep the rule because the arc has one of the labels."""
        return np.zeros(len(parts.heads), np.bool_)

    def rows(self, variables: Variables) -> Block:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.name or repr(self)


@dataclass(frozen=True)
class Children(Rule):
    """Heads have at least ``least`` and at most ``most`` children (with one of these labels)."""

    least: int = 0
    most: int | None = None
    labels: Labels | None = None
    heads: frozenset[int] | None = None  # that this is said of; all words and the root, if None
    modifiers: frozenset[int] | None = None  # the words that count; all, if None
    side: Literal["left", "right"] | None = None  # of the head, on which children count; both, if None

    @property
    def mentioned(self) -> Labels:
        return self.labels or frozenset()

    def wants(self, parts: Parts) -> NDArray[np.bool_]:
        of_heads = True if self.heads is None else np.isin(parts.heads, list(self.heads))
        return self._counts(parts) & of_heads & (self.least > 0)

    def _counts(self, parts: Parts) -> NDArray[np.bool_]:
        """Of each arc, whether its modifier counts."""
        own = np.ones(len(parts.heads), np.bool_)
        if self.modifiers is not None:
            own &= np.isin(parts.modifiers, list(self.modifiers))
        return own if self.side is None else own & (parts.sides == (self.side == "right"))

    def rows(self, variables: Variables) -> Block:
        size = variables.parts.size
        heads = np.arange(size) if self.heads is None else np.array(sorted(self.heads), dtype=np.int64)
        row = np.full(size, -1)
        row[heads] = np.arange(len(heads))
        arcs, columns = variables.chosen(self.labels)
        rows = np.where(self._counts(variables.parts)[arcs], row[variables.parts.heads[arcs]], -1)
        most = np.inf if self.most is None else self.most
        return Block.of(len(heads), self.least, most, (rows[rows >= 0], columns[rows >= 0], 1.0))


@dataclass(frozen=True)
class NoChildren(Rule):
    """A word whose arc has one of these labels has no children."""

    labels: Labels

    @property
    def mentioned(self) -> Labels:
        return self.labels

    def rows(self, variables: Variables) -> Block:
        parts = variables.parts
        arcs, columns = variables.chosen(self.labels)
        child, above = np.nonzero(parts.heads[:, np.newaxis] == parts.modifiers[arcs])
        every = np.arange(len(parts.heads))
        below = every[parts.heads > 0]
        return Block.of(len(every), -np.inf, 1.0, (below, variables.arcs[below], 1.0), (child, columns[above], 1.0))


@dataclass(frozen=True)
class SameHead(Rule):
    """These words have one head."""

    words: tuple[int, ...]

    def rows(self, variables: Variables) -> Block:
        parts, size = variables.parts, variables.parts.size
        terms = []
        for i, (word, other) in enumerate(zip(self.words, self.words[1:], strict=False)):
            for modifier, sign in ((word, 1.0), (other, -1.0)):
                arcs = np.flatnonzero(parts.modifiers == modifier)
                terms.append((i * size + parts.heads[arcs], variables.arcs[arcs], sign))
        # Both have one head: where none has it without the other, it is the same one.
        return Block.of((len(self.words) - 1) * size, -np.inf, 0.0, *terms)


@dataclass(frozen=True)
class Arc(Rule):
    """This arc (with one of these labels) is in the tree, or is not in it."""

    head: int
    modifier: int
    labels: Labels | None = None
    wanted: bool = True

    @property
    def mentioned(self) -> Labels:
        return self.labels or frozenset()

    def wants(self, parts: Parts) -> NDArray[np.bool_]:
        own: NDArray[np.bool_] = (parts.heads == self.head) & (parts.modifiers == self.modifier)
        return own & self.wanted

    def rows(self, variables: Variables) -> Block:
        arcs, columns = variables.chosen(self.labels)
        own = (variables.parts.heads[arcs] == self.head) & (variables.parts.modifiers[arcs] == self.modifier)
        return Block.of(1, self.wanted, self.wanted, (np.zeros(own.sum(), dtype=np.int64), columns[own], 1.0))


@dataclass(frozen=True, eq=False)
class Arcs(Rule):
    """No arc with one of these labels is among the forbidden ones: ``forbidden[h, m]``."""

    labels: Labels | None
    forbidden: NDArray[np.bool_]

    @property
    def mentioned(self) -> Labels:
        return self.labels or frozenset()

    def rows(self, variables: Variables) -> Block:
        arcs, columns = variables.chosen(self.labels)
        columns = columns[self.forbidden[variables.parts.heads[arcs], variables.parts.modifiers[arcs]]]
        return Block.of(len(columns), 0.0, 0.0, (np.arange(len(columns)), columns, 1.0))


@dataclass(frozen=True)
class NoCrossing(Rule):
    """No arc crosses one with these labels."""

    labels: Labels | None = None

    @property
    def mentioned(self) -> Labels:
        return self.labels or frozenset()

    def rows(self, variables: Variables) -> Block:
        parts = variables.parts
        arcs, columns = variables.chosen(self.labels)
        order = np.argsort(arcs, kind="stable")
        arcs, columns = arcs[order], columns[order]
        first, second = np.nonzero(conflicts(parts, cycles=False, arcs=np.unique(arcs)))
        # a row for each arc and each word whose head would cross it
        pairs, rows = np.unique(np.unique(arcs)[first] * parts.size + parts.modifiers[second], return_inverse=True)
        begins, ends = (np.searchsorted(arcs, pairs // parts.size, side=side) for side in ("left", "right"))
        own = np.repeat(np.arange(len(pairs)), ends - begins)
        which = np.arange(len(own)) - np.repeat(np.cumsum(ends - begins) - ends, ends - begins)
        return Block.of(len(pairs), -np.inf, 1.0, (rows, variables.arcs[second], 1.0), (own, columns[which], 1.0))


@dataclass(frozen=True)
class FewArcs(Rule):
    """At most so many arcs are not projective, or cross others."""

    most: int
    crossing: bool = False

    def rows(self, variables: Variables) -> Block:
        columns = variables.crossing if self.crossing else variables.nonprojective
        return Block.of(1, -np.inf, self.most, (np.zeros_like(columns), columns, 1.0))
