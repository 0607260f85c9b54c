"""The feature sets of the incremental parser, as arrays for its kernels.

Section 5 of Nivre (2007) names what LINK(i, j) looks at:

=============  ==============================================================================
``i``, ``j``   the words to be linked; ``i-1``, ``j+2`` ...: their neighbours in the sentence
``k``, ``k2``  the two topmost words of the context stack: roots between i and j, nearest to i
``h``          the head of i in the graph so far
``l``, ``r``   the leftmost and the rightmost dependent of i
``lj``         the leftmost dependent of j
=============  ==============================================================================

Two attributes are of the graph so far: ``label``, the dependency type of the word, and ``dependents``, the set of the
types of its dependents. Two atoms are of no word: ``distance`` from i to j, and ``roots``, the height of the context
stack. The templates of ``[link]`` and ``[label]`` have one to four atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features.attributes import ATTRIBUTES
from crossarc.features.hashing import hash_string
from crossarc.features.language import Atom, FeatureSet, Schema, Section, Template, load_set, parse_set

__all__ = ["LinkFeatureSet", "LinkTemplates", "load_features", "parse_features"]

_MAX_ATOMS = 4
_GRAPH_ATTRIBUTES = ("label", "dependents")
_LINK = Section(
    ("i", "j", "k", "k2", "h", "l", "r", "lj"),
    own_attributes=_GRAPH_ATTRIBUTES,
    others=("distance", "roots"),
    max_atoms=_MAX_ATOMS,
)
SCHEMA = Schema("covington", {"link": _LINK, "label": _LINK}, required=("link", "label"))


class LinkTemplates(NamedTuple):
    """A feature set as the kernels want it.

    Atoms of words come first, then labels, then dependents, then distance and roots, then one that is always 0.
    """

    slots: NDArray[np.int64]  # of each atom but the last three
    offsets: NDArray[np.int64]  # of each atom of a word
    attributes: NDArray[np.int64]
    n_labels: int
    seeds: NDArray[np.uint64]  # of every atom; odd
    links: NDArray[np.int64]  # the four atoms of each feature of a link
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class LinkFeatureSet:
    """The feature set of an incremental parser."""

    features: FeatureSet

    @property
    def text(self) -> str:
        return self.features.text

    @cached_property
    def templates(self) -> dict[str, list[str]]:
        """The templates of each section, in the order of the kernels: that of the alphabet."""
        return {
            section: [" ".join(atoms) for atoms in _sorted(own)] for section, own in self.features.templates.items()
        }

    @cached_property
    def compiled(self) -> LinkTemplates:
        return _compile(self.features.templates["link"], self.features.templates["label"])


def load_features(name: str) -> LinkFeatureSet:
    """A named set of ours, or a file."""
    return LinkFeatureSet(load_set(SCHEMA, name))


def parse_features(text: str, path: str = "<memory>") -> LinkFeatureSet:
    """Read a feature set. Raises ``InputError`` with file and line for what cannot be understood."""
    return LinkFeatureSet(parse_set(SCHEMA, text, path))


def _sorted(templates: Sequence[Template]) -> list[tuple[str, ...]]:
    return sorted(tuple(sorted(atom.text for atom in template.atoms)) for template in templates)


def _compile(links: Sequence[Template], labels: Sequence[Template]) -> LinkTemplates:
    used = {atom.text: atom for template in (*links, *labels) for atom in template.atoms}
    named = [used[text] for text in sorted(used) if used[text].slot]
    kinds = [[atom for atom in named if atom.attribute == kind] for kind in _GRAPH_ATTRIBUTES]
    of_words = sorted((atom for atom in named if atom.attribute in ATTRIBUTES), key=_slot)
    atoms = [*of_words, *kinds[0], *kinds[1]]
    names = [*(atom.text for atom in atoms), *_LINK.others, "nothing"]
    number = {name: n for n, name in enumerate(names)}

    def numbers(templates: Sequence[Template]) -> NDArray[np.int64]:
        padded = [(*texts, *["nothing"] * _MAX_ATOMS)[:_MAX_ATOMS] for texts in _sorted(templates)]
        return np.array([[number[text] for text in texts] for texts in padded], dtype=np.int64)

    return LinkTemplates(
        np.array([_slot(atom) for atom in atoms], dtype=np.int64),
        np.array([atom.offset for atom in of_words], dtype=np.int64),
        np.array([ATTRIBUTES.index(atom.attribute) for atom in of_words], dtype=np.int64),
        len(kinds[0]),
        np.array([hash_string(f"atom {name}") | 1 for name in names], dtype=np.uint64),
        numbers(links),
        numbers(labels),
    )


def _slot(atom: Atom) -> int:
    return _LINK.slots.index(atom.slot)
